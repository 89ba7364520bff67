/* SPDX-License-Identifier: ISC */
/* Sorts items into lists: those of list k are item[first[k]] up to, but not including, item[first[k + 1]], in order. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The list that an item is in; UINT32_MAX: none. */
typedef uint32_t weft_list_fn(const void *data, uint32_t item);

/* Sorts the items below `count`; `data` is for list_of. The caller frees both arrays, also if there was no memory, or
 * `count` is above 2^32 - 1: then it returns false. */
bool weft_lists(uint32_t **first, uint32_t **item, uint32_t lists, uint64_t count,
                weft_list_fn *list_of, const void *data);
