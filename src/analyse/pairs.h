/* SPDX-License-Identifier: ISC */
/* Numbers pairs of numbers in the order in which they are first added. Internal to analyse. */
#ifndef WEFT_ANALYSE_PAIRS_H
#define WEFT_ANALYSE_PAIRS_H

#include "base/table.h"

struct analyse_pair {
    uint32_t a, b;
};

/* All zero: empty. */
struct analyse_pairs {
    struct analyse_pair *pair;
    uint32_t count, room;
    struct weft_table by;
    uint64_t seed;
};

static inline uint64_t analyse_pair_hash(const void *pairs, uint32_t number, uint64_t seed)
{
    const struct analyse_pair *p = pairs;
    return weft_mix((uint64_t)p[number].a << 32 | p[number].b, seed);
}

static inline bool analyse_pair_is(const void *pairs, uint32_t number, const void *key)
{
    return memcmp((const struct analyse_pair *)pairs + number, key, sizeof(struct analyse_pair)) ==
           0;
}

/* WEFT_NONE: no memory. */
static inline uint32_t analyse_pairs_add(struct analyse_pairs *p, uint32_t a, uint32_t b)
{
    const struct analyse_pair pair = {a, b};
    p->seed = p->count ? p->seed : weft_seed();
    return weft_table_put(&p->by, &p->pair, &p->count, &p->room, sizeof pair, analyse_pair_hash,
                          analyse_pair_is, &pair, p->seed);
}

/* WEFT_NONE: it was not added. */
static inline uint32_t analyse_pairs_find(const struct analyse_pairs *p, uint32_t a, uint32_t b)
{
    const struct analyse_pair pair = {a, b};
    const uint64_t hash = analyse_pair_hash(&pair, 0, p->seed);
    return p->count ? *weft_table_find(&p->by, hash, analyse_pair_is, p->pair, &pair) - 1
                    : UINT32_MAX;
}

static inline void analyse_pairs_fini(struct analyse_pairs *p)
{
    weft_free_all(p->pair, p->by.slot);
    *p = (struct analyse_pairs){.count = 0};
}

#endif
