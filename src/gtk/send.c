/* SPDX-License-Identifier: ISC */
/* The current view in a form that can be sent to somebody: a link or a picture. */
#include <string.h>

#include "gtk/window.h"
#include "output/output.h"

/* "weft view --at 'PLACE' FILE", for a shell; the caller frees it. */
static char *link_of(WeftWindow *w)
{
    g_autofree char *place = g_shell_quote(weft_explorer_place(w->e));
    GString *out = g_string_new("weft view ");
    if (w->raw)
        g_string_append(out, "--raw ");
    g_string_append_printf(out, "--at %s", place);
    for (guint i = 0; i < w->traces->len && !weft_window_is_example(w); i++) {
        const struct weft_trace *t = w->traces->pdata[i];
        g_autofree char *given = weft_trace_given(t->path), *quoted = g_shell_quote(given);
        g_string_append_printf(out, " %s", quoted);
    }
    return g_string_free(out, FALSE);
}

void weft_window_copy_link(WeftWindow *w)
{
    g_autofree char *link = link_of(w), *shown = g_utf8_make_valid(link, -1);
    weft_window_tell(w, "link", shown);
    gdk_clipboard_set_text(gtk_widget_get_clipboard(GTK_WIDGET(w)), shown);
    weft_window_toast(w, "A command that leads here has been copied");
}

/* ---- Pictures ---- */

static int paint(const struct weft_drawlist *list, const char *suffix, FILE *out,
                 struct weft_error *err)
{
    if (g_ascii_strcasecmp(suffix, ".png") == 0)
        return weft_paint_png(list, out, weft_window_is_dark() ? WEFT_DARK : WEFT_LIGHT, err);
    if (g_ascii_strcasecmp(suffix, ".pdf") == 0)
        return weft_paint_pdf(list, out, WEFT_LIGHT, err);
    return weft_paint_svg(list, out, WEFT_AUTO);
}

static bool write_picture(WeftWindow *w, const char *path, const char *suffix,
                          struct weft_error *err)
{
    g_autofree const char **source = g_new(const char *, w->traces->len);
    const struct weft_output_options options = {WEFT_OUTPUT_OTHER, source, w->traces->len};
    struct weft_drawlist list = {0};
    struct weft_output out;
    for (guint i = 0; i < w->traces->len; i++)
        source[i] = ((const struct weft_trace *)w->traces->pdata[i])->path;
    int rc = weft_explorer_picture(w->e, &list);
    if (rc < 0)
        weft_error_set(err, rc, WEFT_NO_OFFSET, "%s", weft_error_name(rc));
    else
        rc = weft_output_open(&out, path, &options, err);
    if (rc == 0) {
        rc = paint(&list, suffix, out.file, err);
        if (rc < 0 && !*err->text)
            weft_error_set(err, rc, WEFT_NO_OFFSET, "%s", weft_error_name(rc));
        int closed = weft_output_close(&out, rc == 0, rc == 0 ? err : NULL);
        rc = rc == 0 ? closed : rc;
    }
    weft_drawlist_fini(&list);
    return rc == 0;
}

void weft_window_save_picture_to(WeftWindow *w, const char *path)
{
    const char *dot = strrchr(path, '.');
    g_autofree char *name = g_filename_display_basename(path);
    struct weft_error err = {.offset = WEFT_NO_OFFSET};
    if (!w->traces->len)
        return;
    if (!dot || (g_ascii_strcasecmp(dot, ".svg") && g_ascii_strcasecmp(dot, ".png") &&
                 g_ascii_strcasecmp(dot, ".pdf"))) {
        weft_window_complain(
            w, false, "%s ends in none of .svg, .png and .pdf; please say which it shall be", name);
    } else if (write_picture(w, path, dot, &err)) {
        weft_window_toast(w, "%s has been saved", name);
    } else {
        weft_window_complain(w, false, "%s cannot be saved: it %s", name, err.text);
    }
}

