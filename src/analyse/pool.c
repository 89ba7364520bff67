/* SPDX-License-Identifier: ISC */
/* Exhausted pools: all permits of something are held, nobody gives one back for much longer than
 * usual, and others queue for one. This uses what the program says about holds; docs/diagnoses.md
 * explains how this differs from a hang. */
#include "analyse/graph.h"

#define STALL_NS INT64_C(100000000) /* nobody gives one back for this long */

enum {
    STALL_TIMES = 10, /* … and for this many times as long as one is usually held */
    IDLE = 10,        /* a holder that runs for less than 1/IDLE of the time does nothing */
    SHOWN = 4,        /* holders that are named */
};

/* A period in which all permits were held, and others waited. */
struct stall {
    int64_t from_ns, to_ns, waited_ns;
    uint32_t waiters;
};

struct finder {
    struct analyse_search *s;
    const struct weft_model *m;
    const struct weft_history *h;
    uint32_t resource, capacity;
    int64_t *begin, *end; /* of its holds: when they began and ended, each sorted */
    uint32_t begins, ends;
    int64_t *wait_from, *wait_until; /* of the waits for it, in the same way */
    uint32_t waits;
    struct stall worst;
    uint32_t stalls;
    int64_t usual_ns; /* how long one is usually held; 0: not known */
    bool first;       /* none was given back before the worst one */
};

static const struct weft_hold *hold_at(const struct finder *f, uint32_t place)
{
    return &f->m->hold[f->h->holds_for[place]];
}

static void gather_holds_and_waits(struct finder *f)
{
    f->begins = f->ends = f->waits = 0;
    analyse_each(i, f->h->holds_for_first, f->resource) {
        const struct weft_hold *x = hold_at(f, i);
        if (x->holder == WEFT_NONE)
            continue;
        f->begin[f->begins++] = x->from_ns;
        if (x->released_by != WEFT_NONE)
            f->end[f->ends++] = x->to_ns;
    }
    analyse_each(i, f->h->waits_for_first, f->resource) {
        const struct weft_wait *w = &f->h->wait[f->h->waits_for[i]];
        f->wait_from[f->waits] = w->from_ns;
        f->wait_until[f->waits++] = w->until_ns;
    }
    analyse_median(f->begin, f->begins);
    analyse_median(f->end, f->ends);
    analyse_median(f->wait_from, f->waits);
    analyse_median(f->wait_until, f->waits);
}

/* How many times of a list are before a moment, and the total time since each of them. *at and *sum
 * are carried over from one moment to the next later one. */
struct clock {
    const int64_t *list;
    uint32_t count, at;
    int64_t now_ns;
    double sum_ns;
};

static void advance_clock(struct clock *c, int64_t to_ns)
{
    c->sum_ns += c->at * (double)(to_ns - c->now_ns);
    for (; c->at < c->count && c->list[c->at] < to_ns; c->at++)
        c->sum_ns += (double)(to_ns - c->list[c->at]);
    c->now_ns = to_ns;
}

/* How many are held after hold i has begun; *ended: how many have ended by then, in order of time. */
static uint32_t held_after(const struct finder *f, uint32_t i, uint32_t held, uint32_t *ended)
{
    for (; *ended < f->ends && f->end[*ended] <= f->begin[i]; ++*ended)
        held -= held > 0;
    return held + 1;
}

