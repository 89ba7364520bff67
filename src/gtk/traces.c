/* SPDX-License-Identifier: ISC */
/* The files of a window: read one after another, read again while they grow. */
#include <inttypes.h>
#include <string.h>

#include "gtk/window.h"

#define LIVE_EVERY_MS 1000
#define LIVE_PAUSE 4 /* times the reading time: growing files must not keep a processor busy */
#define PROGRESS_EVERY_MS 100

static void read_next(WeftWindow *w);

/* The name of the copy in memory that is opened under this path; NULL: it is a file. */
static char *memory_name(const char *path)
{
    static const char prefix[] = "/memfd:", suffix[] = " (deleted)";
    g_autofree char *link =
        g_str_has_prefix(path, WEFT_MEMORY_PATH) ? g_file_read_link(path, NULL) : NULL;
    if (!link || !g_str_has_prefix(link, prefix))
        return NULL;
    if (g_str_has_suffix(link, suffix))
        link[strlen(link) - strlen(suffix)] = '\0';
    return g_strdup(link + strlen(prefix));
}

char *weft_trace_given(const char *path)
{
    char *memory = memory_name(path);
    return memory ? memory : g_strdup(path);
}

char *weft_trace_name(const char *path)
{
    g_autofree char *memory = memory_name(path);
    if (memory)
        return g_filename_display_name(memory);
    return strcmp(path, "-") ? g_filename_display_basename(path) : g_strdup("standard input");
}

/* "what was found, at offset 12", as in the terminal. */
static char *error_text(const struct weft_error *e)
{
    if (e->offset == WEFT_NO_OFFSET)
        return g_utf8_make_valid(e->text, -1);
    const char *advice = strstr(e->text, "; ");
    int what = advice ? (int)(advice - e->text) : (int)strlen(e->text);
    g_autofree char *text =
        g_strdup_printf("%.*s, at offset %" PRIu64 "%s", what, e->text, e->offset, e->text + what);
    return g_utf8_make_valid(text, -1);
}

/* ---- What went wrong ---- */

static void on_compared(void *data, struct weft_diff *diff)
{
    WeftWindow *w = data;
    w->compare = NULL;
    weft_explorer_compared(w->e, diff);
    weft_window_touched(w);
}

void weft_window_compare(WeftWindow *w)
{
    if (w->compare || !weft_explorer_wants_diff(w->e))
        return;
    w->compare = weft_analyse_compare(weft_explorer_analysis(w->e, 0)->history,
                                      weft_explorer_analysis(w->e, 1)->history, on_compared, w);
}

void weft_window_stop_comparing(WeftWindow *w)
{
    g_clear_pointer(&w->compare, weft_analyse_end);
}

/* The analysis of a trace that is shown; NULL: there is none. */
static void take_analysis(struct weft_trace *t, struct weft_analysis *analysis)
{
    WeftWindow *w = t->window;
    guint pane = 0;
    if (!weft_window_find(w, t, &pane)) {
        weft_analysis_free(analysis);
        return;
    }
    weft_window_stop_comparing(w);
    weft_explorer_analysed(w->e, pane, analysis);
    weft_window_compare(w);
    weft_window_touched(w);
}

static void on_explained(void *data, struct weft_analysis *analysis)
{
    struct weft_trace *t = data;
    t->explain = NULL;
    take_analysis(t, analysis);
}

static void explain(struct weft_trace *t, guint pane)
{
    if (t->window->measures)
        return;
    weft_explorer_analysing(t->window->e, pane);
    t->explain = weft_analyse_begin(t->model, on_explained, t);
}

/* ---- Reading again ---- */

static void on_read_again(void *data, struct weft_loaded *loaded);

static void read_again(struct weft_trace *t)
{
    g_clear_handle_id(&t->timer, g_source_remove);
    if (t->load || !t->file)
        return;
    t->load = weft_load_begin(t->path, t->window->raw, !t->window->measures, on_read_again, t);
}

static gboolean on_time(gpointer data)
{
    struct weft_trace *t = data;
    if (t->explain) /* it would start again and never end */
        return G_SOURCE_CONTINUE;
    t->timer = 0;
    read_again(t);
    return G_SOURCE_REMOVE;
}

static void schedule(struct weft_trace *t)
{
    int64_t pause_ms = t->took_us * LIVE_PAUSE / 1000;
    if (t->running && !t->timer)
        t->timer = g_timeout_add((guint)CLAMP(pause_ms, LIVE_EVERY_MS, 3600000), on_time, t);
}

