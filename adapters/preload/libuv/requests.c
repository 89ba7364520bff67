/* SPDX-License-Identifier: ISC */
/* Requests: each is a promise that ends with its callback. */
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "libuv.h"
#include "requests.h"

UV(uv_queue_work);
UV(uv_pipe_connect);

static struct adapter_table requests;

struct request {
    weft_promise promise;
    void *callback, *work;
    struct context *context;
    uint32_t era;
};

/* ---- From the start to the callback ---- */

bool request_begin(const void *request, struct handle *h, const void *code, void *callback,
                   const char *type, const char *detail)
{
    struct request *r = uv_adapter_new();
    const struct adapter_entry e = {.key = adapter_key(request), .callback = r};
    if (!r)
        return false;
    struct context *c = handle_context(h);
    const struct visit v = frame_visit(c);
    *r = (struct request){.promise = adapter_create(code, type, detail && *detail ? detail : NULL),
                          .callback = callback,
                          .context = context_hold(c),
                          .era = uv_adapter_era};
    if (c && callback) /* otherwise it does not go on because of it */
        weft_wait(r->promise);
    if (!c) /* nobody is seen to wait for it, but libuv calls back in any case */
        weft_should_resolve(r->promise);
    frame_return(v);
    if (adapter_put(&requests, &e))
        return true;
    context_release(c);
    weft_forget(r->promise);
    uv_adapter_free(r);
    return false;
}

static struct request *find(const void *request, bool taken)
{
    struct adapter_entry e;
    if (!(taken ? adapter_take : adapter_get)(&requests, adapter_key(request), 0, &e))
        return NULL;
    struct request *r = e.callback;
    if (r->era != uv_adapter_era) { /* of the parent of a fork */
        r->promise = 0;
        r->context = NULL;
    }
    return r;
}

void request_refused(const void *request, int status)
{
    struct request *r = find(request, true);
    if (!r)
        return;
    uv_adapter_at_once(r->promise, status);
    context_release(r->context);
    uv_adapter_free(r);
}

bool request_ends(struct frame *f, const void *request, int status, void **callback)
{
    struct request *r = find(request, true);
    if (!r)
        return false;
    *callback = r->callback;
    *f = (struct frame){.promise = r->promise,
                        .code = r->callback,
                        .status = status,
                        .ends = true,
                        .request = true,
                        .resolved = r->work && status == 0};
    if (r->callback)
        frame_begin(f, r->context);
    else if (!f->resolved)
        uv_adapter_resolve(r->promise, status); /* and nobody looks at it */
    context_release(r->context);
    uv_adapter_free(r);
    return *callback != NULL;
}

/* ---- Streams and datagrams ---- */

static void on_connect(uv_connect_t *request, int status)
{
    REQUEST_ENDS(uv_connect_cb, request, status, request, status)
}

static void on_write(uv_write_t *request, int status)
{
    REQUEST_ENDS(uv_write_cb, request, status, request, status)
}

static void on_shutdown(uv_shutdown_t *request, int status)
{
    REQUEST_ENDS(uv_shutdown_cb, request, status, request, status)
}

static void on_send(uv_udp_send_t *request, int status)
{
    REQUEST_ENDS(uv_udp_send_cb, request, status, request, status)
}

/* "12 bytes tcp 10.0.0.1:443". A count that nobody means is for libuv to refuse; there are not as many buffers. */
static char *put_bytes(char text[ADAPTER_TEXT], const void *handle, const uv_buf_t *buffers,
                       unsigned count)
{
    enum { MOST = 1024 };
    char name[ADAPTER_TEXT];
    const char *unit = count > MOST ? "buffers" : "bytes";
    size_t number = count > MOST ? count : 0;
    for (unsigned i = 0; i < count && count <= MOST; i++)
        number += buffers[i].len;
    snprintf(text, ADAPTER_TEXT, "%zu %s %.200s", number, unit,
             handle_name(handle_find(handle), handle, name));
    return text;
}

static char *put_to(char text[ADAPTER_TEXT], const void *handle, const uv_buf_t *buffers,
                    unsigned count, const struct sockaddr *to)
{
    char name[ADAPTER_TEXT];
    put_bytes(text, handle, buffers, count);
    if (to) { /* instead of the socket's own name */
        char *second = strchr(strchr(text, ' ') + 1, ' ');
        snprintf(second, (size_t)(text + ADAPTER_TEXT - second), " udp %.200s",
                 uv_adapter_address(name, to));
    }
    return text;
}

REQUEST(uv_tcp_connect,
        (uv_connect_t * request, uv_tcp_t *handle, const struct sockaddr *address,
         uv_connect_cb callback),
        handle_find(handle), on_connect, "connect", uv_adapter_address(text, address), request,
        handle, address, callback)
REQUEST(uv_write,
        (uv_write_t * request, uv_stream_t *handle, const uv_buf_t buffers[], unsigned count,
         uv_write_cb callback),
        handle_find(handle), on_write, "write", put_bytes(text, handle, buffers, count), request,
        handle, buffers, count, callback)
REQUEST(uv_write2,
        (uv_write_t * request, uv_stream_t *handle, const uv_buf_t buffers[], unsigned count,
         uv_stream_t *sent, uv_write_cb callback),
        handle_find(handle), on_write, "write", put_bytes(text, handle, buffers, count), request,
        handle, buffers, count, sent, callback)
