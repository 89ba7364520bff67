/* SPDX-License-Identifier: ISC */
/* Bufferevents: the connection, in the background, is what its callbacks run as; below it are connecting, what is written
 * until it has gone out, and the answer that the program waits for, if it is the side that asks. */
#include <errno.h>
#include <sys/socket.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/util.h>

#include "libevent.h"

LIBEVENT(bufferevent_setcb);
LIBEVENT(bufferevent_getcb);
LIBEVENT(bufferevent_free);
LIBEVENT(bufferevent_enable);
LIBEVENT(bufferevent_write);
LIBEVENT(bufferevent_write_buffer);
LIBEVENT(bufferevent_get_output);
LIBEVENT(bufferevent_getfd);
LIBEVENT(bufferevent_lock);
LIBEVENT(bufferevent_unlock);
LIBEVENT(bufferevent_socket_connect);
LIBEVENT(bufferevent_socket_connect_hostname);
LIBEVENT(bufferevent_socket_get_dns_error);
LIBEVENT(bufferevent_openssl_socket_new);
LIBEVENT(evbuffer_get_length);
LIBEVENT(evutil_gai_strerror);

/* What is known of a bufferevent. Each has a callback, and a promise. */
enum kind {
    READ,  /* the answer that is waited for */
    WRITE, /* what goes out */
    EVENT, /* connecting */
    LINK,  /* the connection; no callback */
    KINDS
};

/* Of the connection: number. */
enum {
    CONNECTS = 1, /* the program has opened it */
    SECURE = 2,   /* TLS */
    ASKS = 4,     /* the program wrote first … */
    ANSWERS = 8   /* … or the other side did */
};

static struct adapter_table buffers;

static bool get(struct bufferevent *b, enum kind kind, struct adapter_entry *e)
{
    if (adapter_get(&buffers, adapter_key(b), kind, e))
        return true;
    *e = (struct adapter_entry){.key = adapter_key(b), .kind = kind};
    return false;
}

static weft_promise take_promise(struct bufferevent *b, enum kind kind)
{
    struct adapter_entry e;
    const weft_promise p = get(b, kind, &e) ? e.promise : 0;
    if (p) {
        e.promise = 0;
        adapter_put(&buffers, &e);
    }
    return p;
}

static bool is_known(struct bufferevent *b)
{
    struct adapter_entry e;
    return get(b, LINK, &e);
}

static uint32_t add_flags(struct bufferevent *b, uint32_t flags)
{
    struct adapter_entry e;
    get(b, LINK, &e);
    if (flags & ~e.number) {
        e.number |= flags;
        adapter_put(&buffers, &e);
    }
    return e.number;
}

static const char *detail_of(struct libevent_descriptor *d, struct bufferevent *b)
{
    const int fd = REAL(bufferevent_getfd)(b);
    if (fd < 0)
        return NULL;
    libevent_describe(d, fd);
    return d->text;
}

/* The callback that says most about what the bufferevent is for. */
static void *main_callback(struct bufferevent *b)
{
    struct adapter_entry e;
    if (get(b, READ, &e) && e.callback)
        return e.callback;
    return get(b, EVENT, &e) ? e.callback : NULL;
}

static weft_promise link_of(struct bufferevent *b)
{
    struct libevent_descriptor d;
    struct adapter_entry e;
    get(b, LINK, &e);
    if (e.promise)
        return e.promise;
    e.promise = adapter_create(main_callback(b), "connection", detail_of(&d, b));
    weft_background(e.promise);
    adapter_put(&buffers, &e);
    return e.promise;
}

/* ---- What is written, and answers ---- */

/* Whether the program expects an answer to what it writes: it has opened the connection, or spoken first. */
static bool asks(struct bufferevent *b)
{
    const int fd = REAL(bufferevent_getfd)(b);
    const uint32_t flags = add_flags(b, 0);
    if (flags & CONNECTS)
        return true;
    if (flags & ANSWERS || libevent_is_accepted(fd))
        return false;
    int type;
    const int error = errno;
    const bool talks =
        fd < 0 || getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &(socklen_t){sizeof type}) == 0;
    errno = error;
    add_flags(b, talks ? ASKS : ANSWERS);
    return talks;
}

