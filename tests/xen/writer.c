/* SPDX-License-Identifier: ISC */
/* A guest that records at full speed what can be checked completely (check.c): threads with the events of
 * ../record/pattern.h, and promises that stay pending, which were created before.
 *
 *     writer [-b BYTES] [-t THREADS] [-p PROMISES] [-d DOMAIN] [-n CALLS]
 *
 * It is ready when each thread has made so many calls.
 *
 * Orders (data/lab/order):
 *   count      answers how many calls of each thread have returned
 *   hang       stops recording, and stays; answers as count
 *   exit       ends as a program does; answers as count
 *   abandon    is killed
 *   crash      writes down the count in data/lab/count, records a promise "last words", and the kernel crashes
 *   poweroff   … or powers off */
#include "orders.h"

#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/reboot.h>
#include <unistd.h>

#include "../record/pattern.h"
#include <weft/xen.h>

enum { THREADS_MAX = 16 };

static uint64_t returned[THREADS_MAX];
static unsigned threads = 3, promises = 500, parked;
static int stop;

static void *work(void *arg)
{
    unsigned t = (unsigned)(uintptr_t)arg;
    for (uint64_t n = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED);) {
        unsigned kind = n % PATTERN_KINDS;
        if (kind > 3 && kind < 7)
            pattern_write(t, n);
        else
            pattern_write_native(t, n);
        __atomic_store_n(&returned[t], ++n, __ATOMIC_RELEASE);
    }
    __atomic_add_fetch(&parked, 1, __ATOMIC_RELEASE);
    while (pause() < 0)
        ;
    return NULL;
}

/* Of each kind, some that are resolved again, so that they must not be shown as pending. */
static void create_promises(void)
{
    char label[32];
    weft_promise before = 0;
    for (unsigned i = 0; i < promises; i++) {
        snprintf(label, sizeof label, "kept %u", i);
        weft_promise kept = weft_create("kept", label), done = weft_create("done", label);
        weft_fulfill(done);
        weft_wait_by(kept, before);
        before = kept;
    }
}

static void count(char *text, size_t size)
{
    size_t at = 0;
    for (unsigned t = 0; t < threads; t++)
        at += (size_t)snprintf(text + at, size - at, "%s%" PRIu64, t ? "," : "",
                               __atomic_load_n(&returned[t], __ATOMIC_ACQUIRE));
}

static void stop_threads(void)
{
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(&parked, __ATOMIC_ACQUIRE) < threads)
        usleep(1000);
}

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, text, strlen(text)) < 0)
        err(1, "%s", path);
    close(fd);
}

static void crash(struct orders *o)
{
    char text[512];
    write_file("/proc/sys/kernel/sysrq", "1");
    count(text, sizeof text);
    orders_write(o->xs, "data/lab/count", text);
    weft_create("kept", "last words");
    write_file("/proc/sysrq-trigger", "c");
}

static void obey(struct orders *o, const char *order)
{
    char text[512] = "yes";
    if (!strcmp(order, "hang") || !strcmp(order, "exit"))
        stop_threads();
    if (!strcmp(order, "hang") || !strcmp(order, "exit") || !strcmp(order, "count"))
        count(text, sizeof text);
    orders_answer(o, text);
    if (!strcmp(order, "exit"))
        exit(0);
    if (!strcmp(order, "abandon"))
        kill(getpid(), SIGKILL);
    if (!strcmp(order, "crash"))
        crash(o);
    if (!strcmp(order, "poweroff"))
        reboot(RB_POWER_OFF);
}

int main(int argc, char **argv)
{
    struct weft_xen_options options = {.bytes = 0};
    uint64_t calls = 1;
    struct orders o;
    for (int c; (c = getopt(argc, argv, "b:t:p:d:n:")) != -1;) {
        unsigned long long n = optarg ? strtoull(optarg, NULL, 10) : 0;
        if (c == 'b')
            options.bytes = n;
        else if (c == 't' && n > 0 && n <= THREADS_MAX)
            threads = (unsigned)n;
        else if (c == 'p')
            promises = (unsigned)n;
        else if (c == 'd')
            options.domain = (unsigned)n;
        else if (c == 'n')
            calls = n;
        else
            errx(2, "usage");
    }
    orders_open(&o, "data/lab/order");
    int rc = weft_xen_start(&options);
    if (rc < 0) {
        errno = -rc;
        err(1, "weft_xen_start");
    }
    create_promises();
    pthread_t thread;
    for (uintptr_t t = 0; t < threads; t++)
        if (pthread_create(&thread, NULL, work, (void *)t))
            errx(1, "pthread_create");
    for (unsigned t = 0; t < threads; t++)
        while (__atomic_load_n(&returned[t], __ATOMIC_ACQUIRE) < calls)
            usleep(1000);
    orders_write(o.xs, "data/lab/ready", "1");
    for (;;)
        obey(&o, orders_next(&o));
}
