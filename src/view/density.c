/* SPDX-License-Identifier: ISC */
#include "view/density.h"

#include "base/array.h"
#include "base/order.h"
#include "view/index.h"

enum {
    GAPS_MAX = 4096,  /* gaps between samples from which a period is estimated */
    SOURCES_MAX = 64, /* more are not looked at */
    NS_PER_S = 1000000000,
};

/* ---- What a sample stands for ---- */

static uint32_t busiest_source(const struct weft_profile *p)
{
    uint32_t count[SOURCES_MAX] = {0}, best = 0;
    for (uint32_t i = 0; i < p->samples && p->sources > 1; i++)
        if (p->sample[i].source < SOURCES_MAX)
            count[p->sample[i].source]++;
    for (uint32_t k = 1; k < SOURCES_MAX; k++)
        best = count[k] > count[best] ? k : best;
    return best;
}

/* Used if the trace does not give the period: the usual gap between consecutive samples of a thread while it is busy.
 * last: zeroed, for each thread. */
static uint64_t estimate_period(const struct weft_profile *p, uint32_t source, uint64_t *last)
{
    static const uint64_t unknown = NS_PER_S / 1000;
    uint64_t gap[GAPS_MAX];
    uint32_t gaps = 0;
    for (uint32_t i = 0; i < p->samples && gaps < GAPS_MAX; i++) {
        const struct weft_sample *s = &p->sample[i];
        if (s->source != source || s->thread >= p->threads)
            continue;
        if (last[s->thread] && s->time_ns > last[s->thread])
            gap[gaps++] = s->time_ns - last[s->thread];
        last[s->thread] = s->time_ns;
    }
    qsort(gap, gaps, sizeof *gap, weft_order_u64);
    return gaps ? gap[gaps / 3] : unknown;
}

uint64_t view_density_weight(const struct weft_density *d, const struct weft_sample *s)
{
    uint64_t weight = d->period_ns ? d->period_ns : s->value;
    return weight == 0 ? 1 : weight < UINT32_MAX ? weight : UINT32_MAX;
}

static int find_period(struct weft_density *d, const struct weft_profile *p)
{
    const struct weft_source *s = d->source < p->sources ? &p->source[d->source] : NULL;
    if (s && s->unit == WEFT_UNIT_NS)
        return 0;
    if (s && s->frequency) {
        d->period_ns = NS_PER_S / s->frequency;
        d->period_ns += d->period_ns == 0;
        return 0;
    }
    uint64_t *last = calloc((size_t)p->threads + 1, sizeof *last);
    if (!last)
        return WEFT_E_NOMEM;
    d->period_ns = estimate_period(p, d->source, last);
    d->estimated = true;
    free(last);
    return 0;
}

/* ---- Which threads have a strip ---- */

static bool is_shown(const struct weft_density *d, const struct weft_sample *s)
{
    return s->source == d->source && s->thread < d->p->threads;
}

struct ranked {
    uint64_t busy_ns;
    uint32_t thread;
};

static int by_busy(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    WEFT_ORDER(y->busy_ns, x->busy_ns);
    return weft_order(x->thread, y->thread);
}

/* Sets *strip to the strip of each thread; WEFT_NONE: it has no samples. */
static int rank(struct weft_density *d, uint32_t *strip)
{
    const struct weft_profile *p = d->p;
    struct ranked *r = malloc(((size_t)p->threads + 1) * sizeof *r);
    uint32_t busy = 0;
    if (!r)
        return WEFT_E_NOMEM;
    for (uint32_t i = 0; i < p->threads; i++) {
        r[i] = (struct ranked){.thread = i};
        strip[i] = WEFT_NONE;
    }
    for (uint32_t i = 0; i < p->samples; i++)
        if (is_shown(d, &p->sample[i]))
            r[p->sample[i].thread].busy_ns += view_density_weight(d, &p->sample[i]);
    qsort(r, p->threads, sizeof *r, by_busy);
    while (busy < p->threads && r[busy].busy_ns)
        busy++;
    d->strips = busy < VIEW_STRIPS ? busy : VIEW_STRIPS;
    for (uint32_t i = 0; i < busy; i++) {
        uint32_t at = i < d->strips ? i : d->strips - 1;
        strip[r[i].thread] = at;
        d->strip[at].thread = d->strip[at].threads++ ? WEFT_NONE : r[i].thread;
    }
    free(r);
    return 0;
}

/* ---- Series ---- */

static int series_init(struct view_series *s)
{
    s->item = malloc(((size_t)s->count + 1) * sizeof *s->item);
    s->length = malloc(((size_t)s->count + 1) * sizeof *s->length);
    s->block = malloc(((size_t)s->count / VIEW_STRETCHES + 2) * sizeof *s->block);
    s->count = 0;
    return s->item && s->length && s->block ? 0 : WEFT_E_NOMEM;
}

