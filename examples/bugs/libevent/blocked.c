/* SPDX-License-Identifier: ISC */
/* Ten jobs come in through a socket, one every 10 ms. One of them is checked in the callback itself, for 150 ms, so that
 * all others wait. With "good" as argument that check is short.
 *
 *     gcc blocked.c -o blocked -levent
 */
#include <event2/event.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { JOBS = 10 };

static struct event_base *base;
static bool good;
static int sockets[2], done;

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void check(double ms)
{
    const double end = now_ms() + ms;
    while (now_ms() < end)
        ;
}

static void have_job(evutil_socket_t fd, short what, void *data)
{
    char job;
    (void)what, (void)data;
    if (read(fd, &job, 1) != 1)
        return;
    if (job == 'e' && !good)
        check(150);
    if (++done == JOBS)
        event_base_loopbreak(base);
}

static void send_job(evutil_socket_t fd, short what, void *data)
{
    static char job = 'a';
    (void)fd, (void)what, (void)data;
    if (write(sockets[1], &job, 1) == 1)
        job++;
}

int main(int argc, char **argv)
{
    static const struct timeval gap = {0, 10000};
    good = argc > 1 && strcmp(argv[1], "good") == 0;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) < 0)
        return 1;
    base = event_base_new();
    struct event *jobs = event_new(base, sockets[0], EV_READ | EV_PERSIST, have_job, NULL);
    struct event *sender = event_new(base, -1, EV_PERSIST, send_job, NULL);
    event_add(jobs, NULL);
    event_add(sender, &gap);
    event_base_dispatch(base);
    printf("%d jobs\n", done);
    event_free(sender);
    event_free(jobs);
    event_base_free(base);
    return 0;
}
