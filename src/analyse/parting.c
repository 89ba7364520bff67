/* SPDX-License-Identifier: ISC */
#include "analyse/parting.h"

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

static void put_at(struct weft__text *t, int64_t time_ns)
{
    weft__put(t, "at ");
    weft__put_time(t, time_ns);
}

static void put_waits(struct weft__text *t, const struct weft_model *m, uint32_t reader,
                      uint32_t source)
{
    weft__put_name(t, m, reader);
    weft__put(t, " began to wait for ");
    weft__put_name(t, m, source);
}

static void tell_order(const struct weft__differ *d, struct weft__text *t,
                       const struct weft__parting *c)
{
    const struct weft_model *g = d->good->m, *b = d->bad->m;
    weft__put(t, "In the good run ");
    if (c->early.is == WEFT__WAITED) {
        put_waits(t, g, c->reader_good, c->early.good);
    } else {
        weft__put_name(t, g, c->early.good);
        weft__put(t, " %s", happened(g, c->early.is, c->early.good));
    }
    weft__put(t, " (");
    put_at(t, c->early.good_ns);
    weft__put(t, ") before ");
    if (c->early.is == WEFT__WAITED)
        weft__put(t, "it");
    else
        weft__put_name(t, g, c->late.good);
    weft__put(t, " %s (", happened(g, c->late.is, c->late.good));
    put_at(t, c->late.good_ns);
    weft__put(t, "); in the bad run after: ");
    weft__put_name(t, b, c->late.bad);
    weft__put(t, " %s ", happened(b, c->late.bad_is, c->late.bad));
    put_at(t, c->late.bad_ns);
    weft__put(t, ", ");
    if (c->early.is == WEFT__WAITED) {
        weft__put(t, "and ");
        weft__put_name(t, b, c->reader_bad);
        weft__put(t, " began to wait for it only afterwards, ");
        put_at(t, c->early.bad_ns);
        weft__put(t, ", and still waits.");
        return;
    }
    weft__put_name(t, b, c->early.bad);
    weft__put(t, " %s ", happened(b, c->early.bad_is, c->early.bad));
    put_at(t, c->early.bad_ns);
    weft__put(t, ". So ");
    put_waits(t, b, c->reader_bad, c->wait.bad);
    weft__put(t, " only ");
    put_at(t, c->wait.bad_ns);
    weft__put(t, ", too late, and still waits.");
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
    weft__put(t, " When the trace ends, ");
    weft__put_name(t, d->bad->m, bad);
    weft__put(t, " waits for ");
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
    weft__put(t, " Before that, at ");
    weft__put_time(t, last_ns);
    weft__put(t, ", ");
    weft__put_name(t, d->bad->m, last);
    weft__put(t, " of ");
    weft__put_name(t, d->bad->m, d->bad->m->promise[last].creator);
    weft__put(t, " %s, in the good run only afterwards.", weft__outcome_verb(d->bad->m, last));
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
    uint32_t bad = d->bad_of_good[by], run;
    uint32_t good_run = weft_history_run_at(d->good, by, c->early.good_ns);
    if (bad == WEFT_NONE || good_run == WEFT_NONE)
        return;
    uint32_t before = runs_since(d->good, by, weft__start_ns(d->good, c->early.good),
                                 d->good->m->run[good_run].start_ns);
    uint32_t at = d->bad->runs_of_first[bad] +
                  runs_since(d->bad, bad, INT64_MIN, weft__start_ns(d->bad, c->early.bad)) + before;
    if (at >= d->bad->runs_of_first[bad + 1])
        return;
    run = d->bad->runs_of[at];
    weft__put(t, " ");
    weft__put_name(t, d->bad->m, bad);
    weft__put(t, " ran there, too (");
    put_at(t, d->bad->m->run[run].start_ns);
    weft__put(t, "), but did not do that.");
}

