/* SPDX-License-Identifier: ISC */
/* Text widths, from a table instead of the machine's fonts. */
#pragma once

#include "format/utf8.h"

/* Width of valid UTF-8 at that font size, both in the draw list's coordinate units. From the advance widths of DejaVu
 * Sans, which is somewhat wider than most other fonts. */
int32_t weft_text_width(const char *text, size_t size, int32_t font_size, bool bold);

/* How many bytes of valid UTF-8 fit into width; *fits is how wide they are. */
size_t weft_text_fit(const char *text, size_t size, int32_t font_size, bool bold, int32_t width,
                     int32_t *fits);
