/* SPDX-License-Identifier: ISC */
/* GTask. A task is created without saying what it is for; that follows immediately. So it is fresh until this thread does
 * something else that is recorded, and only then is its promise created, with what is known of it by then. */
#include "glib.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

REAL_OF(g_task_new, GIO_SONAME);
REAL_OF(g_task_run_in_thread, GIO_SONAME);
REAL_OF(g_task_run_in_thread_sync, GIO_SONAME);
REAL_OF(g_task_get_source_tag, GIO_SONAME);
REAL_OF(g_task_get_source_object, GIO_SONAME);
REAL_OF(g_task_get_name, GIO_SONAME);
REAL_OF(g_task_get_cancellable, GIO_SONAME);
REAL_OF(g_task_get_check_cancellable, GIO_SONAME);
REAL_OF(g_cancellable_is_cancelled, GIO_SONAME);
REAL_OF(g_task_return_pointer, GIO_SONAME);
REAL_OF(g_task_return_boolean, GIO_SONAME);
REAL_OF(g_task_return_int, GIO_SONAME);
REAL_OF(g_task_return_error, GIO_SONAME);
REAL_OF(g_error_new_valist, GLIB_SONAME);
REAL_OF(g_task_had_error, GIO_SONAME);
REAL_OF(g_async_result_get_user_data, GIO_SONAME);
REAL_OF(g_io_error_quark, GIO_SONAME);
REAL_OF(g_type_name_from_instance, GOBJECT_SONAME);
REAL_OF(g_propagate_error, GLIB_SONAME);

enum { FRESH = 1, INNER = 2, PROGRAMS = 4, BEGUN = 8, REPLY = 16, ENDED = 32 };

static struct adapter_table tasks;
static uint32_t naming; /* a thread looks at a task that another one might finalise */
static void (*own_constructed)(GObject *), (*own_finalize)(GObject *);
static void (*own_dispatch)(GObject *, guint, GParamSpec **);

static void forked(void)
{
    naming = 0;
}

ADAPTER_IN_CHILD(forked)

/* ---- Names ---- */

static gpointer user_data(GTask *task)
{
    return REAL(g_async_result_get_user_data)((GAsyncResult *)task);
}

static const char *object_type(GTask *task)
{
    GTypeInstance *object = REAL(g_task_get_source_object)(task);
    return object ? REAL(g_type_name_from_instance)(object) : NULL;
}

/* A task whose callback gets another task waits for this one: the other one cannot return before. */
static void put_wait(GTask *task, weft_promise p)
{
    const weft_promise waiter = glib_task_promise(user_data(task));
    if (waiter && waiter != p)
        weft_wait_by(waiter, p);
}

static void finish_name(GTask *task, struct adapter_entry *e)
{
    if (e->number & PROGRAMS && e->callback)
        weft_should_resolve(e->promise);
    e->number &= ~(uint32_t)FRESH;
    adapter_put(&tasks, e);
    put_wait(task, e->promise);
}

static void name(GTask *task, struct adapter_entry *e)
{
    struct glib_thread *t = &glib_thread;
    const void *tag = REAL(g_task_get_source_tag)(task);
    const char *object = object_type(task), *called = REAL(g_task_get_name)(task);
    if (t->next_type && object && strcmp(object, "SoupSession") == 0) {
        e->promise = adapter_create(NULL, t->next_type, t->next_label);
        t->next_type = NULL;
    } else {
        const void *code = tag ? tag : e->callback;
        e->promise = adapter_create(code, "task", object || code ? object : called);
    }
    finish_name(task, e);
}

void glib_tasks_name(void)
{
    struct glib_thread *t = &glib_thread;
    struct adapter_entry e;
    if (t->fresh_count == 0)
        return;
    adapter_lock(&naming);
    for (unsigned i = 0; i < t->fresh_count; i++)
        if (adapter_get(&tasks, adapter_key(t->fresh[i]), 0, &e) && e.number & FRESH)
            name(t->fresh[i], &e);
    t->fresh_count = 0;
    adapter_unlock(&naming);
}

static bool is_bus(GTask *task)
{
    const char *type = object_type(task);
    return type && (strcmp(type, "GDBusConnection") == 0 || strcmp(type, "GDBusProxy") == 0);
}

void glib_tasks_call(const char *method)
{
    struct glib_thread *t = &glib_thread;
    struct adapter_entry e;
    unsigned first = t->fresh_count;
    while (first > 0 && is_bus(t->fresh[first - 1]) &&
           (first == t->fresh_count || user_data(t->fresh[first]) == t->fresh[first - 1]))
        first--;
    const unsigned count = t->fresh_count - first;
    if (count == 0)
        return;
    GTask *calls[FRESH_MAX];
    memcpy(calls, t->fresh + first, count * sizeof *calls);
    t->fresh_count = first;
    glib_tasks_name();
    adapter_lock(&naming);
    t->asked = adapter_create(NULL, "dbus", method);
    weft_should_resolve(t->asked);
    for (unsigned i = 0; i < count; i++)
        if (adapter_get(&tasks, adapter_key(calls[i]), 0, &e)) {
            e.promise = t->asked;
            e.number = i > 0 ? INNER : (e.number & PROGRAMS) | (count == 1 ? REPLY : 0);
            adapter_put(&tasks, &e);
            if (i == 0)
                put_wait(calls[i], e.promise);
        }
    adapter_unlock(&naming);
}

