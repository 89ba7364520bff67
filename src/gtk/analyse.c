/* SPDX-License-Identifier: ISC */
#include "gtk/analyse.h"

#include <gio/gio.h>
#include <stdatomic.h>

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

static void free_work(struct weft_analyse *w)
{
    weft_analysis_free(w->analysis);
    weft_diff_fini(&w->diff);
    g_free(w);
}

static gboolean finish(gpointer data)
{
    struct weft_analyse *w = data;
    if (w->thread)
        g_thread_join(w->thread);
    w->thread = NULL;
    if (!w->ended && w->model)
        w->analysed(w->data, g_steal_pointer(&w->analysis));
    else if (!w->ended)
        w->compared(w->data, &w->diff);
    free_work(w);
    return G_SOURCE_REMOVE;
}

static gpointer work(gpointer data)
{
    struct weft_analyse *w = data;
    if (w->model)
        weft_analysis_new(&w->analysis, w->model, may_go_on, w);
    else
        weft_diff_find(&w->diff, &w->good, 1, w->bad, may_go_on, w);
    g_idle_add(finish, w);
    return NULL;
}

static struct weft_analyse *begin(const struct weft_analyse *what)
{
    struct weft_analyse *w = g_new0(struct weft_analyse, 1);
    w->model = what->model;
    w->good = what->good;
    w->bad = what->bad;
    w->analysed = what->analysed;
    w->compared = what->compared;
    w->data = what->data;
    w->thread = g_thread_new("explain", work, w);
    return w;
}

struct weft_analyse *weft_analyse_begin(const struct weft_model *m, weft_analysed_fn *done,
                                        void *data)
{
    return begin(&(struct weft_analyse){.model = m, .analysed = done, .data = data});
}

struct weft_analyse *weft_analyse_compare(const struct weft_history *good,
                                          const struct weft_history *bad, weft_compared_fn *done,
                                          void *data)
{
    return begin(&(struct weft_analyse){.good = good, .bad = bad, .compared = done, .data = data});
}

void weft_analyse_end(struct weft_analyse *w)
{
    w->ended = true;
    atomic_store_explicit(&w->cancelled, true, memory_order_relaxed);
    g_thread_join(w->thread); /* finish is already queued and frees it */
    w->thread = NULL;
}
