/* SPDX-License-Identifier: ISC */
/* The critical path of a promise: what its resolution waited for, step by step, from its creation on.
 *
 *     struct weft_path path = {0};
 *     if (weft_path_find(&path, history, promise) == 0)
 *         for (uint32_t i = 0; i < path.count; i++)
 *             show(&path.step[i]);
 *     weft_path_fini(&path);
 *
 * Found backwards: from the resolution, the run in which it happened; from the beginning of that run, why it
 * began: what was read, and when that was resolved; and so on, never past the promise's creation. The steps
 * touch each other and fill the time from creation to resolution (to the end of the trace, if it is pending).
 * Linear in the number of steps, times a logarithm. */
#ifndef WEFT_ANALYSE_PATH_H
#define WEFT_ANALYSE_PATH_H

#include "analyse/history.h"

/* X(KIND, "name") */
#define WEFT_STEPS(X)                                                                              \
    X(RUNNING, "running")                                                                          \
    X(READY, "ready")           /* what it waited for was there, something else ran */             \
    X(BLOCKED, "blocked")       /* it may have been there: its loop did not look, something ran */ \
    X(COLLECTING, "collecting") /* the garbage collector */                                        \
    X(PREEMPTED, "preempted")   /* others had the core of its thread */                            \
    X(OUTSIDE, "outside")       /* what the program cannot see: the network, a disk, a timer */    \
    X(UNKNOWN, "unknown")       /* the trace does not say */

enum weft_step_kind {
#define X(KIND, name) WEFT_STEP_##KIND,
    WEFT_STEPS(X)
#undef X
        WEFT_STEP_KINDS
};

const char *weft_step_name(enum weft_step_kind kind);

struct weft_step {
    int64_t from_ns, to_ns;
    enum weft_step_kind kind;
    uint32_t promise; /* that ran, was ready, or was waited for (OUTSIDE, BLOCKED) */
    uint32_t behind;  /* READY, BLOCKED: what ran longest meanwhile on its stream, or WEFT_NONE */
};

#define WEFT_PATH_MAX 100000 /* steps; a longer path has one UNKNOWN step at its beginning */

struct weft_path {
    struct weft_step *step; /* in order of time */
    uint32_t count;
    bool pending; /* it leads to the end of the trace */
    bool cut;     /* there were more than WEFT_PATH_MAX */
};

/* *out is empty, or of an earlier path. Returns 0 or WEFT_E_NOMEM. The caller releases it. */
int weft_path_find(struct weft_path *out, const struct weft_history *h, uint32_t promise);
void weft_path_fini(struct weft_path *p);

/* The steps added up by kind and by what they say: (type, label) of the promise, for READY and BLOCKED of what ran
 * meanwhile; all of COLLECTING are one, and of PREEMPTED. The longest first. */
struct weft_share {
    enum weft_step_kind kind;
    uint32_t promise; /* one of them; for READY and BLOCKED what ran meanwhile, or WEFT_NONE */
    bool several;     /* not all are of this promise */
    int64_t total_ns;
    uint32_t steps;
};

/* Whether a step of that kind is called after what ran meanwhile; and whether all of a kind are one. */
static inline bool weft_step_is_behind(enum weft_step_kind kind)
{
    return kind == WEFT_STEP_READY || kind == WEFT_STEP_BLOCKED;
}

static inline bool weft_step_is_halt(enum weft_step_kind kind)
{
    return kind == WEFT_STEP_COLLECTING || kind == WEFT_STEP_PREEMPTED;
}

/* *count shares, which the caller frees. NULL: no memory, or an empty path. */
struct weft_share *weft_path_shares(const struct weft_path *p, const struct weft_model *m,
                                    uint32_t *count);

#endif
