/* SPDX-License-Identifier: ISC */
/* The walk backwards in time that finds a path: where it is, the steps that it leaves behind, and what it asks of
 * the history. Inside of analyse: path.c says where it goes. */
#ifndef WEFT_ANALYSE_WALK_H
#define WEFT_ANALYSE_WALK_H

#include "analyse/path.h"

#define ANALYSE_LOOKS_MAX 4000000 /* at runs, waits and pauses in lists, in all */

/* How the promise that the walk is at matters. */
enum analyse_walk_mode {
    ANALYSE_ACTS,    /* it did something at this time */
    ANALYSE_RESTS,   /* it did not run at this time: what was before? */
    ANALYSE_RUNS,    /* in a run, up to this time */
    ANALYSE_BEGINS,  /* a run begins at this time: why? */
    ANALYSE_CREATED, /* it was created at this time, or later */
    ANALYSE_OUTSIDE, /* from outside came what is waited for */
    ANALYSE_SILENT,  /* the trace does not say */
};

struct analyse_frame { /* somebody waits */
    int64_t from_ns;
    uint32_t reader;
    uint32_t source; /* for this */
    uint32_t before; /* interactions that count are below */
};

struct analyse_walk {
    const struct weft_history *h;
    const struct weft_model *m;
    struct weft_path *out; /* the last step first */
    uint32_t room;
    struct analyse_frame *frame; /* from_ns rises */
    uint32_t frames, frame_room;
    int64_t now_ns, low_ns;
    enum analyse_walk_mode mode;
    uint32_t promise, run;
    uint32_t awaited; /* the last that was waited for, on the way here */
    uint32_t before;
    uint32_t moves, looks;
    uint64_t mark[5]; /* where it was some moves ago */
    bool failed;
};

/* How a wait's source came to be there. */
struct analyse_there {
    int64_t time_ns;
    uint32_t by;       /* interaction, or WEFT_NONE */
    bool is_signalled; /* a condition; else resolved */
};

static inline int64_t analyse_later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline const struct analyse_frame *analyse_walk_top(const struct analyse_walk *k)
{
    return &k->frame[k->frames - 1];
}

/* From that time, or the beginning of the innermost wait, until now. */
void analyse_walk_step(struct analyse_walk *k, enum weft_step_kind kind, int64_t from,
                       uint32_t promise, uint32_t behind);

/* The same on a stream, without what halted that: garbage collections, and others that had the core. These are steps of
 * their own. */
void analyse_walk_busy(struct analyse_walk *k, enum weft_step_kind kind, uint32_t stream,
                       int64_t from, uint32_t promise, uint32_t behind);

/* The run of the same promise before that one, or WEFT_NONE. */
uint32_t analyse_run_before_this(const struct weft_history *h, uint32_t run);

/* The run of a promise in which something happened now: where runs have no length, one that began early enough. */
uint32_t analyse_walk_run_now(struct analyse_walk *k, uint32_t promise);

void analyse_walk_ready(struct analyse_walk *k, uint32_t stream, int64_t from, uint32_t promise);

/* What came from outside now, but for the time in which the loop did not see whether it was there. It is called after what is
 * waited for (promise): who acts on it may do that for many, as a driver does. */
void analyse_walk_outside(struct analyse_walk *k, int64_t from, uint32_t promise);

/* Whether an event loop slept for most of the time from then until now: nobody was ready then. */
bool analyse_walk_slept(const struct analyse_walk *k, uint32_t stream, int64_t from);

bool analyse_walk_never_slept(const struct analyse_walk *k, uint32_t stream, int64_t from);

/* The stream that a promise that does not run probably belongs to. */
uint32_t analyse_walk_stream(const struct weft_history *h, uint32_t run);

/* Where a promise was interrupted only by others that it called, directly or not: the last of their runs. */
uint32_t analyse_walk_calls_between(struct analyse_walk *k, uint32_t previous);

/* From that time on reader waits for source. Not if an outer wait began no earlier. */
void analyse_walk_push(struct analyse_walk *k, uint32_t reader, int64_t from, uint32_t source,
                       uint32_t before);

/* The resolution, or the last signal, or that by which it was a wait's turn (wait may be WEFT_NONE), no later than now and
 * before an interaction. */
bool analyse_walk_there(const struct analyse_walk *k, uint32_t source, uint32_t wait,
                        uint32_t before, struct analyse_there *out);

/* The wait of a promise that begins before now, and that was the last to be served by now. With at_ns, only those that
 * ended by running then. Returns WEFT_NONE if there is none. */
uint32_t analyse_walk_last_served(struct analyse_walk *k, uint32_t promise, const int64_t *at_ns,
                                  int64_t since_ns, struct analyse_there *out);

/* The wait for source that an interaction ended; of waits that overlap it, of the same for the same, the first. WEFT_NONE:
 * there is none. */
uint32_t analyse_walk_ended_wait(struct analyse_walk *k, uint32_t source, uint32_t cause);

/* Of the waits that end by reading in the run that begins now, the last to be served, if that is later than *there; else
 * the given one. *there is of what is returned. */
uint32_t analyse_walk_last_read(struct analyse_walk *k, uint32_t wait, struct analyse_there *there);

/* What a promise waits for when the trace ends: the last one of its waits that is open; not if it ran since and still
 * runs. */
uint32_t analyse_walk_open_wait(struct analyse_walk *k, uint32_t promise);

#endif
