/* SPDX-License-Identifier: ISC */
/* Finds where the order of causes in a bad run diverges from that of the good one.
 * relevant.c finds what went wrong, and marks what that depends on. Among those, it looks for these
 * differences:
 *   order      something was notified or resolved before the wait for it began, and the wait still lasts; in the
 *              good run the wait began first. It is followed back to why the wait began so late: as long as what
 *              woke the waiter came before the signal in the good run, and after it in the bad one
 *   unsignalled  somebody waits for a signal that came in the good run, and there are fewer signals
 *   ending     a promise ended differently
 *   extra wait somebody began to wait for something, and still waits; in the good run it never did
 *   no wait    somebody waited for something in the good run, and did without it in the bad one
 *   unread     a failure that somebody waited for in the good run
 *   unresolved a promise is pending
 *   missing, added  a promise that somebody waits for
 *   slower     a promise took longer; if that is all that went wrong
 * A difference that depends on another one is a consequence, and so is what comes after it in the
 * same task. Of the others the earliest is reported. The time of each is its time in the bad run:
 * when it happened, or when it should have happened, as long after the promise's creation as in the
 * good run. If something that nobody waited for led to it, that is reported instead: a time limit
 * that expired at the same moment, or another promise that resolved what was last read. */
#include <stdlib.h>
#include <string.h>

#include "analyse/differ.h"
#include "base/array.h"
#include "base/order.h"

struct search {
    struct analyse_differ *d;
    const struct weft_history *g, *b;
    uint64_t budget; /* steps left for finding which of many waits is meant */
    struct analyse_parting *found;
    uint32_t count, room;
    /* By promise, of the good run and of the bad one: enum differs; and when it first used, or
     * waited for, something that differs. */
    uint8_t *differs[2];
    int64_t *cause_ns[2];
};

enum differs {
    DIFFERS = 1, /* it is among the differences found */
    WAITS = 2,   /* … which also says why it is pending */
};

/* Returns true if it is about a wait that is still open. */
static bool is_wait(enum analyse_part what)
{
    return what == ANALYSE_SWAPPED || what == ANALYSE_UNSIGNALLED || what == ANALYSE_EXTRA_WAIT;
}

static void add_parting(struct search *s, struct analyse_parting c)
{
    const bool waits = is_wait(c.what);
    uint32_t good = waits ? c.reader_good : c.early.good, bad = waits ? c.reader_bad : c.early.bad;
    if (!weft_reserve(&s->found, s->count, &s->room, sizeof *s->found)) {
        s->d->failed = true;
        return;
    }
    s->found[s->count++] = c;
    if (good != WEFT_NONE)
        s->differs[0][weft_model_final(s->g->m, good)] |= waits ? DIFFERS | WAITS : DIFFERS;
    if (bad != WEFT_NONE)
        s->differs[1][weft_model_final(s->b->m, bad)] |= waits ? DIFFERS | WAITS : DIFFERS;
}

/* ---- Waits that never end ---- */

/* What waits for the same thing have in common: the promise, or its name. */
static uint32_t what_is_waited_for(const struct search *s, const struct weft_history *h,
                                   uint32_t source, bool by_name)
{
    uint32_t name = weft_model_name(h->m, source);
    return !by_name            ? weft_model_final(h->m, source)
           : name == WEFT_NONE ? WEFT_NONE
                               : s->d->side[h == s->b]->label[name];
}

/* Takes one step of the budget; returns false if it is used up. */
static bool may_go_on(struct search *s)
{
    s->budget -= s->budget > 0;
    return s->budget > 0;
}

/* How many earlier waits the same reader had for the same thing, or WEFT_NONE: too many to count. */
static uint32_t rank_of(struct search *s, const struct weft_history *h, uint32_t wait, bool by_name)
{
    const struct weft_wait *w = &h->wait[wait];
    uint32_t rank = 0, what = what_is_waited_for(s, h, w->source, by_name);
    analyse_each(i, h->waits_of_first, w->reader) {
        if (h->waits_of[i] == wait)
            return rank;
        if (!may_go_on(s))
            return WEFT_NONE;
        rank += what_is_waited_for(s, h, h->wait[h->waits_of[i]].source, by_name) == what;
    }
    return WEFT_NONE;
}

