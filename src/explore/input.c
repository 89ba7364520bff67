/* SPDX-License-Identifier: ISC */
/* The pointer and the wheel. */
#include "explore/state.h"

#define CLICK_PX 4.0 /* a smaller movement is not a drag */
#define FLAME_ROWS 3 /* one notch of the wheel scrolls this much */

/* A position from a front end, clamped: it may be any number. */
static double pixel(double x)
{
    return x > -1e6 && x < 1e6 ? x : 0;
}

struct weft_pick explore_pick(const struct weft_explorer *e, unsigned pane, double x, double y)
{
    const struct explore_pane *p = &e->pane[pane];
    return weft_view_pick(p->scene, &p->geometry, (int32_t)(x * WEFT_PX), (int32_t)(y * WEFT_PX));
}

/* ---- Pointing ---- */

static void hover(struct weft_explorer *e, unsigned pane, uint32_t promise, uint32_t arrow)
{
    if (e->hovered == promise && e->hovered_arrow == arrow &&
        ((promise == WEFT_NONE && !arrow) || e->hovered_pane == pane))
        return;
    e->hovered = promise;
    e->hovered_arrow = arrow;
    e->hovered_pane = pane;
    explore_changed(e, WEFT_CHANGED_PICTURE);
}

void explore_tip_forget(struct weft_explorer *e)
{
    if (!e->pointed && !*e->tip)
        return;
    e->pointed = false;
    explore_changed(e, WEFT_CHANGED_TIP);
}

void weft_explorer_point(struct weft_explorer *e, double x, double y)
{
    if (e->drag.grip != EXPLORE_GRIP_NONE)
        return;
    e->over_x = e->point_x = pixel(x);
    e->over_y = e->point_y = pixel(y);
    e->pointed = e->over = true;
    explore_changed(e, WEFT_CHANGED_TIP);
    if (explore_refresh(e) < 0)
        return;
    explore_flame_point(e, e->point_x, e->point_y);
    explore_legend_point(e, e->point_x, e->point_y);
    unsigned pane = explore_pane_at(e, e->point_y);
    explore_title_hover(e, pane);
    struct weft_pick at = {.kind = WEFT_PLACE_NONE, .promise = WEFT_NONE};
    if (pane < e->panes)
        at = explore_pick(e, pane, e->point_x, e->point_y);
    if (at.kind ==
        WEFT_PLACE_ARROW) { /* it stays where it is: all that this promise does is drawn */
        const struct explore_pane *p = &e->pane[pane];
        uint32_t arrow = p->geometry.arrow[at.arrow].interaction;
        hover(e, pane, p->model->interaction[arrow].actor, arrow + 1);
        return;
    }
    hover(e, pane, at.promise, 0);
}

void weft_explorer_leave(struct weft_explorer *e)
{
    explore_tip_forget(e);
    e->over = false;
    explore_flame_point(e, -1, -1);
    explore_legend_point(e, -1, -1);
    explore_title_hover(e, e->panes);
    hover(e, 0, WEFT_NONE, 0);
}

/* ---- Pressing ---- */

void explore_range_set(struct weft_explorer *e, unsigned pane, int64_t a, int64_t b)
{
    const int64_t most = WEFT_TIME_MAX;
    int64_t from = a < b ? a : b, to = a < b ? b : a;
    from = from < -most ? -most : from > most ? most : from;
    to = to < -most ? -most : to > most ? most : to;
    if (from == e->range_from_ns && to == e->range_to_ns && pane == e->range_pane)
        return;
    e->range_pane = pane;
    e->range_from_ns = from;
    e->range_to_ns = to;
    explore_part_changed(e, EXPLORE_RANGE);
    explore_part_changed(e, EXPLORE_COMPARED);
    explore_part_changed(e, EXPLORE_TRACE);
    explore_changed(e, WEFT_CHANGED_PICTURE | WEFT_CHANGED_PLACE);
}

