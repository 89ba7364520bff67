/* SPDX-License-Identifier: ISC */
/* The selection, the keys that walk from it, and searching: one query in all panes. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/order.h"
#include "explore/state.h"
#include "view/text.h"

enum {
    LEGIBLE_PX = 20, /* a narrower line is zoomed to */
    LEGIBLE_ROW_PX = 15,
};
#define WIDTHS 8.0      /* then this many times the line's length is visible … */
#define LEAST_NS 1000.0 /* … and at least this */
#define LIFE_MARGIN 0.1

void explore_select(struct weft_explorer *e, unsigned pane, uint32_t promise)
{
    if (promise == WEFT_ROOT)
        promise = WEFT_NONE;
    if (promise == e->selected && (promise == WEFT_NONE || pane == e->selected_pane))
        return;
    e->selected = promise;
    e->selected_pane = promise == WEFT_NONE ? 0 : pane;
    if (promise != WEFT_NONE)
        explore_activate(e, pane);
    explore_part_changed(e, EXPLORE_SELECTION);
    explore_part_changed(e, EXPLORE_COMPARED);
    explore_part_changed(e, EXPLORE_TRACE);
    explore_changed(e, WEFT_CHANGED_SEARCH); /* which hit it is */
    explore_moved(e);                        /* its row has room for its label */
}

/* ---- Into view ---- */

/* The range of time to show, instead of w, so that the line from start to end is visible. */
static struct explore_window window_for(const struct weft_explorer *e, struct explore_window w,
                                        double start, double end)
{
    double span = w.to - w.from, length = end - start;
    if (length / span * explore_axis_px(e) < LEGIBLE_PX && span > LEAST_NS) {
        double wanted = length * WIDTHS < LEAST_NS ? LEAST_NS : length * WIDTHS;
        double middle = start + length / 2;
        return (struct explore_window){middle - wanted / 2, middle + wanted / 2};
    }
    if (end >= w.from && start <= w.to) {
        double from = start < w.from ? w.from : start, to = end > w.to ? w.to : end;
        if ((to - from) / span * explore_axis_px(e) >= LEGIBLE_PX || to - from >= length)
            return w;
    }
    double room = span * LIFE_MARGIN, by;
    if (start < w.from || length > span - 2 * room)
        by = start - room - w.from;
    else
        by = end + room - w.to;
    return (struct explore_window){w.from + by, w.to + by};
}

static void reveal_row(struct weft_explorer *e, unsigned pane, uint32_t row)
{
    struct explore_pane *p = &e->pane[pane];
    int32_t at = 0, height = 0;
    if (row == WEFT_NONE || explore_refresh_rested(e) < 0 || p->height_px == 0)
        return;
    bool shown = explore_row_at(e, pane, row, &at, &height);
    if (shown && height >= LEGIBLE_ROW_PX * e->text_percent / 100)
        return;
    const struct weft_geometry *g = &p->geometry;
    int32_t top = g->rows_y0 / WEFT_PX - p->top_px, rows = (g->rows_y1 - g->rows_y0) / WEFT_PX;
    int32_t low = top + rows / 4, high = top + rows * 3 / 4;
    p->view.spread = WEFT_SPREAD_MAX;
    explore_moved(e);
    explore_rows_focus(e, pane, row, at < low ? low : at > high ? high : at);
}

void explore_reveal(struct weft_explorer *e)
{
    if (e->selected == WEFT_NONE)
        return;
    unsigned pane = e->selected_pane;
    explore_panes_reveal(e, pane);
    if (explore_refresh(e) < 0)
        return;
    const struct explore_pane *p = &e->pane[pane];
    struct explore_window life = explore_life(p, e->selected);
    struct explore_window w = explore_window_shown(e, pane, explore_window_get(e, pane));
    life = explore_window_shown(e, pane, life);
    struct explore_window to =
        window_for(e, w, life.from, life.to > life.from ? life.to : life.from);
    e->wheel_x = -1;
    if (to.from != w.from || to.to != w.to)
        explore_window_set(e, pane, explore_window_real(e, pane, to), 0);
    reveal_row(e, pane, p->scene->l->row[e->selected]);
}

struct explore_window explore_life(const struct explore_pane *p, uint32_t promise)
{
    const struct weft_layout *l = p->scene->l;
    return (struct explore_window){(double)weft_layout_line(l, &p->model->promise[promise]),
                                   (double)weft_layout_end(l, p->model, promise)};
}

