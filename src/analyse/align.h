/* SPDX-License-Identifier: ISC */
/* Several runs side by side: which promises are of one sort, and which are each other's counterparts; inside of
 * analyse.
 *
 * A kind is a type and a label but for its numbers. A clan is a kind, and the clan of the creator: what
 * promises do in the program, however often it runs them. Where something creates its own kind again (a loop
 * that is written as a recursion), that is the same clan. Kinds and clans have the same numbers in all runs. */
#ifndef WEFT_ANALYSE_ALIGN_H
#define WEFT_ANALYSE_ALIGN_H

#include "analyse/history.h"
#include "analyse/pairs.h"
#include "model/strings.h"

struct analyse_side {
    const struct weft_history *h;
    uint32_t *kind;  /* by promise; 0 is the loop's */
    uint32_t *clan;  /* by promise; 0 is the loop's; WEFT_NONE where the creators are a circle */
    uint32_t *label; /* by text of the model that is a label: its number in texts */
    bool
        as_mirage; /* it is compared with one of mirage-profile's, or is one and is compared with one of weft's */
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

/* The counterparts in run b of the promises of run a, and the other way round, or WEFT_NONE: from the loop
 * downwards, among those of counterparts; where labels are equal, in their order, then the rest of a
 * kind in its order, then what is pending and has no label yet, then where labels are equal though the types
 * are not. WEFT_ROOT: the other one's format has no promise for it. The caller frees both. Returns 0 or WEFT_E_NOMEM. */
int analyse_align(const struct analyse_sides *s, uint32_t a, uint32_t b, uint32_t **b_of_a,
                  uint32_t **a_of_b);

#endif
