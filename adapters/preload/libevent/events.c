/* SPDX-License-Identifier: ISC */
/* Events. When the program adds one, its callback is replaced by ours, in place, and stays so: then the event is known
 * by its address, and libevent's own events are left alone.
 *
 * An event that is added once is a promise until its callback has run. One that its own callback adds again, or a timer
 * that libevent adds again, stays pending, and waits for a further promise each time: so it is known to have stopped if
 * that does not happen. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include <event2/event_compat.h>
#include <event2/event_struct.h>

#include "libevent.h"

LIBEVENT(event_add);
LIBEVENT(event_del);
LIBEVENT(event_del_block);
LIBEVENT(event_del_noblock);
LIBEVENT(event_free);
LIBEVENT(event_active);
LIBEVENT(event_remove_timer);
LIBEVENT(event_base_once);
LIBEVENT(event_once);
LIBEVENT(event_get_callback);
LIBEVENT(event_get_assignment);
LIBEVENT(event_get_struct_event_size);
LIBEVENT(event_base_get_running_event);

enum kind {
    EVENT, /* by its address */
    AGAIN, /* the same: what it waits for, since it was added again */
    COPY /* by the program's argument: for an event that the program copied after it had added it */
};

/* Of an event: number. */
enum {
    ADDED = 1,
    AGAINS = 2,     /* each time that its callback has added it again */
    REPEATS = 9 * 2 /* so often that weft takes it for a loop, which may have stopped */
};

static struct adapter_table events;

static event_callback_fn *callback_of(struct event *ev)
{
    return &ev->ev_evcallback.evcb_cb_union.evcb_callback;
}

/* Whether this is a libevent whose events look as those that we were compiled for. libev has functions of the same names. */
static bool is_known_version(void)
{
    static int known;
    int k = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (k == 0) {
        k = REAL(event_base_get_running_event) && REAL(event_get_struct_event_size) &&
                    REAL(event_get_struct_event_size)() == sizeof(struct event)
                ? 1
                : -1;
        __atomic_store_n(&known, k, __ATOMIC_RELAXED);
    }
    return k > 0;
}

/* ---- Words ---- */

enum { MICROSECONDS = 0xfffff }; /* the other bits say that it is a common timeout */

static bool has(const struct event *ev, short what)
{
    return (ev->ev_events & what) != 0;
}

/* What an event waits for, as a type. */
static const char *type_of(const struct event *ev, const struct libevent_descriptor *d,
                           const struct timeval *timeout)
{
    return has(ev, EV_SIGNAL)                                      ? "signal"
           : d->listens                                            ? "accept"
           : d->connects && has(ev, EV_WRITE) && !has(ev, EV_READ) ? "connect"
           : has(ev, EV_READ) && has(ev, EV_WRITE)                 ? "descriptor"
           : has(ev, EV_READ)                                      ? "read"
           : has(ev, EV_WRITE)                                     ? "write"
           : has(ev, EV_CLOSED)                                    ? "close"
           : timeout || has(ev, EV_TIMEOUT)                        ? "timer"
                                                                   : "event";
}

static const char *detail_of(struct libevent_descriptor *d, const struct event *ev,
                             const struct timeval *timeout)
{
    if (has(ev, EV_SIGNAL)) {
        const char *name = sigabbrev_np(ev->ev_fd);
        if (name)
            snprintf(d->text, sizeof d->text, "SIG%s", name);
        else
            snprintf(d->text, sizeof d->text, "signal %d", ev->ev_fd);
    } else if (timeout && !*d->text) {
        adapter_duration(d->text, (uint64_t)timeout->tv_sec * 1000000000 +
                                      (uint64_t)(timeout->tv_usec & MICROSECONDS) * 1000);
    }
    return *d->text ? d->text : NULL;
}

