/* SPDX-License-Identifier: ISC */
/* A model indexed by promise, for asking who waited for what, why something ran, and what was busy.
 *     struct weft_history *h;
 *     if (weft_history_new(&h, model, NULL, NULL) == 0) {
 *         for (uint32_t i = h->waits_for_first[p]; i < h->waits_for_first[p + 1]; i++)
 *             use(&h->wait[h->waits_for[i]]);
 *         weft_history_free(h);
 *     }
 * The lists of all promises lie one after another: those of promise p are at X_first[p] up to, but
 * not including, X_first[p + 1] in X. Everything about one promise is in order of time, as far as
 * the trace is. A promise that became another one keeps what was recorded about it before that;
 * weft_model_final leads to the other one. Making it is linear in the model, without recursion.
 * Threads: it does not change once it is made; any number may read it. */
#pragma once

#include "model/model.h"

#define ANALYSE_NAP INT64_C(20000) /* in a shorter idle time the loop only checked for news */

enum weft_wait_end {
    WEFT_WAIT_OPEN, /* the reader is still waiting when the trace ends */
    WEFT_WAIT_READ, /* the reader read the source, or was signalled by it: ended_by says how */
    /* no event says so, but the reader ran again after the source was resolved or notified */
    WEFT_WAIT_RAN,
    WEFT_WAIT_ENDED, /* the reader ended first, so nobody waits any more */
    /* the reader continued without the source: it ran again because of something else, and then
     * waited for something else (this one lost a race) */
    WEFT_WAIT_LEFT,
};

/* A wait begins at a WAITS interaction. The reader may be the loop (WEFT_ROOT). If reader or source
 * became another promise, that one counts. */
struct weft_wait {
    int64_t from_ns, until_ns; /* if still open: until the trace's end */
    uint32_t reader, source;   /* as the events name them; source is never WEFT_ROOT */
    uint32_t begun_by;         /* interaction */
    uint32_t ended_by;         /* interaction, or WEFT_NONE */
    /* for a condition: the notification that let this reader continue, or WEFT_NONE */
    uint32_t notified_by;
    enum weft_wait_end end;
};

/* Loops over what belongs to one promise (stream …) in a list by promise: first[of] up to, but not
 * including, first[of + 1]. */
