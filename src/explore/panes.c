/* SPDX-License-Identifier: ISC */
/* The panes, one above the other: where each lies, their order, and what is done with their titles.
 *
 * If all are at least readable when they share the height equally, they do. If not, each gets the least readable height
 * and they scroll together. How far is counted in thousandths of a pane, so that a place means the same in a window of
 * another height. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "explore/table_state.h"

enum {
    TOP_UNIT = 1000, /* of e->top, to a pane */
    CLOSE_PX = 22,   /* the button at the end of a title */
    CROSS_PX = 8,
    EDGE_PX = 24, /* dragging a title this near to an edge scrolls … */
    EDGE_STEP_PX = 24,
};

#define NOTCH_PX 80.0 /* one notch of the wheel scrolls this much */

/* ---- Where they are ---- */

struct stack {
    int32_t height, least, total; /* pixels: what is seen, one pane, all panes */
    int32_t above, legend, flame; /* heights of what is above and below */
    int32_t top;                  /* how much of the panes is above what is seen */
};

static struct stack stack_of(const struct weft_explorer *e, bool still)
{
    int32_t percent = e->text_percent > 100 ? e->text_percent : 100;
    int32_t flame = explore_flame_height(e, e->height_px), height = e->height_px - flame;
    struct stack s = {.flame = flame,
                      .above = explore_overview_height(e, height),
                      .legend = still ? 0 : explore_legend_height(e, height),
                      .least = WEFT_PICTURE_MIN_PX * percent / 100};
    s.height = height - s.above - s.legend;
    s.least = s.least > s.height ? s.height : s.least;
    s.total = s.least * (int32_t)e->panes > s.height ? s.least * (int32_t)e->panes : s.height;
    s.top = (e->top * s.least + TOP_UNIT / 2) / TOP_UNIT;
    s.top = s.top > s.total - s.height ? s.total - s.height : s.top;
    return s;
}

static int32_t unit_of(const struct stack *s, int32_t top_px)
{
    int32_t most = s->total - s->height;
    top_px = top_px > most ? most : top_px < 0 ? 0 : top_px;
    return (int32_t)(((int64_t)top_px * TOP_UNIT + s->least / 2) / s->least);
}

void explore_panes_place(struct weft_explorer *e, bool still)
{
    struct stack s = stack_of(e, still);
    int32_t count = (int32_t)e->panes;
    if (!still)
        e->top = unit_of(&s, s.top);
    e->panes_fit = s.total == s.height;
    e->legend_px = s.legend;
    e->legend_top_px = s.above + s.height;
    e->flame.top_px = e->height_px - s.flame;
    e->flame.height_px = s.flame;
    for (int32_t i = 0; i < count; i++) {
        struct explore_pane *p = &e->pane[i];
        int32_t top = e->panes_fit ? s.height * i / count : s.least * i - s.top;
        int32_t height = e->panes_fit ? s.height * (i + 1) / count - top : s.least;
        bool seen = top < s.height && top + height > 0;
        p->top_px = seen ? s.above + top : 0;
        p->height_px = seen ? height : 0;
    }
}

int weft_explorer_panes_height(const struct weft_explorer *e)
{
    return stack_of(e, false).total;
}

int weft_explorer_panes_seen(const struct weft_explorer *e)
{
    return stack_of(e, false).height;
}

int weft_explorer_panes_above(const struct weft_explorer *e)
{
    return stack_of(e, false).above;
}

int weft_explorer_panes_top(const struct weft_explorer *e)
{
    return stack_of(e, false).top;
}

static bool scroll_to(struct weft_explorer *e, int32_t top_px)
{
    struct stack s = stack_of(e, false);
    int32_t before = e->top;
    e->top = unit_of(&s, top_px);
    if (e->top == before)
        return false;
    e->placed = false;
    e->wheel_x = -1;
    explore_moved(e);
    explore_changed(e, WEFT_CHANGED_PANES);
    return true;
}

void weft_explorer_panes_scroll(struct weft_explorer *e, int top_px)
{
    if (e->drag.grip == EXPLORE_GRIP_NONE)
        explore_history_move(e, EXPLORE_SCROLL);
    scroll_to(e, top_px > 0 ? top_px : 0);
}

bool explore_panes_scroll(struct weft_explorer *e, double notches)
{
    struct stack s = stack_of(e, false);
    if (s.total == s.height)
        return false;
    explore_history_move(e, EXPLORE_SCROLL);
    scroll_to(e, s.top + (int32_t)explore_round(notches * NOTCH_PX));
    return true;
}

void explore_panes_reveal(struct weft_explorer *e, unsigned pane)
{
    struct stack s = stack_of(e, false);
    int32_t top = s.least * (int32_t)pane, end = top + s.least;
    if (s.total == s.height)
        return;
    if (top < s.top)
        scroll_to(e, top);
    else if (end > s.top + s.height)
        scroll_to(e, end - s.height);
}

