/* SPDX-License-Identifier: ISC */
/* blocks MS: for MS milliseconds, 60 % of the time is spent in wait_for_pipe(), which waits in vain, 20 % in
 * take_a_nap(), 20 % burning in between(). Who sleeps wakes up late, and a machine can stand still while nobody is away:
 * so of both it tells how long they were to last, "NAME at least", and how long that took. */
#include <poll.h>
#include <unistd.h>

#include "share.h"

BURNER(ALONE, between)

static uint64_t now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

ALONE static void wait_for_pipe(int pipe, uint64_t ns)
{
    struct timespec t = {.tv_nsec = (long)ns};
    if (ppoll(&(struct pollfd){.fd = pipe, .events = POLLIN}, 1, &t, NULL) != 0)
        abort();
}

ALONE static void take_a_nap(uint64_t ns)
{
    struct timespec t = {.tv_nsec = (long)ns};
    if (nanosleep(&t, NULL) != 0)
        abort();
}

int main(int argc, char **argv)
{
    int pipes[2];
    if (argc != 2 || pipe(pipes) != 0) {
        fputs("usage: blocks MS\n", stderr);
        return 2;
    }
    uint64_t end = now_ns() + parse_ms(argv[1]), waited = 0, napped = 0, turns = 0;
    for (; now_ns() < end; turns++) {
        between(cpu_ns() + 2 * MS);
        uint64_t from = now_ns();
        take_a_nap(2 * MS);
        uint64_t then = now_ns();
        wait_for_pipe(pipes[0], 6 * MS);
        napped += then - from;
        waited += now_ns() - then;
    }
    tell("wait_for_pipe", waited);
    tell("wait_for_pipe at least", turns * 6 * MS);
    tell("take_a_nap", napped);
    tell("take_a_nap at least", turns * 2 * MS);
    return 0;
}