static void written(struct bufferevent *b)
{
    struct libevent_descriptor d;
    struct adapter_entry e;
    if (get(b, EVENT, &e) && e.promise) /* not connected yet: see on_event */
        return;
    if (get(b, WRITE, &e) && e.callback && !e.promise) {
        e.promise = adapter_create(e.callback, "write", detail_of(&d, b));
        adapter_put(&buffers, &e);
    }
    if (get(b, READ, &e) && e.callback && !e.promise && asks(b)) {
        e.promise = adapter_create(e.callback, "read", detail_of(&d, b));
        if (add_flags(b, 0) & CONNECTS)
            weft_should_resolve(e.promise);
        adapter_put(&buffers, &e);
    }
}

/* The program often writes to the buffer itself. So those whose buffers it has asked for are looked at when its callback
 * returns. */
enum { ASKED_FOR = 16 };
static __thread __attribute__((tls_model("initial-exec"))) struct bufferevent *asked_for[ASKED_FOR];
static __thread __attribute__((tls_model("initial-exec"))) unsigned asked_for_count;

static void look_at(struct bufferevent *b)
{
    if (is_known(b) && REAL(evbuffer_get_length)(REAL(bufferevent_get_output)(b)) > 0)
        written(b);
}

void libevent_look_at_buffers(void)
{
    while (asked_for_count)
        look_at(asked_for[--asked_for_count]);
}

static void look_at_later(struct bufferevent *b)
{
    for (unsigned i = 0; i < asked_for_count; i++)
        if (asked_for[i] == b)
            return;
    if (asked_for_count < ASKED_FOR)
        asked_for[asked_for_count++] = b;
}

static void never_look_at(struct bufferevent *b)
{
    for (unsigned i = 0; i < asked_for_count; i++)
        if (asked_for[i] == b)
            asked_for[i--] = asked_for[--asked_for_count];
}

/* ---- Callbacks ---- */

static void on_read(struct bufferevent *b, void *argument)
{
    struct adapter_entry e;
    struct libevent_frame f;
    if (!get(b, READ, &e))
        return;
    if (!adapter_on()) {
        ((bufferevent_data_cb)e.callback)(b, argument);
        return;
    }
    libevent_finish(take_promise(b, EVENT), LIBEVENT_FULFILLED, NULL);
    if (!(add_flags(b, 0) & (ASKS | CONNECTS)))
        add_flags(b, ANSWERS);
    const weft_promise answer = take_promise(b, READ);
    libevent_begin(&f, answer ? answer : link_of(b), answer ? LIBEVENT_FULFILLED : LIBEVENT_STAYS,
                   NULL);
    ((bufferevent_data_cb)e.callback)(b, argument);
    libevent_end(&f);
}

static void on_write(struct bufferevent *b, void *argument)
{
    struct adapter_entry e;
    struct libevent_frame f;
    if (!get(b, WRITE, &e))
        return;
    if (!adapter_on()) {
        ((bufferevent_data_cb)e.callback)(b, argument);
        return;
    }
    const weft_promise gone = take_promise(b, WRITE);
    libevent_begin(&f, gone ? gone : link_of(b), gone ? LIBEVENT_FULFILLED : LIBEVENT_STAYS, NULL);
    ((bufferevent_data_cb)e.callback)(b, argument);
    libevent_end(&f);
}

/* Why the bufferevent's callback is called; NULL: all is well. */
static const char *failure_of(struct bufferevent *b, short what, bool connecting)
{
    const int dns = connecting ? REAL(bufferevent_socket_get_dns_error)(b) : 0;
    if (dns)
        return REAL(evutil_gai_strerror)(dns);
    if (what & BEV_EVENT_TIMEOUT)
        return "timed out";
    if (what & BEV_EVENT_ERROR && add_flags(b, 0) & SECURE)
        return "TLS failed"; /* libevent's queue of errors is the program's */
    if (what & BEV_EVENT_ERROR)
        return evutil_socket_error_to_string(errno);
    return what & BEV_EVENT_EOF ? "end of file" : NULL;
}