void explore_zoom_to(struct weft_explorer *e, unsigned pane, struct explore_window w)
{
    w = explore_window_shown(e, pane, w);
    double from = w.from, length = w.to > from ? w.to - from : 0, margin = length * LIFE_MARGIN;
    if (length + 2 * margin < LEAST_NS)
        margin = (LEAST_NS - length) / 2;
    w = (struct explore_window){from - margin, from + length + margin};
    explore_window_set(e, pane, explore_window_real(e, pane, w), 0);
}

bool explore_jump(struct weft_explorer *e, unsigned pane, uint32_t promise)
{
    if (promise == WEFT_NONE || promise == WEFT_ROOT)
        return false;
    explore_history_leave(e);
    explore_select(e, pane, promise);
    explore_reveal(e);
    explore_history_arrive(e);
    return true;
}

void weft_explorer_select(struct weft_explorer *e, unsigned pane, uint32_t promise)
{
    assert(pane < e->panes || promise == WEFT_NONE);
    bool exists = promise != WEFT_NONE && promise < e->pane[pane].model->promises;
    if (exists && explore_jump(e, pane, promise))
        return;
    explore_history_leave(e);
    explore_select(e, 0, WEFT_NONE);
    explore_history_arrive(e);
}

uint32_t weft_explorer_selected(const struct weft_explorer *e, unsigned *pane)
{
    if (pane)
        *pane = e->selected_pane;
    return e->selected;
}

/* ---- Walking ---- */

/* Position of a promise among the spans of its row. */
static uint32_t find_span(const struct weft_scene *s, uint32_t promise)
{
    const struct weft_layout *l = s->l;
    uint32_t row = l->row[promise], low = l->first[row], end = l->first[row + 1], high = end;
    int64_t start = weft_layout_line(l, &s->m->promise[promise]);
    WEFT_SEEK(low, high, weft_layout_line(l, &s->m->promise[l->spans[middle]]) < start);
    while (low < end && l->spans[low] != promise)
        low++;
    return low;
}

static uint32_t beside(const struct explore_pane *p, uint32_t promise, int step)
{
    const struct weft_layout *l = p->scene->l;
    uint32_t row = l->row[promise];
    if (row == WEFT_NONE)
        return WEFT_NONE;
    uint32_t at = find_span(p->scene, promise), first = l->first[row], end = l->first[row + 1];
    if (at == end || (step < 0 ? at == first : at + 1 == end))
        return WEFT_NONE;
    return l->spans[step < 0 ? at - 1 : at + 1];
}

/* The promise of a row at that time, or else the one after it or before it. */
static uint32_t in_row(const struct explore_pane *p, uint32_t row, int64_t time_ns)
{
    const struct weft_layout *l = p->scene->l;
    uint32_t low = l->first[row], end = l->first[row + 1], high = end;
    if (low == end)
        return WEFT_NONE;
    WEFT_SEEK(low, high, l->until[middle] < time_ns); /* the first that ends then or later */
    return l->spans[low < end ? low : end - 1];
}

/* The next row in the picture, in the next pane after the last one. */
static bool other_row(struct weft_explorer *e, int step)
{
    unsigned pane = e->selected_pane;
    const struct explore_pane *p = &e->pane[pane];
    struct explore_window w = explore_window_get(e, pane);
    int64_t time = weft_layout_line(p->scene->l, &p->model->promise[e->selected]);
    int64_t from = explore_round(w.from);
    uint32_t row = p->scene->l->row[e->selected], at = 0;
    while (at < p->geometry.shown && p->geometry.shown_row[at] < row)
        at++;
    bool there = at < p->geometry.shown && p->geometry.shown_row[at] == row;
    int64_t next = step < 0 ? (int64_t)at - 1 : (int64_t)at + there;
    time = time < from ? from : time;
    while (next < 0 || next >= p->geometry.shown) {
        if (step < 0 ? pane == 0 : pane + 1 == e->panes)
            return false;
        time -= explore_round(w.from);
        pane = step < 0 ? pane - 1 : pane + 1;
        w = explore_window_get(e, pane);
        time += explore_round(w.from);
        p = &e->pane[pane];
        next = step < 0 ? (int64_t)p->geometry.shown - 1 : 0;
    }
    return explore_jump(e, pane, in_row(p, p->geometry.shown_row[next], time));
}

