/* SPDX-License-Identifier: ISC */
/* Hashes values that come from a file. A seed that the file's author cannot know is mixed in, so that nobody can write
 * a file whose values all collide. Fuzzers are built with WEFT_SEED, so that each run of theirs is the same. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/random.h>

static inline uint64_t weft_seed(void)
{
#ifdef WEFT_SEED
    return WEFT_SEED;
#else
    uint64_t seed = 0x6a09e667f3bcc908u;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed)
        seed ^= (uintptr_t)&seed;
    return seed;
#endif
}

/* FNV-1a of bytes, going on from `sum`, which is WEFT_HASH_BEGIN at first. The same everywhere and always; so what comes from
 * a file is mixed with a seed before it chooses a place (weft_mix). */
#define WEFT_HASH_BEGIN UINT64_C(0xcbf29ce484222325)
static inline uint64_t weft_hash(uint64_t sum, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ at[i]) * UINT64_C(0x100000001b3);
    return sum;
}

/* Spreads x over all 64 bits (the finalizer of MurmurHash3, keyed). */
static inline uint64_t weft_mix(uint64_t x, uint64_t seed)
{
    x += seed;
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdu;
    x ^= (x >> 33) ^ (seed >> 7);
    x *= 0xc4ceb9fe1a85ec53u;
    return x ^ x >> 33;
}
