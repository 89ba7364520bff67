/* SPDX-License-Identifier: ISC */
/* Structures that a program passes to a library of another version. Their first member is their size, a size_t;
 * the rule is in weft/weft.h, at struct weft_options. */
#pragma once

#include <stddef.h>

#define WEFT_SIZED_MAX 4096 /* no structure is larger; nothing after this is read */

/* The values of EINVAL and E2BIG from errno.h, for systems that do not have it. */
enum weft_sized { WEFT_SIZED_FINE = 0, WEFT_SIZED_SHORT = -22, WEFT_SIZED_UNKNOWN = -7 };

/* Copies what the library knows of the structure at `from` to `to`, which has `known` bytes, all zeros. first:
 * the size of version 1; a size of 0 means that one. */
static inline enum weft_sized weft_sized_take(void *to, size_t known, const void *from,
                                              size_t first)
{
    const unsigned char *bytes = from;
    size_t size;
    __builtin_memcpy(&size, from, sizeof size);
    if (size == 0)
        size = first;
    if (size < first)
        return WEFT_SIZED_SHORT;
    if (size > WEFT_SIZED_MAX)
        return WEFT_SIZED_UNKNOWN;
    for (size_t i = known; i < size; i++)
        if (bytes[i])
            return WEFT_SIZED_UNKNOWN;
    __builtin_memcpy(to, from, size < known ? size : known);
    return WEFT_SIZED_FINE;
}
