/* SPDX-License-Identifier: ISC */
#include "analyse/pairs.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/model.h"
#include "base/hash.h"

static uint32_t *pair_slot(const struct analyse_pairs *p, uint32_t a, uint32_t b)
{
    for (uint64_t at = weft_mix((uint64_t)a << 32 | b, p->seed);; at++) {
        uint32_t *slot = &p->slot[at & p->mask];
        if (*slot == WEFT_NONE || (p->pair[*slot].a == a && p->pair[*slot].b == b))
            return slot;
    }
}

static bool grow_pairs(struct analyse_pairs *p)
{
    uint64_t room = p->room ? 2 * (uint64_t)p->room : 32;
    if (room > UINT32_MAX / 2)
        return false;
    struct analyse_pair *pair = weft_resize(p->pair, room, sizeof *pair);
    p->pair = pair ? pair : p->pair;
    uint32_t *slot = pair ? weft_resize(NULL, 2 * room, sizeof *slot) : NULL;
    if (!slot)
        return false;
    memset(slot, 0xff, 2 * (size_t)room * sizeof *slot);
    free(p->slot);
    p->slot = slot;
    p->mask = (uint32_t)(2 * room - 1);
    p->seed = p->room ? p->seed : weft_seed();
    p->room = (uint32_t)room;
    for (uint32_t i = 0; i < p->count; i++)
        *pair_slot(p, pair[i].a, pair[i].b) = i;
    return true;
}

uint32_t analyse_pairs_add(struct analyse_pairs *p, uint32_t a, uint32_t b)
{
    if (p->count == p->room && !grow_pairs(p))
        return WEFT_NONE;
    uint32_t *slot = pair_slot(p, a, b);
    if (*slot == WEFT_NONE) {
        p->pair[p->count] = (struct analyse_pair){a, b};
        *slot = p->count++;
    }
    return *slot;
}

void analyse_pairs_fini(struct analyse_pairs *p)
{
    free(p->pair);
    free(p->slot);
    *p = (struct analyse_pairs){0};
}
