/* SPDX-License-Identifier: ISC */
/* Where a bad run leaves the good one's order of causes.
 *
 * What went wrong are the promises that end differently, or are missing. What they depended on in the good run is
 * relevant: what they and their creators waited for, who resolved or notified that, and so on. These can be the
 * divergence:
 *
 *   order      something was notified or resolved before the wait for it began, and the wait lasts still; in the
 *              good run it began before. It is followed back to why the wait began so late: as long as what
 *              woke the waiter came earlier than the signal in the good run, and later in the bad one
 *   unsignalled  somebody waits for a signal that came in the good run, and there are fewer of them
 *   ending     a promise ended differently
 *   extra wait somebody begins to wait for something, and still waits; in the good run he never did
 *   unread     a failure that somebody waited for in the good run
 *   unresolved a promise is pending
 *   missing, added  a promise
 *
 * Each has a time in the bad run: when it happened, or should have, as long after the promise's creation as in
 * the good run. The earliest one is told. */
#include <stdlib.h>

#include "analyse/parting.h"
#include "model/alloc.h"

struct search {
    struct weft__differ *d;
    const struct weft_history *g, *b;
    uint64_t budget; /* steps that may go into finding which of many waits is meant */
    struct weft__parting best;
    bool any;
};

static void offer(struct search *s, struct weft__parting c)
{
    bool better = !s->any || c.when_ns < s->best.when_ns ||
                  (c.when_ns == s->best.when_ns && c.what < s->best.what);
    if (better)
        s->best = c;
    s->any = true;
}

/* ---- What is relevant ---- */

struct walk {
    struct weft__differ *d;
    uint32_t *queue, queued;
};

static void touch(struct walk *w, uint32_t promise)
{
    if (promise == WEFT_ROOT || w->d->mark[promise] & WEFT__RELEVANT)
        return;
    w->d->mark[promise] |= WEFT__RELEVANT;
    w->queue[w->queued++] = promise;
}

static void touch_causes(struct walk *w, uint32_t promise, int64_t until_ns)
{
    const struct weft_history *h = w->d->good;
    const struct weft_model *m = h->m;
    touch(w, m->promise[promise].creator);
    touch(w, weft_model_final(m, promise));
    if (h->resolution[promise] != WEFT_NONE)
        touch(w, m->interaction[h->resolution[promise]].actor);
    for (uint32_t i = h->waits_of_first[promise]; i < h->waits_of_first[promise + 1]; i++)
        if (h->wait[h->waits_of[i]].from_ns <= until_ns)
            touch(w, h->wait[h->waits_of[i]].source);
    for (uint32_t i = h->notified_first[promise]; i < h->notified_first[promise + 1]; i++)
        if (m->interaction[h->notified[i]].time_ns <= until_ns)
            touch(w, m->interaction[h->notified[i]].actor);
}

static bool find_relevant(struct weft__differ *d)
{
    const struct weft_model *m = d->good->m;
    struct walk w = {.d = d, .queue = weft__resize(NULL, m->promises, sizeof *w.queue)};
    int64_t until = INT64_MIN;
    if (!w.queue)
        return false;
    for (uint32_t p = 1; p < m->promises; p++)
        if (d->mark[p] & WEFT__CHANGED)
            touch(&w, p);
    for (uint32_t i = 0; i < d->out->changes; i++) {
        uint32_t good = d->out->change[i].good, bad = d->out->change[i].bad;
        touch(&w, good != WEFT_NONE ? good : d->good_of_bad[d->bad->m->promise[bad].creator]);
    }
    for (uint32_t i = 0; i < w.queued; i++) {
        int64_t end = m->promise[weft_model_final(m, w.queue[i])].end_ns;
        until = end > until ? end : until;
    }
    for (uint32_t i = 0; i < w.queued; i++)
        touch_causes(&w, w.queue[i], until);
    free(w.queue);
    return true;
}

/* ---- Waits that never end ---- */