static void click(struct weft_explorer *e, unsigned pane, struct weft_pick at, bool twice)
{
    if (at.kind == WEFT_PLACE_OLDER)
        weft_explorer_command(e, WEFT_COMMAND_OLDER);
    if (at.kind == WEFT_PLACE_BREAK && twice) {
        explore_history_leave(e);
        explore_zoom_to(e, pane,
                        (struct explore_window){(double)at.fold->from_ns, (double)at.fold->to_ns});
        explore_history_arrive(e);
        return;
    }
    bool on = at.promise != WEFT_NONE; /* maybe below an arrow or a flag */
    if (at.kind == WEFT_PLACE_RULER || at.kind == WEFT_PLACE_COUNTERS ||
        at.kind == WEFT_PLACE_STRIP || at.kind == WEFT_PLACE_OLDER ||
        (at.kind == WEFT_PLACE_ARROW && !on))
        return;
    uint32_t promise = at.promise;
    bool other = promise != e->selected || (on && pane != e->selected_pane);
    if (!other && !(on && twice))
        return;
    explore_history_leave(e);
    if (other)
        explore_select(e, pane, promise);
    if (on && twice)
        explore_zoom_to(e, pane, explore_life(&e->pane[pane], promise));
    explore_history_arrive(e);
}

static bool is_on_ruler(const struct weft_explorer *e, unsigned pane, double y)
{
    const struct weft_geometry *g = &e->pane[pane].geometry;
    return (int32_t)(y * WEFT_PX) >= g->ruler_y0 && (int32_t)(y * WEFT_PX) < g->rows_y0;
}

void weft_explorer_press(struct weft_explorer *e, double x, double y, int clicks, unsigned mods)
{
    struct explore_drag *d = &e->drag;
    x = pixel(x);
    y = pixel(y);
    d->grip = EXPLORE_GRIP_NONE;
    if (explore_refresh(e) < 0)
        return;
    if (explore_flame_has(e, y)) {
        explore_tip_forget(e);
        *d = (struct explore_drag){.grip = EXPLORE_GRIP_FLAME,
                                   .x = x,
                                   .y = y,
                                   .row = WEFT_NONE,
                                   .scrolled = e->flame.scrolled};
        return;
    }
    if (explore_overview_has(e, y)) {
        explore_overview_press(e, x, y, clicks);
        return;
    }
    if (explore_legend_has(e, y)) {
        explore_tip_forget(e);
        *d = (struct explore_drag){.grip = EXPLORE_GRIP_LEGEND, .x = x, .y = y, .row = WEFT_NONE};
        return;
    }
    unsigned pane = explore_pane_at(e, y);
    if (pane == e->panes)
        return;
    struct weft_pick at = explore_pick(e, pane, x, y);
    explore_activate(e, pane);
    explore_tip_forget(e);
    enum explore_title title = explore_title_at(e, pane, x, y);
    *d = (struct explore_drag){
        .grip = title == EXPLORE_TITLE_CLOSE  ? EXPLORE_GRIP_CLOSE
                : title == EXPLORE_TITLE_NAME ? EXPLORE_GRIP_TITLE
                : is_on_ruler(e, pane, y)     ? EXPLORE_GRIP_RULER
                                              : EXPLORE_GRIP_ROWS,
        .alone = e->is_free || (mods & (WEFT_SHIFT | WEFT_ALT)),
        .pane = pane,
        .x = x,
        .y = y,
        .window = explore_window_get(e, pane),
        .row = at.row,
        .time_ns = at.time_ns,
    };
    int32_t height;
    if (at.row == WEFT_NONE || !explore_row_at(e, pane, at.row, &d->row_px, &height))
        d->row = WEFT_NONE;
    if (clicks == 2 && d->grip == EXPLORE_GRIP_ROWS) {
        click(e, pane, at, true);
        d->grip = EXPLORE_GRIP_NONE;
    }
}

static void drag_rows(struct weft_explorer *e, double x, double y)
{
    const struct explore_drag *d = &e->drag;
    struct explore_window w = explore_window_beside(e, d->pane, d->window, d->x - x);
    if (d->alone)
        explore_window_shift(e, d->pane, w);
    else
        explore_window_set(e, d->pane, w, 0.1);
    if (d->row != WEFT_NONE && explore_round(e->pane[d->pane].view.spread) > 0)
        explore_rows_focus(e, d->pane, d->row, d->row_px + (int32_t)explore_round(y - d->y));
}