static const struct weft_wait *ranked_wait(struct search *s, const struct weft_history *h,
                                           uint32_t reader, uint32_t what, bool by_name,
                                           uint32_t rank)
{
    analyse_each(i, h->waits_of_first, reader) {
        const struct weft_wait *w = &h->wait[h->waits_of[i]];
        if (!may_go_on(s))
            return NULL;
        if (what_is_waited_for(s, h, w->source, by_name) == what && rank-- == 0)
            return w;
    }
    return NULL;
}

/* How many notifications of a promise come no later than a time. Logarithmic. */
static uint32_t notified_by(const struct weft_history *h, uint32_t promise, int64_t time_ns)
{
    return weft_history_notified_from(h, promise, time_ns + 1) - h->notified_first[promise];
}

static int64_t notified_ns(const struct weft_history *h, uint32_t promise, uint32_t n)
{
    return h->m->interaction[h->notified[h->notified_first[promise] + n]].time_ns;
}

/* Follows a wait back to what made it begin, as long as that came in a different order, too. */
static void follow_back(const struct search *s, struct analyse_parting *c, uint32_t actor)
{
    enum { STEPS = 64 };
    int64_t at = c->early.good_ns;
    for (unsigned i = 0; i < STEPS && actor != WEFT_NONE; i++) {
        uint32_t by = analyse_woken_by(s->g, actor, at, &at);
        if (by == WEFT_NONE || by == WEFT_ROOT)
            return;
        uint32_t bad = s->d->bad_of_good[by];
        int64_t good_ns = weft_history_resolved_ns(s->g, by);
        int64_t bad_ns = bad == WEFT_NONE ? INT64_MAX : weft_history_resolved_ns(s->b, bad);
        if (good_ns > at || bad_ns == INT64_MAX || good_ns >= c->late.good_ns ||
            bad_ns <= c->late.bad_ns || s->g->resolution[by] == WEFT_NONE)
            return;
        c->early =
            (struct analyse_moment){.good = by, .bad = bad, .good_ns = good_ns, .bad_ns = bad_ns};
        at = good_ns;
        /* If it is itself, a task that ended by itself: why did it run? */
        actor = s->g->m->interaction[s->g->resolution[by]].actor;
    }
}

/* Returns true if this wait began after the signal in another good run: then that does no harm. */
static bool is_harmless(struct search *s, const struct analyse_parting *c, uint32_t rank,
                        uint32_t signal)
{
    for (uint32_t r = 1; r < s->d->goods; r++) {
        const struct weft_history *h = s->d->sides.side[r].h;
        uint32_t reader = s->d->other[r][c->reader_good], source = s->d->other[r][c->late.good];
        if (reader == WEFT_NONE || source == WEFT_NONE)
            continue;
        const struct weft_wait *w =
            ranked_wait(s, h, reader, weft_model_final(h->m, source), false, rank);
        int64_t there = INT64_MAX;
        if (c->late.is == ANALYSE_RESOLVED)
            there = weft_history_resolved_ns(h, source);
        else if (signal < analyse_count(h->notified_first, source))
            there = notified_ns(h, source, signal);
        if (w && there < w->from_ns)
            return true;
    }
    return false;
}

