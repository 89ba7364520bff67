/* SPDX-License-Identifier: ISC */
/* Listeners: one promise for each, in the background, below which everything is that its connections begin. */
#include <event2/listener.h>

#include "libevent.h"

LIBEVENT(evconnlistener_new);
LIBEVENT(evconnlistener_new_bind);
LIBEVENT(evconnlistener_set_cb);
LIBEVENT(evconnlistener_free);
LIBEVENT(evconnlistener_get_fd);

static struct adapter_table listeners;

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address,
                      int size, void *argument)
{
    struct adapter_entry e;
    struct libevent_frame f;
    if (!adapter_get(&listeners, adapter_key(listener), 0, &e))
        return;
    if (!adapter_on()) {
        ((evconnlistener_cb)e.callback)(listener, fd, address, size, argument);
        return;
    }
    libevent_begin(&f, e.promise, LIBEVENT_STAYS, NULL);
    ((evconnlistener_cb)e.callback)(listener, fd, address, size, argument);
    libevent_end(&f);
}

static bool is_ours(evconnlistener_cb callback)
{
    return adapter_on() && callback && !libevent_is_own((const void *)callback);
}

/* The callback is ours, and the promise begins if it has not. */
static bool put(struct evconnlistener *listener, evconnlistener_cb callback)
{
    char text[ADAPTER_TEXT];
    struct adapter_entry e;
    if (!adapter_get(&listeners, adapter_key(listener), 0, &e))
        e = (struct adapter_entry){.key = adapter_key(listener)};
    e.callback = (void *)callback;
    if (!e.promise) {
        e.promise = adapter_create((void *)callback, "accept",
                                   adapter_descriptor(text, REAL(evconnlistener_get_fd)(listener)));
        weft_background(e.promise);
    }
    return adapter_put(&listeners, &e);
}

/* It has no callback yet, so it does not listen. */
static struct evconnlistener *begin(struct evconnlistener *listener, evconnlistener_cb callback,
                                    void *argument)
{
    if (listener)
        REAL(evconnlistener_set_cb)
    (listener, put(listener, callback) ? on_accept : callback, argument);
    return listener;
}

ADAPTER_EXPORT struct evconnlistener *evconnlistener_new(struct event_base *base,
                                                         evconnlistener_cb callback, void *argument,
                                                         unsigned flags, int backlog,
                                                         evutil_socket_t fd)
{
    if (!is_ours(callback))
        return REAL(evconnlistener_new)(base, callback, argument, flags, backlog, fd);
    return begin(REAL(evconnlistener_new)(base, NULL, NULL, flags, backlog, fd), callback,
                 argument);
}

ADAPTER_EXPORT struct evconnlistener *evconnlistener_new_bind(
    struct event_base *base, evconnlistener_cb callback, void *argument, unsigned flags,
    int backlog, const struct sockaddr *address, int size)
{
    if (!is_ours(callback))
        return REAL(evconnlistener_new_bind)(base, callback, argument, flags, backlog, address,
                                             size);
    return begin(REAL(evconnlistener_new_bind)(base, NULL, NULL, flags, backlog, address, size),
                 callback, argument);
}

ADAPTER_EXPORT void evconnlistener_set_cb(struct evconnlistener *listener,
                                          evconnlistener_cb callback, void *argument)
{
    if (is_ours(callback) && put(listener, callback))
        callback = on_accept;
    REAL(evconnlistener_set_cb)(listener, callback, argument);
}

ADAPTER_EXPORT void evconnlistener_free(struct evconnlistener *listener)
{
    struct adapter_entry e;
    if (adapter_take(&listeners, adapter_key(listener), 0, &e) && e.promise && adapter_on())
        libevent_finish(e.promise, LIBEVENT_FULFILLED, NULL);
    REAL(evconnlistener_free)(listener);
}
