/* SPDX-License-Identifier: ISC */
/* From promise ids, any 64-bit numbers, to 32-bit indices.
 *
 *     uint32_t *at = weft_idmap_at(map, id);
 *     if (at && *at == WEFT_IDMAP_NONE)
 *         *at = next++;
 *
 * Ids are handed out one after another, so neighbours share a block of memory; the table of blocks is
 * hashed with a seed of the process, so that a file cannot make it slow.
 *
 * Threads: one at a time, except that any number may weft_idmap_get while nobody adds. */
#ifndef WEFT_MODEL_IDMAP_H
#define WEFT_MODEL_IDMAP_H

#include <stdint.h>

#define WEFT_IDMAP_NONE UINT32_MAX

struct weft_idmap;

/* The caller owns it. NULL: no memory. */
struct weft_idmap *weft_idmap_new(void);

void weft_idmap_free(struct weft_idmap *map);

/* Where the value of id is kept; WEFT_IDMAP_NONE stands there at first. Valid until the next id that
 * is new. NULL: no memory, or more than 2^32 - 1 blocks. */
uint32_t *weft_idmap_at(struct weft_idmap *map, uint64_t id);

/* The value of id, or WEFT_IDMAP_NONE. */
uint32_t weft_idmap_get(const struct weft_idmap *map, uint64_t id);

#endif
