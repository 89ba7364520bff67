/* SPDX-License-Identifier: ISC */
/* Swallowed failures: a promise failed, and nobody waited for it, read it, or did anything that
 * looks like a reaction.
 * A failure is often passed on at once: the promise's creator fails, too, or is resolved, or
 * another one fails for the same reason. Then that promise is the one to examine. */
#include <stdlib.h>
#include <string.h>

#include "analyse/judge.h"
#include "analyse/types.h"

#define MS INT64_C(1000000)
#define CHANCE_NS (10 * MS) /* long enough for a loop to have had its turn */
#define ANSWER_NS MS        /* a direct answer to a failure comes within this time */
enum {
    NEAR = 32,      /* events that are examined before and after a failure */
    STREAMS = 16,   /* promises whose later events are examined */
    RUNS = 16,      /* runs of each */
    ANCESTORS = 16, /* creators that are examined */
};

enum looked { NOT_LOOKED, LOOKED, LEFT /* somebody had waited, and continued without it */ };

struct failure {
    uint32_t promise, family, reason;
    struct analyse_verdict verdict;
};

struct finder {
    struct analyse_search *s;
    const struct weft_model *m;
    const struct weft_history *h;
    bool *read;          /* by promise: it was read after it had ended */
    bool *family_read;   /* by family: a promise of it was read at least once */
    bool *family_missed; /* … a promise of it was fulfilled, and never read */
    uint32_t *origin;    /* by promise: the failure that it passes on, or WEFT_ROOT */
    uint32_t *stranded;  /* by promise: 1 + an open wait for something that it created, or 0 */
    bool any_read;       /* the program says who reads what */
    struct failure *failure;
    uint32_t failures, room;
};

/* ---- Who reads what ---- */

static void record_read(struct finder *f, uint32_t promise, int64_t time_ns)
{
    uint32_t final = weft_model_final(f->m, promise);
    f->read[final] |= time_ns >= f->m->promise[final].end_ns;
    f->family_read[f->s->families->of[final]] = true;
    f->family_read[f->s->families->of[promise]] = true;
    f->any_read = true;
}

/* Returns true if a reader that waited for p as one of a group continued only because of others in
 * it, at least two of them after p had failed, and then reported success. At least two: one is
 * enough for a reader that wants any of them. */
static bool is_passed_over(const struct finder *f, const struct weft_wait *wait, uint32_t p)
{
    const uint32_t *of = f->s->families->of;
    uint32_t first = f->h->runs_of_first[wait->reader], end = f->h->runs_of_first[wait->reader + 1];
    uint32_t others = 0;
    if (wait->end == WEFT_WAIT_READ || wait->reader == WEFT_ROOT ||
        f->m->promise[weft_model_final(f->m, wait->reader)].outcome != WEFT_FULFILLED)
        return false;
    for (uint32_t i = end; i > first && end - i < NEAR; i--) {
        const uint32_t run = f->h->runs_of[i - 1], other = analyse_run_read(f->h, run);
        if (f->m->run[run].end_ns < f->m->promise[p].end_ns)
            return others >= 2;
        if (other == WEFT_NONE || weft_model_final(f->m, other) == p)
            return false;
        others += of[other] == of[p];
    }
    return others >= 2 && end - first < NEAR;
}

static void record_reads(struct finder *f)
{
    for (uint32_t i = 0; i < f->m->interactions; i++) {
        const struct weft_interaction *x = &f->m->interaction[i];
        if (x->kind == WEFT_READS)
            record_read(f, x->other, x->time_ns);
        else if (x->kind == WEFT_SIGNALS)
            record_read(f, x->actor, x->time_ns);
    }
    for (uint32_t i = 0; i < f->h->waits; i++) {
        const struct weft_wait *w = &f->h->wait[i];
        uint32_t source = weft_model_final(f->m, w->source);
        if (w->end == WEFT_WAIT_READ ||
            (w->end == WEFT_WAIT_RAN &&
             !(analyse_has_failed(f->m, source) && is_passed_over(f, w, source))))
            record_read(f, w->source, w->until_ns);
        f->any_read = true;
    }
    for (uint32_t p = 1; p < f->m->promises; p++)
        f->family_missed[f->s->families->of[p]] |=
            f->m->promise[p].outcome == WEFT_FULFILLED && !f->read[p];
}

