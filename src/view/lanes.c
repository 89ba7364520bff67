/* SPDX-License-Identifier: ISC */
/* The promises themselves, lane by lane: lines, runs and ends; and cells for what is folded, darker where more of the
 * rows is covered.
 *
 * If few lines of a block of rows are visible, they are folded one by one. Otherwise the index says how much of the
 * block is covered in each of its intervals (mix.h). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/canvas.h"

enum {
    FEW_SPANS = 300, /* up to this many in a block are folded one by one */
    FEW_RUNS = 200,  /* up to this many of a row are drawn one by one */
    SHADES = 8,
    LANE_GAP_MIN = 4 * PX, /* lanes at least this high are a pixel apart */
    FEW_BUCKETS = 64,
    AHEAD = 12,            /* rows to prefetch */
    EMPTY_MAX = 15,        /* empty cells between two that are not */
    TIP_CELLS = 32,        /* that share one tip */
    TIPS_MAX = 20000,      /* texts shown when pointing; more would make the file too large */
    TIP_ROWS_MAX = 400000, /* rows that are counted for the tips */
};

struct lane {
    uint32_t cells;
    uint64_t *cover;      /* each cell, of all rows: VIEW_SHARE for all of one */
    uint64_t *run;        /* in which a promise runs; same scale */
    uint64_t *solid;      /* what is drawn as shapes, to be subtracted; zero between uses */
    int64_t *through;     /* differences: number of lines that run through the whole cell */
    uint16_t *failed;     /* how many folded promises that failed end in each cell … */
    uint16_t *ended;      /* … of about how many that end there */
    uint8_t *shade;       /* while it is drawn */
    uint32_t low, high;   /* cells outside are empty; low == high: all are */
    bool fails;           /* some of `failed` are not 0 */
    uint32_t first, last; /* shown rows, last excluded */
    int32_t y0, y1;
    int32_t run_x0, run_x1; /* a run not drawn yet */
    uint32_t tips, tip_rows;
    bool indexed;   /* it contains cells of the index */
    bool looked;    /* lines were folded one by one */
    uint64_t whole; /* rows in which one line runs through all cells */
    bool runs_folded;
};

/* ---- Folding ---- */

static uint32_t cell_at(const struct canvas *c, const struct lane *lane, int32_t x)
{
    int32_t at = (x - c->x0) / CELL;
    return at < 0 ? 0 : (uint32_t)at < lane->cells ? (uint32_t)at : lane->cells - 1;
}

/* Something is in the cells from first up to end. */
static void touch(struct lane *lane, uint32_t first, uint32_t end)
{
    const bool empty = lane->low == lane->high;
    lane->low = empty || first < lane->low ? first : lane->low;
    lane->high = empty || end > lane->high ? end : lane->high;
}

/* Adds a line from x0 to x1 to the cells; it is at least one unit wide. */
static void add_part(const struct canvas *c, struct lane *lane, uint64_t *part, int64_t *through,
                     int32_t x0, int32_t x1)
{
    const uint32_t unit = VIEW_SHARE / CELL;
    x0 = x0 < c->x0 ? c->x0 : x0;
    x1 = x1 > c->x1 ? c->x1 : x1;
    if (x1 <= x0) {
        x0 = x0 < c->x1 ? x0 : c->x1 - 1;
        x1 = x0 + 1;
    }
    uint32_t a = cell_at(c, lane, x0), b = cell_at(c, lane, x1 - 1);
    touch(lane, a, b + 1);
    if (a == b) {
        part[a] += (uint32_t)(x1 - x0) * unit;
        return;
    }
    part[a] += (uint32_t)(c->x0 + (int32_t)(a + 1) * CELL - x0) * unit;
    part[b] += (uint32_t)(x1 - c->x0 - (int32_t)b * CELL) * unit;
    if (through) {
        through[a + 1]++;
        through[b]--;
    } else {
        for (uint32_t i = a + 1; i < b; i++)
            part[i] += VIEW_SHARE;
    }
}