/* Compares a wait that is open in the bad run with its counterpart, which has ended. */
static void compare_wait(struct search *s, const struct weft_wait *good,
                         const struct weft_wait *bad, uint32_t rank)
{
    const struct weft_history *g = s->g, *b = s->b;
    uint32_t source = weft_model_final(g->m, good->source);
    uint32_t bad_source = weft_model_final(b->m, bad->source), n = 0;
    struct analyse_parting c = {.reader_good = good->reader, .reader_bad = bad->reader};
    c.early = c.wait = (struct analyse_moment){source,       bad_source,     good->from_ns,
                                               bad->from_ns, ANALYSE_WAITED, ANALYSE_WAITED};
    c.late = (struct analyse_moment){.good = source, .bad = bad_source};
    c.late.good_ns = weft_history_resolved_ns(g, source);
    c.late.bad_ns = weft_history_resolved_ns(b, bad_source);
    if (c.late.good_ns > good->until_ns) { /* so a signal ended it */
        n = notified_by(g, source, good->until_ns);
        if (n == 0 || notified_ns(g, source, n - 1) < good->from_ns)
            return;
        c.late.is = ANALYSE_NOTIFIED;
        c.late.good_ns = notified_ns(g, source, n - 1);
    }
    /* it is signalled and not resolved; the signal may be missing */
    if (c.late.bad_ns == INT64_MAX) {
        uint32_t had = notified_by(b, bad_source, bad->from_ns);
        uint32_t all = analyse_count(b->notified_first, bad_source);
        if (all < n) {
            c.what = ANALYSE_UNSIGNALLED;
            c.when_ns =
                analyse_start_ns(b, bad_source) + (c.late.good_ns - analyse_start_ns(g, source));
            c.late.bad_ns = INT64_MIN;
            add_parting(s, c);
        }
        if (all < n || had == 0 || had < all)
            return;
        c.late.bad_is = ANALYSE_NOTIFIED;
        c.late.bad_ns = notified_ns(b, bad_source, had - 1);
    }
    if (c.late.bad_ns > bad->from_ns || c.late.good_ns < good->from_ns)
        return;
    c.what = ANALYSE_SWAPPED;
    c.when_ns = c.late.bad_ns;
    if (is_harmless(s, &c, rank, n - 1))
        return;
    follow_back(s, &c, good->reader);
    add_parting(s, c);
}

/* Returns true if a promise of the good run ever waits for something of that kind. */
static bool waits_for_kind(struct search *s, uint32_t reader, uint32_t kind)
{
    const struct weft_history *h = s->g;
    analyse_each(i, h->waits_of_first, reader) {
        if (!may_go_on(s))
            return true;
        if (s->d->side[0]->kind[h->wait[h->waits_of[i]].source] == kind)
            return true;
    }
    return false;
}

/* Offers a wait that the good run lacks; rank: how many others the bad one has for that source. */
static void offer_extra(struct search *s, const struct weft_wait *bad, uint32_t reader,
                        uint32_t source, uint32_t rank)
{
    struct analyse_parting c = {.what = ANALYSE_EXTRA_WAIT,
                                .when_ns = bad->from_ns,
                                .reader_good = reader,
                                .late = {.bad_ns = INT64_MIN}};
    if (rank ? !(s->d->mark[reader] & ANALYSE_CHANGED)
             : waits_for_kind(s, reader, s->d->side[1]->kind[bad->source]))
        return;
    c.rank = rank;
    c.reader_bad = bad->reader;
    c.early = (struct analyse_moment){source,       bad->source,    INT64_MIN,
                                      bad->from_ns, ANALYSE_WAITED, ANALYSE_WAITED};
    uint32_t had = notified_by(s->b, bad->source, bad->from_ns);
    if (had && had == analyse_count(s->b->notified_first, bad->source)) {
        c.late = c.early;
        c.late.bad_is = ANALYSE_NOTIFIED;
        c.late.bad_ns = notified_ns(s->b, bad->source, had - 1);
    }
    add_parting(s, c);
}

/* The good run's counterpart of a wait; *rank: its number among those for the same source. */
static const struct weft_wait *counterpart(struct search *s, uint32_t wait, uint32_t reader,
                                           bool by_name, uint32_t *rank)
{
    uint32_t source = s->b->wait[wait].source, other = s->d->good_of_bad[source];
    uint32_t what = by_name              ? what_is_waited_for(s, s->b, source, true)
                    : other == WEFT_NONE ? WEFT_NONE
                                         : weft_model_final(s->g->m, other);
    *rank = what == WEFT_NONE ? WEFT_NONE : rank_of(s, s->b, wait, by_name);
    return *rank == WEFT_NONE ? NULL : ranked_wait(s, s->g, reader, what, by_name, *rank);
}

