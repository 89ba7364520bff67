/* SPDX-License-Identifier: ISC */
/* A client asks a server for four prices, one after the other; both are in this process. The server forgets to answer
 * when it does not know the article. With "good" as argument it says so.
 *
 *     gcc answer.c -o answer -levent
 */
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARTICLES = 4, UNKNOWN = 2 };

static struct event_base *base;
static bool good;
static int asked;

/* ---- The server ---- */

static void have_question(struct bufferevent *client, void *data)
{
    char *line;
    (void)data;
    while ((line = evbuffer_readln(bufferevent_get_input(client), NULL, EVBUFFER_EOL_LF))) {
        const int article = atoi(line);
        if (article != UNKNOWN)
            evbuffer_add_printf(bufferevent_get_output(client), "%d\n", 100 * article);
        else if (good)
            evbuffer_add_printf(bufferevent_get_output(client), "unknown\n");
        free(line);
    }
}

static void client_event(struct bufferevent *client, short what, void *data)
{
    (void)data;
    if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR))
        bufferevent_free(client);
}

static void have_client(struct evconnlistener *listener, evutil_socket_t fd,
                        struct sockaddr *address, int size, void *data)
{
    struct bufferevent *client = bufferevent_socket_new(base, fd, BEV_OPT_CLOSE_ON_FREE);
    (void)listener, (void)address, (void)size, (void)data;
    bufferevent_setcb(client, have_question, NULL, client_event, NULL);
    bufferevent_enable(client, EV_READ | EV_WRITE);
}

/* ---- The client ---- */

static void ask(struct bufferevent *server)
{
    char line[32];
    snprintf(line, sizeof line, "%d\n", asked++);
    bufferevent_write(server, line, strlen(line));
}

static void have_price(struct bufferevent *server, void *data)
{
    char *price = evbuffer_readln(bufferevent_get_input(server), NULL, EVBUFFER_EOL_LF);
    (void)data;
    if (!price)
        return;
    printf("%d: %s\n", asked - 1, price);
    free(price);
    if (asked < ARTICLES) {
        ask(server);
    } else {
        bufferevent_free(server);
        event_base_loopbreak(base);
    }
}

static void server_event(struct bufferevent *server, short what, void *data)
{
    (void)data;
    if (what & BEV_EVENT_CONNECTED)
        ask(server);
}

int main(int argc, char **argv)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    good = argc > 1 && strcmp(argv[1], "good") == 0;
    base = event_base_new();
    struct evconnlistener *listener =
        evconnlistener_new_bind(base, have_client, NULL, LEV_OPT_CLOSE_ON_FREE, 4,
                                (struct sockaddr *)&address, sizeof address);
    if (!listener ||
        getsockname(evconnlistener_get_fd(listener), (struct sockaddr *)&address, &size) < 0)
        return 1;
    struct bufferevent *server = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
    bufferevent_setcb(server, have_price, NULL, server_event, NULL);
    bufferevent_enable(server, EV_READ | EV_WRITE);
    bufferevent_socket_connect(server, (struct sockaddr *)&address, sizeof address);
    event_base_dispatch(base);
    evconnlistener_free(listener);
    event_base_free(base);
    return 0;
}
