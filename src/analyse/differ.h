/* SPDX-License-Identifier: ISC */
/* What the parts of a comparison share. Internal to analyse.
 * A kind is a type together with a label, ignoring numbers in the label. A clan is a kind together
 * with the clan of the creator: it is what promises do in the program, however often the program
 * runs them. If something creates its own kind again (a loop written as a recursion), that is the
 * same clan. Kinds and clans have the same numbers in all runs. */
#pragma once

#include "analyse/diff.h"
#include "analyse/pairs.h"
#include "analyse/sentence.h"
#include "model/strings.h"

/* ---- Alignment: align.c ---- */

struct analyse_side {
    const struct weft_history *h;
    uint32_t *kind;  /* by promise; the loop has 0 */
    uint32_t *clan;  /* by promise; the loop has 0; WEFT_NONE if the creators are a circle */
    uint32_t *label; /* by text of the model that is a label: its number in texts */
    /* a run of mirage-profile's is compared with one of weft's, or the other way round */
    bool as_mirage;
    analyse_name_fn *name_of; /* the text that identifies a promise */
    /* Children by creator; as_mirage: by the closest creator that the other format has, too. under
     * says, by promise, which one that is. */
    uint32_t *under, *child_first, *child;
};

struct analyse_sides {
    struct analyse_side *side;
    uint32_t count;
    struct weft_strings *texts;
    struct analyse_pairs kinds; /* number of the type, number of the label's shape or WEFT_NONE */
    struct analyse_pairs clans; /* clan of the creator, kind */
};

/* The good runs, then the bad one. false: no memory. */
bool analyse_sides_init(struct analyse_sides *s, const struct weft_history *const *good,
                        uint32_t goods, const struct weft_history *bad);
void analyse_sides_fini(struct analyse_sides *s);

/* Finds the counterparts in run b of the promises of run a, and the other way round, or WEFT_NONE.
 * It goes from the loop downwards, and compares the children of counterparts. Promises with equal
 * labels are matched first, in their order; then the rest of each kind, in order; then pending ones
 * that have no label yet; then those with equal labels but different types. WEFT_ROOT: the other
 * run's format has no promise for it. The caller frees both. false: no memory; both are NULL. */
bool analyse_align(const struct analyse_sides *s, uint32_t a, uint32_t b, uint32_t **b_of_a,
                   uint32_t **a_of_b);

/* ---- Comparison ---- */

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
    struct analyse_sides sides;         /* the good runs, then the bad one */
    const struct analyse_side *side[2]; /* the first good one, the bad one */
    uint32_t goods;
    const struct weft_history *good, *bad;
    uint32_t **other; /* by further good run, from 1 on: counterparts of the first's promises */
    uint32_t *bad_of_good, *good_of_bad;
    struct analyse_clan *clan;
    /* the kinds in the first good run and in the bad one, as families; `of` is the side's */
    struct analyse_families kinds[2];
    uint8_t *mark, *bad_mark; /* by promise of the first good run, and by promise of the bad run */
    struct weft_diff *out;
    bool failed;
};

/* Slots of sentences: a promise of the good run, or of the bad one; d must be in scope. */
#define GOOD(name, promise) PROMISE_OF(d->good->m, name, promise)
#define BAD(name, promise) PROMISE_OF(d->bad->m, name, promise)

static inline struct analyse_clan *analyse_clan_of(const struct analyse_differ *d, unsigned which,
                                                   uint32_t promise)
{
    return &d->clan[d->side[which]->clan[promise]];
}

enum analyse_ending analyse_ending_of(const struct weft_model *m, uint32_t promise);

/* relevant.c: called after the changes are found and marked, and after what takes longer. */
void analyse_find_relevant(struct analyse_differ *d);

/* How much it matters how a promise ends. 3: it should resolve; 2: somebody waits for it, or it
 * waits; 1: it has nothing to do with others. _of: in both runs, the larger of the two. */
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

/* latency.c */
void analyse_find_latencies(struct analyse_differ *d);
void analyse_find_running(struct analyse_differ *d);

/* ---- Where a bad run diverges: found in diverge.c, described in parting.c ---- */

/* diverge.c explains them; if two have the same time, the first in this list is reported */
enum analyse_part {
    ANALYSE_SWAPPED,
    ANALYSE_UNSIGNALLED,
    ANALYSE_ENDING,
    ANALYSE_EXTRA_WAIT,
    ANALYSE_NO_WAIT,
    ANALYSE_UNREAD,
    ANALYSE_UNRESOLVED,
    ANALYSE_MISSING,
    ANALYSE_ADDED,
    ANALYSE_SLOWER,
    ANALYSE_OTHER_ACTOR,
    ANALYSE_BLOCKER
};

/* Something that happened to a promise in both runs; it need not be exactly the same thing. */
struct analyse_moment {
    uint32_t good, bad;      /* promises, or WEFT_NONE */
    int64_t good_ns, bad_ns; /* INT64_MIN: it did not happen */
    enum analyse_happening { ANALYSE_RESOLVED, ANALYSE_NOTIFIED, ANALYSE_WAITED } is, bad_is;
};

struct analyse_parting {
    enum analyse_part what;
    int64_t when_ns; /* in the bad run */
    /* SWAPPED: as in the good run; UNSIGNALLED, EXTRA_WAIT: wait, signal; others: early only */
    struct analyse_moment early, late;
    uint32_t reader_good, reader_bad; /* SWAPPED, UNSIGNALLED, EXTRA_WAIT, NO_WAIT: who waits */
    struct analyse_moment wait;       /* SWAPPED: the wait, before it was followed back */
    uint32_t rank; /* EXTRA_WAIT: how many earlier waits for the same thing there were */
    /* WEFT_ROOT, or the promise of the bad run that ended, or took another way, because of it */
    uint32_t then;
};

static inline int64_t analyse_start_ns(const struct weft_history *h, uint32_t promise)
{
    return h->m->promise[promise].start_ns;
}

/* When what a promise became ended; if that is pending, its last sign of life or the trace's end. */
static inline int64_t analyse_final_end_ns(const struct weft_history *h, uint32_t promise)
{
    return h->m->promise[weft_model_final(h->m, promise)].end_ns;
}

/* Why a promise ran: what it read, or who signalled it, or WEFT_NONE. *at_ns: since when it ran. */
uint32_t analyse_woken_by(const struct weft_history *h, uint32_t promise, int64_t time_ns,
                          int64_t *at_ns);

/* Who resolved a promise (or WEFT_NONE); WEFT_NONE: the loop, the promise itself, or nobody. */
uint32_t analyse_resolver_of(const struct weft_history *h, uint32_t promise);

/* Describes where they diverge; the caller frees the text. NULL: no memory, or nothing to say. */
char *analyse_say_parting(struct analyse_differ *d, const struct analyse_parting *c);