/* Asks for a file to save to. */
static GtkFileChooserNative *ask(WeftWindow *w, const char *title, const char *name,
                                 GCallback answered)
{
    GtkFileChooserNative *dialog = gtk_file_chooser_native_new(
        title, GTK_WINDOW(w), GTK_FILE_CHOOSER_ACTION_SAVE, "Save", "Cancel");
    gtk_file_chooser_set_current_name(GTK_FILE_CHOOSER(dialog), name);
    gtk_native_dialog_set_modal(GTK_NATIVE_DIALOG(dialog), TRUE);
    g_signal_connect_object(dialog, "response", answered, w, 0);
    return dialog;
}

/* The path that was chosen, which the caller frees, or NULL. Ends the dialog. */
static char *answer(GtkNativeDialog *dialog, int response)
{
    g_autoptr(GFile) file = response == GTK_RESPONSE_ACCEPT
                                ? gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog))
                                : NULL;
    g_object_unref(dialog);
    return file ? g_file_get_path(file) : NULL;
}

static void on_chosen(GtkNativeDialog *dialog, int response, WeftWindow *w)
{
    g_autofree char *path = answer(dialog, response);
    if (path)
        weft_window_save_picture_to(w, path);
}

void weft_window_save_picture(WeftWindow *w)
{
    const struct weft_trace *t = w->traces->pdata[0];
    g_autofree char *base = g_filename_display_basename(t->file ? t->path : "trace");
    char *dot = strrchr(base, '.');
    if (dot && dot != base)
        *dot = '\0';
    g_autofree char *name = g_strconcat(base, ".svg", NULL);
    GtkFileChooserNative *dialog = ask(w, "Save Picture", name, G_CALLBACK(on_chosen));
    static const char *const kinds[][2] = {
        {"SVG: texts can be searched", "*.svg"}, {"PNG", "*.png"}, {"PDF", "*.pdf"}};
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        g_autoptr(GtkFileFilter) filter = gtk_file_filter_new();
        gtk_file_filter_set_name(filter, kinds[i][0]);
        gtk_file_filter_add_pattern(filter, kinds[i][1]);
        gtk_file_chooser_add_filter(GTK_FILE_CHOOSER(dialog), filter);
    }
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
}

/* ---- The table ---- */

static bool write_table(WeftWindow *w, const char *path, struct weft_error *err)
{
    g_autofree const char **source = g_new(const char *, w->traces->len);
    const struct weft_output_options options = {WEFT_OUTPUT_OTHER, source, w->traces->len};
    const char *text = weft_explorer_table_tsv(w->e);
    struct weft_output out;
    for (guint i = 0; i < w->traces->len; i++)
        source[i] = ((const struct weft_trace *)w->traces->pdata[i])->path;
    if (!text)
        weft_error_set(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "%s", weft_error_name(WEFT_E_NOMEM));
    if (!text || weft_output_open(&out, path, &options, err) < 0)
        return false;
    bool written = fputs(text, out.file) >= 0; /* closing says what went wrong */
    return weft_output_close(&out, written, err) == 0 && written;
}

void weft_window_save_table_to(WeftWindow *w, const char *path)
{
    g_autofree char *name = g_filename_display_basename(path);
    struct weft_error err = {.offset = WEFT_NO_OFFSET};
    if (!w->traces->len)
        return;
    if (write_table(w, path, &err))
        weft_window_toast(w, "%s has been saved", name);
    else
        weft_window_complain(w, false, "%s cannot be saved: it %s", name, err.text);
}

void weft_window_copy_table(WeftWindow *w)
{
    const char *text = weft_explorer_table_tsv(w->e);
    if (!text)
        return;
    gdk_clipboard_set_text(gtk_widget_get_clipboard(GTK_WIDGET(w)), text);
    weft_window_toast(w, "The table has been copied");
}

static void on_table_chosen(GtkNativeDialog *dialog, int response, WeftWindow *w)
{
    g_autofree char *path = answer(dialog, response);
    if (path)
        weft_window_save_table_to(w, path);
}

void weft_window_save_table(WeftWindow *w)
{
    gtk_native_dialog_show(
        GTK_NATIVE_DIALOG(ask(w, "Save Table", "table.tsv", G_CALLBACK(on_table_chosen))));
}
