/* SPDX-License-Identifier: ISC */
/* standing KIND: a program that has one promise and makes no further call, but waits, or computes, as KIND says, again and
 * again; it checks that nothing of that is disturbed. Says "ready" when it does. When it gets a line (spin, each: SIGUSR1),
 * it fulfils the promise, says "right", and ends; or says what was wrong, and exits with 1.
 *
 *     epoll, poll, read   for that line
 *     tick                for that line by epoll_wait, for 100 ms each time, and computes in between
 *     turns               the same for 2 ms, about as long as it computes
 *     sleep, ppoll, select, lock   for 100 ms each time
 *     deadlock            for a mutex, which another thread gives back when the line comes
 *     spin                computes with all kinds of registers
 *     each                computes in four threads
 *     trace PID           not that: traces another process until the line comes */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ptrace.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include <weft/weft.h>

enum { STEP_MS = 100, ROUND = 200000, THREADS = 4 };

static volatile sig_atomic_t told;

static void wrong(const char *what, long result)
{
    printf("wrong: %s %ld, %s\n", what, result, strerror(errno));
    exit(1);
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int line_is_there(void)
{
    struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&p, 1, 0) == 1;
}

/* ---- What computes ---- */

struct sums {
    double sum;
    uint64_t hash;
    float vector[16];
};

static void compute(struct sums *s)
{
    memset(s, 0, sizeof *s);
    for (long i = 1; i <= ROUND; i++) {
        s->sum += 1.0 / (double)i;
        s->hash = (s->hash ^ (uint64_t)i) * UINT64_C(6364136223846793005);
        for (unsigned k = 0; k < 16; k++)
            s->vector[k] = s->vector[k] * 0.5F + (float)(i & 1023) * (float)(k + 1);
    }
}

static void compute_as(const struct sums *first)
{
    struct sums next;
    compute(&next);
    if (memcmp(first, &next, sizeof next) != 0) {
        errno = 0;
        wrong("a sum", (long)next.hash);
    }
}

/* ---- What waits for the line ---- */

static void by_epoll(int limit_ms)
{
    const int fd = epoll_create1(0);
    struct epoll_event e = {.events = EPOLLIN};
    struct sums first;
    int n = 0;
    compute(&first);
    if (fd < 0 || epoll_ctl(fd, EPOLL_CTL_ADD, STDIN_FILENO, &e) < 0)
        wrong("epoll", -1);
    while (n == 0) {
        const int64_t since_ns = now_ns();
        n = epoll_wait(fd, &e, 1, limit_ms);
        if (n < 0 || (n == 0 && now_ns() - since_ns < (int64_t)limit_ms * 1000000))
            wrong("epoll_wait", n);
        compute_as(&first);
    }
}

static void by_poll(void)
{
    struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
    const int n = poll(&p, 1, 3600 * 1000);
    if (n != 1)
        wrong("poll", n);
}

static void by_read(void)
{
    char byte;
    const ssize_t n = read(STDIN_FILENO, &byte, 1);
    if (n != 1)
        wrong("read", (long)n);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

static void *hold(void *nothing)
{
    pthread_mutex_lock(&lock);
    pthread_barrier_wait(&both);
    by_read();
    pthread_mutex_unlock(&lock);
    return nothing;
}

static void by_lock(void)
{
    pthread_t thread;
    pthread_barrier_init(&both, NULL, 2);
    if (pthread_create(&thread, NULL, hold, NULL))
        wrong("pthread_create", -1);
    pthread_barrier_wait(&both);
    puts("ready");
    fflush(stdout);
    if (pthread_mutex_lock(&lock) || pthread_join(thread, NULL))
        wrong("pthread_mutex_lock", -1);
}

/* ---- What waits for time ---- */

static void wait_once(const char *kind)
{
    const struct timespec step = {.tv_nsec = STEP_MS * 1000000L};
    struct timespec until;
    int n = -2;
    const int64_t since_ns = now_ns();
    if (strcmp(kind, "sleep") == 0)
        n = nanosleep(&step, NULL);
    else if (strcmp(kind, "ppoll") == 0)
        n = ppoll(NULL, 0, &step, NULL);
    else if (strcmp(kind, "select") == 0)
        n = select(0, NULL, NULL, NULL, &(struct timeval){.tv_usec = STEP_MS * 1000});
    else {
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += STEP_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        n = pthread_mutex_timedlock(&lock, &until) == ETIMEDOUT ? 0 : -1;
    }
    if (n != 0 || now_ns() - since_ns < STEP_MS * INT64_C(999000))
        wrong(kind, n);
}

/* ---- What computes only ---- */

static void *spin(void *nothing)
{
    struct sums first;
    compute(&first);
    while (!told)
        compute_as(&first);
    return nothing;
}

static void spin_all(unsigned threads)
{
    pthread_t thread[THREADS];
    for (unsigned i = 0; i < threads; i++)
        if (pthread_create(&thread[i], NULL, spin, NULL))
            wrong("pthread_create", i);
    spin(NULL);
    for (unsigned i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
}

static void on_signal(int number)
{
    (void)number;
    told = 1;
}

static void trace(pid_t pid)
{
    if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0)
        wrong("ptrace", pid);
    puts("ready");
    fflush(stdout);
    by_read();
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "";
    if (strcmp(kind, "trace") == 0 && argc > 2) {
        trace((pid_t)atoi(argv[2]));
        return 0;
    }
    const weft_promise p = weft_create("task", "before");
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_signal}, NULL);
    if (strcmp(kind, "deadlock") != 0) {
        puts("ready");
        fflush(stdout);
    }
    if (strcmp(kind, "epoll") == 0)
        by_epoll(-1);
    else if (strcmp(kind, "tick") == 0)
        by_epoll(STEP_MS);
    else if (strcmp(kind, "turns") == 0)
        by_epoll(2);
    else if (strcmp(kind, "poll") == 0)
        by_poll();
    else if (strcmp(kind, "read") == 0)
        by_read();
    else if (strcmp(kind, "deadlock") == 0)
        by_lock();
    else if (strcmp(kind, "spin") == 0)
        spin_all(0);
    else if (strcmp(kind, "each") == 0)
        spin_all(THREADS - 1);
    else {
        pthread_mutex_lock(&lock);
        while (!line_is_there())
            wait_once(kind);
    }
    weft_fulfill(weft_create("task", "after"));
    weft_fulfill(p);
    puts("right");
    return 0;
}
