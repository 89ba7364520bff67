/* SPDX-License-Identifier: ISC */
/* What waits for what in a process at this moment, seen from outside: it need not record, nor be prepared, and nothing
 * in it changes. The result is a graph: things (threads, tasks, promises, locks, descriptors, timers, other
 * processes), and links that say which thing cannot go on before which other one does. Looks fill it, one for each
 * kind of program: its threads (any program), Python's tasks, Node's promises; looks.def lists them.
 *
 * The process may be hostile: whatever is read of it is limited (NOW_THINGS_MAX, NOW_TEXT_MAX), cleaned for a terminal
 * (weft_text_clean), and read by a child process if it may never answer (sample/distant.h). One thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "format/error.h"

enum {
    NOW_THINGS_MAX = 1 << 20, /* what is more is counted in left_out */
    NOW_TEXT_MAX = 512,       /* bytes of a name or of a state; longer ones are cut */
    NOW_FRAMES_MAX = 64,      /* frames of a stack that are kept, innermost first */
};
#define NOW_NONE UINT32_MAX

enum now_kind {
    NOW_THREAD,
    NOW_TASK,    /* a task, coroutine, async function: code that waits and goes on */
    NOW_PROMISE, /* a future or promise without code of its own */
    NOW_LOCK,    /* mutex, condition variable, semaphore, event, queue */
    NOW_DESCRIPTOR,
    NOW_TIMER,
    NOW_PROCESS, /* another process */
    NOW_KINDS
};

/* "thread", "task" … */
extern const char *const now_kind_names[NOW_KINDS];

struct now_frame {
    char *function, *file; /* NULL: not known */
    uint32_t line;         /* 0: not known */
};

struct now_thing {
    enum now_kind kind;
    uint64_t
        key; /* what tells it from others of its kind: a thread's id, an address, a descriptor's number */
    uint64_t
        result; /* of a task: the key of the promise that it resolves at its end; 0: not known */
    char *name; /* as in a sentence: "thread 4711 'worker'", "mutex log_lock" */
    char *
        state; /* what it does, in words: "waits in pthread_mutex_lock", "sleeps until …"; NULL: nothing to say */
    struct now_frame *frame;
    uint32_t frames;
    uint32_t frames_left_out; /* further out than those kept */
    bool whole;               /* of a thread: its frames are known up to where it began */
    uint32_t cycle;           /* the number of the cycle that it is on, from 1; 0: none */
    bool forgotten;           /* now_forget; no such thing is left after now_finish */
    bool runs;                /* a thread that is on a core, or could be; in a core: that was */
    uint64_t start_ns; /* of a thread or process: when it began, by CLOCK_BOOTTIME; 0: not known */
    bool brief;        /* it goes on by itself: its links make no cycle (now_brief) */
    bool stood;        /* of a thread: it waited all the time while it was looked at … */
    uint64_t switches; /* … and had left a core so often then … */
    uint64_t
        place; /* … and this is equal as long as it is in the same call (sample_standing_place) */
};

struct now_link {
    uint32_t from, to;
    bool any; /* from goes on when any one of the things does that it has such links to */
    const char *
        how; /* between the two names: "locks", "is held by", "awaits", "joins", "reads"; a constant of the program */
};

struct now {
    pid_t pid;
    char *program; /* as ps shows it */
    bool core;     /* it is how a process ended that left a core file */
    struct now_thing *thing;
    uint32_t things, things_room;
    struct now_link *link; /* after now_finish sorted by from; both ends are in range */
    uint32_t links, links_room;
    char **remark; /* sentences on what could not be seen, and why */
    uint32_t remarks, remarks_room;
    uint64_t left_out;   /* things that are more than NOW_THINGS_MAX */
    uint64_t stopped_ns; /* for how long the process was stopped for this, in total */
    /* When it was looked at, by CLOCK_BOOTTIME, and the end of that in nanoseconds since 1970. Of a core, all three are when
     * it was written. */
    uint64_t from_ns, to_ns, real_ns;
    uint32_t cycles;
    bool failed; /* no memory: it is not complete */
    struct weft_idmap *known[NOW_KINDS];
};

/* Looks at a process. Returns 0, or a negative WEFT_E code: *err says why nothing at all can be seen (there is no such
 * process, it is another user's, ptrace is forbidden by policy), and what helps. What only one look could not see is
 * a remark. The result belongs to the caller, now_free; NULL is allowed there. */
int now_open(struct now **now, pid_t pid, struct weft_error *err);
void now_free(struct now *n);

/* The same for a process that has left a core file: its threads are in the order of the core, so that the one that received the
 * signal is thing 0. What a core does not have is not known: what descriptors are, for example. */
struct weft_core;
int now_open_core(struct now **now, const struct weft_core *core, struct weft_error *err);

/* ---- For the looks ---- */

/* The thing of this kind and key, added if it is not there yet; NOW_NONE if there are too many, or no memory. All
 * functions below do nothing for NOW_NONE. Pointers to things are valid until the next one is added. */
uint32_t now_thing(struct now *n, enum now_kind kind, uint64_t key);

/* Replace what it has. The text is cut and cleaned. */
void now_name(struct now *n, uint32_t thing, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void now_state(struct now *n, uint32_t thing, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds the next frame of its stack, further out than those before; file may be NULL. */
void now_frame(struct now *n, uint32_t thing, const char *function, const char *file,
               uint32_t line);

/* from waits for to. how is not copied. A link that is there already is not added again. */
void now_link(struct now *n, uint32_t from, uint32_t to, bool any, const char *how);

/* A later look knows better what this is: it disappears with its links, and its number, with now_finish. */
void now_forget(struct now *n, uint32_t thing);

/* What it waits for has come, or it does not wait for ever: it is on no cycle. */
void now_brief(struct now *n, uint32_t thing);

/* Its frames disappear, but for the first `kept`. */
void now_drop_frames(struct now *n, uint32_t thing, uint32_t kept);

void now_remark(struct now *n, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Removes what is forgotten, sorts the links and numbers the cycles: things that wait for each other in a circle, by links
 * that are not `any`, of things that are not brief. Linear but for the sorting. now_open has called it. */
void now_finish(struct now *n);

/* circle[i]: the number of the circle of links, `any` or not, that thing i is on, from 1; 0: none. Returns false if there is
 * no memory. */
bool now_circles(const struct now *n, uint32_t *circle);

/* ---- For those who tell it ---- */

/* The first link from a thing; or a later thing's first link, or n->links. */
uint32_t now_first_link(const struct now *n, uint32_t thing);

/* A thing to begin with: all others can be reached from one of them by links. */
struct now_story {
    uint32_t thing;
    uint32_t cycle; /* its cycle, or 0 */
    uint64_t
        alike; /* equal for things that do the same and wait for things that are alike; 0: it is on a cycle */
    unsigned
        rank; /* 0: on a cycle; then what waits for a cycle, tasks, what waits for locks, only for descriptors or
                       timers, for nothing */
};

struct now_order {
    struct now_story
        *story; /* sorted: by rank, those of one cycle together, those that are alike together */
    uint32_t stories;
    uint64_t *alike; /* of each thing */
};

/* False: no memory. now_order_free in either case. */
bool now_order(const struct now *n, struct now_order *o);
void now_order_free(struct now_order *o);
