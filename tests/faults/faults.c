/* SPDX-License-Identifier: ISC */
#include "faults.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

bool bad;

int run_mode(int argc, char **argv, const struct mode *modes, size_t n)
{
    bad = argc == 3 && strcmp(argv[2], "bad") == 0;
    for (size_t i = 0; argc == 3 && i < n; i++) {
        if (strcmp(argv[1], modes[i].name) == 0) {
            modes[i].run();
            return 0;
        }
    }
    for (size_t i = 0; i < n; i++)
        fprintf(stderr, "%s %s good|bad\n", argv[0], modes[i].name);
    return 2;
}

const char *text(const char *format, ...)
{
    static _Thread_local char buffer[64];
    va_list list;
    va_start(list, format);
    vsnprintf(buffer, sizeof buffer, format, list);
    va_end(list);
    return buffer;
}

void *room(size_t bytes)
{
    static _Alignas(16) char all[1 << 20];
    static size_t used;
    void *found = all + used;
    used += (bytes + 15) / 16 * 16;
    must(used <= sizeof all);
    return found;
}

static double read_ms(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

double now_ms(void)
{
    return read_ms(CLOCK_MONOTONIC);
}

/* On a busy machine it takes longer than that, as all work does. */
void work(double ms)
{
    double end = read_ms(CLOCK_THREAD_CPUTIME_ID) + ms;
    while (read_ms(CLOCK_THREAD_CPUTIME_ID) < end)
        ;
}

void nap(double ms)
{
    struct timespec t = {(time_t)(ms / 1e3), (long)(ms * 1e6) % 1000000000};
    nanosleep(&t, NULL);
}

void sleep_told(double ms)
{
    weft_suspend(WEFT_WAIT_FOR_WORK);
    nap(ms);
    weft_resume();
}

void killed_after(double ms)
{
    struct itimerval t = {.it_value = {(time_t)(ms / 1e3), (long)(ms * 1e3) % 1000000}};
    must(setitimer(ITIMER_REAL, &t, NULL) == 0);
}

void must(bool done)
{
    if (!done)
        abort();
}
