/* SPDX-License-Identifier: ISC */
/* Texts of a trace, each kept once and called by a number.
 *
 * Threads: one at a time, except that any number may read while nobody adds. */
#ifndef WEFT_MODEL_STRINGS_H
#define WEFT_MODEL_STRINGS_H

#include <stdint.h>

#define WEFT_STRINGS_NONE UINT32_MAX

struct weft_strings;

/* The caller owns it. NULL: no memory. */
struct weft_strings *weft_strings_new(void);

void weft_strings_free(struct weft_strings *s);

/* The number of that text, the same for equal ones. WEFT_STRINGS_NONE: no memory, or 2^32 - 1 texts. */
uint32_t weft_strings_add(struct weft_strings *s, const char *text, uint32_t size);

/* Terminated; its size in *size, which may be NULL. Valid until the next text is added. */
const char *weft_strings_get(const struct weft_strings *s, uint32_t number, uint32_t *size);

uint32_t weft_strings_count(const struct weft_strings *s);

#endif
