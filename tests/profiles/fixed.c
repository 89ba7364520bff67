/* SPDX-License-Identifier: ISC */
/* fixed N: the same work every time, N times 50 µs or so, below sixteen calls; tells what CPU time that took the process.
 * For bench/run-sample. */
#include "share.h"

ALONE static void deep(unsigned depth)
{
    uint64_t x = 1;
    if (depth > 0)
        deep(depth - 1);
    else
        WORK(x, 1)
    __asm__ volatile(""); /* no jump instead of the call */
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: fixed N\n", stderr);
        return 2;
    }
    for (long i = atol(argv[1]); i > 0; i--)
        deep(16);
    tell("cpu", clock_ns(CLOCK_PROCESS_CPUTIME_ID));
    return 0;
}
