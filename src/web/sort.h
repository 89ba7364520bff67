/* SPDX-License-Identifier: ISC */
/* The page's qsort: wasi-libc's smoothsort takes several times as long. Like glibc's it keeps the order of items that are
 * alike, so that the page and the other viewers agree. Private to src/web. */
#pragma once

#include <stddef.h>

typedef int web_order_fn(const void *a, const void *b);

/* Takes n log n time, and as much memory as the items; without, it does the next. */
void web_sort(void *items, size_t count, size_t bytes, web_order_fn *order);

/* Takes n log n time and no memory. Items that are alike may change places. */
void web_sort_in_place(void *items, size_t count, size_t bytes, web_order_fn *order);
