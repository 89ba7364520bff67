/* SPDX-License-Identifier: ISC */
/* healthy: a small server that does everything right, though much of it looks wrong at a glance: nothing may be
 * found in it. Each request asks two databases and takes the answer that comes first; the other question is
 * cancelled, and so is the time limit. A failure of one database is looked at. Nobody ever ends the task that
 * accepts connections, the wait for the next one, and the timer for idle ones.
 *
 * Its event loop is one as it is written by hand: timers that call back with a pointer. */
#include <poll.h>

#include "bugs.h"

#define REQUESTS 40
#define REPLICAS 2

struct request {
    weft_promise id, limit, query[REPLICAS];
    bool ended[REPLICAS], done;
};

struct timer {
    uint64_t at_ns;
    void (*call)(struct request *r, int which);
    struct request *request;
    int which;
};

static struct timer timers[REPLICAS * REQUESTS + 2];
static int n_timers;
static struct request requests[REQUESTS];
static int n_requests;
static weft_promise accepting, connection;

static void call_after(uint64_t ns, void (*call)(struct request *, int), struct request *r,
                       int which)
{
    timers[n_timers++] = (struct timer){time_ns() + ns, call, r, which};
}

static void request_done(struct request *r, int which)
{
    r->done = true;
    weft_wake(r->id, r->query[which]);
    work(MS / 5); /* makes a page of it */
    weft_fulfill(r->id);
    weft_run(WEFT_LOOP);
    for (int i = 0; i < REPLICAS; i++)
        if (!r->ended[i])
            weft_cancel(r->query[i]); /* it lost the race */
    weft_cancel(r->limit);
}

static void on_answer(struct request *r, int which)
{
    if (r->done)
        return; /* it comes too late: nobody wants it any more */
    r->ended[which] = true;
    if (which == 0 && (r - requests) % 8 == 3) {
        weft_fail(r->query[which], "connection lost");
        weft_wake(r->id, r->query[which]); /* and waits for the other one */
        weft_label(r->id, "one database left");
        weft_run(WEFT_LOOP);
        return;
    }
    weft_fulfill(r->query[which]);
    request_done(r, which);
}

static void on_connection(struct request *none, int unused)
{
    struct request *r = &requests[n_requests++];
    weft_fulfill(connection);
    weft_wake(accepting, connection);
    r->id = weft_create("request", "GET /");
    weft_should_resolve(r->id);
    connection = weft_create("accept", NULL);
    weft_wait(connection); /* the last one never comes */
    weft_run(r->id);
    r->limit = weft_create("timer", "time limit");
    for (int i = 0; i < REPLICAS; i++) {
        r->query[i] = weft_create("query", i == 0 ? "first database" : "second database");
        call_after(n_requests % 2 == i ? 4 * MS : 6 * MS, on_answer, r, i);
        weft_wait(r->query[i]);
    }
    weft_wait(r->limit);
    weft_run(WEFT_LOOP);
    if (n_requests < REQUESTS)
        call_after(3 * MS, on_connection, none, unused);
}

static void loop_turn(void)
{
    int next = 0;
    for (int i = 1; i < n_timers; i++)
        next = timers[i].at_ns < timers[next].at_ns ? i : next;
    struct timer t = timers[next];
    uint64_t now_ns = time_ns();
    if (t.at_ns > now_ns) {
        weft_suspend(WEFT_WAIT_FOR_WORK);
        poll(NULL, 0, (int)((t.at_ns - now_ns + MS - 1) / MS));
        weft_resume();
    }
    timers[next] = timers[--n_timers];
    t.call(t.request, t.which);
}

int main(void)
{
    accepting = weft_create("task", "accept connections");
    weft_background(accepting);
    weft_background(weft_create("timer", "close idle connections")); /* in 60 s */
    weft_run(accepting);
    connection = weft_create("accept", NULL);
    weft_wait(connection);
    weft_run(WEFT_LOOP);
    call_after(MS, on_connection, NULL, 0);
    while (n_timers > 0)
        loop_turn();
    return 0;
}
