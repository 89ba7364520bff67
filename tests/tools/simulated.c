/* SPDX-License-Identifier: ISC */
/* A machine for one program, on which every run is the same: a library to be preloaded.
 *
 *     LD_PRELOAD=simulated.so SIMULATED=FILE [SIMULATED_SIZE=BYTES] [SIMULATED_SEED=N] [SIMULATED_BUSY=1] [SIMULATED_KILLED=MS] PROGRAM…
 *
 * The program is recorded into FILE, and may be killed after so many milliseconds. As if it had a processor for each thread, but time passes only by what the
 * program does: each thread has a time of its own, and sleeping, blocking, reading the clock and recording an event
 * put it forward by fixed amounts. With a seed it takes more or less long until what slept runs, for each seed in
 * another way. On a busy machine others get the core of each thread again and again. One thread runs at a time: whenever one calls a function that stands here, the one whose time is least
 * goes on. So the order depends on nothing that the real machine does.
 *
 * Here is what the programs in tests/faults and examples/bugs call; others would wait in real time. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <weft/weft.h>

#include "format/packet.h"

#define THREADS 64
#define MUTEXES 64
#define NEVER UINT64_MAX
#define SECOND_NS 1000000000u
#define BEGIN_NS (1000 * (uint64_t)SECOND_NS)            /* since the machine was started */
#define BEGIN_WALL_NS (1700000000 * (uint64_t)SECOND_NS) /* since 1970 */

/* What things take. Who does nothing but read the clock waits for a time to come: a reading takes the longer, the
 * longer that has taken, so that there are few. */
enum { EVENT_NS = 100, CALL_NS = 500, WAKE_NS = 20000, READ_NS = 50, READ_MOST_NS = 8000 };

/* A busy machine: for so long does a thread have its core, and then others have it. As Linux does it beside three others. */
enum { CORE_NS = 4000000, AWAY_NS = 12000000 };

enum state { UNUSED, READY, SLEEPS, POLLS, LOCKS, WAITS, JOINS, ENDED };

static struct thread {
    enum state state;
    uint64_t time_ns, until_ns; /* until_ns: when it goes on in any case */
    uint64_t turn;              /* of those that wait for the same, the least is first */
    uint64_t reads_since_ns;    /* it has only read the clock */
    uint64_t core_since_ns;     /* it has had the core */
    uint64_t off_ns;            /* how long it had none in all, until then */
    const void *what;           /* it waits for */
    nfds_t n_fds;
    struct pollfd *fds;
    sem_t go;
    pthread_t id;
    void *(*body)(void *);
    void *argument;
} threads[THREADS];

static struct {
    const void *mutex;
    struct thread *owner;
} mutexes[MUTEXES];

static __thread struct thread *self; /* NULL: not simulated */
static uint64_t killed_ns = NEVER, turns;
static const char *trace;
static uint32_t seed; /* 0: no chance */
static bool busy;

#define REAL(name) ((__typeof__(&(name)))(uintptr_t)dlsym(RTLD_NEXT, #name))

static void must(bool done, const char *what)
{
    if (!done) {
        fprintf(stderr, "simulated: %s\n", what);
        abort();
    }
}

/* ---- The trace ---- */

static uint64_t trace_clock(void)
{
    if (!self)
        return BEGIN_NS;
    return self->reads_since_ns = self->time_ns += EVENT_NS;
}

static void write_fact(const void *fact, size_t size, size_t at)
{
    int fd = open(trace, O_WRONLY | O_CLOEXEC);
    must(fd >= 0 && pwrite(fd, fact, size, (off_t)at) == (ssize_t)size, "the trace");
    close(fd);
}

static void start_trace(const char *size)
{
    int rc = weft_start(&(struct weft_options){.size = sizeof(struct weft_options),
                                               .path = trace,
                                               .bytes = size ? strtoull(size, NULL, 10) : 0,
                                               .clock = trace_clock});
    must(rc == 0, "weft_start");
    uint32_t clock = WEFT_CLOCK_MONOTONIC; /* here it is the same */
    write_fact(&clock, sizeof clock, offsetof(struct weft_facts_header, clock));
}

/* What weft record does when a program was killed, which cannot say when. */
static void note_end(uint64_t ns)
{
    write_fact(&ns, sizeof ns, offsetof(struct weft_facts_header, stop_mono_ns));
}

int raise(int signal)
{
    if (self)
        note_end(self->time_ns);
    return REAL(raise)(signal);
}

/* ---- Whose turn it is ---- */

/* How long it takes to get up: up to four times as long by chance. */
static uint64_t wake_ns(void)
{
    if (!seed)
        return WAKE_NS;
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return WAKE_NS + seed % (3 * WAKE_NS);
}