static void add_end(struct lane *lane, uint32_t cell, uint32_t ended, uint32_t failed)
{
    uint32_t all = lane->ended[cell] + ended, bad = lane->failed[cell] + failed;
    lane->ended[cell] = (uint16_t)(all < UINT16_MAX ? all : UINT16_MAX);
    lane->failed[cell] = (uint16_t)(bad < UINT16_MAX ? bad : UINT16_MAX);
    lane->fails |= failed != 0;
    touch(lane, cell, cell + 1);
}

/* Folds the lines of spans begin … end - 1, clipped to the two times. */
static void fold_spans(struct canvas *c, struct lane *lane, uint32_t begin, uint32_t end,
                       int64_t from_ns, int64_t to_ns)
{
    const struct weft_layout *l = c->l;
    bool alone = lane->last - lane->first == 1;
    lane->looked = true;
    for (uint32_t s = begin; s < end; s++) {
        int64_t start = l->start[s], until = weft_layout_span_end(l, c->m, s);
        if (until < from_ns)
            continue;
        int32_t x0 = canvas_x(c, start), x1 = canvas_x(c, until);
        if (alone && axis_seen(&c->axis, x0, x1) >= c->g->shape_width)
            continue;
        if (start < from_ns)
            x0 = canvas_x(c, from_ns);
        if (until > to_ns)
            x1 = canvas_x(c, to_ns);
        add_part(c, lane, lane->cover, lane->through, x0, x1);
        if (until <= to_ns)
            add_end(lane, cell_at(c, lane, x1), 1, (l->look[s] & WEFT_LOOK_RED) != 0);
    }
}

static void fold_runs(struct canvas *c, struct lane *lane, uint32_t row, int64_t from_ns,
                      int64_t to_ns)
{
    const struct weft_index *x = c->x;
    for (uint32_t r = view_run_at(x, row, from_ns);
         r < x->run_first[row + 1] && x->run[r].start_ns <= to_ns; r++) {
        int64_t start = x->run[r].start_ns, end = x->run[r].end_ns;
        if (end >= from_ns)
            add_part(c, lane, lane->run, NULL, canvas_x(c, start > from_ns ? start : from_ns),
                     canvas_x(c, end < to_ns ? end : to_ns));
    }
}

/* What a cell of the picture has of a block's: cover, and running in the upper half. In vectors, because this is done for
 * every cell of every block. */
static inline uint32_t mixed(const uint16_t *cell, const struct mix_group *g,
                             const struct mix_group *end)
{
    typedef uint16_t wide __attribute__((vector_size(sizeof g->weight)));
    typedef uint32_t pairs __attribute__((vector_size(sizeof g->weight)));
    wide cover = {0}, run = {0}, here, weight;
    for (; g < end; g++) {
        memcpy(&here, cell + g->at, sizeof here);
        memcpy(&weight, g->weight, sizeof weight);
        cover += (here & 255) * weight;
        run += (here >> 8) * weight;
    }
    const pairs c = (pairs)cover, r = (pairs)run;
    const pairs sum = ((c & 0xffff) + (c >> 16)) | ((r & 0xffff) + (r >> 16)) << 16;
    return sum[0] + sum[1] + sum[2] + sum[3];
}

/* The first of the bits from `from` up to `to` that is set, or to + 1. */
static uint32_t next_bit(const uint64_t *bits, uint32_t from, uint32_t to)
{
    uint64_t here = bits[from / 64] & UINT64_MAX << from % 64;
    while (!here && from / 64 < to / 64) {
        from = (from / 64 + 1) * 64;
        here = bits[from / 64];
    }
    from = here ? from / 64 * 64 + (uint32_t)__builtin_ctzll(here) : to + 1;
    return from <= to ? from : to + 1;
}

/* How many of the bits from `from` up to `to` are set. */
static uint32_t count_bits(const uint64_t *bits, uint32_t from, uint32_t to)
{
    uint64_t low = UINT64_MAX << (from % 64), high = UINT64_MAX >> (63 - to % 64);
    uint32_t count = 0;
    for (uint32_t w = from / 64; w <= to / 64; w++) {
        const uint64_t here =
            bits[w] & (w == from / 64 ? low : UINT64_MAX) & (w == to / 64 ? high : UINT64_MAX);
        count += here ? (uint32_t)__builtin_popcountll(here) : 0;
    }
    return count;
}

