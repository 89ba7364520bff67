/* SPDX-License-Identifier: ISC */
/* Texts from traces, made fit to be shown: valid UTF-8 without control characters, with widths from a
 * table instead of the machine's fonts. */
#ifndef WEFT_VIEW_TEXT_H
#define WEFT_VIEW_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copies text into out, which has room for room bytes, as valid UTF-8: bytes that are not UTF-8 become
 * U+FFFD, control characters (also U+0085, U+2028 and the ones that turn the direction of writing)
 * become a space, no character is cut in half; what does not fit is left out. Not terminated.
 * Returns the size in bytes. */
size_t weft_text_clean(char *out, size_t room, const char *text, size_t size);

/* Width of valid UTF-8 at that font size, both in the draw list's coordinate units. From the advance
 * widths of DejaVu Sans, that is somewhat wider than most other fonts. */
int32_t weft_text_width(const char *text, size_t size, int32_t font_size, bool bold);

/* How many bytes of valid UTF-8 fit into width, and in *fits how wide they are. */
size_t weft_text_fit(const char *text, size_t size, int32_t font_size, bool bold, int32_t width,
                     int32_t *fits);

#endif