/* Used while nothing is selected: the promise in the middle of the first row. */
static bool begin(struct weft_explorer *e)
{
    const struct explore_pane *p = &e->pane[e->active];
    if (p->geometry.shown == 0)
        return false;
    struct explore_window w = explore_window_get(e, e->active);
    return explore_jump(e, e->active,
                        in_row(p, p->geometry.shown_row[0], explore_round((w.from + w.to) / 2)));
}

static uint32_t waited_for(struct explore_pane *p, uint32_t promise)
{
    const struct weft_history *h = explore_history_of(p);
    return h ? explore_walk_waited_for(h, promise) : WEFT_NONE;
}

bool explore_walk(struct weft_explorer *e, enum weft_command command)
{
    if (explore_refresh(e) < 0)
        return false;
    bool begins = command >= WEFT_COMMAND_NEXT && command <= WEFT_COMMAND_ABOVE;
    if (e->selected == WEFT_NONE)
        return begins && begin(e);
    unsigned pane = e->selected_pane;
    const struct explore_pane *p = &e->pane[pane];
    switch (command) {
    case WEFT_COMMAND_NEXT:
        return explore_jump(e, pane, beside(p, e->selected, 1));
    case WEFT_COMMAND_PREVIOUS:
        return explore_jump(e, pane, beside(p, e->selected, -1));
    case WEFT_COMMAND_BELOW:
        return other_row(e, 1);
    case WEFT_COMMAND_ABOVE:
        return other_row(e, -1);
    case WEFT_COMMAND_CREATOR:
        return explore_jump(e, pane, explore_walk_creator(p->scene, e->selected));
    case WEFT_COMMAND_WAITED_FOR:
        return explore_jump(e, pane, waited_for(&e->pane[pane], e->selected));
    case WEFT_COMMAND_RESOLVER:
        return explore_jump(e, pane, explore_walk_resolver(p->scene, e->selected));
    case WEFT_COMMAND_BECAME:
        return explore_jump(e, pane, explore_walk_became(p->scene, e->selected));
    default:
        return false;
    }
}

/* ---- Searching ---- */

enum { STEPS = 100000 }; /* at once: some milliseconds */

void explore_search_pane(struct weft_explorer *e, unsigned pane)
{
    struct explore_pane *p = &e->pane[pane];
    explore_table_forget(e);
    weft_search_free(p->search);
    p->search = NULL;
    p->searching = false;
    explore_changed(e, WEFT_CHANGED_PICTURE | WEFT_CHANGED_SEARCH);
    if (!*e->query)
        return;
    if (weft_search_new(&p->search, p->scene, e->query) < 0)
        e->search_failed = true;
    else
        p->searching = true;
}

void weft_explorer_search(struct weft_explorer *e, const char *query)
{
    size_t size = weft_text_keep(query, strlen(query), EXPLORE_QUERY_BYTES);
    if (size == strlen(e->query) && !memcmp(query, e->query, size))
        return;
    memmove(e->query, query, size);
    e->query[size] = '\0';
    /* The query is handed out as text, so it is cleaned. */
    char clean[EXPLORE_QUERY_BYTES];
    size = weft_text_clean(clean, sizeof clean, e->query, size);
    memcpy(e->query, clean, size);
    e->query[size] = '\0';
    e->search_failed = false;
    for (unsigned i = 0; i < e->panes; i++)
        if (e->pane[i].trace->groups && e->pane[i].trace->groups->by == WEFT_GROUP_SEARCH)
            explore_groups_make(e, i, WEFT_GROUP_NONE); /* they were of the search before */
        else
            explore_search_pane(e, i);
    explore_changed(e, WEFT_CHANGED_PICTURE | WEFT_CHANGED_SEARCH | WEFT_CHANGED_PLACE);
}

const char *weft_explorer_query(const struct weft_explorer *e)
{
    return e->query;
}

bool weft_explorer_work(struct weft_explorer *e)
{
    for (unsigned i = 0; i < e->panes; i++) {
        struct explore_pane *p = &e->pane[i];
        if (!p->searching)
            continue;
        uint32_t before = weft_search_hits(p->search);
        p->searching = weft_search_work(p->search, STEPS);
        explore_changed(e, WEFT_CHANGED_SEARCH);
        if (!p->searching || weft_search_hits(p->search) != before)
            explore_changed(e, WEFT_CHANGED_PICTURE);
        break;
    }
    bool more = explore_table_work(e);
    more = explore_flame_work(e) || more;
    for (unsigned i = 0; i < e->panes; i++)
        more = more || e->pane[i].searching;
    return more;
}

