/* SPDX-License-Identifier: ISC */
/* What was ready and did not run, though no single run was long: the loop slept, others came first,
 * or there was too much to do in one turn (between two idle times). */
#include <stdlib.h>

#include "analyse/judge.h"
#include "analyse/loop.h"
#include "analyse/types.h"

enum {
    NEAR = 64,        /* waits of the same reader, before and after, that are examined */
    SCANNED = 200000, /* runs within one wait */
    MANY = 10,        /* runs; fewer are named one by one */
    LOOKED_AT = 16,   /* waits for something that are examined */
    AT_ONCE_NS = 10000,
    USUAL = 20,   /* waits of a family, for one that may be an exception */
    SERVED = 20,  /* times: a promise that starves others */
    MERGED = 256, /* findings with which others are compared */
    VICTIMS = 3,  /* waits in a turn; fewer are reported alone */
};

/* A turn of the loop that took long. */
struct turn {
    int64_t from_ns, to_ns;
    uint32_t stream, runs;
    /* the first promise of the family that ran for most of it, and that family; WEFT_ROOT: there is none */
    uint32_t promise, family;
    int64_t first_ns; /* when it began */
    int64_t share_ns; /* how long that family ran */
    uint32_t wait;    /* the wait that was ready for longest, or WEFT_NONE */
    int64_t ready_ns; /* how long it was ready */
    uint32_t victims; /* waits that were ready for long during it */
    uint32_t late;    /* waits for things that the loop noticed late because of it */
};

enum why { SLEPT, OVERTAKEN, QUEUED };

/* What happened while something was ready. */
struct delay {
    uint32_t wait, stream;
    int64_t from_ns, to_ns;
    enum why why;
    uint32_t runs, first; /* how many came before it; how many overtook it */
    uint32_t most;        /* a promise of the family that ran for most of that time */
    int64_t most_ns, idle_ns;
    bool other_stream; /* it was resolved on another stream */
    bool was_there;    /* it was resolved before the reader began to wait */
};

struct finder {
    struct analyse_loops *l;
    struct analyse_search *s;
    const struct weft_history *h;
    const struct weft_model *m;
    struct turn *turn; /* sorted by stream and start */
    uint32_t turns, room, *first;
    struct slow { /* by family of the reader */
        uint32_t family;
        uint32_t worst, count; /* a wait, or WEFT_NONE; how many were slow */
        uint32_t ended;        /* how many waits ended in total */
        int64_t longest_ns, sum_ns;
    } * slow;
    int64_t *family_ns; /* how long each family ran, valid where family_at is the current number */
    uint32_t *family_at, *promise_at, now;
    struct told { /* for joining what has one cause */
        enum why why;
        uint32_t family, finding;
    } told[MERGED];
    uint32_t tolds;
};

/* ---- Who ran most ---- */

static int64_t count_run(struct finder *k, uint32_t promise, int64_t length)
{
    uint32_t family = k->s->families->of[promise];
    if (k->family_at[family] != k->now) {
        k->family_at[family] = k->now;
        k->family_ns[family] = 0;
    }
    k->family_ns[family] = analyse_sum(k->family_ns[family], length);
    return k->family_ns[family];
}

/* ---- Turns ---- */

static void look_at_turn(struct finder *k, uint32_t stream, int64_t from, int64_t to, uint32_t *at)
{
    const struct weft_history *h = k->h;
    const uint32_t *of = k->s->families->of, end = h->stream_first[stream + 1];
    uint32_t begin = *at;
    int64_t turn_ns = k->s->o->turn_ns, busy = 0;
    struct turn x = {.from_ns = from, .to_ns = to, .stream = stream, .wait = WEFT_NONE};
    bool is_long = to - from - weft_history_halted(h, stream, from, to) >= turn_ns &&
                   analyse_spans_within(k->l, stream, from, to, false) < (to - from) / 2;
    k->now++;
    for (; *at < end && k->m->run[h->stream_run[*at]].start_ns < to; ++*at) {
        const struct weft_run *r = &k->m->run[h->stream_run[*at]];
        uint32_t p = h->run_promise[h->stream_run[*at]];
        if (!is_long || r->start_ns < from || p == WEFT_ROOT)
            continue;
        int64_t length = r->end_ns - r->start_ns, sum = count_run(k, p, length);
        x.runs++;
        busy = analyse_sum(busy, length);
        if (sum > x.share_ns) {
            x.share_ns = sum;
            x.promise = p;
        }
    }
    if (!is_long || x.runs < MANY || busy < turn_ns / 2)
        return;
    x.first_ns = from;
    if (x.share_ns < (to - from) / 2)
        x.promise = WEFT_ROOT;
    for (; begin < *at && x.promise != WEFT_ROOT; begin++) {
        uint32_t run = h->stream_run[begin], p = h->run_promise[run];
        if (k->m->run[run].start_ns < from || of[p] != of[x.promise])
            continue;
        x.promise = p;
        x.first_ns = k->m->run[run].start_ns;
        break;
    }
    x.family = of[x.promise];
    analyse_append(k->s, &k->turn, &k->turns, &k->room, &x, sizeof x);
}

