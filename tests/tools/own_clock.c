/* SPDX-License-Identifier: ISC */
/* A clock that a busy machine cannot stretch: a library to be preloaded.
 *
 *     LD_PRELOAD=own_clock.so OWN_CLOCK_OF=NAME [UNTIL_HUNG=1] WEFT_TRACE_CLOCK=monotonic PROGRAM…
 *
 * In the program of that name, all clocks show how long it has computed (all its threads together) and slept. While others
 * have the machine, they stand still; nobody sleeps in real time: when all threads of the program, and all its child
 * processes, wait for each other or for a time to come, the clocks jump to the earliest of these times. So what the program
 * does in which order, and how long each part takes, does not depend on what else the machine does.
 *
 * With UNTIL_HUNG, a program in which everything waits, and nothing for a time that comes within two seconds, is
 * interrupted, as by Ctrl-C: so a program of which a test knows that it hangs ends.
 *
 * Here is what the programs in examples/bugs call in order to sleep: whoever waits for a condition or a semaphore with a time
 * limit does so in real time. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS INT64_C(1000000000)
#define AWAKE 0
#define NEVER INT64_MAX

enum {
    THREADS = 256,
    CHILDREN = 256,   /* processes, with those that they started */
    FDS = 256,        /* of one call of poll */
    WAKE_FD = 800,    /* from there on: so that the program's descriptors keep their numbers */
    LOOK_NS = 200000, /* between two looks whether everything sleeps, in real time */
};
#define LONG_NS (2 * SECOND_NS)

#define REAL(name) ((__typeof__(&(name)))(uintptr_t)dlsym(RTLD_NEXT, #name))

static void must(bool done, const char *what)
{
    if (!done) {
        fprintf(stderr, "own_clock: %s\n", what);
        abort();
    }
}

/* ---- The clock ---- */

static bool active, until_hung;
static int64_t begin_ns;       /* real time, less the time computed until then */
static int64_t skipped_ns;     /* slept, all in all */
static int64_t shown_ns;       /* the latest time that anybody has seen */
static int64_t wall_ns;        /* from this clock to the time since 1970 */
static clockid_t keeper_clock; /* what the keeper computes does not count */
static bool has_keeper;

static int64_t system_ns(clockid_t clock)
{
    struct timespec t;
    must(syscall(SYS_clock_gettime, clock, &t) == 0, "clock_gettime");
    return (int64_t)t.tv_sec * SECOND_NS + t.tv_nsec;
}

static int64_t now_ns(void)
{
    int64_t ns = __atomic_load_n(&begin_ns, __ATOMIC_RELAXED) +
                 __atomic_load_n(&skipped_ns, __ATOMIC_ACQUIRE) +
                 system_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (__atomic_load_n(&has_keeper, __ATOMIC_ACQUIRE))
        ns -= system_ns(keeper_clock);
    int64_t before = __atomic_load_n(&shown_ns, __ATOMIC_RELAXED);
    while (before < ns && !__atomic_compare_exchange_n(&shown_ns, &before, ns, false,
                                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    return before < ns ? ns : before;
}

static struct timespec timespec_of(int64_t ns)
{
    return (struct timespec){ns / SECOND_NS, ns % SECOND_NS};
}

static int64_t ns_of(const struct timespec *t)
{
    return t->tv_sec >= NEVER / SECOND_NS ? NEVER : (int64_t)t->tv_sec * SECOND_NS + t->tv_nsec;
}

static bool is_wall(clockid_t clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
    const bool shown = is_wall(clock) || clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_RAW ||
                       clock == CLOCK_MONOTONIC_COARSE || clock == CLOCK_BOOTTIME;
    if (!active || !shown)
        return (int)syscall(SYS_clock_gettime, clock, t);
    *t = timespec_of(now_ns() + (is_wall(clock) ? wall_ns : 0));
    return 0;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    *t = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *t)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (t)
        *t = now.tv_sec;
    return now.tv_sec;
}

/* ---- Who sleeps ---- */

/* One of each thread that has slept. until_ns is AWAKE, or when it goes on in any case. */
static struct sleeper {
    int64_t until_ns;
    int used, wake_fd;
} sleepers[THREADS];

static __thread struct sleeper *self;
static pthread_key_t ended;
static uint32_t naps; /* how often anybody has begun to sleep: what the keeper waits for */

static void give_back(void *sleeper)
{
    struct sleeper *s = sleeper;
    close(s->wake_fd);
    __atomic_store_n(&s->used, 0, __ATOMIC_RELEASE);
}

static void find_self(void)
{
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), none = 0;
    struct sleeper *s = sleepers;
    for (; !__atomic_compare_exchange_n(&s->used, &none, 1, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED);
         none = 0)
        must(++s < sleepers + THREADS, "too many threads");
    s->wake_fd = fcntl(fd, F_DUPFD_CLOEXEC, WAKE_FD);
    must(fd >= 0 && s->wake_fd >= 0, "eventfd");
    close(fd);
    s->until_ns = AWAKE;
    self = s;
    pthread_setspecific(ended, s);
}

