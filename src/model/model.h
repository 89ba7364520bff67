/* SPDX-License-Identifier: ISC */
/* The model: what the events of one trace say about its promises.
 *
 *     struct weft_model *m;
 *     if (weft_model_build(&m, reader, NULL, NULL, &err) == 0) {
 *         for (uint32_t p = 1; p < m->promises; p++)
 *             printf("%" PRIu64 " %s\n", m->promise[p].id, weft_model_type(m, p));
 *         weft_model_free(m);
 *     }
 *
 * Arrays with 32-bit indices; records of one promise (labels, interactions, runs) are chained in the
 * order of recording. The rules are those of mirage-trace-viewer, as docs/model.md states them.
 * Times are nanoseconds after the first event; those of promoted events, and in a damaged trace of
 * others, too, may be negative; in a damaged trace they may run backwards. They are kept within WEFT_TIME_MAX,
 * so that differences of them do not overflow.
 *
 * A model does not change once it is built; any number of threads may read it. */
#ifndef WEFT_MODEL_MODEL_H
#define WEFT_MODEL_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "read/reader.h"

#define WEFT_NONE UINT32_MAX
#define WEFT_TIME_MAX (INT64_C(1) << 61) /* 73 years, either way */
#define WEFT_TIME_MIN (-WEFT_TIME_MAX)
#define WEFT_PROMISES_MAX (UINT32_C(1) << 30) /* the loop included */
#define WEFT_TEXTS_MAX (UINT32_MAX >> 1)      /* that labels can have; and changes of counters */
#define WEFT_PLACES_MAX (UINT32_C(1) << 24)   /* one number stands for none */
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
    int64_t
        start_ns;   /* creation, or 0 (or its first mention, if earlier) if that was not recorded */
    int64_t end_ns; /* resolution; of a pending one its last sign of life, or the trace's end */
    uint32_t creator;           /* promise; see weft_model_under, too */
    uint32_t becomes;           /* promise, or WEFT_NONE */
    uint32_t first_label;       /* or WEFT_NONE */
    uint32_t first_interaction; /* as the actor; or WEFT_NONE */
    uint32_t first_run;         /* or WEFT_NONE */
    uint32_t type;              /* text; see weft_model_type */
    uint32_t reason_or_final;   /* see weft_model_reason, weft_model_final */
    uint32_t place : 24;        /* see weft_model_origin */
    uint32_t outcome : 3;       /* enum weft_outcome */
    uint32_t created : 1;       /* its creation is there */
    uint32_t promoted : 1; /* … as a promoted event: pending when its packet was overwritten */
    uint32_t should_resolve : 1; /* marked so, or what a marked one became */
    uint32_t background : 1;     /* marked so: meant to be pending for long */
    uint32_t simplified : 1;     /* a bind or the like, drawn from its first read on */
};

/* Where there are many records, what lies between them counts: they are aligned to 4 bytes. So take no
 * address of their members. */
#define WEFT_CLOSE __attribute__((packed, aligned(4)))

/* A place in the program's source. */
struct weft_place {
    uint32_t file; /* text */
    uint32_t line;
};

/* A text at a time. A counter's change is one too ("queued+1"): see weft_model_label_text. */
struct weft_label {
    int64_t time_ns;
    uint32_t promise;
    uint32_t what : 31;     /* text, or index of the counter's change */
    uint32_t is_change : 1; /* which of them it is */
    uint32_t next;          /* of the same promise, or WEFT_NONE */
} WEFT_CLOSE;

enum weft_interaction_kind {
    WEFT_READS,    /* actor uses other's result */
    WEFT_WAITS,    /* actor begins to wait for other */
    WEFT_RESOLVES, /* actor fulfils, fails, resolves or cancels other */
    WEFT_SIGNALS,  /* actor signals other */
    WEFT_NOTIFIES, /* actor signals the condition other, whether or not somebody waits for it */
    WEFT_RESOLVES_AGAIN, /* as RESOLVES, but other had ended before, which counts (weft's own traces) */
    WEFT_CANCELS_LATE, /* actor cancels other, which had ended before (likewise) */
};

struct weft_interaction {
    int64_t time_ns;
    uint64_t actor : 30, other : 30; /* promises */
    uint64_t kind : 3;               /* enum weft_interaction_kind */
    uint64_t replaced : 1; /* a wait that the read after it has replaced; not in the chain */
    uint32_t next;         /* of the same actor, or WEFT_NONE */
} WEFT_CLOSE;

/* A promise held a resource (a lock, a permit, a connection of a pool), in the order of acquiring. What the two became
 * stands for them. */
struct weft_hold {
    int64_t from_ns, to_ns; /* held still: the trace's end */
    uint32_t holder; /* WEFT_NONE: nobody held the resource when it was released, at from_ns */
    uint32_t resource;
    uint32_t released_by; /* WEFT_NONE: it is held still */
} WEFT_CLOSE;

