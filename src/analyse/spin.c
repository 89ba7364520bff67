/* SPDX-License-Identifier: ISC */
/* Promises that run again and again without making progress.
 * A promise is followed along its own interactions: a series of its wakes ends whenever it does
 * something for another promise, or continues because of another one. What cannot be seen there is
 * found along the runs of a stream. */
#include <string.h>

#include "analyse/spin.h"

/* ---- Along the interactions of a promise ---- */

/* Ends the series; the longest one counts. */
static void close_series(struct analyse_spins *k, struct analyse_series *x,
                         enum analyse_spin_end ending)
{
    x->ending = ending;
    if (analyse_spin_runs(x) > analyse_spin_runs(&k->best))
        k->best = *x;
    *x = (struct analyse_series){.promise = x->promise};
}

static void count_wake(struct analyse_series *x, int64_t time_ns)
{
    if (analyse_spin_runs(x) == 0)
        x->from_ns = x->last_ns = time_ns;
    x->before_ns = x->last_ns;
    x->last_ns = time_ns;
}

/* Returns true if it began to wait for q, or made it, only after its last wake: otherwise it
 * collects things that it had waited for together. */
static bool is_new(const struct analyse_spins *k, const struct analyse_series *x, uint32_t q,
                   int64_t time_ns)
{
    if (k->m->promise[q].start_ns >= x->last_ns)
        return true;
    uint32_t first = k->h->waits_of_first[x->promise];
    uint32_t low = weft_history_wait_from(k->h, x->promise, time_ns + 1);
    return low > first && k->h->wait[k->h->waits_of[low - 1]].from_ns >= x->last_ns;
}

/* How long it did not run before a time, since its last wake. If a loop reports sleeping and did
 * not sleep, and nothing else ran, it was kept from running. */
static int64_t paused_ns(const struct analyse_spins *k, const struct analyse_series *x,
                         int64_t time_ns)
{
    enum { LOOKED_AT = 4 };
    const struct weft_history *h = k->h;
    uint32_t run = weft_history_run_at(h, x->promise, x->last_ns);
    if (run == WEFT_NONE || !k->h->informed[weft_history_stream(h, run)])
        return time_ns - x->last_ns;
    int64_t until = k->m->run[run].end_ns;
    if (until >= time_ns)
        return 0;
    uint32_t stream = weft_history_stream(h, run), i = weft_history_stream_from(h, stream, until),
             end = h->stream_first[stream + 1];
    for (unsigned n = 0; n < LOOKED_AT && i < end && h->run_promise[h->stream_run[i]] == WEFT_ROOT;
         n++)
        i++;
    if (!k->h->suspends[stream] || i == end || k->m->run[h->stream_run[i]].start_ns < time_ns)
        return time_ns - until;
    return weft_history_idle(h, stream, until, time_ns, 0, NULL);
}

/* One interaction of a promise. */
static void follow_interaction(struct analyse_spins *k, struct analyse_series *x,
                               const struct weft_interaction *e)
{
    uint32_t self = x->promise, q = weft_model_final(k->m, (uint32_t)e->other), by;
    int64_t gap = analyse_spin_wakes(x, ANALYSE_BY_LOOP) ? ANALYSE_SPIN_GAP : ANALYSE_SPIN_LONG_GAP;
    if (analyse_spin_runs(x) && (e->time_ns < x->last_ns || (e->time_ns - x->last_ns > gap &&
                                                             paused_ns(k, x, e->time_ns) > gap)))
        close_series(k, x, ANALYSE_SPIN_ENDED);
    switch ((enum weft_interaction_kind)e->kind) {
    case WEFT_READS:
        by = analyse_spin_waker(k->h, q, e->time_ns);
        if (by == self || by == WEFT_ROOT || by == WEFT_NONE) {
            if (analyse_spin_runs(x) && !is_new(k, x, q, e->time_ns))
                break;
            count_wake(x, e->time_ns);
            x->wakes[by == self ? ANALYSE_BY_ITSELF : ANALYSE_BY_LOOP]++;
        } else
            close_series(k, x, ANALYSE_SPIN_ENDED_BY_OTHER);
        break;
    case WEFT_WAITS: /* if wakes are not recorded: it was woken before it waits again */
        by = analyse_spin_waker(k->h, q, INT64_MAX);
        if (q != self && (by == self || by == WEFT_ROOT)) {
            enum analyse_waker sort = by == self ? ANALYSE_BY_ITSELF : ANALYSE_BY_LOOP;
            bool more = x->waited && x->waited != q &&
                        weft_history_resolved_ns(k->h, x->waited) > e->time_ns;
            x->waited = q;
            if (more) /* it waits for both */
                break;
            if (x->waits[sort] >= x->wakes[sort])
                count_wake(x, e->time_ns);
            x->waits[sort]++;
        }
        break;
    case WEFT_RESOLVES:
    case WEFT_NOTIFIES:
        if (q == self)
            close_series(k, x, ANALYSE_SPIN_ENDED);
        else if (analyse_spin_serves(k, q, self))
            *x = (struct analyse_series){.promise = self};
        break;
    case WEFT_SIGNALS:
        if (q != self)
            *x = (struct analyse_series){.promise = self};
        break;
    case WEFT_RESOLVES_AGAIN: /* nobody benefits from these */
    case WEFT_CANCELS_LATE:
        break;
    }
}