static void tell_unresolved(const struct weft__differ *d, struct weft__text *t,
                            const struct weft__parting *c)
{
    const struct weft_model *g = d->good->m;
    uint32_t by = weft__resolver_of(d->good, c->early.good);
    weft__put(t, "In the good run ");
    weft__put_name(t, g, c->early.good);
    weft__put(t, " %s (", happened(g, c->early.is, c->early.good));
    put_at(t, c->early.good_ns);
    if (by != WEFT_ROOT) {
        weft__put(t, ", by ");
        weft__put_name(t, g, by);
    }
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
    weft__put(t, "In the bad run ");
    put_waits(t, b, c->reader_bad, c->early.bad);
    weft__put(t, " ");
    put_at(t, c->early.bad_ns);
    if (c->late.bad_is == WEFT__NOTIFIED) {
        weft__put(t, ", when that had been signalled already (");
        put_at(t, c->late.bad_ns);
        weft__put(t, ")");
    }
    weft__put(t, c->rank ? ", and still waits; in the good run it waited one time less."
                         : ", and still waits; in the good run it never waited for it.");
    put_overtaken(d, t, c->early.good, c->early.bad, c->early.bad_ns);
    put_still_waiting(d, t, c->early.bad);
}

static void tell_no_wait(const struct weft__differ *d, struct weft__text *t,
                         const struct weft__parting *c)
{
    int64_t resolved = weft_history_resolved_ns(d->bad, c->early.bad);
    weft__put(t, "In the good run ");
    weft__put_name(t, d->good->m, c->reader_good);
    weft__put(t, " waited for ");
    weft__put_name(t, d->good->m, c->early.good);
    weft__put(t, " (from ");
    weft__put_time(t, c->early.good_ns);
    weft__put(t, " on); in the bad run nobody did, and ");
    weft__put_name(t, d->bad->m, c->reader_bad);
    weft__put(t, " went on without it.");
    if (resolved == INT64_MAX)
        return;
    weft__put(t, " It ");
    weft__put_ending(t, d->bad, c->early.bad);
    weft__put(t, ".");
}

static void tell_unread(const struct weft__differ *d, struct weft__text *t,
                        const struct weft__parting *c)
{
    weft__put(t, "In both runs ");
    weft__put_name(t, d->bad->m, c->early.bad);
    weft__put(t, " failed (");
    put_at(t, c->early.good_ns);
    weft__put(t, " and ");
    put_at(t, c->early.bad_ns);
    weft__put(t, "); in the good run somebody waited for it or used its result, in the bad run "
                 "nobody did.");
}

static void tell_ending(const struct weft__differ *d, struct weft__text *t,
                        const struct weft__parting *c)
{
    const struct weft_model *g = d->good->m, *b = d->bad->m;
    int64_t at;
    weft__put(t, "In the good run ");
    weft__put_name(t, g, c->early.good);
    if (weft__ending_of(g, c->early.good) == WEFT__OPEN)
        weft__put(t, " was pending to the end");
    else {
        weft__put(t, " ");
        weft__put_ending(t, d->good, c->early.good);
    }
    weft__put(t, "; in the bad run it ");
    weft__put_ending(t, d->bad, c->early.bad);
    uint32_t by = weft__resolver_of(d->bad, c->early.bad);
    uint32_t why = by == WEFT_ROOT ? WEFT_NONE : weft__woken_by(d->bad, by, c->early.bad_ns, &at);
    if (by != WEFT_ROOT) {
        weft__put(t, ", by ");
        weft__put_name(t, b, by);
    }
    if (why != WEFT_NONE && why != WEFT_ROOT) {
        weft__put(t, ", which ran because of ");
        weft__put_full(t, b, why);
    }
    weft__put(t, ".");
    if (c->then != WEFT_ROOT) {
        weft__put(t, " Right after that ");
        weft__put_name(t, b, c->then);
        weft__put(t, " %s.", weft__outcome_verb(b, c->then));
    }
}

