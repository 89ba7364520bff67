/* SPDX-License-Identifier: ISC */
#include "analyse/parting.h"

uint32_t analyse_woken_by(const struct weft_history *h, uint32_t promise, int64_t time_ns,
                          int64_t *at_ns)
{
    uint32_t run = weft_history_run_at(h, promise, time_ns);
    if (run == WEFT_NONE || h->run_cause[run] == WEFT_NONE)
        return WEFT_NONE;
    const struct weft_interaction *x = &h->m->interaction[h->run_cause[run]];
    *at_ns = h->m->run[run].start_ns;
    return x->kind == WEFT_READS ? x->other : x->actor;
}

static const char *happened(const struct weft_model *m, enum analyse_happening is, uint32_t promise)
{
    return is == ANALYSE_NOTIFIED   ? analyse_sentence_text(SAY_WAS_SIGNALLED)
           : is == ANALYSE_RESOLVED ? analyse_outcome_verb(m, promise)
                                    : "";
}

/* What a promise waits for when the trace ends, or WEFT_NONE. */
static uint32_t waits_for_at_end(const struct weft_history *h, uint32_t promise)
{
    uint32_t first = h->waits_of_first[promise], end = h->waits_of_first[promise + 1];
    if (first == end || h->wait[h->waits_of[end - 1]].end != WEFT_WAIT_OPEN)
        return WEFT_NONE;
    return h->wait[h->waits_of[end - 1]].source;
}

uint32_t analyse_resolver_of(const struct weft_history *h, uint32_t promise)
{
    uint32_t by = h->resolution[promise];
    by = by == WEFT_NONE ? WEFT_ROOT : h->m->interaction[by].actor;
    return by == weft_model_final(h->m, promise) || by == promise ? WEFT_ROOT : by;
}

static bool have_one_name(const struct analyse_side *s, uint32_t a, uint32_t b)
{
    uint32_t of_a = weft_model_name(s->h->m, a), of_b = weft_model_name(s->h->m, b);
    return s->kind[a] == s->kind[b] && of_a != WEFT_NONE && of_b != WEFT_NONE &&
           s->label[of_a] == s->label[of_b];
}

/* How many runs of a promise begin between two times. Logarithmic. */
static uint32_t runs_since(const struct weft_history *h, uint32_t promise, int64_t from_ns,
                           int64_t until_ns)
{
    uint32_t first = weft_history_run_from(h, promise, from_ns);
    uint32_t end = weft_history_run_from(h, promise, until_ns);
    return end > first ? end - first : 0;
}

/* ---- What comes after it ---- */

static void say_still_waits(const struct analyse_differ *d, struct analyse_text *t, uint32_t bad)
{
    const uint32_t source =
        bad == WEFT_NONE || bad == WEFT_ROOT ? WEFT_NONE : waits_for_at_end(d->bad, bad);
    if (source != WEFT_NONE)
        analyse_put(t, d->bad->m, NULL, SAY_PART_STILL_WAITS, BAD(promise, bad),
                    BAD(source, source));
}

/* Says that something else with the same name was resolved first, which in the good run happened
 * only later: perhaps a lock that another promise got first. */
static void say_overtaken(const struct analyse_differ *d, struct analyse_text *t, uint32_t good,
                          uint32_t bad, int64_t bad_ns)
{
    const struct analyse_side *side = &d->sides.side[d->goods];
    int64_t good_ns = good == WEFT_NONE ? INT64_MAX : weft_history_resolved_ns(d->good, good);
    int64_t last_ns = INT64_MIN;
    uint32_t last = WEFT_NONE;
    if (good_ns == INT64_MAX || weft_history_resolved_ns(d->bad, bad) != INT64_MAX)
        return;
    for (uint32_t p = 1; p < d->bad->m->promises; p++) {
        int64_t ns = weft_history_resolved_ns(d->bad, p);
        uint32_t other = d->good_of_bad[p];
        if (p == bad || ns > bad_ns || ns <= last_ns || other == WEFT_NONE ||
            weft_history_resolved_ns(d->good, other) <= good_ns || !have_one_name(side, p, bad))
            continue;
        last = p;
        last_ns = ns;
    }
    if (last != WEFT_NONE)
        analyse_put(t, d->bad->m, NULL, SAY_PART_OVERTAKEN, TIME(when, last_ns), BAD(other, last),
                    BAD(creator, d->bad->m->promise[last].creator));
}

/* Says whether the promise that resolved this one in the good run had the corresponding run in the
 * bad one, and did not resolve it there. */