/* Finds waits of the good run that nobody has in the bad one, though the reader ended well. */
static void find_left_out(struct search *s)
{
    const struct analyse_differ *d = s->d;
    for (uint32_t i = 0; i < s->g->waits && !d->failed; i++) {
        const struct weft_wait *w = &s->g->wait[i];
        uint32_t reader = d->bad_of_good[w->reader], source = d->bad_of_good[w->source];
        if (w->end != WEFT_WAIT_READ || reader == WEFT_NONE || source == WEFT_NONE ||
            !(d->mark[w->reader] & ANALYSE_RELEVANT) || d->bad_mark[source] & ANALYSE_USED ||
            analyse_dispensable(d, w->source))
            continue;
        enum analyse_ending e = analyse_ending_of(s->b->m, reader);
        if ((e != ANALYSE_VALUE && e != ANALYSE_SOMEHOW) ||
            weft_history_ended_ns(s->b, source) <= analyse_final_end_ns(s->b, reader))
            continue;
        add_parting(s, (struct analyse_parting){.what = ANALYSE_NO_WAIT,
                                                .when_ns = analyse_start_ns(s->b, source) +
                                                           w->from_ns -
                                                           analyse_start_ns(s->g, w->source),
                                                .early = {w->source, source, w->from_ns, INT64_MIN,
                                                          ANALYSE_WAITED, ANALYSE_WAITED},
                                                .reader_good = w->reader,
                                                .reader_bad = reader});
    }
}

static void compare_open_waits(struct search *s)
{
    struct analyse_differ *d = s->d;
    for (uint32_t i = 0; i < s->b->waits; i++) {
        const struct weft_wait *bad = &s->b->wait[i];
        uint32_t reader = d->good_of_bad[bad->reader], rank, rank_by_name;
        if (bad->end != WEFT_WAIT_OPEN || reader == WEFT_NONE ||
            !(d->mark[reader] & ANALYSE_RELEVANT))
            continue;
        const struct weft_wait *good = counterpart(s, i, reader, false, &rank);
        if (!good)
            good = counterpart(s, i, reader, true, &rank_by_name);
        rank = good && rank == WEFT_NONE ? rank_by_name : rank;
        if (good && good->end != WEFT_WAIT_OPEN && good->end != WEFT_WAIT_LEFT)
            compare_wait(s, good, bad, rank);
        else if (!good && rank != WEFT_NONE)
            offer_extra(s, bad, reader, d->good_of_bad[bad->source], rank);
    }
}

/* ---- Promises that end differently, are slower, or are not there ---- */

static struct analyse_moment ends_at(const struct search *s, uint32_t good, uint32_t bad)
{
    return (struct analyse_moment){.good = good,
                                   .bad = bad,
                                   .good_ns = analyse_final_end_ns(s->g, good),
                                   .bad_ns = analyse_final_end_ns(s->b, bad)};
}

static void compare_ending(struct search *s, uint32_t good, uint32_t bad)
{
    struct analyse_parting c = {.what = ANALYSE_ENDING, .early = ends_at(s, good, bad)};
    c.when_ns = c.early.bad_ns;
    if (!(s->d->mark[good] & ANALYSE_CHANGED)) {
        if (!(s->d->mark[good] & ANALYSE_SLOW))
            return;
        c.what = ANALYSE_SLOWER;
    } else if (analyse_ending_of(s->b->m, bad) == ANALYSE_OPEN) {
        if (s->differs[0][weft_model_final(s->g->m, good)] & WAITS)
            return;
        c.what = ANALYSE_UNRESOLVED;
        c.when_ns = analyse_start_ns(s->b, bad) + (c.early.good_ns - analyse_start_ns(s->g, good));
        c.early.bad_ns = INT64_MIN;
    }
    add_parting(s, c);
}

