/* SPDX-License-Identifier: ISC */
/* Loops, when they sleep, and callbacks. */
#undef _FORTIFY_SOURCE /* with it, poll.h defines poll */
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "libevent.h"

LIBEVENT(event_base_loop);

#define LIBC(name) REAL_OF(name, "libc.so.6")

LIBC(epoll_wait);
LIBC(poll);
LIBC(select);

#define PER_THREAD static __thread __attribute__((tls_model("initial-exec")))

PER_THREAD struct libevent_frame *innermost;
__thread struct event_base *libevent_base;

/* ---- Callbacks ---- */

/* A program may have left callbacks by longjmp: their frames are below the stack's end, and mean nothing. */
static struct libevent_frame *living(void)
{
    if ((uintptr_t)innermost < (uintptr_t)__builtin_frame_address(0))
        innermost = NULL;
    return innermost;
}

static void end(weft_promise p, enum libevent_end how, const char *reason)
{
    switch (how) {
    case LIBEVENT_STAYS:
        break;
    case LIBEVENT_FULFILLED:
        weft_fulfill(p);
        break;
    case LIBEVENT_FAILED:
        weft_fail(p, reason);
        weft_read(WEFT_LOOP, p); /* the callback is told */
        break;
    case LIBEVENT_CANCELLED:
        weft_cancel(p);
        break;
    }
}

static void set_end(struct libevent_frame *f, enum libevent_end how, const char *reason)
{
    f->end = how;
    if (how == LIBEVENT_FAILED)
        snprintf(f->reason, sizeof f->reason, "%s", reason ? reason : "");
}

void libevent_begin(struct libevent_frame *f, weft_promise p, enum libevent_end how,
                    const char *reason)
{
    libevent_begin_by(f, p, 0, how, reason);
}

void libevent_begin_by(struct libevent_frame *f, weft_promise p, weft_promise because,
                       enum libevent_end how, const char *reason)
{
    f->own = p;
    set_end(f, how, reason);
    f->outer = living();
    f->before = weft_run(p);
    if (because)
        weft_wake(p, because);
    innermost = f;
    f->depth = adapter_out();
}

void libevent_end(struct libevent_frame *f)
{
    libevent_look_at_buffers();
    adapter_back(f->depth);
    innermost = f->outer;
    end(f->own, f->end, f->reason);
    weft_run(f->before);
}

void libevent_finish(weft_promise p, enum libevent_end how, const char *reason)
{
    struct libevent_frame *f = living();
    while (f && f->own != p)
        f = f->outer;
    if (f) /* what ends itself while it runs has done what it was there for */
        set_end(f, how == LIBEVENT_CANCELLED ? LIBEVENT_FULFILLED : how, reason);
    else if (p)
        end(p, how, reason);
}

/* A callback that ends the program has done what it was there for. */
__attribute__((destructor)) static void finish_all(void)
{
    for (struct libevent_frame *f = living(); f; f = f->outer)
        end(f->own, f->end, f->reason);
}

struct libevent_pair *libevent_pair_new(void *callback, void *argument)
{
    struct libevent_pair *pair = malloc(sizeof *pair);
    if (pair)
        *pair = (struct libevent_pair){.callback = callback, .argument = argument};
    return pair;
}

/* ---- Loops ---- */

ADAPTER_EXPORT int event_base_loop(struct event_base *base, int flags)
{
    struct event_base *const before = libevent_base;
    const bool on = adapter_on();
    if (on)
        libevent_look_at_buffers();
    const weft_promise ran = on ? weft_run(WEFT_LOOP) : 0;
    libevent_base = base;
    const int result = REAL(event_base_loop)(base, flags);
    libevent_base = before;
    if (on)
        weft_run(ran);
    return result;
}

/* libevent sleeps, and nothing else that calls poll. What is inside is not seen by other adapters. */
static bool is_sleep(const void *caller)
{
    return libevent_base && adapter_on() && libevent_is_own(caller);
}

static void sleep_begins(void)
{
    weft_suspend(WEFT_WAIT_FOR_WORK);
    adapter_enter();
}

static void sleep_ends(void)
{
    adapter_leave();
    weft_resume();
}

ADAPTER_EXPORT int epoll_wait(int fd, struct epoll_event *events, int most, int timeout_ms)
{
    if (!is_sleep(__builtin_return_address(0)))
        return REAL(epoll_wait)(fd, events, most, timeout_ms);
    sleep_begins();
    const int result = REAL(epoll_wait)(fd, events, most, timeout_ms);
    sleep_ends();
    return result;
}

ADAPTER_EXPORT int poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
    if (!is_sleep(__builtin_return_address(0)))
        return REAL(poll)(fds, count, timeout_ms);
    sleep_begins();
    const int result = REAL(poll)(fds, count, timeout_ms);
    sleep_ends();
    return result;
}

ADAPTER_EXPORT int select(int count, fd_set *restrict reads, fd_set *restrict writes,
                          fd_set *restrict exceptions, struct timeval *restrict timeout)
{
    if (!is_sleep(__builtin_return_address(0)))
        return REAL(select)(count, reads, writes, exceptions, timeout);
    sleep_begins();
    const int result = REAL(select)(count, reads, writes, exceptions, timeout);
    sleep_ends();
    return result;
}