static bool same_source(const struct weft_model *m, uint32_t a, uint32_t b)
{
    return weft_model_final(m, a) == weft_model_final(m, b);
}

/* How many earlier waits of the same reader for the same source there are, or WEFT_NONE: too much to count. */
static uint32_t rank_of(struct search *s, const struct weft_history *h, uint32_t wait)
{
    const struct weft_wait *w = &h->wait[wait];
    uint32_t rank = 0;
    for (uint32_t i = h->waits_of_first[w->reader]; i < h->waits_of_first[w->reader + 1]; i++) {
        if (h->waits_of[i] == wait)
            return rank;
        if (s->budget-- == 0) {
            s->budget = 0;
            return WEFT_NONE;
        }
        rank += same_source(h->m, h->wait[h->waits_of[i]].source, w->source);
    }
    return WEFT_NONE;
}

static const struct weft_wait *ranked(struct search *s, const struct weft_history *h,
                                      uint32_t reader, uint32_t source, uint32_t rank)
{
    for (uint32_t i = h->waits_of_first[reader]; i < h->waits_of_first[reader + 1]; i++) {
        const struct weft_wait *w = &h->wait[h->waits_of[i]];
        if (s->budget-- == 0) {
            s->budget = 0;
            return NULL;
        }
        if (same_source(h->m, w->source, source) && rank-- == 0)
            return w;
    }
    return NULL;
}

/* How many notifications of a promise come no later than that. Logarithmic. */
static uint32_t notified_by(const struct weft_history *h, uint32_t promise, int64_t time_ns)
{
    return weft_history_notified_from(h, promise, time_ns + 1) - h->notified_first[promise];
}

static int64_t notified_ns(const struct weft_history *h, uint32_t promise, uint32_t n)
{
    return h->m->interaction[h->notified[h->notified_first[promise] + n]].time_ns;
}

static uint32_t notifications(const struct weft_history *h, uint32_t promise)
{
    return h->notified_first[promise + 1] - h->notified_first[promise];
}

/* From a wait back to what made it begin, as long as that is out of order, too. */
static void follow_back(const struct search *s, struct weft__parting *c, uint32_t actor)
{
    enum { STEPS = 64 };
    int64_t at = c->early.good_ns;
    for (unsigned i = 0; i < STEPS && actor != WEFT_NONE; i++) {
        uint32_t by = weft__woken_by(s->g, actor, at, &at);
        if (by == WEFT_NONE || by == WEFT_ROOT)
            return;
        uint32_t bad = s->d->bad_of_good[by];
        int64_t good_ns = weft_history_resolved_ns(s->g, by);
        int64_t bad_ns = bad == WEFT_NONE ? INT64_MAX : weft_history_resolved_ns(s->b, bad);
        if (good_ns > at || bad_ns == INT64_MAX || good_ns >= c->late.good_ns ||
            bad_ns <= c->late.bad_ns || s->g->resolution[by] == WEFT_NONE)
            return;
        c->early = (struct weft__moment){by, bad, good_ns, bad_ns, WEFT__RESOLVED, WEFT__RESOLVED};
        at = good_ns;
        actor = s->g->m->interaction[s->g->resolution[by]].actor;
        if (actor == by) /* a task that ended by itself: why did it run? */
            continue;
    }
}

/* Whether the same wait began after the signal in some other good run as well: then it does no harm. */
static bool harmless(struct search *s, const struct weft__parting *c, uint32_t rank,
                     uint32_t signal)
{
    for (uint32_t r = 1; r < s->d->goods; r++) {
        const struct weft_history *h = s->d->sides.side[r].h;
        uint32_t reader = s->d->other[r][c->reader_good], source = s->d->other[r][c->late.good];
        if (reader == WEFT_NONE || source == WEFT_NONE)
            continue;
        const struct weft_wait *w = ranked(s, h, reader, source, rank);
        int64_t there = c->late.is == WEFT__RESOLVED        ? weft_history_resolved_ns(h, source)
                        : signal < notifications(h, source) ? notified_ns(h, source, signal)
                                                            : INT64_MAX;
        if (w && there < w->from_ns)
            return true;
    }
    return false;
}

