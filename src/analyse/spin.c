/* SPDX-License-Identifier: ISC */
/* Promises that run again and again without making progress.
 * A promise is followed along its own interactions: a series of its wakes ends whenever it does
 * something for another promise, or continues because of another one. What cannot be seen there is
 * found along the runs of a stream: promises that are simply run again and again without a wake, and
 * a few that do nothing but wake each other. */
#include <string.h>

#include "analyse/spin.h"

enum {
    CHUNKS = 8,    /* chunks of a series of runs that are examined one by one */
    PARTNERS = 4,  /* promises that wake each other */
    LOOKED_AT = 8, /* waits for something that are examined */
};

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

/* ---- Along the runs of a stream ---- */

/* A few runs in a row. */
struct chunk {
    uint32_t promise; /* the one with most of them, or WEFT_NONE */
    uint32_t runs;    /* … how many are its own */
    int64_t from_ns, to_ns, last_ns[2];
};

/* The next runs, and the place after them: most are of one promise, short, and have no cause. */
static uint32_t take_chunk(const struct analyse_spins *k, uint32_t stream, uint32_t from,
                           struct chunk *c)
{
    const struct weft_history *h = k->h;
    uint32_t size = k->s->o->spin_runs / CHUNKS, i, votes = 0, seen = 0, caused = 0;
    size = size ? size : 1;
    *c = (struct chunk){.promise = WEFT_NONE};
    for (i = from; i < h->stream_first[stream + 1] && seen < size; i++) {
        uint32_t p = h->run_promise[h->stream_run[i]];
        if (p == WEFT_ROOT)
            continue;
        seen++;
        if (votes == 0)
            c->promise = p;
        votes = p == c->promise ? votes + 1 : votes - 1;
    }
    for (uint32_t j = from; j < i; j++) {
        uint32_t run = h->stream_run[j];
        const struct weft_run *r = &k->m->run[run];
        if (h->run_promise[run] != c->promise)
            continue;
        if (c->runs++ == 0)
            c->from_ns = r->start_ns;
        c->to_ns = r->end_ns;
        c->last_ns[0] = c->last_ns[1];
        c->last_ns[1] = r->start_ns;
        caused += h->run_cause[run] != WEFT_NONE;
    }
    int64_t idle = weft_history_idle(h, stream, c->from_ns, c->to_ns, 0, NULL);
    if (c->runs < size / 10 * 9 || seen < size || caused > c->runs / 10 ||
        idle / c->runs > ANALYSE_NAP ||
        c->to_ns - c->from_ns > (int64_t)c->runs * (ANALYSE_SPIN_SLICE + ANALYSE_NAP))
        c->promise = WEFT_NONE;
    return i;
}

static void end_runs(struct analyse_spins *k, struct analyse_series *x, bool asks)
{
    x->polls = asks;
    if (x->promise != WEFT_NONE && analyse_spin_runs(x) >= k->s->o->spin_runs / 4 * 3)
        analyse_spin_keep(k, *x);
    *x = (struct analyse_series){.promise = WEFT_NONE};
}

static void find_rerun(struct analyse_spins *k, uint32_t stream)
{
    uint32_t i = k->h->stream_first[stream], end = k->h->stream_first[stream + 1], asked;
    struct analyse_series x = {.promise = WEFT_NONE};
    bool asks = false;
    while (i < end && !k->s->failed) {
        struct chunk c;
        i = take_chunk(k, stream, i, &c);
        if (x.promise != c.promise || c.from_ns - x.last_ns > ANALYSE_SPIN_GAP)
            end_runs(k, &x, asks);
        if (c.promise == WEFT_NONE)
            continue;
        if (x.promise == WEFT_NONE)
            x = (struct analyse_series){
                .promise = c.promise, .stream = stream, .from_ns = c.from_ns};
        weft_history_idle(k->h, stream, c.from_ns, c.to_ns, 0, &asked);
        asks = asked > c.runs / 10;
        x.wakes[ANALYSE_BY_NOBODY] += c.runs;
        x.before_ns = c.last_ns[0];
        x.last_ns = c.last_ns[1];
    }
    end_runs(k, &x, asks);
}

/* ---- Runs with nothing in between ---- */

/* The model combines these into one run with a count. Wakes are found along the interactions. */
static void end_repeats(struct analyse_spins *k, struct analyse_series *x)
{
    const struct weft_model *m = k->m;
    uint32_t i = x->promise == WEFT_NONE ? WEFT_NONE : m->promise[x->promise].first_interaction;
    uint64_t woken = 0;
    if (analyse_spin_runs(x) < k->s->o->spin_runs / 4 * 3)
        i = WEFT_NONE;
    for (; i != WEFT_NONE && m->interaction[i].time_ns <= x->last_ns && k->steps_left;
         i = m->interaction[i].next, k->steps_left--)
        woken += m->interaction[i].kind == WEFT_READS && m->interaction[i].time_ns >= x->from_ns;
    x->wakes[ANALYSE_BY_NOBODY] -=
        woken < x->wakes[ANALYSE_BY_NOBODY] ? woken : x->wakes[ANALYSE_BY_NOBODY];
    end_runs(k, x, !k->h->informed[x->stream]);
}

