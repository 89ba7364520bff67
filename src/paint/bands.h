/* SPDX-License-Identifier: ISC */
/* Paints a draw list into the pixels of a picture that is larger than a processor's cache: band by band, so that the pixels
 * of a band stay in it. The result is the same as if the draws were painted one after another. Private to src/paint. */
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

/* Paints what this cannot, a text or slanting steps, into the rows that p may write now. */
typedef void paint_other_fn(void *data, const struct weft_draw *d);

/* Paints the ground and all draws. theme: which of a colour's values. Returns false if there is no memory; then nothing is
 * painted. */
bool paint_bands_paint(struct paint_bands *b, struct paint_pixels *p,
                       const struct weft_drawlist *list, int theme, paint_other_fn *other,
                       void *data);
