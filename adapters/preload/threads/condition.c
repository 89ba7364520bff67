/* SPDX-License-Identifier: ISC */
/* Condition variables of POSIX and of C11. While one is waited for, its mutex is free. A wait ends when the mutex is held
 * again: how long that takes is a part of the wait, because nothing can be seen in between.
 *
 * A worker may wait for work forever, and that is in order; unless the first that is seen of a condition is a signal
 * that nobody hears: then it is, until it is heard. */
#include "thread.h"

#include <errno.h>
#include <threads.h>

LIBC(pthread_cond_signal);
LIBC(pthread_cond_broadcast);
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

/* until: NULL if there is no limit. */
#define WAITS(name, end, clock_used, until_used, parameters, ...)                                  \
    LIBC(name);                                                                                    \
    ADAPTER_EXPORT int name parameters                                                             \
    {                                                                                              \
        struct threads_wait w;                                                                     \
        if (!waits(c, m, &w, clock_used, until_used, THREADS_CALLER()))                            \
            return REAL(name)(__VA_ARGS__);                                                        \
        const int result = REAL(name)(__VA_ARGS__);                                                \
        wait_ends(c, m, &w, end(result), THREADS_CALLER());                                        \
        return result;                                                                             \
    }

/* ---- POSIX ---- */

/* Which clock a condition counts by is set in its attributes; glibc keeps it in a bit. */
static clockid_t clock_of(const pthread_cond_t *c)
{
    return c->__data.__wrefs & 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

WAITS(pthread_cond_wait, end_of, CLOCK_REALTIME, NULL, (pthread_cond_t * c, pthread_mutex_t *m), c,
      m)
WAITS(pthread_cond_timedwait, end_of, clock_of(c), until,
      (pthread_cond_t * c, pthread_mutex_t *m, const struct timespec *until), c, m, until)
WAITS(pthread_cond_clockwait, end_of, clock, until,
      (pthread_cond_t * c, pthread_mutex_t *m, clockid_t clock, const struct timespec *until), c, m,
      clock, until)

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

THREADS_DESTROYS(pthread_cond_destroy, pthread_cond_t, THREADS_CONDITION)

/* ---- C11 ---- */

WAITS(cnd_wait, end_of_c11, CLOCK_REALTIME, NULL, (cnd_t * c, mtx_t *m), c, m)
WAITS(cnd_timedwait, end_of_c11, CLOCK_REALTIME, until,
      (cnd_t *restrict c, mtx_t *restrict m, const struct timespec *restrict until), c, m, until)

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
