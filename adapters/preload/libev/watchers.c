/* SPDX-License-Identifier: ISC */
/* libev 4. A watcher that is started is a promise; while it is active, its callback is replaced by ours, in place. Watchers that
 * run in every turn of the loop (idle, prepare, check) are left alone. */
#include <errno.h>
#include <ev.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "../adapter.h"

#define LIBEV(name) REAL_OF(name, "libev.so.4")
#define LIBC(name) REAL_OF(name, "libc.so.6")

LIBEV(ev_run);
LIBEV(ev_io_start);
LIBEV(ev_timer_start);
LIBEV(ev_timer_again);
LIBEV(ev_periodic_start);
LIBEV(ev_signal_start);
LIBEV(ev_child_start);
LIBEV(ev_stat_start);
LIBEV(ev_async_start);
LIBEV(ev_once);
LIBC(epoll_wait);

typedef void (*watcher_callback)(struct ev_loop *, ev_watcher *, int);
typedef void (*once_callback)(int, void *);

static struct adapter_table watchers;

#define PER_THREAD static __thread __attribute__((tls_model("initial-exec")))

PER_THREAD unsigned loops;       /* how many run on this thread */
PER_THREAD weft_promise current; /* whose callback runs; 0: it has been stopped meanwhile */

/* Whether the address is in libev. */
static bool is_own(const void *code)
{
    static struct adapter_range libev;
    return adapter_is_in(&libev, (const void *)REAL(ev_run), code);
}

/* ---- Callbacks ---- */

static void on_watcher(struct ev_loop *loop, ev_watcher *w, int events)
{
    struct adapter_entry e;
    if (!adapter_get(&watchers, adapter_key(w), 0, &e))
        return;
    const watcher_callback callback = (watcher_callback)e.callback;
    if (!w->active) { /* it has gone off for the last time */
        adapter_take(&watchers, adapter_key(w), 0, &e);
        w->cb = callback;
    }
    if (!adapter_on() || !e.promise) {
        callback(loop, w, events);
        return;
    }
    const bool last = !w->active;
    const weft_promise outer = current, before = weft_run(e.promise);
    const unsigned depth = adapter_out();
    current = e.promise;
    callback(loop, w, events);
    const bool stopped = current != e.promise;
    current = outer;
    adapter_back(depth);
    if (last || stopped)
        weft_fulfill(e.promise);
    weft_run(before);
}

/* False: it is left alone. Its callback is ours from now on. */
static bool is_started(ev_watcher *w)
{
    return adapter_on() && !w->active && w->cb && w->cb != on_watcher &&
           !is_own((const void *)w->cb);
}

static void started(ev_watcher *w, const char *type, const char *detail, bool background)
{
    struct adapter_entry e = {.key = adapter_key(w), .callback = (void *)w->cb};
    e.promise = adapter_create(e.callback, type, detail);
    if (background)
        weft_background(e.promise);
    if (adapter_put(&watchers, &e))
        w->cb = on_watcher;
    else
        weft_forget(e.promise);
}

/* libev stops a timer itself before it calls its callback. */
static void stopped(ev_watcher *w, const void *caller)
{
    struct adapter_entry e;
    if (w->cb != on_watcher || is_own(caller) || !adapter_take(&watchers, adapter_key(w), 0, &e))
        return;
    w->cb = (watcher_callback)e.callback;
    if (!adapter_on() || !e.promise)
        return;
    if (e.promise == current)
        current = 0;
    else
        weft_cancel(e.promise);
}

/* ---- Watchers ---- */

static const char *seconds(char text[ADAPTER_TEXT], double s)
{
    return adapter_duration(text, s > 0 && s < 1e9 ? (uint64_t)(s * 1e9) : 0);
}

ADAPTER_EXPORT void ev_io_start(struct ev_loop *loop, ev_io *w)
{
    char text[ADAPTER_TEXT];
    if (is_started((ev_watcher *)w)) {
        struct adapter_descriptor d;
        adapter_describe(text, w->fd, &d);
        const bool reads = w->events & EV_READ, writes = w->events & EV_WRITE;
        started((ev_watcher *)w,
                d.listens         ? "accept"
                : reads && writes ? "descriptor"
                : writes          ? "write"
                                  : "read",
                text, true);
    }
    REAL(ev_io_start)(loop, w);
}

ADAPTER_EXPORT void ev_timer_start(struct ev_loop *loop, ev_timer *w)
{
    char text[ADAPTER_TEXT];
    if (is_started((ev_watcher *)w)) {
        const double after = ((ev_watcher_time *)w)->at;
        started((ev_watcher *)w, "timer", seconds(text, after > 0 ? after : w->repeat),
                w->repeat > 0);
    }
    REAL(ev_timer_start)(loop, w);
}

