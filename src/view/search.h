/* SPDX-License-Identifier: ISC */
/* Which promises match what somebody types.
 *
 * Words must all match. A word is looked for, in any case, in labels, type and failure of a promise, and
 * is its number; "quoted text" counts as one word. Words with a colon ask for one thing:
 * label:TEXT type:TEXT id:NUMBER outcome:failed reason:TEXT; >10ms and <2s ask how long a promise lasted.
 * What is not one of those is looked for as it stands.
 *
 *     struct weft_search *q;
 *     if (weft_search_new(&q, scene, "type:fsync >10ms") == 0) {
 *         while (weft_search_work(q, 100000))
 *             ;
 *         printf("%u\n", weft_search_hits(q));
 *     }
 *
 * A search belongs to one thread at a time. */
#ifndef WEFT_VIEW_SEARCH_H
#define WEFT_VIEW_SEARCH_H

#include "view/scene.h"

struct weft_search;

/* Nothing is searched yet. The scene must outlive it. On success the caller owns *out. Returns 0 or
 * WEFT_E_NOMEM. */
int weft_search_new(struct weft_search **out, const struct weft_scene *s, const char *query);

void weft_search_free(struct weft_search *q);

/* Looks at about so many promises more (0: at all). Returns whether there is more to do. */
bool weft_search_work(struct weft_search *q, uint32_t steps);

/* How many have been found so far. */
uint32_t weft_search_hits(const struct weft_search *q);

bool weft_search_has(const struct weft_search *q, uint32_t promise);

/* The hit that begins next after (step 1) or before (step -1) the promise, in order of time and then of
 * number; WEFT_NONE as promise: the first or last one at or after (before) time_ns. Goes round at the ends.
 * WEFT_NONE: there are none. */
uint32_t weft_search_next(const struct weft_search *q, uint32_t promise, int64_t time_ns, int step);

/* Which hit it is, counted from 1 in that order; 0: none. */
uint32_t weft_search_rank(const struct weft_search *q, uint32_t promise);

#endif
