/* SPDX-License-Identifier: ISC */
/* Hash tables over arrays whose items have 32-bit indices. What is hashed comes from a file, so callers mix it with a
 * seed (base/hash.h).
 *
 *     uint32_t number = weft_table_put(&t, &node, &nodes, &room, sizeof *node, hash_node, same_node, &key, seed);
 *     if (number == UINT32_MAX)
 *         return WEFT_E_NOMEM;
 *
 * Where the key is no item, or the item has a twin in another array: weft_table_reserve, then weft_table_find. */
#ifndef WEFT_BASE_TABLE_H
#define WEFT_BASE_TABLE_H

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

/* Returns true if the item with that index is the one looked for. */
typedef bool weft_same_fn(const void *array, uint32_t item, const void *key);
typedef uint64_t weft_hash_fn(const void *array, uint32_t item, uint64_t seed);

/* The slot of key, or the free one where it belongs. The table has room. */
static inline uint32_t *weft_table_find(const struct weft_table *t, uint64_t hash,
                                        weft_same_fn *same, const void *array, const void *key)
{
    uint64_t i = hash & (t->room - 1);
    while (t->slot[i] && !same(array, t->slot[i] - 1, key))
        i = (i + 1) & (t->room - 1);
    return &t->slot[i];
}

/* Makes room for one item more than count, which are entered again if the table grows, or had been dropped.
 * false: no memory; the table is then as it was. */
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

/* The index of the item that is the same as this one; where there is none, a copy of it is added to the array, of count
 * items and room for more of these bytes. UINT32_MAX: no memory. So many arguments, because a struct of them would be
 * longer at each place, and the functions would not be inlined. */
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

static inline void weft_table_drop(struct weft_table *t)
{
    free(t->slot);
    *t = (struct weft_table){.room = 0};
}

#endif
