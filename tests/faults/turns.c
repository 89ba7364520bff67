/* SPDX-License-Identifier: ISC */
/* turns MODE good|bad: what goes wrong among callbacks that take turns on an event loop. */
#include "faults.h"

static weft_promise task, reply;

static void end(weft_promise p)
{
    weft_fulfill(p);
    weft_run(WEFT_LOOP);
}

/* A reply is there, but many small jobs that came before it have their turn first. */
static weft_promise thumbnails[12];

static void thumbnail(void *argument)
{
    weft_run(*(weft_promise *)argument);
    work(3);
    end(*(weft_promise *)argument);
}

static void list(void *argument)
{
    (void)argument;
    for (int i = 0; i < 12; i++) {
        thumbnails[i] = weft_create("thumbnail", text("thumb %d", i));
        post(thumbnail, &thumbnails[i]);
    }
}

static void check_out(void *argument)
{
    (void)argument;
    weft_wake(task, reply);
    work(0.3);
    end(task);
}

static void paid(void *argument)
{
    weft_fulfill(reply);
    if (bad)
        post(check_out, argument);
    else
        check_out(argument);
}

static void starved_mode(void)
{
    loop_budget = 1;
    task = weft_create("request", "checkout");
    weft_should_resolve(task);
    weft_run(task);
    reply = weft_create("rpc", "payment");
    weft_wait(reply);
    weft_run(WEFT_LOOP);
    after(5, paid, NULL);
    after(4, list, NULL);
    loop_run(200);
}

/* Two tasks hand on to each other what neither of them can do. */
static struct side {
    weft_promise self, item;
} sides[2];
static int hops;

static void hop(void *argument)
{
    struct side *s = argument, *other = s == sides ? sides + 1 : sides;
    weft_signal(s->self, s->item);
    if (++hops < (bad ? 6000 : 4)) {
        weft_notify(other->item);
        post(hop, other);
        work(0.005);
    }
    weft_wait(s->item);
    weft_run(WEFT_LOOP);
}

static void pingpong_mode(void)
{
    loop_silent = true;
    for (int i = 0; i < 2; i++) {
        sides[i].self = weft_create("task", i ? "right balancer" : "left balancer");
        sides[i].item = weft_create("condition", i ? "right has item" : "left has item");
        weft_background(sides[i].self);
        weft_wait_by(sides[i].self, sides[i].item);
    }
    weft_notify(sides[0].item);
    post(hop, sides);
    loop_run(200);
}

/* Each reconnect adds a task that listens; the old ones are not removed. */
static weft_promise drained, listener;
static int reconnects;

static void reconnect(void *argument)
{
    if (listener && !bad) {
        weft_notify(drained);
        weft_signal(listener, drained);
        end(listener);
    }
    listener = weft_create("listener", "drain listener");
    weft_wait_by(listener, drained);
    if (++reconnects < 90)
        after(2, reconnect, argument);
}

static void listeners_mode(void)
{
    drained = weft_create("condition", "drained");
    weft_background(drained);
    reconnect(NULL);
    loop_run(1000);
}

int main(int argc, char **argv)
{
    static const struct mode modes[] = {
        {"starved", starved_mode}, {"pingpong", pingpong_mode}, {"listeners", listeners_mode}};
    return run_mode(argc, argv, modes, sizeof modes / sizeof *modes);
}
