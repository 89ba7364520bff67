/* SPDX-License-Identifier: ISC */
/* Numbers pairs of numbers in the order in which they are first added. Internal to analyse. */
#pragma once

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

/* WEFT_NONE: no memory. */
static inline uint32_t analyse_pairs_add(struct analyse_pairs *p, uint32_t a, uint32_t b)
{
    const struct analyse_pair pair = {a, b};
    p->seed = p->count ? p->seed : weft_seed();
    return weft_table_add(&p->by, &p->pair, &p->count, &p->room, sizeof pair, sizeof pair, &pair,
                          p->seed);
}

/* WEFT_NONE: it was not added. */
static inline uint32_t analyse_pairs_find(const struct analyse_pairs *p, uint32_t a, uint32_t b)
{
    const struct analyse_pair pair = {a, b};
    return weft_table_get(&p->by, p->pair, sizeof pair, sizeof pair, &pair, p->seed);
}

static inline void analyse_pairs_fini(struct analyse_pairs *p)
{
    weft_free_all(p->pair, p->by.slot);
    *p = (struct analyse_pairs){.count = 0};
}
