/* SPDX-License-Identifier: ISC */
/* Uses what the adapter for libevent stands in for, one thing after the other, and prints what its callbacks are given. With an
 * argument it ends in a callback instead of behind the loop. */
#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/dns.h>
#include <event2/dns_struct.h>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <event2/thread.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static struct event_base *base;
static int argument; /* its address is given to callbacks */

static const struct timeval soon = {0, 1000}, later = {0, 20000}, never = {3600, 0};

static void stop(void)
{
    event_base_loopbreak(base);
}

static struct sockaddr_in local(unsigned port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

/* A port on which nobody listens: the socket that has it does not. */
static unsigned closed_port(void)
{
    struct sockaddr_in a = local(0);
    socklen_t size = sizeof a;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(fd, (struct sockaddr *)&a, sizeof a) < 0 ||
        getsockname(fd, (struct sockaddr *)&a, &size) < 0)
        abort();
    return ntohs(a.sin_port);
}

/* ---- Events ---- */

static int rounds;

static void on_timer(evutil_socket_t fd, short what, void *data)
{
    printf("timer %d, %#x, %d\n", fd, (unsigned)what, data == &argument);
    stop();
}

static void on_again(evutil_socket_t fd, short what, void *data)
{
    (void)fd, (void)what;
    if (++rounds < 3)
        event_add(data, &soon);
    else
        stop();
}

static void on_period(evutil_socket_t fd, short what, void *data)
{
    (void)fd, (void)what;
    if (++rounds == 3) {
        event_del(data);
        stop();
    }
}

static void on_late(evutil_socket_t fd, short what, void *data)
{
    printf("late %d, %#x, %d\n", fd >= 0, (unsigned)what, data == &argument);
    stop();
}

static void on_signal(evutil_socket_t number, short what, void *data)
{
    printf("signal %d, %#x, %d\n", number, (unsigned)what, data == &argument);
    stop();
}

static void try_events(void)
{
    int pair[2];
    struct event embedded, *ev;
    event_callback_fn callback;
    void *data;
    ev = evtimer_new(base, on_timer, &argument);
    event_add(ev, &soon);
    event_get_assignment(ev, NULL, NULL, NULL, &callback, &data);
    printf("assigned %d %d %d\n", callback == on_timer, data == &argument,
           event_get_callback(ev) == on_timer && event_get_callback_arg(ev) == &argument);
    event_base_dispatch(base);
    event_active(ev, EV_READ, 1);
    event_base_dispatch(base);
    event_add(ev, &never);
    event_add(ev, &soon); /* earlier */
    event_base_dispatch(base);
    event_free(ev);

    event_assign(&embedded, base, -1, 0, on_again, &embedded);
    event_add(&embedded, &soon);
    event_base_dispatch(base);
    printf("again %d\n", rounds);
    event_del(&embedded);

    rounds = 0;
    ev = event_new(base, -1, EV_PERSIST, on_period, event_self_cbarg());
    event_add(ev, &soon);
    event_base_dispatch(base);
    printf("period %d\n", rounds);
    event_free(ev);

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
        abort();
    ev = event_new(base, pair[0], EV_READ, on_late, &argument);
    event_add(ev, &soon);
    event_base_dispatch(base);
    event_free(ev);
    event_base_once(base, pair[1], EV_WRITE, on_late, &argument, NULL);
    event_base_dispatch(base);
    event_base_once(base, -1, EV_TIMEOUT, on_timer, &argument, &soon);
    event_base_dispatch(base);

    ev = evsignal_new(base, SIGUSR1, on_signal, &argument);
    event_add(ev, NULL);
    raise(SIGUSR1);
    event_base_dispatch(base);
    event_free(ev);
    close(pair[0]);
    close(pair[1]);
}

/* ---- Bufferevents ---- */

static void echo(struct bufferevent *b, void *data)
{
    (void)data;
    bufferevent_write_buffer(b, bufferevent_get_input(b));
}

