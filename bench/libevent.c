/* SPDX-License-Identifier: ISC */
/* For bench/run-libevent: libevent-bench WHAT ROUNDS. Prints the CPU time of a round in ns. */
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static struct event_base *base;
static struct event *event;
static long rounds;
static int sockets[2];

static void end_round(void)
{
    if (--rounds == 0)
        event_base_loopbreak(base);
}

/* A persistent event: a byte for each round. */
static void on_byte(evutil_socket_t fd, short what, void *data)
{
    char byte;
    (void)what, (void)data;
    if (read(fd, &byte, 1) != 1 || write(sockets[1], &byte, 1) != 1)
        abort();
    end_round();
}

/* An event that its callback adds again. */
static void on_byte_again(evutil_socket_t fd, short what, void *data)
{
    event_add(event, NULL);
    on_byte(fd, what, data);
}

static void on_timer(evutil_socket_t fd, short what, void *data)
{
    static const struct timeval now = {0, 0};
    (void)fd, (void)what, (void)data;
    event_add(event, &now);
    end_round();
}

/* A byte to and fro. */
static void echo(struct bufferevent *b, void *data)
{
    (void)data;
    bufferevent_write_buffer(b, bufferevent_get_input(b));
}

static void ask(struct bufferevent *b, void *data)
{
    echo(b, data);
    end_round();
}

static void begin(const char *what)
{
    static const struct timeval now = {0, 0};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets) < 0)
        abort();
    if (strcmp(what, "event") == 0)
        event = event_new(base, sockets[0], EV_READ | EV_PERSIST, on_byte, NULL);
    else if (strcmp(what, "again") == 0)
        event = event_new(base, sockets[0], EV_READ, on_byte_again, NULL);
    else if (strcmp(what, "timer") == 0)
        event = evtimer_new(base, on_timer, NULL);
    if (event) {
        event_add(event, strcmp(what, "timer") == 0 ? &now : NULL);
        if (write(sockets[1], "x", 1) != 1)
            abort();
        return;
    }
    struct bufferevent *asks = bufferevent_socket_new(base, sockets[0], 0);
    struct bufferevent *answers = bufferevent_socket_new(base, sockets[1], 0);
    bufferevent_setcb(asks, ask, NULL, NULL, NULL);
    bufferevent_setcb(answers, echo, NULL, NULL, NULL);
    bufferevent_enable(asks, EV_READ);
    bufferevent_enable(answers, EV_READ);
    bufferevent_write(asks, "x", 1);
}

int main(int argc, char **argv)
{
    struct timespec from, to;
    if (argc != 3 || (rounds = atol(argv[2])) <= 0)
        return 2;
    const long all = rounds;
    base = event_base_new();
    begin(argv[1]);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    event_base_dispatch(base);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    printf("%.1f\n",
           ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) /
               (double)all);
    return 0;
}
