/* SPDX-License-Identifier: ISC */
/* hang CASE: hangs on purpose, as its name says, for ever. What waits has the name of a function of its own. Says "ready" on
 * standard output just before it hangs; who looks at it waits until its threads are in the right system calls, of which
 * `hang calls` says the numbers. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static int status; /* so that nothing is a tail call */

static void must(bool good, const char *what)
{
    if (good)
        return;
    perror(what);
    exit(77);
}

static void ready(void)
{
    puts("ready");
    fflush(stdout);
}

static void start(void *(*run)(void *), void *data, pthread_t *thread)
{
    pthread_t other;
    must(pthread_create(thread ? thread : &other, NULL, run, data) == 0, "pthread_create");
}

/* ---- Locks ---- */

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    int before[10];
    pthread_mutex_t lock;
} account;
static pthread_barrier_t both;

static NOINLINE void *write_log(void *nothing)
{
    pthread_mutex_lock(&log_lock);
    pthread_barrier_wait(&both);
    status += pthread_mutex_lock(&account.lock);
    return nothing;
}

static NOINLINE void transfer(void)
{
    pthread_mutex_lock(&account.lock);
    pthread_barrier_wait(&both);
    status += pthread_mutex_lock(&log_lock);
}

static void abba(void)
{
    pthread_barrier_init(&both, NULL, 2);
    pthread_mutex_init(&account.lock, NULL);
    start(write_log, NULL, NULL);
    ready();
    transfer();
}

static void on_alarm(int number)
{
    (void)number;
}

/* Signals interrupt the deadlock, for ever. */
static void interrupted(void)
{
    const struct itimerval often = {{.tv_usec = 20000}, {.tv_usec = 20000}};
    signal(SIGALRM, on_alarm);
    must(setitimer(ITIMER_REAL, &often, NULL) == 0, "setitimer");
    abba();
    status++;
}

/* They wait for each other, but not for ever. */
static NOINLINE void lock_soon(pthread_mutex_t *mine, pthread_mutex_t *other)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 3600 * 100;
    pthread_mutex_lock(mine);
    pthread_barrier_wait(&both);
    status += pthread_mutex_clocklock(other, CLOCK_REALTIME, &until);
}

static void *lock_log_first(void *nothing)
{
    lock_soon(&log_lock, &queue_lock);
    return nothing;
}

static void patient(void)
{
    pthread_barrier_init(&both, NULL, 2);
    start(lock_log_first, NULL, NULL);
    ready();
    lock_soon(&queue_lock, &log_lock);
    status++;
}

static NOINLINE void lock_again(pthread_mutex_t *lock)
{
    pthread_mutex_lock(lock);
    ready();
    status += pthread_mutex_lock(lock);
}

static void self(void)
{
    lock_again(&log_lock);
}

/* Mutexes of other kinds; on the heap and on the stack. */
static void self_with(int robust, int protocol, int shared, bool heap)
{
    pthread_mutexattr_t attr;
    pthread_mutex_t own, *lock = heap ? malloc(sizeof *lock) : &own;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, robust);
    pthread_mutexattr_setprotocol(&attr, protocol);
    pthread_mutexattr_setpshared(&attr, shared);
    must(lock && pthread_mutex_init(lock, &attr) == 0, "mutex");
    lock_again(lock);
}

static void robust(void)
{
    self_with(PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE, PTHREAD_PROCESS_PRIVATE, true);
}

static void inherit(void)
{
    self_with(PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT, PTHREAD_PROCESS_PRIVATE, false);
}

static pthread_mutex_t inherited[2];

static NOINLINE void *lock_second(void *nothing)
{
    pthread_mutex_lock(&inherited[1]);
    pthread_barrier_wait(&both);
    status += pthread_mutex_lock(&inherited[0]);
    return nothing;
}

/* The kernel sees the deadlock, and refuses. Both mutexes are on the stack, so which one it was cannot be seen. */
static NOINLINE void lock_first(void)
{
    pthread_mutex_t *volatile seen[2] = {&inherited[0], &inherited[1]};
    pthread_mutex_lock(seen[0]);
    pthread_barrier_wait(&both);
    while (!(__atomic_load_n(&inherited[0].__data.__lock, __ATOMIC_RELAXED) & (int)FUTEX_WAITERS))
        sched_yield();
    ready();
    status += pthread_mutex_lock(seen[1]) + pthread_mutex_unlock(seen[0]);
}

