/* SPDX-License-Identifier: ISC */
/* The part of the index that says how much of each block of rows is covered in each interval of time: see index.h. */
#include "base/array.h"
#include "base/aside.h"
#include "view/index.h"

enum {
    BLOCKS_MAX = 512,
    CELLS_A_SPAN = 2,
    BUCKETS_MIN = 64,
    RANKS_MAX = 1 << 16,
    EVEN_MAX = 2048, /* times at equal distances */
    MANY = 100000,   /* spans; with fewer, a second thread saves less than it costs */
};

/* Divides the rows into blocks of about equal weight; a heavy row is a block of its own. */
static int make_blocks(struct weft_index *x, const struct weft_layout *l)
{
    uint32_t spans = l->first[l->rows], rows_max = l->rows / (BLOCKS_MAX / 2) + 1;
    uint32_t spans_max = spans / (BLOCKS_MAX / 2) + 1;
    x->rows = l->rows;
    x->block_row = malloc((size_t)(l->rows < 4 * BLOCKS_MAX ? l->rows + 3 : 4 * BLOCKS_MAX + 3) *
                          sizeof *x->block_row);
    x->block_of = malloc(((size_t)l->rows + 1) * sizeof *x->block_of);
    if (!x->block_row || !x->block_of)
        return WEFT_E_NOMEM;
    for (uint32_t row = 0, first = 0, group = 0; row < l->rows; row++) {
        bool is_first = row == l->own_rows; /* of a group: no block has rows of two */
        for (; group < l->groups && l->group_first[group] <= row; group++)
            is_first = true;
        if (row == 0 || is_first || l->rows <= BLOCKS_MAX || row - first >= rows_max ||
            l->first[row + 1] - l->first[first] > spans_max) {
            x->block_row[x->blocks++] = row;
            first = row;
        }
        x->block_of[row] = (uint16_t)(x->blocks - 1);
    }
    x->block_row[x->blocks] = l->rows;
    return 0;
}

/* When the line begins that is number `rank` in the order of time. */
static int64_t start_of(const struct weft_layout *l, uint32_t rank)
{
    return weft_layout_line(l, &l->m->promise[l->order[rank]]);
}

/* Chooses times between which about equally many lines begin, plus some at equal distances, so that a long silence does
 * not spoil the resolution of what is next to it. */
static int make_times(struct weft_index *x, const struct weft_layout *l)
{
    uint32_t spans = l->first[l->rows], wanted = spans / (x->blocks ? x->blocks : 1) * CELLS_A_SPAN;
    uint32_t ranks = wanted < BUCKETS_MIN ? BUCKETS_MIN : wanted;
    ranks = ranks > RANKS_MAX ? RANKS_MAX : ranks;
    ranks = ranks > spans ? spans : ranks;
    uint32_t even = ranks / 2 < EVEN_MAX ? ranks / 2 : EVEN_MAX;
    x->time = malloc(((size_t)ranks + even + 3) * sizeof *x->time);
    if (!x->time)
        return WEFT_E_NOMEM;
    int64_t first = spans ? start_of(l, 0) : 0, last = first;
    for (uint32_t row = 0; row < l->rows; row++)
        if (l->until[l->first[row + 1] - 1] > last)
            last = l->until[l->first[row + 1] - 1];
    uint64_t length = (uint64_t)last - (uint64_t)first, step = length / (even + 1) + 1;
    uint32_t n = 0;
    x->time[n++] = first;
    for (uint64_t r = 0, e = 1; r < ranks || e <= even;) {
        int64_t at, of_rank = INT64_MAX, of_step = INT64_MAX;
        if (r < ranks)
            of_rank = start_of(l, (uint32_t)(r * spans / ranks));
        if (e <= even)
            of_step = (int64_t)((uint64_t)first + e * step);
        at = of_rank < of_step ? of_rank : of_step;
        *(of_rank < of_step ? &r : &e) += 1;
        if (at > x->time[n - 1] && at <= last)
            x->time[n++] = at;
    }
    x->time[n] = last + 1;
    x->buckets = n;
    return 0;
}

static int make_room(struct weft_index *x)
{
    uint32_t n = x->buckets, at = 0;
    for (;;) {
        x->level_at[x->levels++] = at;
        at += n;
        if (n == 1 || x->levels == VIEW_LEVELS)
            break;
        n = (n + 3) / 4;
    }
    x->level_at[x->levels] = at;
    x->failed_words = x->buckets / 64 + 1;
    x->cell = malloc(((size_t)at * x->blocks + 1) * sizeof *x->cell);
    x->failed = calloc((size_t)x->failed_words * x->blocks + 1, sizeof *x->failed);
    return x->cell && x->failed ? 0 : WEFT_E_NOMEM;
}

