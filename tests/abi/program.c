/* SPDX-License-Identifier: ISC */
/* A program of some version of the header, C or C++: records to argv[1] what each version can say. Its options lie at
 * the end of a page, with size 0 or, if argv[2] is "sized", its own. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <weft/weft.h>

#ifdef __cplusplus
extern "C"
#endif
    weft_promise
    plugged(weft_promise parent); /* of a plug-in, perhaps of another version; see plugin.c */

static struct weft_counter counter = WEFT_COUNTER("counter");

static struct weft_options *at_end_of_page(void)
{
    char *two =
        (char *)mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (two == (char *)MAP_FAILED || mprotect(two + 4096, 4096, PROT_NONE))
        return NULL;
    return (struct weft_options *)(void *)(two + 4096 - sizeof(struct weft_options));
}

static void every_call(const char *text)
{
    weft_promise p = weft_create("task", "literal"), q = weft_create_from(p, text, NULL);
    weft_promise before = weft_run(p), plug = plugged(p);
    weft_wait(q);
    weft_wait_by(p, plug);
    weft_suspend(WEFT_WAIT_FOR_WORK);
    weft_resume();
    weft_fulfill(q);
    weft_wake(p, q);
    weft_signal(p, plug);
    weft_read(p, q);
    weft_label(p, text);
    weft_label(p, "other");
    weft_notify(plug);
    weft_notify_by(p, plug);
    weft_should_resolve(p);
    weft_background(plug);
    weft_fail(weft_create("failing", text), text);
    weft_resolve(weft_create("resolved", "r"));
    weft_cancel(weft_create("cancelled", "c"));
    weft_forget(weft_create("forgotten", "f"));
    weft_become(weft_create("becoming", "b"), p);
    weft_resolve_by(p, plug, WEFT_BY_ERROR, "reason");
    weft_counter_add(&counter, 5);
    weft_counter_set(&counter, -1);
    weft_gc(1000);
    weft_run(before);
    weft_create_id(p, UINT64_MAX - 1, "own number", text);
}

int main(int argc, char **argv)
{
    struct weft_options *o = at_end_of_page();
    if (argc < 2 || !o)
        return 2;
    o->size = argc > 2 && !strcmp(argv[2], "sized") ? sizeof *o : 0;
    o->path = argv[1];
    o->bytes = 1 << 20;
    o->flags = WEFT_START_PAUSED;
    int rc = weft_start(o);
    every_call("while it is paused");
    weft_unpause();
    every_call("while it records");
    weft_pause();
    every_call("while it is paused again");
    weft_standby(1);
    if (!weft_create("number", "only"))
        rc = 1;
    weft_standby(0);
    weft_stop();
    every_call("afterwards");
    if (rc)
        printf("it went wrong: %d\n", rc);
    return rc != 0;
}
