/* SPDX-License-Identifier: ISC */
/* Many promises of one sort: how they ended, how long they took, and what that time went to.
 *
 * Inside of weft; see cli/story.c. */
#ifndef WEFT_ANALYSE_CROWD_H
#define WEFT_ANALYSE_CROWD_H

#include "analyse/names.h"
#include "analyse/path.h"

struct weft_crowd_member {
    int64_t ns; /* from creation to result */
    uint32_t promise;
};

struct weft_crowd_share {
    enum weft_step_kind kind;
    uint32_t family;  /* of what it is called after, or WEFT_NONE */
    uint32_t promise; /* one of those, or WEFT_NONE */
    bool one_label;   /* all of those have the same one */
    uint64_t steps;
    int64_t total_ns; /* stops at INT64_MAX */
};

#define WEFT_CROWD_SAMPLE                                                                          \
    1000 /* paths that are looked at, at most; fewer where they are very long */

struct weft_crowd {
    uint32_t count;
    uint32_t outcomes[WEFT_OUTCOME_COUNT]; /* of what they became, if they became something */
    uint32_t preexisting; /* their creation is not in the trace: not among the members */
    struct weft_crowd_member *member; /* those that were resolved, the fastest first */
    uint32_t members;
    uint32_t oldest_pending; /* or WEFT_NONE */
    struct weft_crowd_share
        *share; /* the longest first; of the pending ones where there is no member */
    uint32_t shares, sampled;
    int64_t sampled_ns; /* their time in all */
};

/* *out is empty. Returns 0 or WEFT_E_NOMEM. The caller releases it. */
int weft_crowd_find(struct weft_crowd *out, const struct weft_history *h,
                    const struct analyse_families *families, const uint32_t *promise,
                    uint32_t count);
void weft_crowd_fini(struct weft_crowd *c);

/* Members for qsort: the fastest first. */
int analyse_crowd_by_time(const void *a, const void *b);

/* Nearest-rank percentile: the shortest time that `percent` of the members do not exceed. There must be members. */
int64_t weft_crowd_percentile(const struct weft_crowd *c, uint32_t percent);

#endif
