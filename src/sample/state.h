/* SPDX-License-Identifier: ISC */
/* What the files of the sampler share. */
#ifndef WEFT_SAMPLE_STATE_H
#define WEFT_SAMPLE_STATE_H

#include <linux/perf_event.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "base/clock.h"
#include "sample/comms.h"
#include "sample/order.h"
#include "sample/perf.h"
#include "sample/sampler.h"
#include "symbols/unwind.h"

#define NONE UINT32_MAX

#ifndef PERF_FORMAT_LOST /* of Linux 6.0 */
#define PERF_FORMAT_LOST 16
#endif

enum weft__role {
    WEFT__MAIN,  /* what samples */
    WEFT__TRACK, /* mappings, threads; where the main event does not tell them itself */
    /* From here on into rings of their own: there may be any number of them, and they shall drive no sample out. */
    WEFT__SWITCHES, /* when threads leave their cores and come back */
    WEFT__LEAVE,    /* the stack of a thread that leaves its core */
    WEFT__IRQ_ENTRY,
    WEFT__IRQ_EXIT,
    WEFT__SOFT_ENTRY,
    WEFT__SOFT_EXIT,
    WEFT__ROLES
};

struct weft__event {
    int fd;
    uint32_t ring;
    enum weft__role role;
    pid_t thread; /* that it was opened for; -1: all */
    bool doubled; /* the thread has inherited another's, so what this one says is dropped */
    uint64_t id;
};

/* One for each core, and one for its switches; several events fill it. */
struct weft__ring {
    uint32_t core;
    bool side; /* for switches and interrupts */
    bool on;   /* its timer is meant to run */
    void *map; /* NULL: not yet */
    size_t map_bytes;
    uint32_t owner;                /* event whose descriptor wakes us */
    uint64_t lost_seen, lost_told; /* records, as the ring says it; as was handed out */

    /* The stack of the thread that is about to leave: comes just before the record that says so. */
    uint64_t *leaving;
    uint32_t leaving_count, leaving_kernel, leaving_thread;

    struct weft__running_irq {
        uint64_t from_ns; /* 0: none */
        uint32_t number, thread;
        char name[48];
    } irq, soft;
};

/* Where the fields of a tracepoint are in its raw bytes. */
struct weft__tracepoint {
    uint64_t id;
    uint32_t number_at, name_at; /* NONE: there is none */
};

/* A record that did not come from a ring. */
struct weft__told {
    struct weft_sampled r;
    char *text;
    uint8_t build_id[WEFT_BUILD_ID_MAX];
};

#define WEFT__NOTES 8

struct weft_sampler {
    struct weft_sampler_options o;
    const struct weft__event_kind *kind;
    /* The period of a clock, which the kernel does not tell truly once it was changed. 0: by frequency. */
    _Atomic uint64_t period, period_before, period_since_ns;
    uint32_t max_frames;
    bool kernel;              /* its part is sampled */
    bool leaving;             /* stacks of threads that leave are there */
    bool no_lost_counts;      /* the kernel is too old to tell what an event has lost */
    bool no_kernel_build_ids; /* … to tell build ids */
    bool used[WEFT__ROLES];
    bool started;
    atomic_bool stopped;

    struct weft__ring *ring;
    struct weft__event *event;
    struct weft__event **by_id; /* those, by id, once all are there */
    uint32_t rings, ring_room, events, event_room, cores;
    uint32_t late; /* the first event of threads that were found when others had theirs already */
    size_t ring_bytes;
    int epoll;
    struct weft__tracepoint tracepoint[WEFT__ROLES];
    uint64_t sample_type[WEFT__ROLES], regs_mask; /* as opened */

    struct weft__order order;
    struct weft__comms comms; /* of threads */
    struct weft__told *told;  /* what was there before; handed out first */
    uint32_t tolds, told_room, told_next;
    uint64_t *address; /* of the sample at hand */
    struct weft_unwinder *unwinder;
    struct weft__build_ids *build_ids;

    struct weft__burden {
        uint64_t left;               /* times threads left their cores, since the last look */
        uint64_t level, window_left; /* of what is too much; since it was 0 */
        uint64_t started_ns, looked_ns, window_ns;
        bool over; /* switches are given up */
    } burden;

    struct weft__blocked {
        struct weft__blocked_thread *thread; /* by number */
        uint32_t count, room;
        bool looked; /* at their stacks */
        uint64_t since_ns, until_ns;
    } blocked;

    struct weft_sampler_counts counts;
    char note[WEFT__NOTES][240];
    uint32_t notes;
};

static inline uint64_t weft__now_ns(void)
{
    return (uint64_t)weft_monotonic_ns();
}