/* In order of time: beginnings at which all are held, up to the next end. */
static void find_stalls(struct finder *f)
{
    struct clock begun = {.list = f->wait_from, .count = f->waits};
    struct clock over = {.list = f->wait_until, .count = f->waits};
    f->capacity = 0;
    for (uint32_t i = 0, held = 0, ended = 0; i < f->begins; i++) {
        held = held_after(f, i, held, &ended);
        f->capacity = held > f->capacity ? held : f->capacity;
    }
    for (uint32_t i = 0, held = 0, ended = 0; i < f->begins; i++) {
        held = held_after(f, i, held, &ended);
        struct stall x = {.from_ns = f->begin[i],
                          .to_ns = ended < f->ends ? f->end[ended] : f->m->end_ns};
        if (held < f->capacity || x.to_ns - x.from_ns < STALL_NS)
            continue;
        advance_clock(&begun, x.from_ns + 1); /* whoever got the last one does not wait any more */
        advance_clock(&over, x.from_ns + 1);
        const double before = begun.sum_ns - over.sum_ns;
        const uint32_t gone = over.at;
        advance_clock(&begun, x.to_ns);
        advance_clock(&over, x.to_ns);
        const double waited = begun.sum_ns - over.sum_ns - before;
        x.waited_ns = waited < 0 ? 0 : waited > 4e18 ? (int64_t)4e18 : (int64_t)waited;
        x.waiters = begun.at - gone;
        if (x.waited_ns < (x.to_ns - x.from_ns) / 2)
            continue;
        f->stalls++;
        if (x.waited_ns > f->worst.waited_ns)
            f->worst = x;
    }
}

/* How long one is usually held: the median of those before the stall, or after it; or 0. */
static int64_t usual_hold_ns(struct finder *f, bool before)
{
    uint32_t n = 0;
    analyse_each(i, f->h->holds_for_first, f->resource) {
        const struct weft_hold *x = hold_at(f, i);
        if (x->holder != WEFT_NONE && x->released_by != WEFT_NONE &&
            (before ? x->to_ns <= f->worst.from_ns : x->from_ns >= f->worst.to_ns))
            f->begin[n++] = x->to_ns - x->from_ns;
    }
    const int64_t median = analyse_median(f->begin, n);
    return n && median <= 0 ? 1 : median;
}

/* ---- Who holds them ---- */

static bool holds_it(const struct finder *f, const struct weft_hold *x)
{
    return x->holder != WEFT_NONE && x->from_ns <= f->worst.from_ns && x->to_ns >= f->worst.to_ns;
}

/* It had ended, but had not given back what it held. */
static bool is_gone(const struct finder *f, const struct weft_hold *x)
{
    return x->holder != WEFT_ROOT && weft_history_ended_ns(f->h, x->holder) < f->worst.to_ns;
}

/* Those that have ended come first, then those that hardly ran in the meantime. */
static unsigned rank_of_holder(const struct finder *f, const struct weft_hold *x)
{
    const struct weft_history *h = f->h;
    const struct stall *k = &f->worst;
    int64_t sum = 0;
    if (is_gone(f, x) || x->holder == WEFT_ROOT)
        return is_gone(f, x) ? 0 : 2;
    for (uint32_t i = weft_history_run_from(h, x->holder, k->from_ns);
         i < h->runs_of_first[x->holder + 1] && f->m->run[h->runs_of[i]].start_ns < k->to_ns; i++) {
        const struct weft_run *r = &f->m->run[h->runs_of[i]];
        sum += weft_earlier(r->end_ns, k->to_ns) - r->start_ns;
    }
    return sum < (k->to_ns - k->from_ns) / IDLE ? 1 : 2;
}

static void say_permit_holders(const struct finder *f)
{
    uint32_t shown = 0;
    for (unsigned r = 0; r < 3; r++)
        for (uint32_t i = f->h->holds_for_first[f->resource];
             i < f->h->holds_for_first[f->resource + 1] && shown < SHOWN; i++) {
            const struct weft_hold *x = hold_at(f, i);
            if (!holds_it(f, x) || rank_of_holder(f, x) != r)
                continue;
            shown++;
            const int64_t ended = weft_history_ended_ns(f->h, x->holder);
            analyse_list(f->s, "; ", SAY_POOL_HOLDER, PROMISE(holder, x->holder),
                         TIME(from, x->from_ns), FLAG(idle, r == 1),
                         TIME(ended, r == 0 ? ended : INT64_MIN));
            analyse_show(f->s, x->from_ns, WEFT_EVIDENCE_ACQUIRED, x->holder, f->resource);
            if (r == 0)
                analyse_show(f->s, ended, analyse_ending(f->m, x->holder), x->holder, WEFT_NONE);
        }
    if (shown)
        analyse_say(f->s, SAY_POOL_HOLDERS, TEXT(holders, f->s->list.text),
                    AMOUNT(more, f->capacity > shown ? f->capacity - shown : 0));
}

