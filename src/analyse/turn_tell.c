/* SPDX-License-Identifier: ISC */
/* Reports what was ready and did not run: how certain the findings are, and the words. */
#include <stdlib.h>

#include "analyse/judge.h"
#include "analyse/turn.h"

enum {
    USUAL = 20,  /* waits of a family, for one that may be an exception */
    SERVED = 20, /* times: a promise that starves others */
};

static void say_delay(const struct analyse_turns *k, const struct analyse_delay *d,
                      const struct analyse_slow *x)
{
    const struct weft_wait *w = &k->h->wait[d->wait];
    const bool mostly = d->most_ns > (d->to_ns - d->from_ns) / 2;
    const uint32_t sort = d->most == WEFT_ROOT ? WEFT_NONE : k->s->families->of[d->most];
    analyse_say(k->s, d->why == ANALYSE_SLEPT ? SAY_LATE_SLEPT : SAY_LATE_QUEUED,
                PHRASE(late, d->was_there ? SAY_LATE_FOR_WHAT_WAS_THERE
                             : analyse_is_pending(k->m, weft_model_final(k->m, w->source))
                                 ? SAY_LATE_FOR_SIGNAL
                                 : SAY_LATE_FOR_RESULT),
                PROMISE(waiter, w->reader), PROMISE(source, w->source),
                LENGTH(delay, d->to_ns - d->from_ns), TIME(ready, d->from_ns),
                FLAG(other, d->other_stream), LENGTH(idle, d->idle_ns),
                FLAG(nothing_ran, d->idle_ns == 0), FLAG(overtaken, d->why == ANALYSE_OVERTAKEN),
                FLAG(queued, d->why == ANALYSE_QUEUED),
                AMOUNT(runs, d->why == ANALYSE_OVERTAKEN ? d->first : d->runs),
                SORT(mostly, mostly ? sort : WEFT_NONE), SORT(partly, mostly ? WEFT_NONE : sort));
    if (x->count > 1)
        analyse_say(k->s, SAY_LATE_OFTEN, AMOUNT(count, x->count), LENGTH(sum, x->sum_ns));
}

static void prove_delay(const struct analyse_turns *k, const struct analyse_delay *d)
{
    const struct weft_history *h = k->h;
    const struct weft_wait *w = &h->wait[d->wait];
    if (!d->was_there)
        analyse_show_waits(k->s, w);
    analyse_show_resolved(k->s, w);
    if (d->was_there)
        analyse_show_waits(k->s, w);
    if (d->why == ANALYSE_SLEPT) {
        uint32_t i = h->idle_first[d->stream], end = h->idle_first[d->stream + 1];
        int64_t longest = 0, at = d->from_ns;
        for (; i < end && h->idle[i].start_ns < d->to_ns; i++)
            if (h->idle[i].end_ns > d->from_ns &&
                h->idle[i].end_ns - h->idle[i].start_ns > longest) {
                longest = h->idle[i].end_ns - h->idle[i].start_ns;
                at = h->idle[i].start_ns;
            }
        if (at >= d->from_ns)
            analyse_show(k->s, at, WEFT_EVIDENCE_IDLE, WEFT_ROOT, WEFT_NONE);
    } else {
        uint32_t i = weft_history_stream_from(h, d->stream, d->from_ns),
                 end = h->stream_first[d->stream + 1];
        for (unsigned n = 0; i < end && n < 5; i++) {
            uint32_t run = h->stream_run[i], p = h->run_promise[run];
            if (k->m->run[run].start_ns >= d->to_ns)
                break;
            if (p == WEFT_ROOT)
                continue;
            analyse_show(k->s, k->m->run[run].start_ns, WEFT_EVIDENCE_RUNS, p, WEFT_NONE);
            n++;
        }
    }
    analyse_show(k->s, d->to_ns, WEFT_EVIDENCE_WOKEN, w->reader, w->source);
}

/* Joins it with a finding that has the same cause; returns false if there is none. */
static bool join_delay(struct analyse_turns *k, const struct analyse_delay *d, uint32_t family)
{
    for (uint32_t i = 0; i < k->tolds; i++)
        if (k->told[i].why == d->why && k->told[i].family == family) {
            k->s->finding = &k->s->out->finding[k->told[i].finding];
            analyse_affects(k->s, k->h->wait[d->wait].reader);
            return true;
        }
    return false;
}