static bool is_made_by(const struct finder *f, uint32_t ancestor, uint32_t promise)
{
    for (unsigned i = 0; i < ANCESTORS && promise != WEFT_ROOT; i++) {
        promise = weft_model_final(f->m, f->m->promise[promise].creator);
        if (promise == ancestor)
            return promise != WEFT_ROOT;
    }
    return false;
}

/* Finds who still waits for what a failed promise should have resolved. */
static void record_stranded(struct finder *f)
{
    for (uint32_t i = 0; i < f->h->waits; i++) {
        const struct weft_wait *w = &f->h->wait[i];
        uint32_t p = weft_model_final(f->m, w->source);
        const bool hangs = w->end == WEFT_WAIT_OPEN && analyse_is_pending(f->m, p);
        for (unsigned k = 0; hangs && k < ANCESTORS && p != WEFT_ROOT; k++) {
            p = weft_model_final(f->m, f->m->promise[p].creator);
            if (analyse_has_failed(f->m, p) && !f->stranded[p])
                f->stranded[p] = 1 + i;
        }
    }
}

static enum looked looked_at(const struct finder *f, uint32_t p)
{
    enum looked looked = NOT_LOOKED;
    if (f->read[p])
        return LOOKED;
    analyse_each(i, f->h->waits_for_first, p) {
        const struct weft_wait *w = &f->h->wait[f->h->waits_for[i]];
        if (is_passed_over(f, w, p))
            continue;
        if (w->end == WEFT_WAIT_OPEN || w->until_ns >= f->m->promise[p].end_ns)
            return LOOKED;
        if (w->end == WEFT_WAIT_LEFT || w->end == WEFT_WAIT_ENDED)
            looked = LEFT;
    }
    return looked;
}

/* ---- Failures that are passed on ---- */

/* The run in which a promise did something; if it is not known, just that time. */
static struct weft_run run_of(const struct finder *f, uint32_t actor, int64_t time_ns)
{
    uint32_t run = weft_history_run_at(f->h, actor, time_ns);
    return run == WEFT_NONE ? (struct weft_run){.start_ns = time_ns, .end_ns = time_ns}
                            : f->m->run[run];
}

/* Returns true if the program says who looks at promises like p: somebody reads others of its sort;
 * or its creator says what it waits for, and p is not an independent task, which may handle the
 * failure itself. Then it means something that nobody looked at p. */
static bool says_who_looks(const struct finder *f, uint32_t p)
{
    const uint32_t creator = f->m->promise[p].creator, *waits = f->h->waits_of_first;
    return f->family_read[f->s->families->of[p]] ||
           (analyse_count(waits, p) == 0 && analyse_count(f->h->children_first, p) == 0 &&
            creator != WEFT_ROOT && analyse_count(waits, creator) > 0);
}

/* Returns true if the resolution of q, in the same run, passes on the failure of p. It does not if
 * q should have looked at p and reports success. */
static bool is_reported_by(const struct finder *f, uint32_t p, uint32_t q, bool by_p, bool later)
{
    const struct weft_model *m = f->m;
    const uint32_t reason = weft_model_reason(m, p), *of = f->s->families->of;
    bool same = later && analyse_has_failed(m, q) && reason != WEFT_NONE &&
                weft_model_reason(m, q) == reason && of[p] != of[q];
    bool above = is_made_by(f, q, p);
    if (above && m->promise[q].outcome == WEFT_FULFILLED && says_who_looks(f, p))
        return false;
    return q != p && (same || (by_p && later) || above) && !is_made_by(f, p, q);
}

/* The promise to which the failure of p was passed on, or WEFT_NONE. */
static uint32_t handed_on(const struct finder *f, uint32_t p)
{
    const struct weft_model *m = f->m;
    uint32_t at = f->h->resolution[p];
    if (at == WEFT_NONE)
        return WEFT_NONE;
    const uint32_t actor = m->interaction[at].actor;
    const struct weft_run run = run_of(f, actor, m->interaction[at].time_ns);
    uint32_t first = at > NEAR ? at - NEAR : 0;
    uint32_t last = m->interactions - at > NEAR ? at + NEAR : m->interactions;
    for (uint32_t i = first; i < last; i++) {
        const struct weft_interaction *x = &m->interaction[i];
        bool by_p = x->actor == p;
        if (x->kind != WEFT_RESOLVES || (x->actor != actor && !by_p) || x->time_ns < run.start_ns ||
            x->time_ns > run.end_ns)
            continue;
        uint32_t q = weft_model_final(m, (uint32_t)x->other);
        if (is_reported_by(f, p, q, by_p, i > at))
            return q;
    }
    return WEFT_NONE;
}

