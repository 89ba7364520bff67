/* SPDX-License-Identifier: ISC */
/* drift good|bad: a measurement each 10 ms that comes each 13 ms.
 *
 * Wrong: when it has measured, which takes 3 ms, it sets a timer of 10 ms.
 * Mended: it sets the timer to when the next one is due, however long it took. */
#include "bugs.h"

#define TIMES 16

static bool bad;
static struct promise interval;
static weft_promise sampler;
static uint64_t woken_ns;
static int times;

static void on_time(void)
{
    promise_fulfill(&interval);
}

static void measure(void);

static void set_timer(void)
{
    uint64_t since_ns = bad ? time_ns() - woken_ns : 0;
    interval = promise_new(weft_create("interval", "10 ms"));
    loop_after(since_ns + 10 * MS, WEFT_LOOP, on_time); /* from when the loop woke on */
    promise_await(&interval, measure);
}

static void measure(void)
{
    woken_ns = time_ns();
    work(3 * MS);
    if (++times == TIMES) {
        weft_fulfill(sampler);
        program_done();
    } else {
        set_timer();
    }
}

static void begin(void)
{
    woken_ns = time_ns();
    set_timer();
}

static void program_start(void)
{
    sampler = weft_create("task", "sampler");
    loop_start(sampler, begin);
}

int main(int argc, char **argv)
{
    bad = wants_bad(argc, argv);
    return program_run(program_start);
}
