/* SPDX-License-Identifier: ISC */
/* Hit tests: what is at a point of a picture that was drawn. */
#include "base/array.h"
#include "base/order.h"
#include "view/canvas.h"

enum {
    NEAR = 4 * PX,
    NEAR_ARROW = 3 * PX, /* the pointer may be this far from an arrow … */
    NEAR_IN_FOLD = 3 * PX / 2,
    ON_LINE = 5 * PX / 2, /* … and is on a line at this distance from its middle */
    FLAGS = 40 * PX,      /* flags may reach this far into the ruler */
    EXACT_MAX = 10000,
    LINES_MAX = 20000, /* that are compared to find the longest */
};

void weft_geometry_fini(struct weft_geometry *g)
{
    weft_free_all(g->shown_row, g->shown_y, g->lane, g->arrow, g->flag);
    *g = (struct weft_geometry){0};
}

static struct axis axis_of(const struct weft_geometry *g)
{
    struct axis a;
    if (g->x1 <= g->x0 || g->from_ns >= g->to_ns) /* nothing was drawn yet */
        axis_init(&a, NULL, 0, 1, 0, PX);
    else
        axis_init(&a, g->folds, g->from_ns, g->to_ns, g->x0, g->x1);
    return a;
}

int64_t weft_geometry_time(const struct weft_geometry *g, int32_t x)
{
    struct axis a = axis_of(g);
    return axis_time(&a, x < a.x0 ? a.x0 : x > a.x1 ? a.x1 : x);
}

int32_t weft_geometry_x(const struct weft_geometry *g, int64_t time_ns)
{
    struct axis a = axis_of(g);
    return axis_x(&a, time_ns);
}

struct point {
    const struct weft_scene *s;
    const struct weft_geometry *g;
    struct axis axis;
    int32_t x;
};

/* The shown row at y, or the nearest one; WEFT_NONE: there are no rows. */
static uint32_t shown_at(const struct weft_geometry *g, int32_t y)
{
    uint32_t low = 1, high = g->shown;
    WEFT_SEEK(low, high, g->shown_y[middle] <= y);
    return g->shown ? low - 1 : WEFT_NONE;
}

static uint32_t lane_of(const struct weft_geometry *g, uint32_t at)
{
    uint32_t low = 1, high = g->lanes;
    WEFT_SEEK(low, high, g->lane[middle] <= at);
    return low - 1;
}

static int32_t x_of_end(const struct point *p, uint32_t span)
{
    return axis_x(&p->axis, weft_layout_span_end(p->s->l, p->s->m, span));
}

static bool is_shape(const struct point *p, uint32_t span)
{
    return axis_seen(&p->axis, axis_x(&p->axis, p->s->l->start[span]), x_of_end(p, span)) >=
           p->g->shape_width;
}

/* The spans of a row that may lie between two times. */
static uint32_t between(const struct point *p, uint32_t row, int64_t from_ns, int64_t to_ns,
                        uint32_t *begin)
{
    const struct weft_index *x = p->s->x;
    *begin = view_span_reaching(x, p->s->l, row, view_bucket_at(x, from_ns), from_ns);
    return view_span_after(x, p->s->l, row, view_bucket_at(x, to_ns), to_ns);
}

/* The nearest shape of a row, at most NEAR away; *distance is how far. */
static uint32_t shape_near(const struct point *p, uint32_t row, int32_t *distance)
{
    const struct axis *a = &p->axis;
    int32_t x0 = p->x - NEAR > a->x0 ? p->x - NEAR : a->x0;
    int32_t x1 = p->x + NEAR < a->x1 ? p->x + NEAR : a->x1;
    uint32_t begin, end = between(p, row, axis_time(a, x0), axis_time(a, x1), &begin);
    uint32_t best = WEFT_NONE;
    int64_t length = axis_length(a, p->g->shape_width - 1);
    *distance = INT32_MAX;
    for (uint32_t s = begin; (s = view_long_span(p->s->x, p->s->l, s, end, length)) < end; s++) {
        int32_t from = axis_x(a, p->s->l->start[s]), to = x_of_end(p, s);
        int32_t far = p->x < from ? from - p->x : p->x > to ? p->x - to : 0;
        if (axis_seen(a, from, to) >= p->g->shape_width && far <= NEAR && far <= *distance) {
            *distance = far;
            best = p->s->l->spans[s];
        }
    }
    return best;
}

