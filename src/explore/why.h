/* SPDX-License-Identifier: ISC */
/* Why promises waited, as a tree for a flame graph: what they waited for, what that waited for meanwhile, and so on, by
 * label; the width of a frame is time. Private to src/explore.
 *
 *     struct explore_why *w;
 *     if (explore_why_begin(&w, history, &of) == 0) {
 *         while ((rc = explore_why_work(w, 20000)) > 0)
 *             ;
 *         if (rc == 0)
 *             explore_why_take(w, &tree, &names);
 *         explore_why_end(w);
 *     }
 *
 * The total is the time that the promises waited, as weft_stats counts it (waiting_ns). Of several things that a promise
 * waited for at a time, the one that came last counts. Each moment of it belongs to one frame:
 *
 * - the label of what was waited for, and below it what that did meanwhile: it waited in turn (its own frame), or
 *   "(running)", "(ready)";
 * - "(unknown)": the trace does not say what it did: usually, it came from outside;
 * - "(cycle)": what was waited for is already above; "(not followed)": the chain is longer than EXPLORE_WHY_DEPTH, or
 *   there were too many (EXPLORE_WHY_VISITS). */
#pragma once

#include "analyse/history.h"
#include "profile/calltree.h"

#define EXPLORE_WHY_DEPTH 64
#define EXPLORE_WHY_VISITS 20000000u /* parts of promises' lives that are looked at */

struct explore_why_of {
    uint32_t
        promise; /* all with its type and label; WEFT_NONE: all promises, which are grouped by label */
    bool family;            /* labels that differ only in numbers are the same */
    int64_t from_ns, to_ns; /* only what is waited in between; equal: always */
};

struct explore_why;

/* The caller owns *out; the history must outlive it. Returns 0 or WEFT_E_NOMEM; *out is then NULL. */
int explore_why_begin(struct explore_why **out, const struct weft_history *h,
                      const struct explore_why_of *of);
void explore_why_end(struct explore_why *w);

/* Continues; 20000 steps take a few milliseconds. Returns 1 if there is more to do, 0 when it is done, or
 * WEFT_E_NOMEM. */
int explore_why_work(struct explore_why *w, uint32_t steps);

/* Once it is done: the caller owns both; the texts of the tree are in *names. NULL: there is no memory. */
void explore_why_take(struct explore_why *w, struct weft_calltree **tree,
                      struct weft_profile **names);
