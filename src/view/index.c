/* SPDX-License-Identifier: ISC */
#include "view/index.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"

/* ---- Lengths ---- */

static int lengths_init(struct view_lengths *l, uint32_t count)
{
    l->most[0] = calloc((size_t)count / VIEW_BLOCK + 1, sizeof(int64_t));
    l->most[1] = calloc((size_t)count / VIEW_BLOCK / VIEW_BLOCK + 1, sizeof(int64_t));
    return l->most[0] && l->most[1] ? 0 : WEFT_E_NOMEM;
}

static void lengths_fini(struct view_lengths *l)
{
    free(l->most[0]);
    free(l->most[1]);
}

static void add_length(struct view_lengths *l, uint32_t at, int64_t length)
{
    int64_t *most = &l->most[0][at / VIEW_BLOCK];
    if (length > *most)
        *most = length;
    most = &l->most[1][at / VIEW_BLOCK / VIEW_BLOCK];
    if (length > *most)
        *most = length;
}

uint32_t view_next_long(const struct view_lengths *l, uint32_t from, uint32_t end,
                        int64_t length_ns)
{
    const uint32_t all = VIEW_BLOCK * VIEW_BLOCK;
    while (from < end) {
        if (from % all == 0 && l->most[1][from / all] < length_ns)
            from += all;
        else if (l->most[0][from / VIEW_BLOCK] < length_ns)
            from = (from / VIEW_BLOCK + 1) * VIEW_BLOCK;
        else
            return from;
    }
    return end;
}

uint32_t view_long_span(const struct weft_index *x, const struct weft_layout *l, uint32_t span,
                        uint32_t end, int64_t length_ns)
{
    while (span < end) {
        span = view_next_long(&x->lines, span, end, length_ns);
        uint32_t block = (span / VIEW_BLOCK + 1) * VIEW_BLOCK;
        for (uint32_t last = block < end ? block : end; span < last; span++)
            if (l->until[span] - l->start[span] >= length_ns)
                return span;
    }
    return end;
}

static int index_regions(struct view_regions *r, const void *time, uint32_t count)
{
    *r = (struct view_regions){.time = time, .count = count, .sorted = true};
    if (lengths_init(&r->lengths, count) < 0)
        return WEFT_E_NOMEM;
    for (uint32_t i = 0; i < count; i++) {
        add_length(&r->lengths, i, r->time[i][1] - r->time[i][0]);
        r->sorted = r->sorted && (i == 0 || r->time[i][0] >= r->time[i - 1][1]);
    }
    return 0;
}

static int index_lengths(struct weft_index *x, const struct weft_model *m,
                         const struct weft_layout *l)
{
    if (lengths_init(&x->lines, m->promises) < 0 ||
        index_regions(&x->sleeps, m->sleep, m->sleeps) < 0 ||
        index_regions(&x->pauses, m->pause, m->pauses) < 0 ||
        index_regions(&x->missings, m->missing, m->missings) < 0)
        return WEFT_E_NOMEM;
    for (uint32_t s = 0; s + 1 < m->promises; s++)
        add_length(&x->lines, s, l->until[s] - l->start[s]);
    return 0;
}

/* ---- Runs ---- */

static int by_time(const void *a, const void *b)
{
    const struct view_run *x = a, *y = b;
    WEFT_ORDER(x->start_ns, y->start_ns);
    return weft_order(x->end_ns, y->end_ns);
}

/* The runs of a row come in the order of their promises, which is nearly that of time. */
static void sort_runs(struct view_run *run, uint32_t count)
{
    uint32_t i = 1;
    while (i < count && run[i - 1].start_ns <= run[i].start_ns)
        i++;
    if (i < count)
        qsort(run, count, sizeof *run, by_time);
}

static int index_runs(struct weft_index *x, const struct weft_model *m, const struct weft_layout *l)
{
    x->run_first = calloc((size_t)l->rows + 2, sizeof *x->run_first);
    x->run = malloc(((size_t)m->runs + 1) * sizeof *x->run);
    if (!x->run_first || !x->run)
        return WEFT_E_NOMEM;
    uint32_t *next = x->run_first + 1; /* becomes run_first[] itself when all are counted */
    for (uint32_t p = 1; p < m->promises; p++)
        for (uint32_t r = m->promise[p].first_run; r != WEFT_NONE; r = m->run[r].next)
            next[l->row[p] + 1]++;
    for (uint32_t r = 0; r < l->rows; r++)
        next[r + 1] += next[r];
    for (uint32_t p = 1; p < m->promises; p++)
        for (uint32_t r = m->promise[p].first_run; r != WEFT_NONE; r = m->run[r].next)
            x->run[next[l->row[p]]++] = (struct view_run){
                m->run[r].start_ns,
                m->run[r].end_ns > m->run[r].start_ns ? m->run[r].end_ns : m->run[r].start_ns};
    for (uint32_t r = 0; r < l->rows; r++)
        sort_runs(x->run + x->run_first[r], x->run_first[r + 1] - x->run_first[r]);
    return 0;
}