static void start_keeper(void);

static int64_t deadline_ns(int64_t wait_ns)
{
    const int64_t now = now_ns();
    return wait_ns < 0 || wait_ns >= NEVER - now ? NEVER : now + wait_ns;
}

/* From here on until wake_up, the thread waits, also for its wake_fd. */
static void lie_down(int64_t until_ns)
{
    if (!self)
        find_self();
    start_keeper();
    __atomic_store_n(&self->until_ns, until_ns, __ATOMIC_RELEASE);
    __atomic_fetch_add(&naps, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &naps, 1 /* FUTEX_WAKE */, 1, NULL, NULL, 0);
}

static void wake_up(void)
{
    uint64_t count;
    __atomic_store_n(&self->until_ns, AWAKE, __ATOMIC_RELEASE);
    (void)!read(self->wake_fd, &count, sizeof count);
}

/* Like poll; whether a time has come, the caller looks. */
static int sleep_until(struct pollfd *fds, nfds_t n, int64_t until_ns, const sigset_t *mask)
{
    struct pollfd all[FDS];
    must(n < FDS, "poll with so many descriptors");
    if (n)
        memcpy(all, fds, n * sizeof *fds);
    lie_down(until_ns);
    all[n] = (struct pollfd){.fd = self->wake_fd, .events = POLLIN};
    int ready = REAL(ppoll)(all, n + 1, NULL, mask);
    const int error = errno;
    const bool woken = ready > 0 && all[n].revents;
    wake_up();
    if (n)
        memcpy(fds, all, n * sizeof *fds);
    errno = error;
    return ready - woken;
}

int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
    if (!active || (timeout && ns_of(timeout) == 0))
        return REAL(ppoll)(fds, n, timeout, mask);
    const int64_t until_ns = deadline_ns(timeout ? ns_of(timeout) : -1);
    int ready;
    do
        ready = sleep_until(fds, n, until_ns, mask);
    while (ready == 0 && now_ns() < until_ns);
    return ready;
}

int poll(struct pollfd *fds, nfds_t n, int timeout)
{
    const struct timespec limit = timespec_of((int64_t)timeout * 1000000);
    return ppoll(fds, n, timeout < 0 ? NULL : &limit, NULL);
}

int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask,
                size_t size);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask,
                size_t size)
{
    must(n <= size / sizeof *fds, "ppoll");
    return ppoll(fds, n, timeout, mask);
}

int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t size);
int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t size)
{
    must(n <= size / sizeof *fds, "poll");
    return poll(fds, n, timeout);
}

int epoll_pwait(int fd, struct epoll_event *events, int most, int timeout, const sigset_t *mask)
{
    if (!active || timeout == 0)
        return REAL(epoll_pwait)(fd, events, most, timeout, mask);
    const int64_t until_ns = deadline_ns(timeout < 0 ? -1 : (int64_t)timeout * 1000000);
    for (;;) {
        struct pollfd set = {.fd = fd, .events = POLLIN};
        const int ready = REAL(epoll_pwait)(fd, events, most, 0, mask);
        if (ready != 0 || now_ns() >= until_ns)
            return ready;
        if (sleep_until(&set, 1, until_ns, mask) < 0)
            return -1;
    }
}

int epoll_wait(int fd, struct epoll_event *events, int most, int timeout)
{
    return epoll_pwait(fd, events, most, timeout, NULL);
}

static int sleep_for(int64_t until_ns, struct timespec *left)
{
    while (now_ns() < until_ns)
        if (sleep_until(NULL, 0, until_ns, NULL) < 0) {
            const int64_t now = now_ns();
            if (left)
                *left = timespec_of(now < until_ns ? until_ns - now : 0);
            return EINTR;
        }
    return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *t, struct timespec *left)
{
    if (!active)
        return REAL(clock_nanosleep)(clock, flags, t, left);
    if (flags & TIMER_ABSTIME)
        return sleep_for(ns_of(t) - (is_wall(clock) ? wall_ns : 0), NULL);
    return sleep_for(deadline_ns(ns_of(t)), left);
}