/* A promise ran, on one of the streams; in the order of their ends. */
struct weft_run {
    int64_t start_ns, end_ns;
    uint32_t next; /* of the same promise, or WEFT_NONE */
} WEFT_CLOSE;

/* A run in which its promise was made to run again and again: one run, since nothing else ran in between. */
struct weft_again {
    uint32_t run;
    uint32_t times;
};

#define WEFT_AGAIN_LEAST 16 /* less often is not kept */

struct weft_sleep { /* the process slept: in order, they do not overlap */
    int64_t start_ns, end_ns;
};

struct weft_missing { /* events of some stream are missing: in order, they do not overlap */
    int64_t start_ns, end_ns;
};

struct weft_idle { /* nothing ran on a stream: it was suspended */
    int64_t start_ns, end_ns;
    uint32_t stream;
};

struct weft_stream_thread {   /* the thread whose events a stream is of */
    uint32_t thread, process; /* the system's numbers; process 0: not known */
    uint32_t name;            /* text */
    bool overwritten;         /* it had more events, before the first one that is there */
    int64_t first_ns;         /* that one; WEFT_TIME_MAX: only promoted ones are there */
};

struct weft_pause { /* a garbage collection */
    int64_t start_ns, end_ns;
};

struct
    weft_preemption { /* others had the core of a stream's thread: the length is known, when it was is a guess */
    int64_t start_ns, end_ns;
    uint32_t stream;
};

struct weft_change { /* of a counter */
    int64_t time_ns;
    int64_t value;  /* the new one */
    int64_t amount; /* new minus old, modulo 2^64 */
    uint32_t counter;
    uint32_t next; /* of the same counter, or WEFT_NONE */
};

struct weft_counter_info {
    uint32_t name;  /* text */
    uint32_t scale; /* counters with equal numbers share a scale */
    uint32_t first_change, last_change;
};

struct weft_scale {
    int64_t min, max; /* includes 0, and max - min >= 10 */
};

/* Pending promises of which only the place of their creation is known, for lack of room in the recording. */
struct weft_model_given_up {
    uint32_t type;                        /* text */
    uint32_t place;                       /* see weft_model_origin; or WEFT_NONE */
    uint64_t pending, unlisted, left_out; /* as in struct weft_given_up */
};

/* Ways in which events contradicted each other. Each is counted, the event is otherwise ignored. */
struct weft_contradictions {
    uint64_t created_twice;
    uint64_t resolved_twice; /* the first end counts; in a mirage trace the last one */
    uint64_t circles;        /* a promise that would become itself, directly or not */
    uint64_t on_loop;        /* the event loop created, resolved or becoming something */
};

/* What of the recorded events is not in the model. */
struct weft_losses {
    bool overwritten; /* the ring had wrapped: what came before the first event */
    bool streams;     /* … and streams of which nothing is left */
    uint64_t
        discarded; /* events for which there was no room, or that are missing or cannot be read, anywhere in between */
    bool pending; /* something is pending, or may be, of which not all that matters is known */
    enum weft_ended ended; /* stopped also if it exited without that: it ended by itself */
};

struct weft_model {
    struct weft_promise *promise; /* [0] is the loop, then by first mention */
    struct weft_label *label;
    struct weft_interaction *interaction; /* in the order of recording */
    struct weft_hold *hold;
    struct weft_run *run;
    struct weft_sleep *sleep;
    struct weft_missing *missing;
    struct weft_pause *pause;
    struct weft_preemption *preemption; /* those of a stream in order */
    struct weft_change *change;
    struct weft_counter_info *counter; /* sorted by name */
    struct weft_scale *scale;
    struct weft_place *origin; /* see weft_model_origin */
    uint32_t holds;
    uint32_t promises, labels, interactions, runs, sleeps, pauses, changes, counters, scales;
    uint32_t missings, preemptions;
    uint32_t origins;

    uint32_t streams;                         /* on which events were recorded */
    struct weft_stream_thread *stream_thread; /* by stream; NULL: not known (mirage's traces) */
    uint8_t boot_id[16];                      /* of the system; zeros: not known */
    uint32_t *run_stream;                     /* beside run: on which one; NULL: all on stream 0 */
    struct weft_again *again;                 /* by run */
    uint32_t agains;
    uint32_t runs_ended; /* runs before it were ended by an event; later ones last still */
    struct weft_idle
        *idle; /* where several streams are ever suspended: when, in the order of the ends; else
                             * NULL, and it is as sleep says */
    uint32_t idles;
    uint32_t
        sleep_stream; /* the one that sleep is of, where idle is NULL; WEFT_NONE: none was ever suspended */

