/* SPDX-License-Identifier: ISC */
/* Converts the ticks of a trace's clock to nanoseconds, using pairs of readings of both clocks. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "format/packet.h"

#define CLOCK_NO_ERROR UINT64_MAX /* the file does not state it */

/* From this point on a tick takes slope / 2^shift nanoseconds. */
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
    struct clock_pair *pair; /* as the file states them; freed once the points are made */
    uint64_t pairs;
    uint32_t room;
    struct clock_point *point; /* in order; times never run backwards; at least one point */
    uint64_t points;
    unsigned shift;
    bool plain; /* ticks are nanoseconds */
};

/* Adds a pair. Returns false if there is no memory. */
bool clock_add(struct clock *c, uint64_t ticks, uint64_t ns, uint64_t error);

/* Makes the points. kind: enum weft_clock_kind; hz: the nominal frequency, 0 if not known. Returns
 * false if there is no memory. */
bool clock_finish(struct clock *c, uint32_t kind, uint64_t hz);

/* The largest error of a pair that is about as precise as the best one. hz: ticks per second. */
uint64_t clock_error_most(uint64_t best, uint64_t hz);

void clock_fini(struct clock *c);

/* Converts ticks to a time; later ticks never give an earlier time. *hint: any number at first;
 * updated to speed up the next call. */
uint64_t clock_convert(const struct clock *c, uint64_t ticks, uint64_t *hint);
