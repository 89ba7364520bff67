/* SPDX-License-Identifier: ISC */
/* Handles: whose they are, their starts, and their end. */
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "libuv.h"

UV(uv_fileno);
UV(uv_close);
UV(uv_tcp_close_reset);

static struct adapter_table handles;

/* ---- What is known of a handle ---- */

struct handle *handle_find(const void *handle)
{
    struct adapter_entry e;
    if (!adapter_get(&handles, adapter_key(handle), 0, &e))
        return NULL;
    struct handle *h = e.callback;
    if (h->era != uv_adapter_era) { /* of the parent of a fork; its callbacks are still right */
        h->era = uv_adapter_era;
        h->started = 0;
        h->owner = h->starter = NULL;
    }
    return h;
}

struct handle *handle_make(const void *handle)
{
    struct handle *h = handle_find(handle);
    if (h)
        return h;
    h = uv_adapter_new();
    const struct adapter_entry e = {.key = adapter_key(handle), .callback = h};
    if (h && !adapter_put(&handles, &e)) {
        uv_adapter_free(h);
        return NULL;
    }
    if (h)
        h->era = uv_adapter_era;
    return h;
}

/* Nothing is known of it any more. */
static void forget(const void *handle)
{
    struct adapter_entry e;
    struct handle *h = handle_find(handle);
    if (!h)
        return;
    handle_stopped(h);
    adapter_take(&handles, adapter_key(handle), 0, &e);
    context_release(h->owner);
    uv_adapter_free(h);
}

const char *handle_name(struct handle *h, const uv_handle_t *handle, char text[ADAPTER_TEXT])
{
    uv_os_fd_t fd;
    *text = 0;
    if (h && *h->name)
        return h->name;
    if (REAL(uv_fileno)(handle, &fd) != 0)
        return text;
    adapter_descriptor(text, fd);
    if (h && strlen(text) < sizeof h->name && strchr(text, ' ')) /* it is connected */
        memcpy(h->name, text, strlen(text) + 1);
    return text;
}

char *uv_adapter_address(char text[ADAPTER_TEXT], const struct sockaddr *address)
{
    const sa_family_t family = address ? address->sa_family : AF_UNSPEC;
    *text = 0;
    if (family == AF_INET)
        adapter_address(text, address, sizeof(struct sockaddr_in));
    else if (family == AF_INET6)
        adapter_address(text, address, sizeof(struct sockaddr_in6));
    return text;
}

struct context *handle_context(struct handle *h)
{
    return h && context_promise(h->owner) ? h->owner : frame_context();
}

/* ---- Starts ---- */

/* Whether it goes on as the same promise: it was started like this already, or is a timer that its own callback starts again. */
static bool goes_on(struct handle *h, void *callback, const char *detail)
{
    struct frame *f = frame_top();
    if (h->started)
        return h->callback == callback && strncmp(h->name, detail, sizeof h->name - 1) == 0;
    if (!f || f->handle != h || !f->promise || !f->ends || f->code != callback ||
        f->era != uv_adapter_era)
        return false;
    h->started = f->promise;
    f->ends = false;
    weft_background(h->started);
    return true;
}

/* Creates the promise that the context, if any, waits for. */
static void await(struct handle *h, struct context *c, const struct starting *s)
{
    const bool waits = c && s->waits;
    const struct visit v = frame_visit(c);
    h->started = adapter_create(s->plain ? NULL : h->callback, s->type,
                                s->detail && *s->detail ? s->detail : NULL);
    if (s->background || (s->waits && !c))
        weft_background(h->started);
    h->waited = waits;
    if (waits)
        weft_wait(h->started);
    frame_return(v);
}

static struct context *waiting(const struct handle *h)
{
    return context_promise(h->owner) ? h->owner : h->starter;
}

void handle_started(struct handle *h, void *callback, const struct starting *s)
{
    const char *detail = s->detail ? s->detail : "";
    const bool same = goes_on(h, callback, detail);
    if (!same)
        handle_stopped(h);
    h->callback = callback;
    h->repeats = s->repeats;
    if (same)
        return;
    if (!context_promise(h->owner) && s->waits)
        h->starter = context_hold(frame_context());
    h->type = s->type;
    h->awaited = s->waits && s->repeats && waiting(h);
    if (detail != h->name)
        snprintf(h->name, sizeof h->name, "%s", detail);
    await(h, waiting(h), s);
}

/* Nobody waits for it any more. */
static void cancel(const struct handle *h)
{
    weft_cancel(h->started);
    if (h->waited && context_promise(waiting(h)))
        weft_read(context_promise(waiting(h)), h->started);
}

void handle_stopped(struct handle *h)
{
    struct frame *f = frame_top();
    if (h->started && f && f->promise == h->started)
        f->ends = true; /* its callback still runs */
    else if (h->started)
        cancel(h);
    h->started = 0;
    h->awaited = false;
    context_release(h->starter);
    h->starter = NULL;
}

