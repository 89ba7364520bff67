/* SPDX-License-Identifier: ISC */
/* polling good|bad: a result that is looked for now and then.
 *
 * Wrong: whether the job is done is looked at every 20 ms. Mostly it has been for long.
 * Mended: wait for the job. */
#include "bugs.h"

#define REQUESTS 6

static bool bad;
static struct promise request, job, pause_;
static weft_promise network, worker;
static int answered;

static void on_done(void)
{
    promise_fulfill(&job);
}

static void on_time(void)
{
    promise_fulfill(&pause_);
}

static void request_start(void);

static void request_done(void)
{
    promise_fulfill(&request);
    if (++answered == REQUESTS)
        program_done();
    else
        loop_after(MS, network, request_start);
}

static void look(void)
{
    if (job.fulfilled) {
        promise_await(&job, request_done);
        return;
    }
    pause_ = promise_new(weft_create("timer", "20 ms"));
    loop_after(20 * MS, WEFT_LOOP, on_time);
    promise_await(&pause_, look);
}

static void request_job(void)
{
    job = promise_new(weft_create("job", "convert picture"));
    loop_after(25 * MS, worker, on_done);
    if (bad)
        look();
    else
        promise_await(&job, request_done);
}

static void request_start(void)
{
    request = promise_new(weft_create("request", "POST /picture"));
    loop_start(request.id, request_job);
}

static void program_start(void)
{
    worker = weft_create("task", "worker");
    weft_background(worker);
    network = weft_create("task", "network");
    weft_background(network);
    loop_after(MS, network, request_start);
}

int main(int argc, char **argv)
{
    bad = wants_bad(argc, argv);
    return program_run(program_start);
}
