/* SPDX-License-Identifier: ISC */
/* The older profile: how many ticks hit each address of the kernel. For one thread. */
#ifndef WEFT_KPROF_HISTOGRAM_H
#define WEFT_KPROF_HISTOGRAM_H

#include <stdint.h>
#include <stdio.h>

#include "base/table.h"

#define KPROF_HISTOGRAM_ADDRESSES (1u << 18) /* maximum number of different addresses */

struct kprof_histogram_cell {
    uint64_t address, ticks;
};

struct kprof_histogram {
    struct kprof_histogram_cell *cell;
    uint32_t used, room;
    struct weft_table by;    /* cells by their addresses */
    uint64_t total, outside; /* all ticks; those outside the kernel */
    uint64_t unplaced;       /* ticks in the kernel for which there was no room */
};

void kprof_histogram_fini(struct kprof_histogram *h); /* leaves all zeros: an empty histogram */
void kprof_histogram_outside(struct kprof_histogram *h);
void kprof_histogram_tick(struct kprof_histogram *h, uint64_t address);

/* Returns the name of the function at an address, or NULL. */
typedef const char *kprof_name_fn(void *data, uint64_t address);

/* Prints total, outside, and a line for each address, in order of addresses. Returns 0 or WEFT_E_NOMEM. */
int kprof_histogram_print(const struct kprof_histogram *h, FILE *out, kprof_name_fn *name,
                          void *data);

#endif
