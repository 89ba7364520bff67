/* SPDX-License-Identifier: ISC */
/* Where a bad run parts with the good one: found in diverge.c, told in parting.c; inside of analyse. */
#ifndef WEFT_ANALYSE_PARTING_H
#define WEFT_ANALYSE_PARTING_H

#include "analyse/differ.h"

enum analyse_part { /* diverge.c says what they are; if two come at one time, the first of these is told */
                    ANALYSE_SWAPPED,
                    ANALYSE_UNSIGNALLED,
                    ANALYSE_ENDING,
                    ANALYSE_EXTRA_WAIT,
                    ANALYSE_NO_WAIT,
                    ANALYSE_UNREAD,
                    ANALYSE_UNRESOLVED,
                    ANALYSE_MISSING,
                    ANALYSE_ADDED,
                    ANALYSE_SLOWER,
                    ANALYSE_OTHER_ACTOR,
                    ANALYSE_BLOCKER
};

/* What happened to a promise in both runs; it need not be quite the same. */
struct analyse_moment {
    uint32_t good, bad;      /* promises, or WEFT_NONE */
    int64_t good_ns, bad_ns; /* INT64_MIN: it did not happen */
    enum analyse_happening { ANALYSE_RESOLVED, ANALYSE_NOTIFIED, ANALYSE_WAITED } is, bad_is;
};

struct analyse_parting {
    enum analyse_part what;
    int64_t when_ns; /* in the bad run */
    /* SWAPPED: as in the good run; UNSIGNALLED, EXTRA_WAIT: the wait, the signal; the others: early only */
    struct analyse_moment early, late;
    uint32_t reader_good, reader_bad; /* SWAPPED, UNSIGNALLED, EXTRA_WAIT, NO_WAIT: who waits */
    struct analyse_moment wait;       /* SWAPPED: before it was followed back */
    uint32_t rank; /* EXTRA_WAIT: how many waits for the same there were before */
    uint32_t
        then; /* WEFT_ROOT, or the promise of the bad run that ended, or went elsewhere, because of it */
};

static inline int64_t analyse_start_ns(const struct weft_history *h, uint32_t promise)
{
    return h->m->promise[promise].start_ns;
}

static inline int64_t analyse_end_ns(const struct weft_history *h, uint32_t promise)
{
    return h->m->promise[weft_model_final(h->m, promise)].end_ns;
}

/* Why a promise ran at a time: what it read, or who signalled it, or WEFT_NONE. *at_ns: when it began to run. */
uint32_t analyse_woken_by(const struct weft_history *h, uint32_t promise, int64_t time_ns,
                          int64_t *at_ns);

/* Who resolved a promise, or WEFT_ROOT: the loop, itself, or nobody. */
uint32_t analyse_resolver_of(const struct weft_history *h, uint32_t promise);

/* Where they part, in words: the caller frees it. NULL: no memory, or nothing to say. */
char *analyse_say_parting(struct analyse_differ *d, const struct analyse_parting *c);

#endif
