/* SPDX-License-Identifier: ISC */
/* What all painters do with a draw before they paint it: cut it to the picture, so that no surface
 * sees a number that it cannot hold, and bring edges to whole pixels, so that they are sharp. What
 * lies along an axis is a whole number of pixels thick; it moves by a pixel at most, and nothing
 * that has an extent vanishes. Private to src/paint. */
#ifndef WEFT_PAINT_SHAPE_H
#define WEFT_PAINT_SHAPE_H

#include "view/drawlist.h"

#define WEFT__FONT_MAX (512 * WEFT_PX) /* larger texts are not drawn */

struct weft__shape {
    bool body; /* the rectangle, or the line, from (x0, y0) to (x1, y1) */
    bool head; /* the triangle between the corners */
    int32_t x0, y0, x1, y1;
    struct weft_point corner[3];
};

/* Of a rectangle, line, arrow or pointer. False: nothing of it is to be seen. */
bool weft__shape(struct weft__shape *s, const struct weft_drawlist *list,
                 const struct weft_draw *d);

/* Of the steps between points i - 1 and i, 0 < i < d->count. False: nothing is to be seen. */
bool weft__shape_step(struct weft__shape *s, const struct weft_drawlist *list,
                      const struct weft_draw *d, uint32_t i);

/* How thick a line is to be drawn: whole pixels, but for slanting ones. */
int32_t weft__shape_width(const struct weft_draw *d);

/* Whether something of a text can be seen. */
bool weft__shape_text(const struct weft_drawlist *list, const struct weft_draw *d);

#endif
