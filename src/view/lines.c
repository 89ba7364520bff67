/* SPDX-License-Identifier: ISC */
/* The promises themselves: lines, runs, ends; and what lies behind them: marks of what was searched or
 * selected, and the thin lines of creation and becoming.
 *
 * A row of some height shows promises of three pixels and more as shapes; shorter ones are folded into
 * cells, darker where there are more. Rows that are thinner than that are folded together. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/canvas.h"

enum {
    CELL = 2 * PX,
    LANE_MIN = 3 * PX, /* rows thinner than that share a lane */
    SHADES = 5,
    TIPS_MAX = 20000, /* texts shown when pointing; more would make the file too large */
};

struct cell {
    int32_t cover;  /* folded promises that begin here, less those that ended before */
    uint32_t count; /* folded promises that begin here */
    uint32_t busy;  /* coordinate units in which one runs, over all rows of the lane */
    bool failed;    /* a folded promise that failed ends here */
};

struct lane {
    struct cell *cell;
    uint32_t cells;
    uint32_t first, last; /* shown rows, last excluded */
    int32_t y0, y1;
    int32_t run_x0, run_x1; /* a run not drawn yet */
    uint32_t tips;
};

static bool is_red(const struct canvas *c, uint32_t promise)
{
    return c->m->promise[promise].outcome == WEFT_FAILED || weft_model_overdue(c->m, promise);
}

static void add_tip(struct canvas *c, struct weft_draw *d, uint32_t promise)
{
    const struct weft_promise *p = &c->m->promise[promise];
    char text[240], at[32], length[32], name[120] = "";
    uint32_t label = weft_model_name(c->m, promise);
    if (label != WEFT_NONE)
        snprintf(name, sizeof name, "%.*s ", 100, weft_model_text(c->m, label, NULL));
    canvas_format_duration(at, sizeof at, p->start_ns);
    canvas_format_duration(length, sizeof length, p->end_ns - p->start_ns);
    int n = snprintf(text, sizeof text, "%s(%s) #%" PRIu64 ": at %s, %s, %s", name,
                     weft_model_type(c->m, promise), p->id, at, length,
                     weft_outcome_name((enum weft_outcome)p->outcome));
    canvas_tip(c, d, text, (size_t)n);
    d->promise = promise;
}

static void draw_end(struct canvas *c, uint32_t promise, int32_t x0, int32_t x1, int32_t y,
                     int32_t height)
{
    const struct weft_promise *p = &c->m->promise[promise];
    int32_t reach = height < 14 * PX ? height / 2 : 7 * PX;
    if (p->outcome == WEFT_FAILED && p->end_ns <= c->to_ns)
        canvas_rect(c, WEFT_INK_FAILED, x1 - 2 * PX, y - reach, x1, y + reach);
    else if (p->outcome == WEFT_PENDING && x1 - x0 > 4 * PX && height >= 8 * PX)
        canvas_pointer(c, is_red(c, promise) ? WEFT_INK_FAILED : WEFT_INK_PENDING, x0, y, x1, y);
}

static void draw_shape(struct canvas *c, struct lane *lane, uint32_t promise, int32_t x0,
                       int32_t x1)
{
    int32_t height = lane->y1 - lane->y0, y = canvas_row_y(c, lane->first);
    int32_t half = height >= 8 * PX ? PX : height / 4;
    x0 = x0 < c->x0 ? c->x0 : x0;
    x1 = x1 > c->x1 ? c->x1 : x1;
    struct weft_draw *d = canvas_rect(c, is_red(c, promise) ? WEFT_INK_FAILED : WEFT_INK_WAIT, x0,
                                      y - half, x1, y + half);
    if (lane->tips < TIPS_MAX) {
        lane->tips++;
        add_tip(c, d, promise);
    }
    draw_end(c, promise, x0, x1, y, height);
}

static uint32_t cell_at(const struct canvas *c, const struct lane *lane, int32_t x)
{
    int32_t at = (x - c->x0) / CELL;
    return at < 0 ? 0 : (uint32_t)at < lane->cells ? (uint32_t)at : lane->cells - 1;
}

static void fold(struct canvas *c, struct lane *lane, uint32_t promise, int32_t x0, int32_t x1)
{
    uint32_t begin = cell_at(c, lane, x0), end = cell_at(c, lane, x1);
    lane->cell[begin].cover++;
    lane->cell[begin].count++;
    lane->cell[end + 1].cover--; /* there is one more than cells */
    c->folded++;
    if (is_red(c, promise))
        lane->cell[end].failed = true;
}

