/* SPDX-License-Identifier: ISC */
/* What sorting and looking in sorted lists has in common; inside of analyse. */
#ifndef WEFT_ANALYSE_ORDER_H
#define WEFT_ANALYSE_ORDER_H

#include <stdint.h>

/* At the end of a function for qsort; and before that, in order of weight: it returns there if they differ. */
static inline int weft__order(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}
#define WEFT__ORDER(a, b)                                                                          \
    do {                                                                                           \
        if ((a) != (b))                                                                            \
            return (a) < (b) ? -1 : 1;                                                             \
    } while (0)

/* Moves low up to the first place before high for which that, an expression of middle, does not hold; changes high. */
#define WEFT__SEEK(low, high, holds)                                                               \
    while ((low) < (high)) {                                                                       \
        const uint32_t middle = (low) + ((high) - (low)) / 2;                                      \
        if (holds)                                                                                 \
            (low) = middle + 1;                                                                    \
        else                                                                                       \
            (high) = middle;                                                                       \
    }

#endif
