/* SPDX-License-Identifier: ISC */
/* Locks for reading and writing. glibc writes down who writes, but of readers only how many there are: each thread
 * remembers which it holds for reading, so that a writer that has to wait can say for whom. */
#include "thread.h"

#include <errno.h>

LIBC(pthread_rwlock_rdlock);
LIBC(pthread_rwlock_tryrdlock);
LIBC(pthread_rwlock_timedrdlock);
LIBC(pthread_rwlock_clockrdlock);
LIBC(pthread_rwlock_wrlock);
LIBC(pthread_rwlock_trywrlock);
LIBC(pthread_rwlock_timedwrlock);
LIBC(pthread_rwlock_clockwrlock);
LIBC(pthread_rwlock_unlock);

/* ---- What this thread holds for reading ---- */

static void remember(const void *lock)
{
    for (unsigned i = 0; i < THREADS_READS; i++)
        if (!threads_me.read[i]) {
            __atomic_store_n(&threads_me.read[i], lock, __ATOMIC_RELAXED);
            return;
        }
}

/* Returns true if it was there. */
static bool forget(const void *lock)
{
    for (unsigned i = 0; i < THREADS_READS; i++)
        if (threads_me.read[i] == lock) {
            __atomic_store_n(&threads_me.read[i], NULL, __ATOMIC_RELAXED);
            return true;
        }
    return false;
}

void threads_rwlocks_end(void)
{
    for (unsigned i = 0; i < THREADS_READS; i++) {
        const void *lock = threads_me.read[i];
        struct threads_object *o = lock ? threads_lock(lock, THREADS_RWLOCK, NULL, lock) : NULL;
        if (o) {
            threads_add_holder(o, threads_me.promise);
            threads_unlock(lock);
        }
    }
}

/* ---- Taking it ---- */

struct request {
    pthread_rwlock_t *lock;
    bool writes;
    clockid_t clock;
    const struct timespec *until;
    const void *caller;
};

static void notes_taken(const struct request *r)
{
    if (!threads_on() || !threads_self())
        return;
    const bool all = threads_mode_now() == THREADS_ALL;
    struct threads_object *o = all ? threads_lock(r->lock, THREADS_RWLOCK, NULL, r->caller)
                                   : threads_look(r->lock, THREADS_RWLOCK);
    if (!o)
        return;
    if (r->writes)
        threads_drop_others(o, threads_me.promise);
    if (all || o->waiters)
        threads_add_holder(o, threads_me.promise);
    threads_unlock(r->lock);
}

static void taken(const struct request *r)
{
    if (!r->writes && threads_mode_now() != THREADS_NOTHING)
        remember(r->lock);
    if (threads_is_watched(r->lock) || threads_mode_now() == THREADS_ALL)
        notes_taken(r);
}

static bool contended(const struct request *r, struct threads_wait *w)
{
    struct threads_object *o;
    if (!threads_on() || !threads_self() ||
        !(o = threads_lock(r->lock, THREADS_RWLOCK, NULL, r->caller)))
        return false;
    threads_add_waiter(o);
    const weft_promise p = o->promise;
    const weft_promise writer =
        threads_by_tid((uint32_t)__atomic_load_n(&r->lock->__data.__cur_writer, __ATOMIC_RELAXED));
    if (writer)
        threads_add_holder(o, writer);
    else
        threads_add_living(o);
    threads_unlock(r->lock);
    threads_wait(w, p, r->clock, r->until);
    return true;
}

static void contended_ends(const struct request *r, const struct threads_wait *w, int result)
{
    threads_wait_ends(w, result == 0           ? THREADS_GOT
                         : result == ETIMEDOUT ? THREADS_TIME
                                               : THREADS_NEITHER);
    struct threads_object *o = threads_look(r->lock, THREADS_RWLOCK);
    if (!o)
        return;
    threads_drop_waiter(o);
    if (result == 0 && r->writes)
        threads_drop_others(o, w->self);
    if (result == 0)
        threads_add_holder(o, w->self);
    threads_unlock(r->lock);
    if (result == 0 && !r->writes)
        remember(r->lock);
}

static int try(const struct request *r)
{
    if (threads_mode_now() == THREADS_NOTHING)
        return EAGAIN;
    const int result = r->writes ? REAL(pthread_rwlock_trywrlock)(r->lock)
                                 : REAL(pthread_rwlock_tryrdlock)(r->lock);
    if (result == 0)
        taken(r);
    return result;
}

static int lock(const struct request *r)
{
    return r->writes ? REAL(pthread_rwlock_wrlock)(r->lock) : REAL(pthread_rwlock_rdlock)(r->lock);
}

static int timedlock(const struct request *r)
{
    return r->writes ? REAL(pthread_rwlock_timedwrlock)(r->lock, r->until)
                     : REAL(pthread_rwlock_timedrdlock)(r->lock, r->until);
}

static int clocklock(const struct request *r)
{
    return r->writes ? REAL(pthread_rwlock_clockwrlock)(r->lock, r->clock, r->until)
                     : REAL(pthread_rwlock_clockrdlock)(r->lock, r->clock, r->until);
}

static int take(const struct request *r, int (*real)(const struct request *))
{
    struct threads_wait w;
    int result = try(r);
    if (result == 0 || (result != EBUSY && result != EAGAIN))
        return result;
    if (result == EAGAIN || !contended(r, &w))
        return real(r);
    result = real(r);
    contended_ends(r, &w, result);
    return result;
}

ADAPTER_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *l)
{
    const struct request r = {l, false, CLOCK_REALTIME, NULL, THREADS_CALLER()};
    return take(&r, lock);
}

ADAPTER_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *l)
{
    const struct request r = {l, true, CLOCK_REALTIME, NULL, THREADS_CALLER()};
    return take(&r, lock);
}

ADAPTER_EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *l, const struct timespec *until)
{
    const struct request r = {l, false, CLOCK_REALTIME, until, THREADS_CALLER()};
    return take(&r, timedlock);
}

ADAPTER_EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t *l, const struct timespec *until)
{
    const struct request r = {l, true, CLOCK_REALTIME, until, THREADS_CALLER()};
    return take(&r, timedlock);
}

ADAPTER_EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t *l, clockid_t clock,
                                              const struct timespec *until)
{
    const struct request r = {l, false, clock, until, THREADS_CALLER()};
    return take(&r, clocklock);
}

ADAPTER_EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t *l, clockid_t clock,
                                              const struct timespec *until)
{
    const struct request r = {l, true, clock, until, THREADS_CALLER()};
    return take(&r, clocklock);
}

ADAPTER_EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t *l)
{
    const struct request r = {l, false, CLOCK_REALTIME, NULL, THREADS_CALLER()};
    const int result = REAL(pthread_rwlock_tryrdlock)(l);
    if (result == 0)
        taken(&r);
    return result;
}

ADAPTER_EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t *l)
{
    const struct request r = {l, true, CLOCK_REALTIME, NULL, THREADS_CALLER()};
    const int result = REAL(pthread_rwlock_trywrlock)(l);
    if (result == 0)
        taken(&r);
    return result;
}

/* ---- Giving it back ---- */

ADAPTER_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *l)
{
    struct threads_object *o;
    if (threads_mode_now() != THREADS_NOTHING)
        forget(l);
    if (threads_is_watched(l) && threads_on() && (o = threads_look(l, THREADS_RWLOCK))) {
        threads_drop_holder(o, threads_self());
        threads_unlock(l);
    }
    return REAL(pthread_rwlock_unlock)(l);
}

THREADS_DESTROYS(pthread_rwlock_destroy, pthread_rwlock_t, THREADS_RWLOCK)
