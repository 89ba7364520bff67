/* SPDX-License-Identifier: ISC */
#include "workers.h"

#include <pthread.h>

#define MOST 8

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t added = PTHREAD_COND_INITIALIZER, finished = PTHREAD_COND_INITIALIZER;
static struct job *first, **last = &first; /* under mutex, as all */
static bool closed;
static pthread_t thread[MOST];
static int threads;

static void *work_off(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&mutex);
    for (;;) {
        while (!first && !closed) {
            weft_suspend(WEFT_WAIT_FOR_WORK);
            pthread_cond_wait(&added, &mutex);
            weft_resume();
        }
        struct job *job = first;
        if (!job)
            break;
        first = job->next;
        last = first ? last : &first;
        pthread_mutex_unlock(&mutex);
        weft_run(job->id);
        job->work(job);
        pthread_mutex_lock(&mutex);
        weft_fulfill(job->id);
        weft_run(WEFT_LOOP);
        job->done = true;
        pthread_cond_broadcast(&finished);
    }
    pthread_mutex_unlock(&mutex);
    return NULL;
}

void workers_start(int count)
{
    for (threads = 0; threads < count; threads++)
        pthread_create(&thread[threads], NULL, work_off, NULL);
}

void workers_stop(void)
{
    pthread_mutex_lock(&mutex);
    closed = true;
    pthread_cond_broadcast(&added);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
}

void workers_add(struct job *job)
{
    pthread_mutex_lock(&mutex);
    job->next = NULL;
    *last = job;
    last = &job->next;
    pthread_cond_signal(&added);
    pthread_mutex_unlock(&mutex);
}

void workers_await(struct job *job)
{
    pthread_mutex_lock(&mutex);
    weft_promise self = weft_run(WEFT_LOOP);
    weft_wait_by(self, job->id);
    weft_suspend(WEFT_WAIT_FOR_WORK);
    while (!job->done)
        pthread_cond_wait(&finished, &mutex);
    weft_resume();
    weft_wake(self, job->id);
    pthread_mutex_unlock(&mutex);
}

bool workers_are_done(const struct job *job)
{
    pthread_mutex_lock(&mutex);
    const bool done = job->done;
    pthread_mutex_unlock(&mutex);
    return done;
}

void sleep_for(uint64_t duration_ns)
{
    weft_promise self = weft_run(WEFT_LOOP);
    weft_suspend(WEFT_WAIT_FOR_WORK);
    nap(duration_ns);
    weft_resume();
    weft_run(self);
}
