/* SPDX-License-Identifier: ISC */
/* Ticks of a trace's clock into nanoseconds, by pairs of readings. */
#ifndef WEFT_READ_CLOCK_H
#define WEFT_READ_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "format/packet.h"

#define CLOCK_NO_ERROR UINT64_MAX /* the file does not say it */

/* From here on a tick is slope / 2^shift nanoseconds. */
struct clock_point {
    uint64_t ticks, ns;
    uint64_t slope;
};

struct clock_pair {
    uint64_t ticks, ns; /* CLOCK_MONOTONIC */
    uint64_t error;     /* ticks, or CLOCK_NO_ERROR */
    double excess;      /* see clock.c */
};

struct clock {
    struct clock_pair *pair; /* what the file says; gone once the points are there */
    uint64_t pairs;
    uint32_t room;
    struct clock_point *point; /* in order, times never run backwards; at least one */
    uint64_t points;
    unsigned shift;
    bool plain; /* ticks are nanoseconds */
};

/* Takes a pair in. False: no memory. */
bool clock_add(struct clock *c, uint64_t ticks, uint64_t ns, uint64_t error);

/* Makes the points. kind: enum weft_clock_kind; hz: nominal, 0 if not known. False: no memory. */
bool clock_finish(struct clock *c, uint32_t kind, uint64_t hz);

void clock_fini(struct clock *c);

/* The time of ticks; later ticks are never earlier. *hint: any number; a good one for the next call. */
uint64_t clock_convert(const struct clock *c, uint64_t ticks, uint64_t *hint);

#endif
