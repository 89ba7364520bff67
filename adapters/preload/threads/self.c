/* SPDX-License-Identifier: ISC */
/* Which thread this is, and which one has a kernel id. */
#include "thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

uint32_t threads_mode;
__thread struct threads_self threads_me;

static weft_promise first; /* that of the main thread, while it lives; or 0 */
static pid_t process;

/* ---- By kernel id: Linux has at most 2^22 ---- */

enum { ID_BITS = 22, PART_BITS = 12, PART = 1 << PART_BITS };

static weft_promise *parts[1 << (ID_BITS - PART_BITS)];

static void put_tid(uint32_t tid, weft_promise p)
{
    weft_promise **place = &parts[tid >> PART_BITS];
    weft_promise *part = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    if (!part) {
        weft_promise *fresh = mmap(NULL, PART * sizeof *part, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (fresh == MAP_FAILED)
            return;
        if (__atomic_compare_exchange_n(place, &part, fresh, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            part = fresh;
        else
            munmap(fresh, PART * sizeof *part);
    }
    __atomic_store_n(&part[tid % PART], p, __ATOMIC_RELEASE);
}

weft_promise threads_by_tid(uint32_t tid)
{
    const uint32_t at = tid >> PART_BITS;
    if (tid == 0 || at >= sizeof parts / sizeof *parts)
        return 0;
    const weft_promise *part = __atomic_load_n(&parts[at], __ATOMIC_ACQUIRE);
    return part ? __atomic_load_n(&part[tid % PART], __ATOMIC_ACQUIRE) : 0;
}

/* ---- Those that live ---- */

static struct threads_self *living;
static uint32_t living_lock;

static void lock_living(void)
{
    adapter_enter();
    adapter_lock(&living_lock);
}

static void unlock_living(void)
{
    adapter_unlock(&living_lock);
    adapter_leave();
}

void threads_add_living(struct threads_object *o)
{
    lock_living();
    for (const struct threads_self *t = living; t; t = t->next) {
        bool holds = __atomic_load_n(&t->does, __ATOMIC_RELAXED) == o->address;
        for (unsigned i = 0; i < THREADS_READS && !holds; i++)
            holds = __atomic_load_n(&t->read[i], __ATOMIC_RELAXED) == o->address;
        if (holds)
            threads_add_holder(o, t->promise);
    }
    unlock_living();
}

void threads_join_living(weft_promise p)
{
    const int error = errno;
    struct threads_self *me = &threads_me;
    me->tid = (uint32_t)syscall(SYS_gettid);
    me->promise = p;
    put_tid(me->tid, p);
    lock_living();
    me->next = living;
    if (me->next)
        me->next->prior = &me->next;
    me->prior = &living;
    living = me;
    unlock_living();
    errno = error;
}

void threads_leave_living(void)
{
    struct threads_self *me = &threads_me;
    lock_living();
    *me->prior = me->next;
    if (me->next)
        me->next->prior = me->prior;
    unlock_living();
    if (me->is_main)
        first = 0;
    me->promise = 0;
    me->ended = true;
}

/* A thread of which no beginning was seen; nor will be its end, so it must not stay in the list. */
static void adopt(void)
{
    const int error = errno;
    char name[17] = "thread";
    const uint32_t tid = (uint32_t)syscall(SYS_gettid);
    const bool main_thread = tid == (uint32_t)getpid();
    if (!main_thread)
        prctl(PR_GET_NAME, name);
    adapter_enter();
    const weft_promise p =
        adapter_create_from(WEFT_LOOP, NULL, "thread", main_thread ? "main" : name);
    if (!main_thread)
        weft_background(p);
    adapter_leave();
    if (main_thread) {
        threads_me.is_main = true;
        first = p;
        threads_join_living(p);
    } else {
        threads_me.promise = p;
        threads_me.tid = tid;
        put_tid(tid, p);
    }
    errno = error;
}

weft_promise threads_self(void)
{
    if (!threads_me.promise && !threads_me.ended)
        adopt();
    return threads_me.promise;
}

/* ---- Beginning ---- */

void threads_begin(void)
{
    if (threads_mode_now() != THREADS_NOTHING)
        return;
    const char *what = secure_getenv("WEFT_TRACE_THREADS");
    process = getpid();
    const weft_promise p = threads_self();
    const weft_promise before = weft_run(p);
    if (before != WEFT_LOOP)
        weft_run(before);
    __atomic_store_n(&threads_mode,
                     what && strcmp(what, "all") == 0 ? THREADS_ALL : THREADS_CONTENDED,
                     __ATOMIC_RELAXED);
}

/* The program returns from main, or calls exit on some thread: that is how this thread ends, and the first one, which may
 * wait for it. What other threads do is cut off; if they wait for a lock that one of these two has, nothing is wrong. In the child of a vfork nothing ends: it has its parent's memory. */
__attribute__((destructor)) static void ends(void)
{
    if (!threads_on() || process != getpid())
        return;
    const weft_promise self = threads_me.promise == first ? 0 : threads_me.promise;
    threads_ends_with(self);
    threads_ends_with(first);
    weft_fulfill(self);
    weft_fulfill(first);
}

LIBC(_exit);
LIBC(_Exit);

ADAPTER_EXPORT void _exit(int status)
{
    ends();
    REAL(_exit)(status);
    __builtin_unreachable();
}

ADAPTER_EXPORT void _Exit(int status)
{
    ends();
    REAL(_Exit)(status);
    __builtin_unreachable();
}

static void forked(void)
{
    threads_mode = THREADS_NOTHING;
    threads_me = (struct threads_self){0};
    first = 0;
    living = NULL;
    living_lock = 0;
    memset(parts, 0, sizeof parts);
}

ADAPTER_IN_CHILD(forked)