static void flush_run(struct canvas *c, struct lane *lane)
{
    if (lane->run_x1 <= lane->run_x0)
        return;
    int32_t y = canvas_row_y(c, lane->first), height = lane->y1 - lane->y0;
    int32_t half = height >= 8 * PX ? 5 * PX / 2 : height / 3;
    int32_t x1 = lane->run_x1 < lane->run_x0 + PX ? lane->run_x0 + PX : lane->run_x1;
    canvas_rect(c, WEFT_INK_RUN, lane->run_x0, y - half, x1 < c->x1 ? x1 : c->x1, y + half);
    lane->run_x0 = lane->run_x1 = 0;
}

static void add_run(struct canvas *c, struct lane *lane, int32_t x0, int32_t x1)
{
    x0 = x0 < c->x0 ? c->x0 : x0;
    x1 = x1 > c->x1 ? c->x1 : x1;
    if (x1 <= x0)
        x1 = x0 + 1;
    if (lane->last - lane->first > 1) {
        for (int32_t at = x0; at < x1;) {
            uint32_t cell = cell_at(c, lane, at);
            int32_t end = c->x0 + (int32_t)(cell + 1) * CELL;
            end = end < x1 && end > at ? end : x1;
            lane->cell[cell].busy += (uint32_t)(end - at);
            at = end;
        }
    } else if (lane->run_x1 > lane->run_x0 &&
               (x0 <= lane->run_x1 + PX / 4 || x0 <= lane->run_x0 + 3 * PX / 2)) {
        lane->run_x0 = x0 < lane->run_x0 ? x0 : lane->run_x0; /* on another thread */
        lane->run_x1 = x1 > lane->run_x1 ? x1 : lane->run_x1;
    } else {
        flush_run(c, lane);
        lane->run_x0 = x0;
        lane->run_x1 = x1;
    }
}

/* The lines and folds of one row; then, over them, its runs. */
static void draw_row(struct canvas *c, struct lane *lane, uint32_t row)
{
    const struct weft_model *m = c->m;
    uint32_t begin = canvas_first_span(c, row), end = begin;
    for (; end < c->l->first[row + 1]; end++) {
        uint32_t promise = c->l->spans[end];
        const struct weft_promise *p = &m->promise[promise];
        int64_t start = weft_layout_start(c->l, p);
        if (start > c->to_ns)
            break;
        if (p->end_ns < c->from_ns)
            continue;
        int32_t x0 = canvas_x(c, start), x1 = canvas_x(c, p->end_ns);
        x1 = x1 < x0 ? x0 : x1;
        if (x1 - x0 >= SHAPE_WIDTH && lane->last - lane->first == 1)
            draw_shape(c, lane, promise, x0, x1);
        else
            fold(c, lane, promise, x0, x1);
    }
    for (uint32_t s = begin; s < end; s++)
        for (uint32_t r = m->promise[c->l->spans[s]].first_run; r != WEFT_NONE; r = m->run[r].next)
            if (m->run[r].end_ns >= c->from_ns && m->run[r].start_ns <= c->to_ns)
                add_run(c, lane, canvas_x(c, m->run[r].start_ns), canvas_x(c, m->run[r].end_ns));
    flush_run(c, lane);
}

/* How dark a cell is, 0 to SHADES. */
static uint32_t shade_of(uint32_t part, uint32_t whole)
{
    if (part == 0)
        return 0;
    return part >= whole ? SHADES : 1 + (uint32_t)((uint64_t)part * (SHADES - 1) / whole);
}

static void draw_cells(struct canvas *c, const struct lane *lane, uint32_t from, uint32_t to,
                       uint32_t shade, uint32_t count)
{
    int32_t inset = lane->y1 - lane->y0 > 8 * PX ? (lane->y1 - lane->y0) / 2 - 3 * PX : 0;
    int32_t x1 = c->x0 + (int32_t)to * CELL, y = canvas_row_y(c, lane->first);
    bool thin = lane->last - lane->first == 1 && inset;
    struct weft_draw *d =
        canvas_rect(c, WEFT_INK_FOLD, c->x0 + (int32_t)from * CELL, thin ? y - 3 * PX : lane->y0,
                    x1 < c->x1 ? x1 : c->x1, thin ? y + 3 * PX : lane->y1);
    d->alpha = (uint8_t)(40 + shade * 160 / SHADES);
    if (count && lane->tips < TIPS_MAX) {
        char text[48];
        int n = snprintf(text, sizeof text, "%u promise%s", count, count == 1 ? "" : "s");
        canvas_tip(c, d, text, (size_t)n);
    }
}

