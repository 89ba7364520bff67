/* SPDX-License-Identifier: ISC */
/* A draw list as commands for a canvas: draws that look alike are combined, edges are rounded to whole pixels (by
 * paint/shape.h, as all painters do), and everything is in one array that a page can read in one go.
 *
 * A command is five words, followed by `count` items of a fixed number of words:
 *
 *     kind, ink, alpha, size, count     enum brush_kind, enum weft_ink, 0 to 255
 *     BRUSH_RECTS     x, y, width, height
 *     BRUSH_LINES     x0, y0, x1, y1; size is their width. Items that must not run into each other (they are
 *                     translucent) come one to a command.
 *     BRUSH_HEADS     three corners
 *     BRUSH_TEXTS     x, y of the baseline, width, address, bytes; size is the font's, negative: bold
 *     BRUSH_SHADES    x, y, width, height, row of the pixels, which are as wide as it in pixels
 *
 * in WEFT_PX to a pixel. Private to src/web. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "view/drawlist.h"

enum brush_kind { BRUSH_RECTS, BRUSH_LINES, BRUSH_HEADS, BRUSH_TEXTS, BRUSH_SHADES };

#define BRUSH_HEADER 5

struct brush {
    int32_t *word;
    uint32_t words, words_room;
    uint32_t *pixel; /* 0xAABBGGRR: one row for each draw of shades, as wide as the list */
    uint32_t pixels_room;
    uint32_t width, height; /* of the pixels */
    uint32_t command;       /* where the last one begins */
    bool failed;
};

/* Fills b anew, keeping its memory. Returns 0 or WEFT_E_NOMEM. */
int brush_fill(struct brush *b, const struct weft_drawlist *list, unsigned theme);
