/* SPDX-License-Identifier: ISC */
/* A model indexed by promise, to ask who waited for what, why something ran, and what was busy.
 *
 *     struct weft_history *h;
 *     if (weft_history_new(&h, model, NULL, NULL) == 0) {
 *         for (uint32_t i = h->waits_for_first[p]; i < h->waits_for_first[p + 1]; i++)
 *             use(&h->wait[h->waits_for[i]]);
 *         weft_history_free(h);
 *     }
 *
 * Lists of a promise lie together: X_first[p] to X_first[p + 1] are its places in X. Everything of one promise
 * is in order of time, as far as the trace is. A promise that became another one keeps what was said of it
 * before; weft_model_final leads to the other one. Linear in the model, without recursion.
 *
 * Does not change once made; any number of threads may read it. */
#ifndef WEFT_ANALYSE_HISTORY_H
#define WEFT_ANALYSE_HISTORY_H

#include "model/model.h"

#define ANALYSE_NAP                                                                                \
    INT64_C(20000) /* a shorter idle time is none: the loop only asked what is new */

enum weft_wait_end {
    WEFT_WAIT_OPEN, /* the reader waits still when the trace ends */
    WEFT_WAIT_READ, /* the reader read it, or was signalled by it: ended_by says how */
    WEFT_WAIT_RAN, /* nothing says so, but the reader ran again after source had been resolved or notified */
    WEFT_WAIT_ENDED, /* the reader ended first: nobody waits any more */
    WEFT_WAIT_LEFT, /* the reader went on without it: it ran again because of something else, and then waited
                      * for something else (the loser of a race) */
};

/* From a WAITS on. The reader may be the loop (WEFT_ROOT). What reader and source became stands for them. */
struct weft_wait {
    int64_t from_ns, until_ns; /* open: the trace's end */
    uint32_t reader, source;   /* as the events named them; source is not WEFT_ROOT */
    uint32_t begun_by;         /* interaction */
    uint32_t ended_by;         /* interaction, or WEFT_NONE */
    uint32_t
        notified_by; /* of a condition: the interaction by which it was this reader's turn, or WEFT_NONE */
    enum weft_wait_end end;
};

