/* SPDX-License-Identifier: ISC */
/* stopped good|bad: a heartbeat that stops.
 *
 * Wrong: each beat sets the timer for the next one, at its end. One beat finds that the line is busy, and returns
 * before that: there is never another one. Nothing fails, nobody waits.
 * Mended: the timer is set on every path. */
#include "bugs.h"

#define BEATS 20

static bool bad;
static struct promise pause_, request, reply;
static weft_promise heartbeat, network;
static int beats, answers;

static void on_time(void)
{
    promise_fulfill(&pause_);
}

static void beat(void);

static void set_timer(void)
{
    pause_ = promise_new(weft_create("timer", "5 ms"));
    loop_after(5 * MS, WEFT_LOOP, on_time);
    promise_await(&pause_, beat);
}

static void beat(void)
{
    bool busy = ++beats == BEATS / 2;
    if (bad && busy)
        return;
    if (!busy)
        weft_label(heartbeat, "beat");
    set_timer();
}

/* What the program does beside that. */
static void on_reply(void)
{
    promise_fulfill(&reply);
}

static void ask(void)
{
    if (++answers == BEATS) {
        promise_fulfill(&request);
        program_done();
        return;
    }
    reply = promise_new(weft_create("reply", "page"));
    loop_after(10 * MS, network, on_reply);
    promise_await(&reply, ask);
}

static void program_start(void)
{
    network = weft_create("task", "network");
    weft_background(network);
    heartbeat = weft_create("task", "heartbeat");
    weft_background(heartbeat);
    loop_start(heartbeat, set_timer);
    request = promise_new(weft_create("request", "GET /all"));
    loop_start(request.id, ask);
}

int main(int argc, char **argv)
{
    bad = wants_bad(argc, argv);
    return program_run(program_start);
}
