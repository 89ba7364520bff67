/* SPDX-License-Identifier: ISC */
/* never_resolved good|bad: an upload that is given up, and nobody is told.
 *
 * Wrong: when the server is busy, the upload tries again, three times. After the third time nothing is done.
 * Nothing hangs behind it, so nobody notices: it is neither done, nor did it fail.
 * Mended: an upload that is given up ends, too; here it is cancelled. */
#include "bugs.h"

static bool bad;
static weft_promise network;
static struct promise upload, post, evening;
static int tries;

static void on_answer(void)
{
    promise_fail(&post, "503 busy");
}

static void upload_try(void);

static void upload_failed(void)
{
    if (tries < 3)
        loop_after(10 * MS, upload.id, upload_try);
    else if (!bad)
        weft_cancel(upload.id);
}

static void upload_try(void)
{
    tries++;
    post = promise_new(weft_create("request", "POST cat.jpg"));
    loop_after(10 * MS, network, on_answer);
    promise_await(&post, upload_failed);
}

static void on_evening(void)
{
    promise_fulfill(&evening);
}

static void program_start(void)
{
    network = weft_create("task", "network");
    weft_background(network);
    upload = promise_new(weft_create("upload", "cat.jpg"));
    weft_should_resolve(upload.id);
    loop_start(upload.id, upload_try);
    evening = promise_new(weft_create("timer", "closing time"));
    loop_after(200 * MS, WEFT_LOOP, on_evening);
    promise_await(&evening, program_done);
}

int main(int argc, char **argv)
{
    bad = wants_bad(argc, argv);
    return program_run(program_start);
}
