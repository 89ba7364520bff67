/* SPDX-License-Identifier: ISC */
#include "bugs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct promise program;

bool wants_bad(int argc, char **argv)
{
    if (argc == 2 && (strcmp(argv[1], "bad") == 0 || strcmp(argv[1], "good") == 0))
        return argv[1][0] == 'b';
    fprintf(stderr, "usage: %s good|bad\n", argv[0]);
    exit(2);
}

void program_done(void)
{
    promise_fulfill(&program);
}

int program_run(callback *start)
{
    program = promise_new(weft_create("task", "main"));
    weft_should_resolve(program.id); /* that it is not done in the end is an error */
    loop_start(program.id, start);
    loop_run(&program, 250 * MS);
    return program.fulfilled ? 0 : 1;
}

uint64_t time_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

void work(uint64_t duration_ns)
{
    uint64_t begin_ns = time_ns();
    while (time_ns() - begin_ns < duration_ns)
        ;
}

void nap(uint64_t duration_ns)
{
    struct timespec t = {(time_t)(duration_ns / (1000 * MS)), (long)(duration_ns % (1000 * MS))};
    nanosleep(&t, NULL);
}
