/* SPDX-License-Identifier: ISC */
/* Many promises of one sort: how they ended, how long they took, and where that time went. Used
 * only within weft; see cli/story.c. */
#pragma once

#include "analyse/names.h"
#include "analyse/path.h"

struct weft_crowd_member {
    int64_t ns; /* from creation to result */
    uint32_t promise;
};

struct weft_crowd_share {
    /* the family that the share is named after, or WEFT_NONE; with kind it is the key in a table */
    enum weft_step_kind kind;
    uint32_t family;
    uint32_t promise; /* one of those, or WEFT_NONE */
    bool one_label;   /* all of them have the same label */
    uint64_t steps;
    int64_t total_ns; /* capped at INT64_MAX */
};

#define WEFT_CROWD_SAMPLE 1000 /* the most paths that are examined; fewer if they are very long */

struct weft_crowd {
    uint32_t count;
    /* for promises that became others: the outcomes of those */
    uint32_t outcomes[WEFT_OUTCOME_COUNT];
    uint32_t preexisting; /* promises whose creation is not in the trace; they are not members */
    struct weft_crowd_member *member; /* resolved promises, the fastest first */
    uint32_t members;
    uint32_t oldest_pending; /* or WEFT_NONE */
    struct weft_crowd_share
        *share; /* the longest first; if there are no members, of the pending promises */
    uint32_t shares, sampled;
    int64_t sampled_ns; /* total time of the examined members */
};

/* *out must be empty. Returns 0 or WEFT_E_NOMEM. The caller releases it. */
int weft_crowd_find(struct weft_crowd *out, const struct weft_history *h,
                    const struct analyse_families *families, const uint32_t *promise,
                    uint32_t count);
void weft_crowd_fini(struct weft_crowd *c);

/* Members for qsort: the fastest first. */
int analyse_crowd_by_time(const void *a, const void *b);

/* Nearest-rank percentile: the shortest time that `percent` of the members do not exceed. There
 * must be at least one member. */
int64_t weft_crowd_percentile(const struct weft_crowd *c, uint32_t percent);
