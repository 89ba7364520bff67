/* SPDX-License-Identifier: ISC */
/* A main loop sleeps in poll. A callback that runs a loop of its own for another context, as calls do that wait for their
 * result, or that calls poll otherwise, blocks the loop that has called it: then that does not sleep. */
#include "glib.h"

#include <poll.h>
#include <signal.h>

REAL_OF(g_main_loop_run, GLIB_SONAME);
REAL_OF(g_main_loop_get_context, GLIB_SONAME);
REAL_OF(g_main_context_iteration, GLIB_SONAME);
REAL_OF(g_main_context_default, GLIB_SONAME);
REAL_OF(poll, "libc.so.6");
REAL_OF(ppoll, "libc.so.6");

struct before {
    GMainContext *context;
    weft_promise running;
};

static struct before enter(GMainContext *context)
{
    struct glib_thread *t = &glib_thread;
    const struct before before = {t->context, t->running};
    glib_tasks_name();
    t->context = context ? context : REAL(g_main_context_default)();
    t->loops++;
    if (t->running && t->context != before.context && t->asked)
        weft_wait(t->asked); /* it calls by D-Bus, and waits here */
    return before;
}

static void leave(struct before before)
{
    struct glib_thread *t = &glib_thread;
    glib_tasks_name();
    t->context = before.context;
    t->loops--;
    if (before.running)
        weft_run(before.running); /* the loop ran last */
}

ADAPTER_EXPORT void g_main_loop_run(GMainLoop *loop)
{
    if (!loop || !glib_on()) {
        REAL(g_main_loop_run)(loop);
        return;
    }
    const struct before before = enter(REAL(g_main_loop_get_context)(loop));
    REAL(g_main_loop_run)(loop);
    leave(before);
}

ADAPTER_EXPORT gboolean g_main_context_iteration(GMainContext *context, gboolean may_block)
{
    if (!glib_on())
        return REAL(g_main_context_iteration)(context, may_block);
    const struct before before = enter(context);
    const gboolean dispatched = REAL(g_main_context_iteration)(context, may_block);
    leave(before);
    return dispatched;
}

/* ---- Sleep ---- */

static bool is_glib(const void *code)
{
    static struct adapter_range glib;
    return adapter_is_in(&glib, (const void *)REAL(g_main_loop_run), code);
}

/* Whether this thread's loop sleeps if GLib polls. */
static bool sleeps(const void *caller)
{
    const struct glib_thread *t = &glib_thread;
    if (t->loops == 0 || !glib_on() || !is_glib(caller)) /* first what is cheap for all who poll */
        return false;
    return t->callbacks == 0 || (t->loops > t->callback_loops && t->context == t->callback_context);
}

ADAPTER_EXPORT int poll(struct pollfd *fds, nfds_t n, int timeout)
{
    if (timeout == 0 || !sleeps(__builtin_return_address(0)))
        return REAL(poll)(fds, n, timeout);
    glib_tasks_name();
    weft_suspend(WEFT_WAIT_FOR_WORK);
    const int ready = REAL(poll)(fds, n, timeout);
    weft_resume();
    return ready;
}

ADAPTER_EXPORT int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
                         const sigset_t *mask)
{
    if ((timeout && timeout->tv_sec == 0 && timeout->tv_nsec == 0) ||
        !sleeps(__builtin_return_address(0)))
        return REAL(ppoll)(fds, n, timeout, mask);
    glib_tasks_name();
    weft_suspend(WEFT_WAIT_FOR_WORK);
    const int ready = REAL(ppoll)(fds, n, timeout, mask);
    weft_resume();
    return ready;
}
