/* SPDX-License-Identifier: ISC */
/* As if the program were killed after every instruction. It runs step by step, its threads in an order that a
 * seed gives; whenever an instruction has changed the trace, the file is what a kill would leave at that
 * moment, and is compared with what is known of the program (../torture/truth.h).
 *
 *     stepped [-n STEPS] [-t THREADS] [-s SEED] FILE
 *
 * The ring has 14 small packets and many promises are pending, so that much of the time goes to keeping them.
 * Without THREADS: with one, two and three in turn, so many steps each. Exits with 77 where single steps
 * cannot be had. Also in the environment: SEED. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../torture/truth.h"
#include "../torture/verify.h"
#include <weft/weft.h>

enum { BYTES = 64 << 10, WARM_UP = 3000, AT_ONCE = 400 };

static struct truth *truth;
static struct verified verified;
static const char *path;
static uint64_t dice, states;
static unsigned char before[BYTES];

static void fit_cells(void)
{
    struct weft_pending_header h;
    if (verify_pending_header(path, &h) && truth->plan.cells > h.cells / 4)
        truth->plan.cells = h.cells / 4;
    truth->plan.old = truth->plan.cells / 2;
}

/* The program. Each thread stops itself once it has warmed up. */
static void *record(void *arg)
{
    unsigned t = (unsigned)(uintptr_t)arg;
    truth_begin(truth, t);
    for (unsigned i = 0; i < WARM_UP + 97 * t; i++)
        truth_step(truth, t);
    raise(SIGSTOP);
    for (;;)
        truth_step(truth, t);
    return NULL;
}

static void program(void)
{
    pthread_t thread;
    alarm(TRUTH_ALARM);
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    raise(SIGSTOP); /* so that threads are traced, too */
    truth->error = weft_start(&(struct weft_options){.path = path, .bytes = BYTES});
    if (truth->error)
        _exit(1);
    fit_cells();
    for (uintptr_t t = 1; t < truth->plan.threads; t++)
        if (pthread_create(&thread, NULL, record, (void *)t))
            _exit(1);
    record(NULL);
}

/* ---- Who steps ---- */

/* Lets a thread go on until it stops itself. Stops that belong to the tracing are passed over. */
static bool run_to_stop(pid_t tid, bool first)
{
    int status, signal = 0;
    for (unsigned stops = 0; stops < 1000; stops++) {
        if (ptrace(PTRACE_CONT, tid, NULL, (void *)(uintptr_t)signal) < 0 ||
            waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status))
            return false;
        signal = 0;
        if (WSTOPSIG(status) == SIGSTOP && (status >> 16) == 0 && !first)
            return true;
        if (WSTOPSIG(status) == SIGSTOP)
            first = false; /* a new thread begins with one */
        else if (WSTOPSIG(status) != SIGTRAP)
            signal = WSTOPSIG(status);
    }
    return false;
}

/* The trace is as somebody would find it now. */
static bool check(const unsigned char *map)
{
    struct truth_snapshot snapshot;
    for (unsigned t = 0; t < truth->plan.threads; t++)
        truth->thread[t].floor = truth->thread[t].done;
    truth_snap(&snapshot, truth, false);
    bool ok = verify_calls(truth, path, WEFT_ENDED_RUNNING, &verified) &&
              verify_promises(&snapshot, NULL, path, &verified);
    free(snapshot.cell);
    memcpy(before, map, BYTES);
    states++;
    return ok;
}

static bool step(pid_t tid)
{
    int status;
    return ptrace(PTRACE_SINGLESTEP, tid, NULL, NULL) == 0 &&
           waitpid(tid, &status, __WALL) == tid && WIFSTOPPED(status);
}