uint32_t view_run_at(const struct weft_index *x, uint32_t row, int64_t time_ns)
{
    uint32_t low = x->run_first[row], high = x->run_first[row + 1];
    WEFT_SEEK(low, high, x->run[middle].start_ns < time_ns);
    /* Runs of a row hardly ever overlap. */
    for (int i = 0; i < 4 && low > x->run_first[row] && x->run[low - 1].end_ns >= time_ns; i++)
        low--;
    return low;
}

/* ---- Spans ---- */

uint32_t view_bucket_within(const struct weft_index *x, uint32_t low, uint32_t high,
                            int64_t time_ns)
{
    low++;
    WEFT_SEEK(low, high, x->time[middle] <= time_ns);
    return low - 1;
}

uint32_t view_bucket_at(const struct weft_index *x, int64_t time_ns)
{
    return view_bucket_within(x, 0, x->buckets, time_ns);
}

uint32_t view_span_reaching(const struct weft_index *x, const struct weft_layout *l, uint32_t row,
                            uint32_t bucket, int64_t time_ns)
{
    uint32_t low = l->first[row], high = l->first[row + 1], at = bucket / x->cursor_step;
    if (at < x->cursors && x->time[at * x->cursor_step] <= time_ns)
        low = x->cursor[(size_t)at * x->rows + row];
    if (at + 1 < x->cursors && x->time[(at + 1) * x->cursor_step] >= time_ns)
        high = x->cursor[(size_t)(at + 1) * x->rows + row];
    WEFT_SEEK(low, high, l->until[middle] < time_ns);
    return low;
}

uint32_t view_span_after(const struct weft_index *x, const struct weft_layout *l, uint32_t row,
                         uint32_t bucket, int64_t time_ns)
{
    /* A span that ends before a time also begins before it; and few of the spans that reach the time begin before it. */
    uint32_t low = view_span_reaching(x, l, row, bucket, time_ns), end = l->first[row + 1];
    uint32_t high = low;
    for (uint32_t step = 1; high < end && l->start[high] <= time_ns; step *= 2) {
        low = high + 1;
        high = end - high > step ? high + step : end;
    }
    WEFT_SEEK(low, high, l->start[middle] <= time_ns);
    return low;
}

/* ---- Making it ---- */

int view_index_new(struct weft_index **out, const struct weft_model *m, const struct weft_layout *l,
                   weft_progress_fn *progress, void *data)
{
    *out = NULL;
    struct weft_index *x = calloc(1, sizeof *x);
    if (!x)
        return WEFT_E_NOMEM;
    int rc = 0;
    for (int step = 0; step < 5 && rc == 0; step++) {
        rc = step == 0   ? index_lengths(x, m, l)
             : step == 1 ? index_runs(x, m, l)
             : step == 2 ? view_index_cells(x, m, l)
             : step == 3 ? view_index_links(x, m)
                         : view_index_changes(x, m);
        if (rc == 0 && progress && !progress(data, 0.5 + 0.1 * (step + 1)))
            rc = WEFT_E_CANCELED;
    }
    if (rc < 0)
        view_index_free(x);
    else
        *out = x;
    return rc;
}

void view_index_free(struct weft_index *x)
{
    if (!x)
        return;
    lengths_fini(&x->lines);
    lengths_fini(&x->sleeps.lengths);
    lengths_fini(&x->pauses.lengths);
    lengths_fini(&x->missings.lengths);
    free(x->run_first);
    free(x->run);
    free(x->time);
    free(x->block_row);
    free(x->block_of);
    free(x->cell);
    free(x->failed);
    free(x->cursor);
    free(x->by_time);
    free(x->weight);
    free(x->weightiest);
    free(x->drawable);
    free(x->about.first);
    free(x->about.item);
    free(x->became.first);
    free(x->became.item);
    free(x->change_first);
    free(x->change);
    free(x->extremes_first);
    free(x->extremes);
    free(x);
}
