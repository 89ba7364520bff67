/* SPDX-License-Identifier: ISC */
/* Shared by the files of the sampler. */
#pragma once

#include <linux/perf_event.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/table.h"
#include "profile/perf.h"
#include "sample/proc.h"
#include "sample/sampler.h"
#include "symbols/unwind.h"

#define NONE UINT32_MAX

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

struct sample_stack {
    uint32_t count, kernel; /* addresses: all; the kernel's, which come first */
    bool cut;               /* some may be missing */
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
    struct sample_stack leaving_stack;
    uint32_t leaving_thread;

    struct sample_running_irq {
        uint64_t from_ns; /* 0: none */
        uint32_t number, thread;
        char name[48];
    } irq, soft;
};

/* ---- perf.c: parses records from bytes ---- */

/* Set in every event that the sampler opens, so that all records end alike (sample_id_all). */
#define SAMPLE_PERF_COMMON                                                                         \
    ((uint64_t)PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |      \
     PERF_SAMPLE_CPU)

/* All records but samples end with this: process and thread, time, core, the event's id. */
#define SAMPLE_PERF_TRAILER_BYTES ((size_t)32)

/* A parsed record; it points into the bytes that it was read from. */
struct sample_perf_record {
    uint32_t type; /* PERF_RECORD_… */
    uint16_t misc;
    uint64_t time_ns, id; /* id: of the event; 0: not known */
    uint32_t process, thread;

    struct profile_perf_sample sample; /* SAMPLE; sample_type says what it has */

    /* MMAP, MMAP2 */
    uint64_t start, size, offset;
    const uint8_t *build_id; /* NULL: not reported */
    uint32_t build_id_bytes;
    bool executable;

    const char *text;               /* MMAP, MMAP2: path; COMM: name */
    uint32_t parent, parent_thread; /* FORK, EXIT */
    uint64_t count;                 /* LOST, LOST_SAMPLES */
};

/* Reads the record at bytes, of which room bytes are valid. Returns false if it is invalid. */
bool sample_perf_parse(struct sample_perf_record *out, const struct weft_sampler *s,
                       const uint8_t *bytes, size_t room);

/* Returns the record's time, which is all that is needed to sort records; 0: not known. */
uint64_t sample_perf_time(const uint8_t *bytes, size_t room);

/* ---- The sampler ---- */

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

/* Puts records of several rings in order of time. Within a ring they are in order, except for a few that an
 * interrupt has overtaken. */
struct sample_order {
    uint8_t *held; /* the bytes of the records */
    size_t used;
    uint32_t room;
    struct sample_held {
        uint64_t time_ns, count; /* count: order of adding, for records of the same time */
        size_t offset;
        uint32_t bytes, ring;
    } * item;
    uint32_t item_room;
    size_t items, next; /* next: the next to be handed out */
    uint64_t count;
};

/* Build ids of files, for kernels that do not report them. */
struct sample_build_ids {
    struct sample_build_id {
        uint64_t device, inode, changed_ns;
        uint8_t id[WEFT_BUILD_ID_MAX];
        uint8_t bytes;
    } * file;
    uint32_t files, room;
    struct weft_table by;
    uint64_t seed;
};

#define SAMPLE_NOTES 8

struct weft_sampler {
    struct weft_sampler_options o;
    const struct profile_perf_kind *kind;
    /* The period of a clock event; once it was changed, the kernel reports a wrong one. 0: a frequency is
     * used. */
    _Atomic uint64_t period, period_before, period_since_ns;
    uint32_t max_frames;
    bool kernel;              /* the kernel is sampled */
    bool by_cores;            /* as the option, and it is permitted; then these are sampled: */
    void *family;             /* processes, as a set like comms */
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
    void *comms;              /* the names of living threads */
    struct sample_told *told; /* records from before sampling; handed out first */
    uint32_t tolds, told_room, told_next;
    uint64_t *address; /* of the current sample */
    struct weft_unwinder *unwinder;
    struct sample_build_ids build_ids;

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

    /* While the caller reads: receives the records; and how many it has received. */
    weft_sampled_fn *fn;
    void *data;
    ptrdiff_t given;

    struct weft_sampler_counts counts;
    char note[SAMPLE_NOTES][240];
    uint32_t notes;
};

static inline uint64_t sample_now_ns(void)
{
    return (uint64_t)weft_monotonic_ns();
}

/* A record of which nothing else is known. */
static inline struct weft_sampled sample_record(enum weft_record_kind kind, uint64_t time_ns)
{
    return (struct weft_sampled){.kind = kind,
                                 .time_ns = time_ns,
                                 .process = NONE,
                                 .thread = NONE,
                                 .core = NONE,
                                 .parent = NONE,
                                 .text = ""};
}

/* Passes a record to the caller. Returns true to continue. */
static inline bool sample_give(struct weft_sampler *s, const struct weft_sampled *r)
{
    s->given++;
    return s->fn(s->data, r);
}