/* Adds the failures of a block. Few cells have any: the others are skipped. */
static void fold_failed(const struct canvas *c, struct lane *lane, uint32_t block,
                        const struct mix *m)
{
    const struct weft_index *x = c->x;
    const uint64_t *failed = x->failed + (size_t)block * x->failed_words;
    const uint32_t spans = c->l->first[x->block_row[block + 1]] - c->l->first[x->block_row[block]];
    const uint32_t to = m->begin[lane->cells];
    for (uint32_t i = 0; i < lane->cells; i++) {
        const uint32_t bit = next_bit(failed, m->begin[i], to);
        VIEW_GALLOP(i, lane->cells, m->begin[middle + 1] < bit);
        if (i == lane->cells)
            return;
        if (m->first[i] == m->first[i + 1])
            continue;
        /* About equally many lines begin, and so end, in each interval of the index. */
        uint64_t ends = (uint64_t)(m->begin[i + 1] - m->begin[i] + 1) * spans / x->buckets;
        add_end(lane, i, ends < UINT16_MAX ? (uint32_t)ends : UINT16_MAX,
                count_bits(failed, m->begin[i], m->begin[i + 1]));
    }
}

/* Folds a block whose rows are all in the lane, using the index. */
static void fold_block(struct canvas *c, struct lane *lane, uint32_t block, const struct mix *m)
{
    const struct weft_index *x = c->x;
    const uint16_t *cell = x->cell + (size_t)block * x->level_at[x->levels];
    uint32_t rows = x->block_row[block + 1] - x->block_row[block];
    touch(lane, 0, lane->cells);
    for (uint32_t k = 0; k < lane->cells; k++) {
        const uint32_t i = m->order[k];
        const uint32_t sum = mixed(cell, m->group + m->first[i], m->group + m->first[i + 1]);
        lane->cover[i] += (uint64_t)(sum & 0xffff) * rows;
        lane->run[i] += sum >> 16;
    }
    fold_failed(c, lane, block, m);
}

/* Folds the lines of the rows in intervals wider than cells. */
static void fold_gaps(struct canvas *c, struct lane *lane, uint32_t first, uint32_t last,
                      const struct mix *m)
{
    uint32_t block = c->x->block_of[c->shown_row[first]];
    const uint16_t *cell = c->x->cell + (size_t)block * c->x->level_at[c->x->levels];
    for (uint32_t i = 0; i < m->gaps; i++) {
        const struct mix_gap *gap = &m->gap[i];
        uint32_t b = gap->begin;
        while (b < gap->end && !cell[b])
            b++;
        if (b == gap->end) /* nothing there */
            continue;
        for (uint32_t at = first; at < last; at++) {
            uint32_t row = c->shown_row[at];
            fold_spans(c, lane, view_span_reaching(c->x, c->l, row, gap->begin, gap->from_ns),
                       view_span_after(c->x, c->l, row, gap->end - 1, gap->to_ns - 1), gap->from_ns,
                       gap->to_ns - 1);
            fold_runs(c, lane, row, gap->from_ns, gap->to_ns - 1);
        }
    }
}

/* An estimate of how many runs of a row are visible. */
static uint64_t runs_of(const struct canvas *c, uint32_t row)
{
    const struct weft_index *x = c->x;
    uint64_t all = x->run_first[row + 1] - x->run_first[row];
    return all <= FEW_SPANS ? 0 : all * c->buckets / x->buckets;
}

/* Returns true if something may run in a block; with many visible intervals it does not check. */
static bool any_run(const struct canvas *c, uint32_t block)
{
    const struct weft_index *x = c->x;
    const uint16_t *cell = x->cell + (size_t)block * x->level_at[x->levels];
    uint32_t from = view_bucket_at(x, c->from_ns), running = 0;
    if (c->buckets > FEW_BUCKETS)
        return true;
    for (uint32_t b = from; b < from + c->buckets; b++)
        running |= cell[b] >> 8;
    return running != 0;
}

