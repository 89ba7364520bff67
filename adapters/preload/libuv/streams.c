/* SPDX-License-Identifier: ISC */
/* Sockets and pipes: connections that come, and data that is read. */
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

#include "libuv.h"

UV(uv_accept);
UV(uv_udp_bind);

/* ---- Connections ---- */

static void on_listen(uv_stream_t *handle, int status)
{
    char text[ADAPTER_TEXT];
    struct handle *h = handle_find(handle);
    struct frame f = {.promise = h ? h->started : 0, .code = h ? h->callback : NULL};
    if (!f.code)
        return;
    frame_begin_new(&f, "connection", adapter_descriptor(text, handle->accepted_fd));
    ((uv_connection_cb)h->callback)(handle, status);
    handle_fired(&f, handle);
}

UV_START(uv_listen, (uv_stream_t * handle, int backlog, uv_connection_cb callback), on_listen,
         handle_name(h, (uv_handle_t *)handle, text), UV_EVERY("accept", *text ? text : h->name),
         handle, backlog, callback)

ADAPTER_EXPORT int uv_accept(uv_stream_t *server, uv_stream_t *client)
{
    int status;
    if (!adapter_on())
        return REAL(uv_accept)(server, client);
    UV_CALL(status, REAL(uv_accept)(server, client));
    struct handle *h = status == 0 && frame_context() ? handle_make(client) : NULL;
    if (h) {
        h->accepted = true;
        if (!h->owner)
            h->owner = context_hold(frame_context());
    }
    return status;
}

/* ---- Reading ---- */

static void on_read(uv_stream_t *handle, ssize_t size, const uv_buf_t *buffer)
{
    struct frame f;
    struct handle *h = handle_find(handle);
    void *const callback = handle_fires(&f, handle, size < 0 ? (int)size : 0, NULL);
    if (!callback)
        return;
    if (size < 0 && h)
        h->awaited = false; /* libuv has stopped it */
    ((uv_read_cb)callback)(handle, size, buffer);
    handle_fired(&f, handle);
}

UV_START(uv_read_start, (uv_stream_t * handle, uv_alloc_cb room, uv_read_cb callback), on_read,
         handle_name(h, (uv_handle_t *)handle, text),
         ((struct starting){.type = "read",
                            .detail = *text ? text : h->name,
                            .repeats = true,
                            .background = h->accepted || handle->type == UV_TTY,
                            .waits = true}),
         handle, room, callback)
UV_STOP(uv_read_stop, uv_stream_t)

/* ---- Datagrams ---- */

ADAPTER_EXPORT int uv_udp_bind(uv_udp_t *handle, const struct sockaddr *address, unsigned flags)
{
    int status;
    if (!adapter_on())
        return REAL(uv_udp_bind)(handle, address, flags);
    UV_CALL(status, REAL(uv_udp_bind)(handle, address, flags));
    const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)address;
    struct handle *h =
        status == 0 && in->sin_port ? handle_make(handle) : NULL; /* IPv6: the same */
    if (h)
        h->serves = true;
    return status;
}

static void on_datagram(uv_udp_t *handle, ssize_t size, const uv_buf_t *buffer,
                        const struct sockaddr *from, unsigned flags)
{
    char text[ADAPTER_TEXT];
    struct frame f;
    struct handle *h = handle_find(handle);
    if (!h || !h->callback)
        return;
    const uv_udp_recv_cb callback = (uv_udp_recv_cb)h->callback;
    if (size == 0 && !from) { /* there are no more */
        f = (struct frame){.code = h->callback};
        frame_begin(&f, h->awaited && h->owner ? h->owner : h->starter);
    } else if (h->awaited) {
        handle_fires(&f, handle, size < 0 ? (int)size : 0, NULL);
    } else {
        f = (struct frame){.promise = h->started, .code = h->callback};
        frame_begin_new(&f, "datagram", uv_adapter_address(text, from));
    }
    callback(handle, size, buffer, from, flags);
    handle_fired(&f, handle);
}

/* Whoever has connected it, or bound it to no port in particular, waits for an answer. */
UV_START(uv_udp_recv_start, (uv_udp_t * handle, uv_alloc_cb room, uv_udp_recv_cb callback),
         on_datagram, handle_name(h, (uv_handle_t *)handle, text),
         ((struct starting){.type = "receive",
                            .detail = *text ? text : h->name,
                            .repeats = true,
                            .background = h->serves,
                            .waits = !h->serves}),
         handle, room, callback)
UV_STOP(uv_udp_recv_stop, uv_udp_t)