/* ---- Which trace a pane shows ---- */

unsigned weft_explorer_source(const struct weft_explorer *e, unsigned pane)
{
    assert(pane < e->panes);
    return e->pane[pane].source;
}

unsigned weft_explorer_find(const struct weft_explorer *e, unsigned source)
{
    unsigned i = 0;
    while (i < e->panes && e->pane[i].source != source)
        i++;
    return i;
}

void weft_explorer_forget_source(struct weft_explorer *e, unsigned source)
{
    assert(weft_explorer_find(e, source) == e->panes);
    for (unsigned i = 0; i < e->panes; i++)
        e->pane[i].source -= e->pane[i].source > source;
    e->sources -= source <= e->sources;
    explore_changed(e, WEFT_CHANGED_PLACE);
}

bool explore_pane_is_shared(const struct weft_explorer *e, unsigned pane)
{
    for (unsigned i = 0; i < e->panes; i++)
        if (i != pane && e->pane[i].source == e->pane[pane].source)
            return true;
    return false;
}

bool explore_pane_is_first(const struct weft_explorer *e, unsigned pane)
{
    return weft_explorer_find(e, e->pane[pane].source) == pane;
}

/* ---- Their order ---- */

static void renumber(unsigned *pane, unsigned from, unsigned to)
{
    if (*pane == from)
        *pane = to;
    else if (from < *pane && *pane <= to)
        --*pane;
    else if (to <= *pane && *pane < from)
        ++*pane;
}

/* Times are counted from the first pane while axes are linked: `first` is the first one now. */
static void count_from(struct weft_explorer *e, unsigned first)
{
    double offset = e->pane[first].view.offset;
    if (e->is_free || offset == 0)
        return;
    e->window.from += offset;
    e->window.to += offset;
    for (unsigned i = 0; i < e->panes; i++)
        e->pane[i].view.offset -= offset;
}

static void changed(struct weft_explorer *e)
{
    e->placed = false;
    e->marks_stale = true;
    explore_history_clear(e);
    explore_changed(e, ~0u);
    explore_moved(e);
}

/* Moves a pane to another place; those between make room. */
static void move(struct weft_explorer *e, unsigned from, unsigned to)
{
    const struct explore_pane pane = e->pane[from];
    unsigned *const numbers[] = {&e->active,        &e->selected_pane,     &e->hovered_pane,
                                 &e->range_pane,    &e->finding_pane,      &e->path_pane,
                                 &e->wanted.pane,   &e->drag.pane,         &e->pointed_pane,
                                 &e->flame.of.pane, &e->flame.wanted.pane, &e->kept.pane};
    if (from == to)
        return;
    if (from < to)
        memmove(&e->pane[from], &e->pane[from + 1], (to - from) * sizeof pane);
    else
        memmove(&e->pane[to + 1], &e->pane[to], (from - to) * sizeof pane);
    e->pane[to] = pane;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        renumber(numbers[i], from, to);
    if (e->table) {
        renumber(&e->table->of.pane, from, to);
        renumber(&e->table->pinned_pane, from, to);
        renumber(&e->table->kind_pane, from, to);
    }
    if (from < 2 || to < 2)
        explore_diff_drop(e);
    count_from(e, 0);
    changed(e);
}

/* Shows a pane's trace once more, below it. Returns false if there is no room. */
static bool duplicate(struct weft_explorer *e, unsigned pane)
{
    const struct weft_model *m = e->pane[pane].model;
    uint8_t *counter_off;
    if (e->panes == WEFT_PANES_MAX || !(counter_off = calloc((size_t)m->counters + 1, 1)))
        return false;
    if (e->pane[pane].counter_off)
        memcpy(counter_off, e->pane[pane].counter_off, m->counters);
    struct explore_pane copy = e->pane[pane];
    copy.counter_off = counter_off;
    copy.search = NULL;
    copy.mark = NULL;
    copy.marks = 0;
    copy.geometry = (struct weft_geometry){0};
    copy.glide = (struct weft_glide){0};
    copy.top_px = copy.height_px = 0;
    copy.closing = false;
    e->pane[e->panes++] = copy;
    explore_search_pane(e, e->panes - 1);
    move(e, e->panes - 1, pane + 1);
    changed(e);
    return true;
}

bool explore_panes_arrange(struct weft_explorer *e, const unsigned *source, unsigned count)
{
    bool all = true;
    unsigned at = 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned from = at;
        while (from < e->panes && e->pane[from].source != source[i])
            from++;
        if (from == e->panes) { /* it is shown above, or not at all */
            unsigned other = weft_explorer_find(e, source[i]);
            if (other == e->panes || !duplicate(e, other)) {
                all = false;
                continue;
            }
            from = other + 1;
        }
        move(e, from, at);
        e->pane[at++].closing = false;
    }
    for (unsigned i = at; i < e->panes; i++)
        e->pane[i].closing = true;
    if (at < e->panes)
        explore_changed(e, WEFT_CHANGED_PANES);
    return all;
}