/* The data of a row lies far in memory from the data of the row before it. */
static inline void fetch_row(const struct canvas *c, uint32_t at, bool runs)
{
    uint32_t span = c->seen[at].begin;
    if (!c->seen[at].through) {
        __builtin_prefetch(&c->l->until[span]);
        __builtin_prefetch(&c->l->start[span]);
        __builtin_prefetch(&c->l->look[span]);
    }
    if (runs)
        view_fetch_runs(c->x, c->shown_row[at]);
}

/* Folds the shown rows from first up to last, which all belong to one block. */
static void fold_rows(struct canvas *c, struct lane *lane, uint32_t first, uint32_t last)
{
    uint32_t block = c->x->block_of[c->shown_row[first]];
    bool whole = (first == 0 || c->x->block_of[c->shown_row[first - 1]] != block) &&
                 (last == c->shown || c->x->block_of[c->shown_row[last]] != block);
    uint64_t spans = 0;
    for (uint32_t at = first; at < last; at++)
        spans += c->seen[at].end - c->seen[at].begin + runs_of(c, c->shown_row[at]);
    const struct mix *m = NULL;
    if (whole && spans > FEW_SPANS)
        m = canvas_mix(c, lane->cells);
    if (m && m->useful && !c->list->failed) {
        lane->indexed = lane->runs_folded = true;
        fold_block(c, lane, block, m);
        fold_gaps(c, lane, first, last, m);
        return;
    }
    bool alone = lane->last - lane->first == 1, runs = lane->runs_folded && any_run(c, block);
    for (uint32_t at = first; at < last; at++) {
        if (at + AHEAD < last)
            fetch_row(c, at + AHEAD, runs);
        if (!c->seen[at].through)
            fold_spans(c, lane, c->seen[at].begin, c->seen[at].end, c->from_ns, c->to_ns);
        else if (!alone) /* then it is a shape */
            lane->whole++;
        if (runs)
            fold_runs(c, lane, c->shown_row[at], c->from_ns, c->to_ns);
    }
    lane->looked = lane->looked || lane->whole;
}

/* ---- Shapes ---- */

static void add_tip(struct canvas *c, struct weft_draw *d, uint32_t promise)
{
    const struct weft_promise *p = &c->m->promise[promise];
    char text[240], name[120] = "";
    uint32_t label = view_name(c, promise);
    if (label != WEFT_NONE)
        snprintf(name, sizeof name, "%.*s ", 100, weft_model_text(c->m, label, NULL));
    int n = snprintf(text, sizeof text, "%s(%.60s) #%" PRIu64 ": at %s, %s, %s", name,
                     weft_model_type(c->m, promise), p->id, weft_duration(p->start_ns).text,
                     weft_duration(p->end_ns - p->start_ns).text,
                     weft_outcome_name((enum weft_outcome)p->outcome));
    canvas_tip(c, d, text, (size_t)n);
}

static void draw_end(struct canvas *c, const struct lane *lane, const struct shape *s, int32_t x0,
                     int32_t x1)
{
    int32_t height = lane->y1 - lane->y0, y = canvas_row_y(c, lane->first);
    int32_t reach = height < 14 * PX ? height / 2 : 7 * PX;
    uint8_t look = c->l->look[s->span];
    bool red = look & WEFT_LOOK_RED, pending = look & WEFT_LOOK_PENDING;
    enum weft_kind kind = red ? WEFT_KIND_FAILED : WEFT_KIND_PENDING;
    if (!canvas_shows(c, kind))
        return;
    if (red && !pending && s->x1 <= c->x1) {
        canvas_rect(c, WEFT_INK_FAILED, x1 - 2 * PX, y - reach, x1, y + reach);
    } else if (pending && x1 - x0 > 4 * PX && height >= 8 * PX) {
        canvas_line(c, weft_kinds[kind].ink, PX, x0, y, x1, y)->op = WEFT_DRAW_POINTER;
        canvas_saw(c, WEFT_KIND_PENDING, !red);
    }
}

