/* SPDX-License-Identifier: ISC */
/* What is different in a bad run, compared with one or more good ones.
 *
 *     struct weft_diff d = {0};
 *     if (weft_diff_find(&d, good, goods, bad, NULL, NULL) == 0)
 *         puts(d.divergence.text);
 *     weft_diff_fini(&d);
 *
 * Promises are aligned by what they are, not by number: their type, their label (but for its numbers, where
 * it has no exact counterpart), the path of their creators, and their order among those that are alike. Texts
 * are valid UTF-8 without control characters. Linear in the models but for sorting; memory beyond the histories is
 * proportional to promises. */
#ifndef WEFT_ANALYSE_DIFF_H
#define WEFT_ANALYSE_DIFF_H

#include "analyse/history.h"

enum weft_change_kind {
    WEFT_CHANGE_MISSING, /* in the good run, not in the bad one */
    WEFT_CHANGE_ADDED,
    WEFT_CHANGE_OUTCOME, /* resolved differently, or pending */
    WEFT_CHANGE_UNREAD, /* failed, and nobody used or waited for it, as somebody did in the good run */
    WEFT_CHANGE_TYPE, /* the same label, another type */
};

struct weft_change_found {
    enum weft_change_kind kind;
    uint32_t good, bad; /* promises, or WEFT_NONE */
    uint64_t count;     /* of the same family, under the same creators */
    bool follows;       /* its creator stands in the list of changes itself: it never got there */
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

/* What runs more often, or longer at a stretch, than in the good runs. */
struct weft_running_change {
    uint32_t good, bad;           /* one promise of the family in each; good may be WEFT_NONE */
    bool longer;                  /* the longest run on a loop; else how many runs there were */
    uint64_t good_runs, bad_runs; /* good: of all good runs */
    int64_t good_longest_ns, bad_longest_ns;
    char *text;
};

/* Two promises that were resolved in one order in all good runs, and in the other one in the bad run. */
struct weft_order_change {
    uint32_t good_first, good_second, bad_first,
        bad_second; /* first, second: as in the good runs */
    char *text;
};

/* The first event that differs among those on which what went wrong depends. */
struct weft_divergence {
    bool found;
    char *text;
    bool causal; /* it says why; else something only ended otherwise, of itself */
    /* The two events whose order differs, or the one that is there once: promises and times; WEFT_NONE and
     * INT64_MIN where there is none. */
    uint32_t good_first, good_second, bad_first, bad_second; /* first, second: as in the good run */
    int64_t good_first_ns, good_second_ns, bad_first_ns, bad_second_ns;
    int64_t good_ns,
        bad_ns; /* the last moment until which both were alike: what pictures are aligned at */
};

struct weft_diff {
    struct weft_divergence divergence;
    struct weft_change_found *change; /* the most important first */
    uint32_t changes;
    uint64_t changes_left_out; /* beyond WEFT_CHANGES_MAX */
    struct weft_latency_change *latency;
    uint32_t latencies;
    struct weft_running_change *running;
    uint32_t runnings;
    struct weft_order_change
        *order; /* where no cause is known; the clearest first. By themselves no difference */
    uint32_t orders;
    uint32_t *bad_of_good,
        *good_of_bad; /* counterpart of each promise of the first good run and the bad one, or WEFT_NONE */
    uint64_t aligned;
    uint64_t good_promises, bad_promises; /* how many there are that could be aligned */
    uint64_t latencies_compared;          /* families that both runs have */
    bool unsure;    /* differences may not be found: something is missing that matters */
    bool strangers; /* hardly any promise has a counterpart: how long things take is not compared */
    char *swapped;  /* why the good run and the bad one seem to be swapped, or NULL */
    char *doubt; /* why not all of this may be true (another program, a part of a trace), or NULL */
};

#define WEFT_CHANGES_MAX 1000 /* and as many latencies */
#define WEFT_ORDERS_MAX 5

/* Whether anything is different. */
static inline bool weft_diff_any(const struct weft_diff *d)
{
    return d->strangers || d->swapped || d->divergence.found || d->changes || d->latencies ||
           d->runnings;
}

/* goods >= 1; the first good run is the one that is told of. *out is empty. Returns 0, WEFT_E_NOMEM or
 * WEFT_E_CANCELED. The caller releases it. */
int weft_diff_find(struct weft_diff *out, const struct weft_history *const *good, uint32_t goods,
                   const struct weft_history *bad, weft_progress_fn *progress, void *data);
void weft_diff_fini(struct weft_diff *d);

#endif
