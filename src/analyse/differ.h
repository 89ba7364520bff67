/* SPDX-License-Identifier: ISC */
/* What the parts of a comparison share; inside of analyse. */
#ifndef WEFT_ANALYSE_DIFFER_H
#define WEFT_ANALYSE_DIFFER_H

#include "analyse/align.h"
#include "analyse/diff.h"
#include "analyse/sentence.h"

/* How a promise ended, in the end. */
enum weft__ending {
    WEFT__VALUE,
    WEFT__ERROR,
    WEFT__CANCEL,
    WEFT__DROP,
    WEFT__SOMEHOW, /* by a value or an error */
    WEFT__OPEN,
    WEFT__ENDINGS
};

/* A clan in the good runs together [0] and in the bad one [1]. */
struct weft__clan {
    uint32_t promises[2];
    uint32_t creators[2]; /* promises that created some */
    uint32_t ended[2][WEFT__ENDINGS];
    int64_t longest_ns[2]; /* of those that were resolved */
    int64_t oldest_ns[2];  /* of those that are pending: their age */
};

/* Bits of a promise: it ended otherwise; what went wrong depends on it; it was read or waited for; the other run should have
 * it, too, and has not; it became slower; it, or whoever created it, is not in all good runs; it ended well in the bad run,
 * and never as badly as in the good ones; what should resolve depends on it. */
enum {
    WEFT__CHANGED = 1,
    WEFT__RELEVANT = 2,
    WEFT__USED = 4,
    WEFT__LONELY = 8,
    WEFT__SLOW = 16,
    WEFT__COMES_AND_GOES = 32,
    WEFT__BETTER = 64,
    WEFT__SERVES = 128,
};

struct weft__differ {
    struct weft__sides sides; /* the good runs, then the bad one */
    uint32_t goods;
    const struct weft_history *good, *bad; /* the first good one */
    uint32_t *
        *other; /* by further good run (from 1 on): counterparts of the first one's promises */
    uint32_t *bad_of_good, *good_of_bad;
    struct weft__clan *clan;
    uint8_t *mark, *bad_mark; /* by promise of the first good run, and of the bad one */
    struct weft_diff *out;
    bool failed;
};

/* Slots of sentences: a promise of the good run, or of the bad one, of what d points to. */
#define GOOD(name, promise) PROMISE_OF(d->good->m, name, promise)
#define BAD(name, promise) PROMISE_OF(d->bad->m, name, promise)

enum weft__ending weft__ending_of(const struct weft_model *m, uint32_t promise);

/* relevant.c: after the changes are found and marked, and what takes longer. */
void weft__find_relevant(struct weft__differ *d);

/* How much it matters how a promise ends. 3: it should resolve; 2: somebody waits for it, or it waits; 1: it has nothing to do
 * with others. _of: of one that both runs have, the most in either. */
unsigned weft__weight_in(const struct weft_history *h, uint32_t promise);
unsigned weft__weight_of(const struct weft__differ *d, uint32_t good);

/* Whether a promise that ended otherwise ended worse in one run (h) than in the other. */
bool weft__ended_worse(const struct weft_history *h, uint32_t promise,
                       const struct weft_history *than, uint32_t other);

/* diff.c: whether another good run does without a promise, though its creator is there. */
bool weft__dispensable(const struct weft__differ *d, uint32_t good);

/* orders.c: after where they part. */
void weft__find_orders(struct weft__differ *d);

/* diverge.c: after what is relevant. */
void weft__find_divergence(struct weft__differ *d);

/* swapped.c: after the changes are found. */
void weft__find_swapped(struct weft__differ *d);

/* latency.c, running.c */
void weft__find_latencies(struct weft__differ *d);
void weft__find_running(struct weft__differ *d);

/* The first promise of each kind in a run, and how many there are, for weft__put_family. The caller frees first and
 * size; both NULL: no memory. */
struct weft__families weft__kinds_of(const struct weft__differ *d, uint32_t run);

#endif
