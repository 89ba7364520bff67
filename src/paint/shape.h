/* SPDX-License-Identifier: ISC */
/* What all painters do with a draw before they paint it: they clip it to the picture, so that no surface gets a number
 * that it cannot represent, and round edges to whole pixels, so that they are sharp. Shapes along an axis become a
 * whole number of pixels thick; they move by at most a pixel, and nothing that has an extent vanishes. Private to
 * src/paint. */
#pragma once

#include "view/drawlist.h"

#define PAINT_FONT_MAX (512 * WEFT_PX) /* larger texts are not drawn */

struct paint_shape {
    bool body; /* the rectangle, or the line, from (x0, y0) to (x1, y1) */
    bool head; /* the triangle between the corners */
    int32_t x0, y0, x1, y1;
    struct weft_point corner[3];
};

/* For a rectangle, line, arrow or pointer. False: no part of it is visible. */
bool paint_shape_of(struct paint_shape *s, const struct weft_drawlist *list,
                    const struct weft_draw *d);

/* For the steps between points i - 1 and i, 0 < i < d->count. False: nothing is visible. */
bool paint_shape_step(struct paint_shape *s, const struct weft_drawlist *list,
                      const struct weft_draw *d, uint32_t i);

/* For all shades of a draw together: their bounding rectangle. False: nothing is visible. */
bool paint_shape_shaded(struct paint_shape *s, const struct weft_drawlist *list,
                        const struct weft_draw *d);

/* For shades: the next columns, from column *i on, that look alike, as a rectangle and an opacity that is not 0; *i
 * becomes the column after them. False: there are no more. */
bool paint_shape_shades(struct paint_shape *s, uint8_t *alpha, const struct weft_drawlist *list,
                        const struct weft_draw *d, uint32_t *i);

/* Where column i of shades begins, on a pixel edge, possibly outside the picture. */
static inline int32_t paint_shape_column(const struct weft_draw *d, uint32_t i)
{
    int64_t at = d->x0 + i * (int64_t)(d->size > 0 ? d->size : 1), end = d->x1;

    at = i >= d->count || at > end ? end : at;
    at = (at > INT32_MAX - WEFT_PX ? INT32_MAX - WEFT_PX : at) + WEFT_PX / 2;
    return (int32_t)(at - (at & (WEFT_PX - 1)));
}

/* The opacity of one of a draw's shades. */
static inline uint8_t paint_shape_opacity(const struct weft_draw *d, uint8_t shade)
{
    return (uint8_t)((shade * d->alpha + 127) / 255);
}

/* How thick a line is drawn: whole pixels, except for slanting lines. */
int32_t paint_shape_width(const struct weft_draw *d);

/* Returns true if any part of a text is visible. */
bool paint_shape_text(const struct weft_drawlist *list, const struct weft_draw *d);