static struct weft_draw *draw_part(struct canvas *c, struct lane *lane, const struct shape *s,
                                   enum weft_ink ink, int32_t x0, int32_t x1)
{
    int32_t height = lane->y1 - lane->y0, y = canvas_row_y(c, lane->first);
    int32_t half = height >= 8 * PX ? PX : height >= 4 * PX ? height / 8 : PX / 2;
    struct weft_draw *d = canvas_rect(c, ink, x0, y - half, x1, y + half);
    d->promise = c->l->spans[s->span];
    if (c->vp->tips && lane->tips++ < TIPS_MAX)
        add_tip(c, d, d->promise);
    return d;
}

static void draw_shape(struct canvas *c, struct lane *lane, const struct shape *s)
{
    int32_t x0 = s->x0 < c->x0 ? c->x0 : s->x0, x1 = s->x1 > c->x1 ? c->x1 : s->x1;
    uint8_t look = c->l->look[s->span];
    bool red = (look & WEFT_LOOK_RED) && canvas_shows(c, WEFT_KIND_FAILED);
    enum weft_kind kind = red ? WEFT_KIND_FAILED : WEFT_KIND_WAITING;
    enum weft_ink ink = weft_kinds[kind].ink;
    int32_t solid = x1;
    if (!canvas_shows(c, kind)) {
        draw_end(c, lane, s, x0, x1);
        return;
    }
    canvas_saw(c, kind, 1);
    if (look & WEFT_LOOK_AWAITED) { /* its last sign of life */
        int32_t x = canvas_x(c, c->m->promise[c->l->spans[s->span]].end_ns);
        solid = x < x0 ? x0 : x < x1 ? x : x1;
    }
    draw_part(c, lane, s, ink, x0, solid > x0 ? solid : x1)->alpha = look & WEFT_LOOK_BACKGROUND
                                                                         ? 130
                                                                     : solid > x0 ? 255
                                                                                  : 110;
    if (solid > x0 && solid < x1)
        draw_part(c, lane, s, ink, solid, x1)->alpha = 110;
    draw_end(c, lane, s, x0, x1);
}

static void flush_run(struct canvas *c, struct lane *lane)
{
    if (lane->run_x1 <= lane->run_x0 || !canvas_shows(c, WEFT_KIND_RUNNING))
        return;
    int32_t y = canvas_row_y(c, lane->first), height = lane->y1 - lane->y0;
    int32_t half = height >= 8 * PX ? 5 * PX / 2 : height / 3;
    int32_t x1 = lane->run_x1 < lane->run_x0 + PX ? lane->run_x0 + PX : lane->run_x1;
    canvas_rect(c, WEFT_INK_RUN, lane->run_x0, y - half, x1 < c->x1 ? x1 : c->x1, y + half);
    lane->run_x0 = lane->run_x1 = 0;
}

static bool has_few_runs(const struct canvas *c, uint32_t row)
{
    uint32_t first = view_run_at(c->x, row, c->from_ns);
    return c->x->run_first[row + 1] - first <= FEW_RUNS ||
           c->x->run[first + FEW_RUNS].start_ns > c->to_ns;
}

static void draw_runs(struct canvas *c, struct lane *lane)
{
    const struct weft_index *x = c->x;
    uint32_t row = c->shown_row[lane->first];
    for (uint32_t r = view_run_at(x, row, c->from_ns);
         r < x->run_first[row + 1] && x->run[r].start_ns <= c->to_ns; r++) {
        int32_t x0 = canvas_x(c, x->run[r].start_ns), x1 = canvas_x(c, x->run[r].end_ns);
        if (x1 < c->x0)
            continue;
        canvas_saw(c, WEFT_KIND_RUNNING, canvas_shows(c, WEFT_KIND_RUNNING));
        x0 = x0 < c->x0 ? c->x0 : x0;
        x1 = x1 > c->x1 ? c->x1 : x1;
        x1 = x1 <= x0 ? x0 + 1 : x1;
        if (lane->run_x1 > lane->run_x0 &&
            (x0 <= lane->run_x1 + PX / 4 || x0 <= lane->run_x0 + 3 * PX / 2)) {
            lane->run_x0 = x0 < lane->run_x0 ? x0 : lane->run_x0; /* on another thread */
            lane->run_x1 = x1 > lane->run_x1 ? x1 : lane->run_x1;
        } else {
            flush_run(c, lane);
            lane->run_x0 = x0;
            lane->run_x1 = x1;
        }
    }
    flush_run(c, lane);
}

