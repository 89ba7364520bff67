/* SPDX-License-Identifier: ISC */
/* Arrays whose size comes from a file: where it does not fit into a size_t, there is no memory for it. */
#ifndef WEFT_BASE_ALLOC_H
#define WEFT_BASE_ALLOC_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* realloc of count items, at least one. */
static inline void *weft__resize(void *array, uint64_t count, size_t item)
{
    return count > PTRDIFF_MAX / item ? NULL : realloc(array, (size_t)count * item);
}

/* Makes room for one item more than used, by half at a time. array: address of the pointer. false: there is no
 * memory for it, or there are 2^32 - 2 items; the array is then as it was. */
static inline bool weft__reserve(void *array, uint32_t used, uint32_t *room, size_t item)
{
    if (used < *room)
        return true;
    uint64_t most = UINT32_MAX - 1, wanted = *room ? *room + *room / UINT64_C(2) : 16;
    if (used >= most)
        return false;
    void *grown = weft__resize(*(void **)array, wanted < most ? wanted : most, item);
    if (!grown)
        return false;
    *(void **)array = grown;
    *room = (uint32_t)(wanted < most ? wanted : most);
    return true;
}

#endif
