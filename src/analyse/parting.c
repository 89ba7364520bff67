/* SPDX-License-Identifier: ISC */
#include "analyse/parting.h"

/* For weft__put. */
#define NAME(m, promise) (weft__as_name(m, promise).text)
#define TIME(time_ns) (weft_moment(time_ns).text)
#define LENGTH(ns) (weft_duration(ns).text)

uint32_t weft__woken_by(const struct weft_history *h, uint32_t promise, int64_t time_ns,
                        int64_t *at_ns)
{
    uint32_t run = weft_history_run_at(h, promise, time_ns);
    if (run == WEFT_NONE || h->run_cause[run] == WEFT_NONE)
        return WEFT_NONE;
    const struct weft_interaction *x = &h->m->interaction[h->run_cause[run]];
    *at_ns = h->m->run[run].start_ns;
    return x->kind == WEFT_READS ? x->other : x->actor;
}

static const char *happened(const struct weft_model *m, enum weft__happening is, uint32_t promise)
{
    return is == WEFT__NOTIFIED   ? "was signalled"
           : is == WEFT__RESOLVED ? weft__outcome_verb(m, promise)
                                  : "";
}

static void tell_order(const struct weft__differ *d, struct weft__text *t,
                       const struct weft__parting *c)
{
    const struct weft_model *g = d->good->m, *b = d->bad->m;
    const struct weft__moment *early = &c->early, *late = &c->late;
    bool waited = early->is == WEFT__WAITED;
    if (waited)
        weft__put(t, "In the good run %s began to wait for %s", NAME(g, c->reader_good),
                  NAME(g, early->good));
    else
        weft__put(t, "In the good run %s %s", NAME(g, early->good),
                  happened(g, early->is, early->good));
    weft__put(t, " (at %s) before %s %s (at %s); in the bad run after: %s %s at %s, ",
              TIME(early->good_ns), waited ? "it" : NAME(g, late->good),
              happened(g, late->is, late->good), TIME(late->good_ns), NAME(b, late->bad),
              happened(b, late->bad_is, late->bad), TIME(late->bad_ns));
    if (waited)
        weft__put(t, "and %s began to wait for it only afterwards, at %s, and still waits.",
                  NAME(b, c->reader_bad), TIME(early->bad_ns));
    else
        weft__put(t,
                  "%s %s at %s. So %s began to wait for %s only at %s, too late, and still waits.",
                  NAME(b, early->bad), happened(b, early->bad_is, early->bad), TIME(early->bad_ns),
                  NAME(b, c->reader_bad), NAME(b, c->wait.bad), TIME(c->wait.bad_ns));
}

/* What one waits for when the trace ends, if anything. */
static uint32_t waits_for(const struct weft_history *h, uint32_t promise)
{
    uint32_t first = h->waits_of_first[promise], end = h->waits_of_first[promise + 1];
    if (first == end || h->wait[h->waits_of[end - 1]].end != WEFT_WAIT_OPEN)
        return WEFT_NONE;
    return h->wait[h->waits_of[end - 1]].source;
}

uint32_t weft__resolver_of(const struct weft_history *h, uint32_t promise)
{
    uint32_t by = h->resolution[promise];
    by = by == WEFT_NONE ? WEFT_ROOT : h->m->interaction[by].actor;
    return by == weft_model_final(h->m, promise) || by == promise ? WEFT_ROOT : by;
}

static void put_still_waiting(const struct weft__differ *d, struct weft__text *t, uint32_t bad)
{
    uint32_t source = bad == WEFT_NONE || bad == WEFT_ROOT ? WEFT_NONE : waits_for(d->bad, bad);
    if (source == WEFT_NONE)
        return;
    weft__put(t, " When the trace ends, %s waits for ", NAME(d->bad->m, bad));
    weft__put_full(t, d->bad->m, source);
    weft__put(t, ".");
}

