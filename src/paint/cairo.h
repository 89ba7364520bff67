/* SPDX-License-Identifier: ISC */
/* Paints a draw list onto any cairo surface: used for the window and for PNG and PDF files.
 *
 *     struct weft_painter *painter = weft_painter_new();
 *     cairo_scale(cr, 2, 2);                                  a screen with two device pixels a pixel
 *     weft_paint_cairo(painter, cr, list, WEFT_DARK);
 *
 * It is fast on an image surface (RGB24 or ARGB32) without a clip, under a transformation that only moves and scales by
 * whole numbers: then rectangles and shades are written directly into the pixels. A window should paint onto such a
 * surface and show that (GTK hands out a surface that only records).
 *
 * A painter keeps fonts and shaped texts from one picture to the next. It belongs to one thread; it may be
 * used for any number of surfaces and scales. */
#pragma once

#include <cairo.h>

#include "paint/paint.h"

struct weft_painter;

/* NULL: no memory. */
struct weft_painter *weft_painter_new(void);

/* NULL is allowed. */
void weft_painter_free(struct weft_painter *painter);

/* Paints the whole picture, background first, with cr's transformation. Afterwards the state of cr is unchanged, except
 * that the current path is empty. WEFT_AUTO is light. Returns 0, WEFT_E_NOMEM, or WEFT_E_IO where cairo cannot draw any
 * more (cairo_status says why). */
int weft_paint_cairo(struct weft_painter *painter, cairo_t *cr, const struct weft_drawlist *list,
                     enum weft_theme theme);