static void refused(void)
{
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
    for (int i = 0; i < 2; i++)
        must(pthread_mutex_init(&inherited[i], &attr) == 0, "mutex");
    pthread_barrier_init(&both, NULL, 2);
    start(lock_second, NULL, NULL);
    lock_first();
}

/* A lock of the program's own, with the values that those of the C library have. */
static NOINLINE void lock_own(uint32_t *word)
{
    ready();
    status += syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0) == 0;
}

static uint32_t own_word = 2; /* not within: clang names it by the function, too */

static void own_futex(void)
{
    lock_own(&own_word);
    status++;
}

/* … of which the stack looks as if it was a condition variable, with a mutex. */
static NOINLINE void wait_own(uint32_t *word, volatile uintptr_t *like)
{
    ready();
    like[0] = ((uintptr_t)word & ~UINT64_C(7)) - 40;
    like[1] = (uintptr_t)&log_lock;
    status += syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, 2, NULL, NULL, -1) == 0;
}

static void own_bitset(void)
{
    volatile uintptr_t like[2];
    wait_own(&own_word, like);
    status += like[0] != 0;
}

/* A child of fork has a copy of a lock that a thread has that it does not have itself. */
static void *keep_log(void *nothing)
{
    pthread_mutex_lock(&log_lock);
    pthread_barrier_wait(&both);
    pause();
    return nothing;
}

static void forked(void)
{
    pthread_barrier_init(&both, NULL, 2);
    start(keep_log, NULL, NULL);
    pthread_barrier_wait(&both);
    const pid_t child = fork();
    must(child >= 0, "fork");
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
        status += pthread_mutex_lock(&log_lock);
        _exit(1);
    }
    printf("child %d\n", (int)child);
    ready();
    pause();
}

static void *die_with_lock(void *lock)
{
    pthread_mutex_lock(lock);
    return NULL;
}

/* The owner has ended. */
static void orphan(void)
{
    pthread_t thread;
    start(die_with_lock, &log_lock, &thread);
    pthread_join(thread, NULL);
    ready();
    status += pthread_mutex_lock(&log_lock);
}

static pthread_cond_t work = PTHREAD_COND_INITIALIZER;

static NOINLINE void *take_work(void *nothing)
{
    pthread_mutex_lock(&queue_lock);
    ready();
    status += pthread_cond_wait(&work, &queue_lock);
    return nothing;
}

static NOINLINE void await_worker(pthread_t thread)
{
    status += pthread_join(thread, NULL);
}

static void join(void)
{
    pthread_t thread;
    start(take_work, NULL, &thread);
    await_worker(thread);
}

static NOINLINE void *take_ticket(void *sem)
{
    ready();
    status += sem_wait(sem);
    return NULL;
}

static sem_t tickets, shared_tickets;

static void semaphore(void)
{
    sem_init(&tickets, 0, 0);
    take_ticket(&tickets);
}

static void shared_semaphore(void)
{
    sem_init(&shared_tickets, 1, 0);
    take_ticket(&shared_tickets);
}

static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;

static NOINLINE void *read_table(void *nothing)
{
    status += pthread_rwlock_rdlock(&table);
    return nothing;
}

static NOINLINE void await_reader(void)
{
    pthread_t thread;
    pthread_rwlock_wrlock(&table);
    start(read_table, NULL, &thread);
    ready();
    status += pthread_join(thread, NULL);
}

static void rwlock(void)
{
    await_reader();
}

static NOINLINE void *write_table(void *nothing)
{
    ready();
    status += pthread_rwlock_wrlock(&table);
    return nothing;
}

/* A writer waits for a reader. */
static void readers(void)
{
    pthread_rwlock_rdlock(&table);
    write_table(NULL);
}

static void barrier(void)
{
    pthread_barrier_init(&both, NULL, 3);
    ready();
    status += pthread_barrier_wait(&both) != 0;
}

static void *hold_stream(void *barrier)
{
    flockfile(stderr);
    pthread_barrier_wait(barrier);
    return pause() ? NULL : barrier;
}

/* A thread sleeps while it has the lock of a FILE. */
static void stream(void)
{
    pthread_barrier_init(&both, NULL, 2);
    start(hold_stream, &both, NULL);
    pthread_barrier_wait(&both);
    ready();
    status += fputs("never", stderr);
}

/* ---- Descriptors ---- */

