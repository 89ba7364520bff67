/* SPDX-License-Identifier: ISC */
/* Adds up samples with the same stack and the same labels, so that the output is as large as the
 * number of distinct ones. */
#pragma once

#include "pprof/pprof.h"
#include "base/table.h"

/* The stack and labels of a sum. */
struct pprof_sum {
    uint32_t stack; /* in the profile; with async stacks a node of pprof_sums */
    uint32_t promise, thread, core;
    uint32_t state; /* enum weft_sample_state */
};

/* What the values of a sample are: one or two for each kind of sample. */
enum { PPROF_KINDS_MAX = 64 };

struct pprof_kind {
    char name[128]; /* of its sources */
    enum weft_source_unit unit;
    bool counted;   /* two values: how many samples, and what they stand for */
    uint32_t value; /* index of the first */
};

struct pprof_kinds {
    struct pprof_kind kind[PPROF_KINDS_MAX];
    uint32_t kinds, values;
    bool off_cpu; /* the last value is time off the CPU */
};

bool pprof_kind_is_of(const struct pprof_kind *k, const struct weft_profile *p, uint32_t source);

/* Adds the sources of one more profile. Returns 0, or WEFT_E_LIMIT. */
int pprof_kinds_add(struct pprof_kinds *k, const struct weft_profile *p);

/* A stack with frames that have no address: [0] is the empty one. */
struct pprof_node {
    uint32_t parent;
    uint32_t location; /* of the profile; or PPROF_MADE and an index of pprof_sums.made */
};
#define PPROF_MADE (UINT32_C(1) << 31)

struct pprof_sums {
    struct weft_profile *p;
    const struct weft_pprof_options *o;
    const struct pprof_kinds *kinds;
    const struct pprof_kind **kind_of; /* by source of the profile */
    uint32_t values;
    struct pprof_sum *sum;
    int64_t *total; /* the values of each sum */
    struct pprof_node *node;
    uint32_t *made; /* frames that stand for something other than code: texts of the profile */
    uint32_t sums, nodes, mades;
    uint32_t sum_room, total_room, node_room, made_room;
    struct weft_table sums_by, nodes_by, mades_by;
    struct weft_frames *frames; /* NULL: stacks are the profile's */
    uint64_t cut; /* samples and absences whose stacks are deeper than what is written */
    uint64_t seed;
};

/* kinds must know the sources of p. The caller calls pprof_sums_fini, even after an error. Returns
 * 0 or WEFT_E_NOMEM. */
int pprof_sums_make(struct pprof_sums *s, const struct pprof_kinds *kinds,
                    const struct weft_pprof_part *part, const struct weft_pprof_options *o);
void pprof_sums_fini(struct pprof_sums *s);

/* Returns true if the source's values are numbers of samples. */
bool pprof_source_is_count(const struct weft_profile *p, uint32_t source);

/* a + b, or the largest possible number. */
static inline int64_t pprof_add_values(int64_t a, uint64_t b)
{
    int64_t sum;
    return b > INT64_MAX || __builtin_add_overflow(a, (int64_t)b, &sum) ? INT64_MAX : sum;
}

/* A frame with that text of the profile's, as a location (see pprof_node). WEFT_NONE: no memory. */
uint32_t pprof_sums_made(struct pprof_sums *s, uint32_t text);

/* Goes through a sum's stack outwards: returns the location of *stack (see pprof_node) and sets
 * *stack to its caller's. Not for the empty stack, which is 0. */
uint32_t pprof_sums_pop(const struct pprof_sums *s, uint32_t *stack);
