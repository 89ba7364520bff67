/* SPDX-License-Identifier: ISC */
/* An HTTP server, and a client that asks it for five users, one after the other. The server looks each up for 5 ms; it
 * forgets to answer if there is none. With "good" as argument it answers 404.
 *
 *     gcc request.c -o request -levent
 */
#include <event2/event.h>
#include <event2/http.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { USERS = 5, UNKNOWN = 3 };

static struct event_base *base;
static bool good;

static void have_user(evutil_socket_t fd, short what, void *data)
{
    struct evhttp_request *request = data;
    const int user = atoi(strrchr(evhttp_request_get_uri(request), '/') + 1);
    (void)fd, (void)what;
    if (user != UNKNOWN)
        evhttp_send_reply(request, HTTP_OK, "OK", NULL);
    else if (good)
        evhttp_send_error(request, HTTP_NOTFOUND, NULL);
}

static void get_user(struct evhttp_request *request, void *data)
{
    const struct timeval look_up = {0, 5000};
    (void)data;
    event_base_once(base, -1, EV_TIMEOUT, have_user, request, &look_up);
}

static void client_ended(evutil_socket_t number, short what, void *data)
{
    (void)number, (void)what, (void)data;
    event_base_loopbreak(base);
}

/* Another process, which knows nothing of libevent. */
static void ask_all(const struct sockaddr_in *address)
{
    for (int user = 0; user < USERS; user++) {
        char request[64], status[13] = "";
        const int fd = socket(AF_INET, SOCK_STREAM, 0);
        const int n = snprintf(request, sizeof request, "GET /users/%d HTTP/1.0\r\n\r\n", user);
        if (connect(fd, (const struct sockaddr *)address, sizeof *address) < 0 ||
            write(fd, request, (size_t)n) != n || read(fd, status, sizeof status - 1) < 12)
            _exit(1);
        dprintf(STDOUT_FILENO, "%d: %s\n", user, status + 9);
        close(fd);
    }
    _exit(0);
}

int main(int argc, char **argv)
{
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    good = argc > 1 && strcmp(argv[1], "good") == 0;
    base = event_base_new();
    struct evhttp *server = evhttp_new(base);
    struct evhttp_bound_socket *socket = evhttp_bind_socket_with_handle(server, "127.0.0.1", 0);
    if (!socket ||
        getsockname(evhttp_bound_socket_get_fd(socket), (struct sockaddr *)&address, &size) < 0)
        return 1;
    evhttp_set_gencb(server, get_user, NULL);
    struct event *child = evsignal_new(base, SIGCHLD, client_ended, NULL);
    event_add(child, NULL);
    if (fork() == 0)
        ask_all(&address);
    event_base_dispatch(base);
    wait(NULL);
    event_free(child);
    evhttp_free(server);
    event_base_free(base);
    return 0;
}
