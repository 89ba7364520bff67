/* SPDX-License-Identifier: ISC */
/* Samples from Linux's perf_event_open: the sampler. It opens events for cores or for a process, drains their rings
 * and hands out what they say, in order of time, in words of its own (no structure of perf's leaves it).
 *
 *     struct weft_sampler *s;
 *     if (weft_sampler_open(&s, &options, &err) == 0) {
 *         weft_sampler_start(s);
 *         while (!done && weft_sampler_read(s, 100, take, data, &err) >= 0)
 *             ;
 *         weft_sampler_close(s);
 *     }
 *
 * One thread; weft_sampler_stop, weft_sampler_core and weft_sampler_period may be called by any, one at a time. */
#ifndef WEFT_SAMPLE_SAMPLER_H
#define WEFT_SAMPLE_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "format/error.h"
#include "profile/profile.h"

enum weft_sampler_scope {
    WEFT_SAMPLE_CORES,   /* whatever runs on them; needs root or CAP_PERFMON */
    WEFT_SAMPLE_PROCESS, /* a process that runs, its threads, and what they start from now on */
    WEFT_SAMPLE_COMMAND, /* likewise, from its next exec on: of a child that waits to be let go */
};

struct weft_sampler_options {
    enum weft_sampler_scope scope;
    uint32_t process;    /* PROCESS, COMMAND */
    const char *event;   /* "cpu-clock" (NULL), "cycles"; others see weft_sampler_event */
    uint32_t frequency;  /* samples a second; 0 with a period of 0: 1000 */
    uint64_t period;     /* in units of the event (cpu-clock: ns); 0: by frequency */
    bool no_kernel;      /* leave the kernel's part out of stacks and samples */
    bool no_stacks;      /* only where, not from where */
    uint32_t max_frames; /* of a stack, kernel and user together; 0: 127 */
    uint32_t
        dwarf_bytes; /* > 0: copy as much of the user's stack, and unwind it by DWARF; at most 65528 */
    bool frame_pointers; /* the user's callers only as the kernel finds them */
    bool no_switches;    /* leave out when threads are off the cores */
    bool
        all_switches; /* keep them, however many there are: else they are given up when they cost too much */
    bool
        interrupts; /* irqs and softirqs as regions, where tracefs is there; else ignored: see notes */
    uint32_t
        ring_bytes; /* for each core, and again for its switches; 0: 2 to 8 MiB, or what the system allows */
    bool keep_off; /* CORES: every core's timer is off until weft_sampler_core switches it on */
};

struct weft_sampler;

/* Messages of weft_sampler_open name the sysctl or the capability that is missing and what can be done. Codes:
 * WEFT_E_IO (no such process, no permission, no perf_event in the kernel), WEFT_E_INVALID (an event or a period
 * that is not possible), WEFT_E_NOMEM. Where the kernel's part is not permitted, it is left out: see notes. */
int weft_sampler_open(struct weft_sampler **out, const struct weft_sampler_options *o,
                      struct weft_error *err);
void weft_sampler_close(struct weft_sampler *s);

/* The names of events, NULL after the last one; and what a sample's value counts. */
const char *weft_sampler_event(uint32_t i);
enum weft_source_unit weft_sampler_unit(const char *event);

/* What is not as asked for, a sentence each ("the kernel's stacks are left out: …"). NULL after the last one. */
const char *weft_sampler_note(const struct weft_sampler *s, uint32_t i);

/* Not needed for COMMAND: exec starts it. After weft_sampler_stop it may be called again. WEFT_E_IO, WEFT_E_NOMEM. */
int weft_sampler_start(struct weft_sampler *s);
void weft_sampler_stop(struct weft_sampler *s); /* what is in the rings can still be read */

/* CORES: the timer of one core, or of all (UINT32_MAX), on or off. WEFT_E_INVALID: no such core. */
int weft_sampler_core(struct weft_sampler *s, uint32_t core, bool on);
int weft_sampler_period(struct weft_sampler *s, uint64_t period);
uint32_t weft_sampler_cores(const struct weft_sampler *s); /* highest number + 1 */

/* What is read next begins with the threads and mappings that a process has now, as if they were of time_ns: of one
 * that has come by fork, which has its parent's without being told. It may be called while records are taken. */
int weft_sampler_tell(struct weft_sampler *s, uint32_t process, uint64_t time_ns);

/* What the sampler hands out. Times: CLOCK_MONOTONIC, ns. */
struct weft_sampled {
    enum weft_record_kind kind; /* SAMPLE, SWITCH, MAPPING, THREAD, EXIT, LOST, INTERRUPT */
    uint8_t flags;              /* of the record of that kind, in format/samples.h */
    uint64_t time_ns, to_ns;    /* to: INTERRUPT */
    uint32_t process, thread, core;
    uint64_t value;          /* SAMPLE: weight; LOST: count; INTERRUPT: number */
    const uint64_t *address; /* SAMPLE, SWITCH out: innermost first; kernel's part first */
    uint32_t addresses, kernel_addresses;
    const char *text;             /* MAPPING: path; THREAD: name; INTERRUPT: name */
    uint32_t parent;              /* THREAD */
    uint64_t start, size, offset; /* MAPPING */
    const uint8_t *build_id;
    uint32_t build_id_bytes;
};

/* Return false to end the reading. */
typedef bool weft_sampled_fn(void *data, const struct weft_sampled *r);

/* Waits up to timeout_ms (-1: for ever) until something is there, and hands out what is old enough to be in order.
 * With a timeout of 0 after weft_sampler_stop: everything. Returns the number of records, or WEFT_E_IO. */
ptrdiff_t weft_sampler_read(struct weft_sampler *s, int timeout_ms, weft_sampled_fn *fn, void *data,
                            struct weft_error *err);

/* A descriptor that becomes readable when a ring has something, for callers with a poll of their own. */
int weft_sampler_fd(const struct weft_sampler *s);

struct weft_sampler_counts {
    uint64_t samples, switches, lost, unwound;
    uint64_t lost_switches; /* records of switches and interrupts that there was no room for */
    uint64_t throttled;     /* times the kernel slowed the timer down */
    uint64_t
        given_up_ns; /* how long switches were recorded, until they were given up; 0: they were not */
    uint64_t given_up_rate; /* times a second threads left their cores then */
};
struct weft_sampler_counts weft_sampler_counts(const struct weft_sampler *s);

#endif
