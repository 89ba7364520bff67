/* SPDX-License-Identifier: ISC */
/* Paints many shapes into the pixels of a picture that is larger than a processor's cache: band by band, so that the
 * pixels of a band stay in it. The result is the same as if they were painted one after another. Private to src/paint. */
#pragma once

#include "paint/pixels.h"

struct paint_piece;

/* All zero at first; the next picture reuses it. */
struct paint_bands {
    struct paint_piece *piece; /* of each draw */
    uint32_t *first;           /* of each band: where it begins in `item`; one more */
    uint32_t *item;            /* pieces */
    uint32_t pieces_room, bands_room, items_room;
};

void paint_bands_fini(struct paint_bands *b);

/* How many draws from `at` on can be painted together: no texts and no steps. */
uint32_t paint_bands_run(const struct weft_drawlist *list, uint32_t at);

/* Paints that many draws. theme: which of a colour's values. Returns false if there is no memory; then nothing is
 * painted. */
bool paint_bands_paint(struct paint_bands *b, struct paint_pixels *p,
                       const struct weft_drawlist *list, uint32_t at, uint32_t count, int theme);
