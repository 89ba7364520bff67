/* SPDX-License-Identifier: ISC */
/* A search goes on until it is cancelled, which a timer is to do after 20 ms. But it cancels another GCancellable, since the search was
 * started with a new one. With "good" as argument it is the same.
 *
 *     gcc never_cancelled.c -o never_cancelled $(pkg-config --cflags --libs gio-2.0)
 */
#include <gio/gio.h>
#include <string.h>

static GMainLoop *loop;

static gboolean stop_search(GCancellable *cancellable, gpointer data)
{
    GTask *search = data;
    (void)cancellable;
    g_task_return_new_error(search, G_IO_ERROR, G_IO_ERROR_CANCELLED, "the search was stopped");
    g_object_unref(search);
    return G_SOURCE_REMOVE;
}

static void search_async(GCancellable *cancellable, GAsyncReadyCallback callback)
{
    GTask *task = g_task_new(NULL, cancellable, callback, NULL);
    g_task_set_source_tag(task, search_async);
    GSource *source = g_cancellable_source_new(cancellable);
    g_source_set_callback(source, G_SOURCE_FUNC(stop_search), task, NULL);
    g_source_attach(source, NULL);
    g_source_unref(source);
}

static void search_ended(GObject *object, GAsyncResult *result, gpointer data)
{
    (void)object, (void)data;
    g_task_propagate_boolean(G_TASK(result), NULL);
    g_main_loop_quit(loop);
}

static gboolean time_is_up(gpointer data)
{
    g_cancellable_cancel(data);
    return G_SOURCE_REMOVE;
}

int main(int argc, char **argv)
{
    const gboolean good = argc > 1 && strcmp(argv[1], "good") == 0;
    loop = g_main_loop_new(NULL, FALSE);
    GCancellable *cancellable = g_cancellable_new();
    GCancellable *other = good ? g_object_ref(cancellable) : g_cancellable_new();
    g_timeout_add(20, time_is_up, cancellable);
    search_async(other, search_ended);
    g_main_loop_run(loop);
    g_print("stopped\n");
    g_object_unref(other);
    g_object_unref(cancellable);
    g_main_loop_unref(loop);
    return 0;
}
