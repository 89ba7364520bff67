/* SPDX-License-Identifier: ISC */
#include "cli/late/inspector.h"

#include <libsoup/soup.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

enum {
    LIST_BYTES = 64 << 10,  /* of the list of what can be inspected */
    ANSWER_BYTES = 1 << 20, /* of one message */
    MESSAGES_MAX = 10000,   /* other messages before an answer: events */
};

struct cli_inspector {
    const struct cli_inspector_peer *peer;
    SoupSession *session;
    SoupWebsocketConnection *socket; /* NULL: not connected yet */
    GCancellable *cancellable;
    struct cli_inspector_error *error; /* of the call that is under way */
    bool done;                         /* what is waited for is there, or has failed */
    bool ended;                        /* the connection is closed */
    bool stranger;                     /* the other end is not the process */
    char *list;
    gsize list_bytes;
    json_int_t wanted; /* number of the call whose answer is waited for */
    json_t *answer;
    unsigned messages;
    bool sent;
};

static const char closed[] = "it has closed the connection";

static void fail(struct cli_inspector *i, const char *text)
{
    if (!i->error->late && !i->error->text[0])
        snprintf(i->error->text, sizeof i->error->text, "%.200s", text);
    i->done = true;
}

/* ---- Waiting ---- */

static gboolean is_late(gpointer data)
{
    struct cli_inspector *i = data;
    i->error->late = true;
    i->done = true;
    g_cancellable_cancel(i->cancellable);
    return G_SOURCE_REMOVE;
}

static void wait_until(struct cli_inspector *i, int64_t until_ns)
{
    const int64_t left_ms = (until_ns - weft_monotonic_ns()) / 1000000;
    GSource *timeout = g_timeout_source_new(left_ms < 1          ? 1
                                            : left_ms > G_MAXINT ? G_MAXINT
                                                                 : (guint)left_ms);
    g_source_set_callback(timeout, is_late, i, NULL);
    g_source_attach(timeout, NULL);
    while (!i->done)
        g_main_context_iteration(NULL, TRUE);
    g_source_destroy(timeout);
    g_source_unref(timeout);
}

/* ---- Connecting ---- */

/* Called while a connection is made. */
static void on_network(SoupMessage *message, GSocketClientEvent event, GIOStream *stream,
                       gpointer data)
{
    struct cli_inspector *i = data;
    (void)message;
    if (event != G_SOCKET_CLIENT_CONNECTED || !G_IS_SOCKET_CONNECTION(stream))
        return;
    GSocketAddress *own = g_socket_connection_get_local_address(G_SOCKET_CONNECTION(stream), NULL);
    const bool fine =
        own && G_IS_INET_SOCKET_ADDRESS(own) &&
        i->peer->is_peer(i->peer->data, g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(own)));
    g_clear_object(&own);
    if (!fine) {
        i->stranger = true;
        g_cancellable_cancel(i->cancellable);
        g_io_stream_close(stream, NULL, NULL);
    }
}

static SoupMessage *message_new(struct cli_inspector *i, const char *scheme, const char *path)
{
    char uri[256];
    snprintf(uri, sizeof uri, "%s://%s:%u/%s", scheme, i->peer->host, (unsigned)i->peer->port,
             path);
    SoupMessage *message = soup_message_new("GET", uri);
    if (message)
        g_signal_connect(message, "network-event", G_CALLBACK(on_network), i);
    return message;
}

static void fail_by(struct cli_inspector *i, GError *error)
{
    fail(i, i->stranger ? "another process answers there" : error ? error->message : "no answer");
    g_clear_error(&error);
}

static void on_read(GObject *stream, GAsyncResult *result, gpointer data)
{
    struct cli_inspector *i = data;
    GError *error = NULL;
    if (g_input_stream_read_all_finish(G_INPUT_STREAM(stream), result, &i->list_bytes, &error))
        i->done = true;
    else
        fail_by(i, error);
    g_object_unref(stream);
}

static void on_list(GObject *session, GAsyncResult *result, gpointer data)
{
    struct cli_inspector *i = data;
    GError *error = NULL;
    GInputStream *stream = soup_session_send_finish(SOUP_SESSION(session), result, &error);
    if (stream)
        g_input_stream_read_all_async(stream, i->list, LIST_BYTES, G_PRIORITY_DEFAULT,
                                      i->cancellable, on_read, i);
    else
        fail_by(i, error);
}

/* The first thing that can be inspected: its id, which is its path, too. */
static bool first_id(struct cli_inspector *i, char *id, size_t size)
{
    json_t *list = json_loadb(i->list, i->list_bytes, 0, NULL);
    const char *text = json_string_value(json_object_get(json_array_get(list, 0), "id"));
    const bool fine = text && strlen(text) < size &&
                      strspn(text, "0123456789abcdefABCDEF-") == strlen(text) && *text;
    if (fine)
        memcpy(id, text, strlen(text) + 1);
    else
        fail(i, "it is no inspector");
    json_decref(list);
    return fine;
}

static bool read_list(struct cli_inspector *i, int64_t until_ns)
{
    SoupMessage *message = message_new(i, "http", "json/list");
    i->list = malloc(LIST_BYTES);
    if (!message || !i->list) {
        g_clear_object(&message);
        fail(i, "no memory");
        return false;
    }
    soup_session_send_async(i->session, message, G_PRIORITY_DEFAULT, i->cancellable, on_list, i);
    wait_until(i, until_ns);
    /* What was begun ends before what it uses does. */
    while (g_main_context_iteration(NULL, FALSE))
        ;
    g_object_unref(message);
    return !i->error->late && !i->error->text[0];
}