/* Between the idle times of a stream; what comes before the first one is its start. */
static void find_turns_of_stream(struct finder *k, uint32_t stream)
{
    const struct weft_history *h = k->h;
    uint32_t i = h->idle_first[stream], end = h->idle_first[stream + 1];
    uint32_t at = h->stream_first[stream];
    int64_t from = 0;
    bool started = false;
    for (; i < end && !k->s->failed; i++) {
        if (h->idle[i].end_ns - h->idle[i].start_ns < ANALYSE_NAP)
            continue;
        if (started || h->idle[i].start_ns - from >= k->s->o->turn_ns)
            look_at_turn(k, stream, from, h->idle[i].start_ns, &at);
        from = h->idle[i].end_ns;
        started = true;
    }
    if (started)
        look_at_turn(k, stream, from, k->m->end_ns, &at);
}

static struct turn *turn_at(const struct finder *k, uint32_t stream, int64_t time_ns)
{
    uint32_t first = k->first[stream], low = first, high = k->first[stream + 1];
    WEFT_SEEK(low, high, k->turn[middle].from_ns <= time_ns);
    return low > first && k->turn[low - 1].to_ns >= time_ns ? &k->turn[low - 1] : NULL;
}

/* ---- Waits that were ready ---- */

/* Returns true if the reader also waited for what came later: it had to keep waiting. */
static bool waits_for_more(const struct weft_history *h, uint32_t wait, int64_t ready)
{
    const struct weft_wait *w = &h->wait[wait];
    uint32_t first = h->waits_of_first[w->reader], end = h->waits_of_first[w->reader + 1];
    uint32_t low = first, high = end;
    WEFT_SEEK(low, high, h->waits_of[middle] < wait); /* its own place */
    uint32_t from = low > first + NEAR ? low - NEAR : first,
             to = end - low > NEAR ? low + NEAR : end;
    for (uint32_t i = from; i < to; i++) {
        const struct weft_wait *v = &h->wait[h->waits_of[i]];
        if (h->waits_of[i] == wait || !analyse_is_served(v) || v->from_ns > w->until_ns ||
            v->until_ns < ready)
            continue;
        const int64_t there = analyse_surely_there_ns(h, v);
        if (there != INT64_MAX && there > ready && there <= w->until_ns)
            return true;
    }
    return false;
}

/* Since when the wait could have ended, although it ended only later; INT64_MAX: it ended at once,
 * or had to wait. *late_ns: how late that is, at least. */