/* Steps threads in turns of random length. */
static bool walk(const pid_t *tid, const unsigned char *map, uint64_t steps)
{
    for (uint64_t i = 0; i < steps;) {
        unsigned t = (unsigned)(truth_dice(&dice) % truth->plan.threads);
        uint64_t turn = 1 + truth_dice(&dice) % (truth_dice(&dice) % AT_ONCE + 1);
        for (; turn > 0; turn--, i++) {
            if (!step(tid[t])) {
                printf("thread %u cannot be stepped: %s\n", t, strerror(errno));
                return false;
            }
            if (memcmp(map, before, BYTES) && !check(map)) {
                printf("after step %" PRIu64 ", of thread %u\n", i, t);
                return false;
            }
        }
    }
    return true;
}

/* Attaches to the program as it begins; its threads' numbers come as they are made. Returns 0, 77 or 1. */
static int begin(pid_t pid, pid_t *tid)
{
    int status;
    if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
        ptrace(PTRACE_SETOPTIONS, pid, NULL,
               (void *)(uintptr_t)(PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL)) < 0) {
        printf("not tried: no tracing here\n");
        return 77;
    }
    tid[0] = pid;
    unsigned threads = 1;
    for (int signal = 0;; signal = 0) {
        unsigned long made;
        if (ptrace(PTRACE_CONT, pid, NULL, (void *)(uintptr_t)signal) < 0 ||
            waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
            return 1;
        if (status >> 8 == (SIGTRAP | PTRACE_EVENT_CLONE << 8)) {
            ptrace(PTRACE_GETEVENTMSG, pid, NULL, &made);
            tid[threads] = (pid_t)made;
            if (waitpid(tid[threads], &status, __WALL) != tid[threads] ||
                !run_to_stop(tid[threads], false))
                return 1;
            threads++;
        } else if (WSTOPSIG(status) == SIGSTOP) {
            return threads == truth->plan.threads ? 0 : 1;
        } else if (WSTOPSIG(status) != SIGTRAP) {
            signal = WSTOPSIG(status);
        }
    }
}

static int one_program(unsigned threads, uint64_t steps)
{
    pid_t tid[TRUTH_THREADS] = {0};
    truth_clear(truth);
    truth->plan = (struct truth_plan){
        .threads = threads, .cells = 40, .share = 256, .labels = 128, .seed = truth_dice(&dice)};
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        program();
        _exit(1);
    }
    int rc = begin(pid, tid);
    int fd = rc ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    void *map = fd < 0 ? MAP_FAILED : mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fd, 0);
    if (rc == 0 && (map == MAP_FAILED || !check(map) || !walk(tid, map, steps)))
        rc = 1;
    if (rc == 1)
        printf("%u threads; weft_start: %d\n", threads, truth->error);
    if (map != MAP_FAILED)
        munmap(map, BYTES);
    if (fd >= 0)
        close(fd);
    kill(pid, SIGKILL);
    while (waitpid(-1, NULL, __WALL) > 0)
        ;
    return rc;
}

int main(int argc, char **argv)
{
    const char *env = getenv("SEED");
    uint64_t steps = 300000, seed = env ? strtoull(env, NULL, 10) : 1;
    uint64_t threads = 0;
    for (int o; (o = getopt(argc, argv, "n:t:s:")) != -1;) {
        if (o == '?')
            return 2;
        *(o == 'n' ? &steps : o == 't' ? &threads : &seed) = strtoull(optarg, NULL, 10);
    }
    truth = truth_new();
    if (optind != argc - 1 || !truth || threads > TRUTH_THREADS)
        return 2;
    path = argv[optind];
    dice = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
    printf("seed %" PRIu64 "\n", seed);
    int rc = 0;
    for (unsigned t = threads ? (unsigned)threads : 1; t <= (threads ? threads : 3) && rc == 0; t++)
        rc = one_program(t, steps);
    printf("%" PRIu64 " states of the trace compared, %" PRIu64 " events, %" PRIu64
           " promises pending, %" PRIu64 " of them older than all events\n",
           states, verified.events, verified.pending, verified.promoted);
    return rc;
}
