/* SPDX-License-Identifier: ISC */
/* Samples with the same stack and the same labels, added up: what is written is as large as what is distinct. */
#ifndef WEFT_PPROF_SUMS_H
#define WEFT_PPROF_SUMS_H

#include "pprof/pprof.h"
#include "base/table.h"

enum weft__state { WEFT__RUNNING, WEFT__WAITING, WEFT__PREEMPTED };

/* A sum's stack and labels. */
struct weft__sum {
    uint32_t stack; /* of the profile; with async stacks a node of weft__sums */
    uint32_t promise, thread, core;
    uint32_t state; /* enum weft__state */
};

/* What the values of a sample are: of each kind of samples one or two. */
enum { WEFT__KINDS_MAX = 64 };

struct weft__kind {
    char name[128]; /* of its sources */
    enum weft_source_unit unit;
    bool counted;   /* two values: how many samples, and what they stand for */
    uint32_t value; /* where they begin */
};

struct weft__kinds {
    struct weft__kind kind[WEFT__KINDS_MAX];
    uint32_t kinds, values;
    bool off_cpu; /* the last value is time away */
};

bool weft__kind_is_of(const struct weft__kind *k, const struct weft_profile *p, uint32_t source);

/* The sources of one more profile. 0, or WEFT_E_LIMIT. */
int weft__kinds_add(struct weft__kinds *k, const struct weft_profile *p);

/* A stack with frames that no address has: [0] is the empty one. */
struct weft__node {
    uint32_t parent;
    uint32_t location; /* of the profile; or WEFT__MADE and one of weft__sums */
};
#define WEFT__MADE (UINT32_C(1) << 31)

struct weft__made { /* a frame that stands for something else than code */
    uint32_t text;  /* of the profile's */
};

struct weft__sums {
    struct weft_profile *p;
    const struct weft_pprof_options *o;
    const struct weft__kinds *kinds;
    const struct weft__kind **kind_of; /* by source of the profile */
    uint32_t values;
    struct weft__sum *sum;
    int64_t *total; /* values of each */
    struct weft__node *node;
    struct weft__made *made;
    uint32_t sums, nodes, mades;
    uint32_t sum_room, total_room, node_room, made_room;
    struct weft_table sums_by, nodes_by, mades_by;
    struct weft_frames *frames; /* NULL: stacks are the profile's */
    uint64_t cut; /* samples and absences whose stacks are deeper than what is written of them */
    uint64_t seed;
};

/* kinds knows the sources of p. The caller calls weft__sums_fini, also after an error. 0 or WEFT_E_NOMEM. */
int weft__sums_make(struct weft__sums *s, const struct weft__kinds *kinds,
                    const struct weft_pprof_part *part, const struct weft_pprof_options *o);
void weft__sums_fini(struct weft__sums *s);

/* Whether the source's values are numbers of samples. */
bool weft__source_is_count(const struct weft_profile *p, uint32_t source);

/* a + b, or the largest number that there is. */
static inline int64_t weft__add_values(int64_t a, uint64_t b)
{
    int64_t sum;
    return b > INT64_MAX || __builtin_add_overflow(a, (int64_t)b, &sum) ? INT64_MAX : sum;
}

/* A frame with that text of the profile's, as a location (see weft__node). WEFT_NONE: no memory. */
uint32_t weft__sums_made(struct weft__sums *s, uint32_t text);

/* From a sum's stack outward: gives the location of *stack (see weft__node) and sets it to the caller's.
 * Not for the empty stack, which is 0. */
uint32_t weft__sums_pop(const struct weft__sums *s, uint32_t *stack);

#endif
