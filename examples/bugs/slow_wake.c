/* SPDX-License-Identifier: ISC */
/* slow_wake good|bad: a picture that is ready, and an event loop that sleeps on.
 *
 * Wrong: another thread makes the picture and says that it is there, but does not wake the loop. The loop sees
 * it when something else wakes it: here its next tick.
 * Mended: the thread also writes to a descriptor that the loop polls (libuv: uv_async_send). */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bugs.h"

static bool bad;
static int wakeup;
static atomic_bool ready;
static weft_promise picture;

static void *make_picture(void *unused)
{
    weft_run(picture);
    work(20 * MS);
    weft_fulfill(picture);
    weft_run(WEFT_LOOP);
    atomic_store(&ready, true);
    if (!bad)
        eventfd_write(wakeup, 1);
    return unused;
}

static void sleep_until_tick(void)
{
    struct pollfd fd = {.fd = wakeup, .events = POLLIN};
    weft_suspend(WEFT_WAIT_FOR_WORK);
    poll(&fd, 1, 200); /* … or until somebody writes */
    weft_resume();
}

int main(int argc, char **argv)
{
    pthread_t thread;
    bad = wants_bad(argc, argv);
    wakeup = eventfd(0, EFD_CLOEXEC);
    weft_promise request = weft_create("request", "GET /cat.jpg");
    weft_should_resolve(request);
    weft_run(request);
    picture = weft_create("picture", "cat.jpg");
    pthread_create(&thread, NULL, make_picture, NULL);
    weft_wait(picture);
    weft_run(WEFT_LOOP);
    while (!atomic_load(&ready))
        sleep_until_tick();
    weft_wake(request, picture);
    weft_fulfill(request);
    weft_run(WEFT_LOOP);
    pthread_join(thread, NULL);
    return 0;
}