/* A sleep may have been that long because the machine was busy; so may a short delay. */
static uint64_t signs_of_delay(const struct analyse_turns *k, const struct analyse_delay *d,
                               const struct analyse_slow *x)
{
    int64_t least = k->s->o->slow_wake_ns, limit = (x->ended >= USUAL ? 5 : 3) * least;
    bool rare = x->count == 1 || x->count <= x->ended / USUAL;
    if (d->other_stream &&
        x->ended > 1) { /* was it signalled, and woke up late? A poller is often late */
        rare = x->count <= x->ended / 2;
        limit = 5 * least;
    }
    return analyse_signs(k->s, WEFT_ROOT) |
           (d->why == ANALYSE_QUEUED && x->longest_ns < 2 * least ? ANALYSE_W_NEAR : 0) |
           (d->why == ANALYSE_SLEPT && d->was_there ? ANALYSE_W_THERE : 0) |
           (d->why == ANALYSE_SLEPT && rare && x->longest_ns < limit ? ANALYSE_W_RARE : 0);
}

/* How often the promise that ran most was served in the meantime: what it waited for was there, and
 * it continued. */
static uint32_t times_served(const struct analyse_turns *k, const struct analyse_delay *d)
{
    const struct weft_history *h = k->h;
    uint32_t n = 0;
    if (d->why != ANALYSE_OVERTAKEN || d->most == WEFT_ROOT)
        return 0;
    for (uint32_t i = weft_history_wait_from(h, d->most, d->from_ns);
         i < h->waits_of_first[d->most + 1]; i++) {
        const struct weft_wait *w = &h->wait[h->waits_of[i]];
        n += analyse_is_served(w) && w->until_ns <= d->to_ns;
    }
    return n;
}

static void report_delay(struct analyse_turns *k, const struct analyse_delay *d,
                         const struct analyse_slow *x)
{
    const struct weft_history *h = k->h;
    const struct weft_wait *w = &h->wait[d->wait];
    const uint32_t by = analyse_resolver(h, w->source);
    const uint32_t cause = d->why != ANALYSE_SLEPT ? d->most : by != WEFT_NONE ? by : WEFT_ROOT;
    uint32_t family = k->s->families->of[cause];
    if (join_delay(k, d, family))
        return;
    uint32_t times = times_served(k, d);
    bool starved = times >= SERVED;
    enum weft_finding_kind kind = starved ? WEFT_FINDING_STARVATION : WEFT_FINDING_SLOW_WAKE;
    if (!analyse_report(k->s, kind, signs_of_delay(k, d, x), starved ? d->most : w->reader,
                        d->from_ns, d->to_ns, x->sum_ns))
        return;
    if (k->tolds < ANALYSE_MERGED)
        k->told[k->tolds++] = (struct told){d->why, family, k->s->out->count - 1};
    k->s->finding->count = x->count;
    say_delay(k, d, x);
    if (starved)
        analyse_say(k->s, SAY_SERVED_MEANWHILE, PROMISE(promise, d->most), AMOUNT(times, times));
    prove_delay(k, d);
    analyse_affects(k->s, w->reader);
}

static void say_turn(const struct analyse_turns *k, const struct analyse_turn *x, uint32_t count,
                     int64_t cost)
{
    const bool known = x->promise != WEFT_ROOT;
    analyse_say(k->s, SAY_TURN, LENGTH(length, x->to_ns - x->from_ns), TIME(from, x->from_ns),
                AMOUNT(runs, x->runs),
                SORT(sort, known ? k->s->families->of[x->promise] : WEFT_NONE),
                LENGTH(share, x->share_ns));
    if (x->wait != WEFT_NONE)
        analyse_say(k->s,
                    x->late == 0   ? SAY_TURN_READY
                    : x->late == 1 ? SAY_TURN_KEPT_ONE
                                   : SAY_TURN_KEPT,
                    AMOUNT(count, x->late), PROMISE(waiter, k->h->wait[x->wait].reader),
                    LENGTH(ready, x->ready_ns));
    if (count > 1)
        analyse_say(k->s, SAY_TURNS, AMOUNT(count, count), LENGTH(sum, cost));
}

/* Turns of the same family, the worst first. */
struct key {
    uint32_t family, turn;
    int64_t ready_ns, length_ns;
};

static int by_family_and_delay(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    WEFT_ORDER(x->family, y->family);
    WEFT_ORDER(y->ready_ns, x->ready_ns);
    WEFT_ORDER(y->length_ns, x->length_ns);
    return weft_order(x->turn, y->turn);
}