static void find_repeated(struct analyse_spins *k)
{
    const struct weft_model *m = k->m;
    struct analyse_series x = {.promise = WEFT_NONE};
    for (uint32_t i = 0; i < m->agains && !k->s->failed && k->steps_left; i++) {
        const struct weft_run *r = &m->run[m->again[i].run];
        uint32_t p = k->h->run_promise[m->again[i].run], times = m->again[i].times;
        uint32_t stream = weft_history_stream(k->h, m->again[i].run);
        if (p == WEFT_ROOT || !k->h->is_loop[stream] || r->end_ns <= r->start_ns)
            continue;
        if (p != x.promise || stream != x.stream || r->start_ns - x.last_ns > ANALYSE_SPIN_GAP) {
            end_repeats(k, &x);
            x = (struct analyse_series){.promise = p, .stream = stream, .from_ns = r->start_ns};
        }
        x.wakes[ANALYSE_BY_NOBODY] += times;
        x.last_ns = r->end_ns;
        x.before_ns = x.last_ns - (r->end_ns - r->start_ns) / times;
    }
    if (k->steps_left)
        end_repeats(k, &x);
}

/* ---- Who wakes whom ---- */

/* A few promises that wake each other, and nothing else. */
struct circle {
    uint32_t of[PARTNERS], runs[PARTNERS], size;
    uint32_t stream, first, end; /* places in stream_run */
    struct analyse_lengths ran;
};

static uint32_t place_in_circle(const struct circle *c, uint32_t p)
{
    uint32_t i = 0;
    while (i < c->size && c->of[i] != p)
        i++;
    return i;
}

/* Returns false if there are too many. */
static bool join_circle(struct circle *c, uint32_t p)
{
    uint32_t i = place_in_circle(c, p);
    if (i == PARTNERS)
        return false;
    if (i == c->size) {
        c->of[c->size] = p;
        c->runs[c->size++] = 0;
    }
    return true;
}

/* Which promise started a run by waking it, and when; WEFT_ROOT: the loop, or none. */
static uint32_t woken_by(const struct analyse_spins *k, uint32_t run, int64_t *time_ns)
{
    uint32_t cause = k->h->run_cause[run];
    if (cause == WEFT_NONE)
        return WEFT_ROOT;
    const uint32_t wake =
        analyse_spin_wake(k->h, weft_history_cause(k->h, run), k->m->interaction[cause].time_ns);
    if (wake == WEFT_NONE || k->m->interaction[wake].actor == k->h->run_promise[run])
        return WEFT_ROOT;
    *time_ns = k->m->interaction[wake].time_ns;
    return (uint32_t)k->m->interaction[wake].actor;
}

/* What they did that affects others, too. */
static uint64_t count_progress(struct analyse_spins *k, const struct circle *c, int64_t from,
                               int64_t to)
{
    const struct weft_model *m = k->m;
    uint64_t n = 0;
    for (uint32_t i = analyse_interaction_from(m, from);
         i < m->interactions && m->interaction[i].time_ns <= to && k->steps_left;
         i++, k->steps_left--) {
        const struct weft_interaction *e = &m->interaction[i];
        uint32_t q = (uint32_t)e->other;
        if (place_in_circle(c, (uint32_t)e->actor) == c->size ||
            (e->kind != WEFT_RESOLVES && e->kind != WEFT_NOTIFIES))
            continue;
        uint32_t w = k->h->waits_for_first[q], end = k->h->waits_for_first[q + 1];
        bool made = m->promise[q].start_ns >= from;
        for (uint32_t j = 0; w < end && j < LOOKED_AT && !made; w++, j++)
            made = place_in_circle(c, k->h->wait[k->h->waits_for[w]].reader) == c->size;
        n += made;
    }
    return n;
}

