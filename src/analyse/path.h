/* SPDX-License-Identifier: ISC */
/* The critical path of a promise: what its resolution waited for, step by step, starting at its
 * creation.
 *     struct weft_path path = {0};
 *     if (weft_path_find(&path, history, promise) == 0)
 *         for (uint32_t i = 0; i < path.count; i++)
 *             show(&path.step[i]);
 *     weft_path_fini(&path);
 * It is found backwards. From the resolution it goes to the run in which that happened; from the
 * beginning of that run to the reason why it began: what was read, and when that was resolved; and
 * so on, but never beyond the promise's creation. The steps touch each other and fill the time from
 * creation to resolution (to the end of the trace, if it is pending). Linear in the number of
 * steps, times a logarithm. */
#pragma once

#include "analyse/history.h"

/* X(KIND, "name") */
#define WEFT_STEPS(X)                                                                              \
    X(RUNNING, "running")                                                                          \
    X(READY, "ready")           /* what it waited for was there, but others ran */                 \
    X(BLOCKED, "blocked")       /* it may have been there; its loop was busy */                    \
    X(COLLECTING, "collecting") /* the garbage collector */                                        \
    X(PREEMPTED, "preempted")   /* others had the core of its thread */                            \
    X(OUTSIDE, "outside")       /* the network, a disk, a timer: not visible here */               \
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
    uint32_t promise; /* the one that ran, was ready, or was waited for (OUTSIDE, BLOCKED) */
    /* READY, BLOCKED: what ran longest on its stream in the meantime, or WEFT_NONE */
    uint32_t behind;
};

#define WEFT_PATH_MAX 100000 /* steps; a longer path begins with one UNKNOWN step */

struct weft_path {
    struct weft_step *step; /* in order of time */
    uint32_t count;
    bool pending; /* the path leads to the end of the trace */
    bool became;  /* … or to where the promise became another one */
    bool cut;     /* there were more than WEFT_PATH_MAX steps */
};

/* *out: empty, or an earlier path. Returns 0 or WEFT_E_NOMEM. The caller releases it. */
int weft_path_find(struct weft_path *out, const struct weft_history *h, uint32_t promise);

/* The same for the end of the promise itself: if it became another promise, the path ends when it became that. */
int weft_path_find_own(struct weft_path *out, const struct weft_history *h, uint32_t promise);
void weft_path_fini(struct weft_path *p);

/* Steps by kind and by (type, label) of the promise; for READY and BLOCKED, of what ran meanwhile.
 * All COLLECTING steps are one share, and so are all PREEMPTED ones. The longest first. */
struct weft_share {
    enum weft_step_kind kind;
    /* one of them; for READY and BLOCKED what ran in the meantime, or WEFT_NONE */
    uint32_t promise;
    bool several; /* the share includes other promises, too */
    int64_t total_ns;
    uint32_t steps;
};

/* They are named after what ran in the meantime; all of that kind are one share. */
static inline bool weft_step_is_behind(enum weft_step_kind kind)
{
    return kind == WEFT_STEP_READY || kind == WEFT_STEP_BLOCKED;
}

static inline bool weft_step_is_halt(enum weft_step_kind kind)
{
    return kind == WEFT_STEP_COLLECTING || kind == WEFT_STEP_PREEMPTED;
}

/* Returns *count shares, which the caller frees. NULL: no memory, or an empty path. */
struct weft_share *weft_path_shares(const struct weft_path *p, const struct weft_model *m,
                                    uint32_t *count);