void *handle_fires(struct frame *f, const void *handle, int status, const char *reason)
{
    struct handle *h = handle_find(handle);
    if (!h || !h->callback)
        return NULL;
    *f = (struct frame){.promise = h->started,
                        .code = h->callback,
                        .handle = h,
                        .status = status,
                        .reason = reason};
    struct context *c = context_hold(waiting(h));
    f->ends = !h->repeats || h->awaited;
    f->request = f->ends && (context_promise(c) || reason);
    if (f->ends)
        h->started = 0;
    if (!h->repeats) {
        context_release(h->starter);
        h->starter = NULL;
    }
    frame_begin(f, c);
    context_release(c);
    return h->callback;
}

void handle_fired(struct frame *f, const void *handle)
{
    struct handle *h = handle_find(handle);
    if (h && h->awaited && !h->started) {
        char detail[sizeof h->name];
        memcpy(detail, h->name, sizeof detail);
        const struct starting s = {.type = h->type,
                                   .detail = *detail ? detail : NULL,
                                   .repeats = true,
                                   .background = h->accepted,
                                   .waits = true};
        await(h, waiting(h), &s);
    }
    frame_end(f);
}

/* ---- Where a handle was initialised, there it belongs ---- */

void handle_initialised(const void *handle, int status)
{
    if (status != 0)
        return;
    forget(handle); /* what was there before, if it was never closed */
    struct context *c = frame_top() ? frame_top()->context : NULL;
    struct handle *h = context_promise(c) ? handle_make(handle) : NULL;
    if (h)
        h->owner = context_hold(c);
}

#define INIT(name, parameters, ...)                                                                \
    UV(name);                                                                                      \
    ADAPTER_EXPORT int name parameters                                                             \
    {                                                                                              \
        int status;                                                                                \
        if (!adapter_on())                                                                         \
            return REAL(name)(__VA_ARGS__);                                                        \
        UV_CALL(status, REAL(name)(__VA_ARGS__));                                                  \
        handle_initialised(handle, status);                                                        \
        return status;                                                                             \
    }

INIT(uv_tcp_init, (uv_loop_t * loop, uv_tcp_t *handle), loop, handle)
INIT(uv_tcp_init_ex, (uv_loop_t * loop, uv_tcp_t *handle, unsigned flags), loop, handle, flags)
INIT(uv_udp_init, (uv_loop_t * loop, uv_udp_t *handle), loop, handle)
INIT(uv_udp_init_ex, (uv_loop_t * loop, uv_udp_t *handle, unsigned flags), loop, handle, flags)
INIT(uv_pipe_init, (uv_loop_t * loop, uv_pipe_t *handle, int ipc), loop, handle, ipc)
INIT(uv_tty_init, (uv_loop_t * loop, uv_tty_t *handle, uv_file fd, int unused), loop, handle, fd,
     unused)
INIT(uv_timer_init, (uv_loop_t * loop, uv_timer_t *handle), loop, handle)
INIT(uv_idle_init, (uv_loop_t * loop, uv_idle_t *handle), loop, handle)
INIT(uv_prepare_init, (uv_loop_t * loop, uv_prepare_t *handle), loop, handle)
INIT(uv_check_init, (uv_loop_t * loop, uv_check_t *handle), loop, handle)
INIT(uv_poll_init, (uv_loop_t * loop, uv_poll_t *handle, int fd), loop, handle, fd)
INIT(uv_poll_init_socket, (uv_loop_t * loop, uv_poll_t *handle, uv_os_sock_t fd), loop, handle, fd)
INIT(uv_signal_init, (uv_loop_t * loop, uv_signal_t *handle), loop, handle)
INIT(uv_fs_event_init, (uv_loop_t * loop, uv_fs_event_t *handle), loop, handle)
INIT(uv_fs_poll_init, (uv_loop_t * loop, uv_fs_poll_t *handle), loop, handle)

/* ---- The end of a handle ---- */

static void on_close(uv_handle_t *handle)
{
    struct handle *h = handle_find(handle);
    const uv_close_cb callback = h ? (uv_close_cb)h->close_callback : NULL;
    struct frame f = {.code = (void *)callback};
    if (!callback)
        return;
    forget(handle);
    frame_begin(&f, NULL);
    callback(handle);
    frame_end(&f);
}

/* What libuv shall call when the handle is closed. */
static uv_close_cb closing(uv_handle_t *handle, uv_close_cb callback)
{
    struct handle *h = callback ? handle_make(handle) : handle_find(handle);
    if (!h)
        return callback;
    if (!callback) {
        forget(handle);
        return NULL;
    }
    handle_stopped(h);
    context_release(h->owner); /* a program that ends may not wait for the callback */
    h->owner = NULL;
    h->close_callback = (void *)callback;
    return on_close;
}

ADAPTER_EXPORT void uv_close(uv_handle_t *handle, uv_close_cb callback)
{
    if (adapter_on() && callback != on_close)
        callback = closing(handle, callback);
    adapter_enter();
    REAL(uv_close)(handle, callback);
    adapter_leave();
}

ADAPTER_EXPORT int uv_tcp_close_reset(uv_tcp_t *handle, uv_close_cb callback)
{
    int status;
    if (!adapter_on())
        return REAL(uv_tcp_close_reset)(handle, callback);
    struct handle *h = callback ? handle_make(handle) : NULL;
    UV_CALL(status, REAL(uv_tcp_close_reset)(handle, h ? on_close : callback));
    if (status == 0)
        closing((uv_handle_t *)handle, callback);
    return status;
}