static void look_at_promise(struct analyse_spins *k, uint32_t p)
{
    const struct weft_model *m = k->m;
    struct analyse_series x = {.promise = p};
    k->best = x;
    for (uint32_t i = m->promise[p].first_interaction; i != WEFT_NONE; i = m->interaction[i].next)
        follow_interaction(k, &x, &m->interaction[i]);
    close_series(k, &x, ANALYSE_SPIN_ENDED);
    if (analyse_spin_runs(&k->best) < k->s->o->self_wakes)
        return;
    uint32_t run = weft_history_run_before(k->h, p, k->best.last_ns);
    k->best.stream = run == WEFT_NONE ? 0 : weft_history_stream(k->h, run);
    if (k->h->is_loop[k->best.stream])
        analyse_spin_keep(k, k->best);
}

/* ---- Findings ---- */

static void say_spin(const struct analyse_spins *k, const struct analyse_spin *found)
{
    const struct analyse_series *x = &found->worst;
    const uint64_t runs = analyse_spin_runs(x);
    const bool alone = x->partner == WEFT_ROOT;
    analyse_say(
        k->s, SAY_SPIN, PROMISE(promise, x->promise),
        PROMISE(partner, alone ? WEFT_NONE : x->partner),
        NUMBER(more, alone || x->partners == 0 ? 0 : x->partners - 1), AMOUNT(runs, runs),
        LENGTH(length, x->last_ns - x->from_ns), TIME(from, x->from_ns),
        PHRASE(how, x->idle_ns / (int64_t)runs > ANALYSE_NAP              ? SAY_SPIN_NAPS
                    : !alone                                              ? SAY_SPIN_EACH_OTHER
                    : analyse_spin_wakes(x, ANALYSE_BY_ITSELF) > runs / 2 ? SAY_SPIN_ITSELF
                                                                          : SAY_SPIN_NO_PAUSE),
        FLAG(ended, x->ending == ANALYSE_SPIN_ENDED), FLAG(vain, x->ending != ANALYSE_SPIN_ENDED),
        FLAG(still, x->ending == ANALYSE_SPIN_ENDLESS),
        FLAG(until, x->ending == ANALYSE_SPIN_ENDED_BY_OTHER));
    if (found->count > 1)
        analyse_say(k->s, SAY_SPINS, AMOUNT(others, found->count - 1), LENGTH(sum, found->cost_ns));
}

static void report_spin(const struct analyse_spins *k, const struct analyse_spin *found)
{
    const struct analyse_series *x = &found->worst;
    struct weft_finding *f = analyse_finding_add(k->s, WEFT_FINDING_SPIN, &x->verdict, x->promise,
                                                 x->from_ns, x->last_ns, found->cost_ns);
    bool sleeps = x->idle_ns / (int64_t)analyse_spin_runs(x) > ANALYSE_NAP;
    if (!sleeps)
        analyse_span_add(k->l, x->stream, x->from_ns, x->last_ns, 0,
                         f ? k->s->out->count - 1 : WEFT_NONE);
    if (!f)
        return;
    f->count = found->count;
    say_spin(k, found);
    analyse_show(k->s, x->from_ns, WEFT_EVIDENCE_RUNS, x->promise, WEFT_NONE);
    uint32_t place = weft_history_stream_from(k->h, x->stream, x->from_ns + 1);
    for (unsigned n = 0; place < k->h->stream_first[x->stream + 1] && n < 3; place++) {
        uint32_t run = k->h->stream_run[place];
        if (k->m->run[run].start_ns >= x->last_ns)
            break;
        if (k->h->run_promise[run] != x->promise)
            continue;
        analyse_show(k->s, k->m->run[run].start_ns, WEFT_EVIDENCE_RUNS, x->promise, WEFT_NONE);
        n++;
    }
    analyse_show(k->s, x->last_ns,
                 x->ending == ANALYSE_SPIN_ENDLESS ? WEFT_EVIDENCE_RUNS_STILL : WEFT_EVIDENCE_RUNS,
                 x->promise, WEFT_NONE);
}

void analyse_find_spins(struct analyse_loops *l)
{
    struct analyse_search *s = l->s;
    struct analyse_spins k = {.l = l, .s = s, .h = s->h, .m = s->m};
    k.steps_left = 4 * ((uint64_t)k.m->interactions + k.m->labels) + 1000;
    k.idles_left = 64 * (uint64_t)k.h->idle_first[k.h->streams] + 1000000;
    k.found_of = analyse_take(s, s->families->count, sizeof *k.found_of);
    analyse_spins_share(&k);
    if (s->failed)
        return;
    memset(k.found_of, 0xff, s->families->count * sizeof *k.found_of);
    for (uint32_t p = 1; p < k.m->promises && !s->failed; p++)
        look_at_promise(&k, p);
    for (uint32_t i = 0; i < k.h->streams && !s->failed; i++)
        if (l->s->h->informed[i]) {
            analyse_spins_of_stream(&k, i);
            analyse_spins_exchanged(&k, i);
        }
    if (!s->failed)
        analyse_spins_repeated(&k);
    for (uint32_t i = 0; i < k.founds && i < ANALYSE_LOOP_FAMILIES && !s->failed; i++)
        report_spin(&k, &k.found[i]);
}