static void on_event(struct bufferevent *b, short what, void *argument)
{
    struct adapter_entry e;
    struct libevent_frame f;
    if (!get(b, EVENT, &e))
        return;
    if (!adapter_on()) {
        ((bufferevent_event_cb)e.callback)(b, what, argument);
        return;
    }
    const weft_promise connecting = take_promise(b, EVENT);
    const char *failure = failure_of(b, what, connecting != 0);
    const bool over = what & (BEV_EVENT_EOF | BEV_EVENT_ERROR) && !connecting;
    const enum libevent_end end = failure ? LIBEVENT_FAILED : LIBEVENT_FULFILLED;
    const weft_promise answer = failure ? take_promise(b, READ) : 0;
    const weft_promise runs = connecting ? connecting : answer ? answer : link_of(b);
    libevent_begin(&f, runs, connecting || answer ? end : LIBEVENT_STAYS, failure);
    if (what & BEV_EVENT_CONNECTED)
        look_at(b);
    if (failure)
        libevent_finish(take_promise(b, WRITE), LIBEVENT_FAILED, failure);
    if (over)
        libevent_finish(take_promise(b, LINK),
                        what & BEV_EVENT_EOF ? LIBEVENT_FULFILLED : LIBEVENT_FAILED, failure);
    ((bufferevent_event_cb)e.callback)(b, what, argument);
    libevent_end(&f);
}

/* ---- What the program calls ---- */

static bool is_ours(const void *callback)
{
    return callback && !libevent_is_own(callback);
}

static bool put_callback(struct bufferevent *b, enum kind kind, void *callback)
{
    struct adapter_entry e;
    get(b, kind, &e);
    e.callback = callback;
    return adapter_put(&buffers, &e);
}

/* What is known is known no longer: it is freed, or libevent uses it for itself. */
static void forget(struct bufferevent *b)
{
    struct adapter_entry e;
    never_look_at(b);
    for (enum kind kind = READ; kind < KINDS; kind++)
        if (adapter_take(&buffers, adapter_key(b), kind, &e) && e.promise && WEFT_IMPL_ON())
            libevent_finish(e.promise, kind == LINK ? LIBEVENT_FULFILLED : LIBEVENT_CANCELLED,
                            NULL);
}

static void set_callbacks(struct bufferevent *b, bufferevent_data_cb read,
                          bufferevent_data_cb write, bufferevent_event_cb event, void *argument)
{
    REAL(bufferevent_lock)(b); /* no callback runs in between */
    const bool put = put_callback(b, LINK, NULL) && put_callback(b, READ, (void *)read) &&
                     put_callback(b, WRITE, (void *)write) && put_callback(b, EVENT, (void *)event);
    if (put)
        REAL(bufferevent_setcb)
    (b, read ? on_read : NULL, write ? on_write : NULL, event ? on_event : NULL, argument);
    else REAL(bufferevent_setcb)(b, read, write, event, argument);
    REAL(bufferevent_unlock)(b);
}

/* libevent calls it, too, for bufferevent_new. */
ADAPTER_EXPORT void bufferevent_setcb(struct bufferevent *b, bufferevent_data_cb read,
                                      bufferevent_data_cb write, bufferevent_event_cb event,
                                      void *argument)
{
    const bool ours =
        is_ours((const void *)read) || is_ours((const void *)write) || is_ours((const void *)event);
    const bool known = is_known(b);
    if (known && !ours && (read || write || event))
        forget(b);
    if (ours ? known || adapter_on() : known && !(read || write || event))
        set_callbacks(b, read, write, event, argument);
    else
        REAL(bufferevent_setcb)(b, read, write, event, argument);
}

ADAPTER_EXPORT void bufferevent_getcb(struct bufferevent *b, bufferevent_data_cb *read,
                                      bufferevent_data_cb *write, bufferevent_event_cb *event,
                                      void **argument)
{
    struct adapter_entry e;
    REAL(bufferevent_getcb)(b, read, write, event, argument);
    if (read && *read == on_read && get(b, READ, &e))
        *read = (bufferevent_data_cb)e.callback;
    if (write && *write == on_write && get(b, WRITE, &e))
        *write = (bufferevent_data_cb)e.callback;
    if (event && *event == on_event && get(b, EVENT, &e))
        *event = (bufferevent_event_cb)e.callback;
}

ADAPTER_EXPORT void bufferevent_free(struct bufferevent *b)
{
    if (is_known(b))
        forget(b);
    REAL(bufferevent_free)(b);
}

