/* SPDX-License-Identifier: ISC */
/* Which promises match a query that the user types.
 *
 * All words must match. A word matches if it occurs in a promise's labels, type or failure, or is its number (12 or
 * #12); "quoted text" counts as one word. Several words mean one text, in any order: the hits are promises of which one
 * label, the type or the failure has them all. Only if there is no such promise, the words may be in different texts of
 * a promise.
 *
 * Words with a colon search one field, each by itself: label:TEXT type:TEXT reason:TEXT id:NUMBER trace:HEX span:HEX
 * (the first digits of the id of a distributed trace that the promise belongs to; of a span that it is, or that caused
 * it; model/traced.h) outcome:failed (or the beginning of an outcome's name; "overdue" counts as an outcome here); >10ms and <2s (ns us µs ms s min h d)
 * compare how long a promise lasts (weft_layout_lasts). Everything else, and everything quoted, is searched for
 * literally; so is a value that makes no sense for its key (outcome:foo), of which weft_search_why says what is allowed
 * if nothing is found. label:"two words" also works. The change of a counter is a label (name+1) where it is drawn as
 * one: not in weft's own traces.
 *
 * The letters a to z match in either case, all other bytes only themselves. Only the first WEFT_SEARCH_BYTES bytes of a
 * query count, and of these the first WEFT_SEARCH_WORDS words.
 *
 *     struct weft_search *q;
 *     if (weft_search_new(&q, scene, "type:fsync >10ms") == 0) {
 *         while (weft_search_work(q, 100000))
 *             ;
 *         printf("%u\n", weft_search_hits(q));
 *     }
 *
 * A search belongs to one thread at a time. */
#pragma once

#include "view/scene.h"

#define WEFT_SEARCH_BYTES 1000
#define WEFT_SEARCH_WORDS 16

struct weft_search;

/* Prepares a search; nothing is searched yet. The scene must outlive it. On success the caller owns *out. Returns 0 or
 * WEFT_E_NOMEM. */
int weft_search_new(struct weft_search **out, const struct weft_scene *s, const char *query);

void weft_search_free(struct weft_search *q);

/* Continues for at most `steps` steps (0: to the end). A step is a promise, a label or a few bytes of text; 100000
 * steps take a few milliseconds. Returns true if there is more to do. */
bool weft_search_work(struct weft_search *q, uint32_t steps);

/* How many have been found so far. */
uint32_t weft_search_hits(const struct weft_search *q);

/* Returns true if the query asks for nothing, for example if it is empty: then nothing is found. */
bool weft_search_is_empty(const struct weft_search *q);

/* Why there is no hit: "outcome: takes pending, …", "not found: no type has 'foo'; types are task, wait", "not
 * found". Known once the search is complete; that a value makes no sense for its key, at once. "" if there are hits, or nothing is
 * known. Valid UTF-8, valid until the next call. */
const char *weft_search_why(struct weft_search *q);

/* Returns true for a hit, of those found so far. */
bool weft_search_has(const struct weft_search *q, uint32_t promise);

/* Positions are those of layout->spans. Valid once the search is complete; before that, there may seem to be no hits. */

/* The first hit in [span, end), or end. */
uint32_t weft_search_next_span(const struct weft_search *q, uint32_t span, uint32_t end);

/* The number of hits in [span, end). */
uint32_t weft_search_count_spans(const struct weft_search *q, uint32_t span, uint32_t end);

/* The next hit after (step 1) or before (step -1) the promise, in order of the starts of their lines, then of their
 * indices. If promise is WEFT_NONE: the first hit at or after time_ns (step -1: the last one at or before it). Wraps
 * around at the ends. WEFT_NONE: there are no hits. Until the search is complete, the order is that of the indices of
 * the hits found so far, and time_ns is ignored. */
uint32_t weft_search_next(const struct weft_search *q, uint32_t promise, int64_t time_ns, int step);

/* The number of a hit in that order, counted from 1; 0: it is not a hit. */
uint32_t weft_search_rank(const struct weft_search *q, uint32_t promise);