/* In a child: waits for ever. */
static _Noreturn void stay(void)
{
    for (;;)
        pause();
}

/* The child has the only writing end. */
static void child_pipe(void)
{
    int end[2];
    char byte;
    must(pipe(end) == 0, "pipe");
    const pid_t child = fork();
    must(child >= 0, "fork");
    if (child == 0) {
        close(end[0]);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_NAME, "writer");
        stay();
    }
    close(end[1]);
    printf("child %d\n", (int)child);
    ready();
    status += read(end[0], &byte, 1) == 1;
}

/* Each waits for what the other one writes. */
static void two_pipes(void)
{
    int to_parent[2], to_child[2];
    char byte;
    must(pipe(to_parent) == 0 && pipe(to_child) == 0, "pipe");
    const pid_t child = fork();
    must(child >= 0, "fork");
    if (child == 0) {
        close(to_parent[0]);
        close(to_child[1]);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_NAME, "other");
        status += read(to_child[0], &byte, 1) == 1;
        stay();
    }
    close(to_parent[1]);
    close(to_child[0]);
    printf("child %d\n", (int)child);
    ready();
    status += read(to_parent[0], &byte, 1) == 1;
}

static void two_ends(void)
{
    int end[2];
    char byte;
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, end) == 0, "socketpair");
    const pid_t child = fork();
    must(child >= 0, "fork");
    if (child == 0) {
        close(end[0]);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_NAME, "other");
        status += recv(end[1], &byte, 1, 0) == 1;
        stay();
    }
    close(end[1]);
    printf("child %d\n", (int)child);
    ready();
    status += recv(end[0], &byte, 1, 0) == 1;
}

static void own_pipe(void)
{
    int end[2];
    char byte;
    must(pipe(end) == 0, "pipe");
    ready();
    status += read(end[0], &byte, 1) == 1;
}

static void await_child(void)
{
    const pid_t child = fork();
    must(child >= 0, "fork");
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_NAME, "worker");
        stay();
    }
    printf("child %d\n", (int)child);
    ready();
    status += waitpid(child, NULL, 0) == child;
}

static int listener(struct sockaddr_in *at)
{
    socklen_t size = sizeof *at;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    *at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    must(fd >= 0 && bind(fd, (struct sockaddr *)at, size) == 0 && listen(fd, 8) == 0 &&
             getsockname(fd, (struct sockaddr *)at, &size) == 0,
         "listen");
    return fd;
}

static void add(int epoll, int fd, uint32_t events)
{
    struct epoll_event e = {.events = events, .data.fd = fd};
    must(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) == 0, "epoll_ctl");
}

static NOINLINE void serve(int epoll)
{
    struct epoll_event e;
    status += epoll_wait(epoll, &e, 1, -1);
}

/* A listening socket, one connection from a child, a timer that is set, and an eventfd. */
static void epoll(void)
{
    struct sockaddr_in at;
    const int listening = listener(&at), e = epoll_create1(0);
    const int timer = timerfd_create(CLOCK_MONOTONIC, 0), event = eventfd(0, 0);
    const struct itimerspec later = {.it_value = {.tv_sec = 3600 * 100}};
    const pid_t child = fork();
    must(child >= 0, "fork");
    if (child == 0) {
        close(listening);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_NAME, "client");
        const int fd = socket(AF_INET, SOCK_STREAM, 0);
        must(fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof at) == 0, "connect");
        stay();
    }
    const int connection = accept(listening, NULL, NULL);
    must(connection >= 0 && timerfd_settime(timer, 0, &later, NULL) == 0, "accept");
    add(e, listening, EPOLLIN);
    add(e, connection, EPOLLIN);
    add(e, timer, EPOLLIN);
    add(e, event, EPOLLIN);
    printf("port %d\nchild %d\n", ntohs(at.sin_port), (int)child);
    ready();
    serve(e);
}

static void inner_epoll(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGUSR1);
    const int outer = epoll_create1(0), inner = epoll_create1(0);
    add(inner, signalfd(-1, &set, 0), EPOLLIN);
    add(outer, inner, EPOLLIN);
    ready();
    serve(outer);
}

static void unix_peer(void)
{
    int end[2];
    char byte;
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, end) == 0, "socketpair");
    const pid_t child = fork();
    must(child >= 0, "fork");
    if (child == 0) {
        close(end[0]);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_NAME, "peer");
        stay();
    }
    close(end[1]);
    printf("child %d\n", (int)child);
    ready();
    status += recv(end[0], &byte, 1, 0) == 1;
}

