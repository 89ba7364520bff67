/* SPDX-License-Identifier: ISC */
/* What the parts of a comparison share. Internal to analyse. */
#ifndef WEFT_ANALYSE_DIFFER_H
#define WEFT_ANALYSE_DIFFER_H

#include "analyse/align.h"
#include "analyse/diff.h"
#include "analyse/sentence.h"

/* How a promise ended in the end, following what it became. */
enum analyse_ending {
    ANALYSE_VALUE,
    ANALYSE_ERROR,
    ANALYSE_CANCEL,
    ANALYSE_DROP,
    ANALYSE_SOMEHOW, /* with a value or an error */
    ANALYSE_OPEN,
    ANALYSE_ENDINGS
};

/* A clan: [0] in all good runs together, [1] in the bad run. */
struct analyse_clan {
    uint32_t promises[2];
    uint32_t creators[2]; /* promises that created members of it */
    uint32_t ended[2][ANALYSE_ENDINGS];
    int64_t longest_ns[2]; /* of its resolved members */
    int64_t oldest_ns[2];  /* the age of its pending members */
};

/* Bits for a promise, in this order: it ended differently; what went wrong depends on it; it was
 * read or waited for; the other run should have it, too, but has not; it became slower; it or its
 * creator is not in all good runs; it ended well in the bad run, and as badly as that never in the
 * good ones; something that should resolve depends on it. */
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
        *other; /* by further good run (from 1 on): the counterparts of the first run's promises */
    uint32_t *bad_of_good, *good_of_bad;
    struct analyse_clan *clan;
    /* the kinds in the first good run and in the bad one, as families for sentences; `of` is the
     * side's */
    struct analyse_families kinds[2];
    uint8_t *mark, *bad_mark; /* by promise of the first good run, and by promise of the bad run */
    struct weft_diff *out;
    bool failed;
};

/* Slots of sentences: a promise of the good run, or of the bad one; d must be in scope. */
#define GOOD(name, promise) PROMISE_OF(d->good->m, name, promise)
#define BAD(name, promise) PROMISE_OF(d->bad->m, name, promise)

enum analyse_ending analyse_ending_of(const struct weft_model *m, uint32_t promise);

/* relevant.c: called after the changes are found and marked, and after what takes longer. */
void analyse_find_relevant(struct analyse_differ *d);

/* How much it matters how a promise ends. 3: it should resolve; 2: somebody waits for it, or it
 * waits; 1: it has nothing to do with others. _of: for a promise that both runs have, the larger of
 * the two. */
unsigned analyse_weight_in(const struct weft_history *h, uint32_t promise);
unsigned analyse_weight_of(const struct analyse_differ *d, uint32_t good);

/* Returns true if a promise that ended differently ended worse in one run (h) than in the other. */
bool analyse_ended_worse(const struct weft_history *h, uint32_t promise,
                         const struct weft_history *than, uint32_t other);

/* diff.c: returns true if another good run lacks the promise, though its creator is there. */
bool analyse_dispensable(const struct analyse_differ *d, uint32_t good);

/* orders.c: called after the divergence is found. */
void analyse_find_orders(struct analyse_differ *d);

/* diverge.c: called after the relevant promises are found. */
void analyse_find_divergence(struct analyse_differ *d);

/* swapped.c: called after the changes are found. */
void analyse_find_swapped(struct analyse_differ *d);

/* latency.c, running.c */
void analyse_find_latencies(struct analyse_differ *d);
void analyse_find_running(struct analyse_differ *d);

#endif