static void drag_flame(struct weft_explorer *e, double y)
{
    int32_t row = e->flame.layout.row_height / WEFT_PX;
    int64_t rows = row > 0 ? explore_round((e->drag.y - y) / row) : 0;
    explore_flame_scroll(e, (int)(e->drag.scrolled + rows - e->flame.scrolled));
}

void weft_explorer_drag(struct weft_explorer *e, double x, double y)
{
    struct explore_drag *d = &e->drag;
    double dx = (x = pixel(x)) - d->x, dy = (y = pixel(y)) - d->y;
    if (d->grip == EXPLORE_GRIP_NONE)
        return;
    bool first = !d->moved;
    d->moved = d->moved || dx * dx + dy * dy >= CLICK_PX * CLICK_PX;
    if (!d->moved)
        return;
    e->wheel_x = -1;
    if (d->grip == EXPLORE_GRIP_LEGEND)
        return;
    if (e->over) {
        e->over_x = x;
        e->over_y = y;
    }
    if (d->grip == EXPLORE_GRIP_FLAME)
        drag_flame(e, y);
    else if (d->grip == EXPLORE_GRIP_OVERVIEW)
        explore_overview_drag(e, x, first);
    else if (d->grip == EXPLORE_GRIP_TITLE)
        explore_title_drag(e, y);
    else if (d->grip == EXPLORE_GRIP_CLOSE)
        return;
    else if (d->grip == EXPLORE_GRIP_RULER)
        explore_range_set(e, d->pane, d->time_ns, explore_round(explore_time_at(e, d->pane, x)));
    else {
        explore_history_move(e, EXPLORE_DRAG);
        drag_rows(e, x, y);
    }
}

/* Panes that were moved along each other change what can be shown at all: the view is brought there. */
static void let_go(struct weft_explorer *e)
{
    const bool alone = e->drag.grip == EXPLORE_GRIP_ROWS && e->drag.alone && e->drag.moved;
    e->drag.grip = EXPLORE_GRIP_NONE;
    if (alone)
        explore_window_settle(e);
}

void weft_explorer_release(struct weft_explorer *e, double x, double y)
{
    struct explore_drag d = e->drag;
    weft_explorer_drag(e, x, y);
    bool moved = e->drag.moved;
    let_go(e);
    if (d.grip == EXPLORE_GRIP_RULER)
        explore_part_changed(e, EXPLORE_COMPARED);
    if (d.grip == EXPLORE_GRIP_RULER && e->flame.open) { /* it waits for that */
        explore_part_changed(e, EXPLORE_FLAME);
        explore_changed(e, WEFT_CHANGED_PICTURE);
    }
    if (d.grip == EXPLORE_GRIP_OVERVIEW)
        explore_overview_release(e, &d, moved);
    if (d.grip == EXPLORE_GRIP_RULER && e->table)
        explore_changed(e, WEFT_CHANGED_TABLE);
    if (d.grip == EXPLORE_GRIP_ROWS && moved)
        weft_explorer_rest(e); /* each drag is a step */
    if (d.grip == EXPLORE_GRIP_NONE || d.grip == EXPLORE_GRIP_OVERVIEW || moved)
        return;
    if (d.grip == EXPLORE_GRIP_FLAME) {
        explore_flame_click(e, d.x, d.y);
        return;
    }
    if (d.grip == EXPLORE_GRIP_CLOSE) {
        explore_title_release(e, d.x, d.y);
        return;
    }
    if (d.grip == EXPLORE_GRIP_LEGEND)
        explore_legend_click(e, d.x, d.y);
    else if (d.grip == EXPLORE_GRIP_RULER)
        explore_range_set(e, d.pane, 0, 0);
    else if (explore_refresh(e) == 0 && !explore_groups_click(e, d.pane, d.x, d.y))
        click(e, d.pane, explore_pick(e, d.pane, d.x, d.y), false);
}

void weft_explorer_cancel(struct weft_explorer *e)
{
    let_go(e);
    weft_explorer_rest(e);
}

/* ---- The wheel, fingers ---- */

