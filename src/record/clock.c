/* SPDX-License-Identifier: ISC */
#include "record/clock.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

/* Returns true if the counter runs at the same rate in all states of the processor (CPUID 80000007H, EDX bit
 * 8). */
static int counter_is_even(void)
{
#ifdef __x86_64__
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d >> 8 & 1);
#elif defined __aarch64__
    return 1; /* the architecture guarantees it */
#else
    return 0;
#endif
}

uint64_t weft_record_clock_ticks(const struct clock_source *c)
{
    if (clock_has_counter(c))
        return clock_counter();
    return c->kind == WEFT_CLOCK_CALLER ? c->caller() : clock_ns(CLOCK_MONOTONIC);
}

/* The wall clock's time when CLOCK_MONOTONIC was mono_ns. An interrupt between the two readings would distort
 * it, so this takes the best of a few. */
static uint64_t real_at(uint64_t mono_ns)
{
    uint64_t real_ns = 0, least = UINT64_MAX;
    for (int i = 0; i < 3 && least >= 1000; i++) {
        uint64_t before = clock_ns(CLOCK_MONOTONIC), real = clock_ns(CLOCK_REALTIME),
                 took = clock_ns(CLOCK_MONOTONIC) - before;
        if (took < least) {
            least = took;
            real_ns = real - (before + took / 2 - mono_ns);
        }
    }
    return real_ns;
}

struct clock_pair weft_record_clock_pair(const struct clock_source *c)
{
    /* An interrupt may come in between, so this takes the best of a few; on a busy machine, of more. */
    struct clock_pair best = {0};
    for (int i = 0; i < 3 || (i < 16 && best.error > c->hz / 100000); i++) { /* 10 us */
        uint64_t before = weft_record_clock_ticks(c), mono = clock_ns(CLOCK_MONOTONIC),
                 after = weft_record_clock_ticks(c);
        uint64_t took = after - before;
        if (i == 0 || took < best.error)
            best = (struct clock_pair){.ticks = before + took / 2,
                                       .mono_ns = mono,
                                       .error = took < UINT32_MAX ? (uint32_t)took : UINT32_MAX};
        if (took < c->hz / 5000000) /* 200 ns */
            break;
    }
    best.real_ns = real_at(best.mono_ns);
    return best;
}

static uint64_t measure_hz(struct clock_source *c)
{
#ifdef __aarch64__
    if (c->kind == WEFT_CLOCK_ARM64) {
        uint64_t hz;
        __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
        return hz;
    }
#endif
    /* Needed only for traces that end before the second clock pair, so a millisecond is enough. */
    c->hz = 1000000000;
    struct clock_pair from = weft_record_clock_pair(c), to = from;
    while (to.mono_ns - from.mono_ns < 1000000)
        to = weft_record_clock_pair(c);
    uint64_t ticks = to.ticks - from.ticks, ns = to.mono_ns - from.mono_ns;
    for (; ns >> 33;
         ns >>= 1) /* the process was stopped for long; keeps the products within 64 bits */
        ticks >>= 1;
    return ticks / ns * c->hz + ticks % ns * c->hz / ns;
}

void weft_record_clock_init(struct clock_source *c, uint64_t (*caller)(void), uint64_t caller_hz,
                            bool no_counter)
{
    *c = (struct clock_source){.kind = WEFT_CLOCK_MONOTONIC, .caller = caller, .hz = 1000000000};
    if (caller) {
        c->kind = WEFT_CLOCK_CALLER;
        if (caller_hz)
            c->hz = caller_hz;
    } else if (!no_counter && counter_is_even()) {
#ifdef __aarch64__
        c->kind = WEFT_CLOCK_ARM64;
#else
        c->kind = WEFT_CLOCK_TSC;
#endif
        c->hz = measure_hz(c);
    }
}
