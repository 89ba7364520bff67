/* SPDX-License-Identifier: ISC */
/* One cause is one finding: a finding that follows from another becomes part of it. */
#include "analyse/finding.h"

static bool is_hang(const struct weft_finding *f)
{
    return f->kind == WEFT_FINDING_HANG_ROOT || f->kind == WEFT_FINDING_NEVER_RESOLVED ||
           f->kind == WEFT_FINDING_DEADLOCK || f->kind == WEFT_FINDING_LOST_WAKEUP;
}

static uint32_t family(const struct analyse_search *s, uint32_t promise)
{
    return s->families->of[weft_model_final(s->m, promise)];
}

static bool is_listed(const struct weft_finding *f, uint32_t promise)
{
    if (f->promise == promise)
        return true;
    for (uint32_t i = 0; i < f->affecteds; i++)
        if (f->affected[i] == promise)
            return true;
    return false;
}

/* The first piece of evidence of that kind, about those promises (ANY: about any), or NULL. */
#define ANY (WEFT_NONE - 1)
static const struct weft_evidence *find_evidence(const struct weft_finding *f,
                                                 enum weft_evidence_event event, uint32_t promise,
                                                 uint32_t other)
{
    for (uint32_t i = 0; i < f->evidences; i++) {
        const struct weft_evidence *e = &f->evidence[i];
        if (e->event == event && (promise == ANY || e->promise == promise) &&
            (other == ANY || e->other == other))
            return e;
    }
    return NULL;
}

/* ---- A failure that nobody looked at, and what hangs because of it ---- */

/* The evidence that the failed promise holds what the hanging one waits for, or NULL. */
static const struct weft_evidence *evidence_of_hold(const struct weft_finding *hang)
{
    return find_evidence(hang, WEFT_EVIDENCE_ACQUIRED, analyse_hang_failure(hang), hang->promise);
}

static void say_what_hangs(struct analyse_search *s, const struct weft_finding *hang)
{
    const struct weft_evidence *waits =
        find_evidence(hang, WEFT_EVIDENCE_WAITS_STILL, ANY, hang->promise);
    const uint32_t reader = waits ? waits->promise : WEFT_NONE;
    const struct weft_evidence *got = evidence_of_hold(hang);
    analyse_say(s,
                reader == WEFT_NONE ? (got ? SAY_FAILED_HOLDING : SAY_FAILED_UNRESOLVED)
                : got               ? SAY_HANGS_FOR_HELD
                                    : SAY_HANGS_FOR_FAILED,
                PROMISE(waiter, reader), PROMISE(promise, hang->promise),
                TIME(since, got ? got->time_ns : INT64_MIN));
}

static void take_over_hang(struct analyse_search *s, struct weft_finding *f,
                           const struct weft_finding *hang)
{
    s->finding = f;
    const struct weft_evidence *waits = find_evidence(hang, WEFT_EVIDENCE_WAITS_STILL, ANY, ANY);
    const bool known = find_evidence(f, WEFT_EVIDENCE_WAITS_STILL, ANY, ANY);
    if (!known) /* otherwise the finding says so itself */
        say_what_hangs(s, hang);
    if (!known && waits)
        analyse_show(s, waits->time_ns, waits->event, waits->promise, waits->other);
    const struct weft_evidence *got = evidence_of_hold(hang);
    if (got)
        analyse_show(s, got->time_ns, got->event, got->promise, got->other);
    if (!is_listed(f, hang->promise))
        analyse_affects(s, hang->promise);
    for (uint32_t i = 0; i < hang->affecteds; i++)
        if (!is_listed(f, hang->affected[i]))
            analyse_affects(s, hang->affected[i]);
    f->affected_total += hang->affected_total - hang->affecteds; /* those that are not listed */
    f->cost_ns = hang->cost_ns > f->cost_ns ? hang->cost_ns : f->cost_ns;
    f->end_ns = hang->end_ns > f->end_ns ? hang->end_ns : f->end_ns;
    if (hang->confidence > f->confidence) {
        f->confidence = hang->confidence;
        analyse_doubt(s, hang->doubt);
    }
}

/* Findings about failures, by family. */
struct failures {
    uint32_t *first, *next; /* first: by family, next: by finding; 1 + its index, or 0 */
};

/* The finding of a failure, or of others like it. */
static struct weft_finding *find_failure(const struct analyse_search *s, const struct failures *by,
                                         uint32_t failed)
{
    enum { LOOKED_AT = 1000 };
    struct weft_finding *like = NULL;
    uint32_t i = by->first[family(s, failed)];
    for (unsigned n = 0; i && n < LOOKED_AT; i = by->next[i - 1], n++) {
        struct weft_finding *f = &s->out->finding[i - 1];
        if (f->promise == failed)
            return f;
        if (f->count > 1)
            like = f;
    }
    return like;
}

