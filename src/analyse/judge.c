/* SPDX-License-Identifier: ISC */
#include "analyse/judge.h"

#define K(kind) (1u << WEFT_FINDING_##kind)
#define ANY (~0u)
#define HANGS (K(DEADLOCK) | K(LOST_WAKEUP) | K(HANG_ROOT) | K(NEVER_RESOLVED))
#define NO_CIRCLE (HANGS & ~K(DEADLOCK))

struct analyse_rule analyse_rules[] = {
#define RULE(kinds, most, when, unless, doubt, scene) {kinds, most, when, unless, doubt, scene},
#include "analyse/judge.def"
#undef RULE
};
const unsigned analyse_rules_count = sizeof analyse_rules / sizeof *analyse_rules;

uint64_t analyse_signs(const struct analyse_search *s, uint32_t promise)
{
    const struct weft_losses *l = &s->m->losses;
    const struct weft_promise *p = &s->m->promise[promise];
    uint64_t signs = s->m->quirks.mirage_kinds ? ANALYSE_MIRAGE : 0;
    if (l->ended == WEFT_ENDED_STOPPED)
        signs |= ANALYSE_STOPPED;
    else if (l->ended == WEFT_ENDED_KILLED)
        signs |= ANALYSE_KILLED;
    else if (l->ended == WEFT_ENDED_UNKNOWN)
        signs |= ANALYSE_UNKNOWN_END;
    if (l->discarded)
        signs |= ANALYSE_DISCARDED;
    else if (promise != WEFT_ROOT && (!p->created || p->promoted) && l->overwritten)
        signs |= ANALYSE_OVERWRITTEN;
    else if (promise != WEFT_ROOT && !p->created)
        signs |= ANALYSE_OLDER;
    return signs;
}

bool analyse_judge(struct analyse_verdict *v, enum weft_finding_kind kind, uint64_t signs)
{
    *v = (struct analyse_verdict){.confidence = WEFT_CERTAIN};
    for (const struct analyse_rule *r = analyse_rules; r < analyse_rules + analyse_rules_count;
         r++) {
        int most = r->most;
        if (!(r->kinds & 1u << kind) || (signs & r->when) != r->when || (signs & r->unless))
            continue;
        if (most == ANALYSE_DROP)
            return false;
        if (most == ANALYSE_ONE_LESS)
            most = (int)v->confidence - 1;
        if (most < 0 || most >= (int)v->confidence)
            continue;
        v->confidence = (enum weft_confidence)most;
        v->doubt = r->doubt;
    }
    return true;
}

struct weft_finding *analyse_report(struct analyse_search *s, enum weft_finding_kind kind,
                                    uint64_t signs, uint32_t promise, int64_t start_ns,
                                    int64_t end_ns, int64_t cost_ns)
{
    struct analyse_verdict v;
    return analyse_judge(&v, kind, signs)
               ? analyse_finding_add(s, kind, &v, promise, start_ns, end_ns, cost_ns)
               : NULL;
}
