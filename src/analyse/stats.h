/* SPDX-License-Identifier: ISC */
/* Latencies by what promises are, and how busy the event loops were.
 *     struct weft_stats s;
 *     if (weft_stats_find(&s, history, WEFT_BY_AUTO, NULL, NULL) == 0) {
 *         for (uint32_t i = 0; i < s.rows; i++)
 *             printf("%u: %" PRId64 " ns\n", s.row[i].count, s.row[i].p99_ns);
 *         weft_stats_fini(&s);
 *     }
 * Times are in nanoseconds. Sums are capped at INT64_MAX; if times run backwards, lengths are 0.
 * docs/man/weft-stats.1.md has the definitions. Memory is proportional to the promises, plus 16
 * bytes for each time that a promise was ready. */
#pragma once

#include "analyse/history.h"

enum weft_stats_by {
    WEFT_BY_AUTO,   /* by family, if some labels differ only in numbers; otherwise by label */
    WEFT_BY_LABEL,  /* (type, label) */
    WEFT_BY_FAMILY, /* (type, label without numbers) */
    WEFT_BY_TYPE,
    WEFT_BY_CREATOR, /* (type, label) of the promise that created it */
    WEFT_BY_MEMBERS, /* rows that the caller gives; not for weft_stats_find */
};

#define WEFT_STATS_RUNS 5 /* how many of a stream's longest runs are kept */

/* Can be added to the enum: a bind or similar begins at its creation, not at its first read. */
#define WEFT_STATS_RAW 8u

struct weft_stats_row {
    uint32_t promise; /* the first promise of the row; WEFT_NONE: it has none */
    uint32_t named;   /* it is named after this promise: the same or, by creator, the creator */
    bool one_label;   /* all have the same label, or none */
    /* By outcome, which is that of what a promise became; they add up to count. */
    uint32_t count, resolved, failed, cancelled, forgotten, pending;
    uint32_t became;                   /* how many of count became another promise */
    uint32_t preexisting;              /* how many of count have no recorded creation */
    uint32_t slowest;                  /* the promise with max_ns, or WEFT_NONE */
    uint32_t first_latency, latencies; /* places in latency; see weft_stats_percentile */
    double rate; /* creations per second over the span of the trace, without promoted ones */
    int64_t p50_ns, p90_ns, p99_ns, max_ns, total_ns; /* of the latencies; 0 if there are none */
    int64_t waiting_ns; /* sum: something they waited for was not there yet, and they did not run */
    int64_t blocked_ns; /* part of waiting_ns: it may have been there, but the loop was blocked */
    int64_t ready_ns;   /* sum: it was there, but they did not run yet */
    int64_t running_ns; /* sum, without garbage collections */
    uint64_t amount;    /* sum of the options' amounts */
};

struct weft_stats_stream {
    uint32_t stream;
    bool is_loop;
    bool suspends;   /* it says when it is idle; otherwise the loop's own time counts as idle */
    int64_t span_ns; /* from the first thing known about it to the last */
    int64_t busy_ns; /* not idle; includes loop_ns and collecting_ns */
    int64_t loop_ns; /* part of busy_ns: the event loop itself ran */
    int64_t idle_ns;
    int64_t collecting_ns; /* part of busy_ns: garbage collections */
    uint64_t runs;         /* of promises */
    uint64_t turns;        /* from one idle time to the next */
    /* indices of runs of the model, longest first, or WEFT_NONE */
    uint32_t longest_run[WEFT_STATS_RUNS];
    int64_t turn_from_ns, turn_to_ns; /* the longest turn; empty if there was none */
    uint64_t turn_runs;               /* runs of promises in it */
};

struct weft_stats {
    enum weft_stats_by by;      /* not WEFT_BY_AUTO */
    struct weft_stats_row *row; /* by total_ns, descending */
    uint32_t rows;
    /* latencies of promises that were created in the trace (or promoted) and were fulfilled,
     * failed or resolved; row after row, each in ascending order */
    int64_t *latency;
    /* Where latency is NULL, from first_latency on, so many counts of powers: those that weft_stats_in_power gives. */
    uint32_t *power;
#define WEFT_STATS_POWERS 63
    struct weft_stats_stream *stream; /* streams on which something ran or that were idle */
    uint32_t streams;
    int64_t span_ns;
    /* The largest number of promises that were ready at the same time. */
    uint32_t ready_max;
    int64_t ready_max_ns; /* the first time with that number */
    double ready_mean;    /* the average over the span */
};

