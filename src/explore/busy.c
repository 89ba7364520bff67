/* SPDX-License-Identifier: ISC */
/* Runs lie nearly in the order of their ends, so sums over blocks of them suffice, except at the edges of a range. */
#include "explore/busy.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/types.h"
#include "base/array.h"
#include "base/order.h"

enum { BLOCK = 1024 };

enum kind { OF_PROMISE, OF_LOOP, IDLE };

struct block { /* of runs */
    int64_t from_ns, to_ns;
    uint64_t sum_ns[IDLE];
};

struct thread { /* from its first run that counts to the end of the last one */
    int64_t from_ns, to_ns;
};

struct pause {
    int64_t start_ns, end_ns;
    uint64_t before_ns; /* the total length of all before it */
};

struct explore_busy {
    const struct weft_model *m;
    uint8_t *kind; /* of each run */
    struct block *block;
    struct thread *thread; /* only those with runs that count */
    uint32_t threads;
    struct pause *pause; /* in order, without overlaps */
    uint32_t pauses;
};

static uint64_t span(int64_t from, int64_t to)
{
    return to > from ? (uint64_t)(to - from) : 0;
}

static void add_up(uint64_t *sum, uint64_t more)
{
    if (__builtin_add_overflow(*sum, more, sum))
        *sum = UINT64_MAX;
}

/* ---- Collections ---- */

static bool join_pauses(struct explore_busy *b)
{
    const struct weft_model *m = b->m;
    struct weft_span *sorted = weft_resize(NULL, (uint64_t)m->pauses + 1, sizeof *sorted);
    b->pause = weft_resize(NULL, (uint64_t)m->pauses + 1, sizeof *b->pause);
    if (!sorted || !b->pause) {
        free(sorted);
        return false;
    }
    if (m->pauses)
        memcpy(sorted, m->pause, m->pauses * sizeof *sorted);
    weft_sort(sorted, m->pauses, sizeof *sorted, weft_order_i64); /* by start */
    for (uint32_t i = 0; i < m->pauses; i++) {
        struct pause *last = b->pauses ? &b->pause[b->pauses - 1] : NULL;
        if (sorted[i].end_ns <= sorted[i].start_ns)
            continue;
        if (last && sorted[i].start_ns <= last->end_ns)
            last->end_ns = weft_later(last->end_ns, sorted[i].end_ns);
        else
            b->pause[b->pauses++] =
                (struct pause){sorted[i].start_ns, sorted[i].end_ns,
                               last ? last->before_ns + span(last->start_ns, last->end_ns) : 0};
    }
    free(sorted);
    return true;
}

/* The total length of collections before a time. */
static uint64_t collected_until(const struct explore_busy *b, int64_t time_ns)
{
    uint32_t low = 0, high = b->pauses;
    WEFT_SEEK(low, high, b->pause[middle].start_ns < time_ns);
    if (low == 0)
        return 0;
    const struct pause *p = &b->pause[low - 1];
    return p->before_ns + span(p->start_ns, weft_earlier(p->end_ns, time_ns));
}

static uint64_t collecting(const struct explore_busy *b, int64_t from, int64_t to)
{
    return b->pauses && from < to ? collected_until(b, to) - collected_until(b, from) : 0;
}

/* ---- Runs ---- */

static uint32_t stream_of(const struct weft_model *m, uint32_t run)
{
    return m->run_stream ? m->run_stream[run] : 0;
}

static void add_run(struct block *block, const struct explore_busy *b, uint32_t run, int64_t from,
                    int64_t to)
{
    const struct weft_run *r = &b->m->run[run];
    from = weft_later(from, r->start_ns);
    to = weft_earlier(to, r->end_ns);
    if (b->kind[run] == IDLE || from >= to)
        return;
    add_up(&block->sum_ns[b->kind[run]], span(from, to) - collecting(b, from, to));
}

/* Sets the kind of all runs of a promise, which are OF_PROMISE so far. A run of the loop that no event has ended seems
 * to last until the trace ends, and may have been sleep for long. */
static void set_kind(struct explore_busy *b, uint32_t promise, const bool *suspends)
{
    const struct weft_model *m = b->m;
    for (uint32_t i = m->promise[promise].first_run; i != WEFT_NONE; i = m->run[i].next) {
        const bool works = promise == WEFT_ROOT && i < m->runs_ended && suspends[stream_of(m, i)];
        b->kind[i] = works ? OF_LOOP : IDLE;
    }
}