static void gone(struct bufferevent *b, short what, void *data)
{
    (void)data;
    if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR))
        bufferevent_free(b);
}

static void on_connection(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *a,
                          int size, void *data)
{
    struct bufferevent *b = bufferevent_socket_new(base, fd, BEV_OPT_CLOSE_ON_FREE);
    printf("connection %d %d %d\n", a->sa_family == AF_INET, size > 0, data == &argument);
    (void)listener;
    bufferevent_setcb(b, echo, NULL, gone, NULL);
    bufferevent_enable(b, EV_READ);
}

static void on_text(struct bufferevent *b, void *data)
{
    char text[32];
    const size_t n = bufferevent_read(b, text, sizeof text - 1);
    text[n] = 0;
    printf("read %s %d\n", text, data == &argument);
    stop();
}

static void on_written(struct bufferevent *b, void *data)
{
    (void)b;
    printf("written %d\n", data == &argument);
}

static void on_what(struct bufferevent *b, short what, void *data)
{
    const char *error = evutil_socket_error_to_string(EVUTIL_SOCKET_ERROR());
    printf("event %#x %s %d\n", (unsigned)what, what & BEV_EVENT_ERROR ? error : "-",
           data == &argument);
    if (what & BEV_EVENT_CONNECTED)
        evbuffer_add_printf(bufferevent_get_output(b), "hello");
    else
        stop();
}

static struct bufferevent *buffer_for(evutil_socket_t fd)
{
    struct bufferevent *b = bufferevent_socket_new(base, fd, BEV_OPT_CLOSE_ON_FREE);
    bufferevent_setcb(b, on_text, on_written, on_what, &argument);
    bufferevent_enable(b, EV_READ | EV_WRITE);
    return b;
}

static void try_buffers(void)
{
    struct sockaddr_in a = local(0);
    socklen_t size = sizeof a;
    struct bufferevent *b, *pair[2];
    bufferevent_data_cb read;
    void *data;
    struct evconnlistener *listener = evconnlistener_new_bind(
        base, on_connection, &argument, LEV_OPT_CLOSE_ON_FREE, 4, (struct sockaddr *)&a, sizeof a);
    getsockname(evconnlistener_get_fd(listener), (struct sockaddr *)&a, &size);

    b = buffer_for(-1);
    bufferevent_getcb(b, &read, NULL, NULL, &data);
    printf("set %d %d\n", read == on_text, data == &argument);
    bufferevent_socket_connect(b, (struct sockaddr *)&a, sizeof a);
    event_base_dispatch(b ? base : NULL);
    bufferevent_set_timeouts(b, &later, NULL);
    bufferevent_write(b, "", 0);
    event_base_dispatch(base);
    bufferevent_free(b);

    b = buffer_for(-1);
    bufferevent_socket_connect_hostname(b, NULL, AF_INET, "127.0.0.1", ntohs(a.sin_port));
    event_base_dispatch(base);
    bufferevent_free(b);

    a = local(closed_port());
    b = buffer_for(-1);
    bufferevent_socket_connect(b, (struct sockaddr *)&a, sizeof a);
    event_base_dispatch(base);
    bufferevent_free(b);

    bufferevent_pair_new(base, BEV_OPT_DEFER_CALLBACKS, pair);
    bufferevent_setcb(pair[0], echo, NULL, NULL, NULL);
    bufferevent_setcb(pair[1], on_text, NULL, NULL, &argument);
    bufferevent_enable(pair[0], EV_READ);
    bufferevent_enable(pair[1], EV_READ);
    bufferevent_write(pair[1], "pair", 4);
    event_base_dispatch(base);
    bufferevent_free(pair[0]);
    bufferevent_free(pair[1]);
    evconnlistener_free(listener);
}

/* ---- HTTP ---- */

static struct evhttp_connection *connection;

