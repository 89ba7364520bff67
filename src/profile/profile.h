/* SPDX-License-Identifier: ISC */
/* A profile: samples of where the CPU went, and what is known of the addresses in them. It comes from weft's own
 * packets of samples, from Akaros's streams or from perf.data (profile/load.h), and is asked through
 * profile/frames.h and profile/calltree.h.
 *
 * Arrays with 32-bit indices, as in the model. Times are nanoseconds of the clock that the trace's events have
 * (CLOCK_MONOTONIC), absolute: weft_model_time(time_ns, m->first_ns) is the model's. A profile is filled by one
 * thread (profile/build.h); once it is finished, any number of threads may read it. */
#ifndef WEFT_PROFILE_PROFILE_H
#define WEFT_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "format/samples.h"
#include "model/model.h"

#define WEFT_BUILD_ID_MAX 20

struct weft_source { /* what triggers samples */
    uint32_t name;   /* text */
    enum weft_source_unit unit;
    uint32_t frequency; /* asked for; 0: a period was */
    uint64_t period;    /* 0: not known */
};

/* A part of an executable file in an address space. */
struct weft_mapping {
    uint32_t process; /* UINT32_MAX: of all: the kernel's */
    uint32_t path;    /* text */
    uint64_t start, size, offset;
    uint64_t from_ns,
        to_ns; /* its beginning was there in [from, to); to: UINT64_MAX, or once finished */
    uint8_t build_id[WEFT_BUILD_ID_MAX];
    uint8_t build_id_bytes; /* 0: not known */
    bool kernel;
};

struct weft_function {
    uint32_t name, system_name, file; /* texts; file 0: not known */
    uint32_t start_line;
};

/* A function that an address stands for; with inlining, several. */
struct weft_frame {
    uint32_t function;
    uint32_t line; /* 0: not known */
};

struct weft_location {
    uint64_t address;
    uint32_t process;     /* whose; UINT32_MAX: kernel */
    uint32_t mapping;     /* or WEFT_NONE */
    uint32_t first_frame; /* innermost first */
    uint16_t frames;      /* 0: no name is known */
    bool kernel, caller;  /* see enum weft_node_flags */
    bool resolved;        /* symbols were looked for, and found or not */
};

struct weft_stack {  /* a node of the tree of stacks; [0] is the empty stack */
    uint32_t parent; /* the caller's */
    uint32_t location;
};

/* Why no promise is known of a sample, or absence: it counts only where promise is WEFT_NONE. */
enum weft_gap {
    WEFT_GAP_NONE, /* none ran: the loop itself, a thread that has none; or nothing was joined */
    WEFT_GAP_OVERWRITTEN, /* the ring had wrapped: events of that time are not there any more */
    WEFT_GAP_OUTSIDE,     /* before events were recorded, or after */
    WEFT_GAPS
};

struct weft_sample {
    uint64_t time_ns;
    uint64_t value; /* in units of the source */
    uint32_t stack;
    uint32_t thread; /* index in the table of threads */
    uint32_t core;   /* UINT32_MAX: not known */
    uint32_t source;
    uint32_t
        promise;   /* that ran: index in the model that was joined; WEFT_NONE: none or not known */
    uint8_t flags; /* enum weft_sample_flags */
    uint8_t gap;   /* enum weft_gap */
};

/* A thread was not on a core, from … to. */
struct weft_absence {
    uint64_t from_ns, to_ns;
    uint32_t thread, stack; /* stack 0: not known */
    uint32_t promise;       /* that ran as it left, or WEFT_NONE */
    uint32_t core;
    bool preempted; /* it could have gone on */
    bool open;      /* it never came back: to_ns is the end of the recording of switches */
    uint8_t gap;    /* enum weft_gap */
};

struct weft_interrupt {
    uint64_t from_ns, to_ns;
    uint32_t core, thread; /* thread: index, or WEFT_NONE */
    uint32_t number, name; /* name: text */
    bool soft;
};

struct weft_thread {
    uint32_t process, thread; /* the system's numbers; UINT32_MAX: not known */
    uint32_t name;            /* text: the last one that it had */
    uint32_t stream;          /* of the joined model, or WEFT_NONE */
};

struct weft_profile {
    struct weft_source *source;
    struct weft_mapping *mapping;
    struct weft_function *function;
    struct weft_frame *frame;
    struct weft_location *location;
    struct weft_stack *stack;
    struct weft_sample *sample;       /* by time once finished */
    struct weft_absence *absence;     /* by from_ns once finished */
    struct weft_interrupt *interrupt; /* by from_ns once finished */
    struct weft_thread *thread;
    uint32_t sources, mappings, functions, frames, locations, stacks, samples, absences, interrupts,
        threads;

    struct weft_strings *strings;   /* number 0 is "" */
    const struct weft_model *model; /* that was joined (profile/join.h), borrowed, or NULL */
    uint64_t first_ns, last_ns;     /* of samples, absences and interrupts */
    uint64_t lost;                  /* samples that there was no room for */
    uint64_t lost_other;            /* other records: switches, mappings */
    uint64_t switches_until_ns; /* from then on there were too many to record; 0: no such time */
    uint64_t skipped;           /* records that could not be understood … */
    struct weft_error first_skipped; /* … and the first of them; code 0: there was none */
    uint8_t boot_id[16];
    struct weft_profile_build *build; /* what it is filled with; see profile/build.h */
};

/* Terminated, any bytes; borrowed. */
const char *weft_profile_text(const struct weft_profile *p, uint32_t text);

/* How many addresses it has. */
uint32_t weft_profile_depth(const struct weft_profile *p, uint32_t stack);

void weft_profile_free(struct weft_profile *p);

#endif