static void join_failures(struct analyse_search *s, const struct failures *by, bool *gone)
{
    for (uint32_t i = 0; i < s->out->count; i++)
        if (s->out->finding[i].kind == WEFT_FINDING_SWALLOWED_FAILURE) {
            uint32_t *first = &by->first[family(s, s->out->finding[i].promise)];
            by->next[i] = *first;
            *first = i + 1;
        }
    for (uint32_t i = 0; i < s->out->count && !s->failed; i++) {
        const struct weft_finding *hang = &s->out->finding[i];
        uint32_t failed = is_hang(hang) ? analyse_hang_failure(hang) : WEFT_NONE;
        struct weft_finding *f = failed == WEFT_NONE ? NULL : find_failure(s, by, failed);
        if (!f)
            continue;
        if (hang->promise == failed) { /* the failure itself is what nobody was notified of */
            gone[f - s->out->finding] = true;
            continue;
        }
        take_over_hang(s, f, hang);
        gone[i] = true;
    }
}

/* ---- Leaks that come from what hangs ---- */

/* Drops leaks that only grow because their promises wait for a root that hangs. hung: by family. */
static void join_leaks(const struct analyse_search *s, bool *hung, bool *gone)
{
    for (uint32_t i = 0; i < s->out->count; i++) {
        const struct weft_finding *f = &s->out->finding[i];
        if (!is_hang(f) || f->kind == WEFT_FINDING_NEVER_RESOLVED || gone[i] ||
            f->confidence < WEFT_LIKELY)
            continue;
        hung[family(s, f->promise)] = true;
        for (uint32_t k = 0; k < f->affecteds; k++)
            hung[family(s, f->affected[k])] = true;
    }
    for (uint32_t i = 0; i < s->out->count; i++)
        gone[i] |= s->out->finding[i].kind == WEFT_FINDING_LEAK &&
                   hung[family(s, s->out->finding[i].promise)];
}

/* ---- A pool that is exhausted forever, and what hangs because of it ---- */

static bool mentions(const struct weft_finding *f, uint32_t promise)
{
    for (uint32_t i = 0; i < f->evidences; i++)
        if (f->evidence[i].promise == promise || f->evidence[i].other == promise)
            return true;
    return f->promise == promise;
}

/* The finding about what hangs also says who holds it. */
static void join_pools(const struct analyse_search *s, bool *gone)
{
    enum { POOLS = 16 };
    for (uint32_t i = 0, n = 0; i < s->out->count && n < POOLS; i++) {
        const struct weft_finding *pool = &s->out->finding[i];
        if (pool->kind != WEFT_FINDING_POOL_EXHAUSTED)
            continue;
        n++;
        for (uint32_t k = 0; k < s->out->count; k++) {
            const struct weft_finding *f = &s->out->finding[k];
            if (!is_hang(f) || gone[k] || !mentions(f, pool->promise))
                continue;
            if (f->confidence >= pool->confidence)
                gone[i] = true;
            else if (f->promise == pool->promise)
                gone[k] = true;
        }
    }
}

/* ---- What is repeated ---- */

/* Returns true if a finding only describes a consequence of another: the attempts of a storm are
 * many, one after another, and each fails; a promise that polls continues late. */
static bool is_consequence_of(const struct analyse_search *s, const struct weft_finding *f,
                              const struct weft_finding *from)
{
    const uint32_t other = from->affecteds ? from->affected[0] : from->promise;
    bool same = weft_model_final(s->m, f->promise) == weft_model_final(s->m, from->promise);
    if (f->confidence > from->confidence)
        return false;
    if (from->kind == WEFT_FINDING_RETRY_STORM || from->kind == WEFT_FINDING_LIVELOCK)
        return (same && (f->kind == WEFT_FINDING_SERIAL_WAITS || f->kind == WEFT_FINDING_SPIN)) ||
               (f->kind == WEFT_FINDING_SWALLOWED_FAILURE &&
                family(s, f->promise) == family(s, other));
    return from->kind == WEFT_FINDING_POLLING && f->kind == WEFT_FINDING_SLOW_WAKE &&
           (family(s, f->promise) == family(s, from->promise) ||
            family(s, f->promise) == family(s, other));
}

/* What has stopped, and what hangs because of it, are the same thing. */
static void join_repeats(const struct analyse_search *s, bool *gone)
{
    enum { MANY = 64 };
    for (uint32_t i = 0, n = 0; i < s->out->count && n < MANY; i++) {
        const struct weft_finding *x = &s->out->finding[i];
        if (x->kind != WEFT_FINDING_RETRY_STORM && x->kind != WEFT_FINDING_STOPPED &&
            x->kind != WEFT_FINDING_LIVELOCK && x->kind != WEFT_FINDING_POLLING)
            continue;
        n++;
        for (uint32_t k = 0; k < s->out->count; k++) {
            const struct weft_finding *f = &s->out->finding[k];
            gone[k] |= is_consequence_of(s, f, x);
            if (x->kind == WEFT_FINDING_STOPPED && is_hang(f) && !gone[k] &&
                weft_model_final(s->m, f->promise) == weft_model_final(s->m, x->promise))
                gone[f->confidence >= x->confidence ? i : k] = true;
        }
    }
}

