/* SPDX-License-Identifier: ISC */
/* Maps promise ids, which are arbitrary 64-bit numbers, to 32-bit indices.
 *
 *     uint32_t index = weft_idmap_seek(map, id);
 *     if (index == WEFT_IDMAP_NONE && weft_idmap_put(map, id, next))
 *         index = next++;
 *
 * Ids are handed out one after another, so neighbours share a block of memory; the block is small if the indices are
 * handed out in the same order. The table of blocks is hashed with a seed that the process chooses, so that no file can
 * make it slow.
 *
 * Threads: one at a time, except that any number of threads may call weft_idmap_get while none adds ids. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define WEFT_IDMAP_NONE UINT32_MAX

struct weft_idmap;

/* The caller owns the map. NULL: no memory. */
struct weft_idmap *weft_idmap_new(void);

void weft_idmap_free(struct weft_idmap *map);

/* Where the value of id is stored; it is WEFT_IDMAP_NONE at first. The pointer is valid until the next new id is added.
 * NULL: no memory, or more than 2^32 - 2 blocks. */
uint32_t *weft_idmap_at(struct weft_idmap *map, uint64_t id);

/* Gives id a value. Has the same effect as writing through weft_idmap_at, but takes less memory if neighbours get
 * ascending values. false: no memory, or too many blocks. */
bool weft_idmap_put(struct weft_idmap *map, uint64_t id, uint32_t value);

/* The value of id, or WEFT_IDMAP_NONE. seek caches the blocks it used last, which makes it faster. */
uint32_t weft_idmap_get(const struct weft_idmap *map, uint64_t id);
uint32_t weft_idmap_seek(struct weft_idmap *map, uint64_t id);