/* A wait that is open in the bad run, and its counterpart in the good one that has ended. */
static void compare_wait(struct search *s, const struct weft_wait *good,
                         const struct weft_wait *bad, uint32_t rank)
{
    const struct weft_history *g = s->g, *b = s->b;
    uint32_t source = weft_model_final(g->m, good->source);
    uint32_t bad_source = weft_model_final(b->m, bad->source), n = 0;
    struct weft__parting c = {.reader_good = good->reader, .reader_bad = bad->reader};
    c.early = c.wait = (struct weft__moment){source,       bad_source,   good->from_ns,
                                             bad->from_ns, WEFT__WAITED, WEFT__WAITED};
    c.late = (struct weft__moment){.good = source, .bad = bad_source};
    c.late.good_ns = weft_history_resolved_ns(g, source);
    c.late.bad_ns = weft_history_resolved_ns(b, bad_source);
    if (c.late.good_ns > good->until_ns) { /* so it was a signal that ended it */
        n = notified_by(g, source, good->until_ns);
        if (n == 0 || notified_ns(g, source, n - 1) < good->from_ns)
            return;
        c.late.is = WEFT__NOTIFIED;
        c.late.good_ns = notified_ns(g, source, n - 1);
    }
    if (c.late.bad_ns == INT64_MAX) { /* what cannot be resolved, but signalled, or was not */
        uint32_t had = notified_by(b, bad_source, bad->from_ns), all = notifications(b, bad_source);
        if (all < n) {
            c.what = WEFT__UNSIGNALLED;
            c.when_ns =
                weft__start_ns(b, bad_source) + (c.late.good_ns - weft__start_ns(g, source));
            c.late.bad_ns = INT64_MIN;
            offer(s, c);
        }
        if (all < n || had == 0 || had < all)
            return;
        c.late.bad_is = WEFT__NOTIFIED;
        c.late.bad_ns = notified_ns(b, bad_source, had - 1);
    }
    if (c.late.bad_ns > bad->from_ns || c.late.good_ns < good->from_ns)
        return;
    c.what = WEFT__ORDER;
    c.when_ns = c.late.bad_ns;
    if (harmless(s, &c, rank, n - 1))
        return;
    follow_back(s, &c, good->reader);
    offer(s, c);
}

/* Whether a promise of the good run ever waits for something of that kind. */
static bool waits_for_kind(struct search *s, uint32_t reader, uint32_t kind)
{
    const struct weft_history *h = s->g;
    for (uint32_t i = h->waits_of_first[reader]; i < h->waits_of_first[reader + 1]; i++) {
        if (s->budget-- == 0) {
            s->budget = 0;
            return true;
        }
        if (s->d->sides.side[0].kind[h->wait[h->waits_of[i]].source] == kind)
            return true;
    }
    return false;
}

/* A wait that there is not in the good run: rank others for the same source are there in the bad one. */
static void offer_extra(struct search *s, const struct weft_wait *bad, uint32_t reader,
                        uint32_t source, uint32_t rank)
{
    struct weft__parting c = {
        .what = WEFT__EXTRA_WAIT, .when_ns = bad->from_ns, .reader_good = reader};
    if (rank ? !(s->d->mark[reader] & WEFT__CHANGED)
             : waits_for_kind(s, reader, s->d->sides.side[s->d->goods].kind[bad->source]))
        return;
    c.rank = rank;
    c.reader_bad = bad->reader;
    c.early = (struct weft__moment){source,       bad->source,  INT64_MIN,
                                    bad->from_ns, WEFT__WAITED, WEFT__WAITED};
    uint32_t had = notified_by(s->b, bad->source, bad->from_ns);
    if (had && had == notifications(s->b, bad->source)) {
        c.late = c.early;
        c.late.bad_is = WEFT__NOTIFIED;
        c.late.bad_ns = notified_ns(s->b, bad->source, had - 1);
    }
    offer(s, c);
}

