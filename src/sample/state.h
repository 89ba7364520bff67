/* SPDX-License-Identifier: ISC */
/* Shared by the files of the sampler. */
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

#ifndef PERF_FORMAT_LOST /* since Linux 6.0 */
#define PERF_FORMAT_LOST 16
#endif

enum sample_role {
    SAMPLE_MAIN,  /* takes samples */
    SAMPLE_TRACK, /* mappings and threads, if the main event does not report them */
    /* The roles from here on use rings of their own: they may produce any number of records, and must not
     * displace samples. */
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
    pid_t thread; /* the thread that it was opened for; -1: all */
    /* The thread has also inherited another's events, so records of this one are dropped */
    bool doubled;
    uint64_t id;
};

/* There is one for each core, and one more for its switches; several events write to it. */
struct sample_ring {
    uint32_t core;
    bool side; /* for switches and interrupts */
    bool on;   /* its timer should run */
    void *map; /* NULL: not mapped yet */
    size_t map_bytes;
    uint32_t owner;                /* the event whose descriptor wakes us */
    uint64_t lost_seen, lost_told; /* lost records: reported by the ring; handed out */

    /* The stack of the thread that is about to leave: it comes just before the record of the leaving. */
    uint64_t *leaving;
    uint32_t leaving_count, leaving_kernel, leaving_thread;

    struct sample_running_irq {
        uint64_t from_ns; /* 0: none */
        uint32_t number, thread;
        char name[48];
    } irq, soft;
};

/* The offsets of a tracepoint's fields in its raw bytes. */
struct sample_tracepoint {
    uint64_t id;
    uint32_t number_at, name_at; /* NONE: the field does not exist */
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
    /* The period of a clock event; once it was changed, the kernel reports a wrong one. 0: a frequency is
     * used. */
    _Atomic uint64_t period, period_before, period_since_ns;
    uint32_t max_frames;
    bool kernel;              /* the kernel is sampled */
    bool leaving;             /* stacks of threads that leave are recorded */
    bool no_lost_counts;      /* the kernel is too old to report an event's losses */
    bool no_kernel_build_ids; /* … or build ids */
    bool used[SAMPLE_ROLES];
    bool started;
    atomic_bool stopped;

    struct sample_ring *ring;
    struct sample_event *event;
    struct sample_event **by_id; /* all events, sorted by id once they are open */
    uint32_t rings, ring_room, events, event_room, cores;
    uint32_t late; /* index of the first event of threads found after the others had theirs */
    size_t ring_bytes;
    int epoll;
    struct sample_tracepoint tracepoint[SAMPLE_ROLES];
    uint64_t sample_type[SAMPLE_ROLES], regs_mask; /* as used to open the events */

    struct sample_order order;
    struct sample_comms comms; /* of threads */
    struct sample_told *told;  /* records from before sampling; handed out first */
    uint32_t tolds, told_room, told_next;
    uint64_t *address; /* of the current sample */
    struct weft_unwinder *unwinder;
    struct sample_build_ids *build_ids;

    struct sample_burden {
        uint64_t left; /* how often threads left their cores since the last look */
        uint64_t level,
            window_left; /* leavings above the tolerated rate; all leavings since level was 0 */
        uint64_t started_ns, looked_ns, window_ns;
        bool over; /* recording switches was given up */
    } burden;

