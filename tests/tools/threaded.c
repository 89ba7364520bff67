/* SPDX-License-Identifier: ISC */
/* What POSIX and C11 say of threads and locks, tried one after another: prints what each call gives. It must be the same,
 * whatever records it. Nothing here depends on time: a thread that is cancelled, for instance, ends when it begins to wait, or
 * while it waits. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static pthread_key_t key;
static int cleaned; /* under mutex */
static const struct timespec past = {.tv_sec = 1};

static void says(const char *what, long result)
{
    printf("%s: %ld, errno %d\n", what, result, errno);
    errno = 0;
}

static struct timespec in_a_while(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_sec += 1000;
    return t;
}

static void unlocks(void *m)
{
    cleaned++;
    pthread_mutex_unlock(m);
}

static void *waits(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlocks, &mutex);
    for (;;)
        pthread_cond_wait(&condition, &mutex);
    pthread_cleanup_pop(1);
    return unused;
}

static void *waits_for_a_while(void *unused)
{
    const struct timespec until = in_a_while(CLOCK_MONOTONIC);
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlocks, &mutex);
    for (;;)
        pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &until);
    pthread_cleanup_pop(1);
    return unused;
}

static void *waits_for_post(void *unused)
{
    for (;;)
        sem_wait(&semaphore);
    return unused;
}

static void *joins(void *thread)
{
    pthread_join(*(pthread_t *)thread, NULL);
    return NULL;
}

static void destroys(void *m)
{
    pthread_mutex_lock(m);
    cleaned++;
    pthread_mutex_unlock(m);
}

static void *exits(void *unused)
{
    pthread_setspecific(key, &mutex);
    pthread_exit(&mutex);
    return unused;
}

static void *keeps(void *m)
{
    pthread_mutex_lock(m);
    return NULL;
}

static void *detaches_itself(void *unused)
{
    pthread_detach(pthread_self());
    pthread_setname_np(pthread_self(), "on its own");
    sem_post(&semaphore);
    return unused;
}

static void *meets(void *unused)
{
    return pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD ? &barrier : unused;
}

static int locks_c11(void *m)
{
    mtx_lock(m);
    mtx_unlock(m);
    thrd_exit(5);
}

static void posts(int signal)
{
    (void)signal;
    sem_post(&semaphore);
}

static void cancelling(void)
{
    void *(*const routines[])(void *) = {waits, waits_for_a_while, waits_for_post};
    pthread_t thread, joiner;
    void *result;
    for (int i = 0; i < 3; i++) {
        pthread_create(&thread, NULL, routines[i], NULL);
        pthread_cancel(thread);
        says("join", pthread_join(thread, &result));
        says("cancelled", result == PTHREAD_CANCELED);
    }
    pthread_create(&thread, NULL, waits, NULL);
    pthread_create(&joiner, NULL, joins, &thread);
    pthread_cancel(joiner);
    pthread_join(joiner, &result);
    says("cancelled", result == PTHREAD_CANCELED);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, exits, NULL);
    pthread_join(thread, &result);
    says("exit", result == &mutex);
    pthread_create(&thread, NULL, detaches_itself, NULL);
    says("post", sem_wait(&semaphore));
    pthread_mutex_lock(&mutex);
    says("destructor", cleaned >= 1);
    pthread_mutex_unlock(&mutex);
    says("join self", pthread_join(pthread_self(), NULL));
}

static void mutexes(void)
{
    static const int kinds[] = {PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
                                PTHREAD_MUTEX_ADAPTIVE_NP};
    pthread_mutexattr_t attributes;
    pthread_mutex_t m;
    pthread_t thread;
    for (int i = 0; i < 3; i++) {
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_settype(&attributes, kinds[i]);
        pthread_mutex_init(&m, &attributes);
        says("lock", pthread_mutex_lock(&m));
        says("trylock", pthread_mutex_trylock(&m));
        if (kinds[i] != PTHREAD_MUTEX_ADAPTIVE_NP)
            says("lock", pthread_mutex_lock(&m));
        else
            says("timedlock", pthread_mutex_timedlock(&m, &past));
        for (int k = 0; k < 4; k++)
            if (k == 0 || kinds[i] != PTHREAD_MUTEX_ADAPTIVE_NP)
                says("unlock", pthread_mutex_unlock(&m));
        says("destroy", pthread_mutex_destroy(&m));
    }
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&m, &attributes);
    pthread_create(&thread, NULL, keeps, &m);
    pthread_join(thread, NULL);
    says("robust", pthread_mutex_lock(&m));
    says("consistent", pthread_mutex_consistent(&m));
    says("unlock", pthread_mutex_unlock(&m));
    says("clocklock", pthread_mutex_clocklock(&m, CLOCK_PROCESS_CPUTIME_ID, &past));
    pthread_mutex_lock(&mutex);
    says("condition", pthread_cond_timedwait(&condition, &mutex, &past));
    pthread_mutex_unlock(&mutex);
}

