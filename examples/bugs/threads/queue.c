/* SPDX-License-Identifier: ISC */
/* queue good|bad: one job in a queue, and a worker that sleeps.
 *
 * Wrong: the worker sees that the queue is empty, lets go of the lock to write its log, and only then waits. The job comes
 * in between: the signal that says so finds nobody who waits, and is lost.
 * Mended: it looks again before it waits, without letting go of the lock. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool bad;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int jobs;                 /* under lock */
static pthread_barrier_t logged; /* stands for a log that takes just so long */

static void *work_off(void *unused)
{
    pthread_mutex_lock(&lock);
    bool empty = jobs == 0;
    pthread_mutex_unlock(&lock);
    pthread_barrier_wait(&logged);
    pthread_barrier_wait(&logged);
    pthread_mutex_lock(&lock);
    if (bad && empty)
        pthread_cond_wait(&filled, &lock);
    while (jobs == 0)
        pthread_cond_wait(&filled, &lock);
    jobs--;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t worker;
    bad = argc > 1 && strcmp(argv[1], "bad") == 0;
    pthread_barrier_init(&logged, NULL, 2);
    pthread_create(&worker, NULL, work_off, NULL);
    pthread_barrier_wait(&logged);
    pthread_mutex_lock(&lock);
    jobs++;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
    pthread_barrier_wait(&logged);
    pthread_join(worker, NULL);
    printf("%d left\n", jobs);
    return 0;
}
