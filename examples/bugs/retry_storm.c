/* SPDX-License-Identifier: ISC */
/* retry_storm good|bad: a client that connects again as soon as it was refused.
 *
 * Wrong: the server is down for a while, and refuses at once. The client tries again at once, hundreds of times:
 * this keeps the server from coming up, and fills the logs.
 * Mended: it waits before it tries again, each time for longer. */
#include "bugs.h"

static bool bad, up;
static struct promise session, attempt, pause_;
static weft_promise network;
static uint64_t pause_ns = 2 * MS;

static void server_up(void)
{
    up = true;
}

static void on_answer(void)
{
    if (up)
        promise_fulfill(&attempt);
    else
        promise_fail(&attempt, "connection refused");
}

static void attempt_start(void);

static void on_time(void)
{
    promise_fulfill(&pause_);
}

static void attempted(void)
{
    if (attempt.fulfilled) {
        promise_fulfill(&session);
    } else if (bad) {
        attempt_start();
    } else {
        pause_ = promise_new(weft_create("timer", "before the next attempt"));
        loop_after(pause_ns *= 2, WEFT_LOOP, on_time);
        promise_await(&pause_, attempt_start);
    }
}

static void attempt_start(void)
{
    attempt = promise_new(weft_create("connect", "database:5432"));
    loop_after(MS, network, on_answer);
    promise_await(&attempt, attempted);
}

static void program_start(void)
{
    network = weft_create("task", "network");
    weft_background(network);
    loop_after(60 * MS, network, server_up);
    session = promise_new(weft_create("task", "session"));
    weft_should_resolve(session.id);
    loop_start(session.id, attempt_start);
    promise_await(&session, program_done);
}

int main(int argc, char **argv)
{
    bad = wants_bad(argc, argv);
    return program_run(program_start);
}