/* The selection's number among all hits, counted from 1; 0: it is not a hit. */
static uint64_t rank_of_selection(const struct weft_explorer *e)
{
    uint64_t before = 0;
    if (e->selected == WEFT_NONE)
        return 0;
    for (unsigned i = 0; i < weft_explorer_find(e, e->pane[e->selected_pane].source); i++)
        before += e->pane[i].search && explore_pane_is_first(e, i)
                      ? weft_search_hits(e->pane[i].search)
                      : 0;
    const struct weft_search *q = e->pane[e->selected_pane].search;
    uint32_t rank = q ? weft_search_rank(q, e->selected) : 0;
    return rank ? before + rank : 0;
}

const char *weft_explorer_found(struct weft_explorer *e)
{
    uint64_t hits = 0;
    bool searching = false, empty = true;
    const char *why = ""; /* the first trace's, if several say something else */
    for (unsigned i = 0; i < e->panes; i++) {
        const struct explore_pane *p = &e->pane[i];
        hits += p->search && explore_pane_is_first(e, i) ? weft_search_hits(p->search) : 0;
        searching = searching || p->searching;
        empty = empty && (!p->search || weft_search_is_empty(p->search));
        why = *why || !p->search ? why : weft_search_why(p->search);
    }
    const struct weft_figure all = weft_count(hits);
    uint64_t rank = searching ? 0 : rank_of_selection(e);
    if (e->search_failed)
        snprintf(e->found, sizeof e->found, "not enough memory to search");
    else if (!*e->query || empty)
        *e->found = '\0';
    else if (hits == 0 && *why)
        snprintf(e->found, sizeof e->found, "%s", why);
    else if (searching)
        snprintf(e->found, sizeof e->found, "searching \xe2\x80\xa6 %s", all.text);
    else if (hits == 0)
        snprintf(e->found, sizeof e->found, "not found");
    else if (rank == 0)
        snprintf(e->found, sizeof e->found, "%s found", all.text);
    else
        snprintf(e->found, sizeof e->found, "%s of %s", weft_count(rank).text, all.text);
    return e->found;
}

/* The next hit of the same pane, without wrapping around; WEFT_NONE: there are no more. */
static uint32_t next_hit(const struct weft_explorer *e, unsigned pane, bool from_hit, int step)
{
    const struct explore_pane *p = &e->pane[pane];
    const struct weft_search *q = p->search;
    if (!q || weft_search_hits(q) == 0)
        return WEFT_NONE;
    if (from_hit) {
        uint32_t hit = weft_search_next(q, e->selected, 0, step);
        if (hit == WEFT_NONE)
            return hit;
        uint32_t here = weft_search_rank(q, e->selected), there = weft_search_rank(q, hit);
        return (step > 0 ? there > here : there < here) ? hit : WEFT_NONE;
    }
    int64_t edge = explore_round(explore_window_get(e, pane).from);
    edge -= step < 0; /* a hit that begins at the edge counts as a next one */
    uint32_t hit = weft_search_next(q, WEFT_NONE, edge, step);
    if (hit == WEFT_NONE)
        return hit;
    int64_t start = weft_layout_line(p->scene->l, &p->model->promise[hit]);
    return (step > 0 ? start >= edge : start <= edge) ? hit : WEFT_NONE;
}

bool explore_hits_go(struct weft_explorer *e, int step)
{
    unsigned pane = e->active;
    bool from_hit = false;
    if (e->selected != WEFT_NONE) {
        const struct weft_search *q = e->pane[e->selected_pane].search;
        from_hit = q && weft_search_has(q, e->selected);
        pane = from_hit ? e->selected_pane : pane;
    }
    uint32_t hit = next_hit(e, pane, from_hit, step);
    const int64_t edge = step > 0 ? -2 * WEFT_TIME_MAX : 2 * (WEFT_TIME_MAX - 1);
    for (unsigned i = 0; hit == WEFT_NONE && i < e->panes; i++) {
        pane = step > 0 ? (pane + 1) % e->panes : (pane + e->panes - 1) % e->panes;
        const struct weft_search *q = e->pane[pane].search;
        hit = q ? weft_search_next(q, WEFT_NONE, edge, step) : WEFT_NONE;
    }
    if (hit != WEFT_NONE && hit == e->selected && pane == e->selected_pane) {
        explore_reveal(e); /* the only one */
        return true;
    }
    return explore_jump(e, pane, hit);
}
