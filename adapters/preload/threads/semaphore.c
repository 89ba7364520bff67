/* SPDX-License-Identifier: ISC */
/* Semaphores and barriers. A semaphore has no holder: often one thread waits for what another posts. Posts for which
 * nobody waits are not recorded, because a semaphore remembers them.
 * Each round of a barrier is a promise, which the last thread to arrive resolves. */
#include "thread.h"

#include <errno.h>
#include <semaphore.h>
#include <stdio.h>

LIBC(sem_wait);
LIBC(sem_timedwait);
LIBC(sem_clockwait);
LIBC(sem_post);
LIBC(pthread_barrier_wait);

struct request {
    sem_t *semaphore;
    struct threads_wait wait;
};

static bool waits(struct request *r, clockid_t clock, const struct timespec *until,
                  const void *caller)
{
    struct threads_object *o;
    if (!threads_on() || !threads_self() ||
        !(o = threads_lock(r->semaphore, THREADS_SEMAPHORE, NULL, caller)))
        return false;
    threads_lasts(o);
    threads_add_waiter(o);
    const weft_promise p = o->promise;
    threads_unlock(r->semaphore);
    threads_wait(&r->wait, p, clock, until);
    return true;
}

static void leaves(const struct request *r)
{
    struct threads_object *o = threads_look(r->semaphore, THREADS_SEMAPHORE);
    if (o) {
        threads_drop_waiter(o);
        threads_unlock(r->semaphore);
    }
}

static void cancelled(void *request)
{
    leaves(request);
}

static void wait_ends(const struct request *r, int result)
{
    threads_wait_ends(&r->wait, result == 0          ? THREADS_GOT
                                : errno == ETIMEDOUT ? THREADS_TIME
                                                     : THREADS_NEITHER);
    leaves(r);
}

/* Returns true if it was there at once. A cancellation that is pending is the real function's to see. */
static bool is_there(sem_t *s)
{
    const int error = errno;
    int value = 0;
    const bool there =
        threads_mode_now() == THREADS_NOTHING || sem_getvalue(s, &value) != 0 || value > 0;
    errno = error;
    return there;
}

ADAPTER_EXPORT int sem_wait(sem_t *s)
{
    struct request r = {.semaphore = s};
    int result;
    if (is_there(s) || !waits(&r, CLOCK_REALTIME, NULL, THREADS_CALLER()))
        return REAL(sem_wait)(s);
    pthread_cleanup_push(cancelled, &r);
    result = REAL(sem_wait)(s);
    pthread_cleanup_pop(0);
    wait_ends(&r, result);
    return result;
}

ADAPTER_EXPORT int sem_timedwait(sem_t *restrict s, const struct timespec *restrict until)
{
    struct request r = {.semaphore = s};
    int result;
    if (is_there(s) || !waits(&r, CLOCK_REALTIME, until, THREADS_CALLER()))
        return REAL(sem_timedwait)(s, until);
    pthread_cleanup_push(cancelled, &r);
    result = REAL(sem_timedwait)(s, until);
    pthread_cleanup_pop(0);
    wait_ends(&r, result);
    return result;
}

ADAPTER_EXPORT int sem_clockwait(sem_t *restrict s, clockid_t clock,
                                 const struct timespec *restrict until)
{
    struct request r = {.semaphore = s};
    int result;
    if (is_there(s) || !waits(&r, clock, until, THREADS_CALLER()))
        return REAL(sem_clockwait)(s, clock, until);
    pthread_cleanup_push(cancelled, &r);
    result = REAL(sem_clockwait)(s, clock, until);
    pthread_cleanup_pop(0);
    wait_ends(&r, result);
    return result;
}

/* May be called in a signal handler. */
ADAPTER_EXPORT int sem_post(sem_t *s)
{
    struct threads_object *o;
    if (threads_is_watched(s) && threads_on() && (o = threads_look(s, THREADS_SEMAPHORE))) {
        if (o->waiters)
            weft_notify(o->promise);
        threads_unlock(s);
    }
    return REAL(sem_post)(s);
}

THREADS_DESTROYS(sem_destroy, sem_t, THREADS_SEMAPHORE)

/* ---- Barriers ---- */

/* How many threads it is for: the third number in it. 0: it does not look like one. */
static uint32_t count_of(const pthread_barrier_t *b)
{
    enum { MOST = 1 << 16 };
    const uint32_t count = ((const uint32_t *)(const void *)b)[2];
    return count <= MOST ? count : 0;
}

/* Returns 0 if nothing is to be recorded, or this thread is the last. */
static weft_promise arrives(pthread_barrier_t *b, const void *caller)
{
    char text[32];
    const uint32_t count = count_of(b);
    snprintf(text, sizeof text, "for %u", (unsigned)count);
    struct threads_object *o = threads_lock(b, THREADS_BARRIER, text, caller);
    if (!o)
        return 0;
    weft_promise round = o->promise;
    if (++o->arrived >= count) {
        weft_fulfill(round);
        o->promise = round = 0;
        o->arrived = 0;
    }
    threads_unlock(b);
    return round;
}

ADAPTER_EXPORT int pthread_barrier_wait(pthread_barrier_t *b)
{
    struct threads_wait w;
    const weft_promise round =
        threads_on() && threads_self() && count_of(b) > 1 ? arrives(b, THREADS_CALLER()) : 0;
    if (!round)
        return REAL(pthread_barrier_wait)(b);
    threads_wait(&w, round, CLOCK_REALTIME, NULL);
    const int result = REAL(pthread_barrier_wait)(b);
    threads_wait_ends(&w, THREADS_RESOLVED);
    return result;
}

THREADS_DESTROYS(pthread_barrier_destroy, pthread_barrier_t, THREADS_BARRIER)