int nanosleep(const struct timespec *t, struct timespec *left)
{
    errno = clock_nanosleep(CLOCK_MONOTONIC, 0, t, left);
    return errno ? -1 : 0;
}

int usleep(useconds_t us)
{
    const struct timespec t = timespec_of((int64_t)us * 1000);
    return nanosleep(&t, NULL);
}

int select(int n, fd_set *restrict in, fd_set *restrict out, fd_set *restrict bad,
           struct timeval *restrict t)
{
    if (!active || (t && t->tv_sec == 0 && t->tv_usec == 0))
        return REAL(select)(n, in, out, bad, t);
    const int64_t until_ns =
        deadline_ns(t ? (int64_t)t->tv_sec * SECOND_NS + t->tv_usec * 1000 : -1);
    fd_set none, sets[3];
    FD_ZERO(&none);
    for (;;) {
        sets[0] = in ? *in : none, sets[1] = out ? *out : none, sets[2] = bad ? *bad : none;
        lie_down(until_ns);
        must(self->wake_fd < FD_SETSIZE, "select with so many descriptors");
        FD_SET(self->wake_fd, &sets[0]);
        int ready = REAL(select)(n > self->wake_fd ? n : self->wake_fd + 1, &sets[0], &sets[1],
                                 &sets[2], NULL);
        const int error = errno;
        if (ready > 0 && FD_ISSET(self->wake_fd, &sets[0])) {
            FD_CLR(self->wake_fd, &sets[0]);
            ready--;
        }
        wake_up();
        errno = error;
        if (ready == 0 && now_ns() < until_ns)
            continue;
        if (in && ready >= 0)
            *in = sets[0];
        if (out && ready >= 0)
            *out = sets[1];
        if (bad && ready >= 0)
            *bad = sets[2];
        return ready;
    }
}

/* ---- The keeper: a thread that finds out that all others sleep ---- */

/* All threads of the program and its children: whether they sleep, and a sum of how often each has. */
struct look {
    bool asleep;
    uint64_t sum;
    pid_t process[CHILDREN];
    unsigned processes;
};

static const char *field(const char *text, const char *name)
{
    const char *found = strstr(text, name);
    return found ? found + strlen(name) : "";
}

static void look_at_thread(struct look *l, pid_t pid, pid_t tid)
{
    char name[64], text[4096];
    snprintf(name, sizeof name, "/proc/%d/task/%d/status", (int)pid, (int)tid);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (n <= 0) { /* it has just ended */
        l->asleep = false;
        return;
    }
    text[n] = 0;
    l->asleep &= strchr("SZXI", *field(text, "\nState:\t")) != NULL;
    l->sum = l->sum * 31 + (uint64_t)tid;
    l->sum = l->sum * 31 + strtoull(field(text, "\nvoluntary_ctxt_switches:\t"), NULL, 10);
    l->sum = l->sum * 31 + strtoull(field(text, "\nnonvoluntary_ctxt_switches:\t"), NULL, 10);
    snprintf(name, sizeof name, "/proc/%d/task/%d/children", (int)pid, (int)tid);
    fd = open(name, O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    for (char *at = text; *at && l->processes < CHILDREN;) {
        char *end;
        const long child = strtol(at, &end, 10);
        if (end == at)
            break;
        l->process[l->processes++] = (pid_t)child;
        at = end + strspn(end, " ");
    }
}

static struct look look_at_all(void)
{
    const pid_t keeper = (pid_t)syscall(SYS_gettid);
    struct look l = {.asleep = true, .process = {getpid()}, .processes = 1};
    for (unsigned i = 0; i < l.processes && l.asleep; i++) {
        char name[64];
        snprintf(name, sizeof name, "/proc/%d/task", (int)l.process[i]);
        DIR *tasks = opendir(name);
        for (struct dirent *e; l.asleep && tasks && (e = readdir(tasks));) {
            const pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);
            if (tid > 0 && tid != keeper)
                look_at_thread(&l, l.process[i], tid);
        }
        if (tasks)
            closedir(tasks);
    }
    return l;
}

/* Who sleeps in two looks, and has not run in between, slept all the time from one look to the other; so there was
 * a moment in which all slept. Then nothing but a time that comes makes any go on. */
