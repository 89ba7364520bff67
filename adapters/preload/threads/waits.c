/* SPDX-License-Identifier: ISC */
/* Waits of threads. If a callback runs on the thread, it waits, too: the thread itself is what holds locks, so only
 * by the thread's own waits can circles be found. */
#include "thread.h"

#include <errno.h>

static weft_promise limit_of(clockid_t clock, const struct timespec *until)
{
    char text[ADAPTER_TEXT];
    struct timespec now = {0};
    clock_gettime(clock, &now);
    const int64_t left =
        (until->tv_sec - now.tv_sec) * INT64_C(1000000000) + until->tv_nsec - now.tv_nsec;
    return adapter_create(NULL, "timer", adapter_duration(text, left > 0 ? (uint64_t)left : 0));
}

void threads_wait(struct threads_wait *w, weft_promise source, clockid_t clock,
                  const struct timespec *until)
{
    const int error = errno;
    *w = (struct threads_wait){.self = threads_self(), .source = source};
    if (!w->self)
        return;
    w->before = weft_run(w->self);
    if (w->before == WEFT_LOOP)
        w->before = w->self;
    if (until)
        threads_me.limit = w->limit = limit_of(clock, until);
    weft_wait(source);
    if (w->before != w->self)
        weft_wait_by(w->before, source);
    if (w->limit)
        weft_wait(w->limit);
    weft_suspend(WEFT_WAIT_FOR_WORK);
    errno = error;
}

void threads_wait_ends(const struct threads_wait *w, enum threads_end end)
{
    if (!w->self)
        return;
    const int error = errno;
    weft_resume();
    if (end == THREADS_TIME && w->limit)
        weft_fulfill(w->limit);
    else if (w->limit)
        weft_cancel(w->limit);
    threads_me.limit = 0;
    const weft_promise cause = end == THREADS_TIME && w->limit ? w->limit : w->source;
    for (int i = 0; i < 2; i++) {
        const weft_promise who = i == 0 ? w->self : w->before;
        if (i == 1 && who == w->self)
            break;
        if (end == THREADS_GOT)
            weft_signal(who, cause);
        else if (end == THREADS_NEITHER)
            weft_run(who);
        else
            weft_wake(who, cause);
    }
    errno = error;
}