/* Whether it may have to wait for long, in a program that is well. */
static bool is_background(const struct event *ev, const struct libevent_descriptor *d, bool timer)
{
    return (has(ev, EV_PERSIST) && !timer) || has(ev, EV_SIGNAL) || d->listens ||
           (has(ev, EV_READ) && (d->terminal || libevent_is_accepted(ev->ev_fd)));
}

static weft_promise create(void *callback, const struct event *ev, const struct timeval *timeout)
{
    struct libevent_descriptor d;
    *d.text = 0;
    d.listens = d.connects = d.terminal = false;
    if (ev->ev_fd >= 0 && has(ev, EV_READ | EV_WRITE | EV_CLOSED))
        libevent_describe(&d, ev->ev_fd);
    const char *type = type_of(ev, &d, timeout);
    const weft_promise p = adapter_create(callback, type, detail_of(&d, ev, timeout));
    if (is_background(ev, &d, strcmp(type, "timer") == 0))
        weft_background(p);
    return p;
}

/* ---- When one fires ---- */

/* It is added again. */
static void add_again(struct event *ev, struct adapter_entry *e, const struct timeval *timeout)
{
    struct adapter_entry again = {.key = e->key, .kind = AGAIN};
    again.promise = create(e->callback, ev, timeout);
    weft_wait_by(e->promise, again.promise);
    adapter_put(&events, &again);
    e->number = (e->number < REPEATS ? e->number + AGAINS : e->number) | ADDED;
}

static weft_promise take_again(const struct event *ev)
{
    struct adapter_entry e;
    return adapter_take(&events, adapter_key(ev), AGAIN, &e) ? e.promise : 0;
}

/* How often libevent adds it again; NULL: not, or not only by time. */
static const struct timeval *period_of(const struct event *ev)
{
    if (has(ev, EV_READ | EV_WRITE | EV_SIGNAL | EV_CLOSED) || !has(ev, EV_PERSIST) ||
        (ev->ev_.ev_io.ev_timeout.tv_sec == 0 && ev->ev_.ev_io.ev_timeout.tv_usec == 0))
        return NULL;
    return &ev->ev_.ev_io.ev_timeout;
}

static bool is_closed(int fd)
{
    const int error = errno;
    const bool closed = fd >= 0 && fcntl(fd, F_GETFD) < 0 && errno == EBADF;
    errno = error;
    return closed;
}

/* The callback has returned. The event may have been freed meanwhile. */
static void after(const struct event *ev, evutil_socket_t fd, struct libevent_frame *f)
{
    struct adapter_entry e;
    if (!adapter_get(&events, adapter_key(ev), EVENT, &e) || e.promise != f->own)
        return;
    if (e.number & ADDED || (e.number >= REPEATS && !is_closed(fd))) {
        f->end = LIBEVENT_STAYS;
        return;
    }
    e.promise = 0;
    e.number = 0;
    adapter_put(&events, &e);
}

static void on_event(evutil_socket_t fd, short what, void *argument)
{
    struct adapter_entry e;
    struct event *ev = libevent_base ? REAL(event_base_get_running_event)(libevent_base) : NULL;
    if (!ev || !adapter_get(&events, adapter_key(ev), EVENT, &e)) {
        if (adapter_get(&events, adapter_key(argument), COPY, &e))
            ((event_callback_fn)e.callback)(fd, what, argument);
        return;
    }
    const event_callback_fn callback = (event_callback_fn)e.callback;
    if (!adapter_on()) {
        callback(fd, what, argument);
        return;
    }
    struct libevent_frame f;
    const struct timeval *period = period_of(ev);
    if (has(ev, EV_PERSIST) && !period && e.promise) { /* the most frequent ones */
        libevent_begin(&f, e.promise, LIBEVENT_STAYS, NULL);
        callback(fd, what, argument);
        libevent_end(&f);
        return;
    }
    const bool late = what & EV_TIMEOUT && has(ev, EV_READ | EV_WRITE);
    const weft_promise again = e.number >= AGAINS ? take_again(ev) : 0;
    if (!e.promise)
        e.promise = create(e.callback, ev, NULL);
    if (!has(ev, EV_PERSIST))
        e.number &= ~(uint32_t)ADDED;
    libevent_finish(again, late ? LIBEVENT_FAILED : LIBEVENT_FULFILLED, "timed out");
    const bool fails = late && !again && !has(ev, EV_PERSIST);
    libevent_begin_by(&f, e.promise, again, fails ? LIBEVENT_FAILED : LIBEVENT_FULFILLED,
                      fails ? "timed out" : NULL);
    if (period)
        add_again(ev, &e, period);
    adapter_put(&events, &e);
    callback(fd, what, argument);
    after(ev, fd, &f);
    libevent_end(&f);
}

