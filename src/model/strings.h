/* SPDX-License-Identifier: ISC */
/* The texts of a trace, each stored once and referred to by a number.
 * Threads: one at a time, except that any number may read while nobody adds. */
#pragma once

#include <stdint.h>

#define WEFT_STRINGS_NONE UINT32_MAX

struct weft_strings;

/* The caller owns it. NULL: no memory. */
struct weft_strings *weft_strings_new(void);

void weft_strings_free(struct weft_strings *s);

/* The number of that text; equal texts have the same number. WEFT_STRINGS_NONE: no memory, or 2^32
 * - 1 texts. */
uint32_t weft_strings_add(struct weft_strings *s, const char *text, uint32_t size);

/* The NUL-terminated text; its size in *size, which may be NULL. Valid until the next text is
 * added. */
const char *weft_strings_get(const struct weft_strings *s, uint32_t number, uint32_t *size);

uint32_t weft_strings_count(const struct weft_strings *s);
