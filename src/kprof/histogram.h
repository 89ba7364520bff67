/* SPDX-License-Identifier: ISC */
/* The older profile: how many ticks there were at each address of the kernel. One thread. */
#ifndef WEFT_KPROF_HISTOGRAM_H
#define WEFT_KPROF_HISTOGRAM_H

#include <stdint.h>
#include <stdio.h>

#include "base/table.h"

#define WEFT__HISTOGRAM_ADDRESSES (1u << 18) /* different ones, at most */

struct weft__histogram_cell {
    uint64_t address, ticks;
};

struct weft__histogram {
    struct weft__histogram_cell *cell;
    uint32_t used, room;
    struct weft_table by;    /* cells by their addresses */
    uint64_t total, outside; /* ticks; outside the kernel */
    uint64_t unplaced;       /* ticks in the kernel that there was no room for */
};

void weft__histogram_fini(struct weft__histogram *h); /* zero is an empty one; so it is then */
void weft__histogram_outside(struct weft__histogram *h);
void weft__histogram_tick(struct weft__histogram *h, uint64_t address);

/* The name of the function at an address, or NULL. */
typedef const char *weft__name_fn(void *data, uint64_t address);

/* Total, outside, and a line for each address in their order. 0 or WEFT_E_NOMEM. */
int weft__histogram_print(const struct weft__histogram *h, FILE *out, weft__name_fn *name,
                          void *data);

#endif