static void say_ran_too(const struct analyse_differ *d, struct analyse_text *t,
                        const struct analyse_parting *c, uint32_t by)
{
    uint32_t bad = d->bad_of_good[by];
    uint32_t good_run = weft_history_run_at(d->good, by, c->early.good_ns);
    if (bad == WEFT_NONE || good_run == WEFT_NONE)
        return;
    uint32_t before = runs_since(d->good, by, analyse_start_ns(d->good, c->early.good),
                                 d->good->m->run[good_run].start_ns);
    uint32_t at = d->bad->runs_of_first[bad] +
                  runs_since(d->bad, bad, INT64_MIN, analyse_start_ns(d->bad, c->early.bad)) +
                  before;
    if (at < d->bad->runs_of_first[bad + 1])
        analyse_put(t, d->bad->m, NULL, SAY_PART_RAN_TOO, BAD(promise, bad),
                    TIME(when, d->bad->m->run[d->bad->runs_of[at]].start_ns));
}

/* ---- Where they diverge ---- */

static void say_order(const struct analyse_differ *d, struct analyse_text *t,
                      const struct analyse_parting *c)
{
    const struct weft_model *g = d->good->m, *b = d->bad->m;
    const struct analyse_moment *early = &c->early, *late = &c->late;
    analyse_put(t, b, NULL, early->is == ANALYSE_WAITED ? SAY_PART_WAITED_LATE : SAY_PART_ORDER,
                GOOD(reader, c->reader_good), GOOD(early, early->good),
                TEXT(early_did, happened(g, early->is, early->good)),
                TIME(good_early, early->good_ns), GOOD(late, late->good),
                TEXT(late_did, happened(g, late->is, late->good)), TIME(good_late, late->good_ns),
                BAD(bad_late, late->bad), TEXT(bad_late_did, happened(b, late->bad_is, late->bad)),
                TIME(bad_late_at, late->bad_ns), BAD(bad_early, early->bad),
                TEXT(bad_early_did, happened(b, early->bad_is, early->bad)),
                TIME(bad_early_at, early->bad_ns), BAD(bad_reader, c->reader_bad),
                BAD(source, c->wait.bad), TIME(waited, c->wait.bad_ns));
}

static void say_unresolved(const struct analyse_differ *d, struct analyse_text *t,
                           const struct analyse_parting *c)
{
    const struct analyse_moment *early = &c->early;
    const uint32_t by = analyse_resolver_of(d->good, early->good);
    const bool known = by != WEFT_ROOT;
    analyse_put(t, d->good->m, NULL, SAY_PART_UNRESOLVED, GOOD(promise, early->good),
                TEXT(did, happened(d->good->m, early->is, early->good)), TIME(when, early->good_ns),
                GOOD(by, known ? by : WEFT_NONE));
    if (known)
        say_ran_too(d, t, c, by);
    say_overtaken(d, t, early->good, early->bad, c->when_ns);
    say_still_waits(d, t, known ? d->bad_of_good[by] : early->bad);
}

/* A wait that the good run does not have. */
static void say_extra_wait(const struct analyse_differ *d, struct analyse_text *t,
                           const struct analyse_parting *c)
{
    analyse_put(t, d->bad->m, NULL, c->rank ? SAY_PART_ONE_WAIT_MORE : SAY_PART_EXTRA_WAIT,
                BAD(reader, c->reader_bad), BAD(source, c->early.bad), TIME(from, c->early.bad_ns),
                TIME(signalled, c->late.bad_is == ANALYSE_NOTIFIED ? c->late.bad_ns : INT64_MIN));
    say_overtaken(d, t, c->early.good, c->early.bad, c->early.bad_ns);
    say_still_waits(d, t, c->early.bad);
}

static void say_no_wait(const struct analyse_differ *d, struct analyse_text *t,
                        const struct analyse_parting *c)
{
    analyse_put(t, d->good->m, NULL, SAY_PART_NO_WAIT, GOOD(reader, c->reader_good),
                GOOD(source, c->early.good), TIME(from, c->early.good_ns),
                BAD(bad_reader, c->reader_bad));
    if (weft_history_resolved_ns(d->bad, c->early.bad) != INT64_MAX)
        analyse_put(t, d->bad->m, NULL, SAY_PART_NO_WAIT_ENDED, BAD(promise, c->early.bad));
}

static void say_ending(const struct analyse_differ *d, struct analyse_text *t,
                       const struct analyse_parting *c)
{
    const bool pending = analyse_ending_of(d->good->m, c->early.good) == ANALYSE_OPEN;
    uint32_t by = analyse_resolver_of(d->bad, c->early.bad), why = WEFT_NONE;
    int64_t at;
    if (by == WEFT_ROOT)
        by = WEFT_NONE;
    else
        why = analyse_woken_by(d->bad, by, c->early.bad_ns, &at);
    analyse_put(t, d->good->m, NULL, pending ? SAY_PART_ENDING_OF_PENDING : SAY_PART_ENDING,
                GOOD(good, c->early.good), BAD(bad, c->early.bad), BAD(by, by),
                BAD(why, why == WEFT_ROOT ? WEFT_NONE : why));
    if (c->then != WEFT_ROOT)
        analyse_put(t, d->bad->m, NULL, SAY_PART_ENDING_THEN, BAD(promise, c->then));
}

