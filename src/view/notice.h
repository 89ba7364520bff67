/* SPDX-License-Identifier: ISC */
/* What is added to a draw list besides pictures of traces: a text in place of a picture, a line between two pictures.
 * Coordinates are those of the list. A failed allocation sets list->failed. */
#ifndef WEFT_VIEW_NOTICE_H
#define WEFT_VIEW_NOTICE_H

#include "view/drawlist.h"

/* Draws any text, cleaned, centred on x, cut to max_width. */
void weft_notice_text(struct weft_drawlist *list, enum weft_ink ink, int32_t font, int32_t x,
                      int32_t baseline, int32_t max_width, const char *text);

/* Draws a line one pixel thick from x0 to x1, just below y. */
void weft_notice_line(struct weft_drawlist *list, enum weft_ink ink, int32_t x0, int32_t y,
                      int32_t x1);

#endif
