/* SPDX-License-Identifier: ISC */
/* A sample as a list of frames with names, the outermost first: what reports, flame graphs and exports share. With
 * async stacks, the promise's chain of creators (or of those who wait for it) stands where the event loop was. */
#ifndef WEFT_PROFILE_FRAMES_H
#define WEFT_PROFILE_FRAMES_H

#include "profile/profile.h"

enum weft_frame_kind {
    WEFT_FRAME_FUNCTION, /* text: its name */
    WEFT_FRAME_ADDRESS, /* no name is known; text: "0x4f10 (libfoo.so.1)", the offset in the file */
    WEFT_FRAME_PROMISE, /* text: its label, or type; of an async stack, or "(no promise)" … */
    WEFT_FRAME_LABEL,   /* a group: promises with that label; text */
    WEFT_FRAME_THREAD,  /* a group */
    WEFT_FRAME_CORE,    /* a group */
    WEFT_FRAME_STATE,   /* "(preempted)", "(waiting)", "(no stack)", "…" */
};

struct weft_named_frame {
    enum weft_frame_kind kind;
    uint32_t text;     /* of p->strings: what is shown */
    uint32_t function; /* or WEFT_NONE */
    uint32_t line;     /* 0: not known */
    uint32_t
        location; /* or WEFT_NONE; the same for frames that are inlined into each other; of a row or call that
                        * has several, one if all lie in the same file */
    uint32_t promise; /* of the model, or WEFT_NONE */
};

/* Where the loop ends on a stack: at the innermost function that is known to be a loop's (uv_run, uv__io_poll,
 * g_main_context_dispatch, event_base_loop, ev_run …), which goes, too; where there is none, at the end of what all
 * whole stacks of the thread have in common that were taken while it ran promises. A sample's innermost address stays
 * in any case. Of a stack that is not whole, since its callers could not be found, nothing is taken away. A chain has at
 * most 256 creators or 64 waiters; creators in a row with the same name, as of a loop made of promises, are one frame. */
enum weft_async_stacks {
    WEFT_ASYNC_NONE,
    WEFT_ASYNC_CREATORS, /* below the loop: who created the promise, and who created that … */
    WEFT_ASYNC_WAITERS,  /* … who waited for it then, and who for that … */
};

struct weft_frames; /* an iterator's memory, and tables made once: where each thread's loop ends */

struct weft_frames_options {
    enum weft_async_stacks async; /* needs a joined model */
    const uint32_t *family;       /* what promises are called: see weft_calltree_options; or NULL */
};

/* p is finished, and joined if it will be; texts may be added to p->strings (so p belongs to one thread until the
 * frames are no longer asked). The caller owns *out. 0 or WEFT_E_NOMEM. */
int weft_frames_new(struct weft_frames **out, struct weft_profile *p,
                    const struct weft_frames_options *o);
void weft_frames_free(struct weft_frames *f);

/* Whose a sample, or absence, is: the promise; or where there is none, why. */
static inline uint32_t weft_frames_whose(uint32_t promise, uint8_t gap)
{
    return promise == WEFT_NONE ? WEFT_NONE - gap : promise;
}

/* Whether a frame stands for what belongs to no promise. */
bool weft_frame_is_gap(const struct weft_profile *p, const struct weft_named_frame *f);

/* The frames of a stack, run by a promise (or weft_frames_whose) on thread at that time; valid until the next call. At most
 * WEFT_FRAMES_MAX of them: of more the innermost, with a frame "…" before them. *count may be 0.
 * NULL: no memory. */
const struct weft_named_frame *weft_frames_of(struct weft_frames *f, uint32_t stack, uint32_t whose,
                                              uint32_t thread, uint64_t time_ns, uint32_t *count);

#define WEFT_FRAMES_MAX 1024

#endif
