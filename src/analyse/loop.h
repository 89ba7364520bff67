/* SPDX-License-Identifier: ISC */
/* What the searches for loops that are not free share: long runs (block.c), runs without progress
 * (spin.c), waits that were ready (turn.c). Each leaves out what an earlier one explains. */
#pragma once

#include "analyse/finding.h"

#define ANALYSE_MS INT64_C(1000000)
#define ANALYSE_LOOP_FAMILIES 100 /* how many findings of one sort are reported */

/* Time on one stream in which it was not free. */
struct analyse_span {
    int64_t from_ns, to_ns;
    int64_t usual_ns;           /* how long it would have taken without the doubtful part */
    int64_t before_ns;          /* total length of those before it on its stream */
    int64_t doubtful_before_ns; /* … total of their doubtful parts */
    uint32_t stream;
    uint32_t finding; /* or WEFT_NONE */
};

struct analyse_loops {
    struct analyse_search *s;
    struct analyse_span *span; /* sorted by stream and start after each search */
    uint32_t spans, span_room;
    uint32_t *span_first; /* by stream, streams + 1; set after sorting */
};

void analyse_span_add(struct analyse_loops *l, uint32_t stream, int64_t from_ns, int64_t to_ns,
                      int64_t usual_ns, uint32_t finding);
/* How much of a period on a stream is covered by spans; doubtful: only what is longer than usual, in
 * spans whose finding is only possible. Logarithmic. */
int64_t analyse_spans_within(const struct analyse_loops *l, uint32_t stream, int64_t from_ns,
                             int64_t to_ns, bool doubtful);

/* weft_history_there_ns if that is certain; otherwise INT64_MAX. A signal without a notification
 * only says when the wait ended; and with several readers, a notification may be for others. */
int64_t analyse_surely_there_ns(const struct weft_history *h, const struct weft_wait *w);

/* The first interaction of the model at or after a time. */
uint32_t analyse_interaction_from(const struct weft_model *m, int64_t time_ns);

void analyse_find_long_runs(struct analyse_loops *l);
void analyse_find_spins(struct analyse_loops *l);
void analyse_find_turns(struct analyse_loops *l);
