/* SPDX-License-Identifier: ISC */
/* queue_growth good|bad: orders that come every 2 ms.
 *
 * Wrong: one after the other is checked, which takes 3 ms each, so that each order waits longer than the one before.
 * Mended: two are checked at a time. */
#include "bugs.h"

#define ORDERS 70

static bool bad;
static weft_promise network, checks;
static struct promise orders[ORDERS];
static unsigned come, begun, ended;

static void check_next(void);

static void on_checked(void)
{
    promise_fulfill(&orders[ended++]);
    if (ended == ORDERS)
        program_done();
    check_next();
}

static unsigned at_a_time(void)
{
    return bad ? 1 : 2;
}

static void check_next(void)
{
    if (begun < come && begun - ended < at_a_time()) {
        begun++;
        loop_after(3 * MS, checks, on_checked);
    }
}

static void on_order(void)
{
    orders[come++] = promise_new(weft_create_from(WEFT_LOOP, "request", "POST /order"));
    weft_should_resolve(orders[come - 1].id);
    check_next();
    if (come < ORDERS)
        loop_after(2 * MS, network, on_order);
}

static void program_start(void)
{
    network = weft_create("task", "network");
    checks = weft_create("task", "checks");
    weft_background(network);
    weft_background(checks);
    loop_start(network, on_order);
}

int main(int argc, char **argv)
{
    bad = wants_bad(argc, argv);
    return program_run(program_start);
}