struct fold {
    uint32_t count, longest;
    int64_t length_ns;
};

/* Adds the spans of a row that lie between two times. If few lines of a row overlap, all spans from the first to the
 * last do. alone: without those that are drawn as shapes. */
static void fold_row(const struct point *p, uint32_t row, int64_t from_ns, int64_t to_ns,
                     bool alone, struct fold *f)
{
    const struct weft_layout *l = p->s->l;
    uint32_t begin, end = between(p, row, from_ns, to_ns, &begin);
    f->count += end - begin;
    for (uint32_t s = begin; s < end && l->start[s] < from_ns; s++)
        f->count -= weft_layout_span_end(l, p->s->m, s) < from_ns;
    if (alone) {
        int64_t length = axis_length(&p->axis, p->g->shape_width - 1);
        for (uint32_t s = begin; (s = view_long_span(p->s->x, l, s, end, length)) < end; s++)
            f->count -= is_shape(p, s) && weft_layout_span_end(l, p->s->m, s) >= from_ns;
    }
    /* Each is longer than the previous one, so it takes few steps to find the longest. */
    for (uint32_t s = begin; (s = view_long_span(p->s->x, l, s, end, f->length_ns + 1)) < end;
         s++) {
        int64_t until = weft_layout_span_end(l, p->s->m, s);
        if (until < from_ns || until - l->start[s] <= f->length_ns || (alone && is_shape(p, s)))
            continue;
        f->length_ns = until - l->start[s];
        f->longest = l->spans[s];
    }
}

static void pick_row(const struct point *p, uint32_t at, struct weft_pick *pick)
{
    const struct weft_geometry *g = p->g;
    uint32_t lane = lane_of(g, at), first = g->lane[lane], last = g->lane[lane + 1];
    bool alone = last - first == 1;
    int32_t distance = INT32_MAX;
    uint32_t shape = alone ? shape_near(p, g->shown_row[at], &distance) : WEFT_NONE;
    if (shape != WEFT_NONE && distance == 0) {
        pick->kind = WEFT_PLACE_PROMISE;
        pick->promise = shape;
        pick->folded = 1;
        return;
    }
    /* Looks at the cell; if that is empty, at its neighbours. */
    struct fold f = {.longest = WEFT_NONE, .length_ns = -1};
    static const int order[] = {0, -1, 1, -2, 2};
    for (unsigned i = 0; i < sizeof order / sizeof *order && f.count == 0; i++) {
        int32_t cell = (p->x - p->axis.x0) / CELL + order[i];
        int32_t x0 = p->axis.x0 + cell * CELL, x1 = x0 + CELL;
        if (cell < 0 || x0 >= p->axis.x1)
            continue;
        int64_t from = axis_time(&p->axis, x0);
        int64_t to = x1 < p->axis.x1 ? axis_time(&p->axis, x1) - 1 : p->axis.to_ns;
        for (uint32_t r = first; r < last; r++)
            fold_row(p, g->shown_row[r], from, to < from ? from : to, alone, &f);
        if (i == 0 && f.count == 0 && shape != WEFT_NONE)
            break;
    }
    if (f.count == 0 && shape == WEFT_NONE)
        return;
    pick->kind = f.count > 1 ? WEFT_PLACE_FOLD : WEFT_PLACE_PROMISE;
    pick->promise = f.count ? f.longest : shape;
    pick->folded = f.count ? f.count : 1;
    if (pick->promise != WEFT_NONE)
        pick->row = p->s->l->row[pick->promise];
}