static void draw_failures(struct canvas *c, const struct lane *lane)
{
    for (uint32_t i = 0, next; i < lane->cells; i = next) {
        for (next = i; next < lane->cells && lane->cell[next].failed; next++)
            ;
        int32_t x1 = c->x0 + (int32_t)next * CELL;
        if (next > i)
            canvas_rect(c, WEFT_INK_FAILED, c->x0 + (int32_t)i * CELL, lane->y0,
                        x1 < c->x1 ? x1 : c->x1, lane->y1);
        else
            next++;
    }
}

/* Cells of one shade that lie side by side become one draw. */
static void draw_folds(struct canvas *c, struct lane *lane)
{
    uint32_t rows = lane->last - lane->first, from = 0, shade = 0, count = 0;
    int32_t cover = 0;
    for (uint32_t i = 0; i <= lane->cells; i++) {
        cover += lane->cell[i].cover;
        uint32_t most = rows > 1 ? rows : 8;
        uint32_t now = i < lane->cells ? shade_of((uint32_t)cover, most) : 0;
        if (now != shade) {
            if (shade)
                draw_cells(c, lane, from, i, shade, count);
            from = i;
            shade = now;
            count = 0;
        }
        count += lane->cell[i].count;
    }
    if (rows == 1)
        return;
    from = shade = 0;
    for (uint32_t i = 0; i <= lane->cells; i++) {
        uint32_t now = i < lane->cells ? shade_of(lane->cell[i].busy, CELL) : 0;
        if (now == shade)
            continue;
        if (shade > 1) {
            int32_t x1 = c->x0 + (int32_t)i * CELL;
            canvas_rect(c, WEFT_INK_RUN, c->x0 + (int32_t)from * CELL, lane->y0,
                        x1 < c->x1 ? x1 : c->x1, lane->y1)
                ->alpha = (uint8_t)(shade * 200 / SHADES);
        }
        from = i;
        shade = now;
    }
}

void canvas_draw_promises(struct canvas *c)
{
    struct lane lane = {.cells = (uint32_t)((c->x1 - c->x0) / CELL) + 1};
    lane.cell = malloc((lane.cells + 1) * sizeof *lane.cell);
    if (!lane.cell) {
        c->list->failed = true;
        return;
    }
    for (uint32_t at = 0; at < c->shown; at = lane.last) {
        memset(lane.cell, 0, (lane.cells + 1) * sizeof *lane.cell);
        lane.first = at;
        lane.y0 = c->shown_y[at];
        for (lane.last = at + 1; lane.last < c->shown; lane.last++)
            if (c->shown_y[lane.last] - lane.y0 >= LANE_MIN)
                break;
        lane.y1 = c->shown_y[lane.last];
        for (uint32_t i = at; i < lane.last; i++)
            draw_row(c, &lane, c->shown_row[i]);
        draw_folds(c, &lane);
        draw_failures(c, &lane);
    }
    free(lane.cell);
}

/* Creation and becoming */

struct edge {
    int32_t x, y0, y1;
};

struct edges {
    struct edge *edge;
    uint32_t count, room;
};

static void add_edge(struct canvas *c, struct edges *e, int64_t time_ns, uint32_t from, uint32_t to)
{
    int32_t y0, y1;
    if (time_ns < c->from_ns || time_ns > c->to_ns || !canvas_y(c, from, &y0) ||
        !canvas_y(c, to, &y1) || y0 == y1)
        return;
    if (e->count == e->room) {
        uint32_t room = e->room ? e->room * 2 : 256;
        struct edge *grown = realloc(e->edge, room * sizeof *grown);
        if (!grown) {
            c->list->failed = true;
            return;
        }
        e->edge = grown;
        e->room = room;
    }
    e->edge[e->count++] =
        (struct edge){.x = canvas_x(c, time_ns), .y0 = y0 < y1 ? y0 : y1, .y1 = y0 < y1 ? y1 : y0};
}

static int by_place(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    if (x->x / PX != y->x / PX)
        return x->x / PX < y->x / PX ? -1 : 1;
    if (x->y0 != y->y0)
        return x->y0 < y->y0 ? -1 : 1;
    if (x->y1 != y->y1)
        return x->y1 < y->y1 ? -1 : 1;
    return x->x < y->x ? -1 : x->x > y->x;
}

