/* SPDX-License-Identifier: ISC */
/* The names of living threads. A new thread has its creator's name until it takes another, and the kernel does
 * not report which name that is. */
#ifndef WEFT_SAMPLE_COMMS_H
#define WEFT_SAMPLE_COMMS_H

#include <stdbool.h>
#include <stdint.h>

struct sample_comms {
    struct sample_comm {
        uint32_t thread; /* 0: a free slot */
        char text[16];
    } * slot;
    uint32_t slots, used;
};

void sample_comms_fini(struct sample_comms *n);
bool sample_comms_set(struct sample_comms *n, uint32_t thread,
                      const char *text); /* returns false: no memory */
const char *sample_comms_get(const struct sample_comms *n,
                             uint32_t thread); /* returns "": not known */
void sample_comms_drop(struct sample_comms *n, uint32_t thread);

#endif
