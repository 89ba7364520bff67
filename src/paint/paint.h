/* SPDX-License-Identifier: ISC */
/* Painters: a draw list onto a surface. They know nothing of promises. */
#pragma once

#include <stdio.h>

#include "format/error.h"
#include "view/drawlist.h"

enum weft_theme {
    WEFT_LIGHT,
    WEFT_DARK,
    WEFT_LIGHT_CONTRAST, /* high contrast; not for SVG */
    WEFT_DARK_CONTRAST,
    WEFT_AUTO, /* SVG only: follows the reader's preference; elsewhere light */
};

/* Each writes one picture to the stream, which the caller opened and closes (and checks for errors
 * then). Returns 0 or a negative WEFT_E code. */
int weft_paint_svg(const struct weft_drawlist *list, FILE *out, enum weft_theme theme);
int weft_paint_png(const struct weft_drawlist *list, FILE *out, enum weft_theme theme,
                   struct weft_error *err);
int weft_paint_pdf(const struct weft_drawlist *list, FILE *out, enum weft_theme theme,
                   struct weft_error *err);
