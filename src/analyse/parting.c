/* SPDX-License-Identifier: ISC */
#include "analyse/differ.h"

uint32_t analyse_woken_by(const struct weft_history *h, uint32_t promise, int64_t time_ns,
                          int64_t *at_ns)
{
    uint32_t run = weft_history_run_at(h, promise, time_ns);
    if (run == WEFT_NONE || h->run_cause[run] == WEFT_NONE)
        return WEFT_NONE;
    *at_ns = h->m->run[run].start_ns;
    return weft_history_cause(h, run);
}

static const char *happened(const struct weft_model *m, enum analyse_happening is, uint32_t promise)
{
    return promise == WEFT_NONE || is == ANALYSE_WAITED ? ""
           : is == ANALYSE_NOTIFIED                     ? analyse_sentence_text(SAY_WAS_SIGNALLED)
                                                        : analyse_outcome_verb(m, promise);
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
    uint32_t by = promise == WEFT_NONE ? WEFT_NONE : h->resolution[promise];
    by = by == WEFT_NONE ? WEFT_ROOT : h->m->interaction[by].actor;
    return by == WEFT_ROOT || by == promise || by == weft_model_final(h->m, promise) ? WEFT_NONE
                                                                                     : by;
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
    const struct analyse_side *side = d->side[1];
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

/* Says whether what resolved it in the good run ran in the bad one, too, and did not. */
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

static uint32_t creator_of(const struct weft_model *m, uint32_t promise)
{
    return promise == WEFT_NONE ? WEFT_NONE : m->promise[promise].creator;
}

static int64_t length_ns(const struct weft_history *h, uint32_t promise, int64_t end_ns)
{
    return promise == WEFT_NONE || end_ns == INT64_MIN ? 0 : end_ns - analyse_start_ns(h, promise);
}

/* Each sentence uses some of the slots. */
static void say(const struct analyse_differ *d, struct analyse_text *t,
                const struct analyse_parting *c, enum analyse_sentence which)
{
    const struct weft_model *g = d->good->m, *b = d->bad->m;
    const struct analyse_moment *early = &c->early, *late = &c->late;
    const struct weft_running_change *longest = d->out->runnings ? d->out->running : NULL;
    const uint32_t bad_by = analyse_resolver_of(d->bad, early->bad);
    int64_t at;
    uint32_t why =
        bad_by == WEFT_NONE ? WEFT_NONE : analyse_woken_by(d->bad, bad_by, early->bad_ns, &at);
    analyse_put(
        t, g, NULL, which, GOOD(early, early->good),
        TEXT(early_did, happened(g, early->is, early->good)), TIME(good_early, early->good_ns),
        GOOD(late, late->good), TEXT(late_did, happened(g, late->is, late->good)),
        TIME(good_late, late->good_ns), BAD(bad_early, early->bad),
        TEXT(bad_early_did, happened(b, early->bad_is, early->bad)),
        TIME(bad_early_at, early->bad_ns), BAD(bad_late, late->bad),
        TEXT(bad_late_did, happened(b, late->bad_is, late->bad)), TIME(bad_late_at, late->bad_ns),
        GOOD(reader, c->reader_good), BAD(bad_reader, c->reader_bad), BAD(source, c->wait.bad),
        TIME(waited, c->wait.bad_ns), GOOD(by, analyse_resolver_of(d->good, early->good)),
        BAD(bad_by, bad_by), BAD(why, why == WEFT_ROOT ? WEFT_NONE : why), BAD(then, c->then),
        GOOD(creator, creator_of(g, early->good)), BAD(bad_creator, creator_of(b, early->bad)),
        LENGTH(took, length_ns(d->good, early->good, early->good_ns)),
        LENGTH(bad_took, length_ns(d->bad, early->bad, early->bad_ns)),
        LENGTH(longest, longest ? longest->good_longest_ns : 0),
        LENGTH(bad_longest, longest ? longest->bad_longest_ns : 0));
}

/* Returns true if the second of the sentences for it is the right one. */
static bool is_special(const struct analyse_differ *d, const struct analyse_parting *c)
{
    const uint32_t *notified = d->bad->notified_first;
    return c->what == ANALYSE_SWAPPED       ? c->early.is == ANALYSE_WAITED
           : c->what == ANALYSE_UNSIGNALLED ? notified[c->late.bad] < notified[c->late.bad + 1]
           : c->what == ANALYSE_ENDING
               ? analyse_ending_of(d->good->m, c->early.good) == ANALYSE_OPEN
           : c->what == ANALYSE_EXTRA_WAIT ? c->rank > 0
                                           : c->then == c->early.bad;
}

static void say_consequences(const struct analyse_differ *d, struct analyse_text *t,
                             const struct analyse_parting *c)
{
    const uint32_t by = analyse_resolver_of(d->good, c->early.good), bad = c->early.bad;
    const uint32_t creator = creator_of(d->good->m, c->early.good);
    if (c->what == ANALYSE_UNRESOLVED) {
        if (by != WEFT_NONE)
            say_ran_too(d, t, c, by);
        say_overtaken(d, t, c->early.good, bad, c->when_ns);
        say_still_waits(d, t, by != WEFT_NONE ? d->bad_of_good[by] : bad);
    } else if (c->what == ANALYSE_EXTRA_WAIT) {
        say_overtaken(d, t, c->early.good, bad, c->early.bad_ns);
        say_still_waits(d, t, bad);
    } else if (c->what == ANALYSE_NO_WAIT && weft_history_resolved_ns(d->bad, bad) != INT64_MAX) {
        say(d, t, c, SAY_PART_NO_WAIT_ENDED);
    } else if (c->what == ANALYSE_ENDING && c->then != WEFT_ROOT) {
        say(d, t, c, SAY_PART_ENDING_THEN);
    } else if (c->what == ANALYSE_MISSING && creator != WEFT_ROOT) {
        say_still_waits(d, t, d->bad_of_good[creator]);
    }
}

char *analyse_say_parting(struct analyse_differ *d, const struct analyse_parting *c)
{
    static const enum analyse_sentence sentences[][2] = {
        [ANALYSE_SWAPPED] = {SAY_PART_ORDER, SAY_PART_WAITED_LATE},
        [ANALYSE_UNSIGNALLED] = {SAY_PART_UNSIGNALLED, SAY_PART_NOT_SIGNALLED_AGAIN},
        [ANALYSE_UNRESOLVED] = {SAY_PART_UNRESOLVED, SAY_PART_UNRESOLVED},
        [ANALYSE_ENDING] = {SAY_PART_ENDING, SAY_PART_ENDING_OF_PENDING},
        [ANALYSE_EXTRA_WAIT] = {SAY_PART_EXTRA_WAIT, SAY_PART_ONE_WAIT_MORE},
        [ANALYSE_NO_WAIT] = {SAY_PART_NO_WAIT, SAY_PART_NO_WAIT},
        [ANALYSE_UNREAD] = {SAY_PART_UNREAD, SAY_PART_UNREAD},
        [ANALYSE_MISSING] = {SAY_PART_MISSING, SAY_PART_MISSING},
        [ANALYSE_ADDED] = {SAY_PART_ADDED, SAY_PART_ADDED},
        [ANALYSE_SLOWER] = {SAY_PART_SLOWER, SAY_PART_SLOWER},
        [ANALYSE_BLOCKER] = {SAY_PART_BLOCKER, SAY_PART_BLOCKED_ALL},
        [ANALYSE_OTHER_ACTOR] = {SAY_PART_OTHER_ACTOR, SAY_PART_OTHER_ACTOR},
    };
    struct analyse_text t = {0};
    say(d, &t, c, sentences[c->what][is_special(d, c)]);
    say_consequences(d, &t, c);
    d->failed |= t.failed;
    return analyse_text_take(&t);
}
