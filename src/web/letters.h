/* SPDX-License-Identifier: ISC */
/* What letters look like, for painting texts into pixels: masks, which the browser draws once for each letter, size and
 * weight. Texts that need shaping (letters that join, marks, emoji) have one mask as a whole.
 *
 *     letters_begin(&l, fill, width_px);
 *     while (letters_find(&l, list, scale) > 0) {
 *         draw each of l.wanted into a picture of l.sheet_width x l.sheet_height pixels, copy that to l.sheet
 *     }
 *     letters_paint(&l, &pixels, list, draw);
 *
 * Lengths are in 1/WEFT_PX of the device's pixels, if nothing else is said. Private to src/web. */
#pragma once

#include "base/table.h"
#include "paint/pixels.h"

#define LETTERS_STEPS 4 /* places within a pixel at which a letter may begin: each has a mask */
#define LETTERS_FACES 16
#define LETTERS_QUICK 128 /* characters below are found without hashing */

struct letter;

/* What the browser is to draw: the text, from a baseline that begins at (pen_x, pen_y), clipped to a box. */
struct letter_wanted {
    uint32_t text; /* address */
    uint32_t bytes;
    int32_t size;         /* of the font; negative: bold */
    int32_t width;        /* the text is condensed to it; 0: it is as wide as it is */
    int32_t pen_x, pen_y; /* in the sheet */
    int32_t x, y;         /* pixels: the box in the sheet */
    int32_t width_px, height_px;
    int32_t advance;       /* the browser sets it: how wide the text is */
    uint32_t letter, step; /* whose mask it becomes */
};

struct letter_face {
    int32_t size; /* 0: none */
    uint32_t letter[LETTERS_QUICK];
};

/* All zero at first. */
struct letters {
    struct letter *letter;
    uint32_t letters, letters_room;
    struct weft_table table;
    uint64_t seed;
    struct letter_face face[LETTERS_FACES];
    char *text; /* of all letters */
    uint32_t text_bytes, text_room;
    uint8_t *mask; /* of all letters */
    uint32_t mask_bytes, mask_room;

    struct letter_wanted *wanted;
    uint32_t wanted_count, wanted_room;
    uint32_t *sheet; /* pixels as a browser has them: R, G, B, A, not premultiplied */
    uint32_t sheet_width, sheet_height, sheet_room;
    uint32_t shelf_x, shelf_y, shelf_height; /* where the next box goes */
    uint8_t
        fill; /* each of R, G and B with which the sheet is drawn; other colours are the letter's own */
    uint32_t next; /* draw to be looked at */
    bool failed;
};

void letters_fini(struct letters *l);

/* Begins a picture of that many pixels across. fill: see above. */
void letters_begin(struct letters *l, uint8_t fill, uint32_t width_px);

/* Takes the masks from the sheet, if any were wanted, and looks what else the texts of a list need, which is shown with
 * `scale` of the device's pixels to a pixel. Returns how many are wanted now, or WEFT_E_NOMEM. */
int letters_find(struct letters *l, const struct weft_drawlist *list, int scale);

/* Paints a text, in p's ink and opacity, into the rows that p may write. */
void letters_paint(const struct letters *l, const struct paint_pixels *p,
                   const struct weft_drawlist *list, const struct weft_draw *d);