weft_promise glib_task_promise(gconstpointer object)
{
    struct adapter_entry e;
    if (!object)
        return 0;
    return adapter_get(&tasks, adapter_key(object), 0, &e) ? e.promise
                                                           : glib_invocation_promise(object);
}

/* What gets the reply itself, as calls do that block, gets errors as replies. */
void glib_call_replied(gconstpointer task)
{
    char text[ADAPTER_TEXT];
    struct adapter_entry e;
    if (glib_thread.hidden <= 0 || !adapter_get(&tasks, adapter_key(task), 0, &e) ||
        !(e.number & REPLY) || !glib_error_reply(text))
        return;
    weft_fail(e.promise, text);
    weft_read(WEFT_LOOP, e.promise);
    e.promise = 0;
    adapter_put(&tasks, &e);
}

/* ---- Ends ---- */

static bool is_cancelled(const GError *error)
{
    return error->code == G_IO_ERROR_CANCELLED && error->domain == REAL(g_io_error_quark)();
}

static void fail(GTask *task, weft_promise p)
{
    const struct glib_thread *t = &glib_thread;
    GCancellable *cancellable = REAL(g_task_get_cancellable)(task);
    const bool stopped = cancellable && REAL(g_task_get_check_cancellable)(task) &&
                         REAL(g_cancellable_is_cancelled)(cancellable);
    if (stopped || (t->failed && t->cancelled))
        weft_cancel(p);
    else
        weft_fail(p, t->failed ? t->error : NULL);
    if (t->failed) /* whoever gets a result gets its error */
        weft_read(WEFT_LOOP, p);
}

/* Who continues with the task's result; 0: nobody that is known. */
static weft_promise waiter_of(GTask *task, weft_promise p)
{
    const weft_promise waiter = glib_task_promise(user_data(task));
    return waiter == p ? 0 : waiter;
}

weft_promise glib_task_begin(gconstpointer object, bool completes, weft_promise *p)
{
    struct adapter_entry e;
    GTask *task = (GTask *)(uintptr_t)object;
    *p = glib_task_promise(object);
    if (!completes || !adapter_get(&tasks, adapter_key(object), 0, &e))
        return weft_run(*p);
    glib_thread.failed = false;
    const weft_promise task_promise = *p;
    const weft_promise waiter = e.number & INNER ? 0 : waiter_of(task, task_promise);
    const bool ends = waiter && !(e.number & ENDED) && !REAL(g_task_had_error)(task);
    const weft_promise before = weft_run(e.number & ENDED ? WEFT_LOOP : task_promise);
    e.number |= BEGUN | (ends ? ENDED : 0);
    adapter_put(&tasks, &e);
    if (ends)
        weft_fulfill(task_promise);
    if (waiter && e.number & ENDED) {
        weft_wake(waiter, task_promise);
        *p = waiter;
    }
    return before;
}

/* The task returns. If somebody is known to wait for it, whoever runs now resolves it; otherwise it ends with its own callback.
 * error: NULL if there is none. */
static void returns(GTask *task, const GError *error)
{
    struct adapter_entry e;
    if (!task || !glib_on())
        return;
    glib_tasks_name();
    if (!adapter_get(&tasks, adapter_key(task), 0, &e) || e.number & INNER ||
        !waiter_of(task, e.promise))
        return;
    e.number |= ENDED;
    adapter_put(&tasks, &e);
    if (!error)
        weft_fulfill(e.promise);
    else if (is_cancelled(error))
        weft_cancel(e.promise);
    else
        weft_fail(e.promise, error->message);
}

ADAPTER_EXPORT void g_task_return_pointer(GTask *task, gpointer result, GDestroyNotify notify)
{
    returns(task, NULL);
    REAL(g_task_return_pointer)(task, result, notify);
}

ADAPTER_EXPORT void g_task_return_boolean(GTask *task, gboolean result)
{
    returns(task, NULL);
    REAL(g_task_return_boolean)(task, result);
}

ADAPTER_EXPORT void g_task_return_int(GTask *task, gssize result)
{
    returns(task, NULL);
    REAL(g_task_return_int)(task, result);
}

ADAPTER_EXPORT void g_task_return_error(GTask *task, GError *error)
{
    returns(task, error);
    REAL(g_task_return_error)(task, error);
}

ADAPTER_EXPORT void g_task_return_new_error(GTask *task, GQuark domain, gint code,
                                            const char *format, ...)
{
    va_list values;
    va_start(values, format);
    GError *error = REAL(g_error_new_valist)(domain, code, format, values);
    va_end(values);
    returns(task, error);
    REAL(g_task_return_error)(task, error);
}

