/* SPDX-License-Identifier: ISC */
/* Promises that were ended a second time. */
#include <stdlib.h>

#include "analyse/judge.h"
#include "analyse/types.h"

uint64_t weft_ended_again(const struct weft_model *m, uint32_t promise, uint32_t *first,
                          uint32_t room)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < m->interactions && m->contradictions.resolved_twice; i++) {
        const struct weft_interaction *x = &m->interaction[i];
        if (x->kind != WEFT_RESOLVES_AGAIN ||
            (promise == WEFT_ROOT ? m->promise[x->other].outcome == WEFT_CANCELLED
                                  : x->other != promise))
            continue;
        if (count < room)
            first[count] = i;
        count++;
    }
    return count;
}

/* ---- weft explain ---- */

/* An end that came too late. */
struct second {
    uint32_t family, at; /* at: the interaction */
    uint64_t signs;
};

static int by_family(const void *a, const void *b)
{
    const struct second *x = a, *y = b;
    WEFT_ORDER(x->family, y->family);
    return weft_order(x->at, y->at);
}

/* It runs, or ends other promises, because a time was reached. */
static bool is_timed(const struct weft_history *h, uint32_t actor, int64_t time_ns)
{
    const struct weft_model *m = h->m;
    const uint32_t run =
        actor == WEFT_ROOT ? WEFT_NONE : weft_history_run_before(h, actor, time_ns + 1);
    const uint32_t read = analyse_run_read(h, run);
    return analyse_is_timer(m, actor) || (read != WEFT_NONE && analyse_is_timer(m, read));
}

/* Returns true if the same two ended another one twice: they take their work from one place. */
static bool is_pair(const struct analyse_search *s, const struct second *x, uint32_t count,
                    uint32_t at)
{
    enum { LOOKED_AT = 64 };
    const struct weft_interaction *last = &s->m->interaction[at];
    const uint32_t a = analyse_ended_by(s->h, last->other), b = last->actor;
    for (uint32_t i = 0; i < count && i < LOOKED_AT; i++) {
        const struct weft_interaction *y = &s->m->interaction[x[i].at];
        const uint32_t c = analyse_ended_by(s->h, y->other), d = y->actor;
        if (x[i].at != at && ((a == c && b == d) || (a == d && b == c)))
            return true;
    }
    return false;
}

static uint64_t signs_of_double(const struct analyse_search *s, uint32_t at)
{
    const struct weft_interaction *x = &s->m->interaction[at];
    const uint32_t first = analyse_ended_by(s->h, x->other);
    uint64_t signs = analyse_signs(s, x->other);
    if (first == WEFT_ROOT || x->actor == WEFT_ROOT || first == x->other || x->actor == x->other)
        signs |= ANALYSE_AGAIN_LOOP;
    else if (weft_model_final(s->m, first) == weft_model_final(s->m, x->actor))
        signs |= ANALYSE_AGAIN_SELF;
    if (is_timed(s->h, first, s->m->promise[x->other].end_ns) ||
        is_timed(s->h, x->actor, x->time_ns))
        signs |= ANALYSE_AGAIN_TIMED;
    return signs;
}

static void report_double(struct analyse_search *s, const struct second *x,
                          const struct analyse_verdict *v, uint32_t count)
{
    const struct weft_model *m = s->m;
    const struct weft_interaction *i = &m->interaction[x->at];
    const uint32_t p = i->other, by = analyse_resolver(s->h, p);
    const int64_t end_ns = m->promise[p].end_ns; /* not the earlier one if time runs backwards */
    if (!analyse_finding_add(s, WEFT_FINDING_DOUBLE_RESOLVE, v, p, weft_earlier(end_ns, i->time_ns),
                             weft_later(end_ns, i->time_ns), 0))
        return;
    s->finding->count = count;
    analyse_say(s, SAY_ENDED_TWICE, PROMISE(promise, p), PROMISE(first, by),
                TIME(first_end, end_ns), FLAG(itself, i->actor == p),
                PROMISE(second, i->actor == p ? WEFT_NONE : i->actor),
                TIME(second_end, i->time_ns));
    if (count > 1)
        analyse_say(s, SAY_ENDED_TWICE_OFTEN, AMOUNT(count, count));
    analyse_show_created(s, p);
    analyse_show_ended(s, p);
    analyse_show(s, i->time_ns, WEFT_EVIDENCE_ENDED_AGAIN, p, i->actor);
}

void analyse_find_doubles(struct analyse_search *s)
{
    enum { SOME = 4 };
    const uint64_t most = s->m->contradictions.resolved_twice;
    if (!most)
        return;
    uint32_t *at = analyse_take(s, most, sizeof *at), count = 0;
    struct second *x = analyse_take(s, most, sizeof *x);
    if (!s->failed)
        count = (uint32_t)weft_ended_again(s->m, WEFT_ROOT, at, (uint32_t)most);
    for (uint32_t i = 0; i < count; i++)
        x[i] = (struct second){s->families->of[s->m->interaction[at[i]].other], at[i],
                               signs_of_double(s, at[i])};
    weft_sort(x, count, sizeof *x, by_family);
    for (uint32_t i = 0, k; i < count && !s->failed; i = k) {
        struct analyse_verdict v, best = {.confidence = WEFT_POSSIBLE};
        const struct second *worst = NULL;
        for (k = i; k < count && x[k].family == x[i].family; k++)
            ;
        const bool usual = k - i >= SOME && k - i >= s->families->size[x[i].family] / 2;
        for (uint32_t n = i; n < k; n++)
            if (analyse_judge(
                    &v, WEFT_FINDING_DOUBLE_RESOLVE,
                    x[n].signs |
                        (usual && !is_pair(s, &x[i], k - i, x[n].at) ? ANALYSE_AGAIN_USUAL : 0)) &&
                (!worst || v.confidence > best.confidence)) {
                worst = &x[n];
                best = v;
            }
        if (worst)
            report_double(s, worst, &best, k - i);
    }
}