static void poll_two(void)
{
    int end[2];
    must(pipe(end) == 0, "pipe");
    struct pollfd p[3] = {
        {.fd = end[0], .events = POLLIN}, {.fd = -1}, {.fd = 0, .events = POLLIN}};
    ready();
    status += poll(p, 3, -1);
}

static void poll_one(void)
{
    int end[2];
    must(pipe(end) == 0, "pipe");
    struct pollfd p = {.fd = end[0], .events = POLLIN};
    ready();
    status += poll(&p, 1, -1);
}

static void select_two(void)
{
    int end[2];
    fd_set set;
    must(pipe(end) == 0, "pipe");
    FD_ZERO(&set);
    FD_SET(0, &set);
    FD_SET(end[0], &set);
    ready();
    status += select(end[0] + 1, &set, NULL, NULL, NULL);
}

/* Another process has the lock. */
static void file_lock(void)
{
    char path[] = "/tmp/hangXXXXXX", byte = 0;
    int end[2];
    const int fd = mkstemp(path);
    must(fd >= 0 && pipe(end) == 0, path);
    const pid_t child = fork();
    must(child >= 0, "fork");
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_NAME, "holder");
        must(flock(open(path, O_RDWR), LOCK_EX) == 0 && write(end[1], &byte, 1) == 1, "flock");
        stay();
    }
    must(read(end[0], &byte, 1) == 1, "read");
    unlink(path);
    printf("child %d\n", (int)child);
    ready();
    status += flock(fd, LOCK_EX);
}

/* The process itself has the lock, through another descriptor. */
static void own_file_lock(void)
{
    char path[] = "/tmp/hangXXXXXX";
    const int fd = mkstemp(path), other = open(path, O_RDWR);
    must(fd >= 0 && flock(other, LOCK_EX) == 0, path);
    unlink(path);
    ready();
    status += flock(fd, LOCK_EX);
}

/* In a child: says that it is ready, and waits for ever. */
static _Noreturn void hold(int to)
{
    const char byte = 0;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "holder");
    must(write(to, &byte, 1) == 1, "write");
    stay();
}

static pid_t other_begins(void)
{
    const pid_t child = fork();
    must(child >= 0, "fork");
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_NAME, "other");
    } else {
        printf("child %d\n", (int)child);
    }
    return child;
}

static void come(int end)
{
    char byte = 0;
    must(write(end, &byte, 1) == 1 && read(end, &byte, 1) == 1, "come");
}

/* Two processes lock two files in opposite order. */
static void two_files(void)
{
    char path[2][16] = {"/tmp/hangXXXXXX", "/tmp/hangXXXXXX"};
    int own[2], end[2];
    for (int i = 0; i < 2; i++)
        close(mkstemp(path[i]));
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, end) == 0, "socketpair");
    const int me = other_begins() == 0;
    for (int i = 0; i < 2; i++)
        own[i] = open(path[i], O_RDWR);
    must(flock(own[me], LOCK_EX) == 0, "flock");
    come(end[me]);
    unlink(path[me]);
    if (!me)
        ready();
    status += flock(own[!me], LOCK_EX);
}

/* … two semaphores. */
static void two_semaphores(void)
{
    int end[2];
    const int set = semget(IPC_PRIVATE, 2, 0600 | IPC_CREAT);
    must(set >= 0 && semctl(set, 0, SETVAL, 1) == 0 && semctl(set, 1, SETVAL, 1) == 0, "semget");
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, end) == 0, "socketpair");
    const unsigned short me = other_begins() == 0;
    struct sembuf take = {me, -1, 0}, then = {!me, -1, 0};
    must(semop(set, &take, 1) == 0, "semop");
    come(end[me]);
    if (!me) {
        printf("set %d\n", set);
        ready();
    }
    status += semop(set, &then, 1);
}

