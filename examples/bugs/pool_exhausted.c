/* SPDX-License-Identifier: ISC */
/* pool_exhausted good|bad: threads that share three connections to a database.
 *
 * Wrong: a report reads with a connection, and keeps it while it waits for the printer. When there are three reports, all
 * others wait.
 * Mended: it gives the connection back before it prints. */
#include <pthread.h>

#include "bugs.h"

#define CONNECTIONS 3
#define REPORTS 3
#define CLIENTS 6
#define REQUESTS 8 /* of a client */

static bool bad;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t given_back = PTHREAD_COND_INITIALIZER;
static int available = CONNECTIONS; /* under lock */
static weft_promise pool;

static void get_connection(weft_promise who)
{
    pthread_mutex_lock(&lock);
    while (available == 0) {
        weft_wait(pool);
        weft_suspend(WEFT_WAIT_FOR_WORK);
        pthread_cond_wait(&given_back, &lock);
        weft_resume();
        weft_signal(who, pool);
    }
    available--;
    weft_acquire(pool);
    pthread_mutex_unlock(&lock);
}

static void give_back(void)
{
    pthread_mutex_lock(&lock);
    available++;
    weft_release(pool);
    weft_notify(pool);
    pthread_cond_signal(&given_back);
    pthread_mutex_unlock(&lock);
}

static void sleep_for(uint64_t duration_ns)
{
    weft_suspend(WEFT_WAIT_FOR_WORK);
    nap(duration_ns);
    weft_resume();
}

/* Who runs does nothing but wait for an answer. */
static void wait_for_answer(weft_promise who, const char *what, uint64_t duration_ns)
{
    weft_promise answer = weft_create("io", what);
    weft_wait(answer);
    sleep_for(duration_ns);
    weft_fulfill(answer);
    weft_wake(who, answer);
}

static void *client(void *unused)
{
    (void)unused;
    for (int i = 0; i < REQUESTS; i++) {
        weft_promise request = weft_create_from(WEFT_LOOP, "request", "GET /user");
        weft_run(request);
        get_connection(request);
        wait_for_answer(request, "SELECT user", 4 * MS);
        give_back();
        weft_fulfill(request);
        weft_run(WEFT_LOOP);
        sleep_for(10 * MS);
    }
    return NULL;
}

static void *make_report(void *unused)
{
    (void)unused;
    sleep_for(50 * MS);
    weft_promise report = weft_create_from(WEFT_LOOP, "task", "report");
    weft_run(report);
    get_connection(report);
    wait_for_answer(report, "SELECT all users", 8 * MS);
    if (!bad)
        give_back();
    wait_for_answer(report, "printer", 200 * MS);
    if (bad)
        give_back();
    weft_fulfill(report);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[CLIENTS + REPORTS];
    bad = wants_bad(argc, argv);
    pool = weft_create("pool", "connections");
    weft_background(pool);
    for (int i = 0; i < CLIENTS + REPORTS; i++)
        pthread_create(&threads[i], NULL, i < CLIENTS ? client : make_report, NULL);
    for (int i = 0; i < CLIENTS + REPORTS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
