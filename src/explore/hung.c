/* SPDX-License-Identifier: ISC */
/* What waits when a trace ends. */
#include <stdlib.h>
#include <string.h>

#include "explore/fact.h"

enum { LINKS_MAX = 64 };

#define AWAKE (WEFT_NONE - 1)

/* Of each promise: the wait in which the trace ends; AWAKE or WEFT_NONE: none. NULL: no memory. */
static uint32_t *find_last(const struct weft_history *h)
{
    const size_t bytes = h->m->promises * sizeof(uint32_t);
    uint32_t *last = malloc(bytes);
    if (!last)
        return NULL;
    memset(last, 0xff, bytes);
    for (uint32_t i = 0; i < h->waits; i++) {
        const struct weft_wait *w = &h->wait[i];
        uint32_t *of = &last[w->reader];
        if (w->end == WEFT_WAIT_OPEN)
            *of = i;
        else if (*of >= AWAKE || w->until_ns >= h->wait[*of].from_ns)
            *of = AWAKE;
    }
    return last;
}

/* The wait of a pending promise for another one that is pending when the trace ends, too; NULL: the trace shows none. */
static const struct weft_wait *wait_at_end(const struct weft_history *h, const uint32_t *last,
                                           uint32_t promise)
{
    const struct weft_model *m = h->m;
    if (m->promise[promise].outcome != WEFT_PENDING || last[promise] >= AWAKE)
        return NULL;
    const struct weft_wait *w = &h->wait[last[promise]];
    return m->promise[weft_model_final(m, w->source)].outcome == WEFT_PENDING ? w : NULL;
}

int explore_hung_find(struct weft_hung *out, const struct weft_history *h)
{
    *out = (struct weft_hung){.waiter = WEFT_NONE};
    const struct weft_model *m = h->m;
    const struct weft_wait *w;
    uint32_t *last = find_last(h);
    if (!last)
        return WEFT_E_NOMEM;
    for (uint32_t i = 1; i < m->promises; i++) {
        if (m->promise[i].background || !(w = wait_at_end(h, last, i)))
            continue;
        if (!out->waiting++ || w->from_ns < out->since_ns) {
            out->waiter = i;
            out->since_ns = w->from_ns;
        }
    }
    uint32_t at = out->waiter;
    for (unsigned i = 0; i <= LINKS_MAX && at != WEFT_NONE && (w = wait_at_end(h, last, at)); i++) {
        at = weft_model_final(m, w->source);
        if (i == 0)
            out->source = at;
        out->end = at;
    }
    free(last);
    return 0;
}