static void get_page(struct evhttp_request *request, void *data)
{
    struct evbuffer *page = evbuffer_new();
    printf("%s %d\n", evhttp_request_get_uri(request), data == &argument);
    evbuffer_add_printf(page, "page");
    evhttp_send_reply(request, HTTP_OK, "OK", page);
    evbuffer_free(page);
}

static void get_chunks(struct evhttp_request *request, void *data)
{
    struct evbuffer *chunk = evbuffer_new();
    (void)data;
    evhttp_send_reply_start(request, HTTP_OK, "OK");
    for (int i = 0; i < 2; i++) {
        evbuffer_add_printf(chunk, "chunk %d", i);
        evhttp_send_reply_chunk(request, chunk);
    }
    evhttp_send_reply_end(request);
    evbuffer_free(chunk);
}

static void get_other(struct evhttp_request *request, void *data)
{
    (void)data;
    evhttp_send_error(request, HTTP_NOTFOUND, NULL);
}

static void on_answer(struct evhttp_request *request, void *data)
{
    printf("answer %d %d\n", request ? evhttp_request_get_response_code(request) : -1,
           data == &argument);
    stop();
}

static void on_chunk(struct evhttp_request *request, void *data)
{
    printf("chunk %zu %d\n", evbuffer_get_length(evhttp_request_get_input_buffer(request)),
           data == &argument);
}

static int on_header(struct evhttp_request *request, void *data)
{
    (void)request;
    printf("header %d\n", data == &argument);
    return 0;
}

static void on_error(enum evhttp_request_error error, void *data)
{
    printf("error %d %d\n", (int)error, data == &argument);
}

static struct evhttp_request *ask(const char *path)
{
    struct evhttp_request *request = evhttp_request_new(on_answer, &argument);
    evhttp_add_header(evhttp_request_get_output_headers(request), "Host", "localhost");
    evhttp_request_set_error_cb(request, on_error);
    evhttp_request_set_header_cb(request, on_header);
    if (strcmp(path, "/chunks") == 0)
        evhttp_request_set_chunked_cb(request, on_chunk);
    evhttp_make_request(connection, request, EVHTTP_REQ_GET, path);
    return request;
}

static void never_answer(struct evhttp_request *request, void *data)
{
    struct evhttp_request *asked = *(struct evhttp_request **)data;
    (void)request;
    evhttp_cancel_request(asked);
    stop();
}

static void try_http(void)
{
    static struct evhttp_request *asked;
    struct sockaddr_in a;
    socklen_t size = sizeof a;
    struct evhttp *http = evhttp_new(base);
    struct evhttp_bound_socket *socket = evhttp_bind_socket_with_handle(http, "127.0.0.1", 0);
    getsockname(evhttp_bound_socket_get_fd(socket), (struct sockaddr *)&a, &size);
    evhttp_set_cb(http, "/page", get_page, &argument);
    evhttp_set_cb(http, "/chunks", get_chunks, NULL);
    evhttp_set_cb(http, "/never", never_answer, &asked);
    evhttp_set_gencb(http, get_other, NULL);
    connection = evhttp_connection_base_new(base, NULL, "127.0.0.1", ntohs(a.sin_port));
    ask("/page");
    event_base_dispatch(base);
    ask("/chunks");
    event_base_dispatch(base);
    ask("/other");
    event_base_dispatch(base);
    asked = ask("/never");
    event_base_dispatch(base);
    evhttp_connection_free(connection);

    connection = evhttp_connection_base_new(base, NULL, "127.0.0.1", (uint16_t)closed_port());
    ask("/nobody");
    event_base_dispatch(base);
    ask("/page"); /* freed before it is answered */
    evhttp_connection_free(connection);
    evhttp_free(http);
}

/* ---- Names ---- */

/* libevent writes names in a mixture of large and small letters, and wants them back so. */
static bool is_known(const struct evdns_server_request *request)
{
    return strcasecmp(request->questions[0]->name, "known.example") == 0;
}

