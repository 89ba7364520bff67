/* SPDX-License-Identifier: ISC */
/* The model: what the events of one trace say about its promises.
 *     struct weft_model *m;
 *     if (weft_model_build(&m, reader, NULL, NULL, &err) == 0) {
 *         for (uint32_t p = 1; p < m->promises; p++)
 *             printf("%" PRIu64 " %s\n", m->promise[p].id, weft_model_type(m, p));
 *         weft_model_free(m);
 *     }
 * It consists of arrays with 32-bit indices. The records of one promise (labels, interactions,
 * runs) are chained in the order of recording. The rules are those of mirage-trace-viewer, as
 * docs/model.md states them.
 * Times are nanoseconds after the first event. Times of promoted events may be negative; in a
 * damaged trace others may be negative, too, and times may run backwards. They are kept within
 * WEFT_TIME_MAX, so that differences between them do not overflow.
 * A model does not change once it is built; any number of threads may read it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "read/reader.h"

#define WEFT_NONE UINT32_MAX
#define WEFT_TIME_MAX (INT64_C(1) << 61) /* 73 years, in both directions */
#define WEFT_TIME_MIN (-WEFT_TIME_MAX)
#define WEFT_PROMISES_MAX (UINT32_C(1) << 30) /* including the loop */
#define WEFT_TEXTS_MAX (UINT32_MAX >> 1)      /* of labels; also for changes of counters */
#define WEFT_PLACES_MAX (UINT32_C(1) << 24)   /* one number means none */
#define WEFT_ROOT 0u /* the promise with index 0 is the event loop itself, id WEFT_ID_LOOP */

/* X(NAME, "name") */
#define WEFT_OUTCOMES(X)                                                                           \
    X(PENDING, "pending")                                                                          \
    X(FULFILLED, "fulfilled")                                                                      \
    X(FAILED, "failed")                                                                            \
    X(BECAME, "became")                                                                            \
    X(RESOLVED, "resolved")                                                                        \
    X(CANCELLED, "cancelled")                                                                      \
    X(FORGOTTEN, "forgotten")

enum weft_outcome {
#define X(NAME, name) WEFT_##NAME,
    WEFT_OUTCOMES(X)
#undef X
        WEFT_OUTCOME_COUNT
};

const char *weft_outcome_name(enum weft_outcome o);

struct weft_promise {
    uint64_t id;
    /* creation; if that was not recorded, 0, or its first mention if that is earlier */
    int64_t start_ns;
    int64_t end_ns;   /* resolution; if it is pending: its last sign of life, or the trace's end */
    uint32_t creator; /* a promise; see also weft_model_under */
    uint32_t becomes; /* a promise, or WEFT_NONE */
    uint32_t first_label;       /* or WEFT_NONE */
    uint32_t first_interaction; /* as the actor, or WEFT_NONE */
    uint32_t first_run;         /* or WEFT_NONE */
    uint32_t type;              /* text; see weft_model_type */
    uint32_t reason_or_final;   /* see weft_model_reason, weft_model_final */
    uint32_t place : 24;        /* see weft_model_origin */
    uint32_t outcome : 3;       /* enum weft_outcome */
    uint32_t created : 1;       /* the event that created it is there */
    /* … as a promoted event: it was pending when its packet was overwritten. Without `created`, only its
     * type and place were kept */
    uint32_t promoted : 1;
    uint32_t should_resolve : 1; /* it is marked so, or a promise that is marked so became it */
    uint32_t background : 1;     /* it is marked so: it is meant to be pending for long */
    uint32_t simplified : 1;     /* a bind or similar; it is drawn from its first read on */
};

/* There are many of these records, so padding matters: they are aligned to 4 bytes. Do not take the
 * address of their members. */
#define WEFT_CLOSE __attribute__((packed, aligned(4)))

/* A place in the program's source code. */
struct weft_place {
    uint32_t file; /* text */
    uint32_t line;
};

/* A text at a time. A counter's change is one, too ("queued+1"): see weft_model_label_text. */
struct weft_label {
    int64_t time_ns;
    uint32_t promise;
    uint32_t what : 31;     /* a text, or the index of the counter's change */
    uint32_t is_change : 1; /* which of the two it is */
    uint32_t next;          /* of the same promise, or WEFT_NONE */
} WEFT_CLOSE;