/* Rows are spread around the one at x, y. While the pointer does not move, that row does not either. */
static void focus(struct weft_explorer *e, unsigned pane, double x, double y)
{
    if (e->wheel_x == x && e->wheel_y == y && e->pane[pane].view.focus_row != WEFT_NONE)
        return;
    if (explore_refresh(e) < 0)
        return;
    uint32_t row = explore_pick(e, pane, x, y).row;
    int32_t at, height;
    if (row == WEFT_NONE || !explore_row_at(e, pane, row, &at, &height))
        return;
    explore_rows_focus(e, pane, row, at);
    e->wheel_x = x;
    e->wheel_y = y;
}

/* The pane at that place, which is about to be moved; e->panes: none. */
static unsigned begin_move(struct weft_explorer *e, double y)
{
    unsigned pane = explore_pane_at(e, y);
    if (pane < e->panes) {
        explore_activate(e, pane);
        explore_tip_forget(e);
    }
    return pane;
}

void weft_explorer_scroll(struct weft_explorer *e, double x, double y, double dx, double dy,
                          unsigned mods)
{
    x = pixel(x);
    y = pixel(y);
    const double notch_px = 80;
    if (e->drag.grip != EXPLORE_GRIP_NONE || (!e->placed && explore_refresh(e) < 0))
        return;
    if (explore_flame_has(e, y)) {
        explore_tip_forget(e);
        explore_flame_scroll(e, (int)explore_round(pixel(dy) * FLAME_ROWS));
        return;
    }
    dx = pixel(dx);
    dy = pixel(dy);
    unsigned pane = explore_pane_at(e, y);
    bool is_title = explore_title_at(e, pane, x, y) != EXPLORE_TITLE_NONE;
    if ((is_title || (mods & WEFT_ALT)) && dy != 0 && explore_panes_scroll(e, dy)) {
        explore_tip_forget(e);
        return;
    }
    if (mods & WEFT_SHIFT) {
        dx += dy;
        dy = 0;
    }
    if (explore_overview_has(e, y)) {
        explore_overview_move(e, x, y, dx * notch_px, explore_notches(-dy),
                              dy == 0 ? EXPLORE_PAN : EXPLORE_ZOOM);
        return;
    }
    pane = begin_move(e, y);
    if (pane == e->panes)
        return;
    if (dx != 0) {
        explore_history_move(e, EXPLORE_PAN);
        explore_window_pan(e, pane, dx * notch_px);
    }
    if (dy == 0)
        return;
    explore_history_move(e, mods & (WEFT_CTRL | WEFT_ALT) ? EXPLORE_ROWS : EXPLORE_ZOOM);
    if (mods & WEFT_ALT) {
        explore_rows_scroll(e, pane, dy * notch_px);
        return;
    }
    focus(e, pane, x, y);
    if (mods & WEFT_CTRL)
        explore_rows_spread(e, pane, explore_notches(-dy));
    else
        explore_zoom(e, pane, x, explore_notches(-dy));
}

void weft_explorer_pinch(struct weft_explorer *e, double x, double y, double dx, double dy,
                         double factor)
{
    x = pixel(x);
    y = pixel(y);
    e->drag.grip = EXPLORE_GRIP_NONE;
    if (explore_refresh(e) < 0)
        return;
    dx = pixel(dx);
    dy = pixel(dy);
    factor = factor > 0.01 && factor < 100 ? factor : 1;
    if (explore_overview_has(e, y)) {
        explore_overview_move(e, x, y, dx, factor, EXPLORE_PINCH);
        return;
    }
    unsigned pane = begin_move(e, y);
    if (pane == e->panes)
        return;
    struct weft_pick at = explore_pick(e, pane, x - dx, y - dy);
    int32_t middle, height;
    explore_history_move(e, EXPLORE_PINCH);
    explore_window_pan(e, pane, -dx);
    if (at.row != WEFT_NONE && explore_row_at(e, pane, at.row, &middle, &height))
        explore_rows_focus(e, pane, at.row, middle + (int32_t)explore_round(dy));
    e->wheel_x = -1;
    if (factor != 1)
        explore_zoom(e, pane, x, factor);
}