/* ---- Guards ---- */

/* Returns true if the loops have continued after the failure: somebody could have looked. */
static bool had_chance(const struct finder *f, uint32_t p)
{
    const struct weft_history *h = f->h;
    int64_t time = f->m->promise[p].end_ns, end = f->m->end_ns;
    uint32_t idles = 0, runs = 0, enough = 2;
    const struct weft_promise *creator = &f->m->promise[f->m->promise[p].creator];
    bool reported = creator->outcome == WEFT_FULFILLED && creator->end_ns >= time;
    if (end - time >= CHANCE_NS || (reported && says_who_looks(f, p)))
        return true;
    for (uint32_t s = 0; s < h->streams && s < STREAMS; s++) {
        uint32_t first = weft_history_stream_from(h, s, time);
        idles += h->is_loop[s] ? weft_history_idles(h, s, time, end, 2) : 0;
        for (uint32_t i = first; i < h->stream_first[s + 1] && i - first < RUNS; i++) {
            uint32_t who = h->run_promise[h->stream_run[i]];
            runs += who != WEFT_ROOT && who != p;
        }
    }
    if (f->m->losses.ended == WEFT_ENDED_STOPPED) /* nobody will look any more */
        enough = 1;
    return idles >= enough || runs >= 2 * enough;
}

/* Returns true if the creator runs right after the failure for no other known reason. Not if it
 * only continues what it did when it started the promise. */
static bool creator_follows(const struct finder *f, uint32_t p, uint32_t actor, int64_t time)
{
    const struct weft_history *h = f->h;
    uint32_t creator = f->m->promise[p].creator, run = weft_history_run_at(h, actor, time);
    if (run == WEFT_NONE || creator == WEFT_ROOT || creator == actor)
        return false;
    uint32_t stream = weft_history_stream(h, run), first = h->stream_first[stream];
    uint32_t at = weft_history_stream_from(h, stream, f->m->run[run].start_ns);
    uint32_t end = h->stream_first[stream + 1];
    bool nested = at > first && h->run_promise[h->stream_run[at - 1]] == creator;
    while (at < end && f->m->run[h->stream_run[at]].start_ns < f->m->run[run].end_ns)
        at++;
    for (unsigned i = 0; i < 2 && at < end; i++, at++) {
        uint32_t next = h->stream_run[at];
        if (h->run_promise[next] == WEFT_ROOT)
            continue;
        bool ends = f->m->promise[creator].outcome == WEFT_FULFILLED &&
                    f->m->promise[creator].end_ns <= f->m->run[next].end_ns;
        if (ends && says_who_looks(f, p)) /* it reports success without having looked */
            return false;
        return h->run_promise[next] == creator && h->run_cause[next] == WEFT_NONE && !nested &&
               weft_history_idles(h, stream, time, f->m->run[next].start_ns, 1) == 0;
    }
    return false;
}

/* Returns true if its creator reacts in the run in which it failed: it creates something (if it is
 * the event loop: of the same sort), or gets a label. */
static bool is_answered(const struct finder *f, uint32_t p, uint32_t actor, int64_t time)
{
    const uint32_t creator = f->m->promise[p].creator, *of = f->s->families->of;
    const int64_t end = weft_earlier(run_of(f, actor, time).end_ns, analyse_sum(time, ANSWER_NS));
    const uint32_t first = weft_history_child_from(f->h, creator, time + 1);
    for (uint32_t i = first; i < f->h->children_first[creator + 1] && i - first < NEAR; i++) {
        if (f->m->promise[f->h->children[i]].start_ns > end)
            break;
        if (creator != WEFT_ROOT || of[f->h->children[i]] == of[p])
            return true;
    }
    return creator == actor && creator != WEFT_ROOT &&
           analyse_is_labelled(f->m, creator, time, end, NEAR);
}

/* Returns true if its creator still waits for one of its sort: it may look at this one later. */
static bool may_come_to(const struct finder *f, uint32_t p)
{
    const uint32_t creator = f->m->promise[p].creator, *of = f->s->families->of;
    const struct weft_wait *w = analyse_last_wait(f->h, creator);
    return creator != WEFT_ROOT && w && w->end == WEFT_WAIT_OPEN && of[w->source] == of[p];
}

/* Returns true if the creator may have looked at it without an event: it looked at a younger one of
 * the same sort later, and others that were there already are not read either. */
