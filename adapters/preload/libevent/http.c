/* SPDX-License-Identifier: ISC */
/* HTTP. A request that the program has to answer is a promise until it is; so is one that the program makes. A
 * status of 400 or more is a failure. */
#include <errno.h>
#include <stdlib.h>

#include <event2/http.h>

#include "libevent.h"

LIBEVENT(evhttp_set_cb);
LIBEVENT(evhttp_set_gencb);
LIBEVENT(evhttp_free);
LIBEVENT(evhttp_request_get_command);
LIBEVENT(evhttp_request_get_uri);
LIBEVENT(evhttp_request_free);
LIBEVENT(evhttp_send_reply);
LIBEVENT(evhttp_send_error);
LIBEVENT(evhttp_send_reply_start);
LIBEVENT(evhttp_send_reply_end);
LIBEVENT(evhttp_request_new);
LIBEVENT(evhttp_request_set_chunked_cb);
LIBEVENT(evhttp_request_set_header_cb);
LIBEVENT(evhttp_request_set_error_cb);
LIBEVENT(evhttp_request_get_response_code);
LIBEVENT(evhttp_make_request);
LIBEVENT(evhttp_cancel_request);
LIBEVENT(evhttp_connection_free);
LIBEVENT(evhttp_connection_get_peer);

enum kind {
    SERVER, /* an evhttp: callback is the newest struct handler */
    INBOUND, /* a request that the program answers; number: its status, once it has begun to answer */
    OUTBOUND /* a request that the program makes: callback is its struct request */
};

static struct adapter_table known;

