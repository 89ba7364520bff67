/* SPDX-License-Identifier: ISC */
/* Latencies by what promises are, and how busy the event loop was.
 *
 * See the fields. Times in nanoseconds; percentiles are exact (by sorting), of resolved promises; what was
 * not recorded from its creation on is counted apart. */
#ifndef WEFT_ANALYSE_STATS_H
#define WEFT_ANALYSE_STATS_H

#include "analyse/history.h"

enum weft_stats_by {
    WEFT_BY_LABEL,  /* (type, label) */
    WEFT_BY_FAMILY, /* (type, label but for its numbers) */
    WEFT_BY_TYPE,
};

#define WEFT_HISTOGRAM                                                                             \
    64 /* buckets: [i] counts latencies from 2^i ns on, below twice that; [0] also 0 */

struct weft_stats_row {
    uint32_t promise; /* one of them, to be named after */
    uint64_t count, resolved, pending, failed, cancelled, forgotten, became, preexisting;
    double rate; /* creations a second, over the span of the trace */
    int64_t p50_ns, p90_ns, p99_ns, max_ns,
        total_ns;       /* from creation to end; of resolved ones that were created
                                                       * in the trace */
    uint32_t slowest;   /* promise, or WEFT_NONE */
    int64_t waiting_ns; /* sum: something they waited for was pending */
    int64_t ready_ns;   /* sum: from its end until they ran */
    int64_t running_ns; /* sum, without garbage collections */
    uint64_t histogram[WEFT_HISTOGRAM];
};

struct weft_stats_stream {
    uint32_t stream;
    bool is_loop;
    int64_t span_ns, busy_ns, idle_ns, collecting_ns;
    uint64_t runs;
    uint32_t longest_run[5];                          /* of the model, or WEFT_NONE */
    int64_t longest_turn_from_ns, longest_turn_to_ns; /* between two idle times */
};

struct weft_stats {
    struct weft_stats_row *row; /* by total_ns, descending */
    uint32_t rows;
    struct weft_stats_stream *stream;
    uint32_t streams;
    int64_t span_ns;
    /* How many promises were ready (what they waited for was resolved, and they did not run yet). */
    uint32_t ready_max;
    int64_t ready_max_ns; /* when */
    double ready_mean;    /* over time */
};

/* *out is empty. Returns 0, WEFT_E_NOMEM or WEFT_E_CANCELED. The caller releases it. */
int weft_stats_find(struct weft_stats *out, const struct weft_history *h, enum weft_stats_by by,
                    weft_progress_fn *progress, void *data);
void weft_stats_fini(struct weft_stats *s);

#endif
