/* SPDX-License-Identifier: ISC */
/* What is done once (pthread_once, call_once, std::call_once). A thread that comes while another one does it waits for that
 * one, which resolves the promise. If nobody has to wait, nothing is recorded. */
#include "thread.h"

#include <threads.h>

LIBC(pthread_once);

/* Of glibc's control (nptl/pthread_once.c): it is being done; it is done. */
enum { DOING = 1, DONE = 2 };

/* What this thread's innermost call is to do, if it is the first. */
struct call {
    const void *control;
    void (*routine)(void);
};
static __thread struct call *call_now __attribute__((tls_model("initial-exec")));

/* Returns false if nothing is to be recorded. */
static bool waits(const void *control, struct threads_wait *w, const void *caller)
{
    struct threads_object *o;
    if (!threads_on() || !threads_self() ||
        !(o = threads_lock(control, THREADS_ONCE, NULL, caller)))
        return false;
    threads_add_waiter(o);
    threads_add_living(o);
    const weft_promise p = o->promise;
    threads_unlock(control);
    threads_wait(w, p, CLOCK_REALTIME, NULL);
    return true;
}

static void leaves(const void *control, const struct threads_wait *w)
{
    threads_wait_ends(w, THREADS_RESOLVED);
    struct threads_object *o = threads_look(control, THREADS_ONCE);
    if (!o)
        return;
    threads_drop_waiter(o);
    const bool last = o->waiters == 0;
    threads_unlock(control);
    if (last)
        threads_destroyed(control, THREADS_ONCE);
}

static void is_done(const void *control)
{
    struct threads_object *o;
    if (!threads_is_watched(control) || !threads_on() || !(o = threads_look(control, THREADS_ONCE)))
        return;
    threads_drop_others(o, 0);
    weft_fulfill(o->promise);
    o->promise = 0;
    threads_unlock(control);
}

/* In the thread that does it, which may be the only one so far. If the routine does not return, because of an exception or a cancellation, another thread
 * does it. */
static void do_it(void)
{
    const struct call *call = call_now;
    const void *control = call->control, *before = threads_me.does;
    __atomic_store_n(&threads_me.does, control, __ATOMIC_RELAXED);
    call->routine();
    __atomic_store_n(&threads_me.does, before, __ATOMIC_RELAXED);
    is_done(control);
}

ADAPTER_EXPORT int pthread_once(pthread_once_t *control, void (*routine)(void))
{
    const int state = __atomic_load_n(control, __ATOMIC_ACQUIRE);
    if (state & DONE)
        return REAL(pthread_once)(control, routine);
    struct threads_wait w;
    const bool waited = state & DOING && waits(control, &w, THREADS_CALLER());
    struct call call = {control, routine}, *before = call_now;
    call_now = &call;
    const int result = REAL(pthread_once)(control, do_it);
    call_now = before;
    if (waited)
        leaves(control, &w);
    return result;
}

ADAPTER_EXPORT void call_once(once_flag *flag, void (*routine)(void))
{
    _Static_assert(sizeof(once_flag) == sizeof(pthread_once_t), "glibc's are the same");
    pthread_once((pthread_once_t *)flag, routine);
}