ADAPTER_EXPORT void g_propagate_error(GError **to, GError *error)
{
    if (error && glib_on()) {
        struct glib_thread *t = &glib_thread;
        snprintf(t->error, sizeof t->error, "%.255s", error->message ? error->message : "");
        t->cancelled = is_cancelled(error);
        t->failed = true;
    }
    REAL(g_propagate_error)(to, error);
}

static void completed(GTask *task)
{
    struct adapter_entry e;
    if (!adapter_get(&tasks, adapter_key(task), 0, &e))
        return;
    if (e.number & FRESH) {
        adapter_lock(&naming);
        name(task, &e);
        adapter_unlock(&naming);
    }
    adapter_take(&tasks, adapter_key(task), 0, &e);
    if (e.number & (INNER | ENDED))
        return;
    if (REAL(g_task_had_error)(task))
        fail(task, e.promise);
    else
        weft_fulfill(e.promise);
}

static void on_change(GObject *task, guint n, GParamSpec **what)
{
    for (guint i = 0; adapter_on() && i < n; i++)
        if (strcmp(what[i]->name, "completed") == 0)
            completed((GTask *)task);
    own_dispatch(task, n, what);
}

/* ---- Life ---- */

static void on_constructed(GObject *task)
{
    struct glib_thread *t = &glib_thread;
    own_constructed(task);
    if (!glib_on())
        return;
    if (t->fresh_count == FRESH_MAX)
        glib_tasks_name();
    const struct adapter_entry e = {.key = adapter_key(task), .number = FRESH};
    if (adapter_put(&tasks, &e))
        t->fresh[t->fresh_count++] = (GTask *)task;
}

static void on_finalize(GObject *task)
{
    struct adapter_entry e;
    adapter_lock(&naming);
    const bool known = adapter_take(&tasks, adapter_key(task), 0, &e);
    adapter_unlock(&naming);
    if (known && !(e.number & (FRESH | INNER | ENDED)))
        weft_forget(e.promise);
    own_finalize(task);
}

void glib_task_class(gpointer class)
{
    GObjectClass *c = class;
    own_constructed = c->constructed;
    own_finalize = c->finalize;
    own_dispatch = c->dispatch_properties_changed;
    c->constructed = on_constructed;
    c->finalize = on_finalize;
    c->dispatch_properties_changed = on_change;
}

/* ---- Tasks of the program, and of libraries other than GIO ---- */

static void on_ready(GObject *object, GAsyncResult *result, gpointer data)
{
    struct glib_thread *t = &glib_thread;
    struct adapter_entry e;
    if (!adapter_get(&tasks, adapter_key(result), 0, &e) || !e.callback)
        return;
    const GAsyncReadyCallback callback = (GAsyncReadyCallback)e.callback;
    if (!glib_on() || e.number & BEGUN) {
        callback(object, result, data);
        return;
    }
    glib_tasks_name();
    const weft_promise was = t->running, before = glib_task_begin(result, true, &t->running);
    callback(object, result, data);
    glib_tasks_name();
    t->running = was;
    weft_run(before);
}

/* If nothing else says what the task is for, its function does. */
static void name_by(GTask *task, GTaskThreadFunc function)
{
    struct adapter_entry e;
    if (adapter_get(&tasks, adapter_key(task), 0, &e) && e.number & FRESH &&
        !REAL(g_task_get_source_tag)(task) && !glib_thread.next_type) {
        const char *object = object_type(task);
        adapter_lock(&naming);
        e.promise = adapter_create((void *)function, "task", object);
        finish_name(task, &e);
        adapter_unlock(&naming);
    }
}

ADAPTER_EXPORT void g_task_run_in_thread(GTask *task, GTaskThreadFunc function)
{
    if (task && glib_on()) {
        name_by(task, function);
        glib_tasks_name();
    }
    REAL(g_task_run_in_thread)(task, function);
}

ADAPTER_EXPORT void g_task_run_in_thread_sync(GTask *task, GTaskThreadFunc function)
{
    if (task && glib_on()) {
        name_by(task, function);
        glib_tasks_name();
    }
    REAL(g_task_run_in_thread_sync)(task, function);
}

ADAPTER_EXPORT GTask *g_task_new(gpointer object, GCancellable *cancellable,
                                 GAsyncReadyCallback callback, gpointer data)
{
    struct adapter_entry e;
    if (!glib_on())
        return REAL(g_task_new)(object, cancellable, callback, data);
    GTask *task = REAL(g_task_new)(object, cancellable, callback ? on_ready : NULL, data);
    if (task && !adapter_get(&tasks, adapter_key(task), 0, &e))
        e = (struct adapter_entry){.key = adapter_key(task)};
    if (task) { /* if there were no memory for it, GLib would have ended the program */
        e.callback = (void *)callback;
        e.number |= PROGRAMS;
        adapter_put(&tasks, &e);
    }
    return task;
}
