/* SPDX-License-Identifier: ISC */
/* Sorting and adding many times. Internal to analyse. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Sorts count times in ascending order. spare must have the same size. Linear if there are many. */
void analyse_sort_times(int64_t *time, size_t count, int64_t *spare);

/* Adds to a sum, which is capped at INT64_MAX. */
static inline void analyse_add(int64_t *sum, int64_t n)
{
    if (__builtin_add_overflow(*sum, n, sum))
        *sum = INT64_MAX;
}
