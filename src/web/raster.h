/* SPDX-License-Identifier: ISC */
/* Paints a draw list into pixels as a browser has them: R, G, B, A, in this order. So the page has to hand its canvas one
 * picture instead of thousands of calls. Edges lie on the device's pixels, by paint/shape.h, as with all painters.
 *
 *     if (raster_begin(&r, list, theme, width, height, ratio) == 0) {
 *         while (letters_find(&r.letters, r.list, r.pixels.scale) > 0)
 *             ...                     see web/letters.h
 *         raster_paint(&r);
 *     }
 *
 * Private to src/web. */
#pragma once

#include "web/letters.h"

struct raster {
    struct paint_pixels pixels;
    uint32_t *pixel; /* the picture */
    uint32_t width, height, pixels_room;
    struct letters letters;
    const struct weft_drawlist *shown; /* the caller's */
    const struct weft_drawlist *list;  /* what is painted: that, or `scaled` */
    struct weft_drawlist scaled;
    struct raster_piece *piece;
    uint32_t pieces_room;
    unsigned theme;
};

#define RASTER_RATIO_MAX PAINT_SCALE_MAX

/* Begins a picture of width x height of the device's pixels, `ratio` to a pixel of the list, 1 to RASTER_RATIO_MAX. theme:
 * which of a colour's values. The list must stay until it is painted. Returns 0 or WEFT_E_NOMEM. */
int raster_begin(struct raster *r, const struct weft_drawlist *list, unsigned theme, uint32_t width,
                 uint32_t height, double ratio);

/* Fills r->pixel. Returns 0 or WEFT_E_NOMEM. */
int raster_paint(struct raster *r);
