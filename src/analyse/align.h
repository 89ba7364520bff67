/* SPDX-License-Identifier: ISC */
/* Aligns several runs: finds which promises are of one sort, and which are each other's
 * counterparts. Internal to analyse.
 * A kind is a type together with a label, ignoring numbers in the label. A clan is a kind together
 * with the clan of the creator: it is what promises do in the program, however often the program
 * runs them. If something creates its own kind again (a loop written as a recursion), that is the
 * same clan. Kinds and clans have the same numbers in all runs. */
#ifndef WEFT_ANALYSE_ALIGN_H
#define WEFT_ANALYSE_ALIGN_H

#include "analyse/history.h"
#include "analyse/names.h"
#include "analyse/pairs.h"
#include "model/strings.h"

struct analyse_side {
    const struct weft_history *h;
    uint32_t *kind;  /* by promise; the loop has 0 */
    uint32_t *clan;  /* by promise; the loop has 0; WEFT_NONE if the creators are a circle */
    uint32_t *label; /* by text of the model that is a label: its number in texts */
    /* a run of mirage-profile's is compared with one of weft's, or the other way round */
    bool as_mirage;
    analyse_name_fn *name_of; /* the text that identifies a promise */
    /* Children by creator. as_mirage: those of a promise that the other format does not have count
     * as those of the closest creator that it has; under says which, and the lists are the side's. */
    const uint32_t *child_first, *child;
    uint32_t *under, *own_first, *own;
};

struct analyse_sides {
    struct analyse_side *side;
    uint32_t count;
    struct weft_strings *texts;
    struct analyse_pairs kinds; /* number of the type, number of the label's shape or WEFT_NONE */
    struct analyse_pairs clans; /* clan of the creator, kind */
};

/* Returns 0 or WEFT_E_NOMEM. */
int analyse_sides_init(struct analyse_sides *s, const struct weft_history *const *h,
                       uint32_t count);
void analyse_sides_fini(struct analyse_sides *s);

/* Finds the counterparts in run b of the promises of run a, and the other way round, or WEFT_NONE.
 * It goes from the loop downwards, and compares the children of counterparts. Promises with equal
 * labels are matched first, in their order; then the rest of each kind, in order; then pending ones
 * that have no label yet; then those with equal labels but different types. WEFT_ROOT: the other
 * run's format has no promise for it. The caller frees both. Returns 0 or WEFT_E_NOMEM. */
int analyse_align(const struct analyse_sides *s, uint32_t a, uint32_t b, uint32_t **b_of_a,
                  uint32_t **a_of_b);

#endif