/* … two mutexes. */
static void two_mutexes(void)
{
    int end[2];
    pthread_mutexattr_t attr;
    pthread_mutex_t *lock =
        mmap(NULL, 2 * sizeof *lock, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    must(lock != MAP_FAILED && pthread_mutex_init(&lock[0], &attr) == 0 &&
             pthread_mutex_init(&lock[1], &attr) == 0 &&
             socketpair(AF_UNIX, SOCK_STREAM, 0, end) == 0,
         "mutex");
    const int me = other_begins() == 0;
    pthread_mutex_lock(&lock[me]);
    come(end[me]);
    if (!me)
        ready();
    status += pthread_mutex_lock(&lock[!me]);
}

/* It waits for the end of a child that writes more than fits into the pipe. */
static void full_pipe(void)
{
    static const char much[1 << 20];
    int end[2];
    must(pipe(end) == 0, "pipe");
    const pid_t child = other_begins();
    if (child == 0) {
        close(end[0]);
        status += write(end[1], much, sizeof much) == sizeof much;
        _exit(1);
    }
    close(end[1]);
    ready();
    status += waitpid(child, NULL, 0) == child;
}

/* A lock of fcntl, on a part of a file. */
static void record_lock(void)
{
    char path[] = "/tmp/hangXXXXXX", byte = 0;
    int end[2];
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 10, .l_len = 5};
    const int fd = mkstemp(path);
    must(fd >= 0 && pipe(end) == 0, path);
    const pid_t child = fork();
    must(child >= 0, "fork");
    if (child == 0) {
        must(fcntl(fd, F_SETLK, &lock) == 0, "fcntl");
        hold(end[1]);
    }
    must(read(end[0], &byte, 1) == 1, "read");
    unlink(path);
    printf("child %d\n", (int)child);
    ready();
    status += fcntl(fd, F_SETLKW, &lock);
}

/* A mutex that a child has. */
static NOINLINE void await_holder(int robust)
{
    char byte = 0;
    int end[2];
    pthread_mutexattr_t attr;
    pthread_mutex_t *lock =
        mmap(NULL, sizeof *lock, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attr, robust);
    must(lock != MAP_FAILED && pipe(end) == 0 && pthread_mutex_init(lock, &attr) == 0, "mutex");
    const pid_t child = fork();
    must(child >= 0, "fork");
    if (child == 0) {
        pthread_mutex_lock(lock);
        hold(end[1]);
    }
    must(read(end[0], &byte, 1) == 1, "read");
    printf("child %d\n", (int)child);
    ready();
    status += pthread_mutex_lock(lock);
}

static void shared_mutex(void)
{
    await_holder(PTHREAD_MUTEX_STALLED);
}

static void shared_robust(void)
{
    await_holder(PTHREAD_MUTEX_ROBUST);
}

static void accept_one(void)
{
    struct sockaddr_in at;
    const int fd = listener(&at);
    printf("port %d\n", ntohs(at.sin_port));
    ready();
    status += accept(fd, NULL, NULL);
}

/* A timer that is not set. */
static void read_timer(void)
{
    const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    uint64_t count;
    must(timer >= 0, "timerfd");
    ready();
    status += read(timer, &count, sizeof count) == sizeof count;
}

/* More descriptors than are named. */
static void poll_many(void)
{
    enum { MANY = 300, FIRST = 100 };
    static struct pollfd p[MANY];
    for (int i = 0; i < MANY; i++) {
        p[i] = (struct pollfd){.fd = FIRST + i, .events = POLLIN};
        must(dup2(STDIN_FILENO, FIRST + i) >= 0, "dup2");
    }
    ready();
    status += poll(p, MANY, 360000000);
}

/* A FIFO that nobody writes to. */
static void open_fifo(void)
{
    const char *path = getenv("FIFO");
    must(path != NULL, "FIFO");
    ready();
    status += open(path, O_RDONLY);
}

/* ---- Others ---- */

/* Its child goes on first. */
static void start_child(void)
{
    const pid_t older = fork(); /* which it does not wait for */
    if (older == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        stay();
    }
    ready();
    const pid_t child = vfork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_NAME, "newborn");
        stay();
    }
    status += child > 0;
}

static void any_child(void)
{
    for (int i = 0; i < 2; i++) {
        const pid_t child = fork();
        must(child >= 0, "fork");
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            prctl(PR_SET_NAME, "worker");
            stay();
        }
    }
    ready();
    status += wait(NULL);
}

#ifdef __x86_64__
/* A function of Go's runtime, by its name, which C has no way to write. */
void wait_as_go(void) __asm__("runtime.schedule");
__asm__(".text\n"
        ".globl runtime.schedule\n"
        ".type runtime.schedule, @function\n"
        "runtime.schedule:\n"
        ".cfi_startproc\n"
        "sub $8, %rsp\n"
        ".cfi_def_cfa_offset 16\n"
        "call pause@PLT\n"
        "add $8, %rsp\n"
        ".cfi_def_cfa_offset 8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size runtime.schedule, . - runtime.schedule\n");