static void say_slower(const struct analyse_differ *d, struct analyse_text *t,
                       const struct analyse_parting *c)
{
    analyse_put(t, d->good->m, NULL, SAY_PART_SLOWER, GOOD(promise, c->early.good),
                LENGTH(good, c->early.good_ns - analyse_start_ns(d->good, c->early.good)),
                LENGTH(bad, c->early.bad_ns - analyse_start_ns(d->bad, c->early.bad)),
                TIME(when, c->early.bad_ns));
}

static void say_blocker(const struct analyse_differ *d, struct analyse_text *t,
                        const struct analyse_parting *c)
{
    const struct weft_running_change *r = &d->out->running[0];
    analyse_put(t, d->bad->m, NULL,
                c->then == c->early.bad ? SAY_PART_BLOCKED_ALL : SAY_PART_BLOCKER,
                BAD(promise, c->early.bad), LENGTH(bad, r->bad_longest_ns),
                TIME(when, c->early.bad_ns), LENGTH(good, r->good_longest_ns), BAD(then, c->then));
}

static void say_other_actor(const struct analyse_differ *d, struct analyse_text *t,
                            const struct analyse_parting *c)
{
    analyse_put(t, d->good->m, NULL, SAY_PART_OTHER_ACTOR, GOOD(promise, c->early.good),
                GOOD(by, analyse_resolver_of(d->good, c->early.good)), TIME(good, c->early.good_ns),
                BAD(bad_by, analyse_resolver_of(d->bad, c->early.bad)), TIME(bad, c->early.bad_ns),
                BAD(then, c->then));
}

static void say_unsignalled(const struct analyse_differ *d, struct analyse_text *t,
                            const struct analyse_parting *c)
{
    const uint32_t *first = &d->bad->notified_first[c->late.bad];
    analyse_put(t, d->good->m, NULL,
                first[0] < first[1] ? SAY_PART_NOT_SIGNALLED_AGAIN : SAY_PART_UNSIGNALLED,
                GOOD(signalled, c->late.good), TIME(good, c->late.good_ns),
                GOOD(reader, c->reader_good), BAD(bad_reader, c->reader_bad),
                TIME(since, c->early.bad_ns));
}

/* A promise that only one of the runs has. */
static void say_lonely(const struct analyse_differ *d, struct analyse_text *t,
                       const struct analyse_parting *c)
{
    const bool missing = c->what == ANALYSE_MISSING;
    const struct weft_model *m = missing ? d->good->m : d->bad->m;
    const struct weft_promise *p = &m->promise[missing ? c->early.good : c->early.bad];
    analyse_put(t, m, NULL, missing ? SAY_PART_MISSING : SAY_PART_ADDED,
                PROMISE(creator, p->creator), PROMISE(promise, p - m->promise),
                TIME(when, p->start_ns));
    if (missing && p->creator != WEFT_ROOT)
        say_still_waits(d, t, d->bad_of_good[p->creator]);
}

static void say_unread(const struct analyse_differ *d, struct analyse_text *t,
                       const struct analyse_parting *c)
{
    analyse_put(t, d->bad->m, NULL, SAY_PART_UNREAD, BAD(promise, c->early.bad),
                TIME(good, c->early.good_ns), TIME(bad, c->early.bad_ns));
}

char *analyse_say_parting(struct analyse_differ *d, const struct analyse_parting *c)
{
    static void (*const say[])(const struct analyse_differ *d, struct analyse_text *t,
                               const struct analyse_parting *c) = {
        [ANALYSE_SWAPPED] = say_order,         [ANALYSE_UNSIGNALLED] = say_unsignalled,
        [ANALYSE_UNRESOLVED] = say_unresolved, [ANALYSE_ENDING] = say_ending,
        [ANALYSE_EXTRA_WAIT] = say_extra_wait, [ANALYSE_NO_WAIT] = say_no_wait,
        [ANALYSE_UNREAD] = say_unread,         [ANALYSE_MISSING] = say_lonely,
        [ANALYSE_ADDED] = say_lonely,          [ANALYSE_SLOWER] = say_slower,
        [ANALYSE_BLOCKER] = say_blocker,       [ANALYSE_OTHER_ACTOR] = say_other_actor,
    };
    struct analyse_text t = {0};
    say[c->what](d, &t, c);
    d->failed |= t.failed;
    return analyse_text_take(&t);
}