/* Compares promises that only one of the runs has, and that somebody waits for there. */
static void compare_lonely(struct search *s, uint32_t good, uint32_t bad)
{
    bool missing = bad == WEFT_NONE;
    const struct weft_history *h = missing ? s->g : s->b;
    uint32_t promise = missing ? good : bad, creator = h->m->promise[promise].creator;
    uint32_t other = missing ? s->d->bad_of_good[creator] : s->d->good_of_bad[creator];
    int64_t start = analyse_start_ns(h, promise);
    struct analyse_parting c = {
        .what = missing ? ANALYSE_MISSING : ANALYSE_ADDED,
        .when_ns = missing ? analyse_start_ns(s->b, other) + start - analyse_start_ns(s->g, creator)
                           : start,
        .early = {good, bad, missing ? start : INT64_MIN, missing ? INT64_MIN : start,
                  ANALYSE_RESOLVED, ANALYSE_RESOLVED}};
    add_parting(s, c);
}

/* Returns true if a promise of the good run ended worse in the bad one. */
static bool went_wrong(const struct search *s, uint32_t good)
{
    return good != WEFT_NONE && s->d->mark[good] & ANALYSE_CHANGED &&
           analyse_ended_worse(s->b, s->d->bad_of_good[good], s->g, good);
}

/* Returns true for an extra promise of the good run whose creator went wrong: it gave up. */
static bool gave_up(const struct search *s, uint32_t good)
{
    return s->d->mark[good] & ANALYSE_USED && went_wrong(s, s->g->m->promise[good].creator) &&
           !s->b->m->losses.overwritten && !analyse_dispensable(s->d, good);
}

/* Returns true for an extra promise of the bad run: something was done too often. */
static bool did_more(const struct search *s, uint32_t bad)
{
    return s->d->bad_mark[bad] & ANALYSE_USED && s->d->good_of_bad[bad] == WEFT_NONE &&
           went_wrong(s, s->d->good_of_bad[s->b->m->promise[bad].creator]) &&
           !s->g->m->losses.overwritten;
}

static void find_others(struct search *s)
{
    struct analyse_differ *d = s->d;
    for (uint32_t p = 1; p < s->g->m->promises && !d->failed; p++) {
        uint32_t bad = d->bad_of_good[p];
        if (!(d->mark[p] & ANALYSE_RELEVANT))
            continue;
        if (bad != WEFT_NONE)
            compare_ending(s, p, bad);
        else if (d->mark[p] & ANALYSE_LONELY || gave_up(s, p))
            compare_lonely(s, p, WEFT_NONE);
    }
    for (uint32_t p = 1; p < s->b->m->promises && !d->failed; p++)
        if (d->bad_mark[p] & ANALYSE_RELEVANT &&
            (d->bad_mark[p] & ANALYSE_LONELY || did_more(s, p)))
            compare_lonely(s, WEFT_NONE, p);
    for (uint32_t i = 0; i < d->out->changes && s->count == 0 && !d->failed; i++) {
        const struct weft_change_found *x = &d->out->change[i];
        if (x->kind == WEFT_CHANGE_UNREAD && !x->follows) {
            struct analyse_parting c = {.what = ANALYSE_UNREAD,
                                        .early = ends_at(s, x->good, x->bad)};
            c.when_ns = c.early.bad_ns;
            add_parting(s, c);
        }
    }
}

/* ---- Which of them is first ---- */

static bool find_causes(struct search *s, unsigned run)
{
    const struct weft_model *m = (run ? s->b : s->g)->m;
    int64_t *cause_ns = s->cause_ns[run] = weft_resize(NULL, m->promises, sizeof *cause_ns);
    s->d->failed |= !cause_ns;
    for (uint32_t p = 0; cause_ns && p < m->promises; p++)
        cause_ns[p] = INT64_MAX;
    for (uint32_t i = 0; cause_ns && i < m->interactions; i++) {
        const struct weft_interaction *x = &m->interaction[i];
        const uint32_t who = weft_model_final(m, x->actor), other = weft_model_final(m, x->other);
        if ((x->kind == WEFT_READS || x->kind == WEFT_WAITS) && s->differs[run][other] &&
            who != other)
            cause_ns[who] = weft_earlier(cause_ns[who], x->time_ns);
    }
    return cause_ns;
}

/* Returns true if the creator of a missing promise did something afterwards, or did the same kind
 * of thing before: then it skipped this one. */
