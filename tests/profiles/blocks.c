/* SPDX-License-Identifier: ISC */
/* blocks MS: for MS milliseconds, 60 % of the time is spent in wait_for_pipe(), which waits in vain, 20 % in
 * take_a_nap(), 20 % burning in between(). The truth is measured, since who sleeps wakes up late. */
#include <poll.h>
#include <unistd.h>

#include "share.h"

BURNER(ALONE, between)

static uint64_t now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

/* Both return how long it was. */
ALONE static uint64_t wait_for_pipe(int pipe, uint64_t ns)
{
    uint64_t from = now_ns();
    struct timespec t = {.tv_nsec = (long)ns};
    if (ppoll(&(struct pollfd){.fd = pipe, .events = POLLIN}, 1, &t, NULL) != 0)
        abort();
    return now_ns() - from;
}

ALONE static uint64_t take_a_nap(uint64_t ns)
{
    uint64_t from = now_ns();
    struct timespec t = {.tv_nsec = (long)ns};
    if (nanosleep(&t, NULL) != 0)
        abort();
    return now_ns() - from;
}

int main(int argc, char **argv)
{
    int pipes[2];
    if (argc != 2 || pipe(pipes) != 0) {
        fputs("usage: blocks MS\n", stderr);
        return 2;
    }
    uint64_t end = now_ns() + parse_ms(argv[1]), waited = 0, napped = 0, burned = 0;
    while (now_ns() < end) {
        uint64_t from = cpu_ns();
        between(from + 2 * MS);
        burned += cpu_ns() - from;
        napped += take_a_nap(2 * MS);
        waited += wait_for_pipe(pipes[0], 6 * MS);
    }
    tell("wait_for_pipe", waited);
    tell("take_a_nap", napped);
    tell("between", burned);
    return 0;
}
