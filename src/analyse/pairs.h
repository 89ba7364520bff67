/* SPDX-License-Identifier: ISC */
/* Numbers pairs of numbers in the order in which they are first added. Internal to analyse. */
#ifndef WEFT_ANALYSE_PAIRS_H
#define WEFT_ANALYSE_PAIRS_H

#include <stdint.h>

struct analyse_pairs {
    struct analyse_pair {
        uint32_t a, b;
    } * pair;
    uint32_t count, room;
    uint32_t *slot, mask; /* open addressing: numbers of pairs, or WEFT_NONE */
    uint64_t seed;
};

/* WEFT_NONE: no memory. */
uint32_t analyse_pairs_add(struct analyse_pairs *p, uint32_t a, uint32_t b);
void analyse_pairs_fini(struct analyse_pairs *p);

#endif
