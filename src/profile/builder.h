/* SPDX-License-Identifier: ISC */
/* A profile under construction; inside of the profile. */
#ifndef WEFT_PROFILE_BUILDER_H
#define WEFT_PROFILE_BUILDER_H

#include "model/strings.h"
#include "profile/build.h"
#include "base/table.h"

/* What happens to the mappings of a process: one more (mapping), or the process begins, without any
 * (parent UINT32_MAX: another program) or with its parent's. */
struct profile_change {
    uint64_t time_ns;
    uint32_t process, parent;
    uint32_t mapping; /* or WEFT_NONE */
    uint32_t order;   /* in which they were told */
};

/* A process that has begun anew while it was looked at: the same address means something else then. */
struct profile_renewed {
    uint32_t process, generation;
    uint64_t since_ns; /* of this generation */
};

/* A file, or generated code of a process, whose symbols are told. */
struct profile_mapped_object {
    uint32_t path, process;
    uint8_t build_id[WEFT_BUILD_ID_MAX];
    uint8_t build_id_bytes;
};

struct profile_symbol {
    uint64_t offset;
    uint32_t object;
    uint32_t first_frame;
    uint16_t frames;
};

/* Beside a location. */
struct profile_place {
    uint64_t first_ns;
    uint32_t generation;
};

struct weft_profile_build {
    uint64_t seed;
    struct profile_change *change;
    struct profile_renewed *renewed;
    struct profile_mapped_object *object;
    struct profile_symbol *symbol;
    struct profile_place *place; /* beside p->location */
    uint16_t *depth;             /* beside p->stack */
    uint32_t changes, reneweds, objects, symbols;
    uint32_t source_room, mapping_room, function_room, frame_room, location_room, place_room,
        stack_room, depth_room, sample_room, absence_room, interrupt_room, thread_room;
    uint32_t change_room, renewed_room, object_room, symbol_room;
    struct weft_table functions, locations, stacks, threads, numbers, reneweds_by, objects_by,
        symbols_by;
    uint32_t last_renewed;     /* process that was looked for last … */
    uint32_t last_index;       /* … and where it is, or WEFT_NONE */
    bool no_memory;            /* for what could not say so */
    struct profile_away *away; /* beside p->thread, as far as switches are known */
    uint32_t aways, away_room;
};

/* A thread's last switch. */
struct profile_away {
    uint64_t from_ns;
    uint32_t stack, core;
    bool away, preempted;
    bool ended; /* it has exited */
};

#define PROFILE_DEPTH_MAX 4096 /* of a stack */

/* The first thread with that number, of whatever process; made if it is not there. WEFT_NONE: no memory. */
uint32_t profile_thread_by_number(struct weft_profile *p, uint32_t thread);

/* How often the process had begun anew by then. */
uint32_t profile_generation(struct weft_profile *p, uint32_t process, uint64_t time_ns);

/* Sets the mapping of each location, and when mappings end. 0 or WEFT_E_NOMEM. */
int profile_mappings_assign(struct weft_profile *p);

/* A thread leaves a core, comes back, or exits, in order of time for each thread. false: no memory. */
bool profile_switch_out(struct weft_profile *p, uint32_t thread, uint64_t time_ns, uint32_t core,
                        uint32_t stack, bool preempted);
bool profile_switch_in(struct weft_profile *p, uint32_t thread, uint64_t time_ns);
bool profile_switch_exit(struct weft_profile *p, uint32_t thread, uint64_t time_ns);

/* Those that have not come back are away until the end. false: no memory. */
bool profile_switch_end(struct weft_profile *p);

/* Stable, and linear where they are nearly in order. Items begin with a time. false: no memory. */
bool profile_sort_by_time(void *array, uint32_t count, size_t item);

#endif
