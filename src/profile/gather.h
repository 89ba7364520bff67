/* SPDX-License-Identifier: ISC */
/* Selects the samples or absences that are asked for, and combines those that are alike. Trees and
 * lists begin with this. Internal to the profile. */
#pragma once

#include "profile/calltree.h"
#include "profile/names.h"
#include "base/table.h"

/* Samples or absences that are alike in everything that is asked for. */
struct profile_item {
    uint32_t group;                  /* according to options.by */
    uint32_t stack, promise, thread; /* promise: see weft_frames_whose */
    uint32_t state;                  /* enum weft_sample_state */
    uint64_t time_ns;
    uint64_t value, samples;
};

/* Returns false if there is no memory. */
typedef bool profile_item_fn(void *data, const struct profile_item *item);

struct profile_gather {
    struct weft_profile *p;
    const struct weft_calltree_options *o;
    bool stacks; /* stacks are needed */
    profile_item_fn *take;
    void *data;

    struct weft_frames *frames;
    struct profile_names *names; /* of the frames */
    uint32_t *root;              /* parallel to the promises, for WEFT_PROFILE_BY_ROOT */
    uint32_t *leader; /* parallel to the threads: the first of its process, for BY_PROCESS */
    uint8_t *wanted;  /* … for with_children: see gather.c */
    uint32_t label;   /* a text, for options.label; WEFT_NONE: no promise has it */
    struct profile_item *item;
    uint32_t items, item_room;
    struct weft_table items_by;
    uint64_t seed;

    uint64_t total, samples, without_promise, gap[WEFT_GAPS];
    enum weft_source_unit unit;
};

/* Hands out everything that is asked for. Returns 0, WEFT_E_NOMEM or WEFT_E_INVALID; the caller
 * calls fini in any case. */
int profile_gather_run(struct profile_gather *g, struct weft_profile *p,
                       const struct weft_calltree_options *o, bool stacks, profile_item_fn *take,
                       void *data);
void profile_gather_fini(struct profile_gather *g);

/* A group as a frame. Its text is WEFT_NONE if there is no memory. */
struct weft_named_frame profile_gather_group(struct profile_gather *g, uint32_t group);

/* The frame that stands for a state, innermost; or, if nothing is known about the stack, for the
 * whole stack. Returns false if the stack needs no such frame. */
bool profile_gather_state(const struct profile_gather *g, const struct profile_item *item,
                          struct weft_named_frame *frame);

/* The frame as rows need it: unchanged, or as file and line. Its text is WEFT_NONE if there is no
 * memory. */
struct weft_named_frame profile_gather_shown(struct profile_gather *g,
                                             const struct weft_named_frame *frame);

/* Clears what is not true for everything that a row or a call stands for. Of several locations it
 * keeps one if all are in the same file, or all in the kernel. */
void profile_gather_merge(const struct profile_gather *g, struct weft_named_frame *known,
                          const struct weft_named_frame *frame);

/* Returns true if rows are groups and not frames of stacks. */
static inline bool profile_is_group(enum weft_profile_by by)
{
    return by != WEFT_PROFILE_BY_FUNCTION && by != WEFT_PROFILE_BY_LINE;
}