/* ---- Findings ---- */

static uint64_t signs_of_pool(const struct finder *f)
{
    const struct stall *x = &f->worst;
    const bool passed = analyse_is_passed(f->h, f->resource);
    bool gone = false;
    analyse_each(i, f->h->holds_for_first, f->resource)
        gone |= holds_it(f, hold_at(f, i)) && is_gone(f, hold_at(f, i));
    return analyse_signs(f->s, f->resource) | (gone && !passed ? ANALYSE_P_GONE : 0) |
           (passed ? ANALYSE_P_PASSED : 0) | (f->first ? ANALYSE_P_FIRST : 0) |
           (f->capacity == 1 ? ANALYSE_P_LOCK : 0) | (x->waiters < 2 ? ANALYSE_P_ALONE : 0) |
           (x->to_ns - x->from_ns < STALL_TIMES * f->usual_ns ? ANALYSE_P_USUAL : 0);
}

static void report_pool(struct finder *f)
{
    const struct stall *x = &f->worst;
    if (!analyse_report(f->s, WEFT_FINDING_POOL_EXHAUSTED, signs_of_pool(f), f->resource,
                        x->from_ns, x->to_ns, x->waited_ns))
        return;
    f->s->finding->count = f->stalls;
    analyse_say(f->s, SAY_POOL, FLAG(one, f->capacity == 1),
                AMOUNT(permits, f->capacity > 1 ? f->capacity : 0), PROMISE(pool, f->resource),
                TIME(from, x->from_ns), LENGTH(length, x->to_ns - x->from_ns),
                LENGTH(usual, f->usual_ns), AMOUNT(waiters, x->waiters),
                LENGTH(waited, x->waited_ns));
    say_permit_holders(f);
    analyse_each(i, f->h->waits_for_first, f->resource) {
        const struct weft_wait *w = &f->h->wait[f->h->waits_for[i]];
        if (w->from_ns >= x->to_ns || w->until_ns <= x->from_ns)
            continue;
        if (f->s->finding->affecteds == 0)
            analyse_show(f->s, w->from_ns, WEFT_EVIDENCE_WAITS, w->reader, f->resource);
        analyse_affects(f->s, w->reader);
    }
}

void analyse_find_pools(struct analyse_search *s)
{
    struct finder f = {.s = s, .m = s->m, .h = s->h};
    if (s->m->holds == 0)
        return;
    f.begin = analyse_take(s, s->m->holds, sizeof *f.begin);
    f.end = analyse_take(s, s->m->holds, sizeof *f.end);
    f.wait_from = analyse_take(s, s->h->waits, sizeof *f.wait_from);
    f.wait_until = analyse_take(s, s->h->waits, sizeof *f.wait_until);
    for (uint32_t p = 1; p < f.m->promises && !s->failed; p++) {
        if (analyse_count(f.h->holds_for_first, p) == 0 ||
            analyse_count(f.h->waits_for_first, p) == 0 || f.m->promise[p].becomes != WEFT_NONE)
            continue;
        f.resource = p;
        f.worst = (struct stall){0};
        f.stalls = 0;
        gather_holds_and_waits(&f);
        find_stalls(&f);
        if (f.stalls == 0)
            continue;
        f.usual_ns = usual_hold_ns(&f, true);
        f.first = f.usual_ns == 0;
        if (f.first)
            f.usual_ns = usual_hold_ns(&f, false);
        report_pool(&f);
    }
}