static bool may_have_come(const struct finder *f, uint32_t p)
{
    uint32_t creator = f->m->promise[p].creator, family = f->s->families->of[p];
    if (creator == WEFT_ROOT || !f->family_missed[family])
        return false;
    uint32_t first = f->h->waits_of_first[creator], end = f->h->waits_of_first[creator + 1];
    for (uint32_t i = end; i > first && end - i < NEAR; i--) {
        const struct weft_wait *w = &f->h->wait[f->h->waits_of[i - 1]];
        if (w->source > p && f->s->families->of[w->source] == family && analyse_is_served(w) &&
            w->until_ns >= f->m->promise[p].end_ns)
            return true;
    }
    return false;
}

/* Returns true if it is for somebody outside, at the top, and none of its sort is ever read. */
static bool is_own_master(const struct finder *f, uint32_t p)
{
    uint32_t creator = f->m->promise[p].creator;
    bool top = creator == WEFT_ROOT || f->m->promise[creator].background;
    return !f->family_read[f->s->families->of[p]] &&
           ((top && analyse_type(f->m, p) & ANALYSE_OUTSIDE) ||
            analyse_type(f->m, creator) & ANALYSE_LASTING);
}

/* Returns true if its reason is one of these, alone or before a colon, as runtimes write it. */
static bool reason_is(const struct weft_model *m, uint32_t p, const char *const *classes)
{
    uint32_t size, reason = weft_model_reason(m, p);
    const char *text = reason == WEFT_NONE ? "" : weft_model_text(m, reason, &size);
    for (; reason != WEFT_NONE && *classes; classes++) {
        size_t n = strlen(*classes);
        if (size >= n && memcmp(text, *classes, n) == 0 && (size == n || text[n] == ':'))
            return true;
    }
    return false;
}

/* The signs of a failure: what is known about those that could have looked at it. */
static uint64_t signs_of_failure(const struct finder *f, uint32_t p, enum looked looked)
{
    static const char *const unhandled[] = {"unhandled rejection", NULL};
    static const char *const cancelled[] = {"AbortError", "CancelledError", "Cancelled", NULL};
    const struct weft_model *m = f->m;
    const uint32_t creator = m->promise[p].creator, at = f->h->resolution[p];
    const struct weft_promise *c = &m->promise[creator];
    const uint32_t actor = at == WEFT_NONE ? WEFT_ROOT : m->interaction[at].actor;
    const int64_t time = m->promise[p].end_ns;
    bool given_up =
        c->outcome == WEFT_FAILED || c->outcome == WEFT_CANCELLED || c->outcome == WEFT_FORGOTTEN;
    bool follows = creator_follows(f, p, actor, time) || is_answered(f, p, actor, time);
    /* There is nobody above the program itself that could look. */
    bool program = p == 1 && creator == WEFT_ROOT && analyse_count(f->h->children_first, p) > 0;
    return analyse_signs(f->s, p) | (looked == LEFT ? ANALYSE_F_LEFT : 0) |
           (looked == NOT_LOOKED && reason_is(m, p, unhandled) ? ANALYSE_F_UNHANDLED : 0) |
           (reason_is(m, p, cancelled) ? ANALYSE_F_CANCELLED : 0) |
           (analyse_text_called(f->s, weft_model_reason(m, p)) & ANALYSE_GIVEN_UP ? ANALYSE_CALLED
                                                                                  : 0) |
           (given_up && c->end_ns <= time ? ANALYSE_F_GIVEN_UP : 0) |
           (program ? ANALYSE_F_PROGRAM : 0) | (is_own_master(f, p) ? ANALYSE_F_MASTER : 0) |
           (follows ? creator == WEFT_ROOT ? ANALYSE_F_NEXT : ANALYSE_F_KNOWN : 0) |
           (may_come_to(f, p) ? ANALYSE_F_LATER : 0) |
           (may_have_come(f, p) ? ANALYSE_F_PASSED : 0) |
           (time < m->resumed_ns ? ANALYSE_F_PAUSED : 0) |
           (had_chance(f, p) ? ANALYSE_F_CHANCE : 0) |
           (weft_model_name(m, p) == WEFT_NONE ? ANALYSE_F_NAMELESS : 0) |
           (f->any_read ? ANALYSE_F_READS : 0);
}

/* ---- Findings ---- */

