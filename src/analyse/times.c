/* SPDX-License-Identifier: ISC */
#include "analyse/times.h"
#include "base/order.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)

/* Sorts times by one digit of their difference to least. */
static void sort_digit(int64_t *to, const int64_t *from, size_t count, int64_t least,
                       unsigned shift)
{
    size_t place[DIGITS] = {0}, sum = 0;
    for (size_t i = 0; i < count; i++)
        place[(uint64_t)(from[i] - least) >> shift & (DIGITS - 1)]++;
    for (unsigned d = 0; d < DIGITS; d++) {
        size_t n = place[d];
        place[d] = sum;
        sum += n;
    }
    for (size_t i = 0; i < count; i++)
        to[place[(uint64_t)(from[i] - least) >> shift & (DIGITS - 1)]++] = from[i];
}

void analyse_sort_times(int64_t *time, size_t count, int64_t *spare)
{
    int64_t least = count ? time[0] : 0, most = least;
    bool sorted = true;
    for (size_t i = 1; i < count; i++) {
        sorted &= time[i - 1] <= time[i];
        least = time[i] < least ? time[i] : least;
        most = time[i] > most ? time[i] : most;
    }
    if (sorted)
        return;
    if (count < DIGITS) {
        qsort(time, count, sizeof *time, weft_order_i64);
        return;
    }
    int64_t *from = time,
            *to = spare; /* lengths and times are within 2^62, so their differences fit */
    for (unsigned shift = 0; shift < 64 && (uint64_t)(most - least) >> shift; shift += DIGIT_BITS) {
        sort_digit(to, from, count, least, shift);
        int64_t *other = from;
        from = to;
        to = other;
    }
    if (from != time)
        memcpy(time, from, count * sizeof *time);
}