/* ---- Drawing what is folded ---- */

static int32_t whole_px(int32_t y)
{
    return (y + PX / 2) / PX * PX;
}

static void draw_shades(struct canvas *c, const struct lane *lane, enum weft_kind kind, int32_t y0,
                        int32_t y1)
{
    if (!canvas_shows(c, kind))
        return;
    uint32_t before = c->list->draws;
    canvas_cells(c, weft_kinds[kind].ink, whole_px(y0), whole_px(y1), lane->shade, lane->low,
                 lane->high, EMPTY_MAX);
    if (c->list->draws > before)
        canvas_saw_more(c, kind);
}

/* A share of the whole, from 0 (nothing) to SHADES, rounded up; without a division for each cell. */
struct scale {
    uint64_t whole, times; /* whole fits 24 bits */
    unsigned shift;
};

static struct scale scale_of(uint64_t whole)
{
    struct scale s = {.whole = whole};
    while (s.whole >> 24) {
        s.whole >>= 1;
        s.shift++;
    }
    s.times = ((uint64_t)SHADES << 36) / s.whole;
    return s;
}

static inline uint32_t shade_of(const struct scale *s, uint64_t part)
{
    part = (part >> s->shift) + (part && s->shift);
    part = part < s->whole ? part : s->whole;
    return (uint32_t)((part * s->times + (UINT64_C(1) << 36) - 1) >> 36);
}

static void draw_tips(struct canvas *c, struct lane *lane, int32_t y0, int32_t y1)
{
    uint32_t rows = lane->last - lane->first;
    for (uint32_t i = lane->low, end; i < lane->high; i = end) {
        while (i < lane->high && !lane->shade[i])
            i++;
        for (end = i; end < lane->high && lane->shade[end] && end - i < TIP_CELLS;)
            end++;
        if (end == i || lane->tips >= TIPS_MAX || lane->tip_rows >= TIP_ROWS_MAX)
            return;
        lane->tips++;
        lane->tip_rows += rows;
        int32_t x0 = c->x0 + (int32_t)i * CELL, x1 = c->x0 + (int32_t)end * CELL;
        int64_t from = axis_time(&c->axis, x0), to = axis_time(&c->axis, x1 < c->x1 ? x1 : c->x1);
        uint32_t a = view_bucket_at(c->x, from), b = view_bucket_at(c->x, to), count = 0;
        for (uint32_t at = lane->first; at < lane->last; at++)
            count += view_span_after(c->x, c->l, c->shown_row[at], b, to) -
                     view_span_reaching(c->x, c->l, c->shown_row[at], a, from);
        char text[48];
        int n = snprintf(text, sizeof text, "%u promise%s", count, count == 1 ? "" : "s");
        struct weft_draw *d = canvas_rect(c, WEFT_INK_FOLD, x0, y0, x1 < c->x1 ? x1 : c->x1, y1);
        d->alpha = 0;
        canvas_tip(c, d, text, (size_t)n);
    }
}

/* What is drawn as shapes must not be drawn as folded, too. The index rounds up, by one step for each of its cells. */
static void take_off_shapes(const struct canvas *c, struct lane *lane, uint32_t number)
{
    for (uint32_t i = c->shape_first[number]; i < c->shape_first[number + 1]; i++)
        add_part(c, lane, lane->solid, NULL, c->shape[i].x0, c->shape[i].x1);
    for (uint32_t i = lane->low; i < lane->high; i++) {
        uint64_t off = lane->solid[i];
        if (off)
            lane->cover[i] = lane->cover[i] > off + 1024 ? lane->cover[i] - off : 0;
        lane->solid[i] = 0;
    }
}