static bool got_past(struct search *s, uint32_t good)
{
    const struct analyse_differ *d = s->d;
    const uint32_t *clan = d->side[0]->clan;
    uint32_t creator = s->g->m->promise[good].creator;
    analyse_each(i, s->g->children_first, creator) {
        uint32_t child = s->g->children[i];
        if (!may_go_on(s))
            return false;
        if (d->bad_of_good[child] != WEFT_NONE && d->mark[child] & ANALYSE_USED &&
            (clan[child] == clan[good] ||
             analyse_start_ns(s->g, child) > analyse_start_ns(s->g, good)))
            return true;
    }
    return false;
}

/* A promise is not a cause if it is missing because its creator ended earlier, or got less far. */
static void drop_unreached(struct search *s)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        const struct analyse_parting *c = &s->found[i];
        uint32_t good = c->early.good;
        if (c->what != ANALYSE_MISSING || got_past(s, good) ||
            !(s->differs[0][weft_model_final(s->g->m, s->g->m->promise[good].creator)] & DIFFERS))
            s->found[kept++] = *c;
    }
    s->count = kept;
}

static bool is_consequence(const struct search *s, const struct analyse_parting *c)
{
    if (c->what == ANALYSE_MISSING || c->what == ANALYSE_ADDED)
        return false; /* what led to it is earlier */
    if (is_wait(c->what) || c->what == ANALYSE_NO_WAIT)
        return s->cause_ns[1][weft_model_final(s->b->m, c->reader_bad)] <
               (c->what == ANALYSE_SWAPPED   ? c->wait.bad_ns
                : c->what == ANALYSE_NO_WAIT ? c->when_ns
                                             : c->early.bad_ns);
    const uint32_t good = weft_model_final(s->g->m, c->early.good),
                   bad = weft_model_final(s->b->m, c->early.bad),
                   by = analyse_resolver_of(s->g, good);
    return s->cause_ns[0][good] < INT64_MAX || s->cause_ns[1][bad] < INT64_MAX ||
           (by != WEFT_NONE && s->differs[0][weft_model_final(s->g->m, by)]);
}

/* The first that is not a consequence of another; if they form a circle, the first of all. */
static const struct analyse_parting *first_of(const struct search *s)
{
    const struct analyse_parting *best = NULL;
    bool of_best = true;
    for (uint32_t i = 0; i < s->count; i++) {
        const struct analyse_parting *c = &s->found[i];
        bool consequence = is_consequence(s, c);
        if (best && (consequence != of_best        ? consequence
                     : c->when_ns != best->when_ns ? c->when_ns > best->when_ns
                                                   : c->what >= best->what))
            continue;
        best = c;
        of_best = consequence;
    }
    return best;
}

/* ---- What led to it, though nobody waited for it ---- */

static uint32_t creator_in(const struct weft_model *m, uint32_t promise)
{
    return m->promise[promise].creator;
}

/* Something with the same creator ended differently right before the promise did: a time limit. */
static bool find_limit(const struct search *s, struct analyse_parting *c)
{
    enum { AT_ONCE_NS = 100000, MOST = 64 };
    const struct weft_model *m = s->b->m;
    uint32_t end = s->b->resolution[c->early.bad], above = creator_in(m, c->early.bad);
    for (uint32_t i = end, n = 0; end != WEFT_NONE && i-- > 0 && n < MOST; n++) {
        const struct weft_interaction *x = &m->interaction[i];
        uint32_t good = s->d->good_of_bad[x->other];
        if (c->when_ns - x->time_ns > AT_ONCE_NS)
            break;
        if (x->kind != WEFT_RESOLVES || good == WEFT_NONE ||
            !(s->d->mark[good] & ANALYSE_CHANGED) ||
            (creator_in(m, x->other) != above && creator_in(m, x->other) != c->early.bad &&
             creator_in(m, x->other) != creator_in(m, above)))
            continue;
        c->then = c->early.bad;
        c->early = ends_at(s, good, x->other);
        c->when_ns = c->early.bad_ns;
        return true;
    }
    return false;
}

