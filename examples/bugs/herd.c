/* SPDX-License-Identifier: ISC */
/* herd good|bad: twelve workers that all get up for each job.
 *
 * Wrong: when a job comes, all workers are woken. One gets it, eleven look at an empty queue and sleep again.
 * Mended: wake one for each job (pthread_cond_signal instead of pthread_cond_broadcast). */
#include <pthread.h>

#include "bugs.h"

#define WORKERS 12
#define JOBS 8

static bool bad, closed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int jobs; /* under lock, as is closed */
static weft_promise filled_id, workers[WORKERS];

static void *work_off(void *place)
{
    weft_promise worker = *(weft_promise *)place;
    weft_run(worker);
    pthread_mutex_lock(&lock);
    while (!closed || jobs > 0) {
        if (jobs == 0) {
            weft_wait(filled_id);
            weft_suspend(WEFT_WAIT_FOR_WORK);
            pthread_cond_wait(&filled, &lock);
            weft_resume();
            weft_signal(worker, filled_id); /* runs from now on, because of the signal */
            continue;
        }
        jobs--;
        pthread_mutex_unlock(&lock);
        work(2 * MS);
        pthread_mutex_lock(&lock);
    }
    pthread_mutex_unlock(&lock);
    weft_fulfill(worker);
    return NULL;
}

static void add_job(void)
{
    nap(10 * MS);
    pthread_mutex_lock(&lock);
    jobs++;
    weft_notify(filled_id);
    if (bad)
        pthread_cond_broadcast(&filled);
    else
        pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
}

int main(int argc, char **argv)
{
    pthread_t threads[WORKERS];
    bad = wants_bad(argc, argv);
    weft_run(weft_create("task", "main"));
    filled_id = weft_create("condition", "queue filled");
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = weft_create("task", "worker");
        pthread_create(&threads[i], NULL, work_off, &workers[i]);
    }
    for (int i = 0; i < JOBS; i++)
        add_job();
    pthread_mutex_lock(&lock);
    closed = true;
    weft_notify(filled_id);
    pthread_cond_broadcast(&filled); /* all have to go home */
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
