/* SPDX-License-Identifier: ISC */
/* straggler good|bad: a search that is as slow as the slowest of its four shards.
 *
 * Wrong: the third shard has a disk that fails, and takes ten times as long as the others; each search waits for it.
 * Mended: the shard has a new disk. */
#include <stdio.h>

#include "bugs.h"

#define SEARCHES 8
#define SHARDS 4

static bool bad;
static weft_promise network;
static struct promise search, part[SHARDS];
static int searches, got;

static void on_part_0(void)
{
    promise_fulfill(&part[0]);
}

static void on_part_1(void)
{
    promise_fulfill(&part[1]);
}

static void on_part_2(void)
{
    promise_fulfill(&part[2]);
}

static void on_part_3(void)
{
    promise_fulfill(&part[3]);
}

static void search_start(void);

static void search_next(void)
{
    if (got < SHARDS) {
        promise_await(&part[got++], search_next);
        return;
    }
    promise_fulfill(&search);
    if (++searches == SEARCHES)
        program_done();
    else
        loop_after(MS, network, search_start);
}

static void search_all(void)
{
    static callback *const on_part[SHARDS] = {on_part_0, on_part_1, on_part_2, on_part_3};
    for (int i = 0; i < SHARDS; i++) {
        char label[16];
        snprintf(label, sizeof label, "shard %d", i + 1);
        part[i] = promise_new(weft_create("rpc", label));
        loop_after(i == 2 && bad ? 20 * MS : 2 * MS, WEFT_LOOP, on_part[i]);
    }
    got = 0;
    search_next();
}

static void search_start(void)
{
    search = promise_new(weft_create("request", "GET /search"));
    weft_should_resolve(search.id);
    loop_start(search.id, search_all);
}

static void program_start(void)
{
    network = weft_create("task", "network");
    weft_background(network);
    loop_after(MS, network, search_start);
}

int main(int argc, char **argv)
{
    bad = wants_bad(argc, argv);
    return program_run(program_start);
}