static bool find_kinds(struct explore_busy *b)
{
    const struct weft_model *m = b->m;
    bool *suspends = calloc((size_t)m->streams + 1, sizeof *suspends);
    b->kind = calloc((size_t)m->runs + 1, sizeof *b->kind);
    if (!suspends || !b->kind) {
        free(suspends);
        return false;
    }
    for (uint32_t i = 0; m->idle && i < m->idles; i++)
        suspends[m->idle[i].stream] = true;
    if (!m->idle && !m->quirks.loop_is_sleep && m->sleep_stream < m->streams)
        suspends[m->sleep_stream] = true;
    set_kind(b, WEFT_ROOT, suspends);
    for (uint32_t p = 1; p < m->promises; p++)
        if (m->promise[p].first_run != WEFT_NONE && analyse_type(m, p) & ANALYSE_THREAD)
            set_kind(b, p, suspends);
    free(suspends);
    return true;
}

static bool sum_blocks(struct explore_busy *b)
{
    const struct weft_model *m = b->m;
    b->block = calloc((size_t)m->runs / BLOCK + 1, sizeof *b->block);
    for (uint32_t i = 0; b->block && i < m->runs; i++) {
        struct block *block = &b->block[i / BLOCK];
        const struct weft_run *r = &m->run[i];
        const bool first = i % BLOCK == 0;
        block->from_ns = first ? r->start_ns : weft_earlier(block->from_ns, r->start_ns);
        block->to_ns = first ? r->end_ns : weft_later(block->to_ns, r->end_ns);
        add_run(block, b, i, INT64_MIN, INT64_MAX);
    }
    return b->block != NULL;
}

static bool find_threads(struct explore_busy *b)
{
    const struct weft_model *m = b->m;
    b->thread = weft_resize(NULL, (uint64_t)m->streams + 1, sizeof *b->thread);
    if (!b->thread)
        return false;
    for (uint32_t i = 0; i < m->streams; i++)
        b->thread[i] = (struct thread){INT64_MAX, INT64_MIN};
    for (uint32_t i = 0; i < m->runs; i++) {
        struct thread *t = &b->thread[stream_of(m, i)];
        if (b->kind[i] == IDLE)
            continue;
        t->from_ns = weft_earlier(t->from_ns, m->run[i].start_ns);
        t->to_ns = weft_later(t->to_ns, m->run[i].end_ns);
    }
    for (uint32_t i = 0; i < m->streams; i++)
        if (b->thread[i].from_ns <= b->thread[i].to_ns)
            b->thread[b->threads++] = b->thread[i];
    return true;
}

int explore_busy_new(struct explore_busy **out, const struct weft_model *m)
{
    struct explore_busy *b = *out = calloc(1, sizeof *b);
    if (!b)
        return WEFT_E_NOMEM;
    b->m = m;
    if (join_pauses(b) && find_kinds(b) && sum_blocks(b) && find_threads(b))
        return 0;
    explore_busy_free(b);
    *out = NULL;
    return WEFT_E_NOMEM;
}

void explore_busy_free(struct explore_busy *b)
{
    if (b)
        weft_free_all(b->kind, b->block, b->thread, b->pause, b);
}

void explore_busy_add_up(struct explore_busy_sum *out, const struct explore_busy *b,
                         int64_t from_ns, int64_t to_ns)
{
    const struct weft_model *m = b->m;
    struct block sum = {0};
    *out = (struct explore_busy_sum){.collecting_ns = collecting(b, from_ns, to_ns),
                                     .known = b->threads > 0};
    for (uint32_t k = 0; k < m->runs / BLOCK + 1; k++) {
        const struct block *block = &b->block[k];
        if (block->to_ns < from_ns || block->from_ns > to_ns)
            continue;
        if (block->from_ns < from_ns || block->to_ns > to_ns) {
            for (uint32_t i = k * BLOCK; i < m->runs && i / BLOCK == k; i++)
                add_run(&sum, b, i, from_ns, to_ns);
            continue;
        }
        for (unsigned kind = 0; kind < IDLE; kind++)
            add_up(&sum.sum_ns[kind], block->sum_ns[kind]);
    }
    out->running_ns = sum.sum_ns[OF_PROMISE];
    out->loop_ns = sum.sum_ns[OF_LOOP];
    for (uint32_t i = 0; i < b->threads; i++)
        out->threads += b->thread[i].from_ns <= to_ns && b->thread[i].to_ns >= from_ns;
}
