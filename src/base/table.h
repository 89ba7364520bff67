/* SPDX-License-Identifier: ISC */
/* Hash tables over arrays whose items have 32-bit indices. The hashed values come from a file, so callers mix in a seed
 * (base/hash.h).
 *
 *     uint32_t number = weft_table_put(&t, &node, &nodes, &room, sizeof *node, hash_node, same_node, &key, seed);
 *     if (number == UINT32_MAX)
 *         return WEFT_E_NOMEM;
 *
 * If the key is not an item, or a second array runs parallel to the items, call weft_table_reserve, then
 * weft_table_find. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

struct weft_table {
    uint32_t *slot; /* open addressing, at most half full: index plus 1; 0: free */
    uint64_t room;  /* a power of two; 0: no table yet */
};

/* Returns true if the item at `index` equals the key. */
typedef bool weft_same_fn(const void *array, uint32_t item, const void *key);
typedef uint64_t weft_hash_fn(const void *array, uint32_t item, uint64_t seed);

/* The slot that holds key, or the free slot where it belongs. The table must have room. */
static inline uint32_t *weft_table_find(const struct weft_table *t, uint64_t hash,
                                        weft_same_fn *same, const void *array, const void *key)
{
    uint64_t i = hash & (t->room - 1);
    while (t->slot[i] && !same(array, t->slot[i] - 1, key))
        i = (i + 1) & (t->room - 1);
    return &t->slot[i];
}

/* Makes room for one more item than `count`. If the table grows, or was dropped, the items are entered again. false: no
 * memory; the table is then unchanged. */
static inline bool weft_table_reserve(struct weft_table *t, const void *array, uint32_t count,
                                      weft_hash_fn *hash, uint64_t seed)
{
    if ((uint64_t)count + 1 <= t->room / 2)
        return true;
    uint64_t room = t->room ? t->room : 64;
    while ((uint64_t)count + 1 > room / 2)
        room *= 2;
    uint32_t *slot = weft_resize(t->slot, room, sizeof *slot);
    if (!slot)
        return false;
    memset(slot, 0, (size_t)room * sizeof *slot);
    for (uint32_t item = 0; item < count; item++) {
        uint64_t i = hash(array, item, seed) & (room - 1);
        while (slot[i])
            i = (i + 1) & (room - 1);
        slot[i] = item + 1;
    }
    t->slot = slot;
    t->room = room;
    return true;
}

/* The index of the item that equals this one. If there is none, a copy is added to the array, which holds `count` items
 * of `bytes` bytes and has room for `room`. UINT32_MAX: no memory. It takes this many arguments because an options
 * struct would make every call longer and would keep the functions from being inlined. */
static inline uint32_t weft_table_put(struct weft_table *t, void *array, uint32_t *count,
                                      uint32_t *room, size_t bytes, weft_hash_fn *hash,
                                      weft_same_fn *same, const void *item, uint64_t seed)
{
    void **items = array;
    if (!weft_table_reserve(t, *items, *count, hash, seed) ||
        !weft_reserve(items, *count, room, bytes))
        return UINT32_MAX;
    uint32_t *slot = weft_table_find(t, hash(item, 0, seed), same, *items, item);
    if (!*slot) {
        memcpy((char *)*items + *count * bytes, item, bytes);
        *slot = ++*count;
    }
    return *slot - 1;
}

/* ---- The same for items that are equal if their first `key` bytes are, which have no padding ---- */

static inline uint64_t weft_table_hash(const void *item, size_t key, uint64_t seed)
{
    const char *bytes = item;
    uint64_t hash = seed, word;
    for (; key >= sizeof word; bytes += sizeof word, key -= sizeof word) {
        memcpy(&word, bytes, sizeof word);
        hash = weft_mix(hash ^ word, seed);
    }
    word = 0;
    memcpy(&word, bytes, key);
    return key ? weft_mix(hash ^ word, seed) : hash;
}

/* The slot of an item that equals this one, or a free slot. The table must have room. */
static inline uint32_t *weft_table_slot(const struct weft_table *t, const void *array, size_t bytes,
                                        size_t key, const void *item, uint64_t seed)
{
    uint64_t i = weft_table_hash(item, key, seed) & (t->room - 1);
    while (t->slot[i] && memcmp((const char *)array + (t->slot[i] - 1) * bytes, item, key) != 0)
        i = (i + 1) & (t->room - 1);
    return &t->slot[i];
}

/* The index of the item that equals this one; UINT32_MAX: there is none. */
static inline uint32_t weft_table_get(const struct weft_table *t, const void *array, size_t bytes,
                                      size_t key, const void *item, uint64_t seed)
{
    return t->room ? *weft_table_slot(t, array, bytes, key, item, seed) - 1 : UINT32_MAX;
}

/* Like weft_table_put. */
static inline uint32_t weft_table_add(struct weft_table *t, void *array, uint32_t *count,
                                      uint32_t *room, size_t bytes, size_t key, const void *item,
                                      uint64_t seed)
{
    void **items = array;
    if ((uint64_t)*count + 1 > t->room / 2) {
        struct weft_table grown = {.room = t->room ? 2 * t->room : 64};
        while ((uint64_t)*count + 1 > grown.room / 2)
            grown.room *= 2;
        grown.slot = grown.room > SIZE_MAX / sizeof *grown.slot
                         ? NULL
                         : calloc((size_t)grown.room, sizeof *grown.slot);
        if (!grown.slot)
            return UINT32_MAX;
        for (uint32_t i = 0; i < *count; i++)
            *weft_table_slot(&grown, *items, bytes, key, (char *)*items + i * bytes, seed) = i + 1;
        free(t->slot);
        *t = grown;
    }
    if (!weft_reserve(items, *count, room, bytes))
        return UINT32_MAX;
    uint32_t *slot = weft_table_slot(t, *items, bytes, key, item, seed);
    if (!*slot) {
        memcpy((char *)*items + *count * bytes, item, bytes);
        *slot = ++*count;
    }
    return *slot - 1;
}

static inline void weft_table_drop(struct weft_table *t)
{
    free(t->slot);
    *t = (struct weft_table){.room = 0};
}
