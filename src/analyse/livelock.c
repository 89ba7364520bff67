/* SPDX-License-Identifier: ISC */
/* Livelocks: a promise that spins, or retries at once, is in a livelock if another one does the
 * same in turn: each of the two gives back what it got, or fails, and so keeps the other from
 * making progress. This refines findings of other searches. */
#include <string.h>

#include "analyse/finding.h"

enum {
    TIMES = 1000,   /* how often they gave back or failed, both together */
    UNEVEN = 2,     /* at most this many times as often as the other one */
    LOOKED_AT = 16, /* findings that are examined */
};

struct finder {
    struct analyse_search *s;
    const struct weft_model *m;
    /* by promise: how often it gave something back, or a promise that it had created failed */
    uint32_t *vain;
};

static bool repeats(const struct weft_finding *g)
{
    return g->kind == WEFT_FINDING_SPIN || g->kind == WEFT_FINDING_RETRY_STORM;
}

/* Counts what each did in that time. Returns who did most, besides p; WEFT_ROOT: nobody. */
static uint32_t count_vain(struct finder *f, uint32_t p, int64_t from, int64_t to)
{
    uint32_t most = WEFT_ROOT;
    memset(f->vain, 0, f->m->promises * sizeof *f->vain);
    for (uint32_t i = 0; i < f->m->holds; i++) {
        const struct weft_hold *x = &f->m->hold[i];
        if (x->holder != WEFT_NONE && x->released_by == x->holder && x->from_ns >= from &&
            x->to_ns <= to)
            f->vain[weft_model_final(f->m, x->holder)]++;
    }
    for (uint32_t i = 1; i < f->m->promises; i++) {
        const struct weft_promise *x = &f->m->promise[i];
        if (x->outcome == WEFT_FAILED && x->start_ns >= from && x->end_ns <= to)
            f->vain[weft_model_final(f->m, x->creator)]++;
    }
    for (uint32_t i = 1; i < f->m->promises; i++)
        if (i != p && f->vain[i] > f->vain[most])
            most = i;
    return most;
}

/* Returns true if anything got on meanwhile: resolved something, not as a failure. */
static bool gets_on(const struct finder *f, uint32_t p, uint32_t q, int64_t from, int64_t to)
{
    for (uint32_t i = 0; i < f->m->interactions; i++) {
        const struct weft_interaction *x = &f->m->interaction[i];
        if (x->kind == WEFT_RESOLVES && x->time_ns >= from && x->time_ns <= to &&
            (x->actor == p || x->actor == q) && f->m->promise[x->other].outcome != WEFT_FAILED)
            return true;
    }
    return false;
}

/* Drops later findings about the two promises, which are the same. */
static void drop_others(struct analyse_search *s, uint32_t first, uint32_t p, uint32_t q)
{
    uint32_t kept = first;
    for (uint32_t i = first; i < s->out->count; i++) {
        struct weft_finding *g = &s->out->finding[i];
        const uint32_t who = weft_model_final(s->m, g->promise);
        if (repeats(g) && (who == p || who == q))
            analyse_finding_fini(g);
        else
            s->out->finding[kept++] = *g;
    }
    s->out->count = kept;
}

void analyse_find_livelocks(struct analyse_search *s)
{
    struct finder f = {.s = s, .m = s->m};
    f.vain = analyse_take(s, s->m->promises, sizeof *f.vain);
    for (uint32_t i = 0, n = 0; i < s->out->count && n < LOOKED_AT && !s->failed; i++) {
        struct weft_finding *g = &s->out->finding[i];
        uint32_t p = weft_model_final(s->m, g->promise);
        if (!repeats(g) || s->o->ignore >> WEFT_FINDING_LIVELOCK & 1)
            continue;
        n++;
        uint32_t q = count_vain(&f, p, g->start_ns, g->end_ns);
        if (q == WEFT_ROOT || p == WEFT_ROOT || f.vain[p] + f.vain[q] < TIMES ||
            f.vain[p] / UNEVEN > f.vain[q] || f.vain[q] / UNEVEN > f.vain[p] ||
            gets_on(&f, p, q, g->start_ns, g->end_ns))
            continue;
        s->finding = g;
        g->kind = WEFT_FINDING_LIVELOCK;
        analyse_say(s, SAY_LIVELOCK, PROMISE(other, q), AMOUNT(vain, f.vain[p]),
                    AMOUNT(other_vain, f.vain[q]));
        analyse_affects(s, q);
        drop_others(s, i + 1, p, q);
    }
}
