/* SPDX-License-Identifier: ISC */
/* What ran in a range of time. Private to src/explore.
 *
 *     struct explore_busy *b;
 *     struct explore_busy_sum sum;
 *     if (explore_busy_new(&b, model) == 0) {
 *         explore_busy_add_up(&sum, b, from_ns, to_ns);
 *         explore_busy_free(b);
 *     } */
#pragma once

#include "model/model.h"

struct explore_busy;

/* No part of a time counts twice. Times are sums over all threads, so they may be longer than the range. */
struct explore_busy_sum {
    /* Promises ran, without collections. Threads are promises, too, of which nobody knows whether they sleep or work:
     * they do not count. */
    uint64_t running_ns;
    /* The event loop itself ran, without collections. On a thread that never says when it sleeps, the loop's own time
     * is sleep, and does not count. */
    uint64_t loop_ns;
    uint64_t collecting_ns; /* garbage was collected */
    /* how many threads: those on which such runs begin before the range ends, and end after it begins */
    uint32_t threads;
    bool known; /* something of that is anywhere in the trace */
};

/* The model must outlive it. On success the caller owns *out. Returns 0 or WEFT_E_NOMEM. Linear in the runs. */
int explore_busy_new(struct explore_busy **out, const struct weft_model *m);
void explore_busy_free(struct explore_busy *b);

/* from_ns <= to_ns. Reads summaries, and at the edges of the range the runs themselves. */
void explore_busy_add_up(struct explore_busy_sum *out, const struct explore_busy *b,
                         int64_t from_ns, int64_t to_ns);
