/* SPDX-License-Identifier: ISC */
/* Mutexes of POSIX and of C11, which are the same in glibc. A mutex that is free is taken without anything else: glibc
 * itself writes down who has it, and whoever has to wait for it says so. From then on, as long as somebody waits, the
 * others say what they do with it, too. */
#include "thread.h"

#include <errno.h>
#include <threads.h>

LIBC(pthread_mutex_lock);
LIBC(pthread_mutex_trylock);
LIBC(pthread_mutex_timedlock);
LIBC(pthread_mutex_clocklock);
LIBC(pthread_mutex_unlock);
LIBC(mtx_lock);
LIBC(mtx_trylock);
LIBC(mtx_timedlock);
LIBC(mtx_unlock);
LIBC(mtx_destroy);

/* The kernel's id of the thread that has it; 0: nobody, or somebody is just about to take it. */
static uint32_t owner_of(const pthread_mutex_t *m)
{
    enum { TRIES = 100 };
    uint32_t tid = 0;
    for (int i = 0; i < TRIES; i++) {
        tid = (uint32_t)__atomic_load_n(&m->__data.__owner, __ATOMIC_RELAXED);
        if (tid || __atomic_load_n(&m->__data.__lock, __ATOMIC_RELAXED) == 0)
            break;
    }
    return tid & 0x3fffffff; /* of a robust one: without marks */
}

static bool is_taken_again(const pthread_mutex_t *m)
{
    return (m->__data.__kind & 3) == PTHREAD_MUTEX_RECURSIVE && m->__data.__count > 1;
}

static void notes_taken(const pthread_mutex_t *m, const void *caller)
{
    if (!threads_on() || !threads_self())
        return;
    const bool all = threads_mode_now() == THREADS_ALL;
    struct threads_object *o =
        all ? threads_lock(m, THREADS_MUTEX, NULL, caller) : threads_look(m, THREADS_MUTEX);
    if (!o)
        return;
    threads_drop_others(o, threads_me.promise);
    if (all || o->waiters)
        threads_add_holder(o, threads_me.promise);
    threads_unlock(m);
}

static inline void taken(const pthread_mutex_t *m, const void *caller)
{
    if (threads_is_watched(m) || __builtin_expect(threads_mode_now() == THREADS_ALL, 0))
        notes_taken(m, caller);
}

static void notes_released(const pthread_mutex_t *m)
{
    struct threads_object *o;
    if (threads_on() && !is_taken_again(m) && (o = threads_look(m, THREADS_MUTEX))) {
        threads_drop_holder(o, threads_self());
        threads_unlock(m);
    }
}

static inline void released(const pthread_mutex_t *m)
{
    if (threads_is_watched(m))
        notes_released(m);
}

void threads_mutex_released(const void *mutex)
{
    released(mutex);
}

void threads_mutex_taken(const void *mutex, const void *caller)
{
    taken(mutex, caller);
}

/* ---- One that is not free ---- */

struct limit {
    clockid_t clock;
    const struct timespec *until;
};

/* Returns false if nothing is to be recorded; then contended_ends does nothing. */
static bool contended(pthread_mutex_t *m, struct threads_wait *w, struct limit limit,
                      const void *caller)
{
    struct threads_object *o;
    if (!threads_on() || !threads_self() || !(o = threads_lock(m, THREADS_MUTEX, NULL, caller)))
        return false;
    threads_add_waiter(o);
    const weft_promise owner = threads_by_tid(owner_of(m)), lock = o->promise;
    if (owner) {
        threads_drop_others(o, owner);
        threads_add_holder(o, owner);
    }
    threads_unlock(m);
    threads_wait(w, lock, limit.clock, limit.until);
    return true;
}

static void contended_ends(pthread_mutex_t *m, const struct threads_wait *w, bool got, bool timeout)
{
    threads_wait_ends(w, got ? THREADS_GOT : timeout ? THREADS_TIME : THREADS_NEITHER);
    struct threads_object *o = threads_look(m, THREADS_MUTEX);
    if (!o)
        return;
    threads_drop_waiter(o);
    if (got) {
        threads_drop_others(o, w->self);
        threads_add_holder(o, w->self);
    }
    threads_unlock(m);
}

static bool is_got(int result)
{
    return result == 0 || result == EOWNERDEAD;
}

/* ---- POSIX ---- */

ADAPTER_EXPORT int pthread_mutex_lock(pthread_mutex_t *m)
{
    if (__builtin_expect(threads_mode_now() == THREADS_NOTHING, 0))
        return REAL(pthread_mutex_lock)(m);
    int result = REAL(pthread_mutex_trylock)(m);
    if (__builtin_expect(result == 0, 1)) {
        taken(m, THREADS_CALLER());
        return result;
    }
    struct threads_wait w;
    if (result != EBUSY ||
        !contended(m, &w, (struct limit){CLOCK_REALTIME, NULL}, THREADS_CALLER()))
        return result == EBUSY ? REAL(pthread_mutex_lock)(m) : result;
    result = REAL(pthread_mutex_lock)(m);
    contended_ends(m, &w, is_got(result), false);
    return result;
}