static void report_turns(struct analyse_turns *k, const struct key *key, uint32_t count)
{
    const struct analyse_turn *x = &k->turn[key->turn];
    bool hurt = x->ready_ns >= 2 * k->s->o->slow_wake_ns || x->late >= ANALYSE_VICTIMS;
    int64_t cost = 0;
    const uint64_t signs = analyse_signs(k->s, WEFT_ROOT) |
                           (x->wait == WEFT_NONE ? ANALYSE_B_NOBODY : 0) |
                           (hurt && x->promise != WEFT_ROOT ? 0 : ANALYSE_B_MUCH);
    for (uint32_t i = 0; i < count; i++)
        cost = analyse_sum(cost, key[i].length_ns);
    if (!analyse_report(k->s, WEFT_FINDING_LOOP_BLOCKED, signs, x->promise, x->from_ns, x->to_ns,
                        cost))
        return;
    uint32_t finding = k->s->out->count - 1;
    k->s->finding->count = count;
    say_turn(k, x, count, cost);
    analyse_show(k->s, x->first_ns, WEFT_EVIDENCE_RUNS, x->promise, WEFT_NONE);
    if (x->wait != WEFT_NONE) {
        const struct weft_wait *w = &k->h->wait[x->wait];
        analyse_show_woken(k->s, w);
        analyse_affects(k->s, w->reader);
    }
    analyse_show(k->s, x->to_ns, WEFT_EVIDENCE_IDLE, WEFT_ROOT, WEFT_NONE);
    for (uint32_t i = 0; i < count; i++)
        analyse_span_add(k->l, k->turn[key[i].turn].stream, k->turn[key[i].turn].from_ns,
                         k->turn[key[i].turn].to_ns, 0, finding);
}

static void report_all_turns(struct analyse_turns *k)
{
    struct key *key = analyse_take(k->s, k->turns, sizeof *key);
    if (!key)
        return;
    for (uint32_t i = 0; i < k->turns; i++) {
        const struct analyse_turn *x = &k->turn[i];
        key[i] =
            (struct key){k->s->families->of[x->promise], i, x->ready_ns, x->to_ns - x->from_ns};
    }
    if (k->turns)
        qsort(key, k->turns, sizeof *key, by_family_and_delay);
    for (uint32_t i = 0, n, told = 0; i < k->turns && told < ANALYSE_LOOP_FAMILIES && !k->s->failed;
         i += n, told++) {
        for (n = 1; i + n < k->turns && key[i + n].family == key[i].family;)
            n++;
        report_turns(k, &key[i], n);
    }
}

/* Delays by length, so that the worst is reported. */
struct order {
    uint32_t family;
    int64_t longest_ns;
};

static int by_longest_delay(const void *a, const void *b)
{
    const struct order *x = a, *y = b;
    WEFT_ORDER(y->longest_ns, x->longest_ns);
    return weft_order(x->family, y->family);
}

/* Returns true if it had to wait for promises of another sort. If they are of its own sort, there
 * is simply much to do. */
static bool is_behind_other_sort(const struct analyse_turns *k, const struct analyse_delay *d)
{
    const uint32_t *of = k->s->families->of;
    return d->runs >= 3 && d->most != WEFT_ROOT && d->most_ns > (d->to_ns - d->from_ns) / 2 &&
           of[d->most] != of[k->h->wait[d->wait].reader];
}

static void report_delays(struct analyse_turns *k)
{
    uint32_t count = 0, families = k->s->families->count;
    struct order *order = analyse_take(k->s, families, sizeof *order);
    if (!order)
        return;
    for (uint32_t i = 0; i < families; i++)
        if (k->slow[i].worst != WEFT_NONE)
            order[count++] = (struct order){i, k->slow[i].longest_ns};
    if (count)
        qsort(order, count, sizeof *order, by_longest_delay);
    for (uint32_t i = 0; i < count && i < ANALYSE_LOOP_FAMILIES && !k->s->failed; i++) {
        const struct analyse_slow *x = &k->slow[order[i].family];
        struct analyse_delay d = analyse_delay_explain(k, x->worst);
        struct analyse_turn *turn = analyse_turn_at(k, d.stream, d.from_ns);
        bool is_turn = d.why == ANALYSE_QUEUED && turn && turn->victims >= ANALYSE_VICTIMS;
        if (d.why != ANALYSE_QUEUED || (!is_turn && is_behind_other_sort(k, &d))) {
            report_delay(k, &d, x);
            if (d.why != ANALYSE_SLEPT && turn)
                turn->share_ns = -1; /* explained */
        } else if (turn && d.to_ns - d.from_ns > turn->ready_ns) {
            turn->wait = d.wait;
            turn->ready_ns = d.to_ns - d.from_ns;
        }
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < k->turns; i++)
        if (k->turn[i].share_ns >= 0)
            k->turn[kept++] = k->turn[i];
    k->turns = kept;
}

void analyse_turns_tell(struct analyse_turns *k)
{
    report_delays(k);
    if (!k->s->failed)
        report_all_turns(k);
}