static int64_t ready_since(const struct finder *k, uint32_t wait, uint32_t *stream,
                           int64_t *late_ns)
{
    const struct weft_history *h = k->h;
    const struct weft_wait *w = &h->wait[wait];
    int64_t least = k->s->o->slow_wake_ns;
    if (!analyse_is_served(w) || w->reader == WEFT_ROOT || w->until_ns - w->from_ns < least)
        return INT64_MAX;
    int64_t ready = analyse_surely_there_ns(h, w);
    if (ready == INT64_MAX || w->until_ns - ready < least)
        return INT64_MAX;
    /* Reading and running may be two events, in either order. */
    uint32_t run = weft_history_run_before(h, w->reader, w->until_ns + AT_ONCE_NS);
    if (run == WEFT_NONE || k->m->run[run].start_ns < w->until_ns - AT_ONCE_NS)
        return INT64_MAX; /* it ran, or was read later */
    int64_t woke = k->m->run[run].start_ns < w->until_ns ? k->m->run[run].start_ns : w->until_ns;
    *stream = weft_history_stream(h, run);
    /* A thread is woken by the system; and what waited for a condition gets its lock again first. */
    if (!h->is_loop[*stream] || (analyse_type(k->m, w->reader) & ANALYSE_THREAD))
        return INT64_MAX;
    uint32_t before = weft_history_run_before(h, w->reader, woke - 1);
    if (before != WEFT_NONE && k->m->run[before].end_ns > ready) {
        if (k->m->run[before].start_ns > ready)
            return INT64_MAX;        /* it ran meanwhile */
        if (k->h->informed[*stream]) /* otherwise the run seems to last until something else runs */
            ready = k->m->run[before].end_ns;
    }
    int64_t delay = w->until_ns - ready - weft_history_halted(h, *stream, ready, w->until_ns);
    int64_t blocked = analyse_spans_within(k->l, *stream, ready, w->until_ns, false);
    *late_ns = w->until_ns - ready;
    if (blocked > delay / 2) { /* if the machine may be the cause, the rest may still be enough */
        int64_t doubtful = analyse_spans_within(k->l, *stream, ready, w->until_ns, true);
        if (blocked - doubtful > delay / 2)
            return INT64_MAX;
        *late_ns = delay -= doubtful;
    }
    if (delay < least || waits_for_more(h, wait, ready))
        return INT64_MAX;
    return ready;
}

static void find_delay_of_wait(struct finder *k, uint32_t wait)
{
    uint32_t stream;
    struct slow *x = &k->slow[k->s->families->of[k->h->wait[wait].reader]];
    x->ended += analyse_is_served(&k->h->wait[wait]);
    int64_t delay, ready = ready_since(k, wait, &stream, &delay);
    if (ready == INT64_MAX)
        return;
    struct turn *turn = turn_at(k, stream, ready);
    if (turn)
        turn->victims++;
    x->count++;
    x->sum_ns = analyse_sum(x->sum_ns, delay);
    if (delay > x->longest_ns) {
        x->longest_ns = delay;
        x->worst = wait;
    }
}

/* ---- What the loop did not look at ---- */

/* In this period the loop resolved nothing, then q came: finds what waited for it all the time. */
static void look_at_late(struct finder *k, uint32_t loop, int64_t from, int64_t to, uint32_t q)
{
    const struct weft_history *h = k->h;
    struct turn *turn = turn_at(k, loop, to);
    uint32_t i = h->waits_for_first[q], end = h->waits_for_first[q + 1];
    for (uint32_t n = 0; turn && i < end && n < LOOKED_AT; i++, n++) {
        const struct weft_wait *w = &h->wait[h->waits_for[i]];
        if (w->reader == WEFT_ROOT || w->from_ns > from || w->until_ns < to)
            continue;
        if (turn->late++ == 0)
            turn->wait = h->waits_for[i];
    }
}

/* During a turn, the loop should check from time to time whether there is anything new. Only with a
 * single loop: otherwise it is not known on which one something new came. */
static void look_at_news(struct finder *k)
{
    const uint32_t loop = analyse_only_loop(k->h);
    /* from, to: the last long time without a check */
    int64_t last = INT64_MAX, from = 0, to = INT64_MIN;
    for (uint32_t i = 0; i < k->m->interactions && loop != WEFT_NONE && k->turns; i++) {
        const struct weft_interaction *e = &k->m->interaction[i];
        if (e->kind != WEFT_RESOLVES || e->actor != WEFT_ROOT)
            continue;
        if (last >= to && e->time_ns > last && e->time_ns - last >= k->s->o->turn_ns &&
            weft_history_idle(k->h, loop, last, e->time_ns, ANALYSE_NAP, NULL) == 0) {
            from = last;
            to = e->time_ns;
        }
        if (to != INT64_MIN && e->time_ns >= to && e->time_ns - to <= ANALYSE_MS)
            look_at_late(k, loop, from, to, e->other);
        last = e->time_ns;
    }
}

/* ---- Why ---- */

/* When the cause of a run was there; INT64_MIN: that is not known. */
static int64_t cause_ready_ns(const struct finder *k, uint32_t run)
{
    const uint32_t read = analyse_run_read(k->h, run);
    const int64_t there = read == WEFT_NONE ? INT64_MAX : weft_history_resolved_ns(k->h, read);
    return there == INT64_MAX ? INT64_MIN : there;
}

