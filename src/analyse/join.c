/* SPDX-License-Identifier: ISC */
/* One cause is one finding: a finding that follows from another becomes part of it. */
#include "analyse/finding.h"

#define K(kind) (1u << WEFT_FINDING_##kind)
#define HANGS (K(HANG_ROOT) | K(NEVER_RESOLVED) | K(DEADLOCK) | K(LOST_WAKEUP))

static bool is(const struct weft_finding *f, uint32_t kinds)
{
    return kinds >> f->kind & 1;
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
        if (is(&s->out->finding[i], K(SWALLOWED_FAILURE))) {
            uint32_t *first = &by->first[family(s, s->out->finding[i].promise)];
            by->next[i] = *first;
            *first = i + 1;
        }
    for (uint32_t i = 0; i < s->out->count && !s->failed; i++) {
        const struct weft_finding *hang = &s->out->finding[i];
        uint32_t failed = is(hang, HANGS) ? analyse_hang_failure(hang) : WEFT_NONE;
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
        if (!is(f, HANGS & ~K(NEVER_RESOLVED)) || gone[i] || f->confidence < WEFT_LIKELY)
            continue;
        hung[family(s, f->promise)] = true;
        for (uint32_t k = 0; k < f->affecteds; k++)
            hung[family(s, f->affected[k])] = true;
    }
    for (uint32_t i = 0; i < s->out->count; i++)
        gone[i] |= is(&s->out->finding[i], K(LEAK)) && hung[family(s, s->out->finding[i].promise)];
}

/* ---- Pairs ---- */

/* Joins a finding x and another one, f, and sets gone[i] or gone[k] if it is dropped. */
typedef void join_fn(const struct analyse_search *s, uint32_t i, uint32_t k, bool *gone);

/* Calls it for all pairs of a finding of these kinds, at most `most` of them, and any finding. */
static void join_pairs(const struct analyse_search *s, uint32_t kinds, uint32_t most, join_fn *join,
                       bool *gone)
{
    for (uint32_t i = 0; i < s->out->count && most > 0; i++) {
        if (!is(&s->out->finding[i], kinds))
            continue;
        most--;
        for (uint32_t k = 0; k < s->out->count; k++)
            join(s, i, k, gone);
    }
}

static bool mentions(const struct weft_finding *f, uint32_t promise)
{
    for (uint32_t i = 0; i < f->evidences; i++)
        if (f->evidence[i].promise == promise || f->evidence[i].other == promise)
            return true;
    return f->promise == promise;
}

/* An exhausted pool: the finding about what hangs because of it also says who holds it. */
static void join_pool(const struct analyse_search *s, uint32_t i, uint32_t k, bool *gone)
{
    const struct weft_finding *pool = &s->out->finding[i], *f = &s->out->finding[k];
    if (!is(f, HANGS) || gone[k] || !mentions(f, pool->promise))
        return;
    if (f->confidence >= pool->confidence)
        gone[i] = true;
    else if (f->promise == pool->promise)
        gone[k] = true;
}

/* Returns true if a finding only describes a consequence of another: the attempts of a storm are
 * many, one after another, and each fails; a promise that polls continues late. */
static bool is_consequence_of(const struct analyse_search *s, const struct weft_finding *f,
                              const struct weft_finding *from)
{
    const uint32_t other = from->affecteds ? from->affected[0] : from->promise;
    const bool same = weft_model_final(s->m, f->promise) == weft_model_final(s->m, from->promise),
               like_other = family(s, f->promise) == family(s, other);
    if (f->confidence > from->confidence)
        return false;
    if (is(from, K(RETRY_STORM) | K(LIVELOCK)))
        return (same && is(f, K(SERIAL_WAITS) | K(SPIN))) ||
               (is(f, K(SWALLOWED_FAILURE)) && like_other);
    return is(from, K(POLLING)) && is(f, K(SLOW_WAKE)) &&
           (family(s, f->promise) == family(s, from->promise) || like_other);
}