static void find_waits(struct search *s)
{
    struct weft__differ *d = s->d;
    for (uint32_t i = 0; i < s->b->waits; i++) {
        const struct weft_wait *bad = &s->b->wait[i];
        uint32_t reader = d->good_of_bad[bad->reader], source = d->good_of_bad[bad->source];
        if (bad->end != WEFT_WAIT_OPEN || reader == WEFT_NONE || source == WEFT_NONE ||
            !(d->mark[reader] & WEFT__RELEVANT))
            continue;
        uint32_t rank = rank_of(s, s->b, i);
        const struct weft_wait *good =
            rank == WEFT_NONE ? NULL : ranked(s, s->g, reader, source, rank);
        if (good && (good->end == WEFT_WAIT_READ || good->end == WEFT_WAIT_RAN))
            compare_wait(s, good, bad, rank);
        else if (!good && rank != WEFT_NONE)
            offer_extra(s, bad, reader, source, rank);
    }
}

/* ---- Promises that end differently, or are not there ---- */

/* Whether the wait that has been found is why a promise is pending: of itself, or of who would resolve it. */
static bool explains(const struct search *s, uint32_t good, uint32_t bad)
{
    const struct weft__parting *c = &s->best;
    uint32_t by = s->g->resolution[good];
    bool is_wait =
        c->what == WEFT__ORDER || c->what == WEFT__UNSIGNALLED || c->what == WEFT__EXTRA_WAIT;
    if (!s->any || !is_wait)
        return false;
    return c->reader_bad == bad ||
           (by != WEFT_NONE && c->reader_good == s->g->m->interaction[by].actor);
}

/* Among what is pending, the first one in the good run is told: the others may be so because of it. */
static void find_endings(struct search *s)
{
    struct weft__differ *d = s->d;
    struct weft__parting first = {.what = WEFT__UNRESOLVED, .early.good_ns = INT64_MAX};
    for (uint32_t good = 1; good < s->g->m->promises; good++) {
        if (!(d->mark[good] & WEFT__CHANGED))
            continue;
        uint32_t bad = d->bad_of_good[good];
        struct weft__moment at = {
            good,           bad,           weft__end_ns(s->g, good), weft__end_ns(s->b, bad),
            WEFT__RESOLVED, WEFT__RESOLVED};
        if (weft__ending_of(s->b->m, bad) != WEFT__OPEN)
            offer(s,
                  (struct weft__parting){.what = WEFT__ENDING, .when_ns = at.bad_ns, .early = at});
        else if (at.good_ns < first.early.good_ns)
            first.early = at;
    }
    if (first.early.good_ns == INT64_MAX || explains(s, first.early.good, first.early.bad))
        return;
    first.when_ns = weft__start_ns(s->b, first.early.bad) +
                    (first.early.good_ns - weft__start_ns(s->g, first.early.good));
    first.early.bad_ns = INT64_MIN;
    offer(s, first);
}

