/* SPDX-License-Identifier: ISC */
/* The walk backwards in time that finds a path: where it is, the steps that it leaves behind, and
 * what it asks the history. path.c decides where it goes. Internal to analyse. */
#ifndef WEFT_ANALYSE_WALK_H
#define WEFT_ANALYSE_WALK_H

#include "analyse/path.h"

#define ANALYSE_LOOKS_MAX 4000000 /* runs, waits and pauses in lists that are examined, in total */

/* How the promise where the walk is at matters. */
enum analyse_walk_mode {
    ANALYSE_ACTS,    /* it did something at this time */
    ANALYSE_RESTS,   /* it did not run at this time: what was there before? */
    ANALYSE_RUNS,    /* in a run, up to this time */
    ANALYSE_BEGINS,  /* a run begins at this time: why? */
    ANALYSE_CREATED, /* it was created at this time, or later */
    ANALYSE_OUTSIDE, /* what is waited for came from outside */
    ANALYSE_SILENT,  /* the trace does not say */
};

struct analyse_frame { /* somebody waits */
    int64_t from_ns;
    uint32_t reader;
    uint32_t source; /* for this source */
    uint32_t before; /* only interactions below this one count */
};

struct analyse_walk {
    const struct weft_history *h;
    const struct weft_model *m;
    struct weft_path *out; /* the last step first */
    uint32_t room;
    struct analyse_frame *frame; /* sorted by from_ns */
    uint32_t frames, frame_room;
    int64_t now_ns, low_ns;
    enum analyse_walk_mode mode;
    uint32_t promise, run;
    uint32_t awaited; /* what was last waited for on the way here */
    uint32_t before;
    uint32_t moves, looks;
    uint64_t mark[5]; /* positions of some moves ago */
    bool failed;
};

/* How the source of a wait came to be there. */
struct analyse_there {
    int64_t time_ns;
    uint32_t by;       /* interaction, or WEFT_NONE */
    bool is_signalled; /* it is a condition and was signalled; otherwise it was resolved */
};

static inline int64_t analyse_later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline const struct analyse_frame *analyse_walk_top(const struct analyse_walk *k)
{
    return &k->frame[k->frames - 1];
}

/* Adds a step from that time, or the beginning of the innermost wait, until now. */
void analyse_walk_step(struct analyse_walk *k, enum weft_step_kind kind, int64_t from,
                       uint32_t promise, uint32_t behind);

/* The same on a stream, without the time in which it was halted: garbage collections, and others
 * that had the core, become separate steps. */
void analyse_walk_busy(struct analyse_walk *k, enum weft_step_kind kind, uint32_t stream,
                       int64_t from, uint32_t promise, uint32_t behind);

/* The run of the same promise before that one, or WEFT_NONE. */
uint32_t analyse_run_before_this(const struct weft_history *h, uint32_t run);

/* The run of a promise in which something happened now; if runs have no length, one that began
 * early enough. */
uint32_t analyse_walk_run_now(struct analyse_walk *k, uint32_t promise);

void analyse_walk_ready(struct analyse_walk *k, uint32_t stream, int64_t from, uint32_t promise);

/* Adds what came from outside now, without the time in which the loop did not see whether it was
 * there. The step is named after what is waited for (promise): whoever acts on it may do that for
 * many, as a driver does. */
void analyse_walk_outside(struct analyse_walk *k, int64_t from, uint32_t promise);

/* Returns true if an event loop slept for most of the time from then until now: nobody was ready
 * then. */
bool analyse_walk_slept(const struct analyse_walk *k, uint32_t stream, int64_t from);

bool analyse_walk_never_slept(const struct analyse_walk *k, uint32_t stream, int64_t from);

/* The stream to which a promise that does not run probably belongs. */
uint32_t analyse_walk_stream(const struct weft_history *h, uint32_t run);

/* If a promise was interrupted only by others that it called, directly or indirectly: the last of
 * their runs. */
uint32_t analyse_walk_calls_between(struct analyse_walk *k, uint32_t previous);

/* From that time on reader waits for source. Does nothing if an outer wait did not begin
 * earlier. */
void analyse_walk_push(struct analyse_walk *k, uint32_t reader, int64_t from, uint32_t source,
                       uint32_t before);

/* Finds the resolution, the last signal, or the notification that let a wait continue (wait may be
 * WEFT_NONE), no later than now and before an interaction. */
bool analyse_walk_there(const struct analyse_walk *k, uint32_t source, uint32_t wait,
                        uint32_t before, struct analyse_there *out);

/* The wait of a promise that begins before now and was the last to be served by now. With at_ns,
 * only waits that ended because it ran at that time. Returns WEFT_NONE if there is none. */
uint32_t analyse_walk_last_served(struct analyse_walk *k, uint32_t promise, const int64_t *at_ns,
                                  int64_t since_ns, struct analyse_there *out);

/* The wait for source that an interaction ended; if several waits of one reader for the same source
 * overlap, the first. WEFT_NONE: there is none. */
uint32_t analyse_walk_ended_wait(struct analyse_walk *k, uint32_t source, uint32_t cause);

/* Among the waits that end by reading in the run that begins now, the last to be served, if that is
 * later than *there; otherwise the given wait. *there is set for the returned wait. */
uint32_t analyse_walk_last_read(struct analyse_walk *k, uint32_t wait, struct analyse_there *there);

/* What a promise waits for when the trace ends: the last of its open waits; none if it ran since
 * then and is still running. */
uint32_t analyse_walk_open_wait(struct analyse_walk *k, uint32_t promise);

#endif
