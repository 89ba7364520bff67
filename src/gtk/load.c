/* SPDX-License-Identifier: ISC */
#include "gtk/load.h"

#include <gio/gio.h>
#include <stdatomic.h>

#define BUILD_SHARE 0.75 /* the model's part of the work; the rest is the scene */

struct weft_load {
    char *path;
    bool raw, explain;
    weft_loaded_fn *done; /* NULL: cancelled; used only by the main loop's thread */
    void *data;
    atomic_bool cancelled;
    atomic_int permille;
    _Atomic(struct weft_outline *) outline;
    double base, share; /* of the current step; used only by the loading thread */
    struct weft_loaded result;
};

static bool show_progress(void *data, double share)
{
    struct weft_load *l = data;
    atomic_store_explicit(&l->permille, (int)(1000 * (l->base + share * l->share)),
                          memory_order_relaxed);
    return !atomic_load_explicit(&l->cancelled, memory_order_relaxed);
}

/* A file without a single readable event counts as an error. */
static int check(struct weft_loaded *to)
{
    const struct weft_damage *d = &to->damage;
    if (to->model->events_total > 0 || d->problems == 0)
        return 0;
    to->error = d->first[0];
    return WEFT_E_FORMAT;
}

static int build(struct weft_load *l, struct weft_reader *reader)
{
    struct weft_loaded *to = &l->result;
    l->share = BUILD_SHARE;
    int rc = weft_model_build(&to->model, reader, show_progress, l, &to->error);
    if (rc < 0)
        return rc;
    to->damage = *weft_reader_damage(reader);
    to->ended = weft_reader_facts(reader)->ended;
    return check(to);
}

static int read_trace(struct weft_load *l)
{
    struct weft_loaded *to = &l->result;
    struct weft_reader *reader;
    int rc = weft_reader_open(&reader, l->path, &to->error);
    if (rc < 0)
        return rc;
    struct weft_outline *outline;
    if (weft_outline_new(&outline, reader) == 0)
        atomic_store_explicit(&l->outline, outline, memory_order_release);
    rc = build(l, reader);
    l->base = BUILD_SHARE;
    l->share = 1 - BUILD_SHARE;
    if (rc == 0)
        rc = weft_scene_load(&to->scene, to->model, reader, l->raw, show_progress, l);
    weft_reader_close(reader);
    if (rc == 0 && l->explain)
        weft_analysis_new(&to->analysis, to->model, show_progress, l);
    return rc;
}

static void drop(struct weft_loaded *loaded)
{
    weft_analysis_free(loaded->analysis);
    weft_scene_free(loaded->scene);
    weft_model_free(loaded->model);
    loaded->analysis = NULL;
    loaded->scene = NULL;
    loaded->model = NULL;
}

static void work(GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
    struct weft_load *l = data;
    struct weft_loaded *to = &l->result;
    int64_t start_us = g_get_monotonic_time();
    (void)source;
    (void)cancellable;
    to->error.offset = WEFT_NO_OFFSET;
    int rc = read_trace(l);
    if (rc < 0) {
        drop(to);
        to->error.code = rc;
        if (!*to->error.text)
            weft_error_set(&to->error, rc, to->error.offset, "%s", weft_error_name(rc));
    }
    if (atomic_load_explicit(&l->cancelled, memory_order_relaxed))
        drop(to); /* here, in the thread, because it can take a while */
    to->took_us = g_get_monotonic_time() - start_us;
    g_task_return_boolean(task, TRUE);
}

static void drop_aside(GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
    (void)source;
    (void)cancellable;
    drop(data);
    g_task_return_boolean(task, TRUE);
}

void weft_load_drop(const struct weft_loaded *loaded)
{
    g_autoptr(GTask) task = g_task_new(NULL, NULL, NULL, NULL);
    g_task_set_task_data(task, g_memdup2(loaded, sizeof *loaded), g_free);
    g_task_run_in_thread(task, drop_aside);
}