static void find_lonely(struct search *s)
{
    struct weft__differ *d = s->d;
    for (uint32_t i = 0; i < d->out->changes; i++) {
        const struct weft_change_found *x = &d->out->change[i];
        struct weft__parting c = {0};
        if (x->follows)
            continue;
        if (x->kind == WEFT_CHANGE_MISSING) {
            uint32_t creator = s->g->m->promise[x->good].creator;
            int64_t after = weft__start_ns(s->g, x->good) - weft__start_ns(s->g, creator);
            c.what = WEFT__MISSING;
            c.when_ns = weft__start_ns(s->b, d->bad_of_good[creator]) + after;
            c.early =
                (struct weft__moment){x->good,   WEFT_NONE,      weft__start_ns(s->g, x->good),
                                      INT64_MIN, WEFT__RESOLVED, WEFT__RESOLVED};
            offer(s, c);
        } else if (x->kind == WEFT_CHANGE_UNREAD) {
            c.what = WEFT__UNREAD;
            c.early = (struct weft__moment){x->good,
                                            x->bad,
                                            weft__end_ns(s->g, x->good),
                                            weft__end_ns(s->b, x->bad),
                                            WEFT__RESOLVED,
                                            WEFT__RESOLVED};
            c.when_ns = c.early.bad_ns;
            offer(s, c);
        } else if (x->kind == WEFT_CHANGE_ADDED) {
            c.what = WEFT__ADDED;
            c.when_ns = weft__start_ns(s->b, x->bad);
            c.early = (struct weft__moment){WEFT_NONE, x->bad,         INT64_MIN,
                                            c.when_ns, WEFT__RESOLVED, WEFT__RESOLVED};
            offer(s, c);
        }
    }
}

/* ---- Where both were still alike ---- */

/* The last event of relevant promises that both runs have before they part. */
static void find_common(struct search *s, int64_t good_until, int64_t bad_until)
{
    struct weft_divergence *v = &s->d->out->divergence;
    v->good_ns = v->bad_ns = 0;
    for (uint32_t p = 1; p < s->g->m->promises; p++) {
        uint32_t bad = s->d->bad_of_good[p];
        if (!(s->d->mark[p] & WEFT__RELEVANT) || bad == WEFT_NONE)
            continue;
        const int64_t moments[2][2] = {
            {weft__start_ns(s->g, p), weft__start_ns(s->b, bad)},
            {weft_history_resolved_ns(s->g, p), weft_history_resolved_ns(s->b, bad)}};
        for (unsigned i = 0; i < 2; i++)
            if (moments[i][0] < good_until && moments[i][1] < bad_until &&
                moments[i][1] >= v->bad_ns) {
                v->good_ns = moments[i][0];
                v->bad_ns = moments[i][1];
            }
    }
}

static void keep(struct search *s)
{
    const struct weft__parting *c = &s->best;
    struct weft_divergence *v = &s->d->out->divergence;
    struct weft__text t = {0};
    bool two = c->what == WEFT__ORDER || c->what == WEFT__UNSIGNALLED ||
               (c->what == WEFT__EXTRA_WAIT && c->late.bad_is == WEFT__NOTIFIED);
    weft__tell_parting(s->d, &t, c);
    s->d->failed |= t.failed;
    v->found = true;
    v->text = weft__text_take(&t);
    v->good_first = c->early.good;
    v->bad_first = c->early.bad;
    v->good_first_ns = c->early.good_ns;
    v->bad_first_ns = c->early.bad_ns;
    if (two) {
        v->good_second = c->late.good;
        v->bad_second = c->late.bad;
        v->good_second_ns = c->late.good_ns;
        v->bad_second_ns = c->late.bad_ns;
    }
    find_common(s, c->early.good_ns == INT64_MIN ? INT64_MAX : c->early.good_ns, c->when_ns);
}

void weft__find_divergence(struct weft__differ *d)
{
    struct search s = {.d = d, .g = d->good, .b = d->bad};
    struct weft_divergence *v = &d->out->divergence;
    *v = (struct weft_divergence){.good_first = WEFT_NONE,
                                  .good_second = WEFT_NONE,
                                  .bad_first = WEFT_NONE,
                                  .bad_second = WEFT_NONE,
                                  .good_first_ns = INT64_MIN,
                                  .good_second_ns = INT64_MIN,
                                  .bad_first_ns = INT64_MIN,
                                  .bad_second_ns = INT64_MIN};
    if (d->out->changes == 0)
        return;
    s.budget = 8 * ((uint64_t)d->good->waits + d->bad->waits) + 1000;
    if (!find_relevant(d)) {
        d->failed = true;
        return;
    }
    find_waits(&s);
    find_endings(&s);
    find_lonely(&s);
    if (s.any)
        keep(&s);
}
