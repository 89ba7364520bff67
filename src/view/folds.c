/* SPDX-License-Identifier: ISC */
#include "view/folds.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"
#include "profile/join.h"

/* Stretches without activity are found without sorting: time is divided into intervals of equal length, and the first and
 * the last activity of each is noted. A stretch that is longer than an interval lies between the last activity of one
 * and the first of the next one that has any. */
enum {
    INTERVALS_BITS = 16,
    INTERVALS = 1 << INTERVALS_BITS,
    WHOLE = 100, /* if there are few folds, what is shown is this many times as long as one */
    PART =
        3, /* if there are many, what is not folded is this many times as long as they are together */
    WORTH = 4, /* a fold is at least this many times as long as it is shown */
    LEAST_SHOWN = 1000,
};

struct activity {
    int64_t end_ns;
    unsigned shift;                            /* an interval is 2^shift long */
    int64_t first[INTERVALS], last[INTERVALS]; /* first > last: none */
    int32_t covered[INTERVALS + 1];            /* differences */
};

struct gap {
    int64_t from_ns, to_ns;
};

static void add_time(struct activity *a, int64_t time_ns)
{
    if (time_ns < 0 || time_ns > a->end_ns)
        return;
    uint32_t at = (uint32_t)(time_ns >> a->shift);
    a->first[at] = weft_earlier(a->first[at], time_ns);
    a->last[at] = weft_later(a->last[at], time_ns);
}

static void add_stretch(struct activity *a, int64_t from_ns, int64_t to_ns)
{
    from_ns = from_ns < 0 ? 0 : from_ns;
    to_ns = to_ns > a->end_ns ? a->end_ns : to_ns;
    if (from_ns > to_ns)
        return;
    uint32_t from = (uint32_t)(from_ns >> a->shift), to = (uint32_t)(to_ns >> a->shift);
    add_time(a, from_ns);
    add_time(a, to_ns);
    if (from == to)
        return;
    add_time(a, ((int64_t)(from + 1) << a->shift) - 1);
    add_time(a, (int64_t)to << a->shift);
    a->covered[from + 1]++;
    a->covered[to]--;
}

/* All time in which some loop is awake is activity, if the trace says when they sleep. */
static void add_waking(struct activity *a, const struct weft_model *m)
{
    int64_t since = 0;
    for (uint32_t i = 0; i < m->sleeps; i++) {
        add_stretch(a, since, m->sleep[i].start_ns);
        since = weft_later(since, m->sleep[i].end_ns);
    }
    if (m->sleeps)
        add_stretch(a, since, a->end_ns);
}

static void add_spans(struct activity *a, const struct weft_span *span, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        add_stretch(a, span[i].start_ns, span[i].end_ns);
}

static void add_model(struct activity *a, const struct weft_model *m)
{
    for (uint32_t i = 1; i < m->promises; i++) {
        add_time(a, m->promise[i].start_ns);
        add_time(a, m->promise[i].end_ns);
    }
    /* The loop's own runs last until it goes on, so they say nothing if the trace says when it sleeps. */
    for (uint32_t i = m->sleeps ? 1 : 0; i < m->promises; i++)
        for (uint32_t r = m->promise[i].first_run; r != WEFT_NONE; r = m->run[r].next)
            add_stretch(a, m->run[r].start_ns, m->run[r].end_ns);
    for (uint32_t i = 0; i < m->labels; i++)
        add_time(a, m->label[i].time_ns);
    for (uint32_t i = 0; i < m->interactions; i++)
        add_time(a, m->interaction[i].time_ns);
    for (uint32_t i = 0; i < m->changes; i++)
        add_time(a, m->change[i].time_ns);
    add_spans(a, m->pause, m->pauses);
    add_spans(a, m->missing, m->missings);
    if (m->paused_ns < m->resumed_ns) /* nobody knows what happened meanwhile */
        add_stretch(a, m->paused_ns, m->resumed_ns);
    add_waking(a, m);
    add_time(a, 0);
    add_time(a, a->end_ns);
}

