/* SPDX-License-Identifier: ISC */
/* Inside of statistics: arrays of times, and what streams did. */
#ifndef WEFT_ANALYSE_TIMES_H
#define WEFT_ANALYSE_TIMES_H

#include "analyse/stats.h"

/* Sorts count times, ascending. spare has as much room. Linear where there are many. */
void weft__sort_times(int64_t *time, size_t count, int64_t *spare);

/* Room for one more item in an array of count, which array points to; *room is how many there is room for. False: no
 * memory. */
bool weft__room(void *array, size_t count, size_t *room, size_t item);

/* Fills in out->stream. False: no memory. */
bool weft__stats_streams(struct weft_stats *out, const struct weft_history *h);

#endif
