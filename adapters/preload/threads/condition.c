/* SPDX-License-Identifier: ISC */
/* Condition variables of POSIX and of C11. While one is waited for, its mutex is free. A wait ends when the mutex is held
 * again: how long that takes is a part of the wait, because nothing can be seen in between.
 *
 * A worker may wait for work forever, and that is in order; unless the first that is seen of a condition is a signal
 * that nobody hears: then it is, until it is heard. */
#include "thread.h"

#include <errno.h>
#include <threads.h>

LIBC(pthread_cond_wait);
LIBC(pthread_cond_timedwait);
LIBC(pthread_cond_clockwait);
LIBC(pthread_cond_signal);
LIBC(pthread_cond_broadcast);
LIBC(pthread_cond_destroy);
LIBC(cnd_wait);
LIBC(cnd_timedwait);
LIBC(cnd_signal);
LIBC(cnd_broadcast);
LIBC(cnd_destroy);

static bool waits(const void *condition, const void *mutex, struct threads_wait *w, clockid_t clock,
                  const struct timespec *until, const void *caller)
{
    struct threads_object *o;
    if (!threads_on() || !threads_self() ||
        !(o = threads_lock(condition, THREADS_CONDITION, NULL, caller)))
        return false;
    if (!o->signalled)
        threads_lasts(o);
    const weft_promise p = o->promise;
    threads_unlock(condition);
    threads_mutex_released(mutex);
    threads_wait(w, p, clock, until);
    return true;
}

static void wait_ends(const void *condition, const void *mutex, const struct threads_wait *w,
                      enum threads_end end, const void *caller)
{
    threads_wait_ends(w, end);
    struct threads_object *o = threads_look(condition, THREADS_CONDITION);
    if (o && end == THREADS_GOT)
        threads_lasts(o);
    if (o)
        threads_unlock(condition);
    threads_mutex_taken(mutex, caller);
}

static enum threads_end end_of(int result)
{
    return result == 0 || result == EOWNERDEAD ? THREADS_GOT
           : result == ETIMEDOUT               ? THREADS_TIME
                                               : THREADS_NEITHER;
}

static enum threads_end end_of_c11(int result)
{
    return result == thrd_success    ? THREADS_GOT
           : result == thrd_timedout ? THREADS_TIME
                                     : THREADS_NEITHER;
}

static void signals(const void *condition, const void *caller)
{
    struct threads_object *o;
    if (!threads_on() || !(o = threads_lock(condition, THREADS_CONDITION, NULL, caller)))
        return;
    o->signalled = true;
    weft_notify(o->promise);
    threads_unlock(condition);
}

/* ---- POSIX ---- */

ADAPTER_EXPORT int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
    struct threads_wait w;
    if (!waits(c, m, &w, CLOCK_REALTIME, NULL, THREADS_CALLER()))
        return REAL(pthread_cond_wait)(c, m);
    const int result = REAL(pthread_cond_wait)(c, m);
    wait_ends(c, m, &w, end_of(result), THREADS_CALLER());
    return result;
}

/* Which clock a condition counts by is set in its attributes; glibc keeps it in a bit. */
static clockid_t clock_of(const pthread_cond_t *c)
{
    return c->__data.__wrefs & 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

ADAPTER_EXPORT int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
                                          const struct timespec *until)
{
    struct threads_wait w;
    if (!waits(c, m, &w, clock_of(c), until, THREADS_CALLER()))
        return REAL(pthread_cond_timedwait)(c, m, until);
    const int result = REAL(pthread_cond_timedwait)(c, m, until);
    wait_ends(c, m, &w, end_of(result), THREADS_CALLER());
    return result;
}

ADAPTER_EXPORT int pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock,
                                          const struct timespec *until)
{
    struct threads_wait w;
    if (!waits(c, m, &w, clock, until, THREADS_CALLER()))
        return REAL(pthread_cond_clockwait)(c, m, clock, until);
    const int result = REAL(pthread_cond_clockwait)(c, m, clock, until);
    wait_ends(c, m, &w, end_of(result), THREADS_CALLER());
    return result;
}

ADAPTER_EXPORT int pthread_cond_signal(pthread_cond_t *c)
{
    signals(c, THREADS_CALLER());
    return REAL(pthread_cond_signal)(c);
}

ADAPTER_EXPORT int pthread_cond_broadcast(pthread_cond_t *c)
{
    signals(c, THREADS_CALLER());
    return REAL(pthread_cond_broadcast)(c);
}

ADAPTER_EXPORT int pthread_cond_destroy(pthread_cond_t *c)
{
    const int result = REAL(pthread_cond_destroy)(c);
    if (result == 0 && threads_on())
        threads_destroyed(c, THREADS_CONDITION);
    return result;
}

/* ---- C11 ---- */

ADAPTER_EXPORT int cnd_wait(cnd_t *c, mtx_t *m)
{
    struct threads_wait w;
    if (!waits(c, m, &w, CLOCK_REALTIME, NULL, THREADS_CALLER()))
        return REAL(cnd_wait)(c, m);
    const int result = REAL(cnd_wait)(c, m);
    wait_ends(c, m, &w, end_of_c11(result), THREADS_CALLER());
    return result;
}

ADAPTER_EXPORT int cnd_timedwait(cnd_t *restrict c, mtx_t *restrict m,
                                 const struct timespec *restrict until)
{
    struct threads_wait w;
    if (!waits(c, m, &w, CLOCK_REALTIME, until, THREADS_CALLER()))
        return REAL(cnd_timedwait)(c, m, until);
    const int result = REAL(cnd_timedwait)(c, m, until);
    wait_ends(c, m, &w, end_of_c11(result), THREADS_CALLER());
    return result;
}

ADAPTER_EXPORT int cnd_signal(cnd_t *c)
{
    signals(c, THREADS_CALLER());
    return REAL(cnd_signal)(c);
}

ADAPTER_EXPORT int cnd_broadcast(cnd_t *c)
{
    signals(c, THREADS_CALLER());
    return REAL(cnd_broadcast)(c);
}

ADAPTER_EXPORT void cnd_destroy(cnd_t *c)
{
    REAL(cnd_destroy)(c);
    if (threads_on())
        threads_destroyed(c, THREADS_CONDITION);
}
