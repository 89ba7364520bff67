/* SPDX-License-Identifier: ISC */
/* lost_wakeup good|bad: a queue with a job in it, and a worker that sleeps.
 *
 * Wrong: the worker sees that the queue is empty, lets go of the lock to do something else, and only then waits
 * for the condition. The job comes in between. The signal that says so finds nobody who waits, and is lost.
 * Mended: look and wait without letting go of the lock, and look again before each wait. */
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include "bugs.h"

static bool bad;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int jobs; /* under lock, as is the condition */
static int finished;
static weft_promise program, worker, filled_id;

static void wait_filled(void)
{
    weft_wait(filled_id);
    weft_suspend(WEFT_WAIT_FOR_WORK);
    pthread_cond_wait(&filled, &lock);
    weft_resume();
    weft_signal(worker, filled_id); /* runs from now on, because of the signal */
}

static void *work_off(void *unused)
{
    weft_run(worker);
    pthread_mutex_lock(&lock);
    bool empty = jobs == 0;
    pthread_mutex_unlock(&lock);
    nap(80 * MS); /* writes its log */
    pthread_mutex_lock(&lock);
    if (bad ? empty : jobs == 0)
        wait_filled();
    jobs--;
    pthread_mutex_unlock(&lock);
    weft_fulfill(worker); /* that was the last one */
    eventfd_write(finished, 1);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    bad = wants_bad(argc, argv);
    program = weft_create("task", "main");
    weft_should_resolve(program);
    weft_run(program);
    worker = weft_create("task", "worker");
    filled_id = weft_create("condition", "queue filled");
    finished = eventfd(0, EFD_CLOEXEC);
    pthread_create(&thread, NULL, work_off, NULL);
    nap(40 * MS);
    pthread_mutex_lock(&lock);
    jobs++;
    weft_notify(filled_id);
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
    weft_wait(worker);
    weft_suspend(WEFT_WAIT_FOR_WORK);
    bool done = poll(&(struct pollfd){.fd = finished, .events = POLLIN}, 1, 200) == 1; /* ms */
    weft_resume();
    if (!done)
        return 1;
    weft_wake(program, worker);
    pthread_join(thread, NULL);
    weft_fulfill(program);
    return 0;
}
