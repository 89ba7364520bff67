/* SPDX-License-Identifier: ISC */
/* Sums over a range of time, from summaries of many records at a time. Private to the facts. */
#ifndef WEFT_EXPLORE_RANGES_H
#define WEFT_EXPLORE_RANGES_H

#include "explore/fact.h"

struct explore_ranges;

/* On success the caller owns *out. Returns 0 or WEFT_E_NOMEM. Some tens of milliseconds for ten million
 * events. */
int explore_ranges_new(struct explore_ranges **out, const struct weft_scene *s);

void explore_ranges_free(struct explore_ranges *r);

/* Returns true if it was made from that scene. */
bool explore_ranges_fit(const struct explore_ranges *r, const struct weft_scene *s);

struct explore_range_sums {
    uint64_t events; /* see exact */
    bool exact;      /* else some events are assumed to be spread evenly over runs */
    uint64_t alive, created, resolved, failed;
    uint64_t running_ns, sleeping_ns, collecting_ns;
    uint64_t sleeps, pauses;    /* promises that begin in the range */
    struct explore_top longest; /* sorted by how much of them lies in it */
};

/* Both times are included. Takes a few milliseconds at most, unless most promises outlive thousands of others. */
void explore_ranges_sum(struct explore_range_sums *out, const struct explore_ranges *r,
                        const struct weft_scene *s, int64_t from_ns, int64_t to_ns);

#endif