static void on_read_again(void *data, struct weft_loaded *loaded)
{
    struct weft_trace *t = data;
    WeftWindow *w = t->window;
    guint pane = 0;
    bool was_running = t->running;
    t->load = NULL;
    if (!loaded->model) {
        g_autofree char *name = weft_trace_name(t->path), *error = error_text(&loaded->error);
        t->running = false;
        weft_window_complain(w, false, "%s can no longer be read: %s", name, error);
    } else if (weft_window_find(w, t, &pane)) {
        weft_window_stop_comparing(w);
        g_clear_pointer(&t->explain, weft_analyse_end);
        t->model = loaded->model;
        weft_explorer_exchange(w->e, pane, &loaded->scene, &loaded->model);
        take_analysis(t, g_steal_pointer(&loaded->analysis));
        weft_load_drop(loaded);
        t->running = loaded->ended == WEFT_ENDED_RUNNING;
        t->took_us = loaded->took_us;
        schedule(t);
        weft_window_touched(w);
    }
    if (was_running != t->running)
        weft_window_retitle(w);
}

void weft_window_reread(WeftWindow *w)
{
    gtk_info_bar_set_revealed(GTK_INFO_BAR(w->bar), FALSE);
    for (guint i = 0; i < w->traces->len; i++)
        read_again(w->traces->pdata[i]);
}

/* Its recorder writes through mapped memory, which no file monitor notices; so some other program has changed the file. */
static void on_file_changed(GFileMonitor *monitor, GFile *file, GFile *other,
                            GFileMonitorEvent event, struct weft_trace *t)
{
    (void)monitor;
    (void)file;
    (void)other;
    if (event != G_FILE_MONITOR_EVENT_CHANGES_DONE_HINT && event != G_FILE_MONITOR_EVENT_CREATED)
        return;
    if (t->running || t->load)
        return;
    g_autofree char *name = weft_trace_name(t->path);
    weft_window_complain(t->window, true, "%s has changed on disk.", name);
}

/* ---- Opening ---- */

void weft_trace_free(struct weft_trace *t)
{
    if (t->load)
        weft_load_cancel(t->load);
    g_clear_pointer(&t->explain, weft_analyse_end);
    g_clear_handle_id(&t->timer, g_source_remove);
    if (t->monitor)
        g_signal_handlers_disconnect_by_data(t->monitor, t);
    g_clear_object(&t->monitor);
    g_clear_object(&t->file);
    g_free(t->path);
    g_free(t);
}

static void remember(GFile *file)
{
    g_autofree char *uri = g_file_get_uri(file);
    GtkRecentData data = {.mime_type = (char *)"application/x-weft-trace",
                          .app_name = (char *)"weft",
                          .app_exec = (char *)"weft view %f"};
    gtk_recent_manager_add_full(gtk_recent_manager_get_default(), uri, &data);
}

static void add_trace(WeftWindow *w, const char *path, const struct weft_loaded *loaded)
{
    struct weft_trace *t = g_new0(struct weft_trace, 1);
    *t = (struct weft_trace){.window = w,
                             .path = g_strdup(path),
                             .model = loaded->model,
                             .took_us = loaded->took_us,
                             .running = loaded->ended == WEFT_ENDED_RUNNING};
    g_autofree char *memory = memory_name(path);
    if (strcmp(path, "-") != 0 && !memory) {
        t->file = g_file_new_for_path(path);
        t->monitor = g_file_monitor_file(t->file, G_FILE_MONITOR_NONE, NULL, NULL);
        remember(t->file);
    }
    if (t->monitor)
        g_signal_connect(t->monitor, "changed", G_CALLBACK(on_file_changed), t);
    g_ptr_array_add(w->traces, t);
    schedule(t);
}

static void tell_damage(WeftWindow *w, const char *name, const struct weft_damage *d)
{
    if (!d->problems)
        return;
    g_autofree char *first = error_text(&d->first[0]);
    if (d->problems == 1)
        weft_window_complain(w, false, "%s: one place could not be read: %s", name, first);
    else
        weft_window_complain(w, false, "%s: %" PRIu64 " places could not be read; the first: %s",
                             name, d->problems, first);
}

static void tell_failure(WeftWindow *w, const char *name, const char *error)
{
    g_autofree char *title = g_strdup_printf("Cannot open %s", name);
    g_autofree char *text = g_strdup_printf("%s: %s", name, error);
    if (w->traces->len) {
        weft_window_complain(w, false, "%s", text);
        return;
    }
    gtk_label_set_text(GTK_LABEL(w->problem_title), title);
    gtk_label_set_text(GTK_LABEL(w->problem_text), error);
    weft_window_tell(w, "message", text);
    weft_window_show_page(w, "problem");
}

