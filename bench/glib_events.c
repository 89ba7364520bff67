/* SPDX-License-Identifier: ISC */
/* What events of GLib cost: glib_events KIND COUNT does COUNT of a kind. Its own work is next to nothing, so that the
 * difference between recorded and alone is what recording costs.
 *
 *     idle    an idle function that is added and called
 *     timer   a timer of 0 ms that repeats
 *     task    a GTask that is returned, and whose callback is called
 *     thread  a GTask that runs in a thread
 *     remote  an idle function that another thread adds
 */
#include <gio/gio.h>
#include <stdlib.h>
#include <string.h>

static GMainLoop *loop;
static unsigned left;

static gboolean again(gpointer data)
{
    if (--left > 0) {
        if (data)
            g_idle_add(again, data);
        return !data;
    }
    g_main_loop_quit(loop);
    return G_SOURCE_REMOVE;
}

static void next_task(GObject *object, GAsyncResult *result, gpointer data);

static void work(GTask *task, gpointer object, gpointer data, GCancellable *cancellable)
{
    (void)object, (void)data, (void)cancellable;
    g_task_return_boolean(task, TRUE);
}

static void begin_task(gpointer in_thread)
{
    GTask *task = g_task_new(NULL, NULL, next_task, in_thread);
    g_task_set_source_tag(task, begin_task);
    if (in_thread)
        g_task_run_in_thread(task, work);
    else
        g_task_return_boolean(task, TRUE);
    g_object_unref(task);
}

static void next_task(GObject *object, GAsyncResult *result, gpointer data)
{
    (void)object;
    g_task_propagate_boolean(G_TASK(result), NULL);
    if (--left > 0)
        begin_task(data);
    else
        g_main_loop_quit(loop);
}

static gboolean count(gpointer data)
{
    (void)data;
    if (g_atomic_int_dec_and_test((gint *)&left))
        g_main_loop_quit(loop);
    return G_SOURCE_REMOVE;
}

static gpointer add_all(gpointer data)
{
    for (unsigned n = GPOINTER_TO_UINT(data); n > 0; n--)
        g_idle_add(count, NULL);
    return NULL;
}

int main(int argc, char **argv)
{
    const char *kind = argc > 2 ? argv[1] : "idle";
    GThread *thread = NULL;
    left = argc > 2 ? (unsigned)atoi(argv[2]) : 1000;
    loop = g_main_loop_new(NULL, FALSE);
    if (strcmp(kind, "task") == 0 || strcmp(kind, "thread") == 0)
        begin_task(strcmp(kind, "thread") == 0 ? loop : NULL);
    else if (strcmp(kind, "remote") == 0)
        thread = g_thread_new("adds", add_all, GUINT_TO_POINTER(left));
    else if (strcmp(kind, "timer") == 0)
        g_timeout_add(0, again, NULL);
    else
        g_idle_add(again, loop);
    g_main_loop_run(loop);
    if (thread)
        g_thread_join(thread);
    g_main_loop_unref(loop);
    return 0;
}