/* Adds a sentence for weft_sampler_note; once. */
void weft__note(struct weft_sampler *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- attr.c: what is asked of the kernel ---- */

struct weft__event_kind {
    const char *name;
    uint32_t type;
    uint64_t config;
    enum weft_source_unit unit;
    bool clock; /* it samples by a timer: a frequency is a period */
};
const struct weft__event_kind *weft__event_kind(const char *name); /* NULL: there is none */

/* Whether period and frequency are possible. */
int weft__check_rate(const struct weft__event_kind *kind, uint32_t frequency, uint64_t period,
                     struct weft_error *err);
struct perf_event_attr weft__attr(const struct weft_sampler *s, enum weft__role role);

bool weft__can_unwind(void); /* on this architecture */

/* The number in a file of /proc/sys; otherwise if it is not there. */
int64_t weft__sysctl(const char *name, int64_t otherwise);

/* Why perf_event_open failed, for people. */
int weft__open_error(const struct weft_sampler *s, int error, struct weft_error *err);

/* ---- open.c ---- */

int weft__open_events(struct weft_sampler *s, struct weft_error *err);
void weft__close_events(struct weft_sampler *s);

/* Switches all events of a role on a ring (NONE: all rings), or of all roles (WEFT__ROLES). */
void weft__switch(struct weft_sampler *s, enum weft__role role, uint32_t ring, bool on);

/* ---- callers.c ---- */

uint64_t weft__rate(const struct weft_sampler *s); /* samples a second of a core; 0: not known */

/* How much is copied of the user's stacks, to mend the chains of frame pointers; 0: nothing. */
uint32_t weft__piece_bytes(const struct weft_sampler *s, enum weft__role role);

/* The user's callers of a record; to has count of them, by frame pointers, and room for more. Returns how many there
 * are then; *cut becomes true if there may be more. */
uint32_t weft__user_callers(struct weft_sampler *s, const struct weft__perf_record *r, uint64_t *to,
                            uint32_t count, uint32_t room, bool *cut);

/* ---- ring.c ---- */

/* Maps them, and leads each core's events into its ring. */
int weft__map_rings(struct weft_sampler *s, struct weft_error *err);
void weft__unmap_rings(struct weft_sampler *s);

/* Waits until a ring has something worth reading. */
int weft__wait(struct weft_sampler *s, int timeout_ms);

/* Moves what is in the rings into s->order. */
int weft__drain(struct weft_sampler *s);

/* Hands out what was lost at the end, which no record says. Returns whether to go on. */
bool weft__lost_at_end(struct weft_sampler *s, weft_sampled_fn *fn, void *data, ptrdiff_t *count);

/* ---- burden.c ---- */

/* So much of switches wakes us, to see early that they are too many. */
#define WEFT__BURDEN_WAKES_BYTES 65536u

/* Notes how often threads leave their cores, by the records of a ring. */
void weft__burden_count(struct weft__burden *b, const uint8_t *bytes, size_t size);

/* Whether these are so many that recording them costs too much, from now on. */
bool weft__burden_look(struct weft__burden *b, uint64_t now_ns);
uint64_t weft__burden_rate(
    const struct weft__burden *b); /* times a second, since they became many */

/* ---- existing.c: what is there already ---- */

int weft__tell_kernel(struct weft_sampler *s);
int weft__tell_process(struct weft_sampler *s, uint32_t process, uint64_t time_ns);
int weft__tell_processes(struct weft_sampler *s, uint64_t time_ns); /* all */

/* Takes a record for handing out; text and build id are copied. */
int weft__tell(struct weft_sampler *s, const struct weft_sampled *r);

/* ---- blocked.c: threads of a process that wait when sampling begins ---- */

/* Before the kernel begins to tell. */
int weft__blocked_look(struct weft_sampler *s);

/* Once mappings were handed out: hands out that those leave which have waited since then. Returns whether to go on. */
bool weft__blocked_begin(struct weft_sampler *s, weft_sampled_fn *fn, void *data, ptrdiff_t *count);

/* The kernel has told something of when the thread runs. */
void weft__blocked_back(struct weft_sampler *s, uint32_t thread);

/* The others come back when sampling ends, for it is not known when they do. */
bool weft__blocked_end(struct weft_sampler *s, weft_sampled_fn *fn, void *data, ptrdiff_t *count);

/* ---- buildid.c ---- */

struct weft__build_ids *weft__build_ids_new(void);
void weft__build_ids_free(struct weft__build_ids *b);

/* The build id of a file that a process has mapped; 0 if there is none. Files are looked at once. */
uint32_t weft__build_id(struct weft__build_ids *b, uint32_t process, const char *path,
                        uint8_t id[WEFT_BUILD_ID_MAX]);

/* ---- interrupts.c ---- */

/* Finds the tracepoints; false: they are not there (why is noted). */
bool weft__find_tracepoints(struct weft_sampler *s);

/* A record of a tracepoint. True: out is an interrupt that has ended. */
bool weft__interrupt(struct weft_sampler *s, struct weft__ring *ring, enum weft__role role,
                     const struct weft__perf_record *r, struct weft_sampled *out);

#endif
