/* SPDX-License-Identifier: ISC */
/* Twelve requests share one connection. Each takes it, asks for its row, and gives it back. If there is no
 * such row, the request fails, and keeps the connection. With "good" as argument it gives it back.
 *
 *     gcc pool.c -o pool $(pkg-config --cflags --libs gio-2.0)
 */
#include <gio/gio.h>
#include <string.h>

enum { REQUESTS = 12, CONNECTIONS = 1 };

static GQueue waiting = G_QUEUE_INIT; /* of tasks that want a connection */
static unsigned free_connections = CONNECTIONS, ended;
static gboolean good;
static GMainLoop *loop;

static void acquire_connection(GAsyncReadyCallback callback, gpointer data)
{
    GTask *task = g_task_new(NULL, NULL, callback, data);
    g_task_set_source_tag(task, acquire_connection);
    if (free_connections == 0) {
        g_queue_push_tail(&waiting, task);
        return;
    }
    free_connections--;
    g_task_return_boolean(task, TRUE);
    g_object_unref(task);
}

static void release_connection(void)
{
    GTask *next = g_queue_pop_head(&waiting);
    if (!next) {
        free_connections++;
        return;
    }
    g_task_return_boolean(next, TRUE);
    g_object_unref(next);
}

static gboolean answer(gpointer data)
{
    GTask *task = data;
    const unsigned row = GPOINTER_TO_UINT(g_task_get_task_data(task));
    if (row % 4 == 3)
        g_task_return_new_error(task, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "no row %u", row);
    else
        g_task_return_boolean(task, TRUE);
    g_object_unref(task);
    return G_SOURCE_REMOVE;
}

static void query_async(unsigned row, GAsyncReadyCallback callback, gpointer data)
{
    GTask *task = g_task_new(NULL, NULL, callback, data);
    g_task_set_source_tag(task, query_async);
    g_task_set_task_data(task, GUINT_TO_POINTER(row), NULL);
    g_timeout_add(2 + row % 3, answer, task);
}

static void have_row(GObject *object, GAsyncResult *result, gpointer data)
{
    GTask *request = data;
    GError *error = NULL;
    (void)object;
    if (!g_task_propagate_boolean(G_TASK(result), &error)) {
        if (good)
            release_connection();
        g_task_return_error(request, error);
    } else {
        release_connection();
        g_task_return_boolean(request, TRUE);
    }
    g_object_unref(request);
}

static void have_connection(GObject *object, GAsyncResult *result, gpointer data)
{
    (void)object;
    g_task_propagate_boolean(G_TASK(result), NULL);
    query_async(GPOINTER_TO_UINT(g_task_get_task_data(data)), have_row, data);
}

static void handle_request(unsigned row, GAsyncReadyCallback callback)
{
    GTask *task = g_task_new(NULL, NULL, callback, NULL);
    g_task_set_source_tag(task, handle_request);
    g_task_set_task_data(task, GUINT_TO_POINTER(row), NULL);
    acquire_connection(have_connection, task);
}

static void request_ended(GObject *object, GAsyncResult *result, gpointer data)
{
    GError *error = NULL;
    (void)object, (void)data;
    if (!g_task_propagate_boolean(G_TASK(result), &error))
        g_clear_error(&error);
    if (++ended == REQUESTS)
        g_main_loop_quit(loop);
}

int main(int argc, char **argv)
{
    good = argc > 1 && strcmp(argv[1], "good") == 0;
    loop = g_main_loop_new(NULL, FALSE);
    for (unsigned i = 0; i < REQUESTS; i++)
        handle_request(i, request_ended);
    g_main_loop_run(loop);
    g_print("%u requests\n", ended);
    g_main_loop_unref(loop);
    return 0;
}