/* ---- Arrows and flags ---- */

/* The square of the distance of a point from an arrow, in coordinate units. */
static int64_t distance_to(const struct weft_arrow *a, int32_t x, int32_t y)
{
    const int64_t dx = (int64_t)a->x1 - a->x0, dy = (int64_t)a->y1 - a->y0;
    int64_t px = (int64_t)x - a->x0, py = (int64_t)y - a->y0, all = dx * dx + dy * dy;
    int64_t along = px * dx + py * dy;
    if (along > 0 && all > 0) {
        const double part = along < all ? (double)along / (double)all : 1;
        px -= (int64_t)(part * (double)dx);
        py -= (int64_t)(part * (double)dy);
    }
    return px * px + py * py;
}

/* The nearest arrow, at most `near` away; of those that are equally near the one that is drawn last. WEFT_NONE: none. */
static uint32_t arrow_near(const struct weft_geometry *g, int32_t x, int32_t y, int32_t near)
{
    int64_t best = (int64_t)near * near;
    uint32_t found = WEFT_NONE;
    for (uint32_t i = 0; i < g->arrows; i++) {
        const struct weft_arrow *a = &g->arrow[i];
        if ((x < a->x0 - near && x < a->x1 - near) || (x > a->x0 + near && x > a->x1 + near) ||
            (y < a->y0 - near && y < a->y1 - near) || (y > a->y0 + near && y > a->y1 + near))
            continue;
        int64_t far = distance_to(a, x, y);
        if (far <= best) {
            best = far;
            found = i;
        }
    }
    return found;
}

/* Returns true if the point is on the line of the promise that was picked, not only in its row. */
static bool is_on_line(const struct weft_geometry *g, const struct weft_pick *pick, uint32_t at,
                       int32_t y)
{
    int32_t height = g->shown_y[at + 1] - g->shown_y[at];
    int32_t line = g->shown_y[at] + (height >= 10 * PX ? height - 5 * PX : height / 2);
    return pick->kind == WEFT_PLACE_PROMISE && y >= line - ON_LINE && y <= line + ON_LINE;
}

/* What lies above the promises: flags, then arrows. */
static void pick_above(const struct weft_geometry *g, struct weft_pick *pick, uint32_t at,
                       int32_t x, int32_t y)
{
    for (uint32_t i = g->flags; i-- > 0;) {
        const struct weft_flag *f = &g->flag[i];
        if (x >= f->x0 && x <= f->x1 && y >= f->y0 && y <= f->y1) {
            pick->kind = WEFT_PLACE_MARK;
            pick->mark = f->mark;
            return;
        }
    }
    bool fold = pick->kind == WEFT_PLACE_FOLD;
    if (is_on_line(g, pick, at, y))
        return;
    uint32_t arrow = arrow_near(g, x, y, fold ? NEAR_IN_FOLD : NEAR_ARROW);
    if (arrow == WEFT_NONE)
        return;
    pick->kind = WEFT_PLACE_ARROW;
    pick->arrow = arrow;
}

