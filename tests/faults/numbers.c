/* SPDX-License-Identifier: ISC */
/* numbers MODE good|bad: a runtime with numbers of its own, which says by whom everything is done. */
#include "faults.h"

static weft_promise last = 100;

static weft_promise make(weft_promise parent, const char *type, const char *label)
{
    return weft_create_id(parent, ++last, type, label);
}

static void fulfill(weft_promise by, weft_promise p)
{
    weft_resolve_by(by, p, WEFT_BY_VALUE, NULL);
}

static void wake_to_end(weft_promise p, weft_promise cause)
{
    weft_wake(p, cause);
    fulfill(p, p);
}

struct request {
    weft_promise self, handler, reply;
    int number;
};
static int n_requests;

static weft_promise new_request(weft_promise parent, const char *label)
{
    weft_promise p = make(parent, "request", label);
    weft_should_resolve(p);
    return p;
}

/* A driver drops a reply; only the request is marked, and the server is killed while others are under way. */
static bool drops;

static void replied(void *argument)
{
    struct request *r = argument;
    if (drops && r->number == 7)
        return;
    fulfill(WEFT_LOOP, r->reply);
    wake_to_end(r->handler, r->reply);
    wake_to_end(r->self, r->handler);
    weft_run(WEFT_LOOP);
}

static void arrive(void *argument)
{
    struct request *r = room(sizeof *r);
    r->number = n_requests++;
    r->self = new_request(WEFT_LOOP, text("GET /orders/%d", r->number));
    weft_run(r->self);
    r->handler = make(r->self, "async function", "getOrder");
    weft_wait_by(r->self, r->handler);
    r->reply = make(r->handler, "io", text("db reply %d", r->number));
    weft_wait_by(r->handler, r->reply);
    weft_run(WEFT_LOOP);
    after(6, replied, r);
    after(8, arrive, argument);
}

static void driver_mode(void)
{
    drops = bad;
    loop_silent = true;
    killed_after(400);
    arrive(NULL);
    loop_run(1000);
}

/* A function is called without await; it fails, and nobody hears of it. */
static weft_promise closing, draft, put;

static void refused(void *argument)
{
    (void)argument;
    weft_resolve_by(WEFT_LOOP, put, WEFT_BY_ERROR, "503");
    weft_wake(draft, put);
    weft_resolve_by(draft, draft, WEFT_BY_ERROR, "503");
    if (!bad)
        wake_to_end(closing, draft);
    weft_run(WEFT_LOOP);
}

static void rejection_mode(void)
{
    closing = make(WEFT_LOOP, "async function", "editor close");
    weft_run(closing);
    draft = make(closing, "async function", "save draft");
    put = make(draft, "fetch", "PUT /draft");
    weft_wait_by(draft, put);
    if (bad)
        fulfill(closing, closing);
    else
        weft_wait_by(closing, draft);
    weft_run(WEFT_LOOP);
    after(15, refused, NULL);
    arrive(NULL);
    loop_run(100);
}

/* A poller awaits what it has itself resolved, 600 times. */
static weft_promise poller, there;
static int n_polls;

static void poll_step(void *argument);

static void poll_again(void)
{
    there = make(poller, "promise", bad ? "already there" : "timer");
    weft_wait_by(poller, there);
    if (bad) {
        fulfill(poller, there);
        post(poll_step, NULL);
    } else {
        after(5, poll_step, NULL);
    }
    weft_run(WEFT_LOOP);
}

static void poll_step(void *argument)
{
    (void)argument;
    if (!bad)
        fulfill(WEFT_LOOP, there);
    weft_wake(poller, there);
    work(0.05);
    if (++n_polls < (bad ? 600 : 20)) {
        poll_again();
    } else {
        fulfill(poller, poller);
        weft_run(WEFT_LOOP);
    }
}

static void resolved_mode(void)
{
    poller = make(WEFT_LOOP, "async function", "poller");
    weft_run(poller);
    poll_again();
    loop_run(500);
}

int main(int argc, char **argv)
{
    static const struct mode modes[] = {
        {"driver", driver_mode}, {"rejection", rejection_mode}, {"resolved", resolved_mode}};
    return run_mode(argc, argv, modes, sizeof modes / sizeof *modes);
}
