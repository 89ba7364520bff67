/* SPDX-License-Identifier: ISC */
/* Products of 128 bits. Not every compiler has such numbers on 32-bit machines, where the tests of
 * the recorder read traces. A result that does not fit becomes UINT64_MAX. */
#pragma once

#include <stdint.h>

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 wide;

/* a · b / c; c must not be 0. */
static inline uint64_t wide_scaled(uint64_t a, uint64_t b, uint64_t c)
{
    const wide n = (wide)a * b / c;
    return n < UINT64_MAX ? (uint64_t)n : UINT64_MAX;
}

/* (a · b + add) >> shift; shift must be less than 64. */
static inline uint64_t wide_shifted(uint64_t a, uint64_t b, uint64_t add, unsigned shift)
{
    const wide n = ((wide)a * b + add) >> shift;
    return n < UINT64_MAX ? (uint64_t)n : UINT64_MAX;
}
#else
struct wide {
    uint64_t high, low;
};

static inline struct wide wide_product(uint64_t a, uint64_t b, uint64_t add)
{
    const uint64_t low_a = a & UINT32_MAX, low_b = b & UINT32_MAX, cross = (a >> 32) * low_b,
                   low = low_a * low_b,
                   middle = low_a * (b >> 32) + (low >> 32) + (cross & UINT32_MAX);
    struct wide n = {(a >> 32) * (b >> 32) + (cross >> 32) + (middle >> 32),
                     middle << 32 | (low & UINT32_MAX)};
    n.low += add;
    n.high += n.low < add;
    return n;
}

static inline uint64_t wide_scaled(uint64_t a, uint64_t b, uint64_t c)
{
    struct wide n = wide_product(a, b, 0);
    if (n.high >= c)
        return UINT64_MAX;
    for (int bit = 0; bit < 64; bit++) {
        const uint64_t out = n.high >> 63;
        n.high = n.high << 1 | n.low >> 63;
        n.low <<= 1;
        if (out || n.high >= c) {
            n.high -= c;
            n.low |= 1;
        }
    }
    return n.low;
}

static inline uint64_t wide_shifted(uint64_t a, uint64_t b, uint64_t add, unsigned shift)
{
    const struct wide n = wide_product(a, b, add);
    if (n.high >> shift)
        return UINT64_MAX;
    return shift ? n.high << (64 - shift) | n.low >> shift : n.low;
}
#endif
