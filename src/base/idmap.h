/* SPDX-License-Identifier: ISC */
/* From promise ids, any 64-bit numbers, to 32-bit indices.
 *
 *     uint32_t index = weft_idmap_seek(map, id);
 *     if (index == WEFT_IDMAP_NONE && weft_idmap_put(map, id, next))
 *         index = next++;
 *
 * Ids are handed out one after another, so neighbours share a block of memory, which is small where indices are
 * handed out in the same order; the table of blocks is hashed with a seed of the process, so that a file cannot
 * make it slow.
 *
 * Threads: one at a time, except that any number may weft_idmap_get while nobody adds. */
#ifndef WEFT_BASE_IDMAP_H
#define WEFT_BASE_IDMAP_H

#include <stdbool.h>
#include <stdint.h>

#define WEFT_IDMAP_NONE UINT32_MAX

struct weft_idmap;

/* The caller owns it. NULL: no memory. */
struct weft_idmap *weft_idmap_new(void);

void weft_idmap_free(struct weft_idmap *map);

/* Where the value of id is kept; WEFT_IDMAP_NONE stands there at first. Valid until the next id that
 * is new. NULL: no memory, or more than 2^32 - 2 blocks. */
uint32_t *weft_idmap_at(struct weft_idmap *map, uint64_t id);

/* Gives id a value. The same as through weft_idmap_at, and takes less memory where neighbours get values in
 * their own order. false: no memory, or too many. */
bool weft_idmap_put(struct weft_idmap *map, uint64_t id, uint32_t value);

/* The value of id, or WEFT_IDMAP_NONE. seek keeps in mind where it was lately, and is faster. */
uint32_t weft_idmap_get(const struct weft_idmap *map, uint64_t id);
uint32_t weft_idmap_seek(struct weft_idmap *map, uint64_t id);

#endif
