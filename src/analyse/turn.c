/* SPDX-License-Identifier: ISC */
/* What was ready and did not run, though no single run was long: the loop slept, others came first,
 * or there was too much to do in one turn (between two idle times). */
#include <string.h>

#include "analyse/turn.h"

enum {
    NEAR = 64,        /* waits of the same reader, before and after, that are examined */
    SCANNED = 200000, /* runs within one wait */
    MANY = 10,        /* runs; fewer are named one by one */
    LOOKED_AT = 16,   /* waits for something that are examined */
    AT_ONCE_NS = 10000,
};

/* ---- Who ran most ---- */

static void begin_count(struct analyse_turns *k)
{
    k->now++;
}

static int64_t count_run(struct analyse_turns *k, uint32_t promise, int64_t length)
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

static void look_at_turn(struct analyse_turns *k, uint32_t stream, int64_t from, int64_t to,
                         uint32_t *at)
{
    const struct weft_history *h = k->h;
    uint32_t end = h->stream_first[stream + 1];
    const uint32_t *of = k->s->families->of;
    uint32_t begin = *at;
    int64_t turn_ns = k->s->o->turn_ns, busy = 0;
    struct analyse_turn x = {.from_ns = from, .to_ns = to, .stream = stream, .wait = WEFT_NONE};
    bool is_long = to - from - weft_history_halted(h, stream, from, to) >= turn_ns &&
                   analyse_spans_within(k->l, stream, from, to) < (to - from) / 2;
    begin_count(k);
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
    analyse_append(k->s, &k->turn, &k->turns, &k->room, &x, sizeof x);
}

/* Between the idle times of a stream; what comes before the first one is its start. */
static void find_turns_of_stream(struct analyse_turns *k, uint32_t stream)
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

struct analyse_turn *analyse_turn_at(const struct analyse_turns *k, uint32_t stream,
                                     int64_t time_ns)
{
    uint32_t first = k->first[stream], low = first, high = k->first[stream + 1];
    WEFT_SEEK(low, high, k->turn[middle].from_ns <= time_ns);
    return low > first && k->turn[low - 1].to_ns >= time_ns ? &k->turn[low - 1] : NULL;
}

/* ---- Waits that were ready ---- */

/* Returns true if the reader also waited for something that came later: then it had to keep
 * waiting. */
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
        bool ended = analyse_is_served(v);
        if (h->waits_of[i] == wait || !ended || v->from_ns > w->until_ns || v->until_ns < ready)
            continue;
        int64_t there = analyse_surely_there_ns(h, v);
        if (there != INT64_MAX && there > ready && there <= w->until_ns)
            return true;
    }
    return false;
}

/* Since when the wait could have ended, although it ended only later; INT64_MAX: it ended at once,
 * or had to wait. *late_ns: how late that is, at least. */
static int64_t ready_since(const struct analyse_turns *k, uint32_t wait, uint32_t *stream,
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
    if (!h->is_loop[*stream])
        return INT64_MAX;
    uint32_t before = weft_history_run_before(h, w->reader, woke - 1);
    if (before != WEFT_NONE && k->m->run[before].end_ns > ready) {
        if (k->m->run[before].start_ns > ready)
            return INT64_MAX;        /* it ran meanwhile */
        if (k->h->informed[*stream]) /* otherwise the run seems to last until something else runs */
            ready = k->m->run[before].end_ns;
    }
    int64_t delay = w->until_ns - ready - weft_history_halted(h, *stream, ready, w->until_ns);
    int64_t blocked = analyse_spans_within(k->l, *stream, ready, w->until_ns);
    *late_ns = w->until_ns - ready;
    if (blocked > delay / 2) { /* if the machine may be the cause, the rest may still be enough */
        int64_t doubtful = analyse_spans_doubtful(k->l, *stream, ready, w->until_ns);
        if (blocked - doubtful > delay / 2)
            return INT64_MAX;
        *late_ns = delay -= doubtful;
    }
    if (delay < least || waits_for_more(h, wait, ready))
        return INT64_MAX;
    return ready;
}

