/* SPDX-License-Identifier: ISC */
/* In a page size_t has 32 bits, while sizes that come from a trace are computed with 64: one that is too
 * large must fail, not wrap around and be small. What is made here never reaches 2 GiB, nor does the page's
 * memory (see meson.build), so that products of 32-bit numbers which only double do not wrap either. */
#ifndef WEFT_WEB_LIBC_STDLIB_H
#define WEFT_WEB_LIBC_STDLIB_H

#include_next <stdlib.h>
#include <stdint.h>

static inline void *weft__malloc(uint64_t size)
{
    return size <= INT32_MAX ? malloc((size_t)size) : NULL;
}

static inline void *weft__calloc(uint64_t count, uint64_t size)
{
    return count <= INT32_MAX && size <= INT32_MAX ? calloc((size_t)count, (size_t)size) : NULL;
}

static inline void *weft__realloc(void *old, uint64_t size)
{
    return size <= INT32_MAX ? realloc(old, (size_t)size) : NULL;
}

#define malloc(size) weft__malloc(size)
#define calloc(count, size) weft__calloc(count, size)
#define realloc(old, size) weft__realloc(old, size)

#endif