static bool same_name(const struct weft__side *s, uint32_t a, uint32_t b)
{
    uint32_t of_a = weft_model_name(s->h->m, a), of_b = weft_model_name(s->h->m, b);
    return s->kind[a] == s->kind[b] && of_a != WEFT_NONE && of_b != WEFT_NONE &&
           s->label[of_a] == s->label[of_b];
}

/* Somebody else got before what has the same name, and in the good run only afterwards: a lock, maybe. */
static void put_overtaken(const struct weft__differ *d, struct weft__text *t, uint32_t good,
                          uint32_t bad, int64_t bad_ns)
{
    const struct weft__side *side = &d->sides.side[d->goods];
    int64_t good_ns = good == WEFT_NONE ? INT64_MAX : weft_history_resolved_ns(d->good, good);
    int64_t last_ns = INT64_MIN;
    uint32_t last = WEFT_NONE;
    if (good_ns == INT64_MAX || weft_history_resolved_ns(d->bad, bad) != INT64_MAX)
        return;
    for (uint32_t p = 1; p < d->bad->m->promises; p++) {
        int64_t ns = weft_history_resolved_ns(d->bad, p);
        uint32_t other = d->good_of_bad[p];
        if (p == bad || ns > bad_ns || ns <= last_ns || other == WEFT_NONE ||
            weft_history_resolved_ns(d->good, other) <= good_ns || !same_name(side, p, bad))
            continue;
        last = p;
        last_ns = ns;
    }
    if (last == WEFT_NONE)
        return;
    const struct weft_model *b = d->bad->m;
    weft__put(t, " Before that, at %s, %s of %s %s, in the good run only afterwards.",
              TIME(last_ns), NAME(b, last), NAME(b, b->promise[last].creator),
              weft__outcome_verb(b, last));
}

/* How many runs of a promise begin from a time on, before another. Logarithmic. */
static uint32_t runs_since(const struct weft_history *h, uint32_t promise, int64_t from_ns,
                           int64_t until_ns)
{
    uint32_t first = weft_history_run_from(h, promise, from_ns);
    uint32_t end = weft_history_run_from(h, promise, until_ns);
    return end > first ? end - first : 0;
}

/* Whether the one who resolved a promise ran for the same time since it was there, and did not resolve it. */
static void put_same_run(const struct weft__differ *d, struct weft__text *t,
                         const struct weft__parting *c, uint32_t by)
{
    uint32_t bad = d->bad_of_good[by];
    uint32_t good_run = weft_history_run_at(d->good, by, c->early.good_ns);
    if (bad == WEFT_NONE || good_run == WEFT_NONE)
        return;
    uint32_t before = runs_since(d->good, by, weft__start_ns(d->good, c->early.good),
                                 d->good->m->run[good_run].start_ns);
    uint32_t at = d->bad->runs_of_first[bad] +
                  runs_since(d->bad, bad, INT64_MIN, weft__start_ns(d->bad, c->early.bad)) + before;
    if (at >= d->bad->runs_of_first[bad + 1])
        return;
    weft__put(t, " %s ran there, too (at %s), but did not do that.", NAME(d->bad->m, bad),
              TIME(d->bad->m->run[d->bad->runs_of[at]].start_ns));
}

static void tell_unresolved(const struct weft__differ *d, struct weft__text *t,
                            const struct weft__parting *c)
{
    const struct weft_model *g = d->good->m;
    uint32_t by = weft__resolver_of(d->good, c->early.good);
    weft__put(t, "In the good run %s %s (at %s", NAME(g, c->early.good),
              happened(g, c->early.is, c->early.good), TIME(c->early.good_ns));
    if (by != WEFT_ROOT)
        weft__put(t, ", by %s", NAME(g, by));
    weft__put(t, "); in the bad run it is still pending when the trace ends.");
    if (by != WEFT_ROOT)
        put_same_run(d, t, c, by);
    put_overtaken(d, t, c->early.good, c->early.bad, c->when_ns);
    put_still_waiting(d, t, by == WEFT_ROOT ? c->early.bad : d->bad_of_good[by]);
}

