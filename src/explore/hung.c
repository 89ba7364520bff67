/* SPDX-License-Identifier: ISC */
/* What waits when a trace ends. */
#include "explore/fact.h"

enum { LINKS_MAX = 64 };

/* The wait of a pending promise in which the trace ends, for another one that is pending then, too; NULL: the trace shows
 * none. */
static const struct weft_wait *wait_at_end(const struct weft_history *h, uint32_t promise)
{
    const struct weft_model *m = h->m;
    const struct weft_wait *open = NULL;
    if (m->promise[promise].outcome != WEFT_PENDING)
        return NULL;
    for (uint32_t i = h->waits_of_first[promise]; i < h->waits_of_first[promise + 1]; i++) {
        const struct weft_wait *w = &h->wait[h->waits_of[i]];
        if (w->reader != promise) /* what became it waited */
            continue;
        if (w->end == WEFT_WAIT_OPEN)
            open = w;
        else if (open && w->until_ns >= open->from_ns)
            open = NULL;
    }
    return open && m->promise[weft_model_final(m, open->source)].outcome == WEFT_PENDING ? open
                                                                                         : NULL;
}

void explore_hung_find(struct weft_hung *out, const struct weft_history *h)
{
    *out = (struct weft_hung){.waiter = WEFT_NONE};
    const struct weft_model *m = h->m;
    const struct weft_wait *w;
    for (uint32_t i = 1; i < m->promises; i++) {
        if (m->promise[i].background || !(w = wait_at_end(h, i)))
            continue;
        if (!out->waiting++ || w->from_ns < out->since_ns) {
            out->waiter = i;
            out->since_ns = w->from_ns;
        }
    }
    uint32_t at = out->waiter;
    for (unsigned i = 0; i <= LINKS_MAX && at != WEFT_NONE && (w = wait_at_end(h, at)); i++) {
        at = weft_model_final(m, w->source);
        if (i == 0)
            out->source = at;
        out->end = at;
    }
}
