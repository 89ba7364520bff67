/* SPDX-License-Identifier: ISC */
#include "base/idmap.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

enum { BLOCK_BITS = 4, BLOCK = 1 << BLOCK_BITS, FIRST_ROOM = 64, RECENT = 1024 };

/* The values of ids that are equal but for the last bits. Ids are mostly given values in their own order, so
 * that one number says them all; others are listed. */
struct block {
    uint64_t key; /* id >> BLOCK_BITS */
    uint32_t at;  /* the value of the first id, modulo 2^32; if listed, the number of the list */
    uint16_t present; /* unless listed: which ids have a value */
    bool listed;
};

struct weft_idmap {
    uint32_t *slot; /* open addressing, at most half full: number of the block plus 1; 0 is free */
    uint64_t room;  /* a power of two */
    struct block *block;
    uint64_t blocks;
    uint32_t blocks_room;
    uint32_t *list; /* BLOCK to a list */
    uint64_t lists;
    uint32_t lists_room;
    uint64_t seed;
    uint32_t recent[RECENT]; /* blocks used lately, by their keys' last bits; if there are any */
};

struct weft_idmap *weft_idmap_new(void)
{
    struct weft_idmap *map = calloc(1, sizeof *map);
    if (!map)
        return NULL;
    map->seed = weft_seed();
    map->room = FIRST_ROOM;
    map->slot = calloc(FIRST_ROOM, sizeof *map->slot);
    if (!map->slot) {
        free(map);
        return NULL;
    }
    return map;
}

void weft_idmap_free(struct weft_idmap *map)
{
    if (!map)
        return;
    free(map->slot);
    free(map->block);
    free(map->list);
    free(map);
}

/* The slot of key, or the free one where it belongs. */
static uint32_t *find(const struct weft_idmap *map, uint64_t key)
{
    /* Neighbours share a line of the cache. */
    uint64_t i = (weft_mix(key >> 2, map->seed) << 2 | (key & 3)) & (map->room - 1);
    while (map->slot[i] && map->block[map->slot[i] - 1].key != key)
        i = (i + 1) & (map->room - 1);
    return &map->slot[i];
}

static bool grow_slots(struct weft_idmap *map)
{
    uint32_t *grown = weft_resize(map->slot, map->room * 2, sizeof *grown);
    if (!grown)
        return false;
    map->slot = grown;
    map->room *= 2;
    memset(grown, 0, (size_t)map->room * sizeof *grown);
    for (uint64_t i = 0; i < map->blocks; i++)
        *find(map, map->block[i].key) = (uint32_t)i + 1;
    return true;
}

/* The block of id, made if need be. NULL: no memory. */
static struct block *block_of(struct weft_idmap *map, uint64_t id)
{
    uint64_t key = id >> BLOCK_BITS;
    uint32_t *recent = &map->recent[key % RECENT];
    if (map->blocks && map->block[*recent].key == key)
        return &map->block[*recent];
    uint32_t *slot = find(map, key);
    if (!*slot) {
        if (!weft_reserve(&map->block, map->blocks, &map->blocks_room, sizeof *map->block))
            return NULL;
        if (map->blocks + 1 > map->room / 2) {
            if (!grow_slots(map))
                return NULL;
            slot = find(map, key);
        }
        map->block[map->blocks] = (struct block){.key = key};
        *slot = (uint32_t)++map->blocks;
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
    b->at = (uint32_t)map->lists++;
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