/* From then on it has the core. */
static void run_from(struct thread *t, uint64_t ns)
{
    t->off_ns += ns - t->time_ns;
    t->core_since_ns = t->time_ns = ns;
}

static void wake(struct thread *t, uint64_t ns)
{
    run_from(t, (t->time_ns < ns ? ns : t->time_ns) + wake_ns());
    t->state = READY;
}

static int ready_now(struct pollfd *fds, nfds_t n)
{
    return REAL(poll)(fds, n, 0);
}

/* Descriptors change only by what the calling thread has just done. */
static void wake_pollers(void)
{
    for (struct thread *t = threads; t < threads + THREADS; t++)
        if (t != self && t->state == POLLS && ready_now(t->fds, t->n_fds) != 0)
            wake(t, self->time_ns);
}

static uint64_t goes_on_ns(const struct thread *t)
{
    if (t->state == READY)
        return t->time_ns;
    return t->state == SLEEPS || t->state == POLLS ? t->until_ns : NEVER;
}

static struct thread *next_thread(void)
{
    struct thread *next = threads;
    for (struct thread *t = threads + 1; t < threads + THREADS; t++)
        if (goes_on_ns(t) < goes_on_ns(next))
            next = t;
    if (goes_on_ns(next) >= killed_ns && killed_ns < NEVER) {
        note_end(killed_ns);
        REAL(raise)(SIGKILL);
        must(false, "survived SIGKILL");
    }
    must(goes_on_ns(next) < NEVER, "every thread waits for ever");
    if (next->state != READY)
        wake(next, next->until_ns);
    return next;
}

static void wait_turn(void)
{
    while (sem_wait(&self->go) != 0)
        must(errno == EINTR, "sem_wait");
}

/* Returns when the calling thread may go on. */
static void others(void)
{
    wake_pollers();
    struct thread *next = next_thread();
    if (next != self) {
        sem_post(&next->go);
        wait_turn();
    }
}

static void block(enum state state, const void *what, uint64_t until_ns)
{
    self->state = state;
    self->what = what;
    self->until_ns = until_ns;
    self->turn = ++turns;
    others();
}

/* What every call begins with: those who are behind do first what they do. False: this is not simulated. */
static bool takes(uint64_t ns)
{
    if (!self)
        return false;
    self->reads_since_ns = self->time_ns += ns;
    if (busy && self->time_ns - self->core_since_ns >= CORE_NS)
        run_from(self, self->time_ns + AWAY_NS);
    others();
    return true;
}

/* Who waits for that, and has waited longest. */
static struct thread *first_waiter(enum state state, const void *what)
{
    struct thread *first = NULL;
    for (struct thread *t = threads; t < threads + THREADS; t++)
        if (t->state == state && t->what == what && (!first || t->turn < first->turn))
            first = t;
    return first;
}

/* ---- Time ---- */

int clock_gettime(clockid_t clock, struct timespec *t)
{
    if (!self)
        return REAL(clock_gettime)(clock, t);
    uint64_t since_ns = self->reads_since_ns;
    uint64_t cost_ns = READ_NS + (self->time_ns - since_ns) / 64;
    takes(cost_ns < READ_MOST_NS ? cost_ns : READ_MOST_NS);
    self->reads_since_ns = since_ns;
    uint64_t ns = self->time_ns;
    if (clock == CLOCK_REALTIME)
        ns += BEGIN_WALL_NS - BEGIN_NS;
    if (clock == CLOCK_THREAD_CPUTIME_ID)
        ns -= self->off_ns;
    *t = (struct timespec){(time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS)};
    return 0;
}

int nanosleep(const struct timespec *t, struct timespec *left)
{
    if (!takes(CALL_NS))
        return REAL(nanosleep)(t, left);
    uint64_t ns = (uint64_t)t->tv_sec * SECOND_NS + (uint64_t)t->tv_nsec;
    block(SLEEPS, NULL, self->time_ns + ns);
    return 0;
}

int usleep(useconds_t us)
{
    return nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000L}, NULL);
}

int sched_yield(void)
{
    return takes(CALL_NS) ? 0 : REAL(sched_yield)();
}

int poll(struct pollfd *fds, nfds_t n, int timeout)
{
    if (!takes(CALL_NS))
        return REAL(poll)(fds, n, timeout);
    int ready = ready_now(fds, n);
    if (ready != 0 || timeout == 0)
        return ready;
    self->fds = fds;
    self->n_fds = n;
    block(POLLS, fds, timeout < 0 ? NEVER : self->time_ns + (uint64_t)timeout * 1000000);
    return ready_now(fds, n);
}

int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t size);
int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t size)
{
    must(n <= size / sizeof *fds, "poll");
    return poll(fds, n, timeout);
}

