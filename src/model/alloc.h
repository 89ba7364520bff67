/* SPDX-License-Identifier: ISC */
/* Arrays whose size comes from a file: where it does not fit into a size_t, there is no memory for it. */
#ifndef WEFT_MODEL_ALLOC_H
#define WEFT_MODEL_ALLOC_H

#include <stdint.h>
#include <stdlib.h>

/* realloc of count items, at least one. */
static inline void *weft__resize(void *array, uint64_t count, size_t item)
{
    return count > PTRDIFF_MAX / item ? NULL : realloc(array, (size_t)count * item);
}

#endif
