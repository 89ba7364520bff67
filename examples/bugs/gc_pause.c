/* SPDX-License-Identifier: ISC */
/* gc_pause good|bad: answers that come late, since garbage is collected.
 *
 * Wrong: each tenth request fills the cache anew, and the old one is garbage. It is collected at once, all of it: for 30 ms
 * nobody gets his answer.
 * Mended: it is collected in small steps, one after each request. */
#include "bugs.h"

#define REQUESTS 30

static bool bad;
static weft_promise network;
static struct promise request, row;
static int answered;

static void collect(uint64_t duration_ns)
{
    work(duration_ns);
    weft_gc(duration_ns); /* a runtime with a collector tells it */
}

static void on_row(void)
{
    promise_fulfill(&row);
}

static void fill_cache(void)
{
    if (bad)
        collect(30 * MS);
}

static void request_start(void);

static void request_done(void)
{
    promise_fulfill(&request);
    if (!bad)
        collect(MS);
    if (++answered == REQUESTS)
        program_done();
    else
        loop_after(MS, network, request_start);
}

static void request_query(void)
{
    row = promise_new(weft_create("query", "SELECT page"));
    loop_after(2 * MS, WEFT_LOOP, on_row);
    promise_await(&row, request_done);
    if (answered % 10 == 9)
        loop_after(MS, weft_create("task", "fill cache"), fill_cache);
}

static void request_start(void)
{
    request = promise_new(weft_create("request", "GET /page"));
    weft_should_resolve(request.id);
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
