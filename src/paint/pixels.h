/* SPDX-License-Identifier: ISC */
/* Paints shapes directly into pixels of 32 bits, 0xAARRGGBB in the machine's byte order, premultiplied. A general
 * library would spend most of its time on these: thin lines, and edges between pixels. Private to src/paint. */
#pragma once

#include "paint/shape.h"

#define PAINT_TABLES 16

/* The table for shades of one ink and opacity. */
struct paint_shade_table {
    bool known;
    uint8_t alpha;
    uint32_t ink;
    uint32_t add[256]; /* what is added to a pixel, by shade */
};

struct paint_pixels {
    unsigned char *data; /* of the device's pixel (0, 0) */
    int stride;          /* bytes */
    int x0, y0, x1, y1;  /* device pixels that may be written */
    int top; /* of a picture that is painted in bands, where the first one begins; else y0 */
    int scale, dx, dy; /* device = pixels of the list * scale + d */
    uint32_t ink;      /* 0xRRGGBB */
    uint8_t alpha;

    int32_t *cover;            /* a row of coverages, all 0; then in the same memory … */
    unsigned char *add, *keep; /* … for shades: a row of what is added, a row of what stays */
    size_t row_room;           /* pixels */
    struct paint_shade_table table[PAINT_TABLES];
};

#define PAINT_SCALE_MAX 8

/* Makes room for rows as wide as what may be written; the other fields must be set. False: no memory. */
bool paint_pixels_begin(struct paint_pixels *p);

void paint_pixels_fini(struct paint_pixels *p);

/* A rectangle whose edges lie on pixel edges. */
void paint_pixels_box(const struct paint_pixels *p, int32_t x0, int32_t y0, int32_t x1, int32_t y1);

/* A line with butt ends, of any slope. */
void paint_pixels_line(const struct paint_pixels *p, const struct paint_shape *s, int32_t width);

/* The head of an arrow. */
void paint_pixels_head(const struct paint_pixels *p, const struct paint_shape *s);

void paint_pixels_shades(struct paint_pixels *p, const struct weft_drawlist *list,
                         const struct weft_draw *d);

/* False: they are not a single row of steps or have slanting parts. Then nothing is painted. */
bool paint_pixels_steps(const struct paint_pixels *p, const struct weft_drawlist *list,
                        const struct weft_draw *d);

/* Any draw; s: its shape, if it has one (paint_shape_of, paint_shape_shaded). theme: which of its colour's values. False:
 * it is a text or steps as above, and nothing is painted. */
bool paint_pixels_draw(struct paint_pixels *p, const struct weft_drawlist *list,
                       const struct weft_draw *d, const struct paint_shape *s, int theme);
