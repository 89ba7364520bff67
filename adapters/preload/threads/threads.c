/* SPDX-License-Identifier: ISC */
/* Threads: how they begin and end, and who waits for their end. */
#include "thread.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <threads.h>

LIBC(pthread_create);
LIBC(pthread_exit);
LIBC(pthread_join);
LIBC(pthread_tryjoin_np);
LIBC(pthread_timedjoin_np);
LIBC(pthread_clockjoin_np);
LIBC(pthread_detach);
LIBC(pthread_setname_np);
LIBC(thrd_create);
LIBC(thrd_exit);
LIBC(thrd_join);
LIBC(thrd_detach);

static struct adapter_table threads; /* by pthread_t */

static weft_promise promise_of(pthread_t thread)
{
    struct adapter_entry e;
    return adapter_get(&threads, (uint64_t)thread, 0, &e) ? e.promise : 0;
}

/* ---- What a new thread is given ---- */

struct start {
    void *(*routine)(void *);
    thrd_start_t routine11; /* instead */
    void *argument;
    weft_promise promise;
    bool detached;
    uint32_t used; /* of a slot */
};

enum { SLOTS = 64 };
static struct start slots[SLOTS];

static struct start *new_start(void)
{
    for (unsigned i = 0; i < SLOTS; i++)
        if (!__atomic_exchange_n(&slots[i].used, 1, __ATOMIC_ACQUIRE))
            return &slots[i];
    void *page = mmap(NULL, sizeof(struct start), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return page == MAP_FAILED ? NULL : page;
}

static void free_start(struct start *s)
{
    const int error = errno;
    if (s >= slots && s < slots + SLOTS)
        __atomic_store_n(&s->used, 0, __ATOMIC_RELEASE);
    else
        munmap(s, sizeof *s);
    errno = error;
}

/* ---- Its life ---- */

static void begins(struct start *from, struct start *s)
{
    *s = *from;
    free_start(from);
    threads_join_living(s->promise);
    if (!s->detached) {
        const struct adapter_entry e = {.key = (uint64_t)pthread_self(), .promise = s->promise};
        adapter_put(&threads, &e);
    }
    weft_run(s->promise);
}

/* Whatever it is doing, it is not coming back to it. */
static void ends(bool cancelled)
{
    struct threads_self *me = &threads_me;
    const weft_promise p = me->promise;
    if (!p)
        return;
    weft_resume();
    weft_run(p);
    if (me->limit)
        weft_cancel(me->limit);
    threads_rwlocks_end();
    if (cancelled)
        weft_cancel(p);
    else
        weft_fulfill(p);
    threads_leave_living();
}

/* pthread_exit and pthread_cancel unwind the stack. */
static void unwound(void *unused)
{
    (void)unused;
    ends(!threads_me.exits);
}

static void *run(void *argument)
{
    struct start s;
    begins(argument, &s);
    void *result;
    pthread_cleanup_push(unwound, NULL);
    result = s.routine(s.argument);
    pthread_cleanup_pop(0);
    ends(false);
    return result;
}

static int run_c11(void *argument)
{
    struct start s;
    begins(argument, &s);
    int result;
    pthread_cleanup_push(unwound, NULL);
    result = s.routine11(s.argument);
    pthread_cleanup_pop(0);
    ends(false);
    return result;
}

/* ---- Beginning one ---- */

/* Threads of C++ all begin in the same function of libstdc++. They are named after the place that makes one: an
 * instance of std::thread's constructor, whose name has the type of what it is to call, or where that is inlined. */
static __thread const void *cxx_place;

#define START_THREAD                                                                               \
    "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE"

typedef void start_cxx(void *thread, void *state, void (*depend)(void));
ADAPTER_EXPORT start_cxx threads_start_cxx __asm__(START_THREAD);

void threads_start_cxx(void *thread, void *state, void (*depend)(void))
{
    static void *real;
    cxx_place = THREADS_CALLER();
    ((start_cxx *)adapter_real(&real, START_THREAD, "libstdc++.so.6"))(thread, state, depend);
    cxx_place = NULL;
}

static const void *code_of(void *(*routine)(void *))
{
    const void *place = cxx_place;
    cxx_place = NULL;
    return place ? place : (const void *)routine;
}

static bool is_detached(const pthread_attr_t *attributes)
{
    int state = PTHREAD_CREATE_JOINABLE;
    return attributes && pthread_attr_getdetachstate(attributes, &state) == 0 &&
           state == PTHREAD_CREATE_DETACHED;
}

static struct start *prepare(const void *code, const struct start *what)
{
    threads_begin();
    struct start *s = new_start();
    if (!s)
        return NULL;
    *s = *what;
    s->used = 1;
    s->promise = adapter_create(code, "thread", NULL);
    if (s->detached)
        weft_background(s->promise);
    return s;
}

static void created(pthread_t thread, weft_promise p, bool detached)
{
    const struct adapter_entry e = {.key = (uint64_t)thread, .promise = p};
    if (!detached && !promise_of(thread))
        adapter_put(&threads, &e);
}

ADAPTER_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                                  void *(*routine)(void *), void *argument)
{
    const bool detached = is_detached(attributes);
    struct start *s = NULL;
    if (adapter_on())
        s = prepare(
            code_of(routine),
            &(struct start){.routine = routine, .argument = argument, .detached = detached});
    if (!s)
        return REAL(pthread_create)(thread, attributes, routine, argument);
    const weft_promise p = s->promise;
    const int result = REAL(pthread_create)(thread, attributes, run, s);
    if (result == 0) {
        created(*thread, p, detached);
        return 0;
    }
    weft_fail(p, strerrorname_np(result));
    free_start(s);
    return result;
}

