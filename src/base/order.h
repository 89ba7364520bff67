/* SPDX-License-Identifier: ISC */
/* Comparing for qsort, and binary search.
 *
 *     static int by_start(const void *a, const void *b)
 *     {
 *         const struct span *x = a, *y = b;
 *         WEFT_ORDER(x->stream, y->stream);
 *         return weft_order(x->start_ns, y->start_ns);
 *     }
 *
 *     uint32_t low = 0, high = spans;
 *     WEFT_SEEK(low, high, span[middle].start_ns < time_ns);
 * return low;  (the first span that starts at time_ns or later)
 */
#pragma once

#include <stdint.h>
#include <stdlib.h>

/* Negative, 0 or positive if a is less than, equal to or greater than b: two numbers of one type, or pointers into one
 * array. Evaluates each argument twice. */
#define weft_order(a, b) (((a) > (b)) - ((a) < (b)))

/* For a comparison with several keys: returns if these two differ. */
#define WEFT_ORDER(a, b)                                                                           \
    do {                                                                                           \
        if ((a) != (b))                                                                            \
            return (a) < (b) ? -1 : 1;                                                             \
    } while (0)

static inline int64_t weft_later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}
static inline int64_t weft_earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Binary search: moves low up to the first place below high where `holds`, an expression of `middle`, is false; changes
 * high. Once `holds` is false for a place, it must be false for all later places. */
#define WEFT_SEEK(low, high, holds)                                                                \
    while ((low) < (high)) {                                                                       \
        const __typeof__(low) middle = (low) + ((high) - (low)) / 2;                               \
        if (holds)                                                                                 \
            (low) = middle + 1;                                                                    \
        else                                                                                       \
            (high) = middle;                                                                       \
    }

/* For qsort and bsearch over plain numbers. */
static inline int weft_order_u32(const void *a, const void *b)
{
    return weft_order(*(const uint32_t *)a, *(const uint32_t *)b);
}
static inline int weft_order_u64(const void *a, const void *b)
{
    return weft_order(*(const uint64_t *)a, *(const uint64_t *)b);
}
static inline int weft_order_i64(const void *a, const void *b)
{
    return weft_order(*(const int64_t *)a, *(const int64_t *)b);
}

/* qsort, which must not be called for an array that is not there: here no items may be at NULL. */
static inline void weft_sort(void *items, size_t count, size_t bytes,
                             int (*compare)(const void *a, const void *b))
{
    if (count)
        qsort(items, count, bytes, compare);
}