/* libevent calls these, too, mostly for bufferevents that are not known. */
ADAPTER_EXPORT int bufferevent_enable(struct bufferevent *b, short what)
{
    if (adapter_on() && what & EV_READ && is_known(b) &&
        libevent_is_accepted(REAL(bufferevent_getfd)(b)))
        link_of(b);
    return REAL(bufferevent_enable)(b, what);
}

ADAPTER_EXPORT int bufferevent_write(struct bufferevent *b, const void *data, size_t size)
{
    if (LIBEVENT_RECORDED() && size && is_known(b))
        written(b);
    return REAL(bufferevent_write)(b, data, size);
}

ADAPTER_EXPORT int bufferevent_write_buffer(struct bufferevent *b, struct evbuffer *data)
{
    if (LIBEVENT_RECORDED() && is_known(b) && REAL(evbuffer_get_length)(data) > 0)
        written(b);
    return REAL(bufferevent_write_buffer)(b, data);
}

ADAPTER_EXPORT struct evbuffer *bufferevent_get_output(struct bufferevent *b)
{
    if (LIBEVENT_RECORDED() && is_known(b))
        look_at_later(b);
    return REAL(bufferevent_get_output)(b);
}

/* ---- Connecting ---- */

static void connects(struct bufferevent *b, const char *type, const char *where)
{
    struct adapter_entry e;
    add_flags(b, CONNECTS);
    get(b, EVENT, &e);
    if (e.promise)
        return;
    e.promise = adapter_create(main_callback(b), type, where);
    weft_should_resolve(e.promise);
    adapter_put(&buffers, &e);
}

/* If it failed at once, no callback says so. */
static int begun(struct bufferevent *b, int result)
{
    const int error = errno;
    const weft_promise p = result < 0 ? take_promise(b, EVENT) : 0;
    if (p)
        weft_fail(p, evutil_socket_error_to_string(error));
    errno = error;
    return result;
}

ADAPTER_EXPORT int bufferevent_socket_connect(struct bufferevent *b, const struct sockaddr *address,
                                              int size)
{
    char text[ADAPTER_TEXT];
    struct libevent_descriptor d;
    if (!LIBEVENT_RECORDED())
        return REAL(bufferevent_socket_connect)(b, address, size);
    if (address)
        connects(b, "connect", adapter_address(text, address, (size_t)size));
    else
        connects(b, "connect", detail_of(&d, b));
    adapter_enter();
    const int result = REAL(bufferevent_socket_connect)(b, address, size);
    adapter_leave();
    return begun(b, result);
}

ADAPTER_EXPORT int bufferevent_socket_connect_hostname(struct bufferevent *b,
                                                       struct evdns_base *names, int family,
                                                       const char *host, int port)
{
    char text[ADAPTER_TEXT];
    if (!LIBEVENT_RECORDED())
        return REAL(bufferevent_socket_connect_hostname)(b, names, family, host, port);
    snprintf(text, sizeof text, "%.200s:%d", host ? host : "", port);
    connects(b, "connect", text);
    adapter_enter();
    const int result = REAL(bufferevent_socket_connect_hostname)(b, names, family, host, port);
    adapter_leave();
    return begun(b, result);
}

ADAPTER_EXPORT struct bufferevent *bufferevent_openssl_socket_new(struct event_base *base,
                                                                  evutil_socket_t fd,
                                                                  struct ssl_st *ssl,
                                                                  enum bufferevent_ssl_state state,
                                                                  int options)
{
    char text[ADAPTER_TEXT];
    const bool on = LIBEVENT_RECORDED();
    struct bufferevent *b = REAL(bufferevent_openssl_socket_new)(base, fd, ssl, state, options);
    if (!b || !on)
        return b;
    add_flags(b, SECURE);
    put_callback(b, LINK, NULL);
    if (fd >= 0 && state != BUFFEREVENT_SSL_OPEN) {
        const bool client = state == BUFFEREVENT_SSL_CONNECTING;
        struct adapter_entry e;
        get(b, EVENT, &e);
        e.promise = adapter_create(NULL, "handshake", adapter_descriptor(text, fd));
        adapter_put(&buffers, &e);
        add_flags(b, client ? CONNECTS : ANSWERS);
    }
    return b;
}