static void finish(GObject *source, GAsyncResult *result, gpointer data)
{
    struct weft_load *l = data;
    (void)source;
    (void)result;
    if (l->done)
        l->done(l->data, &l->result);
    else
        weft_load_drop(&l->result);
    weft_outline_free(weft_load_outline(l));
    g_free(l->path);
    g_free(l);
}

struct weft_load *weft_load_begin(const char *path, bool raw, bool explain, weft_loaded_fn *done,
                                  void *data)
{
    struct weft_load *l = g_new0(struct weft_load, 1);
    *l = (struct weft_load){
        .path = g_strdup(path), .raw = raw, .explain = explain, .done = done, .data = data};
    g_autoptr(GTask) task = g_task_new(NULL, NULL, finish, l);
    g_task_set_task_data(task, l, NULL);
    g_task_run_in_thread(task, work);
    return l;
}

double weft_load_progress(const struct weft_load *l)
{
    return atomic_load_explicit(&l->permille, memory_order_relaxed) / 1000.0;
}

struct weft_outline *weft_load_outline(struct weft_load *l)
{
    return atomic_exchange_explicit(&l->outline, NULL, memory_order_acquire);
}

void weft_load_cancel(struct weft_load *l)
{
    l->done = NULL;
    atomic_store_explicit(&l->cancelled, true, memory_order_relaxed);
}

/* ---- Analysing ---- */

struct weft_analyse {
    const struct weft_model *model;
    const struct weft_history *good, *bad; /* where model is NULL */
    weft_analysed_fn *analysed;
    weft_compared_fn *compared;
    void *data;
    struct weft_analysis *analysis;
    struct weft_diff diff;
    bool ended; /* cancelled; used only by the main loop's thread */
    atomic_bool cancelled;
    GThread *thread;
};

static bool may_go_on(void *data, double share)
{
    struct weft_analyse *w = data;
    (void)share;
    return !atomic_load_explicit(&w->cancelled, memory_order_relaxed);
}

static gboolean finish_analysis(gpointer data)
{
    struct weft_analyse *w = data;
    if (w->thread)
        g_thread_join(w->thread);
    w->thread = NULL;
    if (!w->ended && w->model)
        w->analysed(w->data, g_steal_pointer(&w->analysis));
    else if (!w->ended)
        w->compared(w->data, &w->diff);
    weft_analysis_free(w->analysis);
    weft_diff_fini(&w->diff);
    g_free(w);
    return G_SOURCE_REMOVE;
}

static gpointer analyse(gpointer data)
{
    struct weft_analyse *w = data;
    if (w->model)
        weft_analysis_new(&w->analysis, w->model, may_go_on, w);
    else
        weft_diff_find(&w->diff, &w->good, 1, w->bad, may_go_on, w);
    g_idle_add(finish_analysis, w);
    return NULL;
}

static struct weft_analyse *begin(struct weft_analyse what)
{
    struct weft_analyse *w = g_new0(struct weft_analyse, 1);
    *w = what;
    w->thread = g_thread_new("explain", analyse, w);
    return w;
}

struct weft_analyse *weft_analyse_begin(const struct weft_model *m, weft_analysed_fn *done,
                                        void *data)
{
    return begin((struct weft_analyse){.model = m, .analysed = done, .data = data});
}

struct weft_analyse *weft_analyse_compare(const struct weft_history *good,
                                          const struct weft_history *bad, weft_compared_fn *done,
                                          void *data)
{
    return begin((struct weft_analyse){.good = good, .bad = bad, .compared = done, .data = data});
}

void weft_analyse_end(struct weft_analyse *w)
{
    w->ended = true;
    atomic_store_explicit(&w->cancelled, true, memory_order_relaxed);
    g_thread_join(w->thread); /* finish is already queued and frees it */
    w->thread = NULL;
}
