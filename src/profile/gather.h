/* SPDX-License-Identifier: ISC */
/* Which samples, or absences, are asked for, put together where they are alike: what trees and lists begin with; inside
 * of the profile. */
#ifndef WEFT_PROFILE_GATHER_H
#define WEFT_PROFILE_GATHER_H

#include "profile/calltree.h"
#include "profile/names.h"
#include "base/table.h"

enum profile_item_state { PROFILE_ON_CPU, PPROF_WAITING, PPROF_PREEMPTED };

/* Samples, or absences, that are alike in all that is asked for. */
struct profile_item {
    uint32_t group;                  /* as options.by says */
    uint32_t stack, promise, thread; /* promise: see weft_frames_whose */
    uint32_t state;                  /* enum profile_item_state */
    uint64_t time_ns;
    uint64_t value, samples;
};

/* false: no memory. */
typedef bool profile_item_fn(void *data, const struct profile_item *item);

struct profile_gather {
    struct weft_profile *p;
    const struct weft_calltree_options *o;
    bool stacks; /* are wanted */
    profile_item_fn *take;
    void *data;

    struct profile_names names;
    uint32_t *root;  /* beside the promises, for WEFT_PROFILE_BY_ROOT */
    uint8_t *wanted; /* … for with_children: see gather.c */
    uint32_t label;  /* text, for options.label; WEFT_NONE: no promise has it */
    struct profile_item *item;
    uint32_t items, item_room;
    struct weft_table items_by;
    uint64_t seed;

    uint64_t total, samples, without_promise, gap[WEFT_GAPS];
    enum weft_source_unit unit;
};

/* Hands out all that is asked for. 0, WEFT_E_NOMEM or WEFT_E_INVALID; the caller calls fini in any case. */
int profile_gather_run(struct profile_gather *g, struct weft_profile *p,
                       const struct weft_calltree_options *o, bool stacks, profile_item_fn *take,
                       void *data);
void profile_gather_fini(struct profile_gather *g);

/* A group as a frame. Its text is WEFT_NONE where there is no memory. */
struct weft_named_frame profile_gather_group(struct profile_gather *g, uint32_t group);

/* What stands for a state, innermost; or, where nothing is known of the stack, for all of it. false: the stack says it
 * all. */
bool profile_gather_state(const struct profile_gather *g, const struct profile_item *item,
                          struct weft_named_frame *frame);

/* The frame as what the rows are: itself, or file and line. Its text is WEFT_NONE where there is no memory. */
struct weft_named_frame profile_gather_shown(struct profile_gather *g,
                                             const struct weft_named_frame *frame);

/* What does not hold for all that a row or a call stands for, it does not say. Of several locations it keeps one if all
 * lie in the same file, or all in the kernel. */
void profile_gather_merge(const struct profile_gather *g, struct weft_named_frame *known,
                          const struct weft_named_frame *frame);

/* Whether rows are groups, and not frames of stacks. */
static inline bool profile_is_group(enum weft_profile_by by)
{
    return by != WEFT_PROFILE_BY_FUNCTION && by != WEFT_PROFILE_BY_LINE;
}

#endif
