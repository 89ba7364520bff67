/* SPDX-License-Identifier: ISC */
/* weft top --metrics: an HTTP server for Prometheus, by libsoup. It runs in the wait between two looks. Connections are
 * accepted here, since libsoup 3.2 never closes those that it accepts itself. */
#include "cli/top/top.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/common.h"

#ifdef WEFT_HAS_SOUP
#include <gio/gunixsocketaddress.h>
#include <glib-unix.h>
#include <libsoup/soup.h>

#define FRESH_NS INT64_C(1000000000) /* what was looked at so long ago is old */
enum { CONNECTIONS_MAX = 64, IDLE_SECONDS = 120 };

struct top_serve {
    struct top *t;
    SoupServer *server;
    GSocketService *service; /* accepts connections */
    unsigned connections;    /* that are open */
    guint16 port;
    bool local;      /* on the loopback interface */
    char *path;      /* of a socket in the file system, to be removed; or NULL */
    int64_t last_ns; /* of the last look for a request */
    uint64_t last;   /* … and how many looks there were then */
    bool due, ready; /* in a wait */
};

/* ---- Answers ---- */

/* A page that somebody looks at in a browser must not read what is here by giving its own name an address of this machine
 * (DNS rebinding): then the name that was asked for is not one of this machine. */
static bool is_own_name(const struct top_serve *s, SoupServerMessage *message)
{
    const char *host =
        soup_message_headers_get_one(soup_server_message_get_request_headers(message), "Host");
    if (!s->local || !host)
        return true;
    g_autofree char *name = g_strdup(*host == '[' ? host + 1 : host);
    name[strcspn(name, *host == '[' ? "]" : ":")] = 0;
    return g_ascii_strcasecmp(name, "localhost") == 0 || g_hostname_is_ip_address(name);
}

/* What the client likes best. */
static bool wants_openmetrics(SoupServerMessage *message)
{
    const char *accept =
        soup_message_headers_get_list(soup_server_message_get_request_headers(message), "Accept");
    GSList *unwanted = NULL,
           *list = accept ? soup_header_parse_quality_list(accept, &unwanted) : NULL;
    bool openmetrics = false;
    for (const GSList *l = list; l; l = l->next) {
        const char *type = l->data;
        openmetrics = g_str_has_prefix(type, "application/openmetrics-text");
        if (openmetrics || g_str_has_prefix(type, "text/") || g_str_has_prefix(type, "*/*"))
            break;
    }
    soup_header_free_list(list);
    soup_header_free_list(unwanted);
    return openmetrics;
}

static void answer_text(SoupServerMessage *message, unsigned status, const char *text)
{
    soup_server_message_set_status(message, status, NULL);
    soup_server_message_set_response(message, "text/plain; charset=utf-8", SOUP_MEMORY_STATIC, text,
                                     strlen(text));
}

/* If nobody has looked for a while. */
static void refresh(struct top_serve *s)
{
    const int64_t now_ns = weft_monotonic_ns();
    if (s->t->wait_ns <= FRESH_NS || (s->last == s->t->looks && now_ns - s->last_ns < FRESH_NS))
        return;
    top_look(s->t);
    s->last = s->t->looks;
    s->last_ns = now_ns;
}

static void on_request(SoupServer *server, SoupServerMessage *message, const char *path,
                       GHashTable *query, gpointer data)
{
    struct top_serve *s = data;
    const char *method = soup_server_message_get_method(message);
    size_t size = 0;
    (void)server;
    (void)query;
    if (!is_own_name(s, message)) {
        answer_text(message, SOUP_STATUS_FORBIDDEN, "ask for an address or for localhost\n");
        return;
    }
    if (strcmp(path, "/metrics") != 0) {
        answer_text(message, strcmp(path, "/") == 0 ? SOUP_STATUS_OK : SOUP_STATUS_NOT_FOUND,
                    "weft top: /metrics\n");
        return;
    }
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
        soup_message_headers_replace(soup_server_message_get_response_headers(message), "Allow",
                                     "GET, HEAD");
        answer_text(message, SOUP_STATUS_METHOD_NOT_ALLOWED, "only GET and HEAD\n");
        return;
    }
    refresh(s);
    const bool openmetrics = wants_openmetrics(message);
    char *text = top_metrics(s->t, openmetrics, &size);
    if (!text) {
        answer_text(message, SOUP_STATUS_INTERNAL_SERVER_ERROR, "out of memory\n");
        return;
    }
    soup_server_message_set_status(message, SOUP_STATUS_OK, NULL);
    soup_server_message_set_response(
        message,
        openmetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                    : "text/plain; version=0.0.4; charset=utf-8",
        SOUP_MEMORY_COPY, text, size);
    free(text);
}

