/* SPDX-License-Identifier: ISC */
/* Searching: one query in all panes. */
#include <stdio.h>
#include <string.h>

#include "explore/state.h"
#include "base/count.h"
#include "view/text.h"

enum { STEPS = 100000 }; /* at once: some milliseconds */

void explore_search_pane(struct weft_explorer *e, unsigned pane)
{
    struct explore_pane *p = &e->pane[pane];
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

/* How much of a query is kept: as much as fits, without half a character at the end. */
static size_t cut(const char *query)
{
    size_t size = strlen(query);
    if (size <= EXPLORE_QUERY_BYTES)
        return size;
    size = EXPLORE_QUERY_BYTES;
    while (size > 0 && ((unsigned char)query[size] & 0xc0) == 0x80)
        size--;
    return size;
}

void weft_explorer_search(struct weft_explorer *e, const char *query)
{
    size_t size = cut(query);
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
    for (unsigned i = 0; i < e->panes; i++)
        if (e->pane[i].searching)
            return true;
    return false;
}

/* The selection's number among all hits, counted from 1; 0: it is not a hit. */
static uint64_t rank_of_selection(const struct weft_explorer *e)
{
    uint64_t before = 0;
    if (e->selected == WEFT_NONE)
        return 0;
    for (unsigned i = 0; i < e->selected_pane; i++)
        before += e->pane[i].search ? weft_search_hits(e->pane[i].search) : 0;
    const struct weft_search *q = e->pane[e->selected_pane].search;
    uint32_t rank = q ? weft_search_rank(q, e->selected) : 0;
    return rank ? before + rank : 0;
}

const char *weft_explorer_found(struct weft_explorer *e)
{
    uint64_t hits = 0;
    bool searching = false, empty = true;
    for (unsigned i = 0; i < e->panes; i++) {
        const struct explore_pane *p = &e->pane[i];
        hits += p->search ? weft_search_hits(p->search) : 0;
        searching = searching || p->searching;
        empty = empty && (!p->search || weft_search_is_empty(p->search));
    }
    const struct weft_figure all = weft_count(hits);
    uint64_t rank = searching ? 0 : rank_of_selection(e);
    if (e->search_failed)
        snprintf(e->found, sizeof e->found, "not enough memory to search");
    else if (!*e->query || empty)
        *e->found = '\0';
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

static uint32_t first_hit(const struct explore_pane *p, int step)
{
    int64_t time_ns = step > 0 ? -2 * WEFT_TIME_MAX : 2 * (WEFT_TIME_MAX - 1);
    return p->search ? weft_search_next(p->search, WEFT_NONE, time_ns, step) : WEFT_NONE;
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
    int64_t start = weft_layout_start(p->scene->l, &p->model->promise[hit]);
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
    for (unsigned i = 0; hit == WEFT_NONE && i < e->panes; i++) {
        pane = step > 0 ? (pane + 1) % e->panes : (pane + e->panes - 1) % e->panes;
        hit = first_hit(&e->pane[pane], step);
    }
    if (hit != WEFT_NONE && hit == e->selected && pane == e->selected_pane) {
        explore_reveal(e); /* the only one */
        return true;
    }
    return explore_jump(e, pane, hit);
}
