/* SPDX-License-Identifier: ISC */
/* The functions of GLib that attach a source. */
#include "glib.h"

#include <glib-unix.h>
#include <stdio.h>
#include <string.h>

REAL_OF(g_main_context_find_source_by_id, GLIB_SONAME);
REAL_OF(g_source_attach, GLIB_SONAME);
REAL_OF(g_source_set_callback, GLIB_SONAME);
REAL_OF(g_source_get_name, GLIB_SONAME);
REAL_OF(g_source_get_ready_time, GLIB_SONAME);
REAL_OF(g_get_monotonic_time, GLIB_SONAME);
REAL_OF(g_io_channel_unix_get_fd, GLIB_SONAME);
#define TABLES                                                                                     \
    TABLE(g_timeout_funcs)                                                                         \
    TABLE(g_idle_funcs)                                                                            \
    TABLE(g_child_watch_funcs)                                                                     \
    TABLE(g_unix_signal_funcs) TABLE(g_unix_fd_source_funcs) TABLE(g_io_watch_funcs)
#define TABLE(name) static void *real_##name;
TABLES
#undef TABLE

static const char *type_of(const GSourceFuncs *funcs)
{
    static const struct {
        void **place;
        const char *name, *type;
    } known[] = {{&real_g_timeout_funcs, "g_timeout_funcs", "timer"},
                 {&real_g_idle_funcs, "g_idle_funcs", "idle"},
                 {&real_g_child_watch_funcs, "g_child_watch_funcs", "child"},
                 {&real_g_unix_signal_funcs, "g_unix_signal_funcs", "signal"},
                 {&real_g_unix_fd_source_funcs, "g_unix_fd_source_funcs", "fd"},
                 {&real_g_io_watch_funcs, "g_io_watch_funcs", "fd"}};
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
        if (adapter_real(known[i].place, known[i].name, GLIB_SONAME) == (const void *)funcs)
            return known[i].type;
    return "source";
}

/* ---- Sources that the program attaches itself ---- */

static struct adapter_table callbacks; /* by source, until it is attached */

ADAPTER_EXPORT void g_source_set_callback(GSource *source, GSourceFunc callback, gpointer data,
                                          GDestroyNotify notify)
{
    if (source && (glib_on() || (adapter_on() && glib_is_invocation(data)))) {
        struct adapter_entry e = {.key = adapter_key(source), .callback = (void *)callback};
        e.promise = (uintptr_t)data;
        adapter_put(&callbacks, &e);
    }
    if (data && adapter_on())
        glib_call_replied(data);
    REAL(g_source_set_callback)(source, callback, data, notify);
}

enum { CALLBACK, CANCELLABLE }; /* what a table's entry is of */

void glib_source_waits(GSource *source, GCancellable *cancellable)
{
    const struct adapter_entry e = {
        .key = adapter_key(source), .kind = CANCELLABLE, .callback = cancellable};
    adapter_put(&callbacks, &e);
}

/* What a source that the program has made waits for. */
static const char *detail_of(GSource *source, const char *type, char text[ADAPTER_TEXT])
{
    const gint64 due = strcmp(type, "timer") == 0 ? REAL(g_source_get_ready_time)(source) : -1;
    const gint64 left = due < 0 ? 0 : due - REAL(g_get_monotonic_time)();
    const char *name = REAL(g_source_get_name)(source);
    *text = 0;
    if (due >= 0) /* it was made a moment ago, and is for whole milliseconds */
        return adapter_duration(text, left > 0 ? (uint64_t)(left + 999) / 1000 * 1000000 : 0);
    if (source->poll_fds)
        return adapter_descriptor(text, ((GPollFD *)source->poll_fds->data)->fd);
    if (name && strcmp(type, "idle") != 0) /* GLib itself calls it GIdleSource */
        snprintf(text, ADAPTER_TEXT, "%.200s", name);
    return *text ? text : NULL;
}