/* Returns true if promises of two runs have the same type and the same name. */
static bool are_namesakes(const struct search *s, uint32_t good, uint32_t run, uint32_t other)
{
    const struct analyse_side *a = s->d->side[0], *b = &s->d->sides.side[run];
    if (other == WEFT_NONE)
        return false;
    uint32_t x = weft_model_name(a->h->m, good), y = weft_model_name(b->h->m, other);
    return a->kind[good] == b->kind[other] &&
           (x == WEFT_NONE || y == WEFT_NONE ? x == y : a->label[x] == b->label[y]);
}

/* What a promise read last before a time; with that name, unless it is WEFT_NONE. */
static uint32_t last_read(const struct search *s, const struct weft_history *h, uint32_t who,
                          int64_t until_ns, uint32_t like)
{
    const struct weft_model *m = h->m;
    uint32_t last = WEFT_NONE, i = m->promise[who].first_interaction;
    for (; i != WEFT_NONE && m->interaction[i].time_ns < until_ns; i = m->interaction[i].next)
        if (m->interaction[i].kind == WEFT_READS &&
            (like == WEFT_NONE || are_namesakes(s, m->interaction[i].other, s->d->goods, like)))
            last = m->interaction[i].other;
    return last;
}

/* Returns true if it is the same in another good run. */
static bool seen_by(const struct search *s, uint32_t good, uint32_t by)
{
    for (uint32_t r = 1; r < s->d->goods; r++) {
        const struct weft_history *h = s->d->sides.side[r].h;
        uint32_t p = s->d->other[r][good];
        if (p != WEFT_NONE && !are_namesakes(s, by, r, analyse_resolver_of(h, p)))
            return true;
    }
    return false;
}

/* What somebody last read had been resolved by a different promise. */
static void find_other_actor(const struct search *s, struct analyse_parting *c, uint32_t who,
                             int64_t until_ns)
{
    uint32_t in_good = s->d->good_of_bad[who], last = last_read(s, s->b, who, until_ns, WEFT_NONE);
    uint32_t good = last == WEFT_NONE || in_good == WEFT_NONE
                        ? WEFT_NONE
                        : last_read(s, s->g, in_good, INT64_MAX, last);
    if (good == WEFT_NONE)
        return;
    uint32_t by = analyse_resolver_of(s->g, good), bad_by = analyse_resolver_of(s->b, last);
    if (by == WEFT_NONE || bad_by == WEFT_NONE || are_namesakes(s, by, s->d->goods, bad_by) ||
        seen_by(s, good, by))
        return;
    *c = (struct analyse_parting){
        .what = ANALYSE_OTHER_ACTOR, .then = who, .early = ends_at(s, good, last)};
    c->when_ns = c->early.bad_ns;
}

/* Finds what ran for longer than ever in the good runs, while something took longer. */
static void find_blocker(const struct search *s, struct analyse_parting *c)
{
    const struct weft_diff *o = s->d->out;
    const uint32_t *kind = s->d->side[1]->kind;
    const struct analyse_parting slower = *c;
    int64_t from = analyse_start_ns(s->b, c->early.bad), longest = 0;
    for (uint32_t i = 0; o->runnings && o->running[0].longer && i < s->b->m->runs; i++) {
        const struct weft_run *run = &s->b->m->run[i];
        uint32_t who = s->b->run_promise[i];
        int64_t length = run->end_ns - run->start_ns;
        if (kind[who] != kind[o->running[0].bad] || run->end_ns <= from ||
            run->start_ns >= slower.early.bad_ns || length <= longest)
            continue;
        longest = length;
        *c = (struct analyse_parting){.what = ANALYSE_BLOCKER,
                                      .when_ns = run->start_ns,
                                      .then = slower.early.bad,
                                      .early = {.good = o->running[0].good,
                                                .bad = who,
                                                .good_ns = INT64_MIN,
                                                .bad_ns = run->start_ns}};
    }
}

