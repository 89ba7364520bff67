/* SPDX-License-Identifier: ISC */
/* A sample as a list of named frames, outermost first, for reports, flame graphs and exports. With
 * async stacks, the promise's chain of creators (or of those that wait for it) replaces the event
 * loop. */
#pragma once

#include "profile/profile.h"

enum weft_frame_kind {
    WEFT_FRAME_FUNCTION, /* text: its name */
    /* its name is not known; text: "0x4f10 (libfoo.so.1)", the offset in the file */
    WEFT_FRAME_ADDRESS,
    WEFT_FRAME_PROMISE, /* text: its label or type; in an async stack, or "(no promise)" … */
    WEFT_FRAME_LABEL,   /* a group: promises with the same label; text */
    WEFT_FRAME_THREAD,  /* a group */
    WEFT_FRAME_CORE,    /* a group */
    WEFT_FRAME_OBJECT,  /* a group; text: its path */
    WEFT_FRAME_PROCESS, /* a group */
    WEFT_FRAME_STATE,   /* "(preempted)", "(waiting)", "(no stack)", "…" */
};

struct weft_named_frame {
    enum weft_frame_kind kind;
    uint32_t text;     /* in p->strings: what is shown */
    uint32_t function; /* or WEFT_NONE */
    uint32_t line;     /* 0: not known */
    /* or WEFT_NONE; frames that are inlined into each other share one; if a row or call has
     * several, one of them if all are in the same file */
    uint32_t location;
    uint32_t promise; /* of the model, or WEFT_NONE */
};

/* Decides where the loop ends on a stack: at the innermost function that is known to be a loop's
 * (uv_run, uv__io_poll, g_main_context_dispatch, event_base_loop, ev_run …), which is removed,
 * too. If there is none: at the end of what all complete stacks of the thread have in common
 * that were taken while it ran promises. A sample's innermost address always stays. From an
 * incomplete stack, whose callers could not be found, nothing is removed. A chain has at most
 * 256 creators or 64 waiters; successive creators with the same name, as in a loop made of
 * promises, become one frame. */
enum weft_async_stacks {
    WEFT_ASYNC_NONE,
    WEFT_ASYNC_CREATORS, /* outside of the stack: who created the promise, and who created that … */
    WEFT_ASYNC_WAITERS, /* … who waited for it at that time, and who waited for that … */
};

/* the memory of an iterator, and tables that are made once: where each thread's loop ends */
struct weft_frames;

struct weft_frames_options {
    enum weft_async_stacks async; /* needs a joined model */
    const uint32_t *family;       /* names of promises: see weft_calltree_options; or NULL */
};

/* p must be finished, and joined if it will be; texts may be added to p->strings (so p belongs to
 * one thread as long as the frames are used). The caller owns *out. Returns 0 or WEFT_E_NOMEM. */
int weft_frames_new(struct weft_frames **out, struct weft_profile *p,
                    const struct weft_frames_options *o);
void weft_frames_free(struct weft_frames *f);

/* The promise that a sample or absence belongs to; if there is none, the reason for that. */
static inline uint32_t weft_frames_whose(uint32_t promise, uint8_t gap)
{
    return promise == WEFT_NONE ? WEFT_NONE - gap : promise;
}

enum weft_sample_state { WEFT_STATE_RUNNING, WEFT_STATE_WAITING, WEFT_STATE_PREEMPTED };

/* What the thread did; away: it is an absence. */
static inline enum weft_sample_state weft_frames_state(const struct weft_sample *s, bool away)
{
    return !away ? WEFT_STATE_RUNNING : s->preempted ? WEFT_STATE_PREEMPTED : WEFT_STATE_WAITING;
}

/* Returns true if a frame stands for what belongs to no promise. */
bool weft_frame_is_gap(const struct weft_profile *p, const struct weft_named_frame *f);

/* The frames of a stack, run by a promise (or weft_frames_whose) on thread at that time; valid
 * until the next call. At most WEFT_FRAMES_MAX of them: if there are more, the innermost ones,
 * after a frame "…". *count may be 0. NULL: no memory. */
const struct weft_named_frame *weft_frames_of(struct weft_frames *f, uint32_t stack, uint32_t whose,
                                              uint32_t thread, uint64_t time_ns, uint32_t *count);

#define WEFT_FRAMES_MAX 1024