/* How much of a lane's height the mark of failures gets if this share of a cell's promises failed. One of many is a small
 * tick, but never nothing. */
static const struct {
    uint32_t share; /* at least one in this many */
    int32_t parts;  /* of FAILED_PARTS */
    uint8_t alpha;
} failures[] = {{2, 4, 255}, {8, 3, 255}, {32, 2, 230}, {UINT32_MAX, 1, 190}};

static void draw_failed(struct canvas *c, struct lane *lane)
{
    enum { FAILED_PARTS = 4, LEVELS = sizeof failures / sizeof *failures };
    bool used[LEVELS] = {false};
    if (!lane->fails)
        return;
    for (uint32_t i = lane->low; i < lane->high; i++) {
        uint32_t level = 0;
        if (!lane->failed[i])
            continue;
        while (lane->ended[i] > (uint64_t)lane->failed[i] * failures[level].share)
            level++;
        used[level] = true;
    }
    int32_t y0 = whole_px(lane->y0), y1 = whole_px(lane->y1);
    for (unsigned level = 0; level < LEVELS; level++) {
        uint32_t above = level ? failures[level - 1].share : 0, share = failures[level].share;
        int32_t height = (y1 - y0) * failures[level].parts / FAILED_PARTS / PX * PX;
        height = height < PX ? PX : height;
        if (!used[level])
            continue;
        for (uint32_t i = lane->low; i < lane->high; i++) {
            uint64_t bad = lane->failed[i], ended = lane->ended[i];
            bool here = bad && ended <= bad * share && (!above || ended > bad * above);
            lane->shade[i] = here ? failures[level].alpha : 0;
        }
        draw_shades(c, lane, WEFT_KIND_FAILED, y1 - height, y1);
    }
}

static void draw_folds(struct canvas *c, struct lane *lane)
{
    uint32_t rows = lane->last - lane->first;
    int32_t y = canvas_row_y(c, lane->first), height = lane->y1 - lane->y0;
    bool thin = rows == 1 && height > 8 * PX;
    int32_t y0 = thin ? y - 3 * PX : lane->y0, y1 = thin ? y + 3 * PX : lane->y1;
    /* Lanes of several rows touch each other: many rows that only wait must not look like a wall, on which nothing that runs or
     * fails stands out. */
    uint32_t least = rows > 1 ? 24 : 40, most = rows > 1 ? 104 : 200;
    if (rows > 1 && whole_px(y1) - whole_px(y0) >= LANE_GAP_MIN)
        y1 = whole_px(y1) - PX;
    const struct scale all = scale_of((uint64_t)rows * VIEW_SHARE), one = scale_of(VIEW_SHARE);
    for (uint32_t i = lane->low; i < lane->high; i++) {
        uint32_t shade = shade_of(&all, lane->cover[i]);
        lane->shade[i] = (uint8_t)(shade ? least + shade * (most - least) / SHADES : 0);
    }
    draw_shades(c, lane, WEFT_KIND_FOLDED, y0, y1);
    if (c->vp->tips)
        draw_tips(c, lane, y0, y1);
    if (lane->runs_folded) {
        for (uint32_t i = lane->low; i < lane->high;
             i++) { /* without a branch: it depends on chance */
            const uint32_t shade = shade_of(&one, lane->run[i]) * 200 / SHADES;
            lane->shade[i] = (uint8_t)(shade & -(uint32_t)(lane->run[i] > VIEW_SHARE / SHADES));
        }
        int32_t half = height >= 8 * PX ? 5 * PX / 2 : height / 3;
        draw_shades(c, lane, WEFT_KIND_RUNNING, rows > 1 ? lane->y0 : y - half,
                    rows > 1 ? lane->y1 : y + half);
    }
    draw_failed(c, lane);
}