/* Makes the event ours, if it is the program's. False: it is left alone. */
static bool adopt(struct event *ev, struct adapter_entry *e)
{
    const event_callback_fn callback = *callback_of(ev);
    if (callback == on_event) {
        if (adapter_get(&events, adapter_key(ev), EVENT, e))
            return true;
        if (!adapter_get(&events, adapter_key(ev->ev_evcallback.evcb_arg), COPY, e))
            return false;
        *e = (struct adapter_entry){.key = adapter_key(ev), .callback = e->callback};
        return adapter_put(&events, e);
    }
    if (!callback || libevent_is_own((const void *)callback) || !is_known_version() ||
        ev->ev_evcallback.evcb_flags & ~EVLIST_INIT)
        return false;
    *e = (struct adapter_entry){
        .key = adapter_key(ev->ev_evcallback.evcb_arg), .kind = COPY, .callback = (void *)callback};
    if (!adapter_put(&events, e))
        return false;
    e->key = adapter_key(ev);
    e->kind = EVENT;
    if (!adapter_put(&events, e))
        return false;
    *callback_of(ev) = on_event;
    return true;
}

/* ---- What the program calls ---- */

ADAPTER_EXPORT int event_add(struct event *ev, const struct timeval *timeout)
{
    struct adapter_entry e;
    if (!adapter_on() || !adopt(ev, &e))
        return REAL(event_add)(ev, timeout);
    const uint32_t before = e.number;
    const weft_promise ran = e.promise;
    if (!e.promise) {
        e.promise = create(e.callback, ev, timeout);
        e.number = ADDED;
    } else if (!(before & ADDED)) {
        add_again(ev, &e, timeout);
    }
    if (e.number != before)
        adapter_put(&events, &e);
    adapter_enter();
    const int result = REAL(event_add)(ev, timeout);
    adapter_leave();
    if (result < 0 && e.number != before) {
        weft_forget(ran ? take_again(ev) : e.promise);
        e.promise = ran;
        e.number = before;
        adapter_put(&events, &e);
    }
    return result;
}

/* The program deletes it: it is no longer waited for. */
static void drop(struct event *ev, bool freed)
{
    struct adapter_entry e;
    if (!adapter_on() || *callback_of(ev) != on_event ||
        !adapter_get(&events, adapter_key(ev), EVENT, &e))
        return;
    if (e.promise) {
        libevent_finish(take_again(ev), LIBEVENT_CANCELLED, NULL);
        /* If it was not added again, and is freed only after the loop, it had stopped, and stays so. */
        if (e.number & ADDED || libevent_base)
            libevent_finish(e.promise, LIBEVENT_CANCELLED, NULL);
        e.promise = 0;
        e.number = 0;
        adapter_put(&events, &e);
    }
    if (freed)
        adapter_take(&events, adapter_key(ev), EVENT, &e);
}

ADAPTER_EXPORT int event_del(struct event *ev)
{
    drop(ev, false);
    return REAL(event_del)(ev);
}

ADAPTER_EXPORT int event_del_block(struct event *ev)
{
    drop(ev, false);
    return REAL(event_del_block)(ev);
}

ADAPTER_EXPORT int event_del_noblock(struct event *ev)
{
    drop(ev, false);
    return REAL(event_del_noblock)(ev);
}

