/* SPDX-License-Identifier: ISC */
#include "http.h"

#include <http_parser.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "awake.h"

#define HEADERS_MAX 16384u
#define LINGER_MS 1000u /* how long a client may go on to send after it has been refused */

struct connection {
    uv_tcp_t socket;
    uv_timer_t timer;
    int handles; /* of these two, not closed yet */
    struct kv_http *http;
    struct connection *next, **link;

    http_parser parser;
    char in[HEADERS_MAX]; /* what has come and was not parsed yet: further requests */
    size_t in_bytes;
    bool client_ended; /* it will send nothing more */
    bool draining;     /* nor do we: what comes is thrown away */
    bool closing;

    /* The request. */
    bool begun, busy, in_store; /* its head is there; all of it is there; the store is at work */
    bool keep;                  /* the connection lives on afterwards */
    char url[KV_KEY_MAX + 1];   /* and its slash */
    size_t url_bytes;
    char field[6]; /* the beginning of a header's name */
    size_t field_bytes;
    bool in_value, expects_continue;
    char *body;
    size_t body_bytes, body_room;
    struct kv_op op;

    /* The response. */
    uv_write_t write;
    uv_shutdown_t shutdown;
    char head[512];
    char text[512];
    const char *failure; /* of the server, or NULL */

    /* What is going on; 0 (on which every call does nothing) where nothing is. */
    weft_promise promise, timeout, receive, request, body_read, response;
};

static struct weft_counter open_connections = WEFT_COUNTER("connections");

static void parse(struct connection *c);
static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer);
static void on_room(uv_handle_t *handle, size_t hint, uv_buf_t *buffer);

/* ---- The end of a connection ---- */

static void free_if_done(struct connection *c)
{
    struct kv_http *http = c->http;
    if (c->handles > 0 || c->in_store)
        return;
    if ((*c->link = c->next))
        c->next->link = c->link;
    kv_op_release(&c->op);
    free(c->body);
    free(c);
    weft_counter_add(&open_connections, -1);
    if (--http->open == 0 && http->stopped)
        http->stopped();
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct connection *c = handle->data;
    c->handles--;
    free_if_done(c);
}

/* What is still pending, nobody wants any more. */
static void close_connection(struct connection *c, int status)
{
    if (c->closing)
        return;
    c->closing = true;
    weft_cancel(c->response);
    weft_cancel(c->body_read);
    weft_cancel(c->request);
    weft_cancel(c->receive);
    weft_cancel(c->timeout);
    kv_resolve(c->promise, status);
    uv_close((uv_handle_t *)&c->socket, on_handle_closed);
    uv_close((uv_handle_t *)&c->timer, on_handle_closed);
}

static void on_idle(uv_timer_t *timer)
{
    struct connection *c = timer->data;
    kv_awake();
    if (c->in_store)
        return; /* that is not the client's fault */
    weft_fulfill(c->timeout);
    weft_wake(c->promise, c->timeout);
    c->timeout = 0;
    close_connection(c, c->begun ? UV_ETIMEDOUT : 0);
    weft_run(WEFT_LOOP);
}

static void on_shutdown(uv_shutdown_t *shutdown, int status)
{
    (void)shutdown;
    (void)status;
}

/* To close with data unread would reset the connection, and the client might not see the answer. */
static void hang_up(struct connection *c)
{
    if (c->client_ended) {
        close_connection(c, 0);
        return;
    }
    c->draining = true;
    c->in_bytes = 0;
    uv_timer_start(&c->timer, on_idle, LINGER_MS, 0);
    uv_shutdown(&c->shutdown, (uv_stream_t *)&c->socket, on_shutdown);
    uv_read_start((uv_stream_t *)&c->socket, on_room, on_read);
}

/* ---- Responses ---- */

/* The connection runs: it waits for the next request to arrive. */
static void await_request(struct connection *c)
{
    c->begun = c->busy = c->expects_continue = false;
    c->url_bytes = c->field_bytes = c->body_bytes = 0;
    c->receive = weft_create("receive", "next request");
    weft_wait(c->receive);
    uv_timer_start(&c->timer, on_idle, c->http->idle_ms, c->http->idle_ms);
    uv_read_start((uv_stream_t *)&c->socket, on_room, on_read);
}

static void on_response_written(uv_write_t *write, int status)
{
    struct connection *c = write->data;
    if (c->closing)
        return;
    kv_awake();
    kv_resolve(c->response, status);
    weft_wake(c->request, c->response);
    if (status == 0 && c->failure)
        weft_fail(c->request, c->failure);
    else
        kv_resolve(c->request, status);
    weft_wake(c->promise, c->request);
    c->response = c->request = 0;
    kv_op_release(&c->op);
    if (status != 0) {
        close_connection(c, status);
    } else if (!c->keep || c->http->stopped) {
        hang_up(c);
    } else {
        await_request(c);
        parse(c); /* the next one may be there already */
        if (c->client_ended && !c->busy)
            close_connection(c, 0);
    }
    weft_run(WEFT_LOOP);
}

