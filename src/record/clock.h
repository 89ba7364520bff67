/* SPDX-License-Identifier: ISC */
/* The recorder's clocks. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#if __STDC_HOSTED__
#include <time.h>
#endif

#include "format/packet.h"

struct clock_source {
    enum weft_clock_kind kind;
    uint64_t (*caller)(void);
    uint64_t hz; /* nominal */
};

/* One moment on three clocks. error: how many ticks it took to read them. */
struct clock_pair {
    uint64_t ticks, mono_ns, real_ns;
    uint32_t error;
};

#if __STDC_HOSTED__
static inline uint64_t clock_ns(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
#endif

/* The processor's counter. Only if clock_has_counter. */
static inline uint64_t clock_counter(void)
{
#if defined __x86_64__
    return __builtin_ia32_rdtsc();
#elif defined __aarch64__
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return 0;
#endif
}

static inline bool clock_has_counter(const struct clock_source *c)
{
    return c->kind == WEFT_CLOCK_TSC || c->kind == WEFT_CLOCK_ARM64;
}

uint64_t weft_record_clock_ticks(const struct clock_source *c);

/* Chooses the fastest clock that runs evenly on this machine, or the caller's clock if it is given. no_counter: not
 * the processor's counter. */
void weft_record_clock_init(struct clock_source *c, uint64_t (*caller)(void), uint64_t caller_hz,
                            bool no_counter);

struct clock_pair weft_record_clock_pair(const struct clock_source *c);
