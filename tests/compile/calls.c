/* SPDX-License-Identifier: ISC */
/* Every call of weft.h once, as C11 and as C++17: that it compiles without a warning and, compiled out, leaves
 * nothing behind. Not run. */
#include <weft/weft.h>

void use_all(const char *text, weft_promise p, weft_promise q);

static struct weft_counter queued = WEFT_COUNTER("queued");

void use_all(const char *text, weft_promise p, weft_promise q)
{
    struct weft_options options = {0, text, 0, NULL, NULL, 0, WEFT_START_PAUSED, 0};
    char buffer[WEFT_TEXT_MAX] = "";
    if (weft_start(&options) < 0 || weft_start(NULL) < 0)
        return;
    weft_pause();
    weft_unpause();
    weft_standby(1);
    p = weft_create("task", "literal");
    p = weft_create("task", NULL);
    p = weft_create(text, buffer);
    p = weft_create_from(weft_create("outer", text ? "yes" : "no"), text, "literal");
    p = weft_create_from(weft_create_from(p, "inner", NULL), "outer", NULL);
    p = weft_create_id(p, q, "timer", text);
    weft_promise before = weft_run(p);
    weft_wake(p, q);
    weft_signal(p, q);
    weft_suspend(WEFT_WAIT_FOR_WORK);
    weft_resume();
    weft_gc(1);
    weft_wait(p);
    weft_wait_by(p, q);
    weft_read(p, q);
    weft_fulfill(p);
    weft_fail(p, "literal");
    weft_fail(p, NULL);
    weft_fail(p, text);
    weft_resolve(p);
    weft_cancel(p);
    weft_forget(p);
    weft_become(p, q);
    weft_resolve_by(p, q, WEFT_BY_VALUE, NULL);
    weft_resolve_by(p, q, WEFT_BY_ERROR, text);
    weft_notify(p);
    weft_notify_by(p, q);
    weft_acquire(q);
    weft_acquire_by(p, q);
    weft_release(q);
    weft_release_by(p, q);
    weft_label(p, "literal");
    weft_label(p, buffer);
    if (text)
        weft_label(p, text); /* no braces: it is one statement */
    else
        weft_label(p, "none");
    weft_should_resolve(p);
    weft_background(p);
    weft_counter_add(&queued, 1);
    weft_counter_set(&queued, -1);
    weft_snapshot("slow");
    weft_run(before);
    weft_stop();
}