ADAPTER_EXPORT int thrd_create(thrd_t *thread, thrd_start_t routine, void *argument)
{
    struct start *s = NULL;
    if (adapter_on())
        s = prepare((const void *)routine,
                    &(struct start){.routine11 = routine, .argument = argument});
    if (!s)
        return REAL(thrd_create)(thread, routine, argument);
    const weft_promise p = s->promise;
    const int result = REAL(thrd_create)(thread, run_c11, s);
    if (result == thrd_success) {
        created(*thread, p, false);
        return result;
    }
    weft_fail(p, "error");
    free_start(s);
    return result;
}

/* ---- Ending oneself ---- */

static void exits(void)
{
    threads_me.exits = true;
    if (threads_me.is_main)
        ends(false);
}

ADAPTER_EXPORT void pthread_exit(void *result)
{
    exits();
    REAL(pthread_exit)(result);
    __builtin_unreachable();
}

ADAPTER_EXPORT void thrd_exit(int result)
{
    exits();
    REAL(thrd_exit)(result);
    __builtin_unreachable();
}

/* ---- Waiting for the end of one ---- */

static bool joins(pthread_t thread, struct threads_wait *w, clockid_t clock,
                  const struct timespec *until)
{
    const weft_promise p = threads_on() ? promise_of(thread) : 0;
    if (!p || !threads_self())
        return false;
    if (!until)
        weft_should_resolve(p);
    threads_wait(w, p, clock, until);
    return true;
}

static void joined(pthread_t thread, const struct threads_wait *w, bool done, bool timeout)
{
    struct adapter_entry e;
    threads_wait_ends(w, done ? THREADS_RESOLVED : timeout ? THREADS_TIME : THREADS_NEITHER);
    if (done)
        adapter_take(&threads, (uint64_t)thread, 0, &e);
}

ADAPTER_EXPORT int pthread_join(pthread_t thread, void **value)
{
    struct threads_wait w;
    if (!joins(thread, &w, CLOCK_REALTIME, NULL))
        return REAL(pthread_join)(thread, value);
    const int result = REAL(pthread_join)(thread, value);
    joined(thread, &w, result == 0, false);
    return result;
}

ADAPTER_EXPORT int pthread_timedjoin_np(pthread_t thread, void **value,
                                        const struct timespec *until)
{
    struct threads_wait w;
    if (!until || !joins(thread, &w, CLOCK_REALTIME, until))
        return REAL(pthread_timedjoin_np)(thread, value, until);
    const int result = REAL(pthread_timedjoin_np)(thread, value, until);
    joined(thread, &w, result == 0, result == ETIMEDOUT);
    return result;
}

ADAPTER_EXPORT int pthread_clockjoin_np(pthread_t thread, void **value, clockid_t clock,
                                        const struct timespec *until)
{
    struct threads_wait w;
    if (!until || (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) ||
        !joins(thread, &w, clock, until))
        return REAL(pthread_clockjoin_np)(thread, value, clock, until);
    const int result = REAL(pthread_clockjoin_np)(thread, value, clock, until);
    joined(thread, &w, result == 0, result == ETIMEDOUT);
    return result;
}

ADAPTER_EXPORT int pthread_tryjoin_np(pthread_t thread, void **value)
{
    struct adapter_entry e;
    const int result = REAL(pthread_tryjoin_np)(thread, value);
    if (result == 0 && threads_on() && adapter_take(&threads, (uint64_t)thread, 0, &e))
        weft_read(threads_self(), e.promise);
    return result;
}

ADAPTER_EXPORT int thrd_join(thrd_t thread, int *value)
{
    struct threads_wait w;
    if (!joins(thread, &w, CLOCK_REALTIME, NULL))
        return REAL(thrd_join)(thread, value);
    const int result = REAL(thrd_join)(thread, value);
    joined(thread, &w, result == thrd_success, false);
    return result;
}

static void detached(pthread_t thread)
{
    struct adapter_entry e;
    if (threads_on() && adapter_take(&threads, (uint64_t)thread, 0, &e))
        weft_background(e.promise);
}

ADAPTER_EXPORT int pthread_detach(pthread_t thread)
{
    detached(thread); /* afterwards it may have ended, and its number be another one's */
    return REAL(pthread_detach)(thread);
}

ADAPTER_EXPORT int thrd_detach(thrd_t thread)
{
    detached(thread);
    return REAL(thrd_detach)(thread);
}

ADAPTER_EXPORT int pthread_setname_np(pthread_t thread, const char *name)
{
    const int result = REAL(pthread_setname_np)(thread, name);
    if (result == 0 && threads_on())
        weft_label(pthread_equal(thread, pthread_self()) ? threads_self() : promise_of(thread),
                   name);
    return result;
}
