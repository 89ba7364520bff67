/* SPDX-License-Identifier: ISC */
/* A heartbeat every 5 ms sets its timer again each time; but not when the queue was full. The program goes on with other
 * things for half a second. With "good" as argument the heartbeat goes on, too.
 *
 *     gcc again.c -o again -levent
 */
#include <event2/event.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { FULL = 12 };

static struct event_base *base;
static struct event *heart;
static bool good;
static int beats;

static void beat(evutil_socket_t fd, short what, void *data)
{
    static const struct timeval gap = {0, 5000};
    (void)fd, (void)what, (void)data;
    if (++beats == FULL && !good)
        return;
    event_add(heart, &gap);
}

static void work(evutil_socket_t fd, short what, void *data)
{
    static int rounds;
    (void)fd, (void)what, (void)data;
    if (++rounds == 10)
        event_base_loopbreak(base);
}

int main(int argc, char **argv)
{
    static const struct timeval first = {0, 5000}, often = {0, 50000};
    good = argc > 1 && strcmp(argv[1], "good") == 0;
    base = event_base_new();
    heart = event_new(base, -1, 0, beat, NULL);
    event_add(heart, &first);
    struct event *worker = event_new(base, -1, EV_PERSIST, work, NULL);
    event_add(worker, &often);
    event_base_dispatch(base);
    printf("%s\n", beats > FULL ? "alive" : "dead");
    event_free(worker);
    event_free(heart);
    event_base_free(base);
    return 0;
}