#define analyse_each(i, first, of)                                                                 \
    for (uint32_t i = (first)[of], i##_end = (first)[(of) + 1]; i < i##_end; i++)

/* … and how many there are. */
static inline uint32_t analyse_count(const uint32_t *first, uint32_t of)
{
    return first[of + 1] - first[of];
}

struct weft_history {
    const struct weft_model *m; /* borrowed */

    struct weft_wait *wait; /* in the order in which they began */
    uint32_t waits;
    /* by reader, meaning what the reader became in the end */
    uint32_t *waits_of_first, *waits_of;
    /* by source: as named in the events, and also by what it became (final) */
    uint32_t *waits_for_first, *waits_for;

    /* for each promise: the interaction that resolved it (the last one), or WEFT_NONE; if it
     * became another promise, that of the other one */
    uint32_t *resolution;

    uint32_t *run_promise; /* for each run of the model: what ran */
    /* … the interaction (it READS, or something SIGNALS it) that began the run, or WEFT_NONE */
    uint32_t *run_cause;
    uint32_t *runs_of_first, *runs_of; /* runs by promise */

    /* Runs by stream; the runs of one stream do not overlap. */
    uint32_t streams;
    uint32_t *stream_first, *stream_run;
    /* for each stream: promises that wait are woken on it, other than threads. Other streams are workers, which may
     * be busy as long as they like */
    bool *is_loop;
    bool *suspends; /* … it says when it sleeps */
    /* … or when nothing runs; otherwise what ran last seems to run while the loop sleeps */
    bool *informed;

    /* When a stream did nothing: it was suspended; or it is never suspended, and the loop itself
     * ran (as in mirage-profile's traces). By stream, in order, without overlaps. */
    struct weft_idle *idle;
    uint32_t *idle_first; /* by stream, streams + 1 */
    /* parallel to idle, with one more entry: the total length of all before it */
    uint64_t *idle_sum;

    /* Garbage collections in order; overlapping ones are joined. */
    struct weft_collection {
        int64_t start_ns, end_ns;
        int64_t before_ns; /* total length of all before it */
    } * collection;
    uint32_t collections;

    /* When the thread of a stream could have run, but others had the core. By stream, in order;
     * overlapping ones are joined. preemption_first is NULL if nothing is known about it: then
     * times are simply those of the clock. */
    struct weft_collection *preemption;
    uint32_t *preemption_first; /* by stream, streams + 1 */

    /* the model's holds by holder: as named in the events, and also by what it became */
    uint32_t *holds_of_first, *holds_of;
    /* … by resource, in the same way; including holds without a holder */
    uint32_t *holds_for_first, *holds_for;

    uint32_t *notified_first, *notified; /* the NOTIFIES interactions of each promise */
    uint32_t *children_first, *children; /* promises by creator, in order of creation */
};

/* On success the caller owns *out; the model must outlive it. progress may be NULL. Returns 0,
 * WEFT_E_NOMEM or WEFT_E_CANCELED; *out is then NULL. */
int weft_history_new(struct weft_history **out, const struct weft_model *m,
                     weft_progress_fn *progress, void *data);
void weft_history_free(struct weft_history *h);

/* When a promise (or what it became) was resolved; INT64_MAX if it is pending, or was forgotten:
 * then nobody will resolve it. */
int64_t weft_history_resolved_ns(const struct weft_history *h, uint32_t promise);

/* When a promise ended, including by being forgotten: when what it became ended, but not before it
 * became that. INT64_MAX: it is pending. */
int64_t weft_history_ended_ns(const struct weft_history *h, uint32_t promise);

/* How long it took from its start until it ended; 0 if times run backwards. INT64_MAX: it is
 * pending. */
int64_t weft_history_length_ns(const struct weft_history *h, uint32_t promise);

/* When the reader of a wait could continue: its source was resolved, or a condition was notified
 * for it, but not before the wait began. INT64_MAX: never, or it continued before that. by may be
 * NULL; *by is the interaction, or WEFT_NONE if it is not known. */
int64_t weft_history_there_ns(const struct weft_history *h, const struct weft_wait *w,
                              uint32_t *by);

/* The only loop among the streams; WEFT_NONE: there is none, or more than one. */
uint32_t analyse_only_loop(const struct weft_history *h);

/* The loop that a promise belongs to: the stream on which it, or else its creator, ran by then;
 * otherwise the only loop. WEFT_NONE: it is not known. */
uint32_t weft_history_loop_of(const struct weft_history *h, uint32_t promise, int64_t time_ns);

/* For something that a loop brought from outside at time_ns: since when, after from_ns, it may have
 * been there unseen. In that time the loop did not look, since it was blocked by a run of a
 * millisecond or longer, or by a garbage collection. Returns time_ns if it came just then.
 * docs/model.md, "Outside". */
int64_t weft_history_unseen_ns(const struct weft_history *h, uint32_t loop, int64_t from_ns,
                               int64_t time_ns);

/* Places in the lists: the first entry at or after a time, or the end of the list. Logarithmic. */
uint32_t weft_history_run_from(const struct weft_history *h, uint32_t promise, int64_t time_ns);
uint32_t weft_history_wait_from(const struct weft_history *h, uint32_t reader, int64_t time_ns);
uint32_t weft_history_notified_from(const struct weft_history *h, uint32_t promise,
                                    int64_t time_ns);
uint32_t weft_history_child_from(const struct weft_history *h, uint32_t creator, int64_t time_ns);
uint32_t weft_history_stream_from(const struct weft_history *h, uint32_t stream, int64_t time_ns);

/* The first idle time of a stream that ends after a time, or the end of the list. Logarithmic. */
uint32_t weft_history_idle_from(const struct weft_history *h, uint32_t stream, int64_t time_ns);

/* The first idle time that begins at or after a time, or the end of the list. Logarithmic. */
uint32_t weft_history_idle_until(const struct weft_history *h, uint32_t stream, int64_t time_ns);

/* The run of a promise that contains a time, both ends included (the later one if two touch), or
 * WEFT_NONE. Logarithmic. */
uint32_t weft_history_run_at(const struct weft_history *h, uint32_t promise, int64_t time_ns);

/* The last run of a promise that began no later than that, or WEFT_NONE. Logarithmic. */
uint32_t weft_history_run_before(const struct weft_history *h, uint32_t promise, int64_t time_ns);

/* The last wait of a promise, or NULL. */
static inline const struct weft_wait *analyse_last_wait(const struct weft_history *h,
                                                        uint32_t promise)
{
    const uint32_t count = analyse_count(h->waits_of_first, promise);
    return count ? &h->wait[h->waits_of[h->waits_of_first[promise] + count - 1]] : NULL;
}

/* The stream of a run. */
static inline uint32_t weft_history_stream(const struct weft_history *h, uint32_t run)
{
    return h->m->run_stream ? h->m->run_stream[run] : 0;
}

/* Its last run, or WEFT_NONE. */
static inline uint32_t weft_history_last_run(const struct weft_history *h, uint32_t promise)
{
    const uint32_t end = h->runs_of_first[promise + 1];
    return h->runs_of_first[promise] < end ? h->runs_of[end - 1] : WEFT_NONE;
}

/* Why a run began: what was read, or who signalled it; WEFT_NONE: it is not known. */
static inline uint32_t weft_history_cause(const struct weft_history *h, uint32_t run)
{
    const uint32_t cause = h->run_cause[run];
    const struct weft_interaction *x = cause == WEFT_NONE ? NULL : &h->m->interaction[cause];
    return !x ? WEFT_NONE : x->kind == WEFT_READS ? x->other : x->actor;
}

/* How long a stream was idle between two times, and how often (counting only idle times of at least
 * least_ns). Logarithmic; if least_ns is more than 1, plus the number of idle times in between. */
int64_t weft_history_idle(const struct weft_history *h, uint32_t stream, int64_t from_ns,
                          int64_t to_ns, int64_t least_ns, uint32_t *times);

/* How often a stream was idle between two times; counts up to `most`. Logarithmic plus most. */
uint32_t weft_history_idles(const struct weft_history *h, uint32_t stream, int64_t from_ns,
                            int64_t to_ns, uint32_t most);

/* The place in a list of the first entry at or after a time, or the list's end. Logarithmic. */
uint32_t weft_history_collection_from(const struct weft_collection *list, uint32_t first,
                                      uint32_t end, int64_t time_ns);

/* The total length of garbage collections between two times. Logarithmic. */
int64_t weft_history_collecting(const struct weft_history *h, int64_t from_ns, int64_t to_ns);

/* Sets when others had the cores of all threads, replacing what the model says; sorts the list.
 * Call it before asking the history for anything that depends on time. Returns 0 or
 * WEFT_E_NOMEM. */
int weft_history_preempted(struct weft_history *h, struct weft_preemption *list, uint32_t count);

/* How long others had the core of a stream's thread in that time; 0: not known. Logarithmic. */
int64_t weft_history_preempted_ns(const struct weft_history *h, uint32_t stream, int64_t from_ns,
                                  int64_t to_ns);

/* How long what ran on a stream could do nothing, or perhaps did not run, between two times: others
 * had the core, a garbage collection ran, or the recording was off (the last time). */
int64_t weft_history_halted(const struct weft_history *h, uint32_t stream, int64_t from_ns,
                            int64_t to_ns);