/* ---- Messages ---- */

static void on_message(SoupWebsocketConnection *socket, int type, GBytes *bytes, gpointer data)
{
    struct cli_inspector *i = data;
    gsize size;
    const char *text = g_bytes_get_data(bytes, &size);
    (void)socket;
    if (type != SOUP_WEBSOCKET_DATA_TEXT || i->done)
        return;
    json_t *message = json_loadb(text, size, 0, NULL);
    const json_t *id = json_object_get(message, "id");
    if (json_is_integer(id) && json_integer_value(id) == i->wanted) {
        i->answer = message;
        i->done = true;
        return;
    }
    json_decref(message);
    if (++i->messages > MESSAGES_MAX)
        fail(i, "it sends too much");
}

static void on_closed(SoupWebsocketConnection *socket, gpointer data)
{
    struct cli_inspector *i = data;
    (void)socket;
    i->ended = true;
    fail(i, closed);
}

static void on_connected(GObject *session, GAsyncResult *result, gpointer data)
{
    struct cli_inspector *i = data;
    GError *error = NULL;
    i->socket = soup_session_websocket_connect_finish(SOUP_SESSION(session), result, &error);
    if (!i->socket) {
        fail_by(i, error);
        return;
    }
    soup_websocket_connection_set_max_incoming_payload_size(i->socket, ANSWER_BYTES);
    g_signal_connect(i->socket, "message", G_CALLBACK(on_message), i);
    g_signal_connect(i->socket, "closed", G_CALLBACK(on_closed), i);
    i->done = true;
}

static bool connect_socket(struct cli_inspector *i, const char *id, int64_t until_ns)
{
    SoupMessage *message = message_new(i, "ws", id);
    if (!message) {
        fail(i, "no memory");
        return false;
    }
    i->done = false;
    soup_session_websocket_connect_async(i->session, message, NULL, NULL, G_PRIORITY_DEFAULT,
                                         i->cancellable, on_connected, i);
    wait_until(i, until_ns);
    g_object_unref(message);
    return i->socket != NULL;
}

struct cli_inspector *cli_inspector_open(const struct cli_inspector_peer *peer, int64_t until_ns,
                                         struct cli_inspector_error *e)
{
    struct cli_inspector *i = calloc(1, sizeof *i);
    char id[64];
    *e = (struct cli_inspector_error){.late = false};
    if (!i) {
        snprintf(e->text, sizeof e->text, "no memory");
        return NULL;
    }
    *i = (struct cli_inspector){.peer = peer, .error = e, .cancellable = g_cancellable_new()};
    i->session = soup_session_new_with_options("proxy-resolver", NULL, NULL);
    if (read_list(i, until_ns) && first_id(i, id, sizeof id) && connect_socket(i, id, until_ns))
        return i;
    cli_inspector_close(i);
    return NULL;
}

void cli_inspector_ask(struct cli_inspector *i, const char *method, json_t *params)
{
    json_t *call = json_pack("{s:I, s:s, s:o}", "id", ++i->wanted, "method", method, "params",
                             params ? params : json_object());
    char *text = call && !i->ended ? json_dumps(call, JSON_COMPACT) : NULL;
    if (text)
        soup_websocket_connection_send_text(i->socket, text);
    free(text);
    json_decref(call);
    i->sent = text != NULL;
    i->messages = 0;
}

json_t *cli_inspector_answer(struct cli_inspector *i, int64_t until_ns,
                             struct cli_inspector_error *e)
{
    *e = (struct cli_inspector_error){.late = false};
    i->error = e;
    i->done = false;
    if (i->ended || !i->sent)
        fail(i, i->ended ? closed : "no memory");
    wait_until(i, until_ns);
    json_t *answer = i->answer;
    i->answer = NULL;
    if (!answer)
        return NULL;
    json_t *result = json_incref(json_object_get(answer, "result"));
    const char *why =
        json_string_value(json_object_get(json_object_get(answer, "error"), "message"));
    if (!result)
        fail(i, why ? why : "its answer cannot be understood");
    json_decref(answer);
    return result;
}

json_t *cli_inspector_call(struct cli_inspector *i, const char *method, json_t *params,
                           int64_t until_ns, struct cli_inspector_error *e)
{
    cli_inspector_ask(i, method, params);
    return cli_inspector_answer(i, until_ns, e);
}

bool cli_inspector_last(struct cli_inspector *i, const char *method, json_t *params,
                        int64_t until_ns)
{
    struct cli_inspector_error e = {.late = false};
    cli_inspector_ask(i, method, params);
    i->wanted = -1; /* its answer does not matter */
    json_decref(cli_inspector_answer(i, until_ns, &e));
    return i->ended;
}

void cli_inspector_close(struct cli_inspector *i)
{
    struct cli_inspector_error e = {.late = false};
    if (!i)
        return;
    i->error = &e;
    i->done = true;
    if (i->socket) {
        g_signal_handlers_disconnect_by_data(i->socket, i);
        if (soup_websocket_connection_get_state(i->socket) == SOUP_WEBSOCKET_STATE_OPEN)
            soup_websocket_connection_close(i->socket, SOUP_WEBSOCKET_CLOSE_GOING_AWAY, NULL);
        while (g_main_context_iteration(NULL, FALSE))
            ;
        g_object_unref(i->socket);
    }
    g_cancellable_cancel(i->cancellable);
    soup_session_abort(i->session);
    while (g_main_context_iteration(NULL, FALSE))
        ;
    g_object_unref(i->session);
    g_object_unref(i->cancellable);
    json_decref(i->answer);
    free(i->list);
    free(i);
}
