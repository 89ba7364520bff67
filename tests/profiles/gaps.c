/* SPDX-License-Identifier: ISC */
/* gaps MS: goes through more memory than a core's caches hold, then reads the clock for as long, again and again, below
 * sixteen calls. Tells how long that reading was, and how much of it were interrupts: it did not go on for 1 µs to
 * 100 µs. For bench/run-sample: what a sample costs when nothing of the kernel's code for it is in the caches. */
#include "share.h"

enum { CACHES = 2 << 20, LINE = 64, GAP_LEAST = 1000, GAP_MOST = 100000 };

static volatile unsigned char memory[CACHES];
static uint64_t read_ns, gaps_ns;

static void evict(void)
{
    for (size_t i = 0; i < CACHES; i += LINE)
        memory[i]++;
}

static void read_clock(uint64_t until)
{
    uint64_t last = clock_ns(CLOCK_MONOTONIC);
    for (uint64_t now; last < until; last = now) {
        now = clock_ns(CLOCK_MONOTONIC);
        if (now - last < GAP_MOST)
            read_ns += now - last;
        if (now - last > GAP_LEAST && now - last < GAP_MOST)
            gaps_ns += now - last;
    }
}

ALONE static void deep(unsigned depth, uint64_t end)
{
    if (depth > 0)
        deep(depth - 1, end);
    for (uint64_t begin, now; depth == 0 && (begin = clock_ns(CLOCK_MONOTONIC)) < end;) {
        evict();
        now = clock_ns(CLOCK_MONOTONIC);
        read_clock(now + (now - begin < MS ? now - begin : MS));
    }
    __asm__ volatile(""); /* no jump instead of the call */
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: gaps MS\n", stderr);
        return 2;
    }
    deep(16, clock_ns(CLOCK_MONOTONIC) + parse_ms(argv[1]));
    tell("read", read_ns);
    tell("gaps", gaps_ns);
    return 0;
}
