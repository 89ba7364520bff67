/* SPDX-License-Identifier: ISC */
/* Notes: their list in the panel, the window in which one is written, and their files. */
#include "notes/notes.h"

#include "gtk/window.h"

#define LIST_PX 120

/* ---- Files ---- */

static const char *path_of(const struct weft_trace *t)
{
    return t->file ? t->path : NULL;
}

/* Adds what is kept to what is shown. Returns false, and complains, if it cannot be read. */
static bool take_kept(WeftWindow *w, const struct weft_trace *t, unsigned source)
{
    struct weft_notes kept;
    struct weft_error err = {.offset = WEFT_NO_OFFSET};
    int rc = weft_notes_load(&kept, path_of(t), &err);
    for (size_t i = 0; i < kept.count; i++)
        weft_explorer_note_put(w->e, source, kept.since, kept.item[i].at, kept.item[i].text);
    weft_notes_fini(&kept);
    if (rc < 0) {
        g_autofree char *text = g_utf8_make_valid(err.text, -1);
        weft_window_complain(w, false, "Notes cannot be read: %s", text);
    }
    return rc == 0;
}

void weft_window_load_notes(WeftWindow *w, const struct weft_trace *t)
{
    if (path_of(t))
        take_kept(w, t, w->traces->len);
}

static int save(WeftWindow *w, const char *path, unsigned source, char *where, size_t room,
                struct weft_error *err)
{
    struct weft_notes notes = {.since = g_strdup(weft_explorer_notes_since(w->e, source))};
    uint32_t count = 0;
    const struct weft_note *note = weft_explorer_notes(w->e, &count);
    int rc = 0;
    for (uint32_t i = 0; i < count && rc == 0; i++)
        if (weft_explorer_source(w->e, note[i].pane) == source)
            rc = weft_notes_add(&notes, note[i].at, note[i].text);
    rc = rc == 0 ? weft_notes_save(&notes, path, where, room, err) : weft_no_memory(err);
    weft_notes_fini(&notes);
    return rc;
}

/* Another window may have changed the file, so what is in it is read before. */
static void keep(WeftWindow *w, const struct weft_trace *t, unsigned source)
{
    char where[4096];
    struct weft_error err = {.offset = WEFT_NO_OFFSET};
    const char *path = path_of(t);
    weft_explorer_notes_saved(w->e, source); /* a failure is told once */
    if (!path) {
        weft_window_toast(w, "Notes are kept only in links and pictures, because this trace is "
                             "not a file");
        return;
    }
    take_kept(w, t, source);
    if (save(w, path, source, where, sizeof where, &err) < 0) {
        g_autofree char *text = g_utf8_make_valid(err.text, -1);
        weft_window_complain(w, false, "Notes cannot be kept: %s", text);
        return;
    }
    g_autofree char *name = g_filename_display_name(where);
    weft_window_toast(w, "Notes are kept in %s", name);
}

/* ---- Writing one ---- */

struct form {
    WeftWindow *w;
    GtkWidget *window, *entry;
    int index; /* of the note that is changed; -1: a new one */
};

static void on_form_done(struct form *f)
{
    const char *text = gtk_editable_get_text(GTK_EDITABLE(f->entry));
    bool done = f->index < 0 ? weft_explorer_note_add(f->w->e, text)
                             : weft_explorer_note_edit(f->w->e, (uint32_t)f->index, text);
    if (!done)
        weft_window_toast(f->w, "There is no room for more notes");
    weft_window_touched(f->w);
    gtk_window_destroy(GTK_WINDOW(f->window));
}

static gboolean on_form_key(GtkEventControllerKey *keys, guint keyval, guint keycode,
                            GdkModifierType state, struct form *f)
{
    (void)keys;
    (void)keycode;
    (void)state;
    if (keyval != GDK_KEY_Escape)
        return FALSE;
    gtk_window_destroy(GTK_WINDOW(f->window));
    return TRUE;
}

static void open_form(WeftWindow *w, int index, const char *about, const char *text)
{
    struct form *f = g_new0(struct form, 1);
    g_autofree char *title =
        g_strdup_printf("%s %s", index < 0 ? "New note:" : "Change the note:", about);
    f->w = w;
    f->index = index;
    f->window = g_object_new(GTK_TYPE_WINDOW, "transient-for", w, "modal", TRUE, "title", title,
                             "default-width", 480, "resizable", FALSE, NULL);
    f->entry = g_object_new(GTK_TYPE_ENTRY, "hexpand", TRUE, "max-length", WEFT_NOTE_BYTES / 4,
                            "text", text, "placeholder-text", "Empty: a bookmark", NULL);
    weft_window_name(f->entry, "Note", NULL);
    GtkWidget *done = gtk_button_new_with_label("Keep");
    gtk_widget_add_css_class(done, "suggested-action");
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    g_object_set(box, "margin-top", 12, "margin-bottom", 12, "margin-start", 12, "margin-end", 12,
                 NULL);
    gtk_box_append(GTK_BOX(box), f->entry);
    gtk_box_append(GTK_BOX(box), done);
    gtk_window_set_child(GTK_WINDOW(f->window), box);
    g_signal_connect_swapped(f->entry, "activate", G_CALLBACK(on_form_done), f);
    g_signal_connect_swapped(done, "clicked", G_CALLBACK(on_form_done), f);
    GtkEventController *keys = gtk_event_controller_key_new();
    gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE);
    g_signal_connect(keys, "key-pressed", G_CALLBACK(on_form_key), f);
    gtk_widget_add_controller(f->window, keys);
    g_object_set_data_full(G_OBJECT(f->window), "form", f, g_free);
    gtk_window_present(GTK_WINDOW(f->window));
}