static void follow_unwaited(const struct search *s, struct analyse_parting *c)
{
    if (c->what == ANALYSE_ENDING && find_limit(s, c))
        return;
    if (c->what == ANALYSE_ADDED)
        find_other_actor(s, c, creator_in(s->b->m, c->early.bad), c->when_ns);
    else if (c->what == ANALYSE_MISSING)
        find_other_actor(s, c, s->d->bad_of_good[creator_in(s->g->m, c->early.good)], c->when_ns);
    else if (c->what == ANALYSE_SLOWER)
        find_blocker(s, c);
    else if (c->what == ANALYSE_EXTRA_WAIT)
        find_other_actor(s, c, c->reader_bad, c->when_ns);
    else if (c->what == ANALYSE_ENDING || c->what == ANALYSE_UNRESOLVED)
        find_other_actor(s, c, c->early.bad, INT64_MAX);
}

/* ---- Where both were still alike ---- */

/* The last event of relevant promises that both runs have before they diverge. */
static void find_common(struct search *s, int64_t good_until, int64_t bad_until)
{
    struct weft_divergence *v = &s->d->out->divergence;
    v->good_ns = v->bad_ns = 0;
    for (uint32_t p = 1; p < s->g->m->promises; p++) {
        uint32_t bad = s->d->bad_of_good[p];
        if (!(s->d->mark[p] & ANALYSE_RELEVANT) || bad == WEFT_NONE)
            continue;
        const int64_t moments[2][2] = {
            {analyse_start_ns(s->g, p), analyse_start_ns(s->b, bad)},
            {weft_history_resolved_ns(s->g, p), weft_history_resolved_ns(s->b, bad)}};
        for (unsigned i = 0; i < 2; i++)
            if (moments[i][0] < good_until && moments[i][1] < bad_until &&
                moments[i][1] >= v->bad_ns) {
                v->good_ns = moments[i][0];
                v->bad_ns = moments[i][1];
            }
    }
}

static void set_moments(struct weft_divergence *v, const struct analyse_moment *first,
                        const struct analyse_moment *second)
{
    v->good_first = first->good;
    v->bad_first = first->bad;
    v->good_first_ns = first->good_ns;
    v->bad_first_ns = first->bad_ns;
    v->good_second = second->good;
    v->bad_second = second->bad;
    v->good_second_ns = second->good_ns;
    v->bad_second_ns = second->bad_ns;
}

static const struct analyse_moment no_moment = {
    .good = WEFT_NONE, .bad = WEFT_NONE, .good_ns = INT64_MIN, .bad_ns = INT64_MIN};

static void fill_divergence(struct search *s, const struct analyse_parting *c)
{
    struct weft_divergence *v = &s->d->out->divergence;
    bool two = c->what == ANALYSE_SWAPPED || c->what == ANALYSE_UNSIGNALLED ||
               (c->what == ANALYSE_EXTRA_WAIT && c->late.bad_is == ANALYSE_NOTIFIED);
    v->found = true;
    v->causal =
        (c->what != ANALYSE_ENDING && c->what != ANALYSE_UNRESOLVED) || c->then != WEFT_ROOT;
    v->text = analyse_say_parting(s->d, c);
    set_moments(v, &c->early, two ? &c->late : &no_moment);
    find_common(s, c->early.good_ns == INT64_MIN ? INT64_MAX : c->early.good_ns, c->when_ns);
}

void analyse_find_divergence(struct analyse_differ *d)
{
    struct search s = {.d = d, .g = d->good, .b = d->bad};
    set_moments(&d->out->divergence, &no_moment, &no_moment);
    s.budget = 8 * ((uint64_t)d->good->waits + d->bad->waits) + 1000;
    s.differs[0] = calloc(d->good->m->promises, sizeof *s.differs[0]);
    s.differs[1] = calloc(d->bad->m->promises, sizeof *s.differs[1]);
    d->failed |= !s.differs[0] || !s.differs[1];
    if (!d->failed) {
        compare_open_waits(&s);
        find_left_out(&s);
        find_others(&s);
    }
    if (!d->failed)
        drop_unreached(&s);
    if (s.count && !d->failed && find_causes(&s, 0) && find_causes(&s, 1)) {
        struct analyse_parting first = *first_of(&s);
        follow_unwaited(&s, &first);
        fill_divergence(&s, &first);
    }
    weft_free_all(s.found, s.differs[0], s.differs[1], s.cause_ns[0], s.cause_ns[1]);
}
