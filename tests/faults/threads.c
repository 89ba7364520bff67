/* SPDX-License-Identifier: ISC */
/* threads MODE good|bad: several threads, with mutexes and condition variables. */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "faults.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t signalled = PTHREAD_COND_INITIALIZER;
static weft_promise condition;

static pthread_t start(void *(*body)(void *), int i)
{
    pthread_t thread;
    must(pthread_create(&thread, NULL, body, (void *)(intptr_t)i) == 0);
    return thread;
}

/* With the lock; weft is told who waits for what, and who goes on. */
static void wait_signal(weft_promise self)
{
    weft_wait(condition);
    weft_run(WEFT_LOOP);
    weft_suspend(WEFT_WAIT_FOR_WORK);
    pthread_cond_wait(&signalled, &lock);
    weft_resume();
    weft_signal(self, condition);
}

/* Two threads take two mutexes in opposite orders. */
static pthread_mutex_t mutexes[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static _Atomic weft_promise held[2];

static void take(int i, weft_promise self)
{
    if (pthread_mutex_trylock(&mutexes[i]) != 0) {
        weft_promise holder = held[i];
        weft_wait_by(self, holder);
        weft_run(WEFT_LOOP);
        weft_suspend(WEFT_WAIT_FOR_WORK);
        pthread_mutex_lock(&mutexes[i]);
        weft_resume();
        weft_wake(self, holder);
    }
    held[i] = weft_create("mutex", i ? "log" : "index");
    weft_wait_by(held[i], self);
}

static void give(int i)
{
    weft_fulfill(held[i]);
    pthread_mutex_unlock(&mutexes[i]);
}

static void *locker(void *argument)
{
    int second = argument && bad;
    weft_promise self = weft_create("thread", argument ? "compactor" : "writer");
    weft_should_resolve(self);
    weft_run(self);
    for (int i = 0; i < 3; i++) {
        take(second, self);
        nap(4);
        take(!second, self);
        give(!second);
        give(second);
        nap(1);
    }
    weft_fulfill(self);
    weft_run(WEFT_LOOP);
    return NULL;
}

static void mutexes_mode(void)
{
    killed_after(400);
    pthread_t writer = start(locker, 0), compactor = start(locker, 1);
    pthread_join(writer, NULL);
    pthread_join(compactor, NULL);
}

/* The consumer looks at the flag without the lock, and then blocks: the signal came between. */
static int ready;

static void *indexer(void *argument)
{
    weft_promise self = weft_create("job", "indexer");
    weft_should_resolve(self);
    weft_run(self);
    for (int i = 0; i < 4; i++) {
        if (bad && i == 3)
            nap(20);
        pthread_mutex_lock(&lock);
        while (ready == 0 || (bad && i == 3))
            wait_signal(self);
        ready--;
        pthread_mutex_unlock(&lock);
        work(1);
    }
    weft_fulfill(self);
    weft_run(WEFT_LOOP);
    return argument;
}

static void flag_mode(void)
{
    killed_after(400);
    condition = weft_create("condition", "work available");
    pthread_t thread = start(indexer, 0);
    weft_promise crawler = weft_create("thread", "crawler");
    weft_run(crawler);
    for (int i = 0; i < 4; i++) {
        nap(8);
        pthread_mutex_lock(&lock);
        ready++;
        weft_notify(condition);
        pthread_cond_signal(&signalled);
        pthread_mutex_unlock(&lock);
    }
    weft_fulfill(crawler);
    weft_run(WEFT_LOOP);
    pthread_join(thread, NULL);
}

/* The consumer asks again and again whether there is an item. */
static int items;

static void *eat(void *argument)
{
    weft_promise self = weft_create("thread", "consumer");
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        weft_run(self);
        while (items == 0 && !bad)
            wait_signal(self);
        while (items == 0) {
            pthread_mutex_unlock(&lock);
            weft_run(WEFT_LOOP);
            sched_yield();
            weft_run(self);
            pthread_mutex_lock(&lock);
        }
        items--;
        pthread_mutex_unlock(&lock);
        work(0.3);
        weft_run(WEFT_LOOP);
    }
    weft_fulfill(self);
    return argument;
}

static void asks_mode(void)
{
    condition = weft_create("condition", "item");
    pthread_t thread = start(eat, 0);
    weft_promise self = weft_create("thread", "producer");
    for (int i = 0; i < 3; i++) {
        weft_run(self);
        nap(12);
        pthread_mutex_lock(&lock);
        items++;
        weft_notify(condition);
        pthread_cond_signal(&signalled);
        pthread_mutex_unlock(&lock);
    }
    weft_fulfill(self);
    weft_run(WEFT_LOOP);
    pthread_join(thread, NULL);
}

/* A worker has a result, but does not wake the event loop, which sees it when its poll times out. */
static int wakeup;
static struct {
    weft_promise id;
    bool done;
} hashes[6];

static void *hash(void *argument)
{
    int i = (int)(intptr_t)argument;
    uint64_t one = 1;
    weft_run(hashes[i].id);
    work(4);
    weft_fulfill(hashes[i].id);
    weft_run(WEFT_LOOP);
    __atomic_store_n(&hashes[i].done, true, __ATOMIC_SEQ_CST);
    if (!bad || i != 3)
        must(write(wakeup, &one, sizeof one) == sizeof one);
    return NULL;
}

static void unwoken_mode(void)
{
    uint64_t count;
    wakeup = eventfd(0, 0);
    for (int i = 0; i < 6; i++) {
        weft_promise request = weft_create("request", text("upload %d", i));
        weft_should_resolve(request);
        weft_run(request);
        hashes[i].id = weft_create("work", text("hash of %d", i));
        weft_wait(hashes[i].id);
        weft_run(WEFT_LOOP);
        pthread_t thread = start(hash, i);
        while (!__atomic_load_n(&hashes[i].done, __ATOMIC_SEQ_CST)) {
            struct pollfd fd = {wakeup, POLLIN, 0};
            weft_suspend(WEFT_WAIT_FOR_WORK);
            int n = poll(&fd, 1, 80);
            weft_resume();
            must(n == 0 || read(wakeup, &count, sizeof count) == sizeof count);
        }
        weft_wake(request, hashes[i].id);
        weft_fulfill(request);
        weft_run(WEFT_LOOP);
        pthread_join(thread, NULL);
    }
}

int main(int argc, char **argv)
{
    static const struct mode modes[] = {{"mutexes", mutexes_mode},
                                        {"flag", flag_mode},
                                        {"asks", asks_mode},
                                        {"unwoken", unwoken_mode}};
    return run_mode(argc, argv, modes, sizeof modes / sizeof *modes);
}
