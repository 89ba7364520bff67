/* SPDX-License-Identifier: ISC */
/* Internal to the statistics: sorting many times, and what streams did. */
#ifndef WEFT_ANALYSE_TIMES_H
#define WEFT_ANALYSE_TIMES_H

#include "analyse/stats.h"

/* Sorts count times in ascending order. spare must have the same size. Linear if there are many. */
void analyse_sort_times(int64_t *time, size_t count, int64_t *spare);

/* Adds to a sum, which is capped at INT64_MAX. */
static inline void analyse_add(int64_t *sum, int64_t n)
{
    if (__builtin_add_overflow(*sum, n, sum))
        *sum = INT64_MAX;
}

/* Fills in out->stream. Returns false if there is no memory. */
bool analyse_stats_streams(struct weft_stats *out, const struct weft_history *h);

#endif