/* The places of what belongs to one promise (stream …) in a list by promise: of first[of] up to first[of + 1]. */
#define analyse_each(i, first, of)                                                                 \
    for (uint32_t i = (first)[of], i##_end = (first)[(of) + 1]; i < i##_end; i++)

struct weft_history {
    const struct weft_model *m; /* borrowed */

    struct weft_wait *wait; /* in the order of beginning */
    uint32_t waits;
    uint32_t *waits_of_first, *waits_of;   /* by reader, as what that became in the end */
    uint32_t *waits_for_first, *waits_for; /* by source: as named, and by what it became (final) */

    uint32_t
        *resolution; /* of each promise: the interaction by which it was resolved (the last one), or
                           * WEFT_NONE; of one that became another: of that one */

    uint32_t *run_promise; /* of each run of the model: what ran */
    uint32_t *
        run_cause; /* … the interaction (READS by it, SIGNALS to it) with which it began, or WEFT_NONE */
    uint32_t *runs_of_first, *runs_of; /* runs by promise */

    /* Runs by stream; those of one stream do not overlap. */
    uint32_t streams;
    uint32_t *stream_first, *stream_run;
    bool *
        is_loop; /* of each stream: whether things that wait are woken on it. Others are workers, which may
                    * be busy as long as they like */
    bool *suspends; /* … whether it says when it sleeps */
    bool *
        informed; /* … or when nothing runs any more; else what ran last seems to run while the loop sleeps */

    /* When a stream did nothing: it was suspended, or it is never suspended and the loop itself ran (as in
     * mirage-profile's traces). By stream, in order, not overlapping. */
    struct weft_idle *idle;
    uint32_t *idle_first; /* by stream, streams + 1 */
    uint64_t *idle_sum;   /* beside idle, and one more: the lengths of all before it */

    /* Garbage collections in order, those that overlap as one. */
    struct weft_collection {
        int64_t start_ns, end_ns;
        int64_t before_ns; /* how long the earlier ones took */
    } * collection;
    uint32_t collections;

    /* When the thread of a stream could have run, but others had the core. By stream, in order, those that overlap as one.
     * preemption_first is NULL if nothing is known of it: then times are those of the clock. */
    struct weft_collection *preemption;
    uint32_t *preemption_first; /* by stream, streams + 1 */

    uint32_t *holds_of_first,
        *holds_of; /* the model's holds by holder: as named, and by what it became */
    uint32_t *holds_for_first, *holds_for; /* … by resource, likewise; with those of nobody */

    uint32_t *notified_first, *notified; /* NOTIFIES of a promise: interactions */
    uint32_t *children_first, *children; /* promises by creator, in order of creation */
};

/* On success the caller owns *out; the model must stay. progress may be NULL. Returns 0, WEFT_E_NOMEM or
 * WEFT_E_CANCELED; *out is then NULL. */
int weft_history_new(struct weft_history **out, const struct weft_model *m,
                     weft_progress_fn *progress, void *data);
void weft_history_free(struct weft_history *h);

/* When a promise was resolved: its end (that of what it became), or INT64_MAX if it is pending or was
 * forgotten: then nobody will resolve it. */
int64_t weft_history_resolved_ns(const struct weft_history *h, uint32_t promise);

/* When a promise ended: what it became, but not before it became that; also by being forgotten. INT64_MAX: it is pending. */
int64_t weft_history_ended_ns(const struct weft_history *h, uint32_t promise);

/* When the reader of a wait could go on: its source was resolved or, of a condition, notified for it, but not before the wait
 * began. INT64_MAX: never, or it went on before. by may be NULL; *by is the interaction, WEFT_NONE: it is not known. */
int64_t weft_history_there_ns(const struct weft_history *h, const struct weft_wait *w,
                              uint32_t *by);

/* The loop that a promise belongs to: the stream that it ran on by then, or its creator; else the only loop. WEFT_NONE: it is
 * not known. */
uint32_t weft_history_loop_of(const struct weft_history *h, uint32_t promise, int64_t time_ns);

/* Of the time from from_ns on for something that a loop brought from outside at time_ns: since when it may have been there.
 * The loop did not look meanwhile, as it was blocked by a run of a millisecond or longer, or by a garbage collection.
 * time_ns: it came then. docs/model.md, "Outside". */
int64_t weft_history_unseen_ns(const struct weft_history *h, uint32_t loop, int64_t from_ns,
                               int64_t time_ns);

/* Places in the lists: the first one of the list at or after a time, or its end. Logarithmic. */
uint32_t weft_history_run_from(const struct weft_history *h, uint32_t promise, int64_t time_ns);
uint32_t weft_history_wait_from(const struct weft_history *h, uint32_t reader, int64_t time_ns);
uint32_t weft_history_notified_from(const struct weft_history *h, uint32_t promise,
                                    int64_t time_ns);
uint32_t weft_history_child_from(const struct weft_history *h, uint32_t creator, int64_t time_ns);
uint32_t weft_history_stream_from(const struct weft_history *h, uint32_t stream, int64_t time_ns);

/* The first idle time of a stream that ends later, or the end of the list. Logarithmic. */
uint32_t weft_history_idle_from(const struct weft_history *h, uint32_t stream, int64_t time_ns);

/* The first one that begins at or after a time; likewise. */
uint32_t weft_history_idle_until(const struct weft_history *h, uint32_t stream, int64_t time_ns);

/* The run of a promise in which a time lies (start <= time <= end; the later one where two touch), or
 * WEFT_NONE. Logarithmic. */
uint32_t weft_history_run_at(const struct weft_history *h, uint32_t promise, int64_t time_ns);

/* The last run of a promise that began no later than that, or WEFT_NONE. Logarithmic. */
uint32_t weft_history_run_before(const struct weft_history *h, uint32_t promise, int64_t time_ns);

/* The stream of a run. */
static inline uint32_t weft_history_stream(const struct weft_history *h, uint32_t run)
{
    return h->m->run_stream ? h->m->run_stream[run] : 0;
}

/* How long a stream was idle between two times, and how often (for at least least_ns each). Logarithmic; where least_ns
 * is more than 1, plus the number of idle times between them. */
int64_t weft_history_idle(const struct weft_history *h, uint32_t stream, int64_t from_ns,
                          int64_t to_ns, int64_t least_ns, uint32_t *times);

/* How often a stream was idle between two times, counted no further than most. Logarithmic plus most. */
uint32_t weft_history_idles(const struct weft_history *h, uint32_t stream, int64_t from_ns,
                            int64_t to_ns, uint32_t most);

/* The place in a list of the first one that begins at or after a time, or its end. Logarithmic. */
uint32_t weft_history_collection_from(const struct weft_collection *list, uint32_t first,
                                      uint32_t end, int64_t time_ns);

/* How long garbage collections took between two times. Logarithmic. */
int64_t weft_history_collecting(const struct weft_history *h, int64_t from_ns, int64_t to_ns);

/* Says when others had the cores of all threads, instead of what the model says of it; the list is put in order. Before the
 * history is asked for anything that takes time. Returns 0 or WEFT_E_NOMEM. */
int weft_history_preempted(struct weft_history *h, struct weft_preemption *list, uint32_t count);

/* How long others had the core of a stream's thread between two times; 0 if that is not known. Logarithmic. */
int64_t weft_history_preempted_ns(const struct weft_history *h, uint32_t stream, int64_t from_ns,
                                  int64_t to_ns);

/* The same, garbage collections, and when the recording was off, the last time: how long what ran could do nothing, or perhaps
 * did not run. */
int64_t weft_history_halted(const struct weft_history *h, uint32_t stream, int64_t from_ns,
                            int64_t to_ns);

#endif
