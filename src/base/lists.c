/* SPDX-License-Identifier: ISC */
#include "base/lists.h"

#include "base/array.h"

bool weft_lists(uint32_t **first, uint32_t **item, uint32_t lists, uint64_t count,
                weft_list_fn *list_of, const void *data)
{
    uint32_t *begin = calloc((size_t)lists + 2, sizeof *begin), list;
    *first = begin;
    *item = NULL;
    if (!begin || count > UINT32_MAX)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if ((list = list_of(data, i)) != UINT32_MAX)
            begin[list + 2]++; /* begin[list + 1] is moved on while the items are stored */
    for (uint64_t i = 2; i < (uint64_t)lists + 2; i++)
        begin[i] += begin[i - 1];
    *item = weft_resize(NULL, begin[lists + 1], sizeof **item);
    for (uint32_t i = 0; i < count && *item; i++)
        if ((list = list_of(data, i)) != UINT32_MAX)
            (*item)[begin[list + 1]++] = i;
    return *item;
}