/* Adds the next stretch to a series, in the order of their ends; all: the sums so far. */
static void series_add(struct view_series *s, uint32_t item, uint32_t length, int64_t end_ns,
                       const struct view_on_core *all)
{
    if (s->count % VIEW_STRETCHES == 0)
        s->block[s->count / VIEW_STRETCHES] =
            (struct view_stretches){all->on_ns, all->promise_ns, end_ns};
    s->item[s->count] = item;
    s->length[s->count++] = length;
}

static int64_t model_time(const struct weft_density *d, uint64_t time_ns)
{
    return weft_model_time(time_ns, d->first_ns);
}

/* What is known of a thread while its samples are read. */
struct running {
    uint64_t last_ns;  /* its latest sample */
    uint64_t since_ns; /* end of its latest long absence */
    bool was_away;     /* since its latest sample */
};

struct filling {
    uint32_t *strip;         /* of each thread */
    struct running *running; /* for each thread */
    uint64_t end_ns[VIEW_STRIPS];
    struct view_on_core sum[VIEW_STRIPS];
};

/* When the time on a core that a sample stands for began. Normally that is one period before the sample. If the thread
 * left the core for short moments since its last sample, the time is spread over that whole stretch. Longer absences
 * are not part of it. */
static uint64_t since(struct running *r, uint64_t time_ns, uint64_t weight)
{
    uint64_t from = time_ns > weight ? time_ns - weight : 0;
    if (r->last_ns && (r->was_away || r->last_ns > from))
        from = r->last_ns;
    if (r->since_ns > from && r->since_ns <= time_ns)
        from = r->since_ns;
    r->last_ns = time_ns;
    r->was_away = false;
    return from;
}

static void fill_samples(struct weft_density *d, struct filling *f)
{
    const struct weft_profile *p = d->p;
    uint32_t next = 0;
    for (uint32_t i = 0; i < p->samples; i++) {
        const struct weft_sample *s = &p->sample[i];
        if (!is_shown(d, s))
            continue;
        uint64_t weight = view_density_weight(d, s);
        for (; next < p->absences && p->absence[next].time_ns < s->time_ns; next++) {
            const struct weft_sample *a = &p->absence[next];
            if (a->thread >= p->threads)
                continue;
            f->running[a->thread].was_away = true;
            if (a->value >= weight)
                f->running[a->thread].since_ns = a->time_ns + a->value;
        }
        uint32_t at = f->strip[s->thread];
        uint64_t from = since(&f->running[s->thread], s->time_ns, weight);
        from = from < f->end_ns[at] ? f->end_ns[at] : from;
        uint64_t length = s->time_ns > from ? s->time_ns - from : 0;
        series_add(&d->strip[at].samples, i, length < UINT32_MAX ? (uint32_t)length : UINT32_MAX,
                   model_time(d, s->time_ns), &f->sum[at]);
        f->end_ns[at] = s->time_ns;
        f->sum[at].on_ns += weight;
        f->sum[at].promise_ns += s->promise != WEFT_NONE ? weight : 0;
    }
}

/* A stretch that lies within another is not counted twice. */
static void fill_interrupts(struct weft_density *d, struct filling *f)
{
    const struct weft_profile *p = d->p;
    memset(f->end_ns, 0, sizeof f->end_ns);
    memset(f->sum, 0, sizeof f->sum);
    for (uint32_t i = 0; i < p->interrupts; i++) {
        const struct weft_interrupt *x = &p->interrupt[i];
        uint32_t at = x->thread < p->threads ? f->strip[x->thread] : WEFT_NONE;
        if (at == WEFT_NONE || x->to_ns <= f->end_ns[at] || x->to_ns <= x->from_ns)
            continue;
        uint64_t from = x->from_ns > f->end_ns[at] ? x->from_ns : f->end_ns[at];
        uint64_t length = x->to_ns - from < UINT32_MAX ? x->to_ns - from : UINT32_MAX;
        series_add(&d->strip[at].interrupts, i, (uint32_t)length, model_time(d, x->to_ns),
                   &f->sum[at]);
        f->end_ns[at] = x->to_ns;
        f->sum[at].on_ns += length;
    }
}

static int fill(struct weft_density *d, struct filling *f)
{
    const struct weft_profile *p = d->p;
    for (uint32_t i = 0; i < p->samples; i++)
        if (is_shown(d, &p->sample[i]))
            d->strip[f->strip[p->sample[i].thread]].samples.count++;
    for (uint32_t i = 0; i < p->interrupts; i++)
        if (p->interrupt[i].thread < p->threads && f->strip[p->interrupt[i].thread] != WEFT_NONE)
            d->strip[f->strip[p->interrupt[i].thread]].interrupts.count++;
    for (uint32_t i = 0; i < d->strips; i++)
        if (series_init(&d->strip[i].samples) < 0 || series_init(&d->strip[i].interrupts) < 0)
            return WEFT_E_NOMEM;
    fill_samples(d, f);
    fill_interrupts(d, f);
    return 0;
}