/* Starts it if it repeats, or stops it. */
ADAPTER_EXPORT void ev_timer_again(struct ev_loop *loop, ev_timer *w)
{
    char text[ADAPTER_TEXT];
    if (!(w->repeat > 0))
        stopped((ev_watcher *)w, __builtin_return_address(0));
    else if (is_started((ev_watcher *)w))
        started((ev_watcher *)w, "timer", seconds(text, w->repeat), true);
    REAL(ev_timer_again)(loop, w);
}

ADAPTER_EXPORT void ev_periodic_start(struct ev_loop *loop, ev_periodic *w)
{
    char text[ADAPTER_TEXT];
    if (is_started((ev_watcher *)w))
        started((ev_watcher *)w, "timer", w->interval > 0 ? seconds(text, w->interval) : NULL,
                true);
    REAL(ev_periodic_start)(loop, w);
}

ADAPTER_EXPORT void ev_signal_start(struct ev_loop *loop, ev_signal *w)
{
    char text[ADAPTER_TEXT];
    if (is_started((ev_watcher *)w)) {
        const char *name = sigabbrev_np(w->signum);
        snprintf(text, sizeof text, "SIG%s", name ? name : "?");
        started((ev_watcher *)w, "signal", text, true);
    }
    REAL(ev_signal_start)(loop, w);
}

ADAPTER_EXPORT void ev_child_start(struct ev_loop *loop, ev_child *w)
{
    char text[ADAPTER_TEXT];
    if (is_started((ev_watcher *)w)) {
        snprintf(text, sizeof text, "process %d", w->pid);
        started((ev_watcher *)w, "process", text, w->pid == 0);
    }
    REAL(ev_child_start)(loop, w);
}

ADAPTER_EXPORT void ev_stat_start(struct ev_loop *loop, ev_stat *w)
{
    if (is_started((ev_watcher *)w))
        started((ev_watcher *)w, "stat", w->path, true);
    REAL(ev_stat_start)(loop, w);
}

ADAPTER_EXPORT void ev_async_start(struct ev_loop *loop, ev_async *w)
{
    if (is_started((ev_watcher *)w))
        started((ev_watcher *)w, "async", NULL, true);
    REAL(ev_async_start)(loop, w);
}

#define STOPS(name, type)                                                                          \
    LIBEV(name);                                                                                   \
    ADAPTER_EXPORT void name(struct ev_loop *loop, type *w)                                        \
    {                                                                                              \
        stopped((ev_watcher *)w, __builtin_return_address(0));                                     \
        REAL(name)(loop, w);                                                                       \
    }

STOPS(ev_io_stop, ev_io)
STOPS(ev_timer_stop, ev_timer)
STOPS(ev_periodic_stop, ev_periodic)
STOPS(ev_signal_stop, ev_signal)
STOPS(ev_child_stop, ev_child)
STOPS(ev_stat_stop, ev_stat)
STOPS(ev_async_stop, ev_async)

/* ---- ev_once ---- */

struct once {
    once_callback callback;
    void *argument;
    weft_promise promise;
};

static void on_once(int events, void *argument)
{
    const struct once once = *(struct once *)argument;
    free(argument);
    const weft_promise before = weft_run(once.promise);
    const unsigned depth = adapter_out();
    once.callback(events, once.argument);
    adapter_back(depth);
    weft_fulfill(once.promise);
    weft_run(before);
}

ADAPTER_EXPORT void ev_once(struct ev_loop *loop, int fd, int events, ev_tstamp timeout,
                            once_callback callback, void *argument)
{
    char text[ADAPTER_TEXT];
    struct once *once = adapter_on() && callback ? malloc(sizeof *once) : NULL;
    if (!once) {
        REAL(ev_once)(loop, fd, events, timeout, callback, argument);
        return;
    }
    const char *type = fd < 0 ? "timer" : events & EV_WRITE ? "write" : "read";
    *once = (struct once){callback, argument, 0};
    once->promise = adapter_create((void *)callback, type,
                                   fd < 0 ? seconds(text, timeout) : adapter_descriptor(text, fd));
    REAL(ev_once)(loop, fd, events, timeout, on_once, once);
}

/* ---- Loops ---- */

ADAPTER_EXPORT int ev_run(struct ev_loop *loop, int flags)
{
    const bool on = adapter_on();
    const weft_promise before = on ? weft_run(WEFT_LOOP) : 0, outer = current;
    loops++;
    current = 0;
    const int result = REAL(ev_run)(loop, flags);
    current = outer;
    loops--;
    if (on)
        weft_run(before);
    return result;
}

ADAPTER_EXPORT int epoll_wait(int fd, struct epoll_event *events, int most, int timeout_ms)
{
    if (!loops || !adapter_on() || !is_own(__builtin_return_address(0)))
        return REAL(epoll_wait)(fd, events, most, timeout_ms);
    weft_suspend(WEFT_WAIT_FOR_WORK);
    adapter_enter();
    const int result = REAL(epoll_wait)(fd, events, most, timeout_ms);
    adapter_leave();
    weft_resume();
    return result;
}