/* ---- What hangs because all workers wait ---- */

static void join_workers(const struct analyse_search *s, bool *gone)
{
    enum { POOLS = 16 };
    for (uint32_t i = 0, n = 0; i < s->out->count && n < POOLS; i++) {
        const struct weft_finding *pool = &s->out->finding[i];
        if (pool->kind != WEFT_FINDING_POOL_DEADLOCK)
            continue;
        n++;
        for (uint32_t k = 0; k < s->out->count; k++) {
            const struct weft_finding *f = &s->out->finding[k];
            bool same = family(s, f->promise) == family(s, pool->promise);
            for (uint32_t e = 0; e < pool->evidences; e++)
                same |= pool->evidence[e].event == WEFT_EVIDENCE_WAITS_STILL &&
                        (f->promise == pool->evidence[e].promise ||
                         family(s, f->promise) == family(s, pool->evidence[e].other));
            gone[k] |= same && (is_hang(f) || f->kind == WEFT_FINDING_LEAK) &&
                       f->confidence <= pool->confidence;
            gone[k] |= f->kind == WEFT_FINDING_LOOP_BLOCKED &&
                       find_evidence(f, WEFT_EVIDENCE_RUNS_STILL, ANY, ANY) &&
                       find_evidence(pool, WEFT_EVIDENCE_WAITS_STILL, f->promise,
                                     ANY); /* its thread stands still */
        }
    }
}

/* ---- Queues that grow for a reason that is reported ---- */

static bool says_why(const struct weft_finding *f)
{
    return f->confidence >= WEFT_LIKELY &&
           (f->kind == WEFT_FINDING_CONTENTION || f->kind == WEFT_FINDING_WORKERS_BUSY ||
            f->kind == WEFT_FINDING_POOL_EXHAUSTED || f->kind == WEFT_FINDING_LOOP_BLOCKED);
}

/* grows: by family, how certain it is, from 1 on. A leak is reported as such only if the queue is
 * less certain. */
static void join_growth(const struct analyse_search *s, unsigned char *grows, bool *gone)
{
    bool any = false, why = false;
    for (uint32_t i = 0; i < s->out->count; i++) {
        const struct weft_finding *f = &s->out->finding[i];
        why |= says_why(f) && !gone[i];
        if (f->kind != WEFT_FINDING_QUEUE_GROWTH)
            continue;
        grows[family(s, f->promise)] = (unsigned char)(1 + f->confidence);
        any = true;
    }
    for (uint32_t i = 0; i < s->out->count && any; i++) {
        const struct weft_finding *f = &s->out->finding[i];
        gone[i] |= (f->kind == WEFT_FINDING_QUEUE_GROWTH && why) ||
                   (f->kind == WEFT_FINDING_LEAK && grows[family(s, f->promise)] > f->confidence);
    }
}

/* ---- What spins ---- */

/* A promise that spins waits again and again, and blocks the loop. spins: by family, 1 + the index
 * of one of them, or 0. */
static void join_spins(const struct analyse_search *s, uint32_t *spins, bool *gone)
{
    for (uint32_t i = 0; i < s->out->count; i++)
        if (s->out->finding[i].kind == WEFT_FINDING_SPIN)
            spins[family(s, s->out->finding[i].promise)] = i + 1;
    for (uint32_t i = 0; i < s->out->count; i++) {
        const struct weft_finding *f = &s->out->finding[i];
        uint32_t spin = spins[family(s, f->promise)];
        if ((f->kind != WEFT_FINDING_SERIAL_WAITS && f->kind != WEFT_FINDING_LOOP_BLOCKED) || !spin)
            continue;
        const struct weft_finding *x = &s->out->finding[spin - 1];
        if (weft_model_final(s->m, x->promise) == weft_model_final(s->m, f->promise) &&
            (x->confidence >= WEFT_LIKELY || x->confidence >= f->confidence))
            gone[i] = true;
    }
}

void analyse_join(struct analyse_search *s)
{
    struct weft_findings *out = s->out;
    uint32_t kept = 0, families = s->families->count;
    bool *gone = analyse_take(s, out->count, sizeof *gone);
    bool *hung = analyse_take(s, families, sizeof *hung);
    uint32_t *spins = analyse_take(s, families, sizeof *spins);
    unsigned char *grows = analyse_take(s, families, sizeof *grows);
    struct failures by = {analyse_take(s, families, sizeof *by.first),
                          analyse_take(s, out->count, sizeof *by.next)};
    if (s->failed)
        return;
    join_failures(s, &by, gone);
    join_leaks(s, hung, gone);
    join_repeats(s, gone);
    join_spins(s, spins, gone);
    join_pools(s, gone);
    join_workers(s, gone);
    join_growth(s, grows, gone);
    for (uint32_t i = 0; i < out->count; i++)
        if (gone[i])
            analyse_finding_fini(&out->finding[i]);
        else
            out->finding[kept++] = out->finding[i];
    out->count = kept;
}