int view_density_new(struct weft_density **out, const struct weft_profile *p,
                     const struct weft_model *m)
{
    *out = NULL;
    if (!p->samples)
        return 0;
    struct weft_density *d = calloc(1, sizeof *d);
    struct filling f = {.strip = malloc(((size_t)p->threads + 1) * sizeof *f.strip),
                        .running = calloc((size_t)p->threads + 1, sizeof *f.running)};
    int rc = d && f.strip && f.running ? 0 : WEFT_E_NOMEM;
    if (rc == 0) {
        d->p = p;
        d->first_ns = m->first_ns;
        d->source = busiest_source(p);
        rc = find_period(d, p);
    }
    if (rc == 0)
        rc = rank(d, f.strip);
    if (rc == 0)
        rc = fill(d, &f);
    weft_free_all(f.strip, f.running);
    if (rc < 0 || d->strips == 0) {
        view_density_free(d);
        return rc;
    }
    *out = d;
    return 0;
}

void view_density_free(struct weft_density *d)
{
    for (uint32_t i = 0; d && i < d->strips; i++) {
        struct view_series *s = &d->strip[i].samples, *n = &d->strip[i].interrupts;
        weft_free_all(s->item, s->length, s->block, n->item, n->length, n->block);
    }
    free(d);
}

/* ---- Questions ---- */

/* The last block that begins before a time, searched from hint on; 0: there is none. */
static uint32_t block_before(const struct view_series *s, int64_t time_ns, uint32_t *hint)
{
    uint32_t all = s->count ? (s->count - 1) / VIEW_STRETCHES + 1 : 0, low = *hint;
    if (low >= all || s->block[low].end_ns >= time_ns)
        low = 0;
    low++;
    VIEW_GALLOP(low, all, s->block[middle].end_ns < time_ns);
    return *hint = low - 1;
}

/* The part of a stretch that lies before a time. */
static uint64_t part_before(uint64_t weight, uint32_t length, int64_t end_ns, int64_t time_ns)
{
    int64_t missing = end_ns - time_ns;
    if (missing <= 0)
        return weight;
    return missing < length ? weight * (uint64_t)(length - missing) / length : 0;
}

struct view_on_core view_density_until(const struct weft_density *d, uint32_t strip,
                                       enum view_series_kind kind, int64_t time_ns, uint32_t *hint)
{
    const bool of_samples = kind == VIEW_SAMPLES;
    const struct view_series *s =
        of_samples ? &d->strip[strip].samples : &d->strip[strip].interrupts;
    struct view_on_core sum = {0, 0};
    if (s->count == 0)
        return sum;
    uint32_t block = block_before(s, time_ns, hint), i = block * VIEW_STRETCHES;
    sum = (struct view_on_core){s->block[block].before_ns, s->block[block].before_promise_ns};
    /* Part of a stretch may reach into the next block. */
    for (; i < s->count && i <= (block + 1) * VIEW_STRETCHES; i++) {
        const struct weft_sample *x = of_samples ? &d->p->sample[s->item[i]] : NULL;
        int64_t end = model_time(d, x ? x->time_ns : d->p->interrupt[s->item[i]].to_ns);
        uint64_t weight = x ? view_density_weight(d, x) : s->length[i];
        uint64_t part = part_before(weight, s->length[i], end, time_ns);
        sum.on_ns += part;
        sum.promise_ns += x && x->promise != WEFT_NONE ? part : 0;
        if (end >= time_ns)
            break;
    }
    return sum;
}

/* The first stretch of a series that ends at or after a time. */
static uint32_t first_ending(const struct weft_density *d, const struct view_series *s,
                             int64_t time_ns)
{
    uint32_t hint = 0, i = s->count ? block_before(s, time_ns, &hint) * VIEW_STRETCHES : 0;
    while (i < s->count && model_time(d, d->p->sample[s->item[i]].time_ns) < time_ns)
        i++;
    return i;
}

void view_density_between(const struct weft_density *d, uint32_t strip, int64_t from_ns,
                          int64_t to_ns, uint32_t *first, uint32_t *last)
{
    const struct view_series *s = &d->strip[strip].samples;
    *first = first_ending(d, s, from_ns);
    *last = first_ending(d, s, to_ns);
    /* The stretch that ends later may have begun before that time. */
    if (*last < s->count &&
        model_time(d, d->p->sample[s->item[*last]].time_ns) - s->length[*last] < to_ns)
        ++*last;
}
