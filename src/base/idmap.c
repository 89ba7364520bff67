/* SPDX-License-Identifier: ISC */
#include "base/idmap.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/table.h"

enum { BLOCK_BITS = 4, BLOCK = 1 << BLOCK_BITS, RECENT = 1024 };

/* The values of a block of ids, which differ only in their last bits. Ids mostly get their values in ascending order;
 * then one number describes the whole block. Otherwise the values are stored in a list. */
struct block {
    uint64_t key;     /* id >> BLOCK_BITS */
    uint32_t at;      /* value of the first id, modulo 2^32; or the number of the list */
    uint16_t present; /* unless it has a list: which ids have a value */
    bool listed;
};

struct weft_idmap {
    struct weft_table by; /* blocks by their keys */
    struct block *block;
    uint32_t blocks, blocks_room;
    uint32_t *list; /* BLOCK values per list */
    uint32_t lists, lists_room;
    uint64_t seed;
    uint32_t recent[RECENT]; /* recently used blocks, by their keys' last bits */
};

/* Neighbours share a cache line. */
static uint64_t hash_of(uint64_t key, uint64_t seed)
{
    return weft_mix(key >> 2, seed) << 2 | (key & 3);
}

static uint64_t hash_of_block(const void *blocks, uint32_t block, uint64_t seed)
{
    return hash_of(((const struct block *)blocks)[block].key, seed);
}

static bool has_key(const void *blocks, uint32_t block, const void *key)
{
    return ((const struct block *)blocks)[block].key == *(const uint64_t *)key;
}

/* The slot that holds key, or the free slot where it belongs. */
static uint32_t *find(const struct weft_idmap *map, uint64_t key)
{
    return weft_table_find(&map->by, hash_of(key, map->seed), has_key, map->block, &key);
}

struct weft_idmap *weft_idmap_new(void)
{
    struct weft_idmap *map = calloc(1, sizeof *map);
    if (!map)
        return NULL;
    map->seed = weft_seed();
    if (!weft_table_reserve(&map->by, NULL, 0, hash_of_block, map->seed)) {
        free(map);
        return NULL;
    }
    return map;
}

void weft_idmap_free(struct weft_idmap *map)
{
    if (!map)
        return;
    weft_table_drop(&map->by);
    weft_free_all(map->block, map->list, map);
}

/* The block of id, created if it does not exist. NULL: no memory. */
static struct block *block_of(struct weft_idmap *map, uint64_t id)
{
    uint64_t key = id >> BLOCK_BITS;
    uint32_t *recent = &map->recent[key % RECENT];
    if (map->blocks && map->block[*recent].key == key)
        return &map->block[*recent];
    if (!weft_table_reserve(&map->by, map->block, map->blocks, hash_of_block, map->seed))
        return NULL;
    uint32_t *slot = find(map, key);
    if (!*slot) {
        if (!weft_reserve(&map->block, map->blocks, &map->blocks_room, sizeof *map->block))
            return NULL;
        map->block[map->blocks] = (struct block){.key = key};
        *slot = ++map->blocks;
    }
    *recent = *slot - 1;
    return &map->block[*recent];
}

static uint32_t value(const struct weft_idmap *map, const struct block *b, uint64_t id)
{
    uint32_t i = id & (BLOCK - 1);
    if (b->listed)
        return map->list[(size_t)b->at * BLOCK + i];
    return b->present >> i & 1 ? b->at + i : WEFT_IDMAP_NONE;
}

static bool make_list(struct weft_idmap *map, struct block *b)
{
    if (b->listed)
        return true;
    if (!weft_reserve(&map->list, map->lists, &map->lists_room, BLOCK * sizeof *map->list))
        return false;
    for (uint32_t i = 0; i < BLOCK; i++)
        map->list[(size_t)map->lists * BLOCK + i] = value(map, b, i);
    b->at = map->lists++;
    b->listed = true;
    return true;
}

uint32_t *weft_idmap_at(struct weft_idmap *map, uint64_t id)
{
    struct block *b = block_of(map, id);
    return b && make_list(map, b) ? map->list + (size_t)b->at * BLOCK + (id & (BLOCK - 1)) : NULL;
}

bool weft_idmap_put(struct weft_idmap *map, uint64_t id, uint32_t number)
{
    struct block *b = block_of(map, id);
    uint32_t i = id & (BLOCK - 1);
    if (!b)
        return false;
    if (!b->listed && !b->present)
        b->at = number - i;
    if (!b->listed && b->at + i == number && number != WEFT_IDMAP_NONE) {
        b->present |= (uint16_t)(1u << i);
        return true;
    }
    if (!make_list(map, b))
        return false;
    map->list[(size_t)b->at * BLOCK + i] = number;
    return true;
}

uint32_t weft_idmap_seek(struct weft_idmap *map, uint64_t id)
{
    uint64_t key = id >> BLOCK_BITS;
    uint32_t *recent = &map->recent[key % RECENT];
    if (!map->blocks || map->block[*recent].key != key) {
        uint32_t block = *find(map, key);
        if (!block)
            return WEFT_IDMAP_NONE;
        *recent = block - 1;
    }
    return value(map, &map->block[*recent], id);
}

uint32_t weft_idmap_get(const struct weft_idmap *map, uint64_t id)
{
    uint32_t block = *find(map, id >> BLOCK_BITS);
    return block ? value(map, &map->block[block - 1], id) : WEFT_IDMAP_NONE;
}