/* A wait that there was not. */
static void tell_extra(const struct weft__differ *d, struct weft__text *t,
                       const struct weft__parting *c)
{
    const struct weft_model *b = d->bad->m;
    weft__put(t, "In the bad run %s began to wait for %s at %s", NAME(b, c->reader_bad),
              NAME(b, c->early.bad), TIME(c->early.bad_ns));
    if (c->late.bad_is == WEFT__NOTIFIED)
        weft__put(t, ", when that had been signalled already (at %s)", TIME(c->late.bad_ns));
    weft__put(t, c->rank ? ", and still waits; in the good run it waited one time less."
                         : ", and still waits; in the good run it never waited for it.");
    put_overtaken(d, t, c->early.good, c->early.bad, c->early.bad_ns);
    put_still_waiting(d, t, c->early.bad);
}

static void tell_no_wait(const struct weft__differ *d, struct weft__text *t,
                         const struct weft__parting *c)
{
    weft__put(
        t,
        "In the good run %s waited for %s (from %s on); in the bad run nobody did, and %s went "
        "on without it.",
        NAME(d->good->m, c->reader_good), NAME(d->good->m, c->early.good), TIME(c->early.good_ns),
        NAME(d->bad->m, c->reader_bad));
    if (weft_history_resolved_ns(d->bad, c->early.bad) == INT64_MAX)
        return;
    weft__put(t, " It ");
    weft__put_ending(t, d->bad, c->early.bad);
    weft__put(t, ".");
}

static void tell_unread(const struct weft__differ *d, struct weft__text *t,
                        const struct weft__parting *c)
{
    weft__put(t,
              "In both runs %s failed (at %s and at %s); in the good run somebody waited for it or "
              "used its result, in the bad run nobody did.",
              NAME(d->bad->m, c->early.bad), TIME(c->early.good_ns), TIME(c->early.bad_ns));
}

static void tell_ending(const struct weft__differ *d, struct weft__text *t,
                        const struct weft__parting *c)
{
    const struct weft_model *g = d->good->m, *b = d->bad->m;
    int64_t at;
    weft__put(t, "In the good run %s ", NAME(g, c->early.good));
    if (weft__ending_of(g, c->early.good) == WEFT__OPEN)
        weft__put(t, "was pending to the end");
    else
        weft__put_ending(t, d->good, c->early.good);
    weft__put(t, "; in the bad run it ");
    weft__put_ending(t, d->bad, c->early.bad);
    uint32_t by = weft__resolver_of(d->bad, c->early.bad);
    uint32_t why = by == WEFT_ROOT ? WEFT_NONE : weft__woken_by(d->bad, by, c->early.bad_ns, &at);
    if (by != WEFT_ROOT)
        weft__put(t, ", by %s", NAME(b, by));
    if (why != WEFT_NONE && why != WEFT_ROOT) {
        weft__put(t, ", which ran because of ");
        weft__put_full(t, b, why);
    }
    weft__put(t, ".");
    if (c->then != WEFT_ROOT)
        weft__put(t, " Right after that %s %s.", NAME(b, c->then), weft__outcome_verb(b, c->then));
}

static void tell_slower(const struct weft__differ *d, struct weft__text *t,
                        const struct weft__parting *c)
{
    weft__put(
        t, "In the good run %s took %s; in the bad run %s, at %s.", NAME(d->good->m, c->early.good),
        LENGTH(c->early.good_ns - weft__start_ns(d->good, c->early.good)),
        LENGTH(c->early.bad_ns - weft__start_ns(d->bad, c->early.bad)), TIME(c->early.bad_ns));
}