/* ---- Addresses ---- */

/* NULL: the text is no address. */
static GSocketAddress *inet_address(const char *where)
{
    char host[64];
    uint64_t port;
    const char *colon = strrchr(where, ':'), *number = colon ? colon + 1 : where;
    const size_t n = colon ? (size_t)(colon - where) : 0;
    if (!weft_parse_count(number, UINT16_MAX, &port) || n >= sizeof host)
        return NULL;
    memcpy(host, where, n);
    host[n] = 0;
    char *name = host;
    if (n > 2 && *host == '[' && host[n - 1] == ']') {
        host[n - 1] = 0;
        name = host + 1;
    } else if (strchr(host, ':')) {
        return NULL; /* an address of version 6 needs brackets */
    }
    if (!colon || strcmp(name, "localhost") == 0)
        name = strcpy(host, "127.0.0.1");
    g_autoptr(GInetAddress) address = g_inet_address_new_from_string(name);
    return address ? g_inet_socket_address_new(address, (guint16)port) : NULL;
}

/* A socket that is left from another time, on which nobody listens, is removed. */
static void remove_old(const char *path, GSocketAddress *address)
{
    struct stat st;
    g_autoptr(GError) error = NULL;
    if (lstat(path, &st) < 0 || !S_ISSOCK(st.st_mode))
        return;
    g_autoptr(GSocket) probe =
        g_socket_new(G_SOCKET_FAMILY_UNIX, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_DEFAULT, NULL);
    if (probe && !g_socket_connect(probe, address, NULL, &error) &&
        g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CONNECTION_REFUSED))
        unlink(path);
}

static void on_closed(gpointer data, GObject *connection)
{
    (void)connection;
    ((struct top_serve *)data)->connections--;
}

/* A connection beyond the limit is closed at once. */
static gboolean on_connection(GSocketService *service, GSocketConnection *connection,
                              GObject *source, gpointer data)
{
    struct top_serve *s = data;
    (void)service;
    (void)source;
    if (s->connections >= CONNECTIONS_MAX)
        return TRUE;
    s->connections++;
    g_object_weak_ref(G_OBJECT(connection), on_closed, s);
    g_socket_set_timeout(g_socket_connection_get_socket(connection), IDLE_SECONDS);
    g_autoptr(GSocketAddress) local = g_socket_connection_get_local_address(connection, NULL);
    g_autoptr(GSocketAddress) remote = g_socket_connection_get_remote_address(connection, NULL);
    soup_server_accept_iostream(s->server, G_IO_STREAM(connection), local, remote, NULL);
    return TRUE;
}

static bool listen_at(struct top_serve *s, GSocketAddress *address, GError **error)
{
    g_autoptr(GSocket) socket =
        g_socket_new(g_socket_address_get_family(address), G_SOCKET_TYPE_STREAM,
                     G_SOCKET_PROTOCOL_DEFAULT, error);
    const mode_t mask = umask(077); /* a socket in the file system is for this user */
    const bool bound = socket && g_socket_bind(socket, address, TRUE, error);
    umask(mask);
    if (!bound || !g_socket_listen(socket, error) ||
        !g_socket_listener_add_socket(G_SOCKET_LISTENER(s->service), socket, NULL, error))
        return false;
    g_autoptr(GSocketAddress) local = g_socket_get_local_address(socket, NULL);
    if (local && G_IS_INET_SOCKET_ADDRESS(local))
        s->port = g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(local));
    return true;
}

/* Where it listens; the port may have been 0. */
static void say_where(const struct top_serve *s, const char *where, GSocketAddress *address)
{
    if (s->path) {
        cli_say("top", "metrics at %s", where);
        return;
    }
    GInetAddress *inet = g_inet_socket_address_get_address(G_INET_SOCKET_ADDRESS(address));
    g_autofree char *host = g_inet_address_to_string(inet);
    const bool brackets = strchr(host, ':') != NULL;
    cli_say("top", "metrics at http://%s%s%s:%u/metrics", brackets ? "[" : "", host,
            brackets ? "]" : "", (unsigned)s->port);
}