    struct weft_model_given_up *given_up; /* those that are most first */
    uint32_t given_ups;
    struct weft_losses losses;
    enum weft_ended ended; /* as the reader says it */
    struct weft_exit exit;
    struct weft_quirks quirks; /* of the trace's format */
    int64_t
        end_ns; /* latest event that is not promoted; or later, where the trace says how long was recorded */
    bool end_known; /* the trace says how long was recorded; else it ends with an event */
    bool asleep;    /* the process sleeps when the trace ends */
    int64_t
        known_ns; /* events before it may have been overwritten, or not recorded (paused_ns); INT64_MIN: all are there */
    /* The recording was off, the last time from paused_ns to resumed_ns (WEFT_TIME_MAX: to the end), and what was
     * pending before may have ended then. Both WEFT_TIME_MIN: it never was. */
    int64_t paused_ns, resumed_ns;
    int64_t begin_ns;      /* when the recording began: not after 0; 0 where that is not known */
    uint64_t first_ns;     /* the clock at the first one */
    bool has_wall;         /* when that was is known: */
    int64_t wall_ns;       /* then, in nanoseconds since 1970, UTC; 0 to 2 * WEFT_TIME_MAX */
    uint64_t events_total; /* without promoted ones, as the next */
    uint64_t events[WEFT_EVENT_KINDS];
    uint64_t promoted_events;
    struct weft_contradictions contradictions;

    struct weft_strings *strings; /* see weft_model_text */
    struct weft_idmap *ids;
};

/* A time of the trace's clock as the model counts it. */
static inline int64_t weft_model_time(uint64_t time_ns, uint64_t first_ns)
{
    int64_t since = (int64_t)(time_ns - first_ns);
    return since > WEFT_TIME_MAX ? WEFT_TIME_MAX : since < -WEFT_TIME_MAX ? -WEFT_TIME_MAX : since;
}

/* Reads all events of r and builds their model. progress may be NULL. On success the caller owns
 * *out; r may be closed. Returns 0 or a negative WEFT_E code (WEFT_E_LIMIT beyond WEFT_PROMISES_MAX promises
 * or 2^32 - 2 of anything else); *out is then NULL. Linear in the number of events. */
int weft_model_build(struct weft_model **out, struct weft_reader *r, weft_progress_fn *progress,
                     void *data, struct weft_error *err);

void weft_model_free(struct weft_model *m);

/* The text with that number, terminated; its size in bytes in *size, which may be NULL. The text may
 * hold any bytes but NUL. Borrowed. */
const char *weft_model_text(const struct weft_model *m, uint32_t text, uint32_t *size);

/* "bind", "preexisting", "type-77" …, never empty; in weft's own traces any text. Borrowed. */
const char *weft_model_type(const struct weft_model *m, uint32_t promise);

/* The first label of a promise that is not a counter's change: a text, or WEFT_NONE. */
uint32_t weft_model_name(const struct weft_model *m, uint32_t promise);

/* The text of a label, a counter's change written as name+1, into buffer, terminated and cut to
 * size. Returns the size in bytes of what was written. */
uint32_t weft_model_label_text(const struct weft_model *m, const struct weft_label *l, char *buffer,
                               uint32_t size);

/* The promise with that id, or WEFT_NONE. */
uint32_t weft_model_find(const struct weft_model *m, uint64_t id);

/* The promise followed through everything it became. */
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

/* How many pending promises there are, of which nothing else is known, that were created at the same place as this
 * one, and are of its type. */
uint64_t weft_model_more_like(const struct weft_model *m, uint32_t promise);

/* Where it was created: index of an origin, or WEFT_NONE. */
static inline uint32_t weft_model_origin(const struct weft_model *m, uint32_t promise)
{
    uint32_t place = m->promise[promise].place;
    return place < m->origins ? place : WEFT_NONE;
}

/* Simplified form: when its line begins; start_ns unless simplified. */
static inline int64_t weft_model_wake(const struct weft_model *m, const struct weft_promise *p)
{
    return p->simplified ? m->interaction[p->first_interaction].time_ns : p->start_ns;
}

/* Simplified form: the promise that it hangs under; creator unless simplified. */
static inline uint32_t weft_model_under(const struct weft_model *m, const struct weft_promise *p)
{
    return p->simplified ? m->interaction[p->first_interaction].other : p->creator;
}

/* Whether there is not a single event: then it says nothing that something is not found. */
static inline bool weft_model_is_empty(const struct weft_model *m)
{
    return m->events_total == 0 && m->promoted_events == 0;
}

/* A promise marked should_resolve that was pending when the trace ended. */
bool weft_model_overdue(const struct weft_model *m, uint32_t promise);

/* All promises but the loop, sorted by id. The caller frees it. NULL: no memory. */
uint32_t *weft_model_by_id(const struct weft_model *m);

#endif
