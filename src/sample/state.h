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

enum sample_role {
    SAMPLE_MAIN,  /* what samples */
    SAMPLE_TRACK, /* mappings, threads; where the main event does not tell them itself */
    /* From here on into rings of their own: there may be any number of them, and they shall drive no sample out. */
    SAMPLE_SWITCHES, /* when threads leave their cores and come back */
    SAMPLE_LEAVE,    /* the stack of a thread that leaves its core */
    SAMPLE_IRQ_ENTRY,
    SAMPLE_IRQ_EXIT,
    SAMPLE_SOFT_ENTRY,
    SAMPLE_SOFT_EXIT,
    SAMPLE_ROLES
};

struct sample_event {
    int fd;
    uint32_t ring;
    enum sample_role role;
    pid_t thread; /* that it was opened for; -1: all */
    bool doubled; /* the thread has inherited another's, so what this one says is dropped */
    uint64_t id;
};

/* One for each core, and one for its switches; several events fill it. */
struct sample_ring {
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

    struct sample_running_irq {
        uint64_t from_ns; /* 0: none */
        uint32_t number, thread;
        char name[48];
    } irq, soft;
};

/* Where the fields of a tracepoint are in its raw bytes. */
struct sample_tracepoint {
    uint64_t id;
    uint32_t number_at, name_at; /* NONE: there is none */
};

/* A record that did not come from a ring. */
struct sample_told {
    struct weft_sampled r;
    char *text;
    uint8_t build_id[WEFT_BUILD_ID_MAX];
};

#define SAMPLE_NOTES 8

struct weft_sampler {
    struct weft_sampler_options o;
    const struct sample_event_kind *kind;
    /* The period of a clock, which the kernel does not tell truly once it was changed. 0: by frequency. */
    _Atomic uint64_t period, period_before, period_since_ns;
    uint32_t max_frames;
    bool kernel;              /* its part is sampled */
    bool leaving;             /* stacks of threads that leave are there */
    bool no_lost_counts;      /* the kernel is too old to tell what an event has lost */
    bool no_kernel_build_ids; /* … to tell build ids */
    bool used[SAMPLE_ROLES];
    bool started;
    atomic_bool stopped;

    struct sample_ring *ring;
    struct sample_event *event;
    struct sample_event **by_id; /* those, by id, once all are there */
    uint32_t rings, ring_room, events, event_room, cores;
    uint32_t late; /* the first event of threads that were found when others had theirs already */
    size_t ring_bytes;
    int epoll;
    struct sample_tracepoint tracepoint[SAMPLE_ROLES];
    uint64_t sample_type[SAMPLE_ROLES], regs_mask; /* as opened */

    struct sample_order order;
    struct sample_comms comms; /* of threads */
    struct sample_told *told;  /* what was there before; handed out first */
    uint32_t tolds, told_room, told_next;
    uint64_t *address; /* of the sample at hand */
    struct weft_unwinder *unwinder;
    struct sample_build_ids *build_ids;

    struct sample_burden {
        uint64_t left;               /* times threads left their cores, since the last look */
        uint64_t level, window_left; /* of what is too much; since it was 0 */
        uint64_t started_ns, looked_ns, window_ns;
        bool over; /* switches are given up */
    } burden;

    struct sample_blocked {
        struct sample_blocked_thread *thread; /* by number */
        uint32_t count, room;
        bool looked; /* at their stacks */
        uint64_t since_ns, until_ns;
    } blocked;

    struct weft_sampler_counts counts;
    char note[SAMPLE_NOTES][240];
    uint32_t notes;
};

static inline uint64_t sample_now_ns(void)
{
    return (uint64_t)weft_monotonic_ns();
}

