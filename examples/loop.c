/* SPDX-License-Identifier: ISC */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "loop.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct call calls[16]; /* sorted by time, and as they came */
static size_t n_calls;
static uint64_t now_ns;
static weft_promise running = WEFT_LOOP;

static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

static void call_later(struct call call)
{
    size_t i = n_calls++;
    if (i == sizeof calls / sizeof calls[0])
        abort();
    for (; i > 0 && calls[i - 1].at_ns > call.at_ns; i--)
        calls[i] = calls[i - 1];
    calls[i] = call;
}

void loop_start(weft_promise actor, callback *function)
{
    call_later((struct call){.function = function, .actor = actor});
}

void loop_after(uint64_t delay_ns, weft_promise actor, callback *function)
{
    if (now_ns == 0)
        now_ns = clock_ns();
    call_later((struct call){.at_ns = now_ns + delay_ns, .function = function, .actor = actor});
}

static void sleep_until(uint64_t time_ns)
{
    uint64_t clock = clock_ns(), left_ns = time_ns > clock ? time_ns - clock : 0;
    weft_suspend(WEFT_WAIT_FOR_WORK); /* nothing runs from now on: the picture is darker */
    poll(NULL, 0, (int)((left_ns + MS - 1) / MS));
    weft_resume(); /* the loop runs */
    now_ns = time_ns;
}

static void make_call(const struct call *call)
{
    /* Who runs from now on (a thick line), and because of what (the arrow that leads to it). */
    if (call->cause == 0)
        weft_run(call->actor);
    else if (call->notified)
        weft_signal(call->actor, call->cause);
    else
        weft_wake(call->actor, call->cause);
    running = call->actor;
    call->function();
}

void loop_run(const struct promise *end, uint64_t patience_ns)
{
    if (now_ns == 0)
        now_ns = clock_ns();
    uint64_t end_ns = now_ns + patience_ns;
    while (!end->fulfilled) {
        struct call call = calls[0];
        if (n_calls == 0 || call.at_ns > end_ns) {
            sleep_until(end_ns);
            break;
        }
        if (call.at_ns > 0)
            sleep_until(call.at_ns);
        memmove(calls, calls + 1, --n_calls * sizeof call);
        make_call(&call);
    }
    weft_run(WEFT_LOOP);
    running = WEFT_LOOP;
}

struct promise promise_new(weft_promise id)
{
    return (struct promise){.id = id};
}

void promise_await(struct promise *p, callback *function)
{
    struct call call = {.function = function, .actor = running, .cause = p->id};
    if (p->fulfilled || p->failed) {
        call_later(call);
        return;
    }
    weft_wait(p->id); /* what runs will not go on before p is fulfilled: an arrow to p */
    if (p->n_waiters == sizeof p->waiters / sizeof p->waiters[0])
        abort();
    p->waiters[p->n_waiters++] = call;
}

static void call_waiters(struct promise *p)
{
    for (unsigned i = 0; i < p->n_waiters; i++)
        call_later(p->waiters[i]);
    p->n_waiters = 0;
}

void promise_fulfill(struct promise *p)
{
    weft_fulfill(p->id); /* by what runs; p's line ends here */
    p->fulfilled = true;
    call_waiters(p);
}

void promise_fail(struct promise *p, const char *reason)
{
    weft_fail(p->id, reason); /* an error that nobody looks at can be found afterwards */
    p->failed = true;
    call_waiters(p);
}

struct condition condition_new(weft_promise id)
{
    return (struct condition){.id = id};
}

void condition_wait(struct condition *c, callback *function)
{
    weft_wait(c->id);
    c->waiter =
        (struct call){.function = function, .actor = running, .cause = c->id, .notified = true};
}

void condition_notify(struct condition *c)
{
    weft_notify(c->id); /* also if nobody waits: that one is lost must be seen */
    if (c->waiter.function)
        call_later(c->waiter);
    c->waiter.function = NULL;
}