static struct delay explain_delay(struct finder *k, uint32_t wait)
{
    const struct weft_history *h = k->h;
    const struct weft_wait *w = &h->wait[wait];
    struct delay d = {.wait = wait, .to_ns = w->until_ns, .why = QUEUED, .most = WEFT_ROOT};
    int64_t overtook = 0, late;
    d.from_ns = ready_since(k, wait, &d.stream, &late);
    const uint32_t by = analyse_resolving_run(h, w->source);
    d.other_stream = by != WEFT_NONE && weft_history_stream(h, by) != d.stream;
    d.idle_ns = h->informed[d.stream]
                    ? weft_history_idle(h, d.stream, d.from_ns, d.to_ns, ANALYSE_NAP, NULL)
                    : 0;
    d.was_there = weft_history_resolved_ns(h, w->source) < w->from_ns;
    k->now++;
    uint32_t i = weft_history_stream_from(h, d.stream, d.from_ns),
             end = h->stream_first[d.stream + 1];
    for (uint32_t n = 0; i < end && n < SCANNED; i++, n++) {
        uint32_t r = h->stream_run[i], p = h->run_promise[r];
        int64_t start = k->m->run[r].start_ns, length = k->m->run[r].end_ns - start;
        if (start >= d.to_ns)
            break;
        if (p == WEFT_ROOT || p == w->reader)
            continue;
        d.runs++;
        int64_t there = cause_ready_ns(k, r);
        bool again = k->promise_at[p] == k->now; /* so it was queued after the reader */
        bool made_later = k->m->promise[p].start_ns > d.from_ns;
        k->promise_at[p] = k->now;
        if (there > d.from_ns || (there == INT64_MIN && (again || made_later))) {
            overtook = analyse_sum(overtook, length);
            d.first++;
        }
        if (count_run(k, p, length) > d.most_ns) {
            d.most_ns = k->family_ns[k->s->families->of[p]];
            d.most = p;
        }
    }
    bool quiet = !k->h->informed[d.stream] && d.other_stream &&
                 (int64_t)d.runs * ANALYSE_MS < (d.to_ns - d.from_ns) / 2;
    if (d.idle_ns > (d.to_ns - d.from_ns) / 2 || quiet)
        d.why = SLEPT;
    else if (overtook > (d.to_ns - d.from_ns) / 2 && d.first >= 3)
        d.why = OVERTAKEN;
    return d;
}

/* ---- Findings ---- */

static void say_delay(const struct finder *k, const struct delay *d, const struct slow *x)
{
    const struct weft_wait *w = &k->h->wait[d->wait];
    const bool mostly = d->most_ns > (d->to_ns - d->from_ns) / 2;
    const uint32_t sort = d->most == WEFT_ROOT ? WEFT_NONE : k->s->families->of[d->most];
    analyse_say(k->s, d->why == SLEPT ? SAY_LATE_SLEPT : SAY_LATE_QUEUED,
                PHRASE(late, d->was_there ? SAY_LATE_FOR_WHAT_WAS_THERE
                             : analyse_is_pending(k->m, weft_model_final(k->m, w->source))
                                 ? SAY_LATE_FOR_SIGNAL
                                 : SAY_LATE_FOR_RESULT),
                PROMISE(waiter, w->reader), PROMISE(source, w->source),
                LENGTH(delay, d->to_ns - d->from_ns), TIME(ready, d->from_ns),
                FLAG(other, d->other_stream), LENGTH(idle, d->idle_ns),
                FLAG(nothing_ran, d->idle_ns == 0), FLAG(overtaken, d->why == OVERTAKEN),
                FLAG(queued, d->why == QUEUED),
                AMOUNT(runs, d->why == OVERTAKEN ? d->first : d->runs),
                SORT(mostly, mostly ? sort : WEFT_NONE), SORT(partly, mostly ? WEFT_NONE : sort));
    if (x->count > 1)
        analyse_say(k->s, SAY_LATE_OFTEN, AMOUNT(count, x->count), LENGTH(sum, x->sum_ns));
}

