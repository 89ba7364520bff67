/* SPDX-License-Identifier: ISC */
#include "profile/waits.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"

enum { LOOKED_AT = 64 };

/* A promise that waits for one that became another waits for the other. */
static uint32_t waited_for(const struct weft_model *m, const struct weft_interaction *i)
{
    return i->kind == WEFT_WAITS ? weft_model_final(m, i->other) : WEFT_NONE;
}

bool profile_waits_init(struct profile_wait_lists *w, const struct weft_model *m)
{
    uint32_t *place = calloc((size_t)m->promises + 1, sizeof *place), waits = 0;
    w->first = weft_resize(NULL, (uint64_t)m->promises + 1, sizeof *w->first);
    for (uint32_t i = 0; place && i < m->interactions; i++) {
        uint32_t other = waited_for(m, &m->interaction[i]);
        if (other != WEFT_NONE) {
            place[other]++;
            waits++;
        }
    }
    w->interaction = weft_resize(NULL, (uint64_t)waits + 1, sizeof *w->interaction);
    bool done = place && w->first && w->interaction;
    waits = 0;
    for (uint32_t p = 0; done && p <= m->promises; p++) {
        uint32_t count = place[p];
        w->first[p] = place[p] = waits;
        waits += count;
    }
    for (uint32_t i = 0; done && i < m->interactions; i++) {
        uint32_t other = waited_for(m, &m->interaction[i]);
        if (other != WEFT_NONE)
            w->interaction[place[other]++] = i;
    }
    free(place);
    return done;
}

void profile_waits_fini(struct profile_wait_lists *w)
{
    free(w->first);
    free(w->interaction);
}

uint32_t profile_waits_first(const struct profile_wait_lists *w, const struct weft_model *m,
                             uint32_t promise, int64_t now)
{
    uint32_t begin = w->first[promise], low = begin, high = w->first[promise + 1];
    WEFT_SEEK(low, high, m->interaction[w->interaction[middle]].time_ns <= now);
    uint32_t waiter = WEFT_NONE;
    for (uint32_t i = low; i > begin && low - i < LOOKED_AT; i--) {
        uint32_t actor = m->interaction[w->interaction[i - 1]].actor;
        const struct weft_promise *a = &m->promise[actor];
        if (actor != WEFT_ROOT && actor != promise &&
            (a->outcome == WEFT_PENDING || a->end_ns > now))
            waiter = actor;
    }
    return waiter;
}