enum weft_interaction_kind {
    WEFT_READS,    /* actor uses other's result */
    WEFT_WAITS,    /* actor begins to wait for other */
    WEFT_RESOLVES, /* actor fulfils, fails, resolves or cancels other */
    WEFT_SIGNALS,  /* actor signals other */
    WEFT_NOTIFIES, /* actor notifies the condition other, whether or not somebody waits for it */
    /* like RESOLVES, but other had ended before, and that end counts (weft's own traces) */
    WEFT_RESOLVES_AGAIN,
    WEFT_CANCELS_LATE, /* actor cancels other, which had ended before (weft's own traces) */
};

struct weft_interaction {
    int64_t time_ns;
    uint64_t actor : 30, other : 30; /* promises */
    uint64_t kind : 3;               /* enum weft_interaction_kind */
    uint64_t replaced : 1; /* a wait that was replaced by the read after it; not in the chain */
    uint32_t next;         /* of the same actor, or WEFT_NONE */
} WEFT_CLOSE;

/* A promise held a resource (a lock, a permit, a connection of a pool). In the order in which they
 * were acquired. If holder or resource became another promise, that one is given. */
struct weft_hold {
    int64_t from_ns, to_ns; /* if it is still held: until the trace's end */
    uint32_t holder; /* WEFT_NONE: the resource was released at from_ns though nobody held it */
    uint32_t resource;
    uint32_t released_by; /* WEFT_NONE: it is still held */
} WEFT_CLOSE;

/* A promise ran, on one of the streams. In the order of their ends. */
struct weft_run {
    int64_t start_ns, end_ns;
    uint32_t next; /* of the same promise, or WEFT_NONE */
} WEFT_CLOSE;

/* A run in which its promise was made to run again and again. It is one run, since nothing else ran
 * in between. */
struct weft_again {
    uint32_t run;
    uint32_t times;
};

#define WEFT_AGAIN_LEAST 16 /* a smaller number of times is not recorded */

/* A period: the process slept, events of some stream are missing, or garbage was collected. */
struct weft_span {
    int64_t start_ns, end_ns;
};

struct weft_idle { /* nothing ran on a stream: it was suspended */
    int64_t start_ns, end_ns;
    uint32_t stream;
};

struct weft_stream_thread {   /* the thread whose events are in a stream */
    uint32_t thread, process; /* the system's numbers; process 0: not known */
    uint32_t name;            /* text */
    bool overwritten;         /* it had more events, before the first one that is there */
    /* time of that first event; WEFT_TIME_MAX: only promoted events are there */
    int64_t first_ns;
};

/* others had the core of a stream's thread: how long is known, when is a guess */
struct weft_preemption {
    int64_t start_ns, end_ns;
    uint32_t stream;
};

struct weft_change { /* of a counter */
    int64_t time_ns;
    int64_t value;  /* the value after the change */
    int64_t amount; /* new minus old, modulo 2^64 */
    uint32_t counter;
    uint32_t next; /* of the same counter, or WEFT_NONE */
};

struct weft_counter_info {
    uint32_t name;  /* text */
    uint32_t scale; /* counters with the same number share a scale */
    uint32_t first_change, last_change;
    int64_t before; /* its value before the first change that is there, if … */
    bool before_known;
};

struct weft_scale {
    int64_t min, max; /* the range includes 0, and max - min >= 10 */
};

/* Pending promises of which only the place of creation is known, for lack of space in the
 * recording. */
struct weft_model_given_up {
    uint32_t type;                        /* text */
    uint32_t place;                       /* see weft_model_origin; or WEFT_NONE */
    uint64_t pending, unlisted, left_out; /* as in struct weft_given_up */
};

/* How often events contradicted each other. The contradicting event is ignored otherwise. */
struct weft_contradictions {
    uint64_t created_twice;
    uint64_t resolved_twice; /* the first end counts; in a mirage trace the last one */
    uint64_t circles;        /* a promise would have become itself, directly or indirectly */
    uint64_t on_loop;        /* the event loop was created, was resolved, or became something */
};

