/* SPDX-License-Identifier: ISC */
/* Compares a bad run with one or more good ones.
 *     struct weft_diff d = {0};
 *     if (weft_diff_find(&d, good, goods, bad, NULL, NULL) == 0)
 *         puts(d.divergence.text);
 *     weft_diff_fini(&d);
 * Promises are aligned by what they are, not by number: by type, label (ignoring numbers, if there
 * is no exact counterpart), the path of creators, and the order among similar ones. Texts are valid
 * UTF-8 without control characters. Time is linear in the models except for sorting; memory beyond
 * the histories is proportional to the promises. */
#pragma once

#include "analyse/history.h"

enum weft_change_kind {
    WEFT_CHANGE_MISSING, /* it is in the good run, but not in the bad one */
    WEFT_CHANGE_ADDED,
    WEFT_CHANGE_OUTCOME, /* it was resolved differently, or is pending */
    /* it failed, and nobody used or waited for it, but in the good run somebody did */
    WEFT_CHANGE_UNREAD,
    WEFT_CHANGE_TYPE, /* same label, different type */
};

struct weft_change_found {
    enum weft_change_kind kind;
    uint32_t good, bad; /* promises, or WEFT_NONE */
    uint64_t count;     /* how many of the same family, under the same creators */
    /* its creator is in the list of changes itself, because it never got that far */
    bool follows;
    char *text;
};

struct weft_latency_change {
    uint32_t good, bad; /* one promise of the family in each run */
    uint64_t good_count, bad_count;
    int64_t good_median_ns, bad_median_ns; /* good: of all good runs */
    int64_t good_low_ns, good_high_ns;     /* lowest and highest median of the good runs */
    int64_t good_p99_ns, bad_p99_ns;
    char *text;
};

/* What runs more often, or longer without a break, than in the good runs. */
struct weft_running_change {
    uint32_t good, bad; /* one promise of the family in each run; good may be WEFT_NONE */
    /* true: the longest run on a loop is longer; false: there were more runs */
    bool longer;
    uint64_t good_runs, bad_runs; /* good: of all good runs */
    int64_t good_longest_ns, bad_longest_ns;
    char *text;
};

/* Two promises that were resolved in one order in all good runs, in the other in the bad one. */
struct weft_order_change {
    uint32_t good_first, good_second, bad_first, bad_second; /* as in the good runs */
    char *text;
};

/* The first difference between the runs that matters for what went wrong. */
struct weft_divergence {
    bool found;
    char *text;
    /* it explains why; otherwise something just ended differently, for no known reason */
    bool causal;
    /* The two events whose order differs, first and second as in the good run, or the one event that
     * only one run has: promises and times; WEFT_NONE and INT64_MIN if there is none. */
    uint32_t good_first, good_second, bad_first, bad_second;
    int64_t good_first_ns, good_second_ns, bad_first_ns, bad_second_ns;
    int64_t good_ns, bad_ns; /* when both were last alike; pictures are aligned there */
};

struct weft_diff {
    struct weft_divergence divergence;
    struct weft_change_found *change; /* the most important first */
    uint32_t changes;
    uint64_t changes_left_out; /* changes beyond WEFT_CHANGES_MAX */
    struct weft_latency_change *latency;
    uint32_t latencies;
    struct weft_running_change *running;
    uint32_t runnings;
    /* only if no cause is known; the clearest first. Alone they do not count as a difference */
    struct weft_order_change *order;
    uint32_t orders;
    /* by promise of the first good run, or of the bad run: its counterpart, or WEFT_NONE */
    uint32_t *bad_of_good, *good_of_bad;
    uint64_t aligned;
    uint64_t good_promises, bad_promises; /* how many promises could be aligned */
    uint64_t latencies_compared;          /* families that both runs have */
    bool unsure;    /* differences may be missed, because something that matters is missing */
    bool strangers; /* hardly any promise has a counterpart; durations are not compared */
    char *swapped;  /* why the good run and the bad one seem to be swapped, or NULL */
    char *doubt;    /* why some of this may be wrong (another program, a partial trace), or NULL */
};

#define WEFT_CHANGES_MAX 1000 /* the same limit for latencies */
#define WEFT_ORDERS_MAX 5

/* Returns true if anything is different. */
static inline bool weft_diff_any(const struct weft_diff *d)
{
    return d->strangers || d->swapped || d->divergence.found || d->changes || d->latencies ||
           d->runnings;
}

/* goods >= 1; texts are about the first good run. *out must be empty. Returns 0, WEFT_E_NOMEM or
 * WEFT_E_CANCELED. The caller releases it. */
int weft_diff_find(struct weft_diff *out, const struct weft_history *const *good, uint32_t goods,
                   const struct weft_history *bad, weft_progress_fn *progress, void *data);
void weft_diff_fini(struct weft_diff *d);