/* GIO's own: what decides how many threads work for tasks, and what its D-Bus thread reads and writes. */
static bool is_private(GSource *source)
{
    static const char *const names[] = {"GTask thread pool", "[gio] _g_dbus_worker_do_initial_read",
                                        "[gio] continue_writing_in_idle_cb"};
    const char *name = REAL(g_source_get_name)(source);
    for (unsigned i = 0; name && i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

ADAPTER_EXPORT guint g_source_attach(GSource *source, GMainContext *context)
{
    char text[ADAPTER_TEXT];
    struct adapter_entry e, cancellable = {0};
    if (!source || !source->source_funcs || !adapter_on() || is_private(source))
        return REAL(g_source_attach)(source, context);
    if (!adapter_take(&callbacks, adapter_key(source), 0, &e)) {
        if (!glib_on())
            return REAL(g_source_attach)(source, context);
        e = (struct adapter_entry){0};
    }
    const char *type = type_of(source->source_funcs);
    gpointer data = (gpointer)(uintptr_t)e.promise;
    const void *code = e.callback ? e.callback : (void *)source->source_funcs->dispatch;
    if ((const void *)code == (void *)glib_on_dispatch)
        code = (void *)glib_dispatch_of(source->source_funcs);
    if (adapter_take(&callbacks, adapter_key(source), CANCELLABLE, &cancellable))
        type = "cancelled";
    const weft_promise p = glib_source_create(code, data, type, detail_of(source, type, text));
    if (cancellable.callback)
        weft_wait_by(p ? p : glib_task_promise(data),
                     glib_cancellable_promise(cancellable.callback));
    glib_patch(source->source_funcs);
    glib_source_put(source, p, data, type);
    adapter_enter();
    const guint id = REAL(g_source_attach)(source, context);
    adapter_leave();
    return id;
}

/* ---- Functions that make a source and attach it to the default context ---- */

static guint added(guint id, weft_promise p, gpointer data, const char *type)
{
    GSource *source = id ? REAL(g_main_context_find_source_by_id)(NULL, id) : NULL;
    if (source) {
        glib_patch(source->source_funcs);
        glib_source_put(source, p, data, type);
    } else {
        weft_resolve(p); /* another thread has called it, and it is gone */
    }
    glib_added();
    return id;
}

#define ADD(name, parameters, arguments, callback, type, detail)                                   \
    REAL_OF(name, GLIB_SONAME);                                                                    \
    ADAPTER_EXPORT guint name parameters                                                           \
    {                                                                                              \
        char text[ADAPTER_TEXT];                                                                   \
        (void)text;                                                                                \
        if (!glib_on())                                                                            \
            return REAL(name) arguments;                                                           \
        const weft_promise p = glib_source_create((void *)(callback), data, type, detail);         \
        glib_adding();                                                                             \
        adapter_enter();                                                                           \
        const guint id = REAL(name) arguments;                                                     \
        adapter_leave();                                                                           \
        return added(id, p, data, type);                                                           \
    }

static char *number(char text[ADAPTER_TEXT], const char *what, long n)
{
    snprintf(text, ADAPTER_TEXT, "%s%ld", what, n);
    return text;
}

#define MS adapter_duration(text, (uint64_t)interval * 1000000)
#define SECONDS adapter_duration(text, (uint64_t)interval * 1000000000)
#define FULL gint priority
#define FREE gpointer data, GDestroyNotify notify

#if !GLIB_CHECK_VERSION(2, 78, 0)
guint g_timeout_add_seconds_once(guint interval, GSourceOnceFunc f, gpointer data);
#endif
#undef g_idle_add
#undef g_timeout_add

/* clang-format off */
ADD(g_timeout_add, (guint interval, GSourceFunc f, gpointer data), (interval, f, data), f, "timer", MS)
ADD(g_timeout_add_full, (FULL, guint interval, GSourceFunc f, FREE), (priority, interval, f, data, notify), f, "timer", MS)
ADD(g_timeout_add_once, (guint interval, GSourceOnceFunc f, gpointer data), (interval, f, data), f, "timer", MS)
ADD(g_timeout_add_seconds, (guint interval, GSourceFunc f, gpointer data), (interval, f, data), f, "timer", SECONDS)
ADD(g_timeout_add_seconds_full, (FULL, guint interval, GSourceFunc f, FREE), (priority, interval, f, data, notify), f, "timer", SECONDS)
ADD(g_timeout_add_seconds_once, (guint interval, GSourceOnceFunc f, gpointer data), (interval, f, data), f, "timer", SECONDS)
ADD(g_idle_add, (GSourceFunc f, gpointer data), (f, data), f, "idle", NULL)
ADD(g_idle_add_full, (FULL, GSourceFunc f, FREE), (priority, f, data, notify), f, "idle", NULL)
ADD(g_idle_add_once, (GSourceOnceFunc f, gpointer data), (f, data), f, "idle", NULL)
ADD(g_child_watch_add, (GPid pid, GChildWatchFunc f, gpointer data), (pid, f, data), f, "child", number(text, "process ", pid))
ADD(g_child_watch_add_full, (FULL, GPid pid, GChildWatchFunc f, FREE), (priority, pid, f, data, notify), f, "child", number(text, "process ", pid))
ADD(g_unix_signal_add, (gint signum, GSourceFunc f, gpointer data), (signum, f, data), f, "signal", number(text, "signal ", signum))
ADD(g_unix_signal_add_full, (FULL, gint signum, GSourceFunc f, FREE), (priority, signum, f, data, notify), f, "signal", number(text, "signal ", signum))
ADD(g_unix_fd_add, (gint fd, GIOCondition condition, GUnixFDSourceFunc f, gpointer data), (fd, condition, f, data), f, "fd", adapter_descriptor(text, fd))
ADD(g_unix_fd_add_full, (FULL, gint fd, GIOCondition condition, GUnixFDSourceFunc f, FREE), (priority, fd, condition, f, data, notify), f, "fd", adapter_descriptor(text, fd))
ADD(g_io_add_watch, (GIOChannel *channel, GIOCondition condition, GIOFunc f, gpointer data), (channel, condition, f, data), f, "fd", adapter_descriptor(text, REAL(g_io_channel_unix_get_fd)(channel)))
ADD(g_io_add_watch_full, (GIOChannel *channel, FULL, GIOCondition condition, GIOFunc f, FREE), (channel, priority, condition, f, data, notify), f, "fd", adapter_descriptor(text, REAL(g_io_channel_unix_get_fd)(channel)))
/* clang-format on */
