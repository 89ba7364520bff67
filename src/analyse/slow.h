/* SPDX-License-Identifier: ISC */
/* For each sort of promise that matters: what its slowest promises spent their time on, if most of
 * it went to one thing. This is not a finding: nothing need be wrong.
 *     struct weft_slow slow;
 *     if (weft_slow_find(&slow, history) == 0)
 *         for (uint32_t i = 0; i < slow.count; i++)
 *             puts(slow.sort[i].text);
 *     weft_slow_fini(&slow);
 * Definitions: docs/diagnoses.md, "When nothing was found". Time is linear in the model except for
 * sorting; only a few paths are examined. */
#pragma once

#include "analyse/crowd.h"

#define WEFT_SLOW_SORTS 3   /* the most sorts that are reported */
#define WEFT_SLOW_LOOKED 20 /* the most promises that are examined of each sort */

/* What the time went to. */
struct weft_slow_cause {
    /* it was waiting for something that others held, a separate share; otherwise see its kind */
    bool lock;
    struct weft_crowd_share share;
    /* lock: a promise of the sort that held it for most of that time, or WEFT_NONE */
    uint32_t holder;
    char *name, *holder_name; /* or NULL */
};

struct weft_slow_sort {
    uint32_t family, slowest; /* slowest: of those that were examined */
    uint32_t count, looked;   /* how many ended; how many of these were examined */
    /* most take that long; otherwise the examined ones are the slowest */
    bool all;
    int64_t slow_ns, median_ns; /* medians: of those examined, of all */
    int64_t total_ns;           /* total time of those examined */
    struct weft_slow_cause cause;
    char *name, *text;
};

struct weft_slow {
    struct weft_slow_sort sort[WEFT_SLOW_SORTS];
    uint32_t count;
};

/* *out must be empty. Returns 0 or WEFT_E_NOMEM; *out is then empty. The caller releases it. */
int weft_slow_find(struct weft_slow *out, const struct weft_history *h);
void weft_slow_fini(struct weft_slow *s);

/* "lock", or the name of the kind. */
const char *weft_slow_cause_name(const struct weft_slow_cause *c);
