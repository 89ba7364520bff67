/* SPDX-License-Identifier: ISC */
/* serial_waits good|bad: a page that takes as long as all its parts together.
 *
 * Wrong: the pictures of eight friends are fetched one after the other, though none needs another one.
 * Mended: start all of them, then wait for each. It takes as long as the slowest one. */
#include <stdio.h>

#include "bugs.h"

#define FRIENDS 8

static bool bad;
static weft_promise network;
static struct promise page, fetch[FRIENDS];
static int started, answered, got;

static void on_answer(void)
{
    promise_fulfill(&fetch[answered++]);
}

static void start_fetch(void)
{
    char label[32];
    snprintf(label, sizeof label, "GET /friends/%d.jpg", started);
    fetch[started++] = promise_new(weft_create("fetch", label));
    loop_after(15 * MS, network, on_answer);
}

static void page_next(void)
{
    if (got == FRIENDS) {
        promise_fulfill(&page);
        return;
    }
    if (bad)
        start_fetch();
    promise_await(&fetch[got++], page_next);
}

static void page_start(void)
{
    while (!bad && started < FRIENDS)
        start_fetch();
    page_next();
}

static void program_start(void)
{
    network = weft_create("task", "network");
    weft_background(network);
    page = promise_new(weft_create("request", "GET /friends"));
    weft_should_resolve(page.id);
    loop_start(page.id, page_start);
    promise_await(&page, program_done);
}

int main(int argc, char **argv)
{
    bad = wants_bad(argc, argv);
    return program_run(program_start);
}
