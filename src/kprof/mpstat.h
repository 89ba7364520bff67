/* SPDX-License-Identifier: ISC */
/* mpstat: what each core did, according to the kernel's statistics (/proc/stat). For one thread. */
#ifndef WEFT_KPROF_MPSTAT_H
#define WEFT_KPROF_MPSTAT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "format/error.h"

enum kprof_mpstat_kind {
    KPROF_MPSTAT_IRQ,  /* interrupts and softirqs */
    KPROF_MPSTAT_KERN, /* the rest of the kernel */
    KPROF_MPSTAT_USER, /* programs, including nice ones and virtual machines */
    KPROF_MPSTAT_IDLE, /* nothing to do, waiting for a disk, or the core was taken by the hypervisor */
    KPROF_MPSTAT_KINDS,
};

struct kprof_mpstat_core {
    uint64_t ticks[KPROF_MPSTAT_KINDS];
    bool online;
};

/* Fills core[0 … cores) from a text in the format of /proc/stat; ignores other cores. */
void kprof_mpstat_parse(struct kprof_mpstat_core *core, uint32_t cores, const char *text);

/* Reads path. Returns 0, WEFT_E_IO or WEFT_E_NOMEM. */
int kprof_mpstat_read(struct kprof_mpstat_core *core, uint32_t cores, const char *path,
                      struct weft_error *err);

/* Prints the difference between now and then. Both are in ticks, ticks_a_second. */
void kprof_mpstat_print(FILE *out, const struct kprof_mpstat_core *then,
                        const struct kprof_mpstat_core *now, uint32_t cores,
                        uint32_t ticks_a_second, bool raw);

#endif