static void others(void)
{
    pthread_t threads[3];
    void *result;
    int serial = 0;
    says("rdlock", pthread_rwlock_rdlock(&table));
    says("rdlock", pthread_rwlock_rdlock(&table));
    says("trywrlock", pthread_rwlock_trywrlock(&table));
    says("timedwrlock", pthread_rwlock_timedwrlock(&table, &past));
    says("unlock", pthread_rwlock_unlock(&table));
    says("unlock", pthread_rwlock_unlock(&table));
    says("wrlock", pthread_rwlock_wrlock(&table));
    says("wrlock", pthread_rwlock_wrlock(&table));
    says("unlock", pthread_rwlock_unlock(&table));
    pthread_barrier_init(&barrier, NULL, 3);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, meets, NULL);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], &result);
        serial += result == &barrier;
    }
    says("serial threads", serial);
    says("barrier", pthread_barrier_destroy(&barrier));
    says("sem_timedwait", sem_timedwait(&semaphore, &past));
    says("sem_trywait", sem_trywait(&semaphore));
    signal(SIGALRM, posts);
    setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_usec = 1000}, NULL);
    int interrupted = 0;
    while (sem_wait(&semaphore) != 0)
        interrupted++;
    errno = 0;
    says("posted by a handler", interrupted <= 1);
}

static void c11(void)
{
    mtx_t m;
    thrd_t thread;
    cnd_t c;
    int result;
    mtx_init(&m, mtx_timed);
    cnd_init(&c);
    says("mtx_lock", mtx_lock(&m));
    says("mtx_trylock", mtx_trylock(&m));
    says("mtx_timedlock", mtx_timedlock(&m, &past));
    says("thrd_create", thrd_create(&thread, locks_c11, &m));
    says("cnd_timedwait", cnd_timedwait(&c, &m, &past));
    says("mtx_unlock", mtx_unlock(&m));
    says("thrd_join", thrd_join(thread, &result));
    says("result", result);
    cnd_destroy(&c);
    mtx_destroy(&m);
}

static pthread_once_t outer = PTHREAD_ONCE_INIT, inner = PTHREAD_ONCE_INIT,
                      again = PTHREAD_ONCE_INIT;
static once_flag flag = ONCE_FLAG_INIT;
static int times, tries;

static void counts(void)
{
    times++;
}

static void counts_within(void)
{
    times += 10;
    pthread_once(&inner, counts);
}

static void ends_at_first(void)
{
    if (tries++ == 0)
        pthread_exit(NULL);
}

static void *asks(void *unused)
{
    pthread_barrier_wait(&barrier);
    pthread_once(&outer, counts_within);
    call_once(&flag, counts);
    pthread_once(&again, ends_at_first);
    return unused;
}

static void onces(void)
{
    enum { MANY = 4 };
    pthread_t thread[MANY];
    pthread_barrier_init(&barrier, NULL, MANY);
    for (int i = 0; i < MANY; i++)
        pthread_create(&thread[i], NULL, asks, NULL);
    for (int i = 0; i < MANY; i++)
        pthread_join(thread[i], NULL);
    pthread_barrier_destroy(&barrier);
    says("once", pthread_once(&outer, counts_within));
    says("once each", times);
    says("after one that did not return", tries);
}

static void forking(void)
{
    pthread_t thread;
    void *result;
    int status;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        pthread_create(&thread, NULL, exits, NULL);
        says("in the child", pthread_join(thread, &result));
        pthread_create(&thread, NULL, waits, NULL);
        exit(3);
    }
    waitpid(child, &status, 0);
    says("child", WEXITSTATUS(status));
}

static void *ends_all(void *at_once)
{
    if (at_once)
        _exit(4);
    exit(4);
}

/* The process ends while a thread waits for a lock that main has. glibc's lock is 2 then. */
static int parks(void)
{
    pthread_t thread;
    pthread_mutex_lock(&mutex);
    pthread_create(&thread, NULL, keeps, &mutex);
    while (__atomic_load_n(&mutex.__data.__lock, __ATOMIC_RELAXED) != 2)
        sched_yield();
    return 4;
}

/* threaded [exit|_exit|parks]; exit, _exit: a thread ends the process while main waits for it */
int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc > 1 && *argv[1] == 'p')
        return parks();
    if (argc > 1) {
        pthread_create(&thread, NULL, ends_all, *argv[1] == '_' ? &cleaned : NULL);
        pthread_join(thread, NULL);
        return 5;
    }
    sem_init(&semaphore, 0, 0);
    pthread_key_create(&key, destroys);
    cancelling();
    mutexes();
    others();
    c11();
    onces();
    forking();
    pthread_create(&thread, NULL, exits, NULL);
    pthread_exit(NULL); /* the process ends with its last thread */
}
