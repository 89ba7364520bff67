/* SPDX-License-Identifier: ISC */
/* Draws texts through cairo. Text that needs no shaping (Latin, Greek, Cyrillic, punctuation, symbols, as far as the
 * font has them) is composed of glyphs cached from earlier texts. Pango does the rest: it shapes, orders and looks for
 * other fonts; its results are cached, too. Either way a text is as wide as the list says. Private to src/paint. */
#pragma once

#include <cairo.h>

#include "view/drawlist.h"

struct paint_glyphs;

/* NULL: no memory. */
struct paint_glyphs *paint_glyphs_new(void);
void paint_glyphs_free(struct paint_glyphs *g);

/* Begins a picture on cr, in which texts are at most `longest` bytes long. False: no memory. */
bool paint_glyphs_begin(struct paint_glyphs *g, cairo_t *cr, size_t longest);

/* rgb is 0xRRGGBB. */
void paint_use_ink(cairo_t *cr, uint32_t rgb, int alpha);
void paint_glyphs_text(struct paint_glyphs *g, const struct weft_drawlist *list,
                       const struct weft_draw *d, uint32_t rgb);