void weft_window_write_note(WeftWindow *w)
{
    open_form(w, -1, weft_explorer_note_place(w->e), "");
}

/* ---- The list ---- */

static guint index_of(GtkWidget *button)
{
    return GPOINTER_TO_UINT(g_object_get_data(G_OBJECT(button), "note"));
}

static void on_go(GtkWidget *button, WeftWindow *w)
{
    if (!weft_explorer_note_go(w->e, index_of(button)))
        weft_window_toast(w, "What the note is about is not in this trace");
    weft_window_touched(w);
}

static void on_edit(GtkWidget *button, WeftWindow *w)
{
    uint32_t count = 0, index = index_of(button);
    const struct weft_note *note = weft_explorer_notes(w->e, &count);
    if (index < count)
        open_form(w, (int)index, note[index].about, note[index].text);
}

static void on_delete(GtkWidget *button, WeftWindow *w)
{
    weft_explorer_note_delete(w->e, index_of(button));
    weft_window_touched(w);
}

static GtkWidget *note_button(WeftWindow *w, guint index, const char *icon, const char *name,
                              GCallback callback)
{
    GtkWidget *button = icon ? gtk_button_new_from_icon_name(icon) : gtk_button_new();
    gtk_widget_add_css_class(button, "flat");
    weft_window_name(button, name, icon ? name : NULL);
    g_object_set_data(G_OBJECT(button), "note", GUINT_TO_POINTER(index));
    g_signal_connect(button, "clicked", callback, w);
    return button;
}

static void append_note(WeftWindow *w, guint index, const struct weft_note *note)
{
    g_autofree char *text =
        g_strdup_printf("%s%s%s", note->about, *note->text ? ": " : "", note->text);
    GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    GtkWidget *go = note_button(w, index, NULL, text, G_CALLBACK(on_go));
    gtk_widget_add_css_class(go, "fact-link");
    gtk_button_set_child(GTK_BUTTON(go),
                         g_object_new(GTK_TYPE_LABEL, "label", text, "xalign", 0.0, "wrap", TRUE,
                                      "wrap-mode", PANGO_WRAP_WORD_CHAR, NULL));
    gtk_widget_set_hexpand(go, TRUE);
    gtk_box_append(GTK_BOX(row), go);
    gtk_box_append(GTK_BOX(row), note_button(w, index, "document-edit-symbolic", "Change this note",
                                             G_CALLBACK(on_edit)));
    gtk_box_append(GTK_BOX(row), note_button(w, index, "user-trash-symbolic", "Delete this note",
                                             G_CALLBACK(on_delete)));
    gtk_list_box_append(GTK_LIST_BOX(w->notes), row);
}

GtkWidget *weft_window_notes_page(WeftWindow *w)
{
    w->notes = g_object_new(GTK_TYPE_LIST_BOX, "selection-mode", GTK_SELECTION_NONE, NULL);
    gtk_widget_add_css_class(w->notes, "lines");
    gtk_accessible_update_property(GTK_ACCESSIBLE(w->notes), GTK_ACCESSIBLE_PROPERTY_LABEL, "Notes",
                                   -1);
    GtkWidget *heading = g_object_new(GTK_TYPE_LABEL, "label", "Notes", "xalign", 0.0, NULL);
    gtk_widget_add_css_class(heading, "heading");
    gtk_widget_add_css_class(heading, "total");
    GtkWidget *lines = g_object_new(GTK_TYPE_SCROLLED_WINDOW, "hscrollbar-policy", GTK_POLICY_NEVER,
                                    "child", w->notes, "min-content-height", LIST_PX, NULL);
    w->notes_page = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_box_append(GTK_BOX(w->notes_page), heading);
    gtk_box_append(GTK_BOX(w->notes_page), lines);
    gtk_widget_set_visible(w->notes_page, FALSE);
    return w->notes_page;
}

void weft_window_show_notes(WeftWindow *w)
{
    uint32_t count = 0;
    for (guint i = 0; i < w->traces->len; i++)
        if (weft_explorer_notes_unsaved(w->e, i + 1))
            keep(w, w->traces->pdata[i], i + 1);
    const struct weft_note *note = weft_explorer_notes(w->e, &count);
    g_autoptr(GString) text = g_string_new(NULL);
    GtkListBoxRow *row;
    while ((row = gtk_list_box_get_row_at_index(GTK_LIST_BOX(w->notes), 0)))
        gtk_list_box_remove(GTK_LIST_BOX(w->notes), GTK_WIDGET(row));
    for (uint32_t i = 0; i < count; i++) {
        append_note(w, i, &note[i]);
        g_string_append_printf(text, "%s\t%s\n", note[i].about, note[i].text);
    }
    gtk_widget_set_visible(w->notes_page, count > 0);
    weft_window_tell(w, "notes", text->str);
}
