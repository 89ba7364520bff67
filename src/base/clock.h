/* SPDX-License-Identifier: ISC */
/* The time now, in nanoseconds. */
#pragma once

#include <stdint.h>
#include <time.h>

static inline int64_t weft_clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* The clock that traces use. */
static inline int64_t weft_monotonic_ns(void)
{
    return weft_clock_ns(CLOCK_MONOTONIC);
}