    struct sample_blocked {
        struct sample_blocked_thread *thread; /* sorted by number */
        uint32_t count, room;
        bool looked; /* their stacks have been read */
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

/* Adds a sentence for weft_sampler_note, unless it is there already. */
void sample_note(struct weft_sampler *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- attr.c: what is requested of the kernel ---- */

struct sample_event_kind {
    const char *name;
    uint32_t type;
    uint64_t config;
    enum weft_source_unit unit;
    bool clock; /* it samples by a timer, so a frequency is just a period */
};
const struct sample_event_kind *sample_event_kind(const char *name); /* NULL: there is none */

/* Checks whether period and frequency are possible. */
int sample_check_rate(const struct sample_event_kind *kind, uint32_t frequency, uint64_t period,
                      struct weft_error *err);
struct perf_event_attr sample_attr(const struct weft_sampler *s, enum sample_role role);

bool sample_can_unwind(void); /* on this architecture */

/* Reads the number in a file of /proc/sys; returns otherwise if there is none. */
int64_t sample_sysctl(const char *name, int64_t otherwise);

/* Explains to the user why perf_event_open failed. */
int sample_open_error(const struct weft_sampler *s, int error, struct weft_error *err);

/* ---- open.c ---- */

int sample_open_events(struct weft_sampler *s, struct weft_error *err);
void sample_close_events(struct weft_sampler *s);

/* Switches on or off all events of a role on a ring (NONE: on all rings), or of all roles (SAMPLE_ROLES). */
void sample_switch(struct weft_sampler *s, enum sample_role role, uint32_t ring, bool on);

/* ---- callers.c ---- */

uint64_t sample_rate(const struct weft_sampler *s); /* samples per second on a core; 0: not known */

/* How much of the user's stack is copied to repair the chain of frame pointers; 0: nothing. */
uint32_t sample_piece_bytes(const struct weft_sampler *s, enum sample_role role);

/* Completes the user's callers of a record. `to` has count of them, found by frame pointers, and room for more.
 * Returns their new number; sets *cut to true if some may be missing. */
uint32_t sample_user_callers(struct weft_sampler *s, const struct sample_perf_record *r,
                             uint64_t *to, uint32_t count, uint32_t room, bool *cut);

/* ---- ring.c ---- */

/* Maps the rings, and directs each core's events into its ring. */
int sample_map_rings(struct weft_sampler *s, struct weft_error *err);
void sample_unmap_rings(struct weft_sampler *s);

/* Waits until a ring has something worth reading. */
int sample_wait(struct weft_sampler *s, int timeout_ms);

/* Moves what is in the rings into s->order. */
int sample_drain(struct weft_sampler *s);

/* Hands out the losses at the end, which no record reports. Returns true to continue. */
bool sample_lost_at_end(struct weft_sampler *s, weft_sampled_fn *fn, void *data, ptrdiff_t *count);

/* ---- burden.c ---- */

/* The sampler wakes up after this many bytes of switches, to notice early that there are too many. */
#define SAMPLE_BURDEN_WAKES_BYTES 65536u

/* Counts, from the records of a ring, how often threads leave their cores. */
void sample_burden_count(struct sample_burden *b, const uint8_t *bytes, size_t size);

/* Returns true if they do so too often from now on, so that recording it costs too much. */
bool sample_burden_look(struct sample_burden *b, uint64_t now_ns);
uint64_t sample_burden_rate(
    const struct sample_burden *b); /* times per second, since they became frequent */

/* ---- existing.c: what exists before sampling ---- */

int sample_tell_kernel(struct weft_sampler *s);
int sample_tell_process(struct weft_sampler *s, uint32_t process, uint64_t time_ns);
int sample_tell_processes(struct weft_sampler *s, uint64_t time_ns); /* all */

/* Adds a record to be handed out; its text and build id are copied. */
int sample_tell(struct weft_sampler *s, const struct weft_sampled *r);

/* ---- blocked.c: threads of a process that already wait when sampling begins ---- */

/* Called before the kernel begins to report. */
int sample_blocked_look(struct weft_sampler *s);

/* Called after the mappings were handed out: hands out a "leaves" record for each thread that has waited since
 * then. Returns true to continue. */
bool sample_blocked_begin(struct weft_sampler *s, weft_sampled_fn *fn, void *data,
                          ptrdiff_t *count);

/* The kernel has reported that the thread runs. */
void sample_blocked_back(struct weft_sampler *s, uint32_t thread);

/* Lets the other threads come back when sampling ends, because the true time is not known. Returns true to
 * continue. */
bool sample_blocked_end(struct weft_sampler *s, weft_sampled_fn *fn, void *data, ptrdiff_t *count);

/* ---- buildid.c ---- */

struct sample_build_ids *sample_build_ids_new(void);
void sample_build_ids_free(struct sample_build_ids *b);

/* Returns the build id of a file that a process has mapped, or 0 if it has none. Each file is read once. */
uint32_t sample_build_id(struct sample_build_ids *b, uint32_t process, const char *path,
                         uint8_t id[WEFT_BUILD_ID_MAX]);

/* ---- interrupts.c ---- */

/* Finds the tracepoints. Returns false if they do not exist; a note says why. */
bool sample_find_tracepoints(struct weft_sampler *s);

/* Decodes a record of a tracepoint. Returns true if it ends an interrupt, which is then in out. */
bool sample_interrupt(struct weft_sampler *s, struct sample_ring *ring, enum sample_role role,
                      const struct sample_perf_record *r, struct weft_sampled *out);

#endif
