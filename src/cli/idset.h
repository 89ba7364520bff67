/* SPDX-License-Identifier: ISC */
/* Counts distinct promises. A hash table of 64-bit words of a bitmap: numbers that were assigned one after another take
 * a quarter of a byte each and stay in the cache; scattered ones take 32 bytes.
 *
 *     struct idset set = {0};
 *     if (idset_init(&set) && idset_add(&set, id))
 *         n = idset_count(&set);
 *     idset_fini(&set); */
#ifndef WEFT_CLI_IDSET_H
#define WEFT_CLI_IDSET_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/hash.h"

struct idset_word {
    uint64_t number; /* id / 64 */
    uint64_t bits;   /* 0: the place is free */
};

#define IDSET_RECENT 512

struct idset {
    struct idset_word *word;
    uint64_t mask, used, seed;
    struct idset_word *recent[IDSET_RECENT]; /* by number: where it was last found, never NULL */
};

static inline bool idset_resize(struct idset *s, uint64_t places);

static inline bool idset_init(struct idset *s)
{
    *s = (struct idset){.seed = weft_seed()};
    return idset_resize(s, 1024);
}

static inline void idset_fini(struct idset *s)
{
    free(s->word);
    s->word = NULL;
}

/* The place that holds a word, or the free place where it belongs. Words of neighbouring ids are neighbours. */
static inline struct idset_word *idset_place(const struct idset *s, uint64_t number)
{
    uint64_t i = (weft_mix(number >> 2, s->seed) << 2 | (number & 3)) & s->mask;
    while (s->word[i].bits && s->word[i].number != number)
        i = (i + 1) & s->mask;
    return &s->word[i];
}

static inline bool idset_resize(struct idset *s, uint64_t places)
{
    struct idset old = *s;
    s->word = calloc(places, sizeof *s->word);
    if (!s->word) {
        s->word = old.word;
        return false;
    }
    s->mask = places - 1;
    for (uint64_t i = 0; old.word && i <= old.mask; i++)
        if (old.word[i].bits)
            *idset_place(s, old.word[i].number) = old.word[i];
    free(old.word);
    for (unsigned i = 0; i < IDSET_RECENT; i++)
        s->recent[i] = s->word;
    return true;
}

/* Adds an id. False: no memory. */
static inline bool idset_add(struct idset *s, uint64_t id)
{
    uint64_t number = id >> 6;
    struct idset_word *w = s->recent[number % IDSET_RECENT];
    if (w->number != number || !w->bits) {
        w = idset_place(s, number);
        if (!w->bits) {
            if (s->used * 2 > s->mask) {
                if (!idset_resize(s, (s->mask + 1) * 2))
                    return false;
                w = idset_place(s, number);
            }
            w->number = number;
            s->used++;
        }
        s->recent[number % IDSET_RECENT] = w;
    }
    w->bits |= UINT64_C(1) << (id & 63);
    return true;
}

static inline uint64_t idset_count(const struct idset *s)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i <= s->mask; i++)
        n += (uint64_t)__builtin_popcountll(s->word[i].bits);
    return n;
}

#endif