static void tell_slower(const struct weft__differ *d, struct weft__text *t,
                        const struct weft__parting *c)
{
    weft__put(t, "In the good run ");
    weft__put_name(t, d->good->m, c->early.good);
    weft__put(t, " took ");
    weft__put_length(t, c->early.good_ns - weft__start_ns(d->good, c->early.good));
    weft__put(t, "; in the bad run ");
    weft__put_length(t, c->early.bad_ns - weft__start_ns(d->bad, c->early.bad));
    weft__put(t, ", ");
    put_at(t, c->early.bad_ns);
    weft__put(t, ".");
}

static void tell_blocker(const struct weft__differ *d, struct weft__text *t,
                         const struct weft__parting *c)
{
    const struct weft_model *b = d->bad->m;
    const struct weft_running_change *r = &d->out->running[0];
    weft__put(t, "In the bad run ");
    weft__put_name(t, b, c->early.bad);
    weft__put(t, " ran for ");
    weft__put_length(t, r->bad_longest_ns);
    weft__put(t, " without a break, ");
    put_at(t, c->early.bad_ns);
    weft__put(t, "; in the good run for ");
    weft__put_length(t, r->good_longest_ns);
    weft__put(t, " at most. Meanwhile ");
    if (c->then == c->early.bad)
        weft__put(t, "nothing else could go on.");
    else {
        weft__put_name(t, b, c->then);
        weft__put(t, " could not go on.");
    }
}

static void tell_other_actor(const struct weft__differ *d, struct weft__text *t,
                             const struct weft__parting *c)
{
    const struct weft_model *g = d->good->m, *b = d->bad->m;
    weft__put(t, "In the good run ");
    weft__put_name(t, g, c->early.good);
    weft__put(t, " %s by ", weft__outcome_verb(g, c->early.good));
    weft__put_name(t, g, weft__resolver_of(d->good, c->early.good));
    weft__put(t, " (");
    put_at(t, c->early.good_ns);
    weft__put(t, "); in the bad run by ");
    weft__put_name(t, b, weft__resolver_of(d->bad, c->early.bad));
    weft__put(t, " (");
    put_at(t, c->early.bad_ns);
    weft__put(t, "). After that ");
    weft__put_name(t, b, c->then);
    weft__put(t, " went on in another way.");
}

static void tell_unsignalled(const struct weft__differ *d, struct weft__text *t,
                             const struct weft__parting *c)
{
    const struct weft_model *g = d->good->m;
    uint32_t n = d->bad->notified_first[c->late.bad + 1] - d->bad->notified_first[c->late.bad];
    weft__put(t, "In the good run ");
    weft__put_name(t, g, c->late.good);
    weft__put(t, " was signalled ");
    put_at(t, c->late.good_ns);
    weft__put(t, ", when ");
    weft__put_name(t, g, c->reader_good);
    weft__put(t, " waited for it; in the bad run it %s",
              n ? "was not signalled again" : "never was");
    weft__put(t, " (");
    weft__put_name(t, d->bad->m, c->reader_bad);
    weft__put(t, " waits since ");
    weft__put_time(t, c->early.bad_ns);
    weft__put(t, ").");
}

static void tell_lonely(const struct weft__differ *d, struct weft__text *t,
                        const struct weft__parting *c)
{
    bool missing = c->what == WEFT__MISSING;
    const struct weft_history *h = missing ? d->good : d->bad;
    uint32_t promise = missing ? c->early.good : c->early.bad;
    weft__put(t, "In the %s run ", missing ? "good" : "bad");
    weft__put_name(t, h->m, h->m->promise[promise].creator);
    weft__put(t, " created ");
    weft__put_full(t, h->m, promise);
    weft__put(t, " ");
    put_at(t, weft__start_ns(h, promise));
    weft__put(t, "; in the %s run there is no such promise.", missing ? "bad" : "good");
    if (missing && h->m->promise[promise].creator != WEFT_ROOT)
        put_still_waiting(d, t, d->bad_of_good[h->m->promise[promise].creator]);
}

void weft__tell_parting(const struct weft__differ *d, struct weft__text *t,
                        const struct weft__parting *c)
{
    switch (c->what) {
    case WEFT__ORDER:
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