int setitimer(__itimer_which_t which, const struct itimerval *new, struct itimerval *old)
{
    if (which != ITIMER_REAL || old || !takes(CALL_NS))
        return REAL(setitimer)(which, new, old);
    killed_ns = self->time_ns + (uint64_t) new->it_value.tv_sec *SECOND_NS +
                (uint64_t) new->it_value.tv_usec * 1000;
    return 0;
}

/* ---- Threads ---- */

static void *run_thread(void *argument)
{
    self = argument;
    wait_turn();
    void *result = self->body(self->argument);
    for (struct thread *t; (t = first_waiter(JOINS, self));)
        wake(t, self->time_ns);
    wake_pollers();
    self->state = ENDED;
    sem_post(&next_thread()->go);
    self = NULL;
    return result;
}

static struct thread *new_thread(uint64_t begin_ns)
{
    struct thread *t = threads;
    while (t->state != UNUSED)
        must(++t < threads + THREADS, "too many threads");
    *t = (struct thread){
        .state = READY, .time_ns = begin_ns, .reads_since_ns = begin_ns, .core_since_ns = begin_ns};
    must(sem_init(&t->go, 0, 0) == 0, "sem_init");
    return t;
}

int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*body)(void *),
                   void *argument)
{
    if (!takes(CALL_NS))
        return REAL(pthread_create)(id, attributes, body, argument);
    struct thread *t = new_thread(self->time_ns + wake_ns());
    t->body = body;
    t->argument = argument;
    must(REAL(pthread_create)(id, attributes, run_thread, t) == 0, "pthread_create");
    t->id = *id;
    return 0;
}

int pthread_join(pthread_t id, void **result)
{
    if (takes(CALL_NS)) {
        struct thread *t = threads;
        while (t->state == UNUSED || !pthread_equal(t->id, id))
            must(++t < threads + THREADS, "no such thread");
        if (t->state != ENDED)
            block(JOINS, t, NEVER);
    }
    return REAL(pthread_join)(id, result);
}

static struct thread **owner_of(const void *mutex)
{
    unsigned i = 0;
    for (; mutexes[i].mutex != mutex && mutexes[i].mutex; i++)
        must(i + 1 < MUTEXES, "too many mutexes");
    mutexes[i].mutex = mutex;
    return &mutexes[i].owner;
}

static void take(const void *mutex)
{
    struct thread **owner = owner_of(mutex);
    if (*owner)
        block(LOCKS, mutex, NEVER); /* whoever gives it makes us the owner */
    *owner = self;
}

static void give(const void *mutex)
{
    struct thread **owner = owner_of(mutex), *next = first_waiter(LOCKS, mutex);
    must(*owner == self, "unlocks another thread's mutex");
    *owner = next;
    if (next)
        wake(next, self->time_ns);
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (!takes(CALL_NS))
        return REAL(pthread_mutex_lock)(mutex);
    take(mutex);
    return 0;
}

int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    if (!takes(CALL_NS))
        return REAL(pthread_mutex_trylock)(mutex);
    if (*owner_of(mutex))
        return EBUSY;
    take(mutex);
    return 0;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (!takes(CALL_NS))
        return REAL(pthread_mutex_unlock)(mutex);
    give(mutex);
    return 0;
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    if (!takes(CALL_NS))
        return REAL(pthread_cond_wait)(condition, mutex);
    give(mutex);
    block(WAITS, condition, NEVER);
    take(mutex);
    return 0;
}

int pthread_cond_signal(pthread_cond_t *condition)
{
    if (!takes(CALL_NS))
        return REAL(pthread_cond_signal)(condition);
    struct thread *t = first_waiter(WAITS, condition);
    if (t)
        wake(t, self->time_ns);
    return 0;
}

int pthread_cond_broadcast(pthread_cond_t *condition)
{
    if (!takes(CALL_NS))
        return REAL(pthread_cond_broadcast)(condition);
    for (struct thread *t; (t = first_waiter(WAITS, condition));)
        wake(t, self->time_ns);
    return 0;
}

/* ---- The beginning ---- */

__attribute__((constructor)) static void begin(void)
{
    trace = getenv("SIMULATED");
    if (!trace)
        return;
    unsetenv("LD_PRELOAD"); /* not for what the program may start */
    self = new_thread(BEGIN_NS);
    self->id = pthread_self();
    const char *chance = getenv("SIMULATED_SEED");
    seed = chance ? (uint32_t)strtoul(chance, NULL, 10) : 0;
    busy = getenv("SIMULATED_BUSY");
    const char *killed = getenv("SIMULATED_KILLED");
    if (killed)
        killed_ns = BEGIN_NS + strtoull(killed, NULL, 10) * 1000000;
    start_trace(getenv("SIMULATED_SIZE"));
}