/* Which recorded events are not in the model. */
struct weft_losses {
    bool overwritten;            /* the ring has wrapped: there were events before the first one */
    uint64_t overwritten_events; /* how many; 0: not known */
    bool streams;                /* … and there were streams of which nothing is left */
    /* events in between that there was no room for, that are missing, or that cannot be read */
    uint64_t discarded;
    /* something is, or may be, pending about which not everything that matters is known */
    bool pending;
    /* STOPPED also stands for a program that ended by itself without stopping the recording */
    enum weft_ended ended;
};

struct weft_model {
    struct weft_promise *promise; /* [0] is the loop, the others follow in order of first mention */
    struct weft_label *label;
    struct weft_interaction *interaction; /* in the order of recording */
    struct weft_hold *hold;
    struct weft_run *run;
    struct weft_span *sleep;   /* in order, without overlaps */
    struct weft_span *missing; /* … */
    struct weft_span *pause;
    struct weft_preemption *preemption; /* in order for each stream */
    struct weft_change *change;
    struct weft_counter_info *counter; /* sorted by name */
    struct weft_scale *scale;
    struct weft_place *origin; /* see weft_model_origin */
    uint32_t holds;
    uint32_t promises, labels, interactions, runs, sleeps, pauses, changes, counters, scales;
    uint32_t missings, preemptions;
    uint32_t origins;

    uint32_t streams;                         /* how many streams recorded events */
    struct weft_stream_thread *stream_thread; /* by stream; NULL: not known (mirage's traces) */
    uint8_t boot_id[16];                      /* of the system; zeros: not known */
    /* parallel to run: the stream it was on; NULL: all on stream 0 */
    uint32_t *run_stream;
    struct weft_again *again; /* by run */
    uint32_t agains;
    /* runs before this index were ended by an event; later ones had not ended */
    uint32_t runs_ended;
    /* if more than one stream is ever suspended: when, in the order of the ends; otherwise NULL,
     * and sleep says it */
    struct weft_idle *idle;
    uint32_t idles;
    /* if idle is NULL: the stream that sleep is about; WEFT_NONE: no stream was ever suspended */
    uint32_t sleep_stream;

    struct weft_model_given_up *given_up; /* the most common first */
    uint32_t given_ups;
    struct weft_losses losses;
    struct weft_damage damage; /* of the file, as the reader reports it */
    enum weft_ended ended;     /* as the reader reports it */
    struct weft_exit exit;
    struct weft_quirks quirks; /* of the trace's format */
    /* time of the latest event that is not promoted; later, if the trace says that recording
     * went on longer */
    int64_t end_ns;
    int64_t latest_ns; /* of that event; INT64_MIN: there is none */
    bool end_known;    /* the trace says how long was recorded; otherwise it ends with an event */
    bool asleep;       /* the process is asleep when the trace ends */
    /* events before this time may have been overwritten or not recorded (paused_ns); INT64_MIN:
     * all are there */
    int64_t known_ns;
    /* The recording was last off from paused_ns to resumed_ns (WEFT_TIME_MAX: until the end); what
     * was pending before may have ended during that time. Both WEFT_TIME_MIN: it was never off. */
    int64_t paused_ns, resumed_ns;
    int64_t from_ns;   /* only what happened from then on was read: a part of the trace; else 0 */
    int64_t begin_ns;  /* when the recording began: not after 0; 0 if that is not known */
    uint64_t first_ns; /* the clock's value at the first event */
    bool has_wall;     /* the wall-clock time of that is known: */
    /* of the first event, in nanoseconds since 1970, UTC; 0 to 2 * WEFT_TIME_MAX */
    int64_t wall_ns;
    uint64_t events_total; /* without promoted events, like the next */
    uint64_t events[WEFT_EVENT_KINDS];
    uint64_t promoted_events;
    struct weft_contradictions contradictions;

    /* see traced.h: sorted by promise, then kind; for each promise the nearest one with ids, NULL if no promise has any */
    struct weft_traced *traced;
    uint32_t *traced_nearest;
    uint32_t traceds;