static void on_loaded(void *data, struct weft_loaded *loaded)
{
    WeftWindow *w = data;
    g_autofree char *path = g_steal_pointer(&w->loading);
    g_autofree char *name = weft_trace_name(path);
    int rc = loaded->model ? 0 : WEFT_E_FORMAT;
    w->load = NULL;
    if (rc == 0)
        rc = weft_explorer_add(w->e, loaded->scene, loaded->model, name);
    if (rc == 0) {
        add_trace(w, path, loaded);
        weft_window_load_notes(w, w->traces->pdata[w->traces->len - 1]);
        explain(w->traces->pdata[w->traces->len - 1], weft_explorer_panes(w->e) - 1);
        weft_window_show_page(w, "view");
        weft_panel_show_counters(w->panel);
        tell_damage(w, name, &loaded->damage);
    } else if (loaded->model) {
        weft_scene_free(loaded->scene);
        weft_model_free(loaded->model);
        tell_failure(w, name,
                     rc == WEFT_E_LIMIT ? "there is no room for another trace in this window"
                                        : weft_error_name(rc));
    } else {
        g_autofree char *error = error_text(&loaded->error);
        tell_failure(w, name, error);
    }
    read_next(w);
    weft_window_retitle(w);
    weft_window_touched(w);
}

/* Shows what is known of the first trace before it has been read. */
static void show_outline(WeftWindow *w)
{
    struct weft_outline *outline = weft_load_outline(w->load);
    g_autofree char *name = weft_trace_name(w->loading);
    if (!outline)
        return;
    if (w->traces->len) {
        weft_outline_free(outline);
        return;
    }
    gtk_widget_set_valign(w->progress, GTK_ALIGN_END);
    weft_outline_area_set(w->outline, outline, name);
}

static gboolean on_progress(gpointer data)
{
    WeftWindow *w = data;
    if (w->load) {
        gtk_progress_bar_set_fraction(GTK_PROGRESS_BAR(w->progress_bar),
                                      weft_load_progress(w->load));
        show_outline(w);
    }
    gtk_widget_set_visible(w->progress, TRUE);
    return G_SOURCE_CONTINUE;
}

/* Everything has been read: goes to the requested place. */
static void arrive(WeftWindow *w)
{
    g_autofree char *place = g_steal_pointer(&w->place);
    g_clear_handle_id(&w->progress_timer, g_source_remove);
    gtk_widget_set_visible(w->progress, FALSE);
    weft_outline_area_set(w->outline, NULL, NULL);
    if (!w->traces->len) {
        if (strcmp(gtk_stack_get_visible_child_name(GTK_STACK(w->stack)), "reading") == 0)
            weft_window_show_page(w, "empty");
        return;
    }
    if (place && *place && !weft_explorer_go(w->e, place))
        weft_window_complain(w, false,
                             "Some of the place that was asked for is not in this trace.");
    weft_window_compare(w);
}

static void read_next(WeftWindow *w)
{
    if (w->load)
        return;
    w->loading = g_queue_pop_head(&w->waiting);
    if (!w->loading) {
        arrive(w);
        return;
    }
    g_autofree char *name = weft_trace_name(w->loading);
    g_autofree char *text = g_strdup_printf("Reading %s", name);
    gtk_label_set_text(GTK_LABEL(w->progress_text), text);
    gtk_widget_set_valign(w->progress, w->traces->len ? GTK_ALIGN_END : GTK_ALIGN_CENTER);
    if (!w->traces->len)
        weft_window_show_page(w, "reading");
    if (!w->progress_timer) /* its first call shows the bar */
        w->progress_timer = g_timeout_add(PROGRESS_EVERY_MS, on_progress, w);
    w->load = weft_load_begin(w->loading, w->raw, false, on_loaded, w);
}

void weft_window_read(WeftWindow *w, const char *const *paths, const char *place)
{
    for (; *paths; paths++)
        g_queue_push_tail(&w->waiting, strcmp(*paths, "-") ? g_canonicalize_filename(*paths, NULL)
                                                           : g_strdup("-"));
    if (place) {
        g_free(w->place);
        w->place = g_strdup(place);
    }
    read_next(w);
}

void weft_window_stop_reading(WeftWindow *w)
{
    if (w->load)
        weft_load_cancel(w->load);
    w->load = NULL;
    g_clear_pointer(&w->loading, g_free);
    g_queue_clear_full(&w->waiting, g_free);
    g_clear_handle_id(&w->progress_timer, g_source_remove);
}