struct weft_pick weft_view_pick(const struct weft_scene *s, const struct weft_geometry *g,
                                int32_t x, int32_t y)
{
    struct point p = {.s = s, .g = g, .axis = axis_of(g), .x = x};
    struct weft_pick pick = {
        .time_ns = weft_geometry_time(g, x), .row = WEFT_NONE, .promise = WEFT_NONE};
    uint32_t at = shown_at(g, y);
    if (at != WEFT_NONE)
        pick.row = g->shown_row[at];
    if (y >= g->ruler_y0 && y < g->rows_y0)
        pick.kind = WEFT_PLACE_RULER;
    else if (y >= g->rows_y1 && y < g->older_y1)
        pick.kind = WEFT_PLACE_OLDER;
    else if (y >= g->older_y1 && y < g->strips_y1) {
        pick.kind = WEFT_PLACE_STRIP;
        pick.strip =
            (uint32_t)(y - g->older_y1) / ((uint32_t)(g->strips_y1 - g->older_y1) / g->strips);
        pick.strip = pick.strip < g->strips ? pick.strip : g->strips - 1;
    } else if (y >= g->rows_y1 && y < g->counters_y1)
        pick.kind = WEFT_PLACE_COUNTERS;
    else if (at != WEFT_NONE && y >= g->shown_y[0] && y < g->shown_y[g->shown] && x >= g->x0 &&
             x <= g->x1)
        pick_row(&p, at, &pick);
    if (at != WEFT_NONE && y >= g->rows_y0 - FLAGS && y < g->rows_y1 &&
        (y >= g->rows_y0 || g->flags))
        pick_above(g, &pick, at, x, y);
    if (x >= g->x0 && x <= g->x1)
        pick.fold = weft_folds_at(g->folds, pick.time_ns);
    if (pick.kind == WEFT_PLACE_NONE && pick.fold && y >= g->rows_y0 && y < g->rows_y1)
        pick.kind = WEFT_PLACE_BREAK;
    return pick;
}

/* ---- The longest lines ---- */

static int by_length(const void *a, const void *b)
{
    const struct weft_view_line *x = a, *y = b;
    WEFT_ORDER(y->seen_ns, x->seen_ns);
    return weft_order(x->span, y->span);
}

/* The visible length of a line; negative: nothing of it is visible. */
static int64_t seen_of(const struct point *p, uint32_t span)
{
    int64_t start = p->s->l->start[span], end = weft_layout_span_end(p->s->l, p->s->m, span);
    start = start > p->g->from_ns ? start : p->g->from_ns;
    end = end < p->g->to_ns ? end : p->g->to_ns;
    return end >= start ? end - start : -1;
}

/* Adds the lines of which that much is visible, while there is room. Returns how many there are then. */
static uint32_t add_lines(const struct point *p, struct weft_view_line *line, int64_t length)
{
    uint32_t count = 0, begin;
    for (uint32_t r = 0; r < p->g->shown; r++) {
        uint32_t end = between(p, p->g->shown_row[r], p->g->from_ns, p->g->to_ns, &begin);
        for (uint32_t s = begin; (s = view_long_span(p->s->x, p->s->l, s, end, length)) < end;
             s++) {
            int64_t seen = seen_of(p, s);
            if (seen < length)
                continue;
            if (count == LINES_MAX)
                return count;
            line[count++] = (struct weft_view_line){.seen_ns = seen, .span = s};
        }
    }
    return count;
}

struct weft_view_line *weft_view_longest(const struct weft_scene *s, const struct weft_geometry *g,
                                         uint32_t max, uint32_t *count, uint64_t *all)
{
    const struct point p = {.s = s, .g = g};
    struct weft_view_line *line = malloc(LINES_MAX * sizeof *line);
    uint32_t begin;
    *count = 0;
    *all = 0;
    for (uint32_t r = 0; r < g->shown; r++) {
        uint32_t end = between(&p, g->shown_row[r], g->from_ns, g->to_ns, &begin);
        *all += end - begin;
    }
    if (*all <= EXACT_MAX)
        for (uint32_t r = 0; r < g->shown; r++)
            for (uint32_t end = between(&p, g->shown_row[r], g->from_ns, g->to_ns, &begin);
                 begin < end; begin++)
                *all -= seen_of(&p, begin) < 0;
    if (!line)
        return NULL;
    for (int64_t length = g->to_ns - g->from_ns;; length /= 2) {
        *count = add_lines(&p, line, length);
        if (*count >= max || length == 0)
            break;
    }
    qsort(line, *count, sizeof *line, by_length);
    *count = *count < max ? *count : max;
    return line;
}