ADAPTER_EXPORT int pthread_mutex_trylock(pthread_mutex_t *m)
{
    const int result = REAL(pthread_mutex_trylock)(m);
    if (result == 0)
        taken(m, THREADS_CALLER());
    return result;
}

ADAPTER_EXPORT int pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *until)
{
    struct threads_wait w;
    if (threads_mode_now() == THREADS_NOTHING)
        return REAL(pthread_mutex_timedlock)(m, until);
    int result = REAL(pthread_mutex_trylock)(m);
    if (result == 0)
        taken(m, THREADS_CALLER());
    if (result != EBUSY ||
        !contended(m, &w, (struct limit){CLOCK_REALTIME, until}, THREADS_CALLER()))
        return result == EBUSY ? REAL(pthread_mutex_timedlock)(m, until) : result;
    result = REAL(pthread_mutex_timedlock)(m, until);
    contended_ends(m, &w, is_got(result), result == ETIMEDOUT);
    return result;
}

ADAPTER_EXPORT int pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock,
                                           const struct timespec *until)
{
    struct threads_wait w;
    const bool other = clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC; /* an error */
    if (other || threads_mode_now() == THREADS_NOTHING)
        return REAL(pthread_mutex_clocklock)(m, clock, until);
    int result = REAL(pthread_mutex_trylock)(m);
    if (result == 0)
        taken(m, THREADS_CALLER());
    if (result != EBUSY || !contended(m, &w, (struct limit){clock, until}, THREADS_CALLER()))
        return result == EBUSY ? REAL(pthread_mutex_clocklock)(m, clock, until) : result;
    result = REAL(pthread_mutex_clocklock)(m, clock, until);
    contended_ends(m, &w, is_got(result), result == ETIMEDOUT);
    return result;
}

ADAPTER_EXPORT int pthread_mutex_unlock(pthread_mutex_t *m)
{
    released(m);
    return REAL(pthread_mutex_unlock)(m);
}

THREADS_DESTROYS(pthread_mutex_destroy, pthread_mutex_t, THREADS_MUTEX)

/* ---- C11 ---- */

static pthread_mutex_t *of_c11(mtx_t *m)
{
    _Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t), "glibc's are the same");
    return (pthread_mutex_t *)m;
}

ADAPTER_EXPORT int mtx_lock(mtx_t *m)
{
    struct threads_wait w;
    if (__builtin_expect(threads_mode_now() == THREADS_NOTHING, 0))
        return REAL(mtx_lock)(m);
    int result = REAL(mtx_trylock)(m);
    if (__builtin_expect(result == thrd_success, 1))
        taken(of_c11(m), THREADS_CALLER());
    if (result != thrd_busy ||
        !contended(of_c11(m), &w, (struct limit){CLOCK_REALTIME, NULL}, THREADS_CALLER()))
        return result == thrd_busy ? REAL(mtx_lock)(m) : result;
    result = REAL(mtx_lock)(m);
    contended_ends(of_c11(m), &w, result == thrd_success, false);
    return result;
}

ADAPTER_EXPORT int mtx_trylock(mtx_t *m)
{
    const int result = REAL(mtx_trylock)(m);
    if (result == thrd_success)
        taken(of_c11(m), THREADS_CALLER());
    return result;
}

ADAPTER_EXPORT int mtx_timedlock(mtx_t *restrict m, const struct timespec *restrict until)
{
    struct threads_wait w;
    if (threads_mode_now() == THREADS_NOTHING)
        return REAL(mtx_timedlock)(m, until);
    int result = REAL(mtx_trylock)(m);
    if (result == thrd_success)
        taken(of_c11(m), THREADS_CALLER());
    if (result != thrd_busy ||
        !contended(of_c11(m), &w, (struct limit){CLOCK_REALTIME, until}, THREADS_CALLER()))
        return result == thrd_busy ? REAL(mtx_timedlock)(m, until) : result;
    result = REAL(mtx_timedlock)(m, until);
    contended_ends(of_c11(m), &w, result == thrd_success, result == thrd_timedout);
    return result;
}

ADAPTER_EXPORT int mtx_unlock(mtx_t *m)
{
    released(of_c11(m));
    return REAL(mtx_unlock)(m);
}

ADAPTER_EXPORT void mtx_destroy(mtx_t *m)
{
    REAL(mtx_destroy)(m);
    if (threads_on())
        threads_destroyed(m, THREADS_MUTEX);
}
