/* SPDX-License-Identifier: ISC */
/* contention good|bad: requests that all need one lock.
 *
 * Wrong: who looks something up in the cache, and does not find it there, asks the database while it holds the lock of the
 * cache. All others wait, even for what is there.
 * Mended: it unlocks, asks, and locks again to store the answer. */
#include <pthread.h>

#include "bugs.h"

#define CLIENTS 6
#define REQUESTS 10 /* of a client */

static bool bad, locked;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t unlocked = PTHREAD_COND_INITIALIZER;
static weft_promise cache;

static void lock_cache(weft_promise who)
{
    pthread_mutex_lock(&mutex);
    while (locked) {
        weft_wait(cache);
        weft_suspend(WEFT_WAIT_FOR_WORK);
        pthread_cond_wait(&unlocked, &mutex);
        weft_resume();
        weft_signal(who, cache);
    }
    locked = true;
    weft_acquire(cache);
    pthread_mutex_unlock(&mutex);
}

static void unlock_cache(void)
{
    pthread_mutex_lock(&mutex);
    locked = false;
    weft_release(cache);
    weft_notify(cache);
    pthread_cond_signal(&unlocked);
    pthread_mutex_unlock(&mutex);
}

static void sleep_for(uint64_t duration_ns)
{
    weft_suspend(WEFT_WAIT_FOR_WORK);
    nap(duration_ns);
    weft_resume();
}

static void ask_database(weft_promise who)
{
    weft_promise answer = weft_create("io", "SELECT price");
    weft_wait(answer);
    sleep_for(4 * MS);
    weft_fulfill(answer);
    weft_wake(who, answer);
}

static void *client(void *place)
{
    nap((uint64_t) * (int *)place * MS);
    for (int i = 0; i < REQUESTS; i++) {
        weft_promise request = weft_create_from(WEFT_LOOP, "request", "GET /price");
        weft_should_resolve(request);
        weft_run(request);
        lock_cache(request);
        if (!bad)
            unlock_cache();
        ask_database(request);
        if (!bad)
            lock_cache(request);
        unlock_cache();
        weft_fulfill(request);
        weft_run(WEFT_LOOP);
        sleep_for(2 * MS);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[CLIENTS];
    int place[CLIENTS];
    bad = wants_bad(argc, argv);
    cache = weft_create("lock", "cache lock");
    weft_background(cache);
    for (int i = 0; i < CLIENTS; i++) {
        place[i] = i;
        pthread_create(&threads[i], NULL, client, &place[i]);
    }
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