static void prove_delay(const struct finder *k, const struct delay *d)
{
    const struct weft_history *h = k->h;
    const struct weft_wait *w = &h->wait[d->wait];
    if (!d->was_there)
        analyse_show_waits(k->s, w);
    analyse_show_resolved(k->s, w);
    if (d->was_there)
        analyse_show_waits(k->s, w);
    if (d->why == SLEPT) {
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

/* A sleep may have been that long because the machine was busy; so may a short delay. */
static uint64_t signs_of_delay(const struct finder *k, const struct delay *d, const struct slow *x)
{
    int64_t least = k->s->o->slow_wake_ns, limit = (x->ended >= USUAL ? 5 : 3) * least;
    bool rare = x->count == 1 || x->count <= x->ended / USUAL;
    if (d->other_stream &&
        x->ended > 1) { /* was it signalled, and woke up late? A poller is often late */
        rare = x->count <= x->ended / 2;
        limit = 5 * least;
    }
    return analyse_signs(k->s, WEFT_ROOT) |
           (d->why == QUEUED && x->longest_ns < 2 * least ? ANALYSE_W_NEAR : 0) |
           (d->why == SLEPT && d->was_there ? ANALYSE_W_THERE : 0) |
           (d->why == SLEPT && rare && x->longest_ns < limit ? ANALYSE_W_RARE : 0);
}

/* How often the one that ran most was served meanwhile: its source was there, and it continued. */
static uint32_t times_served(const struct finder *k, const struct delay *d)
{
    uint32_t n = 0;
    if (d->why != OVERTAKEN || d->most == WEFT_ROOT)
        return 0;
    for (uint32_t i = weft_history_wait_from(k->h, d->most, d->from_ns);
         i < k->h->waits_of_first[d->most + 1]; i++) {
        const struct weft_wait *w = &k->h->wait[k->h->waits_of[i]];
        n += analyse_is_served(w) && w->until_ns <= d->to_ns;
    }
    return n;
}

static void report_delay(struct finder *k, const struct delay *d, const struct slow *x)
{
    const struct weft_wait *w = &k->h->wait[d->wait];
    const uint32_t cause = d->why != SLEPT ? d->most : analyse_ended_by(k->h, w->source);
    const uint32_t family = k->s->families->of[cause];
    for (uint32_t i = 0; i < k->tolds; i++)
        if (k->told[i].why == d->why && k->told[i].family == family) { /* it has the same cause */
            k->s->finding = &k->s->out->finding[k->told[i].finding];
            analyse_affects(k->s, w->reader);
            return;
        }
    const uint32_t times = times_served(k, d);
    const bool starved = times >= SERVED;
    enum weft_finding_kind kind = starved ? WEFT_FINDING_STARVATION : WEFT_FINDING_SLOW_WAKE;
    if (!analyse_report(k->s, kind, signs_of_delay(k, d, x), starved ? d->most : w->reader,
                        d->from_ns, d->to_ns, x->sum_ns))
        return;
    if (k->tolds < MERGED)
        k->told[k->tolds++] = (struct told){d->why, family, k->s->out->count - 1};
    k->s->finding->count = x->count;
    say_delay(k, d, x);
    if (starved)
        analyse_say(k->s, SAY_SERVED_MEANWHILE, PROMISE(promise, d->most), AMOUNT(times, times));
    prove_delay(k, d);
    analyse_affects(k->s, w->reader);
}

/* Turns of the same family, the worst first. */
static int by_family_and_delay(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;
    WEFT_ORDER(x->family, y->family);
    WEFT_ORDER(y->ready_ns, x->ready_ns);
    WEFT_ORDER(y->to_ns - y->from_ns, x->to_ns - x->from_ns);
    WEFT_ORDER(x->stream, y->stream);
    return weft_order(x->from_ns, y->from_ns);
}

static void report_turns(struct finder *k, const struct turn *x, uint32_t count)
{
    const struct weft_wait *w = x->wait == WEFT_NONE ? NULL : &k->h->wait[x->wait];
    const bool known = x->promise != WEFT_ROOT,
               hurt = x->ready_ns >= 2 * k->s->o->slow_wake_ns || x->late >= VICTIMS;
    int64_t cost = 0;
    const uint64_t signs = analyse_signs(k->s, WEFT_ROOT) | (w ? 0 : ANALYSE_B_NOBODY) |
                           (hurt && known ? 0 : ANALYSE_B_MUCH);
    for (uint32_t i = 0; i < count; i++)
        cost = analyse_sum(cost, x[i].to_ns - x[i].from_ns);
    if (!analyse_report(k->s, WEFT_FINDING_LOOP_BLOCKED, signs, x->promise, x->from_ns, x->to_ns,
                        cost))
        return;
    k->s->finding->count = count;
    analyse_say(k->s, SAY_TURN, LENGTH(length, x->to_ns - x->from_ns), TIME(from, x->from_ns),
                AMOUNT(runs, x->runs), SORT(sort, known ? x->family : WEFT_NONE),
                LENGTH(share, x->share_ns));
    analyse_show(k->s, x->first_ns, WEFT_EVIDENCE_RUNS, x->promise, WEFT_NONE);
    if (w) {
        analyse_say(k->s,
                    x->late == 0   ? SAY_TURN_READY
                    : x->late == 1 ? SAY_TURN_KEPT_ONE
                                   : SAY_TURN_KEPT,
                    AMOUNT(count, x->late), PROMISE(waiter, w->reader), LENGTH(ready, x->ready_ns));
        analyse_show_woken(k->s, w);
        analyse_affects(k->s, w->reader);
    }
    if (count > 1)
        analyse_say(k->s, SAY_TURNS, AMOUNT(count, count), LENGTH(sum, cost));
    analyse_show(k->s, x->to_ns, WEFT_EVIDENCE_IDLE, WEFT_ROOT, WEFT_NONE);
    for (uint32_t i = 0; i < count; i++)
        analyse_span_add(k->l, x[i].stream, x[i].from_ns, x[i].to_ns, 0, k->s->out->count - 1);
}

/* Delays by length, so that the worst is reported. */
static int by_longest_delay(const void *a, const void *b)
{
    const struct slow *x = a, *y = b;
    WEFT_ORDER(y->longest_ns, x->longest_ns);
    return weft_order(x->family, y->family);
}

static void report_delays(struct finder *k)
{
    const uint32_t *of = k->s->families->of;
    qsort(k->slow, k->s->families->count, sizeof *k->slow, by_longest_delay);
    for (uint32_t i = 0; i < k->s->families->count && i < ANALYSE_LOOP_FAMILIES && !k->s->failed;
         i++) {
        const struct slow *x = &k->slow[i];
        if (x->worst == WEFT_NONE)
            break;
        struct delay d = explain_delay(k, x->worst);
        struct turn *turn = turn_at(k, d.stream, d.from_ns);
        const bool is_turn = turn && turn->victims >= VICTIMS;
        /* behind promises of its own sort there is simply much to do */
        const bool behind_others = d.runs >= 3 && d.most != WEFT_ROOT &&
                                   d.most_ns > (d.to_ns - d.from_ns) / 2 &&
                                   of[d.most] != of[k->h->wait[d.wait].reader];
        if (d.why != QUEUED || (!is_turn && behind_others)) {
            report_delay(k, &d, x);
            if (d.why != SLEPT && turn)
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

/* ---- The search ---- */

void analyse_find_turns(struct analyse_loops *l)
{
    struct analyse_search *s = l->s;
    struct finder k = {.l = l, .s = s, .h = s->h, .m = s->m};
    const uint32_t families = s->families->count;
    k.first = analyse_take(s, (size_t)k.h->streams + 1, sizeof *k.first);
    k.slow = analyse_take(s, families, sizeof *k.slow);
    k.family_ns = analyse_take(s, families, sizeof *k.family_ns);
    k.family_at = analyse_take(s, families, sizeof *k.family_at);
    k.promise_at = analyse_take(s, k.m->promises, sizeof *k.promise_at);
    if (s->failed)
        return;
    for (uint32_t i = 0; i < families; i++)
        k.slow[i] = (struct slow){.family = i, .worst = WEFT_NONE};
    for (uint32_t i = 0; i < k.h->streams; i++) {
        k.first[i] = k.turns;
        if (k.h->is_loop[i] && k.h->informed[i])
            find_turns_of_stream(&k, i);
        k.first[i + 1] = k.turns;
    }
    for (uint32_t i = 0; i < k.h->waits; i++)
        find_delay_of_wait(&k, i);
    look_at_news(&k);
    report_delays(&k);
    weft_sort(k.turn, k.turns, sizeof *k.turn, by_family_and_delay);
    for (uint32_t i = 0, n, told = 0; i < k.turns && told < ANALYSE_LOOP_FAMILIES && !s->failed;
         i += n, told++) {
        for (n = 1; i + n < k.turns && k.turn[i + n].family == k.turn[i].family;)
            n++;
        report_turns(&k, &k.turn[i], n);
    }
}
