/* SPDX-License-Identifier: ISC */
/* A source is a promise from when it is attached until it is destroyed; its callback runs as that promise. A source whose
 * callback's data is a task works for that task: it has no promise of its own. */
#include "glib.h"

#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

REAL_OF(g_source_get_name, GLIB_SONAME);
REAL_OF(g_main_context_find_source_by_id, GLIB_SONAME);
REAL_OF(g_source_destroy, GLIB_SONAME);
REAL_OF(g_source_remove, GLIB_SONAME);

__thread struct glib_thread glib_thread;

enum { OF_TASK = 1, NO_FRAME = 2, COMPLETES = 4 };

static struct adapter_table sources;
static uint32_t adding; /* threads between glib_adding and glib_added */

bool glib_on(void)
{
    if (!adapter_on())
        return false;
    struct glib_thread *t = &glib_thread;
    if (!t->hidden) { /* GIO's D-Bus thread, and GLib's own */
        char name[16] = "";
        prctl(PR_GET_NAME, name);
        const bool is_first = syscall(SYS_gettid) == getpid(); /* it has the program's name */
        const bool is_own = strcmp(name, "gdbus") == 0 || strcmp(name, "gmain") == 0;
        t->hidden = is_own && !is_first ? 1 : -1;
    }
    return t->hidden < 0;
}

void glib_adding(void)
{
    __atomic_fetch_add(&adding, 1, __ATOMIC_ACQ_REL);
}

void glib_added(void)
{
    __atomic_fetch_sub(&adding, 1, __ATOMIC_ACQ_REL);
}

static void forked(void)
{
    adding = 0;
}

ADAPTER_IN_CHILD(forked)

weft_promise glib_source_create(const void *callback, gpointer data, const char *type,
                                const char *detail)
{
    glib_tasks_name();
    if (data && glib_task_promise(data))
        return 0;
    const weft_promise p = adapter_create(callback, type, detail);
    if (strcmp(type, "timer") != 0 && strcmp(type, "idle") != 0 && strcmp(type, "child") != 0)
        weft_background(p);
    return p;
}

void glib_source_put(GSource *source, weft_promise p, gpointer data, const char *type)
{
    struct adapter_entry e = {.key = adapter_key(source), .promise = p};
    if (!p && data && glib_task_promise(data)) {
        e.callback = data;
        e.number = OF_TASK;
        const char *name = REAL(g_source_get_name)(source);
        if (name && strstr(name, "complete_in_idle_cb"))
            e.number |= COMPLETES;
    }
    if (strcmp(type, "timer") != 0 && strcmp(type, "idle") != 0)
        e.number |= NO_FRAME;
    if (p || e.number & OF_TASK)
        adapter_put(&sources, &e);
}

/* GTK's frame clock paints in a timer's or idle function's callback, which it names. */
static weft_promise frame_of(GSource *source, const struct adapter_entry *e)
{
    const char *name = e->number & NO_FRAME ? NULL : REAL(g_source_get_name)(source);
    return name && strstr(name, "gdk_frame_clock_paint") ? adapter_create(NULL, "frame", "frame")
                                                         : 0;
}

/* False: it is not known. Then another thread may be about to say what it has just attached, which takes a moment. */
static bool find(GSource *source, struct adapter_entry *e)
{
    enum { PATIENCE = 1000 };
    for (unsigned i = 0; !adapter_get(&sources, adapter_key(source), 0, e); i++) {
        if (__atomic_load_n(&adding, __ATOMIC_ACQUIRE) == 0 || i == PATIENCE)
            return adapter_get(&sources, adapter_key(source), 0, e);
        sched_yield();
    }
    return true;
}

/* The callback has returned. */
static void returned(GSource *source, bool again)
{
    struct adapter_entry e;
    if (!again && adapter_take(&sources, adapter_key(source), 0, &e) && !(e.number & OF_TASK))
        weft_fulfill(e.promise);
}

static gboolean call(GSource *source, GSourceFunc callback, gpointer data,
                     gboolean (*own)(GSource *, GSourceFunc, gpointer),
                     const struct adapter_entry *e)
{
    struct glib_thread *t = &glib_thread;
    const weft_promise was_running = t->running;
    const unsigned was_loops = t->callback_loops;
    GMainContext *const was_context = t->callback_context;
    const bool of_task = e->number & OF_TASK;
    const weft_promise frame = of_task ? 0 : frame_of(source, e);
    weft_promise p = frame ? frame : e->promise;
    const weft_promise before =
        of_task ? glib_task_begin(e->callback, e->number & COMPLETES, &p) : weft_run(p);
    t->running = p;
    t->callbacks++;
    t->callback_loops = t->loops;
    t->callback_context = t->context;
    const gboolean again = own(source, callback, data);
    glib_tasks_name();
    if (frame)
        weft_fulfill(frame);
    returned(source, again);
    t->callbacks--;
    t->running = was_running;
    t->callback_loops = was_loops;
    t->callback_context = was_context;
    weft_run(before);
    return again;
}

gboolean glib_on_dispatch(GSource *source, GSourceFunc callback, gpointer data)
{
    struct adapter_entry e;
    gboolean (*own)(GSource *, GSourceFunc, gpointer) = glib_dispatch_of(source->source_funcs);
    if (!glib_on() || !find(source, &e))
        return own(source, callback, data);
    glib_tasks_name();
    return call(source, callback, data, own, &e);
}

/* Nothing calls its callback any more. */
static void ended(GSource *source)
{
    struct adapter_entry e;
    if (!adapter_take(&sources, adapter_key(source), 0, &e) || e.number & OF_TASK)
        return;
    if (e.promise == glib_thread.running) /* it ends itself */
        weft_fulfill(e.promise);
    else
        weft_cancel(e.promise);
}

void glib_on_finalize(GSource *source)
{
    void (*own)(GSource *) = glib_finalize_of(source->source_funcs);
    ended(source); /* also while nothing is recorded: its address will be another one's */
    if (own)
        own(source);
}

ADAPTER_EXPORT void g_source_destroy(GSource *source)
{
    if (source && glib_on()) {
        glib_tasks_name();
        ended(source);
    }
    REAL(g_source_destroy)(source);
}

ADAPTER_EXPORT gboolean g_source_remove(guint tag)
{
    if (glib_on() && tag) {
        glib_tasks_name();
        GSource *source = REAL(g_main_context_find_source_by_id)(NULL, tag);
        if (source)
            ended(source);
    }
    return REAL(g_source_remove)(tag);
}