static void end_circle(struct analyse_spins *k, struct circle *c)
{
    uint32_t one = PARTNERS, other = PARTNERS, all = 0, size = 0; /* one: the oldest */
    for (uint32_t i = 0; i < c->size; i++) {
        all += c->runs[i];
        size += c->runs[i] > 0;
        if (c->runs[i] && (one == PARTNERS || c->of[i] < c->of[one])) {
            other = one;
            one = i;
        } else if (c->runs[i])
            other = i;
    }
    if (all >= k->s->o->spin_runs && size > 1) {
        const struct weft_run *last = &k->m->run[k->h->stream_run[c->end - 1]];
        struct analyse_series x = {.promise = c->of[one],
                                   .stream = c->stream,
                                   .partner = c->of[other],
                                   .partners = size - 1,
                                   .from_ns = k->m->run[k->h->stream_run[c->first]].start_ns,
                                   .last_ns = last->end_ns,
                                   .before_ns = last->start_ns,
                                   .ran = c->ran};
        x.wakes[ANALYSE_BY_PARTNERS] = all;
        x.progress = count_progress(k, c, x.from_ns, x.last_ns);
        for (uint32_t i = 0; i < c->size; i++) {
            struct analyse_series member = x;
            member.promise = c->of[i];
            x.progress += analyse_spin_marks(k, &member);
        }
        analyse_spin_keep(k, x);
    }
    c->size = 0;
    c->ran = (struct analyse_lengths){0};
}

static void find_exchanged(struct analyse_spins *k, uint32_t stream)
{
    struct circle c = {.stream = stream};
    int64_t until = 0, woken = 0;
    analyse_each(i, k->h->stream_first, stream) {
        uint32_t run = k->h->stream_run[i], p = k->h->run_promise[run], by = WEFT_ROOT;
        const struct weft_run *r = &k->m->run[run];
        if (p == WEFT_ROOT)
            continue;
        by = woken_by(k, run, &woken);
        /* woken before the previous run ended, it cannot have slept: the machine was busy */
        int64_t gap = woken <= until ? ANALYSE_SPIN_LONG_GAP : ANALYSE_NAP;
        if (c.size && (by == WEFT_ROOT || r->start_ns - until > gap || !join_circle(&c, p) ||
                       !join_circle(&c, by)))
            end_circle(k, &c);
        until = r->end_ns;
        if (by == WEFT_ROOT)
            continue;
        if (c.size == 0) {
            c.first = i;
            join_circle(&c, p);
            join_circle(&c, by);
        }
        c.runs[place_in_circle(&c, p)]++;
        c.end = i + 1;
        analyse_length_add(&c.ran,
                           r->end_ns - r->start_ns -
                               weft_history_preempted_ns(k->h, stream, r->start_ns, r->end_ns));
    }
    end_circle(k, &c);
}

/* ---- Findings ---- */

static void report_spin(const struct analyse_spins *k, const struct analyse_spin *found)
{
    const struct analyse_series *x = &found->worst;
    const uint64_t runs = analyse_spin_runs(x);
    const bool alone = x->partner == WEFT_ROOT, sleeps = x->idle_ns / (int64_t)runs > ANALYSE_NAP;
    struct weft_finding *f = analyse_finding_add(k->s, WEFT_FINDING_SPIN, &x->verdict, x->promise,
                                                 x->from_ns, x->last_ns, found->cost_ns);
    if (!sleeps)
        analyse_span_add(k->l, x->stream, x->from_ns, x->last_ns, 0,
                         f ? k->s->out->count - 1 : WEFT_NONE);
    if (!f)
        return;
    f->count = found->count;
    analyse_say(
        k->s, SAY_SPIN, PROMISE(promise, x->promise),
        PROMISE(partner, alone ? WEFT_NONE : x->partner),
        NUMBER(more, alone || x->partners == 0 ? 0 : x->partners - 1), AMOUNT(runs, runs),
        LENGTH(length, x->last_ns - x->from_ns), TIME(from, x->from_ns),
        PHRASE(how, sleeps                                                ? SAY_SPIN_NAPS
                    : !alone                                              ? SAY_SPIN_EACH_OTHER
                    : analyse_spin_wakes(x, ANALYSE_BY_ITSELF) > runs / 2 ? SAY_SPIN_ITSELF
                                                                          : SAY_SPIN_NO_PAUSE),
        FLAG(ended, x->ending == ANALYSE_SPIN_ENDED), FLAG(vain, x->ending != ANALYSE_SPIN_ENDED),
        FLAG(still, x->ending == ANALYSE_SPIN_ENDLESS),
        FLAG(until, x->ending == ANALYSE_SPIN_ENDED_BY_OTHER));
    if (found->count > 1)
        analyse_say(k->s, SAY_SPINS, AMOUNT(others, found->count - 1), LENGTH(sum, found->cost_ns));
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
            find_rerun(&k, i);
            find_exchanged(&k, i);
        }
    if (!s->failed)
        find_repeated(&k);
    for (uint32_t i = 0; i < k.founds && i < ANALYSE_LOOP_FAMILIES && !s->failed; i++)
        report_spin(&k, &k.found[i]);
}
