/* SPDX-License-Identifier: ISC */
/* Arrays that grow. A count may come from a file: if it does not fit into memory, that is a failed allocation.
 *
 *     if (!weft_reserve(&list->item, list->items, &list->room, sizeof *list->item))
 *         return WEFT_E_NOMEM;
 *     list->item[list->items++] = item; */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Like realloc, to `count` items of `item` bytes each; a count of 0 is taken as 1. */
static inline void *weft_resize(void *array, uint64_t count, size_t item)
{
    return count > PTRDIFF_MAX / item ? NULL : realloc(array, (size_t)(count ? count : 1) * item);
}

/* A new array whose bytes are all 0xff: 32-bit numbers that mean "none". NULL: no memory. */
static inline void *weft_new_none(uint64_t count, size_t item)
{
    void *array = weft_resize(NULL, count, item);
    return array ? memset(array, 0xff, (size_t)count * item) : NULL;
}

/* Frees each of its arguments. */
#define weft_free_all(...)                                                                         \
    weft_free_each((void *[]){__VA_ARGS__}, sizeof((void *[]){__VA_ARGS__}) / sizeof(void *))
static inline void weft_free_each(void **pointer, size_t count)
{
    while (count)
        free(pointer[--count]);
}

/* Makes room for `wanted` items in total; the array grows by at least half. `array` is the address of the pointer. If
 * there is no memory, or `wanted` is above 2^32 - 1, returns false and leaves the array unchanged. */
bool weft_reserve_all(void *array, uint64_t wanted, uint32_t *room, size_t item);

/* Makes room for the item `index`. The bytes of new items are all `fill`; so every array that is grown in this way, and in
 * no other, has `room` items with values. Fails like weft_reserve_all. */
static inline bool weft_reach(void *array, uint32_t index, uint32_t *room, size_t item, int fill)
{
    const uint32_t before = *room;
    if (index < before)
        return true;
    if (!weft_reserve_all(array, (uint64_t)index + 1, room, item))
        return false;
    memset(*(char **)array + before * item, fill, (*room - before) * item);
    return true;
}

/* Makes room for one more item than `used`. */
static inline bool weft_reserve(void *array, uint64_t used, uint32_t *room, size_t item)
{
    return used < *room || weft_reserve_all(array, used + 1, room, item);
}
