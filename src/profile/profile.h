/* SPDX-License-Identifier: ISC */
/* A profile: samples of where the CPU time went, and what is known about the addresses in them. It
 * comes from weft's own packets of samples, from Akaros's streams or from perf.data
 * (profile/build.h, foreign.h). Query it through profile/frames.h and profile/calltree.h.
 * It consists of arrays with 32-bit indices, like the model. Times are absolute nanoseconds on the
 * clock of the trace's events (CLOCK_MONOTONIC): weft_model_time(time_ns, m->first_ns) is the
 * model's time. A profile is filled by one thread (profile/build.h); once it is finished, any
 * number of threads may read it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "format/samples.h"
#include "model/model.h"

#define WEFT_BUILD_ID_MAX 20

struct weft_source { /* what triggers samples */
    uint32_t name;   /* text */
    enum weft_source_unit unit;
    uint32_t frequency; /* requested frequency; 0: a period was requested */
    uint64_t period;    /* 0: not known */
};

/* A part of an executable file in an address space. */
struct weft_mapping {
    uint32_t process; /* UINT32_MAX: all processes (the kernel) */
    uint32_t path;    /* text */
    uint64_t start, size, offset;
    uint64_t from_ns,
        to_ns; /* its beginning was mapped in [from, to); to: UINT64_MAX, or set once finished */
    uint8_t build_id[WEFT_BUILD_ID_MAX];
    uint8_t build_id_bytes; /* 0: not known */
    bool kernel;
};

struct weft_function {
    uint32_t name, system_name, file; /* texts; file 0: not known */
    uint32_t start_line;
};

/* A function at an address; with inlining there are several. */
struct weft_frame {
    uint32_t function;
    uint32_t line; /* 0: not known */
};

struct weft_location {
    /* What distinguishes locations: */
    uint64_t address;
    uint32_t process;    /* its process; UINT32_MAX: the kernel */
    uint32_t generation; /* how many times the process had begun anew by then */
    bool kernel, caller; /* see enum weft_node_flags */

    bool resolved;        /* symbols were looked up, and found or not */
    uint16_t frames;      /* 0: no name is known */
    uint32_t mapping;     /* or WEFT_NONE */
    uint32_t first_frame; /* innermost first */
};

struct weft_stack {  /* a node of the tree of stacks; [0] is the empty stack */
    uint32_t parent; /* the caller's */
    uint32_t location;
};

/* Why no promise is known for a sample or absence; it matters only if promise is WEFT_NONE. */
enum weft_gap {
    /* none ran: the loop itself ran, or a thread without promises; or nothing was joined */
    WEFT_GAP_NONE,
    WEFT_GAP_OVERWRITTEN, /* the ring had wrapped: events of that time are gone */
    WEFT_GAP_OUTSIDE,     /* before events were recorded, or after that */
    WEFT_GAPS
};

/* A sample; or an absence: a thread was not on a core. */
struct weft_sample {
    uint64_t time_ns; /* absence: when it left */
    uint64_t value;   /* in units of the source; absence: ns until it came back */
    uint32_t stack;   /* absence: 0: not known */
    uint32_t thread;  /* index in the table of threads */
    uint32_t core;    /* UINT32_MAX: not known */
    uint32_t source;  /* absence: 0 */
    /* the one that ran: an index in the joined model; WEFT_NONE: none or not known */
    uint32_t promise;
    uint8_t flags; /* enum weft_sample_flags */
    uint8_t gap;   /* enum weft_gap */
    /* absences only */
    bool preempted; /* it could have continued */
    bool open;      /* it never came back: it ends with the recording of switches */
};

struct weft_interrupt {
    uint64_t from_ns, to_ns;
    uint32_t core, thread; /* thread: index, or WEFT_NONE */
    uint32_t number, name; /* name: text */
    bool soft;
};

struct weft_thread {
    uint32_t process, thread; /* the system's numbers; UINT32_MAX: not known */
    uint32_t name;            /* text: its last name */
    uint32_t stream;          /* of the joined model, or WEFT_NONE */
};

struct weft_profile {
    struct weft_source *source;
    struct weft_mapping *mapping;
    struct weft_function *function;
    struct weft_frame *frame;
    struct weft_location *location;
    struct weft_stack *stack;
    struct weft_sample *sample;       /* sorted by time once finished */
    struct weft_sample *absence;      /* the same */
    struct weft_interrupt *interrupt; /* sorted by from_ns once finished */
    struct weft_thread *thread;
    uint32_t sources, mappings, functions, frames, locations, stacks, samples, absences, interrupts,
        threads;

    struct weft_strings *strings;   /* number 0 is "" */
    const struct weft_model *model; /* the joined model (profile/join.h), borrowed, or NULL */
    uint64_t first_ns, last_ns;     /* of samples, absences and interrupts */
    uint64_t lost;                  /* samples lost for lack of space */
    uint64_t lost_other;            /* other records: switches, mappings */
    uint64_t overwritten;           /* samples that were in a ring once */
    /* from this time on there were too many to record; 0: no such time */
    uint64_t switches_until_ns;
    uint64_t skipped;                /* records that could not be understood … */
    struct weft_error first_skipped; /* … and the first of them; code 0: there was none */
    uint8_t boot_id[16];
    struct weft_profile_build *build; /* what it is filled with; see profile/build.h */
};

/* NUL-terminated, any bytes; borrowed. */
const char *weft_profile_text(const struct weft_profile *p, uint32_t text);

/* How many addresses it has. */
uint32_t weft_profile_depth(const struct weft_profile *p, uint32_t stack);

void weft_profile_free(struct weft_profile *p);
