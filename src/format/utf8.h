/* SPDX-License-Identifier: ISC */
/* Makes texts from traces safe to print. Anybody may have written them: they must not move a terminal's cursor,
 * change the writing direction, or end a line. In output for people such characters become a space
 * (weft_text_clean). In output that programs read back they are escaped: cli/sink.h in lines, cli/trace_json.h
 * in JSON. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns how many terminal columns a character takes: 2 for Chinese, Japanese and Korean characters and for
 * emojis; 0 for a combining accent; otherwise 1. Threads: one at a time. */
unsigned weft_columns_of(uint32_t code);

/* Decodes one character of text, which has size > 0 bytes left; returns how many bytes it takes. Invalid UTF-8
 * gives U+FFFD, with the length of the part that could have begun a character (Unicode 15, section 3.9, table
 * 3-8; Python and browsers count the same way). */
size_t weft_utf8_decode(const char *text, size_t size, uint32_t *code);

struct weft_utf8_range {
    uint32_t first, last;
};

/* Returns true if a character is in one of these ranges. */
bool weft_utf8_in(const struct weft_utf8_range *range, size_t count, uint32_t code);

/* Returns true for a character that must not be printed as it is: a control character (C0 or C1), a line end,
 * or one that changes the writing direction. */
bool weft_utf8_harmful(uint32_t code);

/* Returns the length in bytes of the first character of text if it may be printed as it is; 0 if it is harmful
 * or not UTF-8. */
size_t weft_utf8_harmless(const char *text, size_t size);

/* Returns how many bytes of a text to keep, at most `most`, so that no character is cut in half; size if all
 * fits. */
size_t weft_text_keep(const char *text, size_t size, size_t most);

/* Returns true for a character that weft_text_clean leaves out. */
bool weft_utf8_invisible(uint32_t code);

/* Copies text into out, which has room for room bytes, as valid UTF-8. Bytes that are not UTF-8 become U+FFFD;
 * control characters (also U+0085, U+2028 and those that change the writing direction) become a space. What
 * does not fit is left out, but no character is cut in half. Adds no NUL. Returns the size in bytes. */
size_t weft_text_clean(char *out, size_t room, const char *text, size_t size);

/* The same, but replaces only what is not UTF-8. */
size_t weft_text_valid(char *out, size_t room, const char *text, size_t size);
