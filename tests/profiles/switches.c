/* SPDX-License-Identifier: ISC */
/* switches ROUNDS: two threads of one core wake each other, 6000 times a round; says what a switch from one to the
 * other took of the CPU, in the round where that was least. For bench/run-sample. */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <unistd.h>

#include "share.h"

enum { WAKES = 3000 };

static int there[2], back[2];

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void *answer(void *data)
{
    char c;
    for (int i = 0; i < WAKES; i++)
        must(read(there[0], &c, 1) == 1 && write(back[1], &c, 1) == 1);
    return data;
}

int main(int argc, char **argv)
{
    cpu_set_t one;
    const int core = sched_getcpu();
    uint64_t least = UINT64_MAX;
    char c = 0;
    if (argc != 2) {
        fputs("usage: switches ROUNDS\n", stderr);
        return 2;
    }
    CPU_ZERO(&one);
    CPU_SET((size_t)core, &one);
    must(core >= 0 && sched_setaffinity(0, sizeof one, &one) == 0 && pipe(there) == 0 &&
         pipe(back) == 0);
    for (long round = atol(argv[1]); round > 0; round--) {
        pthread_t thread;
        const uint64_t begin = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
        must(pthread_create(&thread, NULL, answer, NULL) == 0);
        for (int i = 0; i < WAKES; i++)
            must(write(there[1], &c, 1) == 1 && read(back[0], &c, 1) == 1);
        must(pthread_join(thread, NULL) == 0);
        const uint64_t took = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin;
        least = took < least ? took : least;
    }
    tell("switch", least / (2 * WAKES));
    return 0;
}
