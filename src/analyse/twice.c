/* SPDX-License-Identifier: ISC */
#include "analyse/twice.h"

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

void weft__put_again(struct weft__text *t, const struct weft_model *m, uint32_t interaction)
{
    const struct weft_interaction *x = &m->interaction[interaction];
    uint32_t promise = x->other, actor = x->actor;
    weft__put_full(t, m, promise);
    weft__put(t, " %s at ", weft__outcome_verb(m, promise));
    weft__put_time(t, m->promise[promise].end_ns);
    weft__put(t, "; ");
    if (actor == promise)
        weft__put(t, "it");
    else
        weft__put_full(t, m, actor);
    weft__put(t, " ended it again at ");
    weft__put_time(t, x->time_ns);
}
