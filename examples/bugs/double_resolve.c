/* SPDX-License-Identifier: ISC */
/* double_resolve good|bad: payments of which one is confirmed twice.
 *
 * Wrong: a worker looks at the payment that is first in the list, talks to the bank, and takes it off the list when
 * that has answered. Meanwhile the other worker looks at the same one. Both confirm it: the second one believes that the
 * customer has its receipt, but the first one counts, and the money has gone twice.
 * Mended: who begins with a payment takes it off the list at once. */
#include <stdio.h>

#include "bugs.h"

#define PAYMENTS 6

static bool bad;
static struct promise payment[PAYMENTS];
static weft_promise worker[2];
static int first, at[2];

static void work_on(int w);

static void confirm(int w)
{
    promise_fulfill(&payment[at[w]]);
    if (bad && at[w] == first)
        first++;
    work_on(w);
}

static void confirm_0(void)
{
    confirm(0);
}

static void confirm_1(void)
{
    confirm(1);
}

static void work_on(int w)
{
    if (first == PAYMENTS)
        return;
    at[w] = first;
    if (!bad)
        first++;
    loop_after((w ? 7 : 5) * MS, worker[w], w ? confirm_1 : confirm_0);
}

static void start_0(void)
{
    work_on(0);
}

static void start_1(void)
{
    work_on(1);
}

static void program_start(void)
{
    for (int i = 0; i < PAYMENTS; i++) {
        char label[24];
        snprintf(label, sizeof label, "payment %d", i + 1);
        payment[i] = promise_new(weft_create("receipt", label));
    }
    promise_await(&payment[PAYMENTS - 1], program_done);
    worker[0] = weft_create("task", "worker 1");
    worker[1] = weft_create("task", "worker 2");
    loop_start(worker[0], start_0);
    loop_start(worker[1], start_1);
}

int main(int argc, char **argv)
{
    bad = wants_bad(argc, argv);
    return program_run(program_start);
}
