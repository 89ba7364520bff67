/* SPDX-License-Identifier: ISC */
/* Where a bad run parts with the good one: found in diverge.c, told in parting.c; inside of analyse. */
#ifndef WEFT_ANALYSE_PARTING_H
#define WEFT_ANALYSE_PARTING_H

#include "analyse/differ.h"

enum weft__part { /* diverge.c says what they are; if two come at one time, the first of these is told */
                  WEFT__SWAPPED,
                  WEFT__UNSIGNALLED,
                  WEFT__ENDING,
                  WEFT__EXTRA_WAIT,
                  WEFT__NO_WAIT,
                  WEFT__UNREAD,
                  WEFT__UNRESOLVED,
                  WEFT__MISSING,
                  WEFT__ADDED,
                  WEFT__SLOWER,
                  WEFT__OTHER_ACTOR,
                  WEFT__BLOCKER
};

/* What happened to a promise in both runs; it need not be quite the same. */
struct weft__moment {
    uint32_t good, bad;      /* promises, or WEFT_NONE */
    int64_t good_ns, bad_ns; /* INT64_MIN: it did not happen */
    enum weft__happening { WEFT__RESOLVED, WEFT__NOTIFIED, WEFT__WAITED } is, bad_is;
};

struct weft__parting {
    enum weft__part what;
    int64_t when_ns; /* in the bad run */
    /* SWAPPED: as in the good run; UNSIGNALLED, EXTRA_WAIT: the wait, the signal; the others: early only */
    struct weft__moment early, late;
    uint32_t reader_good, reader_bad; /* SWAPPED, UNSIGNALLED, EXTRA_WAIT, NO_WAIT: who waits */
    struct weft__moment wait;         /* SWAPPED: before it was followed back */
    uint32_t rank; /* EXTRA_WAIT: how many waits for the same there were before */
    uint32_t
        then; /* WEFT_ROOT, or the promise of the bad run that ended, or went elsewhere, because of it */
};

static inline int64_t weft__start_ns(const struct weft_history *h, uint32_t promise)
{
    return h->m->promise[promise].start_ns;
}

static inline int64_t weft__end_ns(const struct weft_history *h, uint32_t promise)
{
    return h->m->promise[weft_model_final(h->m, promise)].end_ns;
}

/* Why a promise ran at a time: what it read, or who signalled it, or WEFT_NONE. *at_ns: when it began to run. */
uint32_t weft__woken_by(const struct weft_history *h, uint32_t promise, int64_t time_ns,
                        int64_t *at_ns);

/* Who resolved a promise, or WEFT_ROOT: the loop, itself, or nobody. */
uint32_t weft__resolver_of(const struct weft_history *h, uint32_t promise);

/* Where they part, in words: the caller frees it. NULL: no memory, or nothing to say. */
char *weft__say_parting(struct weft__differ *d, const struct weft__parting *c);

#endif