static void find_delay_of_wait(struct analyse_turns *k, uint32_t wait)
{
    uint32_t stream;
    struct analyse_slow *x = &k->slow[k->s->families->of[k->h->wait[wait].reader]];
    enum weft_wait_end how = k->h->wait[wait].end;
    x->ended += how == WEFT_WAIT_READ || how == WEFT_WAIT_RAN;
    int64_t delay, ready = ready_since(k, wait, &stream, &delay);
    if (ready == INT64_MAX)
        return;
    struct analyse_turn *turn = analyse_turn_at(k, stream, ready);
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

/* In this period the loop itself resolved nothing, and q came then: finds what has waited for it
 * all the time. */
static void look_at_late(struct analyse_turns *k, uint32_t loop, int64_t from, int64_t to,
                         uint32_t q)
{
    const struct weft_history *h = k->h;
    struct analyse_turn *turn = analyse_turn_at(k, loop, to);
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
static void look_at_news(struct analyse_turns *k)
{
    const struct weft_history *h = k->h;
    uint32_t loop = WEFT_NONE, loops = 0;
    /* from, to: the last long time without a check */
    int64_t last = INT64_MAX, from = 0, to = INT64_MIN;
    for (uint32_t i = 0; i < h->streams; i++)
        if (h->is_loop[i] && loops++ == 0)
            loop = i;
    for (uint32_t i = 0; i < k->m->interactions && loops == 1 && k->turns; i++) {
        const struct weft_interaction *e = &k->m->interaction[i];
        if (e->kind != WEFT_RESOLVES || e->actor != WEFT_ROOT)
            continue;
        if (last >= to && e->time_ns > last && e->time_ns - last >= k->s->o->turn_ns &&
            weft_history_idle(h, loop, last, e->time_ns, ANALYSE_NAP, NULL) == 0) {
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
static int64_t cause_ready_ns(const struct analyse_turns *k, uint32_t run)
{
    uint32_t cause = k->h->run_cause[run];
    if (cause == WEFT_NONE)
        return INT64_MIN;
    const struct weft_interaction *c = &k->m->interaction[cause];
    if (c->kind == WEFT_SIGNALS)
        return INT64_MIN;
    int64_t there = weft_history_resolved_ns(k->h, (uint32_t)c->other);
    return there == INT64_MAX ? INT64_MIN : there;
}

struct analyse_delay analyse_delay_explain(struct analyse_turns *k, uint32_t wait)
{
    const struct weft_history *h = k->h;
    const struct weft_wait *w = &h->wait[wait];
    struct analyse_delay d = {
        .wait = wait, .to_ns = w->until_ns, .why = ANALYSE_QUEUED, .most = WEFT_ROOT};
    int64_t overtook = 0, late;
    d.from_ns = ready_since(k, wait, &d.stream, &late);
    uint32_t by = h->resolution[w->source], run = WEFT_NONE;
    if (by != WEFT_NONE)
        run = weft_history_run_at(h, (uint32_t)k->m->interaction[by].actor,
                                  k->m->interaction[by].time_ns);
    d.other_stream = run != WEFT_NONE && weft_history_stream(h, run) != d.stream;
    d.idle_ns = k->h->informed[d.stream]
                    ? weft_history_idle(h, d.stream, d.from_ns, d.to_ns, ANALYSE_NAP, NULL)
                    : 0;
    int64_t resolved = weft_history_resolved_ns(h, w->source);
    d.was_there = resolved < w->from_ns;
    begin_count(k);
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
        d.why = ANALYSE_SLEPT;
    else if (overtook > (d.to_ns - d.from_ns) / 2 && d.first >= 3)
        d.why = ANALYSE_OVERTAKEN;
    return d;
}

static void make_turn_room(struct analyse_turns *k)
{
    uint32_t families = k->s->families->count;
    k->first = analyse_take(k->s, (size_t)k->h->streams + 1, sizeof *k->first);
    k->slow = analyse_take(k->s, families, sizeof *k->slow);
    k->family_ns = analyse_take(k->s, families, sizeof *k->family_ns);
    k->family_at = analyse_take(k->s, families, sizeof *k->family_at);
    k->promise_at = analyse_take(k->s, k->m->promises, sizeof *k->promise_at);
    for (uint32_t i = 0; k->slow && i < families; i++)
        k->slow[i].worst = WEFT_NONE;
}

void analyse_find_turns(struct analyse_loops *l)
{
    struct analyse_search *s = l->s;
    struct analyse_turns k = {.l = l, .s = s, .h = s->h, .m = s->m};
    make_turn_room(&k);
    for (uint32_t i = 0; i < k.h->streams && !s->failed; i++) {
        k.first[i] = k.turns;
        if (k.h->is_loop[i] && l->s->h->informed[i])
            find_turns_of_stream(&k, i);
        k.first[i + 1] = k.turns;
    }
    for (uint32_t i = 0; i < k.h->waits && !s->failed; i++)
        find_delay_of_wait(&k, i);
    if (!s->failed)
        look_at_news(&k);
    if (!s->failed)
        analyse_turns_tell(&k);
}
