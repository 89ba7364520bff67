/* SPDX-License-Identifier: ISC */
/* What is pending as trees: under each promise those that need it, because they wait for it, became it, or are resources
 * that it holds. Roots are promises that need nothing that is pending: nobody here resolves them. Those that need each
 * other in a circle are deadlocks, and come first; then the roots on which most depend, then the oldest. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "live/live.h"

enum top_need {
    TOP_NEEDS_NOTHING,
    TOP_WAITS,  /* it waits for its parent */
    TOP_BECAME, /* it became its parent */
    TOP_HELD,   /* it is a resource that its parent holds */
};

struct top_node {
    uint32_t promise; /* in live_promises */
    uint32_t depth;   /* 0: a root */
    uint32_t below;   /* how many promises depend on it; in a deadlock, on all of it */
    uint32_t more;    /* not 0: no promise, but so many that are left out, beside the node before */
    uint32_t
        last; /* bit d: the node's ancestor of depth d, or itself, is its parent's last child */
    enum top_need need;
    bool circle; /* a part of a deadlock */
    bool again;  /* the promise with which its circle begins: what is beneath it is already there */
};

struct top_tree {
    struct top_node *node;
    uint32_t nodes;
    uint32_t roots, deadlocks;
    bool cut; /* there are more nodes than asked for */
};

struct top_tree_options {
    uint32_t nodes_max;    /* of the result */
    uint32_t children_max; /* of one node; the oldest stay */
};

/* Returns 0 or WEFT_E_NOMEM. Takes time in proportion to the promises. Release it with top_tree_fini in any case. */
int top_tree_build(struct top_tree *out, const struct live *l, const struct top_tree_options *o);

void top_tree_fini(struct top_tree *t);

/* What a pending promise needs, as an index of live_promises, or LIVE_NONE. */
uint32_t top_tree_need(const struct live *l, const struct live_promise *p, enum top_need *need);
