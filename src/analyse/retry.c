/* SPDX-License-Identifier: ISC */
/* Attempts that fail, each beginning as soon as the one before has failed: promises of one sort and
 * creator, in order of creation. Several may run in parallel. */
#include "analyse/judge.h"
#include "analyse/loop.h"
#include "analyse/types.h"

#define PAUSE_NS ANALYSE_MS       /* a longer time is a pause */
#define LONG_NS (50 * ANALYSE_MS) /* attempts that take longer than this are no storm */
enum {
    BESIDE = 8, /* attempts in parallel */
    LOOKED_AT = 16,
};

struct series {
    uint32_t creator, first, last;
    uint32_t count, others; /* … after waits for something else */
    int64_t failed_ns[BESIDE];
    int64_t sum_ns; /* total time of the attempts */
};

struct finder {
    struct analyse_search *s;
    const struct weft_model *m;
    const struct weft_history *h;
    struct storm {
        struct series open, worst;
        uint64_t total;        /* attempts in all series that are long enough */
    } * storm;                 /* by family */
    struct analyse_lists made; /* by the final promise of the creator */
};

/* The last failure of a series up to a time, or INT64_MIN. */
static int64_t failure_before(const struct series *x, int64_t time_ns)
{
    int64_t last = INT64_MIN;
    for (uint32_t i = 0; i < BESIDE && i < x->count; i++)
        if (x->failed_ns[i] <= time_ns && x->failed_ns[i] > last)
            last = x->failed_ns[i];
    return last;
}

enum between { NOTHING, OTHERS, TIME };

/* What the creator waited for between a failure and the next attempt. */
static enum between waited_before_retry(const struct finder *f, uint32_t creator, uint32_t family,
                                        int64_t from, int64_t to)
{
    bool others = false;
    for (uint32_t i = weft_history_wait_from(f->h, creator, from), n = 0;
         i < f->h->waits_of_first[creator + 1] && n < LOOKED_AT; i++, n++) {
        const struct weft_wait *w = &f->h->wait[f->h->waits_of[i]];
        if (w->from_ns > to)
            break;
        if (analyse_is_timer(f->m, w->source))
            return TIME;
        others |= f->s->families->of[w->source] != family && w->until_ns <= to;
    }
    return others ? OTHERS : NOTHING;
}

static void end_series(struct finder *f, uint32_t family)
{
    struct storm *x = &f->storm[family];
    if (x->open.count >= f->s->o->retries) {
        x->total += x->open.count;
        if (x->open.count > x->worst.count)
            x->worst = x->open;
    }
    x->open = (struct series){.creator = WEFT_NONE};
}

static void add_attempt(struct finder *f, uint32_t creator, uint32_t p)
{
    const struct weft_promise *q = &f->m->promise[p];
    uint32_t family = f->s->families->of[p];
    struct series *x = &f->storm[family].open;
    if (x->creator != creator)
        end_series(f, family);
    int64_t failed = failure_before(x, q->start_ns);
    bool first = x->count == 0;
    if (!first && x->count >= BESIDE && failed == INT64_MIN)
        end_series(f, family);
    else if (!first && failed != INT64_MIN) {
        enum between did = creator == WEFT_ROOT
                               ? NOTHING
                               : waited_before_retry(f, creator, family, failed, q->start_ns);
        if (q->start_ns - failed > PAUSE_NS || did == TIME)
            end_series(f, family);
        x->others += did == OTHERS;
    }
    if (!analyse_has_failed(f->m, p)) {
        if (q->outcome != WEFT_PENDING)
            end_series(f, family);
        return;
    }
    if (x->count == 0)
        *x = (struct series){.creator = creator, .first = p};
    x->last = p;
    x->failed_ns[x->count++ % BESIDE] = q->end_ns;
    x->sum_ns = analyse_sum(x->sum_ns, q->end_ns - q->start_ns);
}

static void report_retries(struct finder *f, uint32_t family)
{
    enum { SHOWN = 3 };
    const struct series *x = &f->storm[family].worst;
    const struct weft_promise *promise = f->m->promise;
    const uint64_t signs = analyse_signs(f->s, WEFT_ROOT) |
                           (x->creator == WEFT_ROOT ? ANALYSE_R_LOOP : 0) |
                           (2 * x->others > x->count ? ANALYSE_R_OTHER : 0) |
                           (x->sum_ns / x->count > LONG_NS ? ANALYSE_R_SLOW : 0);
    int64_t from = promise[x->first].start_ns, to = promise[x->last].end_ns;
    if (!analyse_report(f->s, WEFT_FINDING_RETRY_STORM, signs,
                        x->creator == WEFT_ROOT ? x->first : x->creator, from, to, to - from))
        return;
    analyse_say(f->s, SAY_RETRIES, PROMISE(creator, x->creator), AMOUNT(count, x->count),
                SORT(sort, family), PROMISE(first, x->first), TIME(from, from), TIME(to, to),
                PROMISE(last, x->last));
    f->s->finding->count = f->storm[family].total;
    uint32_t shown = 0;
    analyse_each(i, f->made.first, x->creator) {
        const uint32_t p = f->made.item[i];
        if (p < x->first || p > x->last || f->s->families->of[p] != family ||
            !analyse_has_failed(f->m, p))
            continue;
        analyse_affects(f->s, p);
        if (shown++ >= SHOWN && p != x->last)
            continue;
        analyse_show_created(f->s, p);
        analyse_show_ended(f->s, p);
    }
}

/* If it became another promise, like a function that calls itself again, it counts as that one. */
static uint32_t maker_of(const void *data, uint32_t promise)
{
    const struct weft_model *m = data;
    return promise == WEFT_ROOT ? WEFT_NONE : weft_model_final(m, m->promise[promise].creator);
}

void analyse_find_retries(struct analyse_search *s)
{
    struct finder f = {.s = s, .m = s->m, .h = s->h};
    f.made = analyse_lists(s, s->m->promises, s->m->promises, maker_of, s->m);
    uint32_t families = s->families->count;
    f.storm = analyse_take(s, families, sizeof *f.storm);
    for (uint32_t i = 0; i < families && !s->failed; i++)
        f.storm[i].open.creator = WEFT_NONE;
    for (uint32_t c = 0; c < f.m->promises && !s->failed; c++)
        if (analyse_count(f.made.first, c) >= s->o->retries)
            analyse_each(i, f.made.first, c)
                add_attempt(&f, c, f.made.item[i]);
    for (uint32_t i = 1; i < families && !s->failed; i++) {
        end_series(&f, i);
        if (f.storm[i].worst.count)
            report_retries(&f, i);
    }
}
