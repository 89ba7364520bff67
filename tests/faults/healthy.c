/* SPDX-License-Identifier: ISC */
/* healthy MODE good: what looks like a fault, and is none. */
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "faults.h"

static int n_done;

/* ---- Servers, with callbacks ---- */

struct request {
    weft_promise connection, self, replies[2], limit;
    struct timer *timers[2];
    int number;
};

static struct request *new_request(const char *path)
{
    static int n;
    struct request *r = room(sizeof *r);
    r->number = n++;
    r->self = weft_create("request", text("%s %d", path, r->number));
    weft_should_resolve(r->self);
    weft_run(r->self);
    return r;
}

static void end(struct request *r)
{
    weft_fulfill(r->self);
    weft_run(WEFT_LOOP);
}

/* A race of two mirrors whose loser is cancelled, with a time limit; some requests come to it. Killed. */
static void mirrored(void *argument)
{
    struct request *r = argument;
    weft_fulfill(r->replies[0]);
    weft_wake(r->self, r->replies[0]);
    weft_cancel(r->replies[1]);
    weft_cancel(r->limit);
    drop(r->timers[1]);
    end(r);
}

static void limit_reached(void *argument)
{
    struct request *r = argument;
    drop(r->timers[0]);
    weft_fulfill(r->limit);
    weft_wake(r->self, r->limit);
    weft_cancel(r->replies[0]);
    weft_cancel(r->replies[1]);
    weft_fail(r->self, "504");
    weft_wake(r->connection, r->self);
    weft_fulfill(r->connection);
    weft_run(WEFT_LOOP);
}

static void accept_one(void *argument)
{
    weft_promise connection = weft_create("connection", "client");
    struct request *r = new_request("GET");
    r->connection = connection;
    weft_wait_by(connection, r->self);
    for (int i = 0; i < 2; i++) {
        r->replies[i] = weft_create("fetch", text("mirror %d", i + 1));
        weft_wait(r->replies[i]);
    }
    r->limit = weft_create("timer", "time limit");
    weft_wait(r->limit);
    weft_run(WEFT_LOOP);
    r->timers[0] = after(r->number % 9 == 5 ? 900 : 5 + r->number * 7 % 5, mirrored, r);
    r->timers[1] = after(180, limit_reached, r);
    after(3 + r->number % 9, accept_one, argument);
}

static void server(void)
{
    weft_promise accepting = weft_create("task", "accept");
    weft_background(accepting);
    weft_wait_by(accepting, weft_create("accept", "next connection"));
    killed_after(600);
    accept_one(NULL);
    loop_run(1000);
}

/* Some requests end with an error, of which their connection makes an answer in the same turn. */
static weft_promise client_;

static void found(void *argument)
{
    struct request *r = argument;
    weft_fulfill(r->replies[0]);
    weft_wake(r->self, r->replies[0]);
    if (r->number % 6 == 0)
        weft_fail(r->self, "404 not found");
    else
        weft_fulfill(r->self);
    weft_run(client_);
    weft_run(WEFT_LOOP);
}

static void get_file(void *argument)
{
    weft_run(client_);
    struct request *r = new_request("GET");
    r->replies[0] = weft_create("read", "file");
    weft_wait(r->replies[0]);
    weft_run(WEFT_LOOP);
    after(2, found, r);
    if (++n_done < 25)
        after(7, get_file, argument);
}

static void not_found(void)
{
    client_ = weft_create("connection", "client");
    get_file(NULL);
    loop_run(1000);
    weft_fulfill(client_);
}

/* ---- Threads: they compute for long, each job in a worker, where that is right ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queued = PTHREAD_COND_INITIALIZER;
static weft_promise work_id;
static struct request *queue[32], *ready[32];
static int n_queue, n_ready, n_bursts, wakeup;

static void *worker(void *argument)
{
    weft_promise self = weft_create("thread", text("worker %d", (int)(intptr_t)argument));
    uint64_t one = 1;
    weft_background(self);
    weft_run(self);
    pthread_mutex_lock(&lock);
    for (;;) {
        while (n_queue == 0) {
            weft_wait(work_id);
            weft_run(WEFT_LOOP);
            pthread_cond_wait(&queued, &lock);
            weft_signal(self, work_id);
        }
        struct request *r = queue[--n_queue];
        pthread_mutex_unlock(&lock);
        weft_run(r->replies[0]);
        work(25);
        weft_fulfill(r->replies[0]);
        weft_run(self);
        pthread_mutex_lock(&lock);
        ready[n_ready++] = r;
        must(write(wakeup, &one, sizeof one) == sizeof one);
    }
    return NULL;
}

static void on_ready(void *argument)
{
    uint64_t count;
    (void)argument;
    must(read(wakeup, &count, sizeof count) == sizeof count);
    pthread_mutex_lock(&lock);
    for (; n_ready > 0; n_done++) {
        struct request *r = ready[--n_ready];
        weft_wake(r->self, r->replies[0]);
        end(r);
    }
    pthread_mutex_unlock(&lock);
    if (n_done == 12)
        unwatch(wakeup);
}

static void burst(void *argument)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 4; i++) {
        struct request *r = queue[n_queue++] = new_request("resize");
        r->replies[0] = weft_create("job", "scale");
        weft_wait(r->replies[0]);
        weft_notify(work_id);
        pthread_cond_signal(&queued);
        weft_run(WEFT_LOOP);
    }
    pthread_mutex_unlock(&lock);
    if (++n_bursts < 3)
        after(60, burst, argument);
}

static void pool(void)
{
    pthread_t thread;
    wakeup = eventfd(0, 0);
    work_id = weft_create("condition", "work");
    weft_background(work_id);
    for (intptr_t i = 0; i < 3; i++)
        must(pthread_create(&thread, NULL, worker, (void *)i) == 0);
    nap(5);
    watch(wakeup, POLLIN, on_ready, NULL);
    burst(NULL);
    loop_run(1000);
}

/* ---- A long download, piece by piece, which goes on when the program is killed ---- */

static void next_chunk(void *argument)
{
    struct request *r = argument;
    if (r->replies[0]) {
        weft_fulfill(r->replies[0]);
        weft_wake(r->self, r->replies[0]);
    }
    r->replies[0] = weft_create("read", "read chunk");
    weft_wait(r->replies[0]);
    weft_run(WEFT_LOOP);
    after(4, next_chunk, r);
}

static void download(void)
{
    next_chunk(new_request("GET /big.iso"));
    killed_after(400);
    not_found();
}

int main(int argc, char **argv)
{
    static const struct mode modes[] = {
        {"server", server}, {"not_found", not_found}, {"pool", pool}, {"download", download}};
    return run_mode(argc, argv, modes, sizeof modes / sizeof *modes);
}