static void add_profile(struct activity *a, const struct weft_profile *p, uint64_t first_ns)
{
    for (uint32_t i = 0; i < p->samples; i++)
        add_time(a, weft_model_time(p->sample[i].time_ns, first_ns));
    for (uint32_t i = 0; i < p->interrupts; i++)
        add_time(a, weft_model_time(p->interrupt[i].to_ns, first_ns));
}

static uint32_t find_gaps(struct activity *a, struct gap *gap)
{
    uint32_t count = 0;
    int64_t last = 0, covered = 0;
    for (uint32_t i = 0; i <= a->end_ns >> a->shift; i++) {
        covered += a->covered[i];
        if (covered > 0) {
            a->first[i] = weft_earlier(a->first[i], (int64_t)i << a->shift);
            a->last[i] = weft_later(a->last[i], ((int64_t)(i + 1) << a->shift) - 1);
        }
        if (a->first[i] > a->last[i])
            continue;
        if (a->first[i] - last > (int64_t)1 << a->shift)
            gap[count++] = (struct gap){last, a->first[i]};
        last = a->last[i];
    }
    return count;
}

static int by_length(const void *a, const void *b)
{
    const struct gap *x = a, *y = b;
    WEFT_ORDER(y->to_ns - y->from_ns, x->to_ns - x->from_ns);
    return weft_order(x->from_ns, y->from_ns);
}

static int by_time(const void *a, const void *b)
{
    const struct weft_fold *x = a, *y = b;
    return weft_order(x->from_ns, y->from_ns);
}

/* How long each of n folds is shown if so much is not folded. */
static int64_t shown_length(int64_t rest, uint32_t n)
{
    int64_t parts = n < WHOLE / (PART + 1) ? WHOLE - (int64_t)n : PART * (int64_t)n;
    return rest / parts > LEAST_SHOWN ? rest / parts : LEAST_SHOWN;
}

/* How many of the gaps, which are sorted, are folded, and how long each is shown. */
static uint32_t choose(const struct gap *gap, uint32_t gaps, int64_t end_ns, int64_t *shown)
{
    int64_t rest = end_ns, left = 0, folded = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < gaps && i < WEFT_FOLDS_MAX; i++) {
        int64_t length = gap[i].to_ns - gap[i].from_ns;
        rest -= length;
        if (length / WORTH < shown_length(rest, i + 1))
            continue;
        count = i + 1;
        folded = end_ns - rest;
        *shown = shown_length(rest, count);
    }
    for (uint32_t i = count; i < gaps && count == WEFT_FOLDS_MAX; i++)
        if ((gap[i].to_ns - gap[i].from_ns) / WORTH >= *shown)
            left += gap[i].to_ns - gap[i].from_ns;
    if (left > folded || folded - count * *shown < end_ns / 3)
        return 0;
    return count;
}

/* A fold is shown as 3/4 to 3/2 of the length: so its times are found by shifting, exactly. */
static void place(struct weft_folds *f, int64_t length)
{
    int64_t off = 0;
    weft_sort(f->fold, f->count, sizeof *f->fold, by_time);
    for (uint32_t i = 0; i < f->count; i++) {
        struct weft_fold *x = &f->fold[i];
        int64_t whole = x->to_ns - x->from_ns;
        while (whole >> x->shift > length + length / 2)
            x->shift++;
        x->shown_from = x->from_ns - off;
        x->shown_to = x->shown_from + (whole >> x->shift);
        off = x->to_ns - x->shown_to;
    }
}

