/* SPDX-License-Identifier: ISC */
/* Texts from traces, made fit to leave weft. Anybody may have written them: they must not move a terminal's cursor, turn
 * the direction of writing, or end a line. For people such characters become a space (weft_text_clean); where a text
 * must be read back, by programs, they are escaped: cli/sink.h in lines, cli/trace_json.h in JSON. */
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

/* Returns true if a character is in one of these ranges. */
bool weft_utf8_in(const struct weft_utf8_range *range, size_t count, uint32_t code);

/* A character that must not leave weft as it is: a control character, of C1, too, an end of a line, or one that turns the
 * direction of writing. */
bool weft_utf8_harmful(uint32_t code);

/* How many bytes the character that text begins with takes if it may leave as it is; 0 if it is harmful or not UTF-8. */
size_t weft_utf8_harmless(const char *text, size_t size);

/* How much of a text, at most `most` bytes, to keep, so that no character is cut in half: size if that fits. */
size_t weft_text_keep(const char *text, size_t size, size_t most);

/* A character that weft_text_clean leaves out. */
bool weft_utf8_invisible(uint32_t code);

/* Copies text into out, which has room for room bytes, as valid UTF-8: bytes that are not UTF-8 become
 * U+FFFD, control characters (also U+0085, U+2028 and the ones that turn the direction of writing)
 * become a space, no character is cut in half; what does not fit is left out. Not terminated.
 * Returns the size in bytes. */
size_t weft_text_clean(char *out, size_t room, const char *text, size_t size);

/* The same, but only what is not UTF-8 is replaced. */
size_t weft_text_valid(char *out, size_t room, const char *text, size_t size);

#endif
