/* SPDX-License-Identifier: ISC */
/* Which promises match what somebody types.
 *
 * Words must all match. A word is looked for in labels, type and failure of a promise, and is its number
 * (12 or #12); "quoted text" counts as one word. Words with a colon ask for one thing:
 * label:TEXT type:TEXT reason:TEXT id:NUMBER outcome:failed (or how the name of an outcome begins; overdue
 * is one here, too); >10ms and <2s (ns us µs ms s min) ask how long its line is. What is not one of those
 * is looked for as it stands, and everything that is quoted. label:"two words" is possible, too. The change
 * of a counter is a label (name+1) where it is drawn as one: not in weft's own traces.
 *
 * The letters a to z match in either case, all other bytes only themselves. Of a query the first
 * WEFT_SEARCH_BYTES count, and of these WEFT_SEARCH_WORDS words.
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

#define WEFT_SEARCH_BYTES 1000
#define WEFT_SEARCH_WORDS 16

struct weft_search;

/* Nothing is searched yet. The scene must outlive it. On success the caller owns *out. Returns 0 or
 * WEFT_E_NOMEM. */
int weft_search_new(struct weft_search **out, const struct weft_scene *s, const char *query);

void weft_search_free(struct weft_search *q);

/* Goes on; a step is a promise, a label or some bytes of text, and 100000 of them take some milliseconds
 * (0: to the end). Returns whether there is more to do. */
bool weft_search_work(struct weft_search *q, uint32_t steps);

/* How many have been found so far. */
uint32_t weft_search_hits(const struct weft_search *q);

/* Whether the query asks for nothing, as an empty one: then nothing is found. */
bool weft_search_is_empty(const struct weft_search *q);

static inline bool weft_search_bit(const uint64_t *bits, uint32_t at)
{
    return bits[at / 64] >> (at % 64) & 1;
}

/* A bit for each promise, of the hits so far. Borrowed. */
const uint64_t *weft_search_bits(const struct weft_search *q);

bool weft_search_has(const struct weft_search *q, uint32_t promise);

/* Positions are those of layout->spans. Once all has been searched; before that, none may be seen. */

/* The first hit at or after span and below end, or end. */
uint32_t weft_search_next_span(const struct weft_search *q, uint32_t span, uint32_t end);

/* How many hits there are from span on and below end. */
uint32_t weft_search_count_spans(const struct weft_search *q, uint32_t span, uint32_t end);

/* The hit that begins next after (step 1) or before (step -1) the promise, in order of the starts of their
 * lines and then of their indices; WEFT_NONE as promise: the first one at or after (step -1: the last one at
 * or before) time_ns. Goes round at the ends. WEFT_NONE: there are none. Before all has been searched, in the
 * order of their indices among those found so far, and time_ns does not count. */
uint32_t weft_search_next(const struct weft_search *q, uint32_t promise, int64_t time_ns, int step);

/* Which hit it is, counted from 1 in that order; 0: none. */
uint32_t weft_search_rank(const struct weft_search *q, uint32_t promise);

#endif