bool weft_explorer_wants_close(const struct weft_explorer *e, unsigned *pane)
{
    for (unsigned i = e->panes; i-- > 0;)
        if (e->pane[i].closing) {
            *pane = i;
            return true;
        }
    return false;
}

void weft_explorer_close_wanted(struct weft_explorer *e)
{
    unsigned pane;
    while (weft_explorer_wants_close(e, &pane))
        weft_explorer_remove(e, pane);
}

/* ---- Commands ---- */

static bool go(struct weft_explorer *e, int step)
{
    if (step < 0 ? e->active == 0 : e->active + 1 >= e->panes)
        return false;
    explore_activate(e, e->active + (unsigned)step);
    explore_panes_reveal(e, e->active);
    return true;
}

static bool shift(struct weft_explorer *e, int step)
{
    unsigned from = e->active;
    if (step < 0 ? from == 0 : from + 1 >= e->panes)
        return false;
    move(e, from, from + (unsigned)step);
    explore_panes_reveal(e, e->active);
    return true;
}

bool explore_panes_command(struct weft_explorer *e, enum weft_command command)
{
    switch (command) {
    case WEFT_COMMAND_PREVIOUS_TRACE:
        return go(e, -1);
    case WEFT_COMMAND_NEXT_TRACE:
        return go(e, 1);
    case WEFT_COMMAND_TRACE_UP:
        return shift(e, -1);
    case WEFT_COMMAND_TRACE_DOWN:
        return shift(e, 1);
    case WEFT_COMMAND_DUPLICATE:
        if (!duplicate(e, e->active))
            return false;
        explore_activate(e, e->active + 1);
        explore_panes_reveal(e, e->active);
        return true;
    case WEFT_COMMAND_CLOSE_TRACE:
        e->pane[e->active].closing = true;
        explore_changed(e, WEFT_CHANGED_PANES);
        return true;
    default:
        return false;
    }
}

/* ---- Titles ---- */

enum explore_title explore_title_at(const struct weft_explorer *e, unsigned pane, double x,
                                    double y)
{
    if (e->panes < 2 || pane >= e->panes || !e->pane[pane].height_px)
        return EXPLORE_TITLE_NONE;
    const struct weft_geometry *g = &e->pane[pane].geometry;
    if (y * WEFT_PX < g->y0 || y * WEFT_PX >= g->ruler_y0)
        return EXPLORE_TITLE_NONE;
    double end = (double)g->x1 / WEFT_PX;
    return x >= end - CLOSE_PX && x < end ? EXPLORE_TITLE_CLOSE : EXPLORE_TITLE_NAME;
}

void explore_title_hover(struct weft_explorer *e, unsigned pane)
{
    pane = e->panes > 1 && pane < e->panes ? pane : WEFT_PANES_MAX;
    if (e->pointed_pane == pane)
        return;
    e->pointed_pane = pane;
    explore_changed(e, WEFT_CHANGED_PICTURE);
}

int32_t explore_title_room(const struct weft_explorer *e, unsigned pane)
{
    return e->panes > 1 && e->pointed_pane == pane ? CLOSE_PX : 0;
}

void explore_title_draw(const struct weft_explorer *e, struct weft_drawlist *list, unsigned pane)
{
    const struct weft_geometry *g = &e->pane[pane].geometry;
    if (!explore_title_room(e, pane))
        return;
    int32_t half = CROSS_PX * WEFT_PX / 2, x = g->x1 - CLOSE_PX * WEFT_PX / 2,
            y = (g->y0 + g->ruler_y0) / 2;
    weft_notice_stroke(list, WEFT_INK_TEXT, 2 * WEFT_PX, x - half, y - half, x + half, y + half);
    weft_notice_stroke(list, WEFT_INK_TEXT, 2 * WEFT_PX, x - half, y + half, x + half, y - half);
}

/* The pane that is dragged goes where the pointer is. */
void explore_title_drag(struct weft_explorer *e, double y)
{
    struct stack s = stack_of(e, false);
    if (y < s.above + EDGE_PX)
        scroll_to(e, s.top - EDGE_STEP_PX);
    else if (y > s.above + s.height - EDGE_PX)
        scroll_to(e, s.top + EDGE_STEP_PX);
    if (explore_refresh(e) < 0)
        return;
    unsigned to = explore_pane_at(e, y);
    if (to < e->panes)
        move(e, e->drag.pane, to);
}

void explore_title_release(struct weft_explorer *e, double x, double y)
{
    unsigned pane = e->drag.pane;
    if (explore_refresh(e) < 0 || explore_title_at(e, pane, x, y) != EXPLORE_TITLE_CLOSE)
        return;
    e->pane[pane].closing = true;
    explore_changed(e, WEFT_CHANGED_PANES);
}
