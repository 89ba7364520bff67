/* SPDX-License-Identifier: ISC */
/* loop_blocked good|bad: a small page that takes long, because somebody logs in.
 *
 * Wrong: checking a password is expensive on purpose, and is done in one go, by the thread of the event loop. All
 * other requests stand still meanwhile, though what they wait for is there.
 * Mended: in pieces, between which the loop runs. A thread of its own would do as well. */
#include "bugs.h"

#define ROUNDS 120

static bool bad;
static weft_promise disk;
static struct promise login, page, file;
static int rounds;

static void login_hash(void)
{
    do {
        work(MS); /* a round of bcrypt */
        rounds++;
    } while (bad && rounds < ROUNDS);
    if (rounds < ROUNDS)
        loop_after(MS, login.id, login_hash);
    else
        promise_fulfill(&login);
}

static void page_done(void)
{
    promise_fulfill(&page);
}

static void on_read(void)
{
    promise_fulfill(&file);
}

static void page_start(void)
{
    file = promise_new(weft_create("read", "index.html"));
    loop_after(20 * MS, disk, on_read);
    promise_await(&file, page_done);
}

static void login_wait(void)
{
    promise_await(&login, program_done);
}

static void program_start(void)
{
    disk = weft_create("task", "disk");
    weft_background(disk);
    page = promise_new(weft_create("request", "GET /index.html"));
    login = promise_new(weft_create("request", "POST /login"));
    loop_start(page.id, page_start);
    loop_after(10 * MS, login.id, login_hash);
    promise_await(&page, login_wait);
}

int main(int argc, char **argv)
{
    bad = wants_bad(argc, argv);
    return program_run(program_start);
}