/* weft_create calls this only while it records: nobody pays for the label otherwise. */
static const char *response_label(unsigned status, size_t bytes)
{
    static char label[48]; /* may be reused: texts are copied */
    snprintf(label, sizeof label, "%u, %zu bytes", status, bytes);
    return label;
}

/* The request runs. */
static void respond(struct connection *c, unsigned status, const char *type, const char *body,
                    size_t body_bytes)
{
    c->keep = c->keep && !c->http->stopped;
    char date[40];
    time_t now = time(NULL);
    struct tm tm;
    strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&now, &tm));
    int head_bytes = snprintf(c->head, sizeof c->head,
                              "HTTP/1.1 %u %s\r\nDate: %s\r\n%sContent-Type: %s\r\n"
                              "Content-Length: %zu\r\nConnection: %s\r\n\r\n",
                              status, http_status_str((enum http_status)status), date,
                              status == 405 ? "Allow: GET, HEAD, PUT, DELETE\r\n" : "", type,
                              body_bytes, c->keep ? "keep-alive" : "close");
    if (c->parser.method == HTTP_HEAD)
        body_bytes = 0;
    uv_buf_t buffers[] = {uv_buf_init(c->head, (unsigned)head_bytes),
                          uv_buf_init((char *)(uintptr_t)body, (unsigned)body_bytes)};
    c->response = weft_create("response", response_label(status, body_bytes));
    weft_wait(c->response);
    uv_timer_again(&c->timer);
    c->write.data = c;
    int bad = uv_write(&c->write, (uv_stream_t *)&c->socket, buffers, body_bytes ? 2 : 1,
                       on_response_written);
    if (bad)
        close_connection(c, bad);
}

static void respond_status(struct connection *c, unsigned status)
{
    int bytes =
        snprintf(c->text, sizeof c->text, "%s\n", http_status_str((enum http_status)status));
    respond(c, status, "text/plain", c->text, (size_t)bytes);
}

static void respond_failure(struct connection *c, int status)
{
    c->failure = uv_strerror(status);
    respond_status(c, 500);
}

static void respond_stats(struct connection *c)
{
    struct kv_stats stats;
    kv_store_stats(c->http->store, &stats);
    int bytes = snprintf(c->text, sizeof c->text,
                         "{\"keys\":%llu,\"file_bytes\":%llu,\"cut_bytes\":%llu,\"records\":%llu,"
                         "\"writes\":%llu,\"syncs\":%llu,\"last_sync\":\"%s\",\"connections\":%u,"
                         "\"requests\":%llu}\n",
                         (unsigned long long)stats.keys, (unsigned long long)stats.file_bytes,
                         (unsigned long long)stats.cut_bytes, (unsigned long long)stats.records,
                         (unsigned long long)stats.writes, (unsigned long long)stats.syncs,
                         stats.sync_status ? uv_strerror(stats.sync_status) : "ok", c->http->open,
                         (unsigned long long)c->http->requests);
    respond(c, 200, "application/json", c->text, (size_t)bytes);
}

/* An answer before all of the request is there: the rest cannot be told from what follows. */
static void refuse(struct connection *c, unsigned status)
{
    weft_cancel(c->body_read);
    c->body_read = 0;
    weft_run(c->request);
    c->busy = true;
    c->keep = false;
    if (HTTP_PARSER_ERRNO(&c->parser) == HPE_OK) /* it has not stopped by itself */
        http_parser_pause(&c->parser, 1);
    respond_status(c, status);
}

/* ---- Requests ---- */

/* Called by the store: the operation was running until now, and has just been resolved. */
static void on_stored(struct kv_op *op, int status)
{
    struct connection *c = op->data;
    c->in_store = false;
    if (c->closing) { /* it was cancelled in the meantime, and only its memory is left */
        free_if_done(c);
        return;
    }
    weft_wake(c->request, op->promise);
    if (status != 0)
        respond_failure(c, status);
    else if (c->parser.method == HTTP_PUT || c->parser.method == HTTP_DELETE)
        respond_status(c, c->parser.method == HTTP_PUT && !op->existed ? 201 : 200);
    else
        respond(c, 200, "application/octet-stream", op->value, op->value_bytes);
}