/* Adds a sentence for weft_sampler_note; once. */
void sample_note(struct weft_sampler *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- attr.c: what is asked of the kernel ---- */

struct sample_event_kind {
    const char *name;
    uint32_t type;
    uint64_t config;
    enum weft_source_unit unit;
    bool clock; /* it samples by a timer: a frequency is a period */
};
const struct sample_event_kind *sample_event_kind(const char *name); /* NULL: there is none */

/* Whether period and frequency are possible. */
int sample_check_rate(const struct sample_event_kind *kind, uint32_t frequency, uint64_t period,
                      struct weft_error *err);
struct perf_event_attr sample_attr(const struct weft_sampler *s, enum sample_role role);

bool sample_can_unwind(void); /* on this architecture */

/* The number in a file of /proc/sys; otherwise if it is not there. */
int64_t sample_sysctl(const char *name, int64_t otherwise);

/* Why perf_event_open failed, for people. */
int sample_open_error(const struct weft_sampler *s, int error, struct weft_error *err);

/* ---- open.c ---- */

int sample_open_events(struct weft_sampler *s, struct weft_error *err);
void sample_close_events(struct weft_sampler *s);

/* Switches all events of a role on a ring (NONE: all rings), or of all roles (SAMPLE_ROLES). */
void sample_switch(struct weft_sampler *s, enum sample_role role, uint32_t ring, bool on);

/* ---- callers.c ---- */

uint64_t sample_rate(const struct weft_sampler *s); /* samples a second of a core; 0: not known */

/* How much is copied of the user's stacks, to mend the chains of frame pointers; 0: nothing. */
uint32_t sample_piece_bytes(const struct weft_sampler *s, enum sample_role role);

/* The user's callers of a record; to has count of them, by frame pointers, and room for more. Returns how many there
 * are then; *cut becomes true if there may be more. */
uint32_t sample_user_callers(struct weft_sampler *s, const struct sample_perf_record *r,
                             uint64_t *to, uint32_t count, uint32_t room, bool *cut);

/* ---- ring.c ---- */

/* Maps them, and leads each core's events into its ring. */
int sample_map_rings(struct weft_sampler *s, struct weft_error *err);
void sample_unmap_rings(struct weft_sampler *s);

/* Waits until a ring has something worth reading. */
int sample_wait(struct weft_sampler *s, int timeout_ms);

/* Moves what is in the rings into s->order. */
int sample_drain(struct weft_sampler *s);

/* Hands out what was lost at the end, which no record says. Returns whether to go on. */
bool sample_lost_at_end(struct weft_sampler *s, weft_sampled_fn *fn, void *data, ptrdiff_t *count);

/* ---- burden.c ---- */

/* So much of switches wakes us, to see early that they are too many. */
#define SAMPLE_BURDEN_WAKES_BYTES 65536u

/* Notes how often threads leave their cores, by the records of a ring. */
void sample_burden_count(struct sample_burden *b, const uint8_t *bytes, size_t size);

/* Whether these are so many that recording them costs too much, from now on. */
bool sample_burden_look(struct sample_burden *b, uint64_t now_ns);
uint64_t sample_burden_rate(
    const struct sample_burden *b); /* times a second, since they became many */

/* ---- existing.c: what is there already ---- */

int sample_tell_kernel(struct weft_sampler *s);
int sample_tell_process(struct weft_sampler *s, uint32_t process, uint64_t time_ns);
int sample_tell_processes(struct weft_sampler *s, uint64_t time_ns); /* all */

/* Takes a record for handing out; text and build id are copied. */
int sample_tell(struct weft_sampler *s, const struct weft_sampled *r);

/* ---- blocked.c: threads of a process that wait when sampling begins ---- */

/* Before the kernel begins to tell. */
int sample_blocked_look(struct weft_sampler *s);

/* Once mappings were handed out: hands out that those leave which have waited since then. Returns whether to go on. */
bool sample_blocked_begin(struct weft_sampler *s, weft_sampled_fn *fn, void *data,
                          ptrdiff_t *count);

/* The kernel has told something of when the thread runs. */
void sample_blocked_back(struct weft_sampler *s, uint32_t thread);

/* The others come back when sampling ends, for it is not known when they do. */
bool sample_blocked_end(struct weft_sampler *s, weft_sampled_fn *fn, void *data, ptrdiff_t *count);

/* ---- buildid.c ---- */

struct sample_build_ids *sample_build_ids_new(void);
void sample_build_ids_free(struct sample_build_ids *b);

/* The build id of a file that a process has mapped; 0 if there is none. Files are looked at once. */
uint32_t sample_build_id(struct sample_build_ids *b, uint32_t process, const char *path,
                         uint8_t id[WEFT_BUILD_ID_MAX]);

/* ---- interrupts.c ---- */

/* Finds the tracepoints; false: they are not there (why is noted). */
bool sample_find_tracepoints(struct weft_sampler *s);

/* A record of a tracepoint. True: out is an interrupt that has ended. */
bool sample_interrupt(struct weft_sampler *s, struct sample_ring *ring, enum sample_role role,
                      const struct sample_perf_record *r, struct weft_sampled *out);

#endif