static void on_query(struct evdns_server_request *request, void *data)
{
    const uint8_t ip[4] = {192, 0, 2, 7};
    (void)data;
    if (is_known(request))
        evdns_server_request_add_a_reply(request, request->questions[0]->name, 1, ip, 60);
    evdns_server_request_respond(request, is_known(request) ? DNS_ERR_NONE : DNS_ERR_NOTEXIST);
}

static void on_name(int result, char type, int count, int ttl, void *addresses, void *data)
{
    (void)ttl, (void)addresses;
    printf("name %d %d %d %d\n", result, type, count, data == &argument);
    stop();
}

static void on_addresses(int result, struct evutil_addrinfo *found, void *data)
{
    printf("addresses %d %d %d\n", result, found != NULL, data == &argument);
    if (found)
        evutil_freeaddrinfo(found);
    stop();
}

static void try_names(void)
{
    struct sockaddr_in a = local(0);
    socklen_t size = sizeof a;
    struct evutil_addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    char server[64];
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    if (bind(fd, (struct sockaddr *)&a, sizeof a) < 0 ||
        getsockname(fd, (struct sockaddr *)&a, &size) < 0)
        abort();
    struct evdns_server_port *port = evdns_add_server_port_with_base(base, fd, 0, on_query, NULL);
    struct evdns_base *names = evdns_base_new(base, 0);
    snprintf(server, sizeof server, "127.0.0.1:%d", ntohs(a.sin_port));
    evdns_base_nameserver_ip_add(names, server);
    evdns_base_resolve_ipv4(names, "known.example", DNS_QUERY_NO_SEARCH, on_name, &argument);
    event_base_dispatch(base);
    evdns_base_resolve_ipv4(names, "unknown.example", DNS_QUERY_NO_SEARCH, on_name, &argument);
    event_base_dispatch(base);
    evdns_base_resolve_reverse(names, &a.sin_addr, 0, on_name, &argument);
    event_base_dispatch(base);
    evdns_getaddrinfo(names, "known.example", "80", &hints, on_addresses, &argument);
    event_base_dispatch(base);
    evdns_getaddrinfo(names, "192.0.2.1", "80", &hints, on_addresses, &argument);
    evdns_base_free(names, 0);
    evdns_close_server_port(port);
    close(fd);
}

/* ---- Threads, processes, the end ---- */

static void on_thread(evutil_socket_t fd, short what, void *data)
{
    (void)fd, (void)what;
    event_base_loopbreak(data);
}

static void *run_thread(void *data)
{
    struct event_base *own = event_base_new();
    struct event *ev = evtimer_new(own, on_thread, own);
    event_add(ev, &soon);
    event_base_dispatch(own);
    event_free(ev);
    event_base_free(own);
    return data;
}

static void on_end(evutil_socket_t fd, short what, void *data)
{
    (void)fd, (void)what, (void)data;
    puts("ends");
    exit(7);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int status = 0;
    (void)argv;
    setvbuf(stdout, NULL, _IOLBF, 0);
    evthread_use_pthreads();
    base = event_base_new();
    try_events();
    try_buffers();
    try_http();
    try_names();
    pthread_create(&thread, NULL, run_thread, NULL);
    pthread_join(thread, NULL);
    const pid_t child = fork();
    if (child == 0) {
        event_reinit(base);
        event_base_once(base, -1, EV_TIMEOUT, on_timer, &argument, &soon);
        event_base_dispatch(base);
        _exit(5);
    }
    waitpid(child, &status, 0);
    printf("child %d\n", WEXITSTATUS(status));
    if (argc > 1) {
        event_base_once(base, -1, EV_TIMEOUT, on_end, NULL, &soon);
        event_base_dispatch(base);
    }
    event_base_free(base);
    puts("end");
    return 0;
}
