/* SPDX-License-Identifier: ISC */
#include "analyse/judge.h"

#define K(kind) (1u << WEFT_FINDING_##kind)
#define ANY (~0u)
#define HANGS (K(DEADLOCK) | K(LOST_WAKEUP) | K(HANG_ROOT) | K(NEVER_RESOLVED))
#define NO_CIRCLE (HANGS & ~K(DEADLOCK))

struct weft__rule weft__rules[] = {
#define RULE(kinds, most, when, unless, doubt, scene) {kinds, most, when, unless, doubt, scene},
#include "analyse/judge.def"
#undef RULE
};
const unsigned weft__rules_count = sizeof weft__rules / sizeof *weft__rules;

uint64_t weft__signs(const struct weft__search *s, uint32_t promise)
{
    const struct weft_losses *l = &s->m->losses;
    const struct weft_promise *p = &s->m->promise[promise];
    uint64_t signs = s->m->quirks.mirage_kinds ? WEFT__MIRAGE : 0;
    if (l->ended == WEFT_ENDED_STOPPED)
        signs |= WEFT__STOPPED;
    else if (l->ended == WEFT_ENDED_KILLED)
        signs |= WEFT__KILLED;
    else if (l->ended == WEFT_ENDED_UNKNOWN)
        signs |= WEFT__UNKNOWN_END;
    if (l->discarded)
        signs |= WEFT__DISCARDED;
    else if (promise != WEFT_ROOT && (!p->created || p->promoted) && l->overwritten)
        signs |= WEFT__OVERWRITTEN;
    else if (promise != WEFT_ROOT && !p->created)
        signs |= WEFT__OLDER;
    return signs;
}

bool weft__judge(struct weft__verdict *v, enum weft_finding_kind kind, uint64_t signs)
{
    *v = (struct weft__verdict){.confidence = WEFT_CERTAIN};
    for (const struct weft__rule *r = weft__rules; r < weft__rules + weft__rules_count; r++) {
        int most = r->most;
        if (!(r->kinds & 1u << kind) || (signs & r->when) != r->when || (signs & r->unless))
            continue;
        if (most == WEFT__DROP)
            return false;
        if (most == WEFT__ONE_LESS)
            most = (int)v->confidence - 1;
        if (most < 0 || most >= (int)v->confidence)
            continue;
        v->confidence = (enum weft_confidence)most;
        v->doubt = r->doubt;
    }
    return true;
}

struct weft_finding *weft__report(struct weft__search *s, enum weft_finding_kind kind,
                                  uint64_t signs, uint32_t promise, int64_t start_ns,
                                  int64_t end_ns, int64_t cost_ns)
{
    struct weft__verdict v;
    return weft__judge(&v, kind, signs)
               ? weft__finding_add(s, kind, &v, promise, start_ns, end_ns, cost_ns)
               : NULL;
}

struct weft_finding *weft__report_open(struct weft__search *s, enum weft_finding_kind kind,
                                       uint64_t signs, uint32_t promise, int64_t start_ns,
                                       int64_t cost_ns)
{
    struct weft__verdict v;
    return weft__judge(&v, kind, signs)
               ? weft__finding_add_open(s, kind, &v, promise, start_ns, cost_ns)
               : NULL;
}