/* The request runs, and is there as a whole. */
static void handle(struct connection *c)
{
    int (*operation)(struct kv_store *, struct kv_op *) = NULL;
    bool get = c->parser.method == HTTP_GET || c->parser.method == HTTP_HEAD;
    if (get)
        operation = kv_store_get;
    else if (c->parser.method == HTTP_PUT)
        operation = kv_store_put;
    else if (c->parser.method == HTTP_DELETE)
        operation = kv_store_remove;

    if (c->url_bytes > sizeof c->url) {
        respond_status(c, 414);
    } else if (!operation || (!get && c->url_bytes == 1 && c->url[0] == '/')) {
        respond_status(c, 405);
    } else if (c->url[0] != '/') {
        respond_status(c, 400);
    } else if (c->url_bytes == 1) {
        respond_stats(c);
    } else {
        c->op = (struct kv_op){.key = c->url + 1,
                               .key_bytes = c->url_bytes - 1,
                               .value = c->body,
                               .value_bytes = c->body_bytes,
                               .done = on_stored,
                               .data = c};
        int status = operation(c->http->store, &c->op);
        c->in_store = status == 0;
        if (status == 0)
            weft_wait(c->op.promise);
        else if (status == UV_ENOENT)
            respond_status(c, 404);
        else
            respond_failure(c, status);
    }
}

static const char *request_label(const struct connection *c)
{
    static char label[KV_KEY_MAX + 32];
    snprintf(label, sizeof label, "%s %.*s", http_method_str((enum http_method)c->parser.method),
             (int)(c->url_bytes < sizeof c->url ? c->url_bytes : sizeof c->url), c->url);
    return label;
}

/* The head has arrived: the connection runs, makes a request of it, and waits until that is answered. The
 * loop is where this begins and ends. */
static void begin_request(struct connection *c, const char *label)
{
    weft_fulfill(c->receive);
    weft_wake(c->promise, c->receive);
    c->receive = 0;
    c->request = weft_create("request", label ? label : request_label(c));
    weft_should_resolve(c->request); /* a request without an answer is a bug: red in the picture */
    weft_wait(c->request);
    weft_run(c->request);
    c->begun = true;
    c->failure = NULL;
    c->http->requests++;
}

/* ---- What the parser finds ---- */

static int on_url(http_parser *parser, const char *at, size_t bytes)
{
    struct connection *c = parser->data;
    if (c->url_bytes + bytes <= sizeof c->url)
        memcpy(c->url + c->url_bytes, at, bytes);
    c->url_bytes += bytes; /* too many: told from that */
    return 0;
}

static int on_header_field(http_parser *parser, const char *at, size_t bytes)
{
    struct connection *c = parser->data;
    if (c->in_value)
        c->field_bytes = 0;
    c->in_value = false;
    if (c->field_bytes + bytes <= sizeof c->field)
        memcpy(c->field + c->field_bytes, at, bytes);
    c->field_bytes += bytes;
    return 0;
}

static int on_header_value(http_parser *parser, const char *at, size_t bytes)
{
    struct connection *c = parser->data;
    (void)at;
    (void)bytes;
    if (!c->in_value && c->field_bytes == 6 && strncasecmp(c->field, "expect", 6) == 0)
        c->expects_continue = true;
    c->in_value = true;
    return 0;
}

static const char *body_label(const struct connection *c)
{
    static char label[40];
    if (c->parser.content_length == ULLONG_MAX)
        return "chunked";
    snprintf(label, sizeof label, "%llu bytes", (unsigned long long)c->parser.content_length);
    return label;
}

static int on_headers_complete(http_parser *parser)
{
    static const uv_buf_t go_on = {.base = (char *)(uintptr_t) "HTTP/1.1 100 Continue\r\n\r\n",
                                   .len = 25};
    struct connection *c = parser->data;
    begin_request(c, NULL);
    c->keep = http_should_keep_alive(parser);
    parser->upgrade = 0; /* to another protocol: never */
    if (parser->method == HTTP_PUT) {
        c->body_read = weft_create("body", body_label(c));
        weft_wait(c->body_read);
        weft_run(WEFT_LOOP);
    }
    if (parser->content_length != ULLONG_MAX && parser->content_length > c->http->max_value)
        refuse(c, 413);
    else if (c->expects_continue && parser->method != HTTP_PUT)
        refuse(c, 405);
    else if (c->expects_continue)
        uv_try_write((uv_stream_t *)&c->socket, &go_on, 1);
    return 0;
}

static int on_body(http_parser *parser, const char *at, size_t bytes)
{
    struct connection *c = parser->data;
    if (bytes > c->http->max_value - c->body_bytes) {
        refuse(c, 413);
        return 0;
    }
    if (c->body_bytes + bytes > c->body_room) {
        size_t room = 2 * (c->body_bytes + bytes);
        char *larger = realloc(c->body, room);
        if (!larger) {
            refuse(c, 503);
            return 0;
        }
        c->body = larger;
        c->body_room = room;
    }
    memcpy(c->body + c->body_bytes, at, bytes);
    c->body_bytes += bytes;
    return 0;
}

