/* SPDX-License-Identifier: ISC */
/* Classes are changed when GObject makes them, which is when the program first needs them; so no class is made that the
 * program does not use. GIO registers a type by calling GObject with the function that initialises its class. */
#include "glib.h"

#include <string.h>

REAL_OF(g_type_register_static_simple, GOBJECT_SONAME);
REAL_OF(g_thread_pool_new, GLIB_SONAME);
REAL_OF(g_thread_pool_push, GLIB_SONAME);

#define CLASS(name, adapt)                                                                         \
    static GClassInitFunc own_##name;                                                              \
    static void init_##name(gpointer class, gpointer data)                                         \
    {                                                                                              \
        own_##name(class, data);                                                                   \
        adapt(class);                                                                              \
    }

CLASS(GTask, glib_task_class)
CLASS(GCancellable, glib_cancellable_class)
CLASS(GDBusMessage, glib_message_class)
CLASS(GDBusMethodInvocation, glib_invocation_class)

#define ROW(name)                                                                                  \
    {                                                                                              \
#name, &own_##name, init_##name                                                            \
    }
static const struct {
    const char *name;
    GClassInitFunc *own, ours;
} classes[] = {ROW(GTask), ROW(GCancellable), ROW(GDBusMessage), ROW(GDBusMethodInvocation)};

static uintptr_t
    task_library; /* that GTask is of, from its registration until its threads' pool is made; or 0 */

/* Where its file begins; 0: it is in none. */
static uintptr_t library_of(const void *code)
{
    struct adapter_file f;
    return adapter_file_of(&f, code) ? f.begin : 0;
}

ADAPTER_EXPORT GType g_type_register_static_simple(GType parent, const gchar *name,
                                                   guint class_size, GClassInitFunc class_init,
                                                   guint instance_size,
                                                   GInstanceInitFunc instance_init,
                                                   GTypeFlags flags)
{
    for (unsigned i = 0; name && i < sizeof classes / sizeof *classes; i++)
        if (name[1] == classes[i].name[1] && strcmp(name, classes[i].name) == 0 &&
            !*classes[i].own) {
            if (i == 0)
                task_library = library_of((void *)class_init);
            *classes[i].own = class_init;
            class_init = classes[i].ours;
            break;
        }
    return REAL(g_type_register_static_simple)(parent, name, class_size, class_init, instance_size,
                                               instance_init, flags);
}

/* ---- The threads that work for tasks ---- */

static GFunc own_work;

static void work(gpointer task, gpointer data)
{
    const weft_promise p = glib_on() ? glib_task_promise(task) : 0;
    if (!p) {
        own_work(task, data);
        return;
    }
    weft_run(p);
    glib_thread.callbacks++; /* whatever it waits for blocks it */
    own_work(task, data);
    glib_tasks_name();
    glib_thread.callbacks--;
    weft_run(
        WEFT_LOOP); /* no sleep: this thread is not taken for a loop, which must not be blocked */
}

ADAPTER_EXPORT GThreadPool *g_thread_pool_new(GFunc function, gpointer data, gint most,
                                              gboolean exclusive, GError **error)
{
    if (task_library && !data && library_of((void *)function) == task_library) {
        task_library = 0;
        own_work = function;
        function = work;
    }
    return REAL(g_thread_pool_new)(function, data, most, exclusive, error);
}

ADAPTER_EXPORT gboolean g_thread_pool_push(GThreadPool *pool, gpointer data, GError **error)
{
    if (glib_on())
        glib_tasks_name();
    return REAL(g_thread_pool_push)(pool, data, error);
}
