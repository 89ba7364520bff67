/* SPDX-License-Identifier: ISC */
/* shared_core FILE: two processes that both want one core. The recorder of one says for how long it had none, in the turn in
 * which that was; and nothing for a turn in which it slept in a system call by itself. */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "read/reader.h"
#include <weft/weft.h>

enum { SKIPPED = 77 };

#define MS UINT64_C(1000000)
#define SLEEP_MS 50

static uint64_t by(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void burn(uint64_t ns)
{
    for (const uint64_t begun = by(CLOCK_THREAD_CPUTIME_ID);
         by(CLOCK_THREAD_CPUTIME_ID) - begun < ns;)
        ;
}

/* This process and its children are on one core from now on. */
static int one_core(void)
{
    cpu_set_t cores, one;
    if (sched_getaffinity(0, sizeof cores, &cores))
        return -1;
    for (size_t i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &cores)) {
            CPU_ZERO(&one);
            CPU_SET(i, &one);
            return sched_setaffinity(0, sizeof one, &one);
        }
    return -1;
}

static pid_t rival(void)
{
    const pid_t child = fork();
    if (child)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
        ;
}

/* Two turns: one that shares the core, one that sleeps. *without: how long each lasted in which it neither had the core nor was to
 * sleep. */
static int record(const char *path, uint64_t without[2])
{
    if (weft_start(&(struct weft_options){.path = path, .bytes = 1 << 20}))
        return -1;
    weft_suspend(WEFT_WAIT_FOR_WORK);
    const pid_t child = rival();
    uint64_t begun = by(CLOCK_MONOTONIC), had = by(CLOCK_THREAD_CPUTIME_ID);
    weft_resume();
    burn(100 * MS);
    weft_suspend(WEFT_WAIT_FOR_WORK);
    without[0] = by(CLOCK_MONOTONIC) - begun - (by(CLOCK_THREAD_CPUTIME_ID) - had);
    /* The system is asked at the end of turns: what was missed since then may count in the next one. */
    begun = by(CLOCK_MONOTONIC), had = by(CLOCK_THREAD_CPUTIME_ID);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    weft_resume();
    usleep(SLEEP_MS * 1000);
    weft_suspend(WEFT_HIBERNATE);
    without[1] = by(CLOCK_MONOTONIC) - begun - (by(CLOCK_THREAD_CPUTIME_ID) - had) - SLEEP_MS * MS;
    weft_stop();
    return 0;
}

int main(int argc, char **argv)
{
    struct weft_reader *reader;
    struct weft_error err;
    const struct weft_event *ev;
    ptrdiff_t n;
    uint64_t said[2] = {0};
    unsigned turn = 0;
    if (argc != 2)
        return 2;
    if (access("/proc/thread-self/schedstat", R_OK) || one_core()) {
        printf("the system does not say how long a thread has waited for a core, or there is no "
               "choice of one\n");
        return SKIPPED;
    }
    uint64_t without[2] = {0};
    if (record(argv[1], without) < 0)
        return 1;
    if (weft_reader_open(&reader, argv[1], &err) < 0) {
        printf("%s: %s\n", argv[1], err.text);
        return 1;
    }
    while ((n = weft_reader_next(reader, &ev, &err)) > 0)
        for (ptrdiff_t i = 0; i < n; i++) {
            turn += ev[i].kind == WEFT_EVENT_RESUME;
            if (ev[i].kind == WEFT_EVENT_PREEMPTED && (turn == 1 || turn == 2))
                said[turn - 1] += (uint64_t)ev[i].value;
        }
    weft_reader_close(reader);
    printf("%.3f ms without the core, the trace says %.3f; when it slept, %.3f, and it says %.3f\n",
           (double)without[0] / 1e6, (double)said[0] / 1e6, (double)without[1] / 1e6,
           (double)said[1] / 1e6);
    /* Two that want a core have it in turns: one that burns 100 ms misses at least some slices. */
    return turn == 2 && n == 0 && said[0] >= 10 * MS && said[0] <= without[0] + MS &&
                   said[1] <= without[1] + MS
               ? 0
               : 1;
}
