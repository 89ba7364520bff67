/* SPDX-License-Identifier: ISC */
/* swallowed_failure good|bad: a letter that is gone, although the program says "saved".
 *
 * Wrong: saving is started, and nobody looks at how it ends. The disk is full.
 * Mended: wait for it, and say so, or do something about it. */
#include <stdio.h>

#include "bugs.h"

static bool bad;
static weft_promise disk;
static struct promise save, sync_done;

static void on_written(void)
{
    promise_fail(&save, "disk full");
}

static void on_synced(void)
{
    promise_fulfill(&sync_done);
}

static void close_window(void)
{
    if (save.failed)
        puts("not saved: disk full");
    else
        puts("saved"); /* or so we think */
    sync_done = promise_new(weft_create("write", "window position"));
    loop_after(30 * MS, disk, on_synced);
    promise_await(&sync_done, program_done);
}

static void program_start(void)
{
    disk = weft_create("task", "disk");
    weft_background(disk);
    save = promise_new(weft_create("write", "letter.txt"));
    loop_after(20 * MS, disk, on_written);
    if (bad)
        close_window();
    else
        promise_await(&save, close_window);
}

int main(int argc, char **argv)
{
    bad = wants_bad(argc, argv);
    return program_run(program_start);
}
