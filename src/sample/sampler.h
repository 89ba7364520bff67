/* SPDX-License-Identifier: ISC */
/* The sampler: samples from Linux's perf_event_open. It opens events for cores or for a process, empties their
 * rings, and hands out their records in order of time and in terms of its own (no perf structure is visible
 * outside).
 *
 *     struct weft_sampler *s;
 *     if (weft_sampler_open(&s, &options, &err) == 0) {
 *         weft_sampler_start(s);
 *         while (!done && weft_sampler_read(s, 100, take, data, &err) >= 0)
 *             ;
 *         weft_sampler_close(s);
 *     }
 *
 * For one thread; but weft_sampler_stop, weft_sampler_core and weft_sampler_period may be called by any thread,
 * one at a time. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "format/error.h"
#include "profile/profile.h"

enum weft_sampler_scope {
    WEFT_SAMPLE_CORES,   /* everything that runs on them; needs root or CAP_PERFMON */
    WEFT_SAMPLE_PROCESS, /* a running process, its threads, and those that they create from now on */
    WEFT_SAMPLE_COMMAND, /* the same, from its next exec on: for a child that waits for a signal to start */
};

struct weft_sampler_options {
    enum weft_sampler_scope scope;
    uint32_t process;    /* PROCESS, COMMAND */
    const char *event;   /* "cpu-clock" (NULL), "cycles"; for others see weft_sampler_event */
    uint32_t frequency;  /* samples per second; 0, with a period of 0: 1000 */
    uint64_t period;     /* in units of the event (cpu-clock: ns); 0: use frequency */
    bool no_kernel;      /* leave the kernel's part out of stacks and samples */
    uint32_t max_frames; /* of a stack, kernel and user together; 0: 127 */
    /* > 0: copy this many bytes of the user's stack and unwind it by DWARF; at most 65528. */
    uint32_t dwarf_bytes;
    bool frame_pointers; /* user callers only as the kernel finds them */
    bool no_switches;    /* do not record when threads leave their cores */
    /* Record all switches. Otherwise recording them is given up when it costs too much. */
    bool all_switches;
    /* Record irqs and softirqs as regions. Ignored without tracefs: see weft_sampler_note. */
    bool interrupts;
    /* PROCESS, COMMAND: take the cores' timers, which run on when threads are switched, and drop the samples of others.
     * If that is not permitted, the threads' timers are taken, which cost a microsecond or two per switch. Only with
     * no_switches and without interrupts. COMMAND needs weft_sampler_start then. */
    bool by_cores;
    bool keep_off; /* CORES: each core's timer stays off until weft_sampler_core switches it on */
};

struct weft_sampler;

/* Opens the sampler. Messages name the sysctl or capability that is missing, and say what you can do. Codes:
 * WEFT_E_IO (no such process, no permission, no perf_event in the kernel), WEFT_E_INVALID (an impossible event
 * or period), WEFT_E_NOMEM. If sampling the kernel is not permitted, its part is left out: see
 * weft_sampler_note. */
int weft_sampler_open(struct weft_sampler **out, const struct weft_sampler_options *o,
                      struct weft_error *err);
void weft_sampler_close(struct weft_sampler *s);

/* The names of the events, NULL after the last one; and the unit of a sample's value. */
const char *weft_sampler_event(uint32_t i);
enum weft_source_unit weft_sampler_unit(const char *event);

/* What differs from the request, one sentence each ("the kernel's stacks are left out: …"). NULL after the last
 * one. */
const char *weft_sampler_note(const struct weft_sampler *s, uint32_t i);

/* Starts sampling. Does nothing for COMMAND unless its samples are by_cores: exec starts it. May be called again after weft_sampler_stop. Returns
 * WEFT_E_IO or WEFT_E_NOMEM on failure. */
int weft_sampler_start(struct weft_sampler *s);
void weft_sampler_stop(struct weft_sampler *s); /* what is in the rings can still be read */

/* CORES: switches the timer of one core, or of all (UINT32_MAX), on or off. WEFT_E_INVALID: no such core. */
int weft_sampler_core(struct weft_sampler *s, uint32_t core, bool on);
int weft_sampler_period(struct weft_sampler *s, uint64_t period);
uint32_t weft_sampler_cores(const struct weft_sampler *s); /* highest number + 1 */

/* Makes the next read begin with the threads and mappings that the process has now, as if they were from
 * time_ns. This is for a process that came by fork: it has its parent's mappings, but the kernel does not
 * report them. May be called from within weft_sampler_read's callback. */
int weft_sampler_tell(struct weft_sampler *s, uint32_t process, uint64_t time_ns);

/* A record that the sampler hands out. Times are in ns of CLOCK_MONOTONIC. */
struct weft_sampled {
    enum weft_record_kind kind; /* SAMPLE, SWITCH, MAPPING, THREAD, EXIT, LOST, INTERRUPT */
    uint8_t flags;              /* of the record of that kind: see format/samples.h */
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

/* Returns true to continue, false to end the reading. */
typedef bool weft_sampled_fn(void *data, const struct weft_sampled *r);

/* Waits up to timeout_ms (-1: forever) until there are records, and hands out those that are old enough to be
 * in order. With a timeout of 0 after weft_sampler_stop, hands out all. Returns the number of records, or
 * WEFT_E_IO. */
ptrdiff_t weft_sampler_read(struct weft_sampler *s, int timeout_ms, weft_sampled_fn *fn, void *data,
                            struct weft_error *err);

/* A descriptor that becomes readable when a ring has records, for callers with their own poll loop. */
int weft_sampler_fd(const struct weft_sampler *s);

struct weft_sampler_counts {
    uint64_t samples, switches, lost;
    uint64_t lost_switches; /* records of switches and interrupts for which there was no room */
    uint64_t throttled;     /* how often the kernel slowed the timer down */
    /* For how long switches were recorded before that was given up; 0: it was not given up. */
    uint64_t given_up_ns;
    uint64_t given_up_rate; /* how often per second threads left their cores then */
};
struct weft_sampler_counts weft_sampler_counts(const struct weft_sampler *s);
