/* SPDX-License-Identifier: ISC */
/* A profile under construction; internal to the profile. */
#pragma once

#include <stddef.h>

#include "model/strings.h"
#include "profile/build.h"
#include "base/idmap.h"
#include "base/table.h"

/* A change of the mappings of a process: one more mapping; or the process begins, without any
 * mapping (parent UINT32_MAX: it runs another program) or with its parent's. */
struct profile_change {
    uint64_t time_ns;
    uint32_t process, parent;
    uint32_t mapping; /* or WEFT_NONE */
    uint32_t order;   /* the order in which they were added */
};

/* A process that began anew while it was recorded: from then on the same address means something
 * else. */
struct profile_renewed {
    uint32_t process, generation;
    uint64_t since_ns; /* the start of this generation */
};

/* A file, or the generated code of a process, for which symbols are added. */
struct profile_mapped_object {
    uint32_t path, process;
    uint8_t build_id[WEFT_BUILD_ID_MAX];
    uint8_t build_id_bytes;
};
#define PROFILE_OBJECT_KEY (offsetof(struct profile_mapped_object, build_id_bytes) + 1)

struct profile_symbol {
    uint64_t offset;
    uint32_t object;
    uint32_t first_frame;
    uint16_t frames;
};
#define PROFILE_SYMBOL_KEY offsetof(struct profile_symbol, first_frame)

struct weft_profile_build {
    uint64_t seed;
    struct profile_change *change;
    struct profile_renewed *renewed;
    struct profile_mapped_object *object;
    struct profile_symbol *symbol;
    uint64_t *first_ns; /* parallel to p->location: when it was first used */
    uint16_t *depth;    /* parallel to p->stack */
    uint32_t changes, reneweds, objects, symbols;
    uint32_t source_room, mapping_room, function_room, frame_room, location_room, first_ns_room,
        stack_room, depth_room, sample_room, absence_room, interrupt_room, thread_room;
    uint32_t change_room, renewed_room, object_room, symbol_room;
    struct weft_table functions, locations, stacks, threads, reneweds_by, objects_by, symbols_by;
    struct weft_idmap *numbers; /* the first thread with a number */
    uint32_t last_renewed;      /* the process that was last looked up … */
    uint32_t last_index;        /* … and its index, or WEFT_NONE */
    bool no_memory;             /* there was none once: nothing is added any more */
    struct profile_away *away;  /* parallel to p->thread, as far as switches are known */
    uint32_t aways, away_room;
    /* Of the packets of the trace that is being loaded, so far: samples, also overwritten ones; and what was lost
     * before it. */
    uint64_t seen, lost_at, lost_other_at;
};

/* The last switch of a thread. */
struct profile_away {
    uint64_t from_ns;
    uint32_t stack, core;
    bool away, preempted;
    bool ended; /* it has exited */
};

#define PROFILE_DEPTH_MAX 4096 /* of a stack */

/* The first thread with that number, of any process; added if it is new. WEFT_NONE: no memory. */
uint32_t profile_thread_by_number(struct weft_profile *p, uint32_t thread);

/* How many times the process had begun anew by then. */
uint32_t profile_generation(struct weft_profile *p, uint32_t process, uint64_t time_ns);

/* Sets the mapping of each location, and when mappings end. Returns 0 or WEFT_E_NOMEM. */
int profile_mappings_assign(struct weft_profile *p);

/* there: there was memory for something. Returns true if there always was. */
static inline bool profile_is_there(struct weft_profile *p, bool there)
{
    p->build->no_memory |= !there;
    return !p->build->no_memory;
}

/* A thread leaves a core, comes back, or exits. Call them in order of time for each thread. */
void profile_switch_out(struct weft_profile *p, uint32_t thread, uint64_t time_ns, uint32_t core,
                        uint32_t stack, bool preempted);
void profile_switch_in(struct weft_profile *p, uint32_t thread, uint64_t time_ns);
void profile_switch_exit(struct weft_profile *p, uint32_t thread, uint64_t time_ns);

/* Threads that have not come back are away until the end. */
void profile_switch_end(struct weft_profile *p);

/* Stable; linear if the items are nearly in order. Items begin with a time. Returns false if there
 * is no memory. */
bool profile_sort_by_time(void *array, uint32_t count, size_t item);