static const char *method_of(enum evhttp_cmd_type type)
{
    static const char *const names[] = {"GET",     "POST",  "HEAD",    "PUT",  "DELETE",
                                        "OPTIONS", "TRACE", "CONNECT", "PATCH"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (type & 1u << i)
            return names[i];
    return "request";
}

static enum libevent_end end_of(int status, char reason[16])
{
    snprintf(reason, 16, "%d", status);
    return status >= 400 ? LIBEVENT_FAILED : LIBEVENT_FULFILLED;
}

/* ---- Requests to answer ---- */

typedef void (*request_callback)(struct evhttp_request *, void *);

struct handler {
    request_callback callback;
    void *argument;
    struct handler *next; /* of the same server */
};

static void on_request(struct evhttp_request *request, void *argument)
{
    const struct handler *handler = argument;
    char text[ADAPTER_TEXT];
    struct libevent_frame f;
    if (!adapter_on()) {
        handler->callback(request, handler->argument);
        return;
    }
    const char *path = REAL(evhttp_request_get_uri)(request);
    snprintf(text, sizeof text, "%s %s", method_of(REAL(evhttp_request_get_command)(request)),
             path ? path : "?");
    struct adapter_entry e = {.key = adapter_key(request), .kind = INBOUND};
    e.promise = adapter_create((void *)handler->callback, "request", text);
    weft_should_resolve(e.promise);
    adapter_put(&known, &e);
    libevent_begin(&f, e.promise, LIBEVENT_STAYS, NULL);
    handler->callback(request, handler->argument);
    libevent_end(&f);
}

/* NULL: it is left alone. */
static struct handler *new_handler(struct evhttp *http, request_callback callback, void *argument)
{
    struct adapter_entry e;
    struct handler *handler = adapter_on() && callback && !libevent_is_own((const void *)callback)
                                  ? malloc(sizeof *handler)
                                  : NULL;
    if (!handler)
        return NULL;
    if (!adapter_get(&known, adapter_key(http), SERVER, &e))
        e = (struct adapter_entry){.key = adapter_key(http), .kind = SERVER};
    *handler = (struct handler){callback, argument, e.callback};
    e.callback = handler;
    if (adapter_put(&known, &e))
        return handler;
    free(handler);
    return NULL;
}

ADAPTER_EXPORT int evhttp_set_cb(struct evhttp *http, const char *path, request_callback callback,
                                 void *argument)
{
    struct handler *handler = new_handler(http, callback, argument);
    return handler ? REAL(evhttp_set_cb)(http, path, on_request, handler)
                   : REAL(evhttp_set_cb)(http, path, callback, argument);
}

ADAPTER_EXPORT void evhttp_set_gencb(struct evhttp *http, request_callback callback, void *argument)
{
    struct handler *handler = new_handler(http, callback, argument);
    if (handler)
        REAL(evhttp_set_gencb)(http, on_request, handler);
    else
        REAL(evhttp_set_gencb)(http, callback, argument);
}

ADAPTER_EXPORT void evhttp_free(struct evhttp *http)
{
    struct adapter_entry e;
    const bool has = adapter_take(&known, adapter_key(http), SERVER, &e);
    REAL(evhttp_free)(http);
    for (struct handler *h = has ? e.callback : NULL, *next; h; h = next) {
        next = h->next;
        free(h);
    }
}

static void answered(struct evhttp_request *request, int status)
{
    struct adapter_entry e;
    char reason[16];
    if (adapter_take(&known, adapter_key(request), INBOUND, &e) && e.promise && WEFT_IMPL_ON()) {
        const enum libevent_end end = end_of(status ? status : (int)e.number, reason);
        libevent_finish(e.promise, end, reason);
    }
}

ADAPTER_EXPORT void evhttp_send_reply(struct evhttp_request *request, int status,
                                      const char *reason, struct evbuffer *body)
{
    answered(request, status);
    REAL(evhttp_send_reply)(request, status, reason, body);
}

ADAPTER_EXPORT void evhttp_send_error(struct evhttp_request *request, int status,
                                      const char *reason)
{
    answered(request, status);
    REAL(evhttp_send_error)(request, status, reason);
}

ADAPTER_EXPORT void evhttp_send_reply_start(struct evhttp_request *request, int status,
                                            const char *reason)
{
    struct adapter_entry e;
    if (adapter_get(&known, adapter_key(request), INBOUND, &e)) {
        e.number = (uint32_t)status;
        adapter_put(&known, &e);
    }
    REAL(evhttp_send_reply_start)(request, status, reason);
}

ADAPTER_EXPORT void evhttp_send_reply_end(struct evhttp_request *request)
{
    answered(request, 0);
    REAL(evhttp_send_reply_end)(request);
}

/* ---- Requests to make ---- */

typedef int (*header_callback)(struct evhttp_request *, void *);
typedef void (*error_callback)(enum evhttp_request_error, void *);

/* What the program has set, in the place of its argument. It lives until the request is freed and its callback has run,
 * whichever is later. */
struct request {
    request_callback callback, chunk;
    header_callback header;
    error_callback error;
    void *argument;
    weft_promise promise; /* from when it is made until its callback runs */
    const char *reason;   /* why it failed */
    unsigned held;        /* how many use it: it is not to be freed */
    bool gone;            /* libevent has freed its own */
};

static __thread __attribute__((tls_model("initial-exec"))) bool closing; /* no callback follows */

static struct request *find(struct evhttp_request *request)
{
    struct adapter_entry e;
    return adapter_get(&known, adapter_key(request), OUTBOUND, &e) ? e.callback : NULL;
}

static weft_promise take_promise(struct request *r)
{
    const weft_promise p = r->promise;
    r->promise = 0;
    return p;
}

static void let_go(struct request *r)
{
    if (--r->held == 0 && r->gone && !r->promise)
        free(r);
}

static void on_answer(struct evhttp_request *request, void *argument)
{
    struct request *r = argument;
    struct libevent_frame f;
    char reason[16] = "";
    const weft_promise p = take_promise(r);
    const int error = errno;
    const int status = request ? REAL(evhttp_request_get_response_code)(request) : 0;
    enum libevent_end end = end_of(status, reason);
    const char *why = r->reason ? r->reason : end == LIBEVENT_FAILED ? reason : NULL;
    if (status == 0 && !why)
        why = "no answer";
    errno = error;
    r->held++;
    libevent_begin(&f, p, why ? LIBEVENT_FAILED : LIBEVENT_FULFILLED, why);
    r->callback(request, r->argument);
    libevent_end(&f);
    r->gone = r->gone || !request;
    let_go(r);
}

static void on_chunk(struct evhttp_request *request, void *argument)
{
    struct request *r = argument;
    struct libevent_frame f;
    libevent_begin(&f, r->promise, LIBEVENT_STAYS, NULL);
    r->chunk(request, r->argument);
    libevent_end(&f);
}

static int on_header(struct evhttp_request *request, void *argument)
{
    struct request *r = argument;
    struct libevent_frame f;
    libevent_begin(&f, r->promise, LIBEVENT_STAYS, NULL);
    const int result = r->header(request, r->argument);
    libevent_end(&f);
    return result;
}

/* No callback follows if it was cancelled. */
static void on_error(enum evhttp_request_error error, void *argument)
{
    static const char *const reasons[] = {"timed out",       "connection closed", "invalid header",
                                          "connection lost", "cancelled",         "too long"};
    struct request *r = argument;
    struct libevent_frame f;
    if ((unsigned)error < sizeof reasons / sizeof *reasons)
        r->reason = reasons[error];
    if (!r->error)
        return;
    libevent_begin(&f, r->promise, LIBEVENT_STAYS, NULL);
    r->error(error, r->argument);
    libevent_end(&f);
}

ADAPTER_EXPORT struct evhttp_request *evhttp_request_new(request_callback callback, void *argument)
{
    struct request *r = adapter_on() && callback && !libevent_is_own((const void *)callback)
                            ? calloc(1, sizeof *r)
                            : NULL;
    if (!r)
        return REAL(evhttp_request_new)(callback, argument);
    r->callback = callback;
    r->argument = argument;
    struct evhttp_request *request = REAL(evhttp_request_new)(on_answer, r);
    struct adapter_entry e = {.key = adapter_key(request), .kind = OUTBOUND, .callback = r};
    if (!request)
        free(r);
    else if (adapter_put(&known, &e))
        REAL(evhttp_request_set_error_cb)(request, on_error);
    return request;
}

ADAPTER_EXPORT void evhttp_request_set_chunked_cb(struct evhttp_request *request,
                                                  request_callback callback)
{
    struct request *r = find(request);
    if (r)
        r->chunk = callback;
    REAL(evhttp_request_set_chunked_cb)(request, r && callback ? on_chunk : callback);
}

ADAPTER_EXPORT void evhttp_request_set_header_cb(struct evhttp_request *request,
                                                 header_callback callback)
{
    struct request *r = find(request);
    if (r)
        r->header = callback;
    REAL(evhttp_request_set_header_cb)(request, r && callback ? on_header : callback);
}

ADAPTER_EXPORT void evhttp_request_set_error_cb(struct evhttp_request *request,
                                                error_callback callback)
{
    struct request *r = find(request);
    if (r)
        r->error = callback;
    REAL(evhttp_request_set_error_cb)(request, r ? on_error : callback);
}

ADAPTER_EXPORT int evhttp_make_request(struct evhttp_connection *connection,
                                       struct evhttp_request *request, enum evhttp_cmd_type type,
                                       const char *path)
{
    char text[ADAPTER_TEXT], *host = NULL;
    ev_uint16_t port = 0;
    struct request *r = adapter_on() ? find(request) : NULL;
    if (!r)
        return REAL(evhttp_make_request)(connection, request, type, path);
    REAL(evhttp_connection_get_peer)(connection, &host, &port);
    snprintf(text, sizeof text, "%s %.100s:%u%s", method_of(type), host ? host : "", port, path);
    r->promise = adapter_create((void *)r->callback, "http", text);
    weft_should_resolve(r->promise);
    r->held++;
    adapter_enter();
    const int result = REAL(evhttp_make_request)(connection, request, type, path);
    adapter_leave();
    const weft_promise failed = result < 0 ? take_promise(r) : 0;
    if (failed)
        weft_fail(failed, "it could not be made");
    let_go(r);
    return result;
}

ADAPTER_EXPORT void evhttp_cancel_request(struct evhttp_request *request)
{
    struct request *r = find(request);
    if (r)
        r->held++;
    REAL(evhttp_cancel_request)(request);
    if (!r)
        return;
    libevent_finish(take_promise(r), LIBEVENT_CANCELLED, NULL);
    let_go(r);
}

ADAPTER_EXPORT void evhttp_connection_free(struct evhttp_connection *connection)
{
    const bool before = closing;
    closing = true;
    REAL(evhttp_connection_free)(connection);
    closing = before;
}

/* libevent calls it, too: for each request in the end. */
ADAPTER_EXPORT void evhttp_request_free(struct evhttp_request *request)
{
    struct adapter_entry e;
    if (adapter_take(&known, adapter_key(request), INBOUND, &e) && e.promise && WEFT_IMPL_ON())
        libevent_finish(e.promise, LIBEVENT_CANCELLED, NULL);
    struct request *r =
        adapter_take(&known, adapter_key(request), OUTBOUND, &e) ? e.callback : NULL;
    if (r) {
        r->gone = true;
        if (!r->held && (closing || !r->promise)) {
            libevent_finish(take_promise(r), LIBEVENT_CANCELLED, NULL);
            free(r);
        }
    }
    REAL(evhttp_request_free)(request);
}
