/* SPDX-License-Identifier: ISC */
/* Cause and effect across two domains, each in a trace of its own: a counter that one writes to XenStore and the other
 * sees by a watch, and answers.
 *
 *     cause DOMAIN     in the control domain, which begins; its trace is what WEFT_TRACE says
 *     cause            in the guest
 *
 * until they are killed. The guest also records something a few thousand times a second, as a program does that works.
 *
 * In round N the promises "N sends", "N arrives", "N answers", "N returns" are created, one after the other, the first and
 * the last in the control domain. */
#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xenstore.h>

#include "orders.h"
#include <weft/xen.h>

static struct xs_handle *xs;

static void mark(unsigned round, const char *what)
{
    char label[32];
    snprintf(label, sizeof label, "%u %s", round, what);
    weft_fulfill(weft_create("mark", label));
}

static void put(const char *key, unsigned number)
{
    char value[16];
    int size = snprintf(value, sizeof value, "%u", number);
    if (!xs_write(xs, XBT_NULL, key, value, (unsigned)size))
        err(1, "cannot write %s", key);
}

static unsigned get(const char *key)
{
    unsigned size;
    char *value = xs_read(xs, XBT_NULL, key, &size);
    unsigned number = value ? (unsigned)strtoul(value, NULL, 10) : 0;
    free(value);
    return number;
}

/* Until there is a larger number. */
static unsigned wait_for(const char *key, unsigned seen)
{
    unsigned number, count;
    while ((number = get(key)) <= seen) {
        char **event = xs_read_watch(xs, &count);
        if (!event)
            err(1, "waiting for %s", key);
        free(event);
    }
    return number;
}

static void lead(unsigned domain)
{
    char ping[64], pong[64];
    snprintf(ping, sizeof ping, "/local/domain/%u/data/lab/ping", domain);
    snprintf(pong, sizeof pong, "/local/domain/%u/data/lab/pong", domain);
    if (!xs_watch(xs, pong, "pong"))
        err(1, "cannot watch %s", pong);
    for (unsigned n = 1;; n++) {
        mark(n, "sends");
        put(ping, n);
        wait_for(pong, n - 1);
        mark(n, "returns");
    }
}

static void *work(void *unused)
{
    static struct weft_counter turns = WEFT_COUNTER("turns");
    while (usleep(100) == 0)
        weft_counter_add(&turns, 1);
    return unused;
}

static void follow(void)
{
    char ping[64];
    pthread_t thread;
    orders_path(xs, "data/lab/ping", ping, sizeof ping);
    if (!xs_watch(xs, ping, "ping"))
        err(1, "cannot watch %s", ping);
    int rc = weft_xen_start(NULL);
    if (rc < 0) {
        errno = -rc;
        err(1, "weft_xen_start");
    }
    if (pthread_create(&thread, NULL, work, NULL))
        errx(1, "pthread_create");
    put("data/lab/ready", 1);
    for (unsigned n = 0;;) {
        n = wait_for(ping, n);
        mark(n, "arrives");
        mark(n, "answers");
        put("data/lab/pong", n);
    }
}

int main(int argc, char **argv)
{
    xs = xs_open(0);
    if (!xs)
        err(1, "XenStore");
    if (argc == 2)
        lead((unsigned)atoi(argv[1]));
    else
        follow();
    return 0;
}