/* by: enum weft_stats_by. On success the caller releases *out; otherwise it is empty. progress may
 * be NULL. Returns 0, WEFT_E_NOMEM or WEFT_E_CANCELED. */
int weft_stats_find(struct weft_stats *out, const struct weft_history *h, unsigned by,
                    weft_progress_fn *progress, void *data);
void weft_stats_fini(struct weft_stats *s);

/* ---- The same in steps, for some of the promises, without streams and depth ---- */

struct weft_stats_member {
    uint32_t row, promise;
};

struct weft_stats_options {
    unsigned by; /* enum weft_stats_by, and WEFT_STATS_RAW */
    /* Equal: the whole trace. Otherwise only promises that are alive at some time in it, both ends included; counts and
     * latencies are of the whole promises, what they waited, stood ready and ran is that part. */
    int64_t from_ns, to_ns;
    bool (*keep)(const void *data, uint32_t promise); /* only those; NULL: all */
    const void *data;
    const uint64_t *amount; /* by promise: what rows add up in amount; NULL: nothing */
    /* WEFT_BY_MEMBERS: which promises the rows have, row by row. Borrowed. */
    const struct weft_stats_member *member;
    uint32_t members, rows;
};

struct weft_stats_work;

/* The caller owns *out. What the options and the history point to must outlive it. Returns 0 or WEFT_E_NOMEM; *out is then
 * NULL. */
int weft_stats_begin(struct weft_stats_work **out, const struct weft_history *h,
                     const struct weft_stats_options *o);
void weft_stats_end(struct weft_stats_work *w);

/* Continues; a step is a promise, 20000 take a few milliseconds. Returns 1 if there is more to do, 0 when it is done,
 * or WEFT_E_NOMEM. */
int weft_stats_work(struct weft_stats_work *w, uint32_t steps);

/* What was found, once it is done: rows in any order, also empty ones. Borrowed. */
const struct weft_stats *weft_stats_result(const struct weft_stats_work *w);

/* Looks for the promise of a row that took longest, of those that took less than `before` or, if equally long, come later;
 * WEFT_NONE for `before`: the slowest of all. Promises without a latency come last, the first created first. */
struct weft_stats_seek {
    uint32_t row, before;
    uint32_t at,
        best; /* at first 0 and WEFT_NONE; then best is the result, or WEFT_NONE: there are no more */
    int64_t best_ns;
};

/* Continues with at most `steps` promises. Returns true if there is more to do. */
bool weft_stats_slower(const struct weft_stats_work *w, struct weft_stats_seek *s, uint32_t steps);

/* The row that a promise is in, whether it counts or not, the first if there are several; or WEFT_NONE. */
uint32_t weft_stats_row_of(const struct weft_stats_work *w, uint32_t promise);

/* The smallest latency that `percent` of them do not exceed (nearest rank); 0: there are none. */
int64_t weft_stats_percentile(const struct weft_stats *s, const struct weft_stats_row *r,
                              unsigned percent);

/* How many latencies of a row are less than a value. Logarithmic. */
uint32_t weft_stats_below(const struct weft_stats *s, const struct weft_stats_row *r, int64_t ns);

/* How many latencies of a row are at least 2^power ns and less than twice that; the first also has those of 0. */
uint32_t weft_stats_in_power(const struct weft_stats *s, const struct weft_stats_row *r,
                             unsigned power);

/* The type of a row: "task"; "the event loop" if that created them. Borrowed. */
const char *weft_stats_type(const struct weft_model *m, const struct weft_stats_row *r);

/* The complete label of a row for display: clean UTF-8; by family, differing numbers are '#'. The
 * caller frees *out, which is NULL if there is no label. Returns 0 or WEFT_E_NOMEM. */
int weft_stats_label(char **out, const struct weft_stats *s, const struct weft_model *m,
                     const struct weft_stats_row *r);
