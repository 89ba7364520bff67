/* SPDX-License-Identifier: ISC */
/* Where a bad run diverges from the good one: found in diverge.c, described in parting.c. Internal
 * to analyse. */
#ifndef WEFT_ANALYSE_PARTING_H
#define WEFT_ANALYSE_PARTING_H

#include "analyse/differ.h"

/* diverge.c explains them; if two have the same time, the first in this list is reported */
enum analyse_part {
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

/* Something that happened to a promise in both runs; it need not be exactly the same thing. */
struct analyse_moment {
    uint32_t good, bad;      /* promises, or WEFT_NONE */
    int64_t good_ns, bad_ns; /* INT64_MIN: it did not happen */
    enum analyse_happening { ANALYSE_RESOLVED, ANALYSE_NOTIFIED, ANALYSE_WAITED } is, bad_is;
};

struct analyse_parting {
    enum analyse_part what;
    int64_t when_ns; /* in the bad run */
    /* SWAPPED: in the order of the good run; UNSIGNALLED, EXTRA_WAIT: the wait, the signal; the
     * others: early only */
    struct analyse_moment early, late;
    uint32_t reader_good, reader_bad; /* SWAPPED, UNSIGNALLED, EXTRA_WAIT, NO_WAIT: who waits */
    struct analyse_moment wait;       /* SWAPPED: the wait, before it was followed back */
    uint32_t rank; /* EXTRA_WAIT: how many earlier waits for the same thing there were */
    /* WEFT_ROOT, or the promise of the bad run that ended, or took another way, because of it */
    uint32_t then;
};

static inline int64_t analyse_start_ns(const struct weft_history *h, uint32_t promise)
{
    return h->m->promise[promise].start_ns;
}

static inline int64_t analyse_end_ns(const struct weft_history *h, uint32_t promise)
{
    return h->m->promise[weft_model_final(h->m, promise)].end_ns;
}

/* Why a promise ran at a time: what it read, or who signalled it, or WEFT_NONE. *at_ns: when it
 * began to run. */
uint32_t analyse_woken_by(const struct weft_history *h, uint32_t promise, int64_t time_ns,
                          int64_t *at_ns);

/* Who resolved a promise; WEFT_ROOT: the loop, the promise itself, or nobody. */
uint32_t analyse_resolver_of(const struct weft_history *h, uint32_t promise);

/* Describes where they diverge; the caller frees the text. NULL: no memory, or nothing to say. */
char *analyse_say_parting(struct analyse_differ *d, const struct analyse_parting *c);

#endif