#else
static void wait_as_go(void)
{
    pause();
}
#endif

static void go(void)
{
    ready();
    wait_as_go();
    status++;
}

/* select as a clock. */
static void nap(void)
{
    struct timeval long_time = {.tv_sec = 3600 * 100};
    ready();
    status += select(0, NULL, NULL, NULL, &long_time);
}

static void await_signal(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    ready();
    status += sigwaitinfo(&set, NULL);
}

static void sleeps(void)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 3600 * 100;
    ready();
    status += clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static NOINLINE void spin(volatile uint64_t *count)
{
    while (*count != UINT64_MAX)
        *count += 1;
}

static void busy(void)
{
    static volatile uint64_t count;
    ready();
    spin(&count);
    status = count != 0;
}

static void *nothing_to_do(void *nothing)
{
    pause();
    return nothing;
}

/* The first thread has ended, another goes on. */
static void headless(void)
{
    start(nothing_to_do, NULL, NULL);
    ready();
    pthread_exit(NULL);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"abba", abba},
    {"interrupted", interrupted},
    {"patient", patient},
    {"self", self},
    {"robust", robust},
    {"inherit", inherit},
    {"refused", refused},
    {"own_futex", own_futex},
    {"own_bitset", own_bitset},
    {"forked", forked},
    {"orphan", orphan},
    {"join", join},
    {"semaphore", semaphore},
    {"shared_semaphore", shared_semaphore},
    {"rwlock", rwlock},
    {"readers", readers},
    {"barrier", barrier},
    {"stream", stream},
    {"child_pipe", child_pipe},
    {"two_pipes", two_pipes},
    {"two_ends", two_ends},
    {"own_pipe", own_pipe},
    {"await_child", await_child},
    {"epoll", epoll},
    {"inner_epoll", inner_epoll},
    {"unix_peer", unix_peer},
    {"poll_two", poll_two},
    {"poll_one", poll_one},
    {"select_two", select_two},
    {"file_lock", file_lock},
    {"sleeps", sleeps},
    {"own_file_lock", own_file_lock},
    {"record_lock", record_lock},
    {"two_files", two_files},
    {"two_semaphores", two_semaphores},
    {"two_mutexes", two_mutexes},
    {"full_pipe", full_pipe},
    {"shared_mutex", shared_mutex},
    {"shared_robust", shared_robust},
    {"accept_one", accept_one},
    {"read_timer", read_timer},
    {"open_fifo", open_fifo},
    {"start_child", start_child},
    {"any_child", any_child},
    {"go", go},
    {"nap", nap},
    {"await_signal", await_signal},
    {"poll_many", poll_many},

    {"busy", busy},
    {"headless", headless},
};

static void print_calls(void)
{
    static const struct {
        const char *name;
        long number;
    } calls[] = {
        {"futex", SYS_futex},
        {"read", SYS_read},
        {"recvfrom", SYS_recvfrom},
        {"wait4", SYS_wait4},
        {"write", SYS_write},
        {"semtimedop", SYS_semtimedop},
        {"flock", SYS_flock},
        {"fcntl", SYS_fcntl},
        {"accept", SYS_accept},
        {"rt_sigtimedwait", SYS_rt_sigtimedwait},
        {"clock_nanosleep", SYS_clock_nanosleep},
        {"epoll_pwait", SYS_epoll_pwait},
        {"ppoll", SYS_ppoll},
        {"pselect6", SYS_pselect6},
        {"openat", SYS_openat},
#ifdef SYS_epoll_wait
        {"vfork", SYS_vfork},
        {"epoll_wait", SYS_epoll_wait},
        {"poll", SYS_poll},
        {"pause", SYS_pause},
#endif
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        printf("%s %ld\n", calls[i].name, calls[i].number);
}

int main(int count, char **arg)
{
    if (count == 2 && strcmp(arg[1], "calls") == 0) {
        print_calls();
        return 0;
    }
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); /* where Yama restricts it */
    for (size_t i = 0; count == 2 && i < sizeof cases / sizeof *cases; i++)
        if (strcmp(arg[1], cases[i].name) == 0)
            cases[i].run();
    return 2;
}