ADAPTER_EXPORT int event_remove_timer(struct event *ev)
{
    if (!has(ev, EV_READ | EV_WRITE | EV_SIGNAL | EV_CLOSED))
        drop(ev, false);
    return REAL(event_remove_timer)(ev);
}

ADAPTER_EXPORT void event_free(struct event *ev)
{
    drop(ev, true);
    REAL(event_free)(ev);
}

/* An event that was not added is, for one time. */
ADAPTER_EXPORT void event_active(struct event *ev, int result, short calls)
{
    struct adapter_entry e;
    if (adapter_on() && adopt(ev, &e) && e.promise == 0) {
        e.promise = create(e.callback, ev, NULL);
        e.number = ADDED;
        adapter_put(&events, &e);
    }
    REAL(event_active)(ev, result, calls);
}

/* ---- Events that libevent makes for one time ---- */

static void on_once(evutil_socket_t fd, short what, void *argument)
{
    struct libevent_pair pair = *(struct libevent_pair *)argument;
    struct libevent_frame f;
    free(argument);
    const bool late = what & EV_TIMEOUT && fd >= 0;
    libevent_begin(&f, pair.promise, late ? LIBEVENT_FAILED : LIBEVENT_FULFILLED,
                   late ? "timed out" : NULL);
    ((event_callback_fn)pair.callback)(fd, what, pair.argument);
    libevent_end(&f);
}

static struct libevent_pair *new_once(evutil_socket_t fd, short what, event_callback_fn callback,
                                      void *argument, const struct timeval *timeout)
{
    struct event like = {.ev_fd = fd, .ev_events = what};
    struct libevent_pair *pair = NULL;
    if (callback && !libevent_is_own((const void *)callback))
        pair = libevent_pair_new((void *)callback, argument);
    if (pair)
        pair->promise = create((void *)callback, &like, timeout);
    return pair;
}

static int begun(struct libevent_pair *pair, int result)
{
    if (result < 0) {
        weft_forget(pair->promise);
        free(pair);
    }
    return result;
}

ADAPTER_EXPORT int event_base_once(struct event_base *base, evutil_socket_t fd, short what,
                                   event_callback_fn callback, void *argument,
                                   const struct timeval *timeout)
{
    struct libevent_pair *pair =
        adapter_on() ? new_once(fd, what, callback, argument, timeout) : NULL;
    if (!pair)
        return REAL(event_base_once)(base, fd, what, callback, argument, timeout);
    return begun(pair, REAL(event_base_once)(base, fd, what, on_once, pair, timeout));
}

ADAPTER_EXPORT int event_once(evutil_socket_t fd, short what, event_callback_fn callback,
                              void *argument, const struct timeval *timeout)
{
    struct libevent_pair *pair =
        adapter_on() ? new_once(fd, what, callback, argument, timeout) : NULL;
    if (!pair)
        return REAL(event_once)(fd, what, callback, argument, timeout);
    adapter_enter(); /* it calls event_base_once */
    const int result = REAL(event_once)(fd, what, on_once, pair, timeout);
    adapter_leave();
    return begun(pair, result);
}

/* ---- What the program asks ---- */

ADAPTER_EXPORT event_callback_fn event_get_callback(const struct event *ev)
{
    struct adapter_entry e;
    const event_callback_fn found = REAL(event_get_callback)(ev);
    if (found != on_event || !adapter_get(&events, adapter_key(ev), EVENT, &e))
        return found;
    return (event_callback_fn)e.callback;
}

ADAPTER_EXPORT void event_get_assignment(const struct event *ev, struct event_base **base,
                                         evutil_socket_t *fd, short *what,
                                         event_callback_fn *callback, void **argument)
{
    struct adapter_entry e;
    REAL(event_get_assignment)(ev, base, fd, what, callback, argument);
    if (callback && *callback == on_event && adapter_get(&events, adapter_key(ev), EVENT, &e))
        *callback = (event_callback_fn)e.callback;
}
