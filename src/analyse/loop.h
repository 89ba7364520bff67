/* SPDX-License-Identifier: ISC */
/* What the searches for a loop that is not free have in common; inside of analyse.
 *
 * Three searches, each of which leaves out what an earlier one explains: single long runs (block.c), runs without
 * any progress (spin.c), and what had to wait though it was ready (turn.c). */
#ifndef WEFT_ANALYSE_LOOP_H
#define WEFT_ANALYSE_LOOP_H

#include "analyse/finding.h"

#define ANALYSE_US INT64_C(1000)
#define ANALYSE_MS INT64_C(1000000)
#define ANALYSE_LOOP_FAMILIES 100 /* findings of one sort that are told */

/* Time on one stream in which it was not free. */
struct analyse_span {
    int64_t from_ns, to_ns;
    int64_t usual_ns;           /* how long it would have taken without what is doubtful */
    int64_t before_ns;          /* sum of the lengths of those before it, on its stream */
    int64_t doubtful_before_ns; /* … of what is doubtful in them */
    uint32_t stream;
    uint32_t finding; /* or WEFT_NONE */
};

struct analyse_loops {
    struct analyse_search *s;
    struct analyse_span *span; /* sorted by stream and start after each search */
    uint32_t spans, span_room;
    uint32_t *span_first; /* by stream, streams + 1; after sorting */
};

void analyse_span_add(struct analyse_loops *l, uint32_t stream, int64_t from_ns, int64_t to_ns,
                      int64_t usual_ns, uint32_t finding);
/* How much of a time on a stream lies in spans. Logarithmic. */
int64_t analyse_spans_within(const struct analyse_loops *l, uint32_t stream, int64_t from_ns,
                             int64_t to_ns);
/* … of that, beyond what is usual, in spans whose finding is only possible. */
int64_t analyse_spans_doubtful(const struct analyse_loops *l, uint32_t stream, int64_t from_ns,
                               int64_t to_ns);

/* weft_history_there_ns, where that is no guess; else INT64_MAX: a signal without a notification tells only when the wait
 * ended, and where several wait for a condition it is not known for whom a notification is. */
int64_t analyse_surely_there_ns(const struct weft_history *h, const struct weft_wait *w);

/* The first interaction of the model at or after a time. */
uint32_t analyse_interaction_from(const struct weft_model *m, int64_t time_ns);

void analyse_find_long_runs(struct analyse_loops *l);
void analyse_find_spins(struct analyse_loops *l);
void analyse_find_turns(struct analyse_loops *l);

#endif