static bool all_sleep(void)
{
    const struct look one = look_at_all();
    if (!one.asleep)
        return false;
    const struct look two = look_at_all();
    return two.asleep && one.sum == two.sum;
}

static int64_t next_ns(void)
{
    int64_t next = NEVER;
    for (struct sleeper *s = sleepers; s < sleepers + THREADS; s++) {
        const int64_t until = __atomic_load_n(&s->until_ns, __ATOMIC_ACQUIRE);
        if (until != AWAKE && until < next)
            next = until;
    }
    return next;
}

static void nap(int64_t ns)
{
    const struct timespec t = timespec_of(ns);
    syscall(SYS_nanosleep, &t, NULL);
}

/* What weft record says of the end is in real time; it must not be earlier than what has happened. */
static void interrupt(void)
{
    const int64_t late = now_ns() + SECOND_NS / 2 - system_ns(CLOCK_MONOTONIC);
    if (late > 0)
        nap(late);
    kill(getpid(), SIGINT);
}

static void jump_to(int64_t ns)
{
    const int64_t now = now_ns();
    if (now < ns)
        __atomic_fetch_add(&skipped_ns, ns - now, __ATOMIC_RELEASE);
    for (struct sleeper *s = sleepers; s < sleepers + THREADS; s++) {
        const int64_t until = __atomic_load_n(&s->until_ns, __ATOMIC_ACQUIRE);
        if (until != AWAKE && until <= ns)
            must(write(s->wake_fd, &(uint64_t){1}, sizeof(uint64_t)) > 0, "eventfd");
    }
}

static void *keep(void *unused)
{
    bool interrupted = false;
    for (;;) {
        const uint32_t before = __atomic_load_n(&naps, __ATOMIC_ACQUIRE);
        const int64_t next = next_ns(), wait = next == NEVER ? NEVER : next - now_ns();
        const bool soon = wait < (until_hung ? LONG_NS : NEVER);
        if (!soon && (!until_hung || interrupted)) {
            syscall(SYS_futex, &naps, 0 /* FUTEX_WAIT */, before, NULL, NULL, 0);
            continue;
        }
        if (wait <= 0) {
            jump_to(next); /* others have computed until then */
        } else if (all_sleep() && __atomic_load_n(&naps, __ATOMIC_ACQUIRE) == before) {
            if (soon)
                jump_to(next);
            else
                interrupt();
            interrupted = !soon;
        }
        nap(LOOK_NS);
    }
    return unused;
}

/* Nobody else may take this thread for one of the program's. */
static void start_keeper(void)
{
    static int starting;
    pthread_t keeper;
    sigset_t all, before;
    if (__atomic_load_n(&has_keeper, __ATOMIC_ACQUIRE) ||
        __atomic_exchange_n(&starting, 1, __ATOMIC_ACQ_REL))
        return; /* another thread is at it */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    must(REAL(pthread_create)(&keeper, NULL, keep, NULL) == 0, "pthread_create");
    must(pthread_getcpuclockid(keeper, &keeper_clock) == 0, "pthread_getcpuclockid");
    must(REAL(pthread_detach)(keeper) == 0, "pthread_detach");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    __atomic_store_n(&has_keeper, true, __ATOMIC_RELEASE);
    __atomic_store_n(&starting, 0, __ATOMIC_RELEASE);
}

/* ---- The beginning ---- */

/* A forked child has computed nothing yet, and no keeper. */
static void forked(void)
{
    for (struct sleeper *s = sleepers; s < sleepers + THREADS; s++)
        if (s->used)
            close(s->wake_fd);
    memset(sleepers, 0, sizeof sleepers);
    self = NULL;
    has_keeper = false;
    begin_ns = shown_ns - system_ns(CLOCK_PROCESS_CPUTIME_ID);
    skipped_ns = 0;
}

__attribute__((constructor)) static void begin(void)
{
    const char *name = getenv("OWN_CLOCK_OF");
    if (!name || strcmp(name, program_invocation_short_name) != 0)
        return;
    until_hung = getenv("UNTIL_HUNG");
    must(pthread_key_create(&ended, give_back) == 0, "pthread_key_create");
    must(pthread_atfork(NULL, NULL, forked) == 0, "pthread_atfork");
    const int64_t mono_ns = system_ns(CLOCK_MONOTONIC);
    begin_ns = mono_ns - system_ns(CLOCK_PROCESS_CPUTIME_ID);
    wall_ns = system_ns(CLOCK_REALTIME) - mono_ns;
    active = true;
}
