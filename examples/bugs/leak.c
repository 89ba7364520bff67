/* SPDX-License-Identifier: ISC */
/* leak good|bad: a server that keeps more and more time limits.
 *
 * Wrong: each request gets a time limit of 30 s. When the answer is there, nobody takes the limit back: it stays
 * in memory with all that it refers to, until its time comes. Under load that is more and more.
 * Mended: who has the answer cancels the limit. */
#include <stdlib.h>

#include "bugs.h"

#define REQUESTS 60

struct limit {
    struct limit *next;
    weft_promise id;
};

static bool bad;
static weft_promise network;
static struct promise request, row;
static struct weft_counter kept = WEFT_COUNTER("limits in memory"); /* a strip below the picture */
static struct limit *limits;
static int answered;

static void limit_start(void)
{
    struct limit *limit = calloc(1, sizeof *limit);
    if (!limit)
        abort();
    limit->id = weft_create("timer", "30 s limit");
    limit->next = limits;
    limits = limit;
    weft_counter_add(&kept, 1);
}

static void limit_cancel(void)
{
    struct limit *limit = limits;
    weft_cancel(limit->id);
    limits = limit->next;
    free(limit);
    weft_counter_add(&kept, -1);
}

static void on_row(void)
{
    promise_fulfill(&row);
}

static void request_start(void);

static void request_done(void)
{
    if (!bad)
        limit_cancel();
    promise_fulfill(&request);
    if (++answered == REQUESTS)
        program_done();
    else
        loop_after(MS, network, request_start);
}

static void request_query(void)
{
    limit_start();
    row = promise_new(weft_create("query", "SELECT page"));
    loop_after(MS, WEFT_LOOP, on_row);
    promise_await(&row, request_done);
}

static void request_start(void)
{
    request = promise_new(weft_create("request", "GET /page"));
    loop_start(request.id, request_query);
}

static void program_start(void)
{
    network = weft_create("task", "network");
    weft_background(network);
    loop_after(MS, network, request_start);
}

int main(int argc, char **argv)
{
    bad = wants_bad(argc, argv);
    return program_run(program_start);
}