REQUEST(uv_shutdown, (uv_shutdown_t * request, uv_stream_t *handle, uv_shutdown_cb callback),
        handle_find(handle), on_shutdown, "shutdown",
        handle_name(handle_find(handle), (uv_handle_t *)handle, text), request, handle, callback)
REQUEST(uv_udp_send,
        (uv_udp_send_t * request, uv_udp_t *handle, const uv_buf_t buffers[], unsigned count,
         const struct sockaddr *to, uv_udp_send_cb callback),
        handle_find(handle), on_send, "send", put_to(text, handle, buffers, count, to), request,
        handle, buffers, count, to, callback)

ADAPTER_EXPORT void uv_pipe_connect(uv_connect_t *request, uv_pipe_t *handle, const char *name,
                                    uv_connect_cb callback)
{
    if (adapter_on() && request_begin(request, handle_find(handle), (void *)callback,
                                      (void *)callback, "connect", name))
        callback = on_connect; /* what fails is said by it */
    adapter_enter();
    REAL(uv_pipe_connect)(request, handle, name, callback);
    adapter_leave();
}

#if UV_VERSION_HEX < 0x012e00
ADAPTER_EXPORT int uv_pipe_connect2(uv_connect_t *request, uv_pipe_t *handle, const char *name,
                                    size_t size, unsigned flags, uv_connect_cb callback);
#endif
static char *put_name(char text[ADAPTER_TEXT], const char *name, size_t size)
{
    const bool abstract = size > 0 && !*name;
    snprintf(text, ADAPTER_TEXT, "%s%.*s", abstract ? "@" : "",
             (int)(size < 200 ? size : 200) - abstract, name + abstract);
    return text;
}
REQUEST(uv_pipe_connect2,
        (uv_connect_t * request, uv_pipe_t *handle, const char *name, size_t size, unsigned flags,
         uv_connect_cb callback),
        handle_find(handle), on_connect, "connect", put_name(text, name, size), request, handle,
        name, size, flags, callback)

/* ---- Names, random numbers: without a callback the call itself waits ---- */

static void on_address(uv_getaddrinfo_t *request, int status, struct addrinfo *found)
{
    REQUEST_ENDS(uv_getaddrinfo_cb, request, status, request, status, found)
}

static void on_name(uv_getnameinfo_t *request, int status, const char *host, const char *service)
{
    REQUEST_ENDS(uv_getnameinfo_cb, request, status, request, status, host, service)
}

static void on_random(uv_random_t *request, int status, void *buffer, size_t size)
{
    REQUEST_ENDS(uv_random_cb, request, status, request, status, buffer, size)
}

static char *put_host(char text[ADAPTER_TEXT], const char *node, const char *service)
{
    snprintf(text, ADAPTER_TEXT, "%.200s%s%.50s", node ? node : "", service ? ":" : "",
             service ? service : "");
    return text;
}

static char *put_size(char text[ADAPTER_TEXT], size_t size)
{
    snprintf(text, ADAPTER_TEXT, "%zu bytes", size);
    return text;
}

REQUEST_OR_CALL(uv_getaddrinfo,
                (uv_loop_t * loop, uv_getaddrinfo_t *request, uv_getaddrinfo_cb callback,
                 const char *node, const char *service, const struct addrinfo *hints),
                on_address, "getaddrinfo", put_host(text, node, service), loop, request, callback,
                node, service, hints)
REQUEST_OR_CALL(uv_getnameinfo,
                (uv_loop_t * loop, uv_getnameinfo_t *request, uv_getnameinfo_cb callback,
                 const struct sockaddr *address, int flags),
                on_name, "getnameinfo", uv_adapter_address(text, address), loop, request, callback,
                address, flags)
REQUEST_OR_CALL(uv_random,
                (uv_loop_t * loop, uv_random_t *request, void *buffer, size_t size, unsigned flags,
                 uv_random_cb callback),
                on_random, "random", put_size(text, size), loop, request, buffer, size, flags,
                callback)

/* ---- Work: it runs on a thread of libuv's ---- */

static void on_work(uv_work_t *request)
{
    struct request *r = find(request, false);
    if (!r)
        return; /* cannot be: it is there until after_work */
    const weft_promise promise = r->promise;
    const uv_work_cb work = (uv_work_cb)r->work;
    const weft_promise before = weft_run(promise);
    const unsigned depth = adapter_out();
    work(request);
    adapter_back(depth);
    weft_fulfill(promise);
    weft_run(before);
}

static void after_work(uv_work_t *request,
                       int status){REQUEST_ENDS(uv_after_work_cb, request, status, request, status)}

ADAPTER_EXPORT int uv_queue_work(uv_loop_t *loop, uv_work_t *request, uv_work_cb work,
                                 uv_after_work_cb callback)
{
    int status;
    if (!adapter_on() || !work ||
        !request_begin(request, NULL, (void *)work, (void *)callback, "work", NULL))
        return REAL(uv_queue_work)(loop, request, work, callback);
    struct request *r = find(request, false);
    r->work = (void *)work;
    UV_CALL(status, REAL(uv_queue_work)(loop, request, on_work, after_work));
    if (status < 0)
        request_refused(request, status);
    return status;
}