/* State while the cells of a block are made. For each bucket: the change in the number of lines that run through the
 * whole bucket, and how much of it other lines cover, in units of 1 << shift nanoseconds. */
struct plane {
    int32_t *through;
    uint64_t *part;
};

struct work {
    struct weft_index *x;
    struct plane plane[2]; /* lines, runs */
    const uint8_t *shift;  /* so that the width of a bucket fits 32 bits */
};

static uint64_t within(const struct work *w, uint32_t bucket, int64_t from, int64_t to)
{
    uint64_t part = ((uint64_t)to - (uint64_t)from) >> w->shift[bucket];
    return part ? part : 1;
}

/* The bucket of a time that is probably soon after the time of another bucket. */
static uint32_t bucket_from(const struct weft_index *x, uint32_t bucket, int64_t time_ns)
{
    if (time_ns < x->time[bucket])
        return view_bucket_at(x, time_ns);
    bucket++;
    VIEW_GALLOP(bucket, x->buckets, x->time[middle] <= time_ns);
    return bucket - 1;
}

/* Returns the bucket in which it ends. */
static uint32_t add(struct work *w, struct plane *p, uint32_t begin, int64_t start, int64_t end)
{
    const struct weft_index *x = w->x;
    uint32_t last = bucket_from(x, begin, end);
    if (begin == last) {
        p->part[begin] += within(w, begin, start, end);
        return last;
    }
    p->part[begin] += within(w, begin, start, x->time[begin + 1]);
    p->part[last] += within(w, last, x->time[last], end);
    p->through[begin + 1]++;
    p->through[last]--;
    return last;
}

static int64_t inside(const struct weft_index *x, int64_t time_ns)
{
    int64_t last = x->time[x->buckets] - 1;
    return time_ns < x->time[0] ? x->time[0] : time_ns > last ? last : time_ns;
}

static void add_row(struct work *w, const struct weft_model *m, const struct weft_layout *l,
                    uint32_t row, uint64_t *failed)
{
    const struct weft_index *x = w->x;
    uint32_t begin = 0;
    for (uint32_t s = l->first[row]; s < l->first[row + 1]; s++) {
        begin = bucket_from(x, begin, l->start[s]);
        uint32_t last = add(w, &w->plane[0], begin, l->start[s], weft_layout_span_end(l, m, s));
        if (l->look[s] & WEFT_LOOK_RED)
            failed[last / 64] |= UINT64_C(1) << (last % 64);
    }
    begin = 0;
    for (uint32_t r = x->run_first[row]; r < x->run_first[row + 1]; r++) {
        int64_t start = inside(x, x->run[r].start_ns), end = inside(x, x->run[r].end_ns);
        begin = bucket_from(x, begin, start);
        add(w, &w->plane[1], begin, start, end);
    }
}

static uint32_t share(uint64_t part, uint64_t whole)
{
    if (part >= whole)
        return 255;
    return (uint32_t)((part * 255 + whole - 1) / whole);
}

static void join_levels(const struct weft_index *x, uint16_t *cell)
{
    for (uint32_t level = 1; level < x->levels; level++) {
        const uint16_t *from = cell + x->level_at[level - 1];
        uint32_t n = x->level_at[level] - x->level_at[level - 1];
        uint32_t many = x->level_at[level + 1] - x->level_at[level];
        for (uint32_t i = 0; i < many; i++) {
            uint64_t cover = 0, run = 0, all = 0;
            for (uint32_t k = 4 * i; k < 4 * i + 4 && k < n; k++) {
                uint64_t b0 = (uint64_t)k << 2 * (level - 1),
                         b1 = b0 + (UINT64_C(1) << 2 * (level - 1));
                b1 = b1 < x->buckets ? b1 : x->buckets;
                uint64_t width = ((uint64_t)x->time[b1] - (uint64_t)x->time[b0]) >> 14;
                width++;
                cover += (from[k] & 255) * width;
                run += (uint64_t)(from[k] >> 8) * width;
                all += width;
            }
            cover = (cover + all - 1) / all;
            run = (run + all - 1) / all;
            cell[x->level_at[level] + i] = (uint16_t)(cover | run << 8);
        }
    }
}

