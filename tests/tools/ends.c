/* SPDX-License-Identifier: ISC */
/* ends WHAT FILE: records into FILE how promises end that are out of the ordinary.
 *
 *     older      one that is older than the recording is waited for, and nobody ever resolves it
 *     lapped     … and then the ring goes round, many times
 *     again      the same in a second recording of the process
 *     own        as older, with numbers of the program's own
 *     twice      several ends of one promise: by another one, by itself, by a failure, by a becoming; and one that is
 *                resolved after it was cancelled, which is nothing out of the ordinary
 *     killed     one waits for another, and the program is killed in its sleep
 *     nothing    nothing at all is recorded */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <weft/weft.h>

static const char *what, *file;

static int is(const char *name)
{
    return strcmp(what, name) == 0;
}

static void start(void)
{
    struct weft_options o = {.path = file, .bytes = 1 << 20};
    if (weft_start(&o) < 0) {
        fprintf(stderr, "ends: cannot record into %s\n", file);
        _exit(1);
    }
}

static void rest(void)
{
    weft_run(WEFT_LOOP);
    weft_suspend(WEFT_WAIT_FOR_WORK);
}

static void older(void)
{
    weft_promise slots;
    weft_standby(1);
    if (is("again"))
        start();
    slots = is("own") ? 1000 : weft_create("semaphore", "slots");
    if (is("again"))
        weft_stop();
    start();
    for (int i = 0; is("lapped") && i < 200000; i++)
        weft_fulfill(weft_create("request", "GET /other"));
    weft_promise request = weft_create("request", "GET /");
    weft_should_resolve(request);
    weft_run(request);
    weft_wait(slots);
    rest();
    usleep(200000);
    weft_resume();
}

static void twice(void)
{
    static const char *const names[] = {"value", "itself", "error", "same", "cancelled"};
    start();
    weft_promise main_task = weft_create("task", "main"), late = weft_create("task", "late");
    weft_promise reply[5];
    weft_run(main_task);
    for (int i = 0; i < 5; i++) {
        reply[i] = weft_create("reply", names[i]);
        if (i < 4)
            weft_fulfill(reply[i]);
    }
    weft_cancel(reply[4]);
    weft_cancel(reply[0]);
    weft_run(late);
    weft_fulfill(reply[0]);
    weft_resolve_by(reply[1], reply[1], WEFT_BY_VALUE, NULL);
    weft_fail(reply[2], "too late");
    weft_become(reply[3], main_task);
    weft_fulfill(reply[4]);
    weft_run(main_task);
    weft_fulfill(late);
    weft_fulfill(main_task);
    weft_run(WEFT_LOOP);
}

static void killed(void)
{
    start();
    weft_promise main_task = weft_create("task", "main");
    weft_should_resolve(main_task);
    weft_run(main_task);
    weft_wait(weft_create("reply", "answer"));
    rest();
    raise(SIGKILL);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: ends older|lapped|again|own|twice|killed|nothing FILE\n");
        return 2;
    }
    what = argv[1];
    file = argv[2];
    if (is("twice"))
        twice();
    else if (is("killed"))
        killed();
    else if (is("nothing"))
        start();
    else
        older();
    weft_stop();
    return 0;
}
