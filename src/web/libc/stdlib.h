/* SPDX-License-Identifier: ISC */
/* In a page, size_t has 32 bits, but sizes from a trace are computed with 64: a size that is too large must fail
 * instead of wrapping around to a small one. No allocation here reaches 2 GiB, nor does the page's memory (see
 * meson.build), so 32-bit sizes that are only doubled do not wrap either. */
#pragma once

#include_next <stdlib.h>
#include <stdint.h>

static inline void *web_malloc(uint64_t size)
{
    return size <= INT32_MAX ? malloc((size_t)size) : NULL;
}

static inline void *web_calloc(uint64_t count, uint64_t size)
{
    return count <= INT32_MAX && size <= INT32_MAX ? calloc((size_t)count, (size_t)size) : NULL;
}

static inline void *web_realloc(void *old, uint64_t size)
{
    return size <= INT32_MAX ? realloc(old, (size_t)size) : NULL;
}

#define malloc(size) web_malloc(size)
#define calloc(count, size) web_calloc(count, size)
#define realloc(old, size) web_realloc(old, size)