static void make_block(struct work *w, uint32_t block)
{
    struct weft_index *x = w->x;
    uint16_t *cell = x->cell + (size_t)block * x->level_at[x->levels];
    uint32_t rows = x->block_row[block + 1] - x->block_row[block];
    int64_t through[2] = {0, 0};
    for (uint32_t b = 0; b < x->buckets; b++) {
        uint32_t shares[2];
        uint64_t width = ((uint64_t)x->time[b + 1] - (uint64_t)x->time[b]) >> w->shift[b];
        for (int i = 0; i < 2; i++) {
            struct plane *p = &w->plane[i];
            through[i] += p->through[b];
            uint64_t covered = (uint64_t)through[i] * width + p->part[b];
            shares[i] = share(covered, width * (i == 0 ? rows : 1));
            p->through[b] = 0;
            p->part[b] = 0;
        }
        cell[b] = (uint16_t)(shares[0] | shares[1] << 8);
    }
    w->plane[0].through[x->buckets] = w->plane[1].through[x->buckets] = 0;
    join_levels(x, cell);
}

static bool work_init(struct work *w, struct weft_index *x, uint8_t *shift)
{
    bool ok = true;
    *w = (struct work){.x = x, .shift = shift};
    for (int i = 0; i < 2; i++) {
        w->plane[i].through = calloc((size_t)x->buckets + 1, sizeof *w->plane[i].through);
        w->plane[i].part = calloc(x->buckets, sizeof *w->plane[i].part);
        ok = ok && w->plane[i].through && w->plane[i].part;
    }
    return ok;
}

static void work_fini(struct work *w)
{
    weft_free_all(w->plane[0].through, w->plane[0].part, w->plane[1].through, w->plane[1].part);
}

/* The cells of some of the blocks: they are made by two threads. */
struct half {
    struct work w;
    const struct weft_model *m;
    const struct weft_layout *l;
    uint32_t first, end;
};

static void make_half(void *data)
{
    struct half *h = data;
    struct weft_index *x = h->w.x;
    for (uint32_t block = h->first; block < h->end; block++) {
        for (uint32_t row = x->block_row[block]; row < x->block_row[block + 1]; row++)
            add_row(&h->w, h->m, h->l, row, x->failed + (size_t)block * x->failed_words);
        make_block(&h->w, block);
    }
}

static int make_cells(struct weft_index *x, const struct weft_model *m, const struct weft_layout *l)
{
    struct half half[2];
    uint8_t *shift = malloc(x->buckets);
    bool ok = shift;
    for (uint32_t i = 0; i < 2; i++) {
        half[i] = (struct half){
            .m = m, .l = l, .first = x->blocks / 2 * i, .end = i ? x->blocks : x->blocks / 2};
        ok = work_init(&half[i].w, x, shift) && ok;
    }
    for (uint32_t b = 0; ok && b < x->buckets; b++) {
        uint64_t width = (uint64_t)x->time[b + 1] - (uint64_t)x->time[b];
        shift[b] = 0;
        while (width >> shift[b] >> 32)
            shift[b]++;
    }
    if (ok) {
        struct weft_aside aside;
        weft_aside_begin(&aside, make_half, &half[0], l->first[l->rows] > MANY);
        make_half(&half[1]);
        weft_aside_end(&aside);
    }
    work_fini(&half[0].w);
    work_fini(&half[1].w);
    free(shift);
    return ok ? 0 : WEFT_E_NOMEM;
}

/* About one bucket for every two spans. */
static int make_cursors(struct weft_index *x, const struct weft_layout *l)
{
    uint32_t spans = l->first[l->rows];
    uint32_t wanted = l->rows ? spans / l->rows / 2 + 1 : 1;
    x->cursor_step = x->buckets / wanted + 1;
    x->cursors = x->buckets / x->cursor_step + 1;
    x->cursor = malloc(((size_t)x->cursors * l->rows + 1) * sizeof *x->cursor);
    if (!x->cursor)
        return WEFT_E_NOMEM;
    for (uint32_t row = 0; row < l->rows; row++) {
        uint32_t s = l->first[row];
        for (uint32_t i = 0; i < x->cursors; i++) {
            int64_t time = x->time[i * x->cursor_step];
            while (s < l->first[row + 1] && l->until[s] < time)
                s++;
            x->cursor[(size_t)i * l->rows + row] = s;
        }
    }
    return 0;
}

int view_index_cells(struct weft_index *x, const struct weft_model *m, const struct weft_layout *l)
{
    if (make_blocks(x, l) < 0 || make_times(x, l) < 0 || make_room(x) < 0 ||
        make_cells(x, m, l) < 0)
        return WEFT_E_NOMEM;
    return make_cursors(x, l);
}