    struct weft_strings *strings; /* see weft_model_text */
    struct weft_idmap *ids;
};

/* Converts a time of the trace's clock to a time of the model. */
static inline int64_t weft_model_time(uint64_t time_ns, uint64_t first_ns)
{
    int64_t since = (int64_t)(time_ns - first_ns);
    return since > WEFT_TIME_MAX ? WEFT_TIME_MAX : since < -WEFT_TIME_MAX ? -WEFT_TIME_MAX : since;
}

/* Reads all events of r and builds their model. progress may be NULL. On success the caller owns
 * *out; r may be closed. Returns 0 or a negative WEFT_E code (WEFT_E_LIMIT for more than
 * WEFT_PROMISES_MAX promises or 2^32 - 2 of anything else); *out is then NULL. Linear in the number
 * of events. */
int weft_model_build(struct weft_model **out, struct weft_reader *r, weft_progress_fn *progress,
                     void *data, struct weft_error *err);

void weft_model_free(struct weft_model *m);

/* The text with that number, NUL-terminated; its size in bytes in *size, which may be NULL. The
 * text may contain any bytes but NUL. Borrowed. */
const char *weft_model_text(const struct weft_model *m, uint32_t text, uint32_t *size);

/* "bind", "preexisting", "type-77" …, never empty; in weft's own traces any text. Borrowed. */
const char *weft_model_type(const struct weft_model *m, uint32_t promise);

/* The first label of a promise that is not a counter's change: a text, or WEFT_NONE. */
uint32_t weft_model_name(const struct weft_model *m, uint32_t promise);

/* Writes the text of a label (a counter's change as name+1) to buffer, NUL-terminated and cut to
 * size. Returns the size in bytes of what was written. */
uint32_t weft_model_label_text(const struct weft_model *m, const struct weft_label *l, char *buffer,
                               uint32_t size);

/* The promise with that id, or WEFT_NONE. */
uint32_t weft_model_find(const struct weft_model *m, uint64_t id);

/* The promise that it has become in the end, or itself. */
static inline uint32_t weft_model_final(const struct weft_model *m, uint32_t promise)
{
    const struct weft_promise *p = &m->promise[promise];
    return p->becomes == WEFT_NONE ? promise : p->reason_or_final;
}

/* Why it failed: a text, or WEFT_NONE. */
static inline uint32_t weft_model_reason(const struct weft_model *m, uint32_t promise)
{
    const struct weft_promise *p = &m->promise[promise];
    return p->becomes == WEFT_NONE ? p->reason_or_final : WEFT_NONE;
}

/* How many pending promises, about which nothing else is known, were created at the same place as
 * this one and have its type. */
uint64_t weft_model_more_like(const struct weft_model *m, uint32_t promise);

/* Where it was created: the index of an origin, or WEFT_NONE. */
static inline uint32_t weft_model_origin(const struct weft_model *m, uint32_t promise)
{
    uint32_t place = m->promise[promise].place;
    return place < m->origins ? place : WEFT_NONE;
}

/* In the simplified form: when its line begins; start_ns unless it is simplified. */
static inline int64_t weft_model_wake(const struct weft_model *m, const struct weft_promise *p)
{
    return p->simplified ? m->interaction[p->first_interaction].time_ns : p->start_ns;
}

/* In the simplified form: the promise that it hangs under; its creator unless it is simplified. */
static inline uint32_t weft_model_under(const struct weft_model *m, const struct weft_promise *p)
{
    return p->simplified ? m->interaction[p->first_interaction].other : p->creator;
}

/* Returns true if there is not a single event: then it means nothing if no fault is found. */
static inline bool weft_model_is_empty(const struct weft_model *m)
{
    return m->events_total == 0 && m->promoted_events == 0;
}

/* Returns true for a promise marked should_resolve that was pending when the trace ended. */
bool weft_model_overdue(const struct weft_model *m, uint32_t promise);

/* All promises except the loop, sorted by id. The caller frees the array. NULL: no memory. */
uint32_t *weft_model_by_id(const struct weft_model *m);