struct weft_trace *weft_window_trace(WeftWindow *w, unsigned pane)
{
    return w->traces->pdata[weft_explorer_source(w->e, pane) - 1];
}

bool weft_window_find(WeftWindow *w, const struct weft_trace *trace, guint *pane)
{
    guint i;
    if (!g_ptr_array_find(w->traces, trace, &i))
        return false;
    *pane = weft_explorer_find(w->e, i + 1);
    return *pane < weft_explorer_panes(w->e);
}

void weft_window_remove(WeftWindow *w, unsigned pane)
{
    if (pane >= weft_explorer_panes(w->e))
        return;
    weft_window_stop_comparing(w);
    unsigned source = weft_explorer_source(w->e, pane), panes = 0;
    struct weft_trace *t = weft_window_trace(w, pane);
    for (unsigned i = 0; i < weft_explorer_panes(w->e); i++)
        panes += weft_explorer_source(w->e, i) == source;
    if (panes == 1)
        g_clear_pointer(&t->explain, weft_analyse_end);
    weft_explorer_remove(w->e, pane);
    if (panes == 1) {
        weft_explorer_forget_source(w->e, source);
        g_ptr_array_remove_index(w->traces, source - 1);
    }
    if (!w->traces->len)
        weft_window_show_page(w, "empty");
    weft_panel_show_counters(w->panel);
    weft_window_compare(w);
    weft_window_retitle(w);
    weft_window_touched(w);
}

void weft_window_clear(WeftWindow *w)
{
    while (weft_explorer_panes(w->e))
        weft_window_remove(w, weft_explorer_panes(w->e) - 1);
    weft_explorer_go(w->e, "");
    weft_explorer_fold(w->e, true);
}

/* ---- Choosing ---- */

void weft_window_open(WeftWindow *w, const char *const *paths)
{
    if (weft_window_is_example(w))
        weft_window_clear(w);
    if (w->traces->len || w->load) {
        w = weft_window_new(gtk_window_get_application(GTK_WINDOW(w)));
        gtk_window_present(GTK_WINDOW(w));
    }
    weft_window_read(w, paths, NULL);
}

void weft_window_take(WeftWindow *w, GListModel *files, bool add)
{
    g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < g_list_model_get_n_items(files); i++) {
        g_autoptr(GFile) file = g_list_model_get_item(files, i);
        char *path = g_file_get_path(file);
        if (path)
            g_ptr_array_add(paths, path);
    }
    g_ptr_array_add(paths, NULL);
    if (add)
        weft_window_read(w, (const char *const *)paths->pdata, NULL);
    else if (paths->len > 1)
        weft_window_open(w, (const char *const *)paths->pdata);
}

static void on_chosen(GtkNativeDialog *dialog, int response, WeftWindow *w)
{
    if (response == GTK_RESPONSE_ACCEPT) {
        g_autoptr(GListModel) files = gtk_file_chooser_get_files(GTK_FILE_CHOOSER(dialog));
        weft_window_take(w, files, g_object_get_data(G_OBJECT(dialog), "add"));
    }
    g_object_unref(dialog);
}

void weft_window_choose(WeftWindow *w, bool add)
{
    GtkFileChooserNative *dialog =
        gtk_file_chooser_native_new(add ? "Add Traces" : "Open Traces", GTK_WINDOW(w),
                                    GTK_FILE_CHOOSER_ACTION_OPEN, add ? "Add" : "Open", "Cancel");
    gtk_file_chooser_set_select_multiple(GTK_FILE_CHOOSER(dialog), TRUE);
    const char *const suffixes[][2] = {{"Traces", "*.weft *.ctf *.trace *.events *.fxt"},
                                       {"All files", "*"}};
    for (size_t i = 0; i < G_N_ELEMENTS(suffixes); i++) {
        g_autoptr(GtkFileFilter) filter = gtk_file_filter_new();
        g_auto(GStrv) patterns = g_strsplit(suffixes[i][1], " ", -1);
        gtk_file_filter_set_name(filter, suffixes[i][0]);
        for (char **pattern = patterns; *pattern; pattern++)
            gtk_file_filter_add_pattern(filter, *pattern);
        gtk_file_chooser_add_filter(GTK_FILE_CHOOSER(dialog), filter);
    }
    g_object_set_data(G_OBJECT(dialog), "add", add ? w : NULL);
    gtk_native_dialog_set_modal(GTK_NATIVE_DIALOG(dialog), TRUE);
    g_signal_connect_object(dialog, "response", G_CALLBACK(on_chosen), w, 0);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
}
