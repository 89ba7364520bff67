/* SPDX-License-Identifier: ISC */
/* Who acted on a promise and whom it acted on, in one pass over the interactions; inside of facts.
 *
 * A wait lasts from WAITS(actor, other) to the actor's next READS of the same or the other's next SIGNALS
 * to it. Where there is none it ends when the one that waits ends, or when the other one does, though nobody
 * has used that; or it is open. What a promise has become stands for it. */
#ifndef WEFT_EXPLORE_WAITS_H
#define WEFT_EXPLORE_WAITS_H

#include "explore/facts.h"

enum weft__wait_end {
    WEFT__WAIT_READ,
    WEFT__WAIT_SIGNALLED,
    WEFT__WAIT_ENDED,  /* the one that waited ended first */
    WEFT__WAIT_UNUSED, /* the other one was resolved, and that was not used */
    WEFT__WAIT_OPEN,   /* when the trace ended */
};

struct weft__wait {
    uint32_t peer; /* the other one, or the actor: not the promise that was asked about */
    enum weft__wait_end end;
    int64_t from_ns, until_ns;
};

#define WEFT__WAITS_KEPT                                                                           \
    50000 /* the first ones; the rest is only counted, and their reads are not */
#define WEFT__ACTS_KEPT 8

/* Waits of the promise, or for it. */
struct weft__waits {
    struct weft__wait *wait; /* in the order of recording */
    uint32_t count, room;
    uint64_t all, open;
    int64_t total_ns;  /* time in which there was at least one of them */
    int64_t late_ns;   /* from the end of what was waited for until it was read: sum … */
    int64_t latest_ns; /* … and longest */
    uint32_t latest;   /* wait */
};

/* Other interactions of one sort: the first ones. */
struct weft__acts {
    uint32_t interaction[WEFT__ACTS_KEPT];
    uint32_t kept;
    uint64_t all;
};

struct weft__dealings {
    struct weft__waits mine, others;
    struct weft__acts used, used_by; /* reads without a wait before */
    struct weft__acts resolved, signalled, signalled_by, notified, notified_by;
    struct weft__acts again;   /* ends of it after it had ended */
    uint64_t notified_in_vain; /* of notified_by: nobody waited then … */
    int64_t in_vain_ns;        /* … the last time */
    uint32_t resolution;       /* the last interaction that resolved it, or WEFT_NONE */
};

/* Returns 0 or WEFT_E_NOMEM. The caller releases what *out holds in any case. */
int weft__dealings_find(struct weft__dealings *out, const struct weft_model *m, uint32_t promise);

void weft__dealings_fini(struct weft__dealings *d);

/* "once, when nobody waited: at 20 ms"; bad if somebody waits still. notified_in_vain is not 0. */
void weft__fact_in_vain(struct weft__facts *f, const char *name, const struct weft__dealings *d);

static inline int64_t weft__wait_length(const struct weft__wait *w)
{
    return w->until_ns > w->from_ns ? w->until_ns - w->from_ns : 0;
}

#endif
