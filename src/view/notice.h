/* SPDX-License-Identifier: ISC */
/* What is added to a draw list beside pictures of traces: a text where there is none, a line between two.
 * Coordinates are those of the list. A failed allocation sets list->failed. */
#ifndef WEFT_VIEW_NOTICE_H
#define WEFT_VIEW_NOTICE_H

#include "view/drawlist.h"

/* Any text, cleaned, about x, cut to max_width. */
void weft_notice_text(struct weft_drawlist *list, enum weft_ink ink, int32_t font, int32_t x,
                      int32_t baseline, int32_t max_width, const char *text);

/* A line of a pixel from x0 to x1, just below y. */
void weft_notice_line(struct weft_drawlist *list, enum weft_ink ink, int32_t x0, int32_t y,
                      int32_t x1);

#endif
