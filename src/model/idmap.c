/* SPDX-License-Identifier: ISC */
#include "model/idmap.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "model/seed.h"

enum { BLOCK_BITS = 3, BLOCK = 1 << BLOCK_BITS, FIRST_ROOM = 64 };

struct slot {
    uint64_t key;   /* id >> BLOCK_BITS */
    uint32_t block; /* number of the block plus 1; 0: the slot is free */
};

struct weft_idmap {
    struct slot *slot; /* open addressing, at most half full */
    uint64_t room;     /* a power of two */
    uint32_t *values;  /* BLOCK to a block */
    uint64_t blocks, blocks_room;
    uint64_t seed;
    uint64_t last_key; /* the block used last, most often the next one too */
    uint32_t last_block;
};

struct weft_idmap *weft_idmap_new(void)
{
    struct weft_idmap *map = calloc(1, sizeof *map);
    if (!map)
        return NULL;
    map->seed = weft_seed();
    map->room = FIRST_ROOM;
    map->slot = calloc(map->room, sizeof *map->slot);
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
    free(map->values);
    free(map);
}

/* The slot of key, or the free one where it belongs. */
static struct slot *find(const struct weft_idmap *map, uint64_t key)
{
    /* Neighbours share a line of the cache. */
    uint64_t i = (weft_mix(key >> 2, map->seed) << 2 | (key & 3)) & (map->room - 1);
    while (map->slot[i].block && map->slot[i].key != key)
        i = (i + 1) & (map->room - 1);
    return &map->slot[i];
}

static bool grow_slots(struct weft_idmap *map)
{
    struct weft_idmap grown = *map;
    grown.room = map->room * 2;
    grown.slot = calloc(grown.room, sizeof *grown.slot);
    if (!grown.slot)
        return false;
    for (uint64_t i = 0; i < map->room; i++)
        if (map->slot[i].block)
            *find(&grown, map->slot[i].key) = map->slot[i];
    free(map->slot);
    *map = grown;
    return true;
}

static bool grow_blocks(struct weft_idmap *map)
{
    uint64_t room = map->blocks_room ? map->blocks_room * 2 : FIRST_ROOM;
    void *grown = realloc(map->values, room * BLOCK * sizeof *map->values);
    if (!grown)
        return false;
    map->values = grown;
    map->blocks_room = room;
    return true;
}

uint32_t *weft_idmap_at(struct weft_idmap *map, uint64_t id)
{
    uint64_t key = id >> BLOCK_BITS;
    if (key != map->last_key || !map->last_block) {
        struct slot *s = find(map, key);
        if (!s->block) {
            if (map->blocks == UINT32_MAX - 1)
                return NULL;
            if (map->blocks == map->blocks_room && !grow_blocks(map))
                return NULL;
            if (map->blocks + 1 > map->room / 2) {
                if (!grow_slots(map))
                    return NULL;
                s = find(map, key);
            }
            memset(map->values + map->blocks * BLOCK, 0xff, BLOCK * sizeof *map->values);
            *s = (struct slot){.key = key, .block = (uint32_t)++map->blocks};
        }
        map->last_key = key;
        map->last_block = s->block;
    }
    return map->values + (uint64_t)(map->last_block - 1) * BLOCK + (id & (BLOCK - 1));
}

uint32_t weft_idmap_get(const struct weft_idmap *map, uint64_t id)
{
    const struct slot *s = find(map, id >> BLOCK_BITS);
    return s->block ? map->values[(uint64_t)(s->block - 1) * BLOCK + (id & (BLOCK - 1))]
                    : WEFT_IDMAP_NONE;
}