/* What has stopped, and what hangs because of it, are the same thing. */
static void join_repeat(const struct analyse_search *s, uint32_t i, uint32_t k, bool *gone)
{
    const struct weft_finding *x = &s->out->finding[i], *f = &s->out->finding[k];
    gone[k] |= is_consequence_of(s, f, x);
    if (is(x, K(STOPPED)) && is(f, HANGS) && !gone[k] &&
        weft_model_final(s->m, f->promise) == weft_model_final(s->m, x->promise))
        gone[f->confidence >= x->confidence ? i : k] = true;
}

/* What hangs because all workers wait. */
static void join_workers(const struct analyse_search *s, uint32_t i, uint32_t k, bool *gone)
{
    const struct weft_finding *pool = &s->out->finding[i], *f = &s->out->finding[k];
    bool same = family(s, f->promise) == family(s, pool->promise);
    for (uint32_t e = 0; e < pool->evidences; e++)
        same |= pool->evidence[e].event == WEFT_EVIDENCE_WAITS_STILL &&
                (f->promise == pool->evidence[e].promise ||
                 family(s, f->promise) == family(s, pool->evidence[e].other));
    gone[k] |= same && is(f, HANGS | K(LEAK)) && f->confidence <= pool->confidence;
    gone[k] |= is(f, K(LOOP_BLOCKED)) && /* its thread stands still */
               find_evidence(f, WEFT_EVIDENCE_RUNS_STILL, ANY, ANY) &&
               find_evidence(pool, WEFT_EVIDENCE_WAITS_STILL, f->promise, ANY);
}

/* ---- Queues that grow for a reason that is reported ---- */

/* grows: by family, 1 + how certain. A leak stays only if the queue is less certain. */
static void join_growth(const struct analyse_search *s, unsigned char *grows, bool *gone)
{
    bool any = false, why = false;
    for (uint32_t i = 0; i < s->out->count; i++) {
        const struct weft_finding *f = &s->out->finding[i];
        why |= is(f, K(CONTENTION) | K(WORKERS_BUSY) | K(POOL_EXHAUSTED) | K(LOOP_BLOCKED)) &&
               f->confidence >= WEFT_LIKELY && !gone[i];
        if (!is(f, K(QUEUE_GROWTH)))
            continue;
        grows[family(s, f->promise)] = (unsigned char)(1 + f->confidence);
        any = true;
    }
    for (uint32_t i = 0; i < s->out->count && any; i++) {
        const struct weft_finding *f = &s->out->finding[i];
        gone[i] |= (is(f, K(QUEUE_GROWTH)) && why) ||
                   (is(f, K(LEAK)) && grows[family(s, f->promise)] > f->confidence);
    }
}

/* ---- What spins ---- */

/* What spins waits again and again, and blocks the loop. spins: by family, 1 + its place, or 0. */
static void join_spins(const struct analyse_search *s, uint32_t *spins, bool *gone)
{
    for (uint32_t i = 0; i < s->out->count; i++)
        if (is(&s->out->finding[i], K(SPIN)))
            spins[family(s, s->out->finding[i].promise)] = i + 1;
    for (uint32_t i = 0; i < s->out->count; i++) {
        const struct weft_finding *f = &s->out->finding[i];
        uint32_t spin = spins[family(s, f->promise)];
        if (!is(f, K(SERIAL_WAITS) | K(LOOP_BLOCKED)) || !spin)
            continue;
        const struct weft_finding *x = &s->out->finding[spin - 1];
        if (weft_model_final(s->m, x->promise) == weft_model_final(s->m, f->promise) &&
            (x->confidence >= WEFT_LIKELY || x->confidence >= f->confidence))
            gone[i] = true;
    }
}

void analyse_join(struct analyse_search *s)
{
    enum { MANY = 64, POOLS = 16 };
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
    join_pairs(s, K(RETRY_STORM) | K(STOPPED) | K(LIVELOCK) | K(POLLING), MANY, join_repeat, gone);
    join_spins(s, spins, gone);
    join_pairs(s, K(POOL_EXHAUSTED), POOLS, join_pool, gone);
    join_pairs(s, K(POOL_DEADLOCK), POOLS, join_workers, gone);
    join_growth(s, grows, gone);
    for (uint32_t i = 0; i < out->count; i++)
        if (gone[i])
            analyse_finding_fini(&out->finding[i]);
        else
            out->finding[kept++] = out->finding[i];
    out->count = kept;
}
