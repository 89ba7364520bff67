/* SPDX-License-Identifier: ISC */
/* The names of threads that live: a new one has its creator's until it takes another, and the kernel does not say
 * which that is. */
#ifndef WEFT_SAMPLE_COMMS_H
#define WEFT_SAMPLE_COMMS_H

#include <stdbool.h>
#include <stdint.h>

struct weft__comms {
    struct weft__comm {
        uint32_t thread; /* 0: free */
        char text[16];
    } * slot;
    uint32_t slots, used;
};

void weft__comms_fini(struct weft__comms *n);
bool weft__comms_set(struct weft__comms *n, uint32_t thread,
                     const char *text);                                    /* false: no memory */
const char *weft__comms_get(const struct weft__comms *n, uint32_t thread); /* "": not known */
void weft__comms_drop(struct weft__comms *n, uint32_t thread);

#endif
