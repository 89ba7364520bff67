/* SPDX-License-Identifier: ISC */
/* What acted on a promise and what it acted on. Private to the facts. Waits come from the history. */
#ifndef WEFT_EXPLORE_DEALINGS_H
#define WEFT_EXPLORE_DEALINGS_H

#include "analyse/spent.h"
#include "explore/fact.h"

#define EXPLORE_ACTS_KEPT 8

/* Waits of the promise, or for it. */
struct explore_waits {
    const uint32_t *wait; /* of the history, in the order of beginning */
    uint32_t count, open;
    int64_t total_ns;   /* that it waited, or that at least one waited for it */
    int64_t blocked_ns; /* of the promise's own: the part in which its loop did not look; else 0 */
    int64_t late_ns;    /* from ready to running: total, of waits for it the sum … */
    int64_t latest_ns;  /* … and the longest */
    uint32_t latest;    /* wait */
};

/* Other interactions of one kind: the first few. */
struct explore_acts {
    uint32_t interaction[EXPLORE_ACTS_KEPT];
    uint32_t kept;
    uint64_t all;
};

struct explore_dealings {
    struct explore_waits mine, others;
    struct explore_acts used, used_by; /* reads without a wait before them */
    struct explore_acts resolved, signalled, signalled_by, notified, notified_by;
    struct explore_acts again; /* attempts to end it after it had ended */
    uint64_t notified_in_vain; /* of notified_by: nobody waited then … */
    int64_t in_vain_ns;        /* … the last time */
    uint32_t resolution;       /* the last interaction that resolved it, or WEFT_NONE */
    int64_t running_ns;        /* without garbage collections, … */
    int64_t collecting_ns;     /* … which took this long while it ran */
};

/* Returns 0 or WEFT_E_NOMEM. Nothing needs to be released. */
int explore_dealings_find(struct explore_dealings *out, const struct weft_history *h,
                          uint32_t promise);

/* "once, when nobody waited: at 20 ms"; bad if something still waits. notified_in_vain is not 0. */
void explore_fact_in_vain(struct explore_facts *f, enum explore_fact often, enum explore_fact once,
                          const struct explore_dealings *d);

#endif
