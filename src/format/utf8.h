/* SPDX-License-Identifier: ISC */
/* Texts from traces, made fit to be shown: valid UTF-8 without control characters. */
#ifndef WEFT_FORMAT_UTF8_H
#define WEFT_FORMAT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One character from text, of which size > 0 bytes are left; returns how many bytes it takes. What
 * is not UTF-8 gives U+FFFD and is as long as the part that could have begun a character (Unicode
 * 15, section 3.9, table 3-8; Python and the browsers count alike). */
size_t weft_utf8_decode(const char *text, size_t size, uint32_t *code);

struct weft_utf8_range {
    uint32_t first, last;
};

/* Whether a character is in one of these ranges. */
bool weft_utf8_in(const struct weft_utf8_range *range, size_t count, uint32_t code);

/* A character that weft_text_clean leaves out. */
bool weft_utf8_invisible(uint32_t code);

/* Copies text into out, which has room for room bytes, as valid UTF-8: bytes that are not UTF-8 become
 * U+FFFD, control characters (also U+0085, U+2028 and the ones that turn the direction of writing)
 * become a space, no character is cut in half; what does not fit is left out. Not terminated.
 * Returns the size in bytes. */
size_t weft_text_clean(char *out, size_t room, const char *text, size_t size);

#endif
