/* SPDX-License-Identifier: ISC */
#include "faults.h"

#include <poll.h>

#define CALLS 512
#define TIMERS 256
#define WATCHED 16

bool loop_silent;
int loop_budget = 256;
static struct {
    callback *function;
    void *argument;
} calls[CALLS], watched[WATCHED];
static unsigned first_call, n_calls;
static struct timer timers[TIMERS];
static struct pollfd fds[WATCHED];
static unsigned n_watched;

void post(callback *function, void *argument)
{
    must(n_calls < CALLS);
    unsigned place = (first_call + n_calls++) % CALLS;
    calls[place].function = function;
    calls[place].argument = argument;
}

struct timer *after(double ms, callback *function, void *argument)
{
    struct timer *t = timers;
    while (t->function)
        must(++t < timers + TIMERS);
    *t = (struct timer){function, argument, now_ms() + ms};
    return t;
}

void drop(struct timer *t)
{
    t->function = NULL;
}

void watch(int fd, short events, callback *function, void *argument)
{
    must(n_watched < WATCHED);
    fds[n_watched] = (struct pollfd){fd, events, 0};
    watched[n_watched].function = function;
    watched[n_watched++].argument = argument;
}

void unwatch(int fd)
{
    for (unsigned i = 0; i < n_watched; i++) {
        if (fds[i].fd == fd) {
            fds[i] = fds[--n_watched];
            watched[i] = watched[n_watched];
        }
    }
}

static struct timer *earliest(void)
{
    struct timer *first = NULL;
    for (struct timer *t = timers; t < timers + TIMERS; t++) {
        if (t->function && (!first || t->at_ms < first->at_ms))
            first = t;
    }
    return first;
}

static void run_calls(void)
{
    for (int left = loop_budget; left > 0 && n_calls > 0; left--) {
        unsigned place = first_call++ % CALLS;
        n_calls--;
        calls[place].function(calls[place].argument);
    }
}

static void run_watched(double ms)
{
    int timeout = ms > 0 ? (int)(ms + 0.999) : 0;
    if (timeout > 0 && !loop_silent)
        weft_suspend(WEFT_WAIT_FOR_WORK);
    poll(fds, n_watched, timeout);
    if (timeout > 0 && !loop_silent)
        weft_resume();
    for (unsigned i = n_watched; i-- > 0;) {
        if (i < n_watched && fds[i].revents)
            watched[i].function(watched[i].argument);
    }
}

static void run_timers(void)
{
    double now = now_ms();
    for (struct timer *t; (t = earliest()) && t->at_ms <= now;) {
        struct timer due = *t;
        drop(t);
        due.function(due.argument);
    }
}

void loop_run(double ms)
{
    double end = now_ms() + ms;
    for (;;) {
        run_calls();
        double wait = end - now_ms();
        struct timer *t = earliest();
        if (wait <= 0 || (n_calls == 0 && n_watched == 0 && !t))
            return;
        if (t && t->at_ms < end)
            wait = t->at_ms - now_ms();
        run_watched(n_calls > 0 ? 0 : wait);
        run_timers();
    }
}
