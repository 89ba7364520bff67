/* SPDX-License-Identifier: ISC */
/* What the parts of a comparison share; inside of analyse. */
#ifndef WEFT_ANALYSE_DIFFER_H
#define WEFT_ANALYSE_DIFFER_H

#include "analyse/align.h"
#include "analyse/diff.h"
#include "analyse/sentence.h"

/* How a promise ended, in the end. */
enum analyse_ending {
    ANALYSE_VALUE,
    ANALYSE_ERROR,
    ANALYSE_CANCEL,
    ANALYSE_DROP,
    ANALYSE_SOMEHOW, /* by a value or an error */
    ANALYSE_OPEN,
    ANALYSE_ENDINGS
};

/* A clan in the good runs together [0] and in the bad one [1]. */
struct analyse_clan {
    uint32_t promises[2];
    uint32_t creators[2]; /* promises that created some */
    uint32_t ended[2][ANALYSE_ENDINGS];
    int64_t longest_ns[2]; /* of those that were resolved */
    int64_t oldest_ns[2];  /* of those that are pending: their age */
};

/* Bits of a promise: it ended otherwise; what went wrong depends on it; it was read or waited for; the other run should have
 * it, too, and has not; it became slower; it, or whoever created it, is not in all good runs; it ended well in the bad run,
 * and never as badly as in the good ones; what should resolve depends on it. */
enum {
    ANALYSE_CHANGED = 1,
    ANALYSE_RELEVANT = 2,
    ANALYSE_USED = 4,
    ANALYSE_LONELY = 8,
    ANALYSE_SLOW = 16,
    ANALYSE_COMES_AND_GOES = 32,
    ANALYSE_BETTER = 64,
    ANALYSE_SERVES = 128,
};

struct analyse_differ {
    struct analyse_sides sides; /* the good runs, then the bad one */
    uint32_t goods;
    const struct weft_history *good, *bad; /* the first good one */
    uint32_t *
        *other; /* by further good run (from 1 on): counterparts of the first one's promises */
    uint32_t *bad_of_good, *good_of_bad;
    struct analyse_clan *clan;
    uint8_t *mark, *bad_mark; /* by promise of the first good run, and of the bad one */
    struct weft_diff *out;
    bool failed;
};

/* Slots of sentences: a promise of the good run, or of the bad one, of what d points to. */
#define GOOD(name, promise) PROMISE_OF(d->good->m, name, promise)
#define BAD(name, promise) PROMISE_OF(d->bad->m, name, promise)

enum analyse_ending analyse_ending_of(const struct weft_model *m, uint32_t promise);

/* relevant.c: after the changes are found and marked, and what takes longer. */
void analyse_find_relevant(struct analyse_differ *d);

/* How much it matters how a promise ends. 3: it should resolve; 2: somebody waits for it, or it waits; 1: it has nothing to do
 * with others. _of: of one that both runs have, the most in either. */
unsigned analyse_weight_in(const struct weft_history *h, uint32_t promise);
unsigned analyse_weight_of(const struct analyse_differ *d, uint32_t good);

/* Whether a promise that ended otherwise ended worse in one run (h) than in the other. */
bool analyse_ended_worse(const struct weft_history *h, uint32_t promise,
                         const struct weft_history *than, uint32_t other);

/* diff.c: whether another good run does without a promise, though its creator is there. */
bool analyse_dispensable(const struct analyse_differ *d, uint32_t good);

/* orders.c: after where they part. */
void analyse_find_orders(struct analyse_differ *d);

/* diverge.c: after what is relevant. */
void analyse_find_divergence(struct analyse_differ *d);

/* swapped.c: after the changes are found. */
void analyse_find_swapped(struct analyse_differ *d);

/* latency.c, running.c */
void analyse_find_latencies(struct analyse_differ *d);
void analyse_find_running(struct analyse_differ *d);

/* The first promise of each kind in a run, and how many there are, for analyse_put_family. The caller frees first and
 * size; both NULL: no memory. */
struct analyse_families analyse_kinds_of(const struct analyse_differ *d, uint32_t run);

#endif