int weft_folds_init(struct weft_folds *out, const struct weft_model *m,
                    const struct weft_profile *p)
{
    *out = (struct weft_folds){.asleep = m->sleeps != 0};
    if (m->end_ns < WORTH * LEAST_SHOWN)
        return 0;
    struct activity *a = calloc(1, sizeof *a);
    struct gap *gap = malloc(INTERVALS * sizeof *gap);
    int rc = a && gap ? 0 : WEFT_E_NOMEM;
    if (rc < 0)
        goto out;
    a->end_ns = m->end_ns < WEFT_TIME_MAX ? m->end_ns : WEFT_TIME_MAX;
    while (a->end_ns >> a->shift >= INTERVALS)
        a->shift++;
    for (uint32_t i = 0; i < INTERVALS; i++) {
        a->first[i] = INT64_MAX;
        a->last[i] = -1;
    }
    add_model(a, m);
    if (p)
        add_profile(a, p, m->first_ns);
    uint32_t gaps = find_gaps(a, gap);
    int64_t shown = LEAST_SHOWN;
    weft_sort(gap, gaps, sizeof *gap, by_length);
    uint32_t count = choose(gap, gaps, a->end_ns, &shown);
    if (count)
        out->fold = calloc(count, sizeof *out->fold);
    if (count && !out->fold) {
        rc = WEFT_E_NOMEM;
        goto out;
    }
    out->count = count;
    for (uint32_t i = 0; i < count; i++)
        out->fold[i] = (struct weft_fold){.from_ns = gap[i].from_ns, .to_ns = gap[i].to_ns};
    place(out, shown);
out:
    weft_free_all(a, gap);
    return rc;
}

void weft_folds_fini(struct weft_folds *f)
{
    free(f->fold);
    *f = (struct weft_folds){.count = 0};
}

int64_t weft_folds_shown(const struct weft_folds *f, int64_t time_ns)
{
    return weft_folds_shown_among(f, 0, f ? f->count : 0, time_ns);
}

/* The last fold that is shown from before a shown time; NULL: there is none. */
static const struct weft_fold *shown_before(const struct weft_folds *f, double shown_ns)
{
    uint32_t low = 0, high = f ? f->count : 0;
    WEFT_SEEK(low, high, (double)f->fold[middle].shown_from < shown_ns);
    return low ? &f->fold[low - 1] : NULL;
}

int64_t weft_folds_time(const struct weft_folds *f, int64_t shown_ns)
{
    uint32_t low = 0, high = f ? f->count : 0;
    WEFT_SEEK(low, high, f->fold[middle].shown_from < shown_ns);
    if (!low)
        return shown_ns;
    const struct weft_fold *x = &f->fold[low - 1];
    if (shown_ns > x->shown_to)
        return x->to_ns + (shown_ns - x->shown_to);
    return x->from_ns + (int64_t)((uint64_t)(shown_ns - x->shown_from) << x->shift);
}

/* How much longer time is than shown time, inside a fold. */
static double stretch(const struct weft_fold *x)
{
    return (double)(x->to_ns - x->from_ns) / (double)(x->shown_to - x->shown_from);
}

double weft_folds_shown_at(const struct weft_folds *f, double time_ns)
{
    uint32_t low = 0, high = f ? f->count : 0;
    WEFT_SEEK(low, high, (double)f->fold[middle].from_ns < time_ns);
    if (!low)
        return time_ns;
    const struct weft_fold *x = &f->fold[low - 1];
    if (time_ns >= (double)x->to_ns)
        return (double)x->shown_to + (time_ns - (double)x->to_ns);
    return (double)x->shown_from + (time_ns - (double)x->from_ns) / stretch(x);
}

double weft_folds_time_at(const struct weft_folds *f, double shown_ns)
{
    const struct weft_fold *x = shown_before(f, shown_ns);
    if (!x)
        return shown_ns;
    if (shown_ns >= (double)x->shown_to)
        return (double)x->to_ns + (shown_ns - (double)x->shown_to);
    return (double)x->from_ns + (shown_ns - (double)x->shown_from) * stretch(x);
}

uint32_t weft_folds_after(const struct weft_folds *f, int64_t time_ns)
{
    uint32_t low = 0, high = f ? f->count : 0;
    WEFT_SEEK(low, high, f->fold[middle].to_ns <= time_ns);
    return low;
}

const struct weft_fold *weft_folds_at(const struct weft_folds *f, int64_t time_ns)
{
    uint32_t at = weft_folds_after(f, time_ns);
    return f && at < f->count && f->fold[at].from_ns <= time_ns ? &f->fold[at] : NULL;
}
