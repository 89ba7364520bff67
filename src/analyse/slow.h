/* SPDX-License-Identifier: ISC */
/* What the slowest promises of each sort that matters spent their time on, where most of it went to one thing. No finding:
 * nothing need be wrong with it.
 *
 *     struct weft_slow slow;
 *     if (weft_slow_find(&slow, history) == 0)
 *         for (uint32_t i = 0; i < slow.count; i++)
 *             puts(slow.sort[i].text);
 *     weft_slow_fini(&slow);
 *
 * Definitions: docs/diagnoses.md, "When nothing was found". Linear in the model but for sorting; few paths are looked at. */
#ifndef WEFT_ANALYSE_SLOW_H
#define WEFT_ANALYSE_SLOW_H

#include "analyse/crowd.h"

#define WEFT_SLOW_SORTS 3   /* that are told, at most */
#define WEFT_SLOW_LOOKED 20 /* promises of each, at most */

/* What the time went to. */
struct weft_slow_cause {
    bool lock; /* waiting for what somebody held, a share of its own; else its kind says it */
    struct weft_crowd_share share;
    uint32_t holder; /* lock: one of the sort that held it for most of that time, or WEFT_NONE */
    char *name, *holder_name; /* or NULL */
};

struct weft_slow_sort {
    uint32_t family, slowest;   /* slowest: of those that were looked at */
    uint32_t count, looked;     /* that ended; of these */
    bool all;                   /* most take that long; else those looked at are the slowest */
    int64_t slow_ns, median_ns; /* medians: of those looked at, of all */
    int64_t total_ns;           /* the time of those looked at */
    struct weft_slow_cause cause;
    char *name, *text;
};

struct weft_slow {
    struct weft_slow_sort sort[WEFT_SLOW_SORTS];
    uint32_t count;
};

/* *out is empty. Returns 0 or WEFT_E_NOMEM; *out is then empty. The caller releases it. */
int weft_slow_find(struct weft_slow *out, const struct weft_history *h);
void weft_slow_fini(struct weft_slow *s);

/* "lock", or the name of the kind. */
const char *weft_slow_cause_name(const struct weft_slow_cause *c);

#endif