static int on_message_complete(http_parser *parser)
{
    struct connection *c = parser->data;
    http_parser_pause(parser, 1); /* one request at a time */
    c->busy = true;
    if (parser->method == HTTP_PUT) {
        weft_fulfill(c->body_read);
        weft_wake(c->request, c->body_read);
        c->body_read = 0;
    } else {
        weft_run(c->request); /* for no other reason than that it is complete */
    }
    handle(c);
    return 0;
}

static const http_parser_settings parser_settings = {.on_url = on_url,
                                                     .on_header_field = on_header_field,
                                                     .on_header_value = on_header_value,
                                                     .on_headers_complete = on_headers_complete,
                                                     .on_body = on_body,
                                                     .on_message_complete = on_message_complete};

static void parse(struct connection *c)
{
    if (c->busy || c->in_bytes == 0)
        return;
    size_t used = http_parser_execute(&c->parser, &parser_settings, c->in, c->in_bytes);
    enum http_errno error = HTTP_PARSER_ERRNO(&c->parser);
    if (error == HPE_PAUSED) {
        http_parser_pause(&c->parser, 0);
    } else if (error != HPE_OK) {
        if (!c->begun)
            begin_request(c, "malformed");
        weft_label(c->request, http_errno_description(error));
        refuse(c, error == HPE_HEADER_OVERFLOW ? 431 : 400);
        used = c->in_bytes;
    }
    c->in_bytes -= used;
    memmove(c->in, c->in + used, c->in_bytes);
}

/* ---- The socket ---- */

static void on_room(uv_handle_t *handle, size_t hint, uv_buf_t *buffer)
{
    struct connection *c = handle->data;
    (void)hint;
    *buffer = uv_buf_init(c->in + c->in_bytes, (unsigned)(sizeof c->in - c->in_bytes));
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
    struct connection *c = stream->data;
    (void)buffer;
    kv_awake();
    if (count > 0 && !c->draining) {
        c->in_bytes += (size_t)count;
        parse(c);
        if (c->begun &&
            !c->busy) /* a body that arrives is a sign of life; a head must arrive in time */
            uv_timer_again(&c->timer);
        if (c->in_bytes == sizeof c->in)
            uv_read_stop(stream); /* a pipelining client must wait */
    } else if (count < 0) {
        c->client_ended = true;
        uv_read_stop(stream);
        if (count != UV_EOF || c->draining || !c->busy) { /* else: it still wants the answer */
            weft_run(c->promise);
            close_connection(c, count == UV_EOF ? 0 : (int)count);
        }
    }
    weft_run(WEFT_LOOP);
}

static const char *peer_label(const struct connection *c)
{
    static char label[32];
    struct sockaddr_in peer = {0};
    int size = sizeof peer;
    uv_tcp_getpeername(&c->socket, (struct sockaddr *)&peer, &size);
    snprintf(label, sizeof label, "from port %u", ntohs(peer.sin_port));
    return label;
}

void kv_http_accept(struct kv_http *http, uv_stream_t *listener)
{
    struct connection *c = calloc(1, sizeof *c);
    if (!c)
        return;
    c->http = http;
    c->handles = 2;
    c->socket.data = c->timer.data = c->parser.data = c;
    c->link = &http->connections;
    if ((c->next = http->connections))
        c->next->link = &c->next;
    http->connections = c;
    http->open++;
    weft_counter_add(&open_connections, 1);
    uv_tcp_init(http->loop, &c->socket);
    uv_timer_init(http->loop, &c->timer);
    http_parser_set_max_header_size(HEADERS_MAX);
    http_parser_init(&c->parser, HTTP_REQUEST);
    int bad = uv_accept(listener, (uv_stream_t *)&c->socket);
    uv_tcp_nodelay(&c->socket, 1);

    c->promise = weft_create("connection", peer_label(c));
    weft_promise caller = weft_run(c->promise);
    if (bad) {
        close_connection(c, bad);
    } else {
        c->timeout = weft_create("timer", "idle");
        weft_background(c->timeout); /* hoped never to fire */
        await_request(c);
    }
    weft_run(caller);
}

void kv_http_stop(struct kv_http *http, void (*stopped)(void))
{
    http->stopped = stopped;
    for (struct connection *c = http->connections; c; c = c->next)
        if (!c->busy)
            close_connection(c, 0);
    if (http->open == 0)
        stopped();
}
