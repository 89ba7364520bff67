/* SPDX-License-Identifier: ISC */
/* A heart beats every 10 ms. Once, a callback checks a password in the main loop, which takes 200 ms. With "good" as
 * argument it does so in a thread.
 *
 *     gcc blocked.c -o blocked $(pkg-config --cflags --libs gio-2.0)
 */
#include <gio/gio.h>
#include <string.h>

static GMainLoop *loop;
static gboolean good;

static gboolean beat(gpointer data)
{
    unsigned *beats = data;
    if (++*beats < 50)
        return G_SOURCE_CONTINUE;
    g_main_loop_quit(loop);
    return G_SOURCE_REMOVE;
}

static void check_password(GTask *task, gpointer object, gpointer data, GCancellable *cancellable)
{
    (void)object, (void)data, (void)cancellable;
    const gint64 end = g_get_monotonic_time() + 200000;
    while (g_get_monotonic_time() < end) /* it computes */
        ;
    g_task_return_boolean(task, TRUE);
}

static gboolean login(gpointer data)
{
    (void)data;
    GTask *task = g_task_new(NULL, NULL, NULL, NULL);
    g_task_set_source_tag(task, check_password);
    if (good)
        g_task_run_in_thread(task, check_password);
    else
        check_password(task, NULL, NULL, NULL);
    g_object_unref(task);
    return G_SOURCE_REMOVE;
}

int main(int argc, char **argv)
{
    unsigned beats = 0;
    good = argc > 1 && strcmp(argv[1], "good") == 0;
    loop = g_main_loop_new(NULL, FALSE);
    g_timeout_add(10, beat, &beats);
    g_timeout_add(55, login, NULL);
    g_main_loop_run(loop);
    g_print("%u beats\n", beats);
    g_main_loop_unref(loop);
    return 0;
}
