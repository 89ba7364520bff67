/* SPDX-License-Identifier: ISC */
/* A picture as an ordered list of simple drawing operations: what the view hands to the painters.
 *
 * Coordinates are fixed-point, WEFT_PX to a pixel, from the top left corner, so that the list is the same on every
 * machine. Colours are roles, looked up in a palette by the painter. Painters need to clip only to the picture as a
 * whole: texts are already cut to the space they have. Traces that scroll may reach above it and below it, by less than its
 * own height.
 *
 * A list belongs to one thread until it is complete; then any number of threads may read it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEFT_PX 64 /* coordinate units in a pixel */

/* What a colour is for. X(NAME, css, light 0xRRGGBB, dark 0xRRGGBB) in view/palette.def. */
enum weft_ink {
#define INK(NAME, css, light, dark) WEFT_INK_##NAME,
#include "view/palette.def"
    WEFT_INKS
};

struct weft_ink_info {
    const char *css; /* class name */
    uint32_t rgb[4]; /* light, dark, both with high contrast: 0xRRGGBB */
};
extern const struct weft_ink_info weft_inks[WEFT_INKS];

enum weft_draw_op {
    WEFT_DRAW_RECT, /* filled, corners (x0, y0) and (x1, y1); x0 <= x1, y0 <= y1; with an alpha of 0 and
                     * a tip it is invisible and only carries the tip */
    WEFT_DRAW_LINE, /* from (x0, y0) to (x1, y1), butt ends, size = width */
    WEFT_DRAW_ARROW, /* a line with a filled head whose tip is at (x1, y1); size = width of the line */
    WEFT_DRAW_POINTER, /* only the head, its tip at (x1, y1), pointing away from (x0, y0) */
    WEFT_DRAW_STEPS,   /* a polyline through points[first … first + count), size = width */
    WEFT_DRAW_TEXT,    /* baseline begins at (x0, y0), is x1 - x0 wide; size = font size */
    WEFT_DRAW_SHADES, /* a rectangle of count columns, each size wide (the last one ends at x1), with
                        * the opacities shades[first … first + count); its edges lie on pixel edges */
};

struct weft_draw {
    uint8_t op;    /* enum weft_draw_op */
    uint8_t ink;   /* enum weft_ink */
    uint8_t alpha; /* 255: opaque */
    uint8_t bold;  /* texts */
    int32_t size;  /* width of a line or size of a font, in coordinate units */
    int32_t x0, y0, x1, y1;
    uint32_t first, count; /* of texts (bytes of valid UTF-8 without controls), points or shades */
    uint32_t tip;          /* offset of a text shown when pointed at, or WEFT_NO_TIP */
    uint32_t tip_size;
    uint32_t promise; /* the promise it stands for, or WEFT_NONE (UINT32_MAX): for hit tests */
};

#define WEFT_NO_TIP UINT32_MAX

struct weft_point {
    int32_t x, y;
};

struct weft_drawlist {
    int32_t width, height; /* coordinate units */
    struct weft_draw *draw;
    struct weft_point *points;
    char *texts; /* one after another, not terminated */
    uint8_t *shades;
    uint32_t draws, point_count, text_bytes, shade_count;
    uint32_t draws_room, points_room, texts_room, shades_room;
    bool failed; /* an allocation failed; what the list holds is still valid */
};

/* Empties the list and keeps its memory for the next picture, which has that size in pixels. */
void weft_drawlist_clear(struct weft_drawlist *list, int32_t width_px, int32_t height_px);

/* Releases what the list holds; *list is then empty. */
void weft_drawlist_fini(struct weft_drawlist *list);

/* What is added besides pictures of traces: a text, cleaned, centred on x and cut to max_width, in place of a picture; and
 * a line one pixel thick from x0 to x1, just below y, between two pictures. */
void weft_notice_text(struct weft_drawlist *list, enum weft_ink ink, int32_t font, int32_t x,
                      int32_t baseline, int32_t max_width, const char *text);
void weft_notice_line(struct weft_drawlist *list, enum weft_ink ink, int32_t x0, int32_t y,
                      int32_t x1);

/* A filled rectangle, and a line between any two points: for what is drawn over pictures. */
void weft_notice_rect(struct weft_drawlist *list, enum weft_ink ink, int32_t x0, int32_t y0,
                      int32_t x1, int32_t y1);
void weft_notice_stroke(struct weft_drawlist *list, enum weft_ink ink, int32_t width, int32_t x0,
                        int32_t y0, int32_t x1, int32_t y1);

/* Geometry that painters share: the three corners of the head of an arrow from (x0, y0) to (x1, y1),
 * the tip first. */
void weft_arrow_head(struct weft_point corner[3], const struct weft_draw *arrow);