static void collect_failures(struct finder *f)
{
    for (uint32_t p = 1; p < f->m->promises; p++) {
        const enum looked looked = analyse_has_failed(f->m, p) ? looked_at(f, p) : LOOKED;
        if (looked == LOOKED)
            continue;
        const uint32_t on = handed_on(f, p);
        if (on != WEFT_NONE) {
            f->origin[on] = p;
            continue;
        }
        struct failure x = {
            .promise = p, .family = f->s->families->of[p], .reason = weft_model_reason(f->m, p)};
        analyse_judge(&x.verdict, WEFT_FINDING_SWALLOWED_FAILURE, signs_of_failure(f, p, looked));
        analyse_append(f->s, &f->failure, &f->failures, &f->room, &x, sizeof x);
    }
}

/* Sorts by family and reason together; within them, the most certain and earliest first. */
static int by_family_and_reason(const void *a, const void *b)
{
    const struct failure *x = a, *y = b;
    WEFT_ORDER(x->family, y->family);
    WEFT_ORDER(x->reason, y->reason);
    WEFT_ORDER(y->verdict.confidence, x->verdict.confidence);
    return weft_order(x->promise, y->promise);
}

/* Adds the evidence; w: the open wait for what it should have resolved, or NULL. */
static void prove_failure(const struct finder *f, uint32_t p, const struct weft_wait *w)
{
    const uint32_t origin = f->origin[p];
    const uint32_t from = origin == WEFT_ROOT ? WEFT_NONE : f->h->resolution[origin];
    const struct weft_promise *q = &f->m->promise[p];
    if (q->created)
        analyse_show_created(f->s, p);
    if (from != WEFT_NONE && f->m->interaction[from].time_ns <= q->end_ns)
        analyse_show(f->s, f->m->interaction[from].time_ns, WEFT_EVIDENCE_FAILED, origin,
                     f->m->interaction[from].actor);
    analyse_show(f->s, q->end_ns, WEFT_EVIDENCE_FAILED, p, analyse_resolver(f->h, p));
    if (!w)
        return;
    analyse_show_waits_still(f->s, w);
    analyse_affects(f->s, w->reader);
    analyse_affects(f->s, w->source);
}

static void report_failure(const struct finder *f, const struct failure *x, uint32_t count)
{
    const uint32_t p = x->promise, wait = f->stranded[p];
    const struct weft_wait *w = wait ? &f->h->wait[wait - 1] : NULL;
    const int64_t time = f->m->promise[p].end_ns, end = w ? f->m->end_ns : time;
    if (!analyse_finding_add(f->s, WEFT_FINDING_SWALLOWED_FAILURE, &x->verdict, p, time, end,
                             weft_later(end - time, 0)))
        return;
    analyse_say(f->s, SAY_SWALLOWED, PROMISE(promise, p),
                PROMISE(stranded, w ? w->reader : WEFT_NONE),
                PROMISE(source, w ? w->source : WEFT_NONE));
    if (count > 1)
        analyse_say(f->s, SAY_SWALLOWED_OFTEN, AMOUNT(others, count - 1));
    f->s->finding->count = count;
    prove_failure(f, p, w);
}

/* Adds one finding for each family, reason and confidence. */
static void report_failures(struct finder *f)
{
    if (!f->failures)
        return;
    qsort(f->failure, f->failures, sizeof *f->failure, by_family_and_reason);
    const struct failure *x = f->failure, *end = x + f->failures;
    while (x < end) {
        const struct failure *first = x, *worst = x;
        uint32_t count = 0;
        for (; x < end && x->family == first->family && x->reason == first->reason; x++) {
            if (x->verdict.confidence != first->verdict.confidence)
                continue;
            count++;
            if (!f->stranded[worst->promise] && f->stranded[x->promise])
                worst = x;
        }
        report_failure(f, worst, count);
    }
}

void analyse_find_failures(struct analyse_search *s)
{
    struct finder f = {.s = s, .m = s->m, .h = s->h};
    f.read = analyse_take(s, f.m->promises, sizeof *f.read);
    f.family_read = analyse_take(s, s->families->count, sizeof *f.family_read);
    f.family_missed = analyse_take(s, s->families->count, sizeof *f.family_missed);
    f.origin = analyse_take(s, f.m->promises, sizeof *f.origin);
    f.stranded = analyse_take(s, f.m->promises, sizeof *f.stranded);
    if (!s->failed) {
        record_reads(&f);
        record_stranded(&f);
        collect_failures(&f);
        report_failures(&f);
    }
}