void canvas_draw_edges(struct canvas *c)
{
    const struct weft_model *m = c->m;
    struct edges e = {0};
    for (uint32_t at = 0; at < c->shown && !c->list->failed; at++) {
        uint32_t row = c->shown_row[at];
        for (uint32_t s = canvas_first_span(c, row); s < c->l->first[row + 1]; s++) {
            uint32_t promise = c->l->spans[s];
            const struct weft_promise *p = &m->promise[promise];
            if (weft_layout_start(c->l, p) > c->to_ns)
                break;
            if (c->l->raw || !p->simplified)
                add_edge(c, &e, p->start_ns, p->creator, promise);
            if (p->becomes != WEFT_NONE)
                add_edge(c, &e, p->end_ns, promise, p->becomes);
        }
    }
    if (e.count)
        qsort(e.edge, e.count, sizeof *e.edge, by_place);
    for (uint32_t i = 0, next; i < e.count; i = next) {
        struct edge joined = e.edge[i];
        for (next = i + 1; next < e.count; next++) {
            const struct edge *n = &e.edge[next];
            if (n->x / PX != joined.x / PX || n->y0 > joined.y1)
                break;
            joined.y1 = n->y1 > joined.y1 ? n->y1 : joined.y1;
        }
        canvas_line(c, WEFT_INK_EDGE, PX, joined.x, joined.y0, joined.x, joined.y1)->alpha =
            e.count < 3000 ? 255 : 110;
    }
    free(e.edge);
}

/* What was searched or selected */

#define BAND_MIN (4 * PX)

static void draw_band(struct canvas *c, enum weft_ink ink, uint32_t at, int32_t x0, int32_t x1)
{
    int32_t height = canvas_row_height(c, at), y = canvas_row_y(c, at);
    int32_t up = height >= ROW_HEIGHT_TEXT ? height - 7 * PX : height / 2;
    int32_t down = height >= ROW_HEIGHT_TEXT ? 4 * PX : height / 2;
    if (up + down < 4 * PX)
        up = down = 2 * PX;
    canvas_rect(c, ink, x0, y - up, x1, y + down);
}

/* Bands that cannot be told apart are drawn once: whether one covers something that none before it in
 * rows at the same height does. covered: a byte for each BAND_MIN of the axis. */
static bool cover(const struct canvas *c, char *covered, int32_t x0, int32_t x1)
{
    size_t first = (size_t)((x0 - c->x0) / BAND_MIN), last = (size_t)((x1 - c->x0 - 1) / BAND_MIN);
    if (!memchr(covered + first, 0, last - first + 1))
        return false;
    memset(covered + first, 1, last - first + 1);
    return true;
}

static void mark_row(struct canvas *c, uint32_t at, const struct weft_search *search,
                     char *covered[2])
{
    uint32_t row = c->shown_row[at];
    for (uint32_t s = canvas_first_span(c, row); s < c->l->first[row + 1]; s++) {
        uint32_t promise = c->l->spans[s];
        const struct weft_promise *p = &c->m->promise[promise];
        int64_t start = weft_layout_start(c->l, p);
        if (start > c->to_ns)
            break;
        bool chained = c->in_chain && c->in_chain[promise];
        bool hit = search && weft_search_has(search, promise);
        if (p->end_ns < c->from_ns || (!chained && !hit))
            continue;
        c->hits += hit;
        int32_t x0 = canvas_x(c, start), x1 = canvas_x(c, p->end_ns);
        x0 = x0 < c->x0 ? c->x0 : x0 > c->x1 - BAND_MIN ? c->x1 - BAND_MIN : x0;
        x1 = x1 < x0 + BAND_MIN ? x0 + BAND_MIN : x1 > c->x1 ? c->x1 : x1;
        if (cover(c, covered[chained], x0, x1))
            draw_band(c, chained ? WEFT_INK_SELECTED : WEFT_INK_HIT, at, x0, x1);
    }
}

void canvas_draw_marks(struct canvas *c)
{
    const struct weft_search *search = c->vp->search;
    if (!search && !c->in_chain)
        return;
    size_t cells = (size_t)((c->x1 - c->x0) / BAND_MIN) + 1;
    char *covered[2] = {malloc(cells), malloc(cells)};
    int32_t y = INT32_MIN / 2;
    if (!covered[0] || !covered[1])
        c->list->failed = true;
    for (uint32_t at = 0; at < c->shown && !c->list->failed; at++) {
        if (c->shown_y[at] - y >= 2 * PX) {
            memset(covered[0], 0, cells);
            memset(covered[1], 0, cells);
            y = c->shown_y[at];
        }
        mark_row(c, at, search, covered);
    }
    free(covered[0]);
    free(covered[1]);
}
