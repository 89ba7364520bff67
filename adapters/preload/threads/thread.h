/* SPDX-License-Identifier: ISC */
/* What the parts of the adapter for threads share: who this thread is, what is known of its locks, waits. All of it is
 * called with the adapter on (threads_on), and may be called on any thread, while the program holds any lock: nothing
 * here allocates, or takes a lock that the program may hold. errno stays as it is. */
#pragma once

#include <pthread.h>
#include <sys/types.h>
#include <time.h>

#include "../adapter.h"

/* glibc's. Its own functions call each other by other names, so a call that is seen is the program's. */
#define LIBC(name) REAL_OF(name, "libc.so.6")

/* How much is recorded. Nothing before the program begins a second thread: until then nothing can wait. */
enum threads_mode {
    THREADS_NOTHING,
    THREADS_CONTENDED, /* locks for which somebody waits */
    THREADS_ALL        /* each time that a lock is taken, too */
};
extern uint32_t threads_mode;

static inline uint32_t threads_mode_now(void)
{
    return __atomic_load_n(&threads_mode, __ATOMIC_RELAXED);
}

static inline bool threads_on(void)
{
    return __builtin_expect(threads_mode_now() != THREADS_NOTHING, 0) && adapter_on();
}

/* From now on, if this process records. */
void threads_begin(void);

/* The place in the program that called the function in which this is written. */
#define THREADS_CALLER() ((const char *)__builtin_return_address(0) - 1)

/* ---- Threads ---- */

enum { THREADS_READS = 16 }; /* read locks that one thread may hold at a time and are known */

struct threads_self {
    weft_promise promise; /* 0: not known yet, or it has ended */
    weft_promise limit;   /* the time limit of its wait, or 0 */
    uint32_t tid;
    bool ended, exits; /* exits: it has called pthread_exit */
    bool is_main;
    uint8_t reads;                      /* how many of these are used */
    const void *read[THREADS_READS];    /* the locks */
    const void *does;                   /* the control of what it does once; NULL: nothing */
    struct threads_self *next, **prior; /* of all that live */
};
extern __thread struct threads_self threads_me __attribute__((tls_model("initial-exec")));

/* This thread's promise. 0: it has ended, but for its destructors. One that was begun in a way that is not seen
 * gets one now. */
weft_promise threads_self(void);

/* The promise of the thread with this kernel id, also if it has ended; 0: not known. */
weft_promise threads_by_tid(uint32_t tid);

/* The promise is this thread, which the list of living threads has from now on, until it leaves. */
void threads_join_living(weft_promise p);
void threads_leave_living(void);

/* The thread ends: what it still holds for reading is recorded. */
void threads_rwlocks_end(void);

/* ---- Waits ---- */

struct threads_wait {
    weft_promise self, before, source, limit;
};

/* This thread, and what runs on it, wait for the source from now on. until: a time limit on this clock; NULL: there is
 * none. It does not run until threads_wait_ends. */
void threads_wait(struct threads_wait *w, weft_promise source, clockid_t clock,
                  const struct timespec *until);

enum threads_end {
    THREADS_GOT,      /* it was signalled, or the lock was released */
    THREADS_RESOLVED, /* the source has been resolved */
    THREADS_TIME,     /* the time limit */
    THREADS_NEITHER   /* it did not wait at all, or was interrupted */
};
void threads_wait_ends(const struct threads_wait *w, enum threads_end end);

/* ---- Locks, conditions, semaphores, barriers ---- */

enum { THREADS_HOLDERS = 6 };

enum threads_kind {
    THREADS_MUTEX,
    THREADS_RWLOCK,
    THREADS_CONDITION,
    THREADS_SEMAPHORE,
    THREADS_BARRIER,
    THREADS_ONCE
};

struct threads_object {
    struct threads_object *next;
    const void *address;
    weft_promise promise;
    weft_promise holder[THREADS_HOLDERS]; /* those of which the trace says that they hold it */
    uint32_t kind, holders, waiters;
    uint32_t arrived; /* at a barrier */
    bool lasts, signalled;
};

/* How many waiters and recorded holders there are for the objects with this hash: if 0, nobody needs to know what is
 * done with one. */
enum { THREADS_HASHES = 1 << 12 };
extern uint32_t threads_watched[THREADS_HASHES];

static inline uint32_t threads_hash(const void *object)
{
    return (uint32_t)(((uintptr_t)object >> 3) * UINT32_C(0x9e3779b9)) >> 20;
}

static inline bool threads_is_watched(const void *object)
{
    return __builtin_expect(
        __atomic_load_n(&threads_watched[threads_hash(object)], __ATOMIC_RELAXED) != 0, 0);
}

/* Locks what is known of an object. NULL: nothing is. Until threads_unlock, the adapter is off on this thread. */
struct threads_object *threads_look(const void *object, enum threads_kind kind);

/* The same, and creates it, with a promise that is named after the object or, if that is not in a mapped file, after the
 * caller. NULL: no memory. */
struct threads_object *threads_lock(const void *object, enum threads_kind kind, const char *detail,
                                    const void *caller);
void threads_unlock(const void *object);

/* The address no longer is an object. */
void threads_destroyed(const void *object, enum threads_kind kind);

/* Defines the function that destroys an object of that type. */
#define THREADS_DESTROYS(name, type, kind)                                                         \
    LIBC(name);                                                                                    \
    ADAPTER_EXPORT int name(type *object)                                                          \
    {                                                                                              \
        const int result = REAL(name)(object);                                                     \
        if (result == 0 && threads_on())                                                           \
            threads_destroyed(object, kind);                                                       \
        return result;                                                                             \
    }

/* With the object locked: */

/* It is in order that somebody waits for it for long. */
void threads_lasts(struct threads_object *o);
void threads_add_waiter(struct threads_object *o);
void threads_drop_waiter(struct threads_object *o);
bool threads_is_holder(const struct threads_object *o, weft_promise thread);
void threads_add_holder(struct threads_object *o, weft_promise thread); /* unless it is one */
/* … each living thread that holds it for reading, or does what is done once. */
void threads_add_living(struct threads_object *o);
void threads_drop_holder(struct threads_object *o, weft_promise thread); /* if it is one */
void threads_drop_others(struct threads_object *o, weft_promise thread); /* but this one */

/* With none locked: the process ends with this thread, which holds nothing any more. That others wait for what it held is in
 * order. */
void threads_ends_with(weft_promise thread);

/* ---- Mutexes: this thread is about to release one, or has taken one, in another function than those of mutexes ---- */

void threads_mutex_released(const void *mutex);
void threads_mutex_taken(const void *mutex, const void *caller);