/* Adds up the lines that run through whole cells. */
static void add_through(struct lane *lane)
{
    int64_t through = (int64_t)lane->whole;
    if (through)
        touch(lane, 0, lane->cells);
    for (uint32_t i = lane->low; i < lane->high; i++) {
        through += lane->through[i];
        lane->through[i] = 0;
        lane->cover[i] += (uint64_t)through * VIEW_SHARE;
    }
}

/* How many lines of a shown row end before the picture begins although an earlier line does not. */
static uint32_t over_at(const struct canvas *c, uint32_t at)
{
    uint32_t over = 0;
    for (uint32_t s = c->seen[at].begin; s < c->seen[at].end && c->l->start[s] < c->from_ns; s++)
        over += weft_layout_span_end(c->l, c->m, s) < c->from_ns;
    return over;
}

static void draw_lane(struct canvas *c, struct lane *lane, uint32_t number)
{
    uint32_t spans = 0, shapes = c->shape_first[number + 1] - c->shape_first[number];
    lane->first = c->g->lane[number];
    lane->last = c->g->lane[number + 1];
    lane->y0 = c->shown_y[lane->first];
    lane->y1 = c->shown_y[lane->last];
    lane->indexed = lane->looked = false;
    lane->whole = 0;
    lane->runs_folded = lane->last - lane->first > 1 || !has_few_runs(c, c->shown_row[lane->first]);
    for (uint32_t at = lane->first, next; at < lane->last; at = next) {
        uint32_t block = c->x->block_of[c->shown_row[at]];
        for (next = at; next < lane->last && c->x->block_of[c->shown_row[next]] == block; next++)
            spans += c->seen[next].end - c->seen[next].begin - over_at(c, next);
        fold_rows(c, lane, at, next);
    }
    if (lane->looked)
        add_through(lane);
    if (lane->indexed && lane->last - lane->first == 1)
        take_off_shapes(c, lane, number);
    for (uint32_t i = c->shape_first[number]; i < c->shape_first[number + 1]; i++)
        draw_shape(c, lane, &c->shape[i]);
    if (!lane->runs_folded)
        draw_runs(c, lane);
    c->left_out.folded += spans - shapes;
    if (lane->low < lane->high)
        draw_folds(c, lane);
}

/* For the next lane; the other arrays are already zero. */
static void empty(struct lane *lane)
{
    const size_t cells = lane->high - lane->low;
    memset(lane->cover + lane->low, 0, cells * sizeof *lane->cover);
    memset(lane->run + lane->low, 0, cells * sizeof *lane->run);
    memset(lane->failed + lane->low, 0, cells * sizeof *lane->failed);
    memset(lane->ended + lane->low, 0, cells * sizeof *lane->ended);
    lane->low = lane->high = 0;
    lane->fails = false;
}

void canvas_draw_promises(struct canvas *c)
{
    struct lane lane = {.cells = (uint32_t)((c->x1 - c->x0 + CELL - 1) / CELL)};
    /* Four numbers, two counts and a byte for each cell, plus one extra. */
    size_t n = (size_t)lane.cells + 1;
    uint64_t *room = calloc(n, 4 * sizeof *room + 5);
    if (!room || !c->shape_first) {
        free(room);
        c->list->failed = true;
        return;
    }
    lane.cover = room;
    lane.run = room + n;
    lane.solid = room + 2 * n;
    lane.through = (int64_t *)(room + 3 * n);
    lane.failed = (uint16_t *)(room + 4 * n);
    lane.ended = lane.failed + n;
    lane.shade = (uint8_t *)(lane.ended + n);
    for (uint32_t i = 0; i < c->g->lanes && !c->list->failed; i++) {
        draw_lane(c, &lane, i);
        empty(&lane);
    }
    free(room);
    if (c->left_out.folded && canvas_shows(c, WEFT_KIND_FOLDED))
        c->g->kind[WEFT_KIND_FOLDED] =
            (struct weft_kind_seen){.count = c->left_out.folded, .seen = true};
}
