/* SPDX-License-Identifier: ISC */
/* What is different in a bad run, compared with one or more good ones.
 *
 *     struct weft_diff d = {0};
 *     if (weft_diff_find(&d, good, goods, bad, NULL, NULL) == 0)
 *         puts(d.divergence.text);
 *     weft_diff_fini(&d);
 *
 * Promises are aligned by what they are, not by number: their type, their label (but for its numbers, where
 * it has no exact counterpart), the path of their creators, and their order among those that are alike. */
#ifndef WEFT_ANALYSE_DIFF_H
#define WEFT_ANALYSE_DIFF_H

#include "analyse/history.h"

enum weft_change_kind {
    WEFT_CHANGE_MISSING, /* in the good run, not in the bad one */
    WEFT_CHANGE_ADDED,
    WEFT_CHANGE_OUTCOME, /* resolved differently, or pending */
};

struct weft_change_found {
    enum weft_change_kind kind;
    uint32_t good, bad; /* promises, or WEFT_NONE */
    uint64_t count;     /* of the same family, under the same creators */
    char *text;
};

struct weft_latency_change {
    uint32_t good, bad; /* one promise of the family in each */
    uint64_t good_count, bad_count;
    int64_t good_median_ns, bad_median_ns; /* good: of all good runs */
    int64_t good_low_ns, good_high_ns;     /* lowest and highest median of the good runs */
    int64_t good_p99_ns, bad_p99_ns;
    char *text;
};

/* The first event of the bad run that is out of the good run's order, among those on which what went wrong depends. */
struct weft_divergence {
    bool found;
    char *text;
    /* The two events whose order differs, or the one that is there once: promises and times; WEFT_NONE and
     * INT64_MIN where there is none. */
    uint32_t good_first, good_second, bad_first, bad_second; /* first, second: as in the good run */
    int64_t good_first_ns, good_second_ns, bad_first_ns, bad_second_ns;
    int64_t good_ns,
        bad_ns; /* the last moment until which both were alike: what pictures are aligned at */
};

struct weft_diff {
    struct weft_divergence divergence;
    struct weft_change_found *change;
    uint32_t changes;
    struct weft_latency_change *latency;
    uint32_t latencies;
    uint32_t *bad_of_good,
        *good_of_bad; /* counterpart of each promise of the first good run and the bad one, or WEFT_NONE */
    uint64_t aligned;
};

/* goods >= 1; the first good run is the one that is told of. *out is empty. Returns 0, WEFT_E_NOMEM or
 * WEFT_E_CANCELED. The caller releases it. */
int weft_diff_find(struct weft_diff *out, const struct weft_history *const *good, uint32_t goods,
                   const struct weft_history *bad, weft_progress_fn *progress, void *data);
void weft_diff_fini(struct weft_diff *d);

#endif