static void tell_blocker(const struct weft__differ *d, struct weft__text *t,
                         const struct weft__parting *c)
{
    const struct weft_model *b = d->bad->m;
    const struct weft_running_change *r = &d->out->running[0];
    weft__put(
        t,
        "In the bad run %s ran for %s without a break, at %s; in the good run for %s at most. "
        "Meanwhile %s could %sgo on.",
        NAME(b, c->early.bad), LENGTH(r->bad_longest_ns), TIME(c->early.bad_ns),
        LENGTH(r->good_longest_ns), c->then == c->early.bad ? "nothing else" : NAME(b, c->then),
        c->then == c->early.bad ? "" : "not ");
}

static void tell_other_actor(const struct weft__differ *d, struct weft__text *t,
                             const struct weft__parting *c)
{
    const struct weft_model *g = d->good->m, *b = d->bad->m;
    weft__put(
        t,
        "In the good run %s %s by %s (at %s); in the bad run by %s (at %s). After that %s went "
        "on in another way.",
        NAME(g, c->early.good), weft__outcome_verb(g, c->early.good),
        NAME(g, weft__resolver_of(d->good, c->early.good)), TIME(c->early.good_ns),
        NAME(b, weft__resolver_of(d->bad, c->early.bad)), TIME(c->early.bad_ns), NAME(b, c->then));
}

static void tell_unsignalled(const struct weft__differ *d, struct weft__text *t,
                             const struct weft__parting *c)
{
    const struct weft_model *g = d->good->m;
    uint32_t n = d->bad->notified_first[c->late.bad + 1] - d->bad->notified_first[c->late.bad];
    weft__put(t,
              "In the good run %s was signalled at %s, when %s waited for it; in the bad run it %s "
              "(%s waits since %s).",
              NAME(g, c->late.good), TIME(c->late.good_ns), NAME(g, c->reader_good),
              n ? "was not signalled again" : "never was", NAME(d->bad->m, c->reader_bad),
              TIME(c->early.bad_ns));
}

static void tell_lonely(const struct weft__differ *d, struct weft__text *t,
                        const struct weft__parting *c)
{
    bool missing = c->what == WEFT__MISSING;
    const struct weft_history *h = missing ? d->good : d->bad;
    uint32_t promise = missing ? c->early.good : c->early.bad;
    weft__put(t, "In the %s run %s created ", missing ? "good" : "bad",
              NAME(h->m, h->m->promise[promise].creator));
    weft__put_full(t, h->m, promise);
    weft__put(t, " at %s; in the %s run there is no such promise.",
              TIME(weft__start_ns(h, promise)), missing ? "bad" : "good");
    if (missing && h->m->promise[promise].creator != WEFT_ROOT)
        put_still_waiting(d, t, d->bad_of_good[h->m->promise[promise].creator]);
}

void weft__tell_parting(const struct weft__differ *d, struct weft__text *t,
                        const struct weft__parting *c)
{
    switch (c->what) {
    case WEFT_ORDER:
        tell_order(d, t, c);
        break;
    case WEFT__UNSIGNALLED:
        tell_unsignalled(d, t, c);
        break;
    case WEFT__UNRESOLVED:
        tell_unresolved(d, t, c);
        break;
    case WEFT__ENDING:
        tell_ending(d, t, c);
        break;
    case WEFT__EXTRA_WAIT:
        tell_extra(d, t, c);
        break;
    case WEFT__NO_WAIT:
        tell_no_wait(d, t, c);
        break;
    case WEFT__UNREAD:
        tell_unread(d, t, c);
        break;
    case WEFT__MISSING:
    case WEFT__ADDED:
        tell_lonely(d, t, c);
        break;
    case WEFT__SLOWER:
        tell_slower(d, t, c);
        break;
    case WEFT__BLOCKER:
        tell_blocker(d, t, c);
        break;
    case WEFT__OTHER_ACTOR:
        tell_other_actor(d, t, c);
        break;
    }
}