/* Adds a sentence for weft_sampler_note, unless it is there already. */
void sample_note(struct weft_sampler *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- attr.c: what is requested of the kernel ---- */

static inline bool sample_is_clock(const struct profile_perf_kind *kind)
{
    return kind->unit == WEFT_UNIT_NS;
}

const struct profile_perf_kind *sample_event_kind(const char *name); /* NULL: there is none */

/* Checks whether period and frequency are possible. */
int sample_check_rate(const struct profile_perf_kind *kind, uint32_t frequency, uint64_t period,
                      struct weft_error *err);
struct perf_event_attr sample_attr(const struct weft_sampler *s, enum sample_role role);

bool sample_can_unwind(void);                       /* on this architecture */
uint64_t sample_rate(const struct weft_sampler *s); /* samples per second on a core; 0: not known */

/* How much of the user's stack is copied to repair the chain of frame pointers; 0: nothing. */
uint32_t sample_piece_bytes(const struct weft_sampler *s, enum sample_role role);

/* Reads the number in a file of /proc/sys; returns otherwise if there is none. */
int64_t sample_sysctl(const char *name, int64_t otherwise);

/* Explains to the user why perf_event_open failed. */
int sample_open_error(const struct weft_sampler *s, int error, struct weft_error *err);

/* ---- open.c ---- */

int sample_open_events(struct weft_sampler *s, struct weft_error *err);
void sample_close_events(struct weft_sampler *s);

/* Switches on or off all events of these roles on a ring; NONE: on all rings. What was given up stays off. */
void sample_switch(struct weft_sampler *s, enum sample_role first, enum sample_role last,
                   uint32_t ring, bool on);

/* ---- hand.c ---- */

/* The event with an id; NULL: there is none. */
const struct sample_event *sample_event_of(const struct weft_sampler *s, uint64_t id);

/* Decodes a record of perf's rings and passes it to the caller, if it is of a kind that callers see. Returns true
 * to continue. */
bool sample_hand_out(struct weft_sampler *s, struct sample_ring *ring, const uint8_t *bytes,
                     uint32_t size);

/* Called when a ring reports how many records it has lost so far. Returns true, with out filled in, if some
 * were not reported yet. */
bool sample_hand_lost(struct weft_sampler *s, struct sample_ring *ring, uint64_t total,
                      struct weft_sampled *out);

/* Called before a mapping is handed out: the unwinder notes it. Returns false if there is no memory. */
bool sample_hand_mapping(struct weft_sampler *s, const struct weft_sampled *r);

/* ---- order.c ---- */

void sample_order_fini(struct sample_order *o);

/* Returns room for bytes of a ring's records; the caller fills it. NULL: no memory. */
uint8_t *sample_order_room(struct sample_order *o, size_t bytes);

/* The caller has filled in that many bytes: whole records, one after the other. Returns WEFT_E_NOMEM if they
 * cannot be kept. An invalid record ends the span and is counted in *broken. */
int sample_order_add(struct sample_order *o, size_t bytes, uint32_t ring, uint64_t *broken);

/* Call it after adding and before taking. */
void sample_order_sort(struct sample_order *o);

/* Returns the next record older than before_ns, or NULL. It stays valid until the next sample_order_add. */
const uint8_t *sample_order_take(struct sample_order *o, uint64_t before_ns, uint32_t *bytes,
                                 uint32_t *ring);

/* Drops the records that were taken. Returns 0 or WEFT_E_NOMEM. */
int sample_order_drop(struct sample_order *o);

/* ---- ring.c ---- */

/* Maps the rings, and directs each core's events into its ring. */
int sample_map_rings(struct weft_sampler *s, struct weft_error *err);
void sample_unmap_rings(struct weft_sampler *s);

/* Waits until a ring has something worth reading. */
int sample_wait(struct weft_sampler *s, int timeout_ms);

/* Moves what is in the rings into s->order. */
int sample_drain(struct weft_sampler *s);

/* Hands out the losses at the end, which no record reports. Returns true to continue. */
bool sample_lost_at_end(struct weft_sampler *s);

/* Closes the side rings, and the events that write to them. Returns true to continue. */
bool sample_close_side(struct weft_sampler *s);

/* ---- … what it costs to record when threads leave their cores ---- */

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
int sample_tell_processes(struct weft_sampler *s, uint64_t time_ns); /* all */

/* ---- comms.c: the names of living threads ---- */

/* A new thread has its creator's name until it takes another, and the kernel does not report which name that is.
 * comms: the root of a tree, NULL at first. */
bool sample_comms_set(void **comms, uint32_t thread, const char *text); /* false: no memory */
const char *sample_comms_get(void *const *comms, uint32_t thread);      /* "": not known */
void sample_comms_drop(void **comms, uint32_t thread);
void sample_comms_fini(void **comms);

/* ---- family.c: a process and those that it has created ---- */

/* Returns true if a record is about one of them; a fork may add one. The first is s->o.process. */
int sample_family_begin(struct weft_sampler *s); /* 0 or WEFT_E_NOMEM */
bool sample_family_has(struct weft_sampler *s, const struct sample_perf_record *r);

/* ---- blocked.c: threads of a process that already wait when sampling begins ---- */

/* Called before the kernel begins to report. */
int sample_blocked_look(struct weft_sampler *s);

/* Called after the mappings were handed out: hands out a "leaves" record for each thread that has waited since
 * then. Returns true to continue. */
bool sample_blocked_begin(struct weft_sampler *s);

/* The kernel has reported that the thread runs. */
void sample_blocked_back(struct weft_sampler *s, uint32_t thread);

/* Lets the other threads come back when sampling ends, because the true time is not known. Returns true to
 * continue. */
bool sample_blocked_end(struct weft_sampler *s);

/* ---- buildid.c ---- */

void sample_build_ids_fini(struct sample_build_ids *b);

/* Returns the build id of a file that a process has mapped, or 0 if it has none. Each file is read once. */
uint32_t sample_build_id(struct sample_build_ids *b, uint32_t process, const char *path,
                         uint8_t id[WEFT_BUILD_ID_MAX]);

/* ---- interrupts.c ---- */

/* Finds the tracepoints. Returns false if they do not exist; a note says why. */
bool sample_find_tracepoints(struct weft_sampler *s);

/* Decodes a record of a tracepoint. Returns true if it ends an interrupt, which is then in out. */
bool sample_interrupt(struct weft_sampler *s, struct sample_ring *ring, enum sample_role role,
                      const struct sample_perf_record *r, struct weft_sampled *out);