struct top_serve *top_serve_begin(struct top *t, const char *where)
{
    const bool is_path = strncmp(where, "unix:", 5) == 0 && where[5];
    g_autoptr(GSocketAddress) address =
        is_path ? g_unix_socket_address_new(where + 5) : inet_address(where);
    g_autoptr(GError) error = NULL;
    if (!address || (is_path && strlen(where + 5) > 107))
        cli_misuse("top",
                   "--metrics %s: give PORT, ADDRESS:PORT, [ADDRESS]:PORT with an address in "
                   "numbers, or unix:PATH",
                   cli_shown(where).text);
    struct top_serve *s = g_new0(struct top_serve, 1);
    s->t = t;
    s->server = soup_server_new("server-header", "weft", NULL);
    s->service = g_socket_service_new();
    g_signal_connect(s->service, "incoming", G_CALLBACK(on_connection), s);
    s->local = !is_path && g_inet_address_get_is_loopback(
                               g_inet_socket_address_get_address(G_INET_SOCKET_ADDRESS(address)));
    if (is_path)
        remove_old(where + 5, address);
    soup_server_add_handler(s->server, NULL, on_request, s, NULL);
    if (!listen_at(s, address, &error)) {
        cli_say("top", "--metrics %s: %s", cli_shown(where).text,
                error ? error->message : "cannot listen");
        top_serve_end(s);
        return NULL;
    }
    s->path = is_path ? g_strdup(where + 5) : NULL;
    if (t->request.batch)
        say_where(s, where, address);
    return s;
}

void top_serve_end(struct top_serve *s)
{
    if (!s)
        return;
    g_socket_service_stop(s->service);
    g_socket_listener_close(G_SOCKET_LISTENER(s->service));
    soup_server_disconnect(s->server);
    g_object_unref(s->service);
    g_object_unref(s->server);
    if (s->path)
        unlink(s->path);
    g_free(s->path);
    g_free(s);
}

/* ---- Waiting ---- */

static gboolean on_time(gpointer data)
{
    ((struct top_serve *)data)->due = true;
    return G_SOURCE_REMOVE;
}

static gboolean on_readable(gint fd, GIOCondition condition, gpointer data)
{
    (void)fd;
    (void)condition;
    ((struct top_serve *)data)->ready = true;
    return G_SOURCE_REMOVE;
}

/* GLib goes on after a signal, of which the screen must know: its size may have changed. */
static bool interrupted;

static gint poll_noting(GPollFD *fds, guint count, gint timeout)
{
    const gint rc = g_poll(fds, count, timeout);
    interrupted |= rc < 0 && errno == EINTR;
    return rc;
}

static bool serve(struct top_serve *s, int fd, int64_t until_ns)
{
    const int64_t left_ns = until_ns - weft_monotonic_ns();
    const guint ms = left_ns > 0 ? (guint)((left_ns + 999999) / 1000000) : 0;
    s->due = s->ready = false;
    const guint timer = g_timeout_add(ms, on_time, s);
    const guint reader =
        fd >= 0 ? g_unix_fd_add(fd, G_IO_IN | G_IO_HUP | G_IO_ERR, on_readable, s) : 0;
    interrupted = false;
    g_main_context_set_poll_func(NULL, poll_noting);
    while (!s->due && !s->ready && !interrupted)
        g_main_context_iteration(NULL, TRUE);
    if (!s->due)
        g_source_remove(timer);
    if (reader && !s->ready)
        g_source_remove(reader);
    return s->ready || interrupted;
}

#else

struct top_serve *top_serve_begin(struct top *t, const char *where)
{
    (void)t;
    cli_say("top", "--metrics %s: this weft was built without libsoup 3", cli_shown(where).text);
    return NULL;
}

void top_serve_end(struct top_serve *s)
{
    (void)s;
}

static bool serve(struct top_serve *s, int fd, int64_t until_ns)
{
    (void)s;
    (void)fd;
    (void)until_ns;
    return false;
}

#endif

bool top_serve_wait(struct top_serve *s, int fd, int64_t until_ns)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    if (s)
        return serve(s, fd, until_ns);
    const int64_t left_ns = until_ns - weft_monotonic_ns();
    const struct timespec left = {left_ns > 0 ? left_ns / 1000000000 : 0,
                                  left_ns > 0 ? left_ns % 1000000000 : 0};
    return ppoll(&p, fd >= 0, &left, NULL) != 0;
}
