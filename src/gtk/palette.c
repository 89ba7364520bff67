/* SPDX-License-Identifier: ISC */
/* All commands by name, over the picture: a list that what is typed makes shorter. */
#include "gtk/window.h"

#include <string.h>

#define ROWS_PX 420

static void close_palette(WeftWindow *w)
{
    if (!gtk_widget_get_visible(w->palette))
        return;
    gtk_widget_set_visible(w->palette, FALSE);
    if (w->traces->len)
        gtk_widget_grab_focus(GTK_WIDGET(w->picture));
}

static GtkWidget *text(const char *given, const char *class)
{
    GtkWidget *label = gtk_label_new(given);
    if (class)
        gtk_widget_add_css_class(label, class);
    gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
    return label;
}

/* "+ =" becomes "+": the first of a command's keys. The caller frees it. */
static char *first_key(const char *keys)
{
    return g_strndup(keys, strcspn(keys, " "));
}

static GtkWidget *row_of(enum weft_command command)
{
    const struct weft_command_info *c = &weft_commands[command];
    g_autofree char *key = first_key(c->keys), *help = weft_command_title(c);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12), *what = text(help, NULL),
              *row = gtk_list_box_row_new();
    g_object_set(what, "hexpand", TRUE, "xalign", 0.0, NULL);
    gtk_box_append(GTK_BOX(box), what);
    gtk_box_append(GTK_BOX(box), text(c->name, "dim-label"));
    gtk_box_append(GTK_BOX(box), text(key, "keycap"));
    gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), box);
    g_autofree char *said = g_strdup_printf("%s, %s", help, key);
    gtk_accessible_update_property(GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_PROPERTY_LABEL, said, -1);
    g_object_set_data(G_OBJECT(row), "command", GUINT_TO_POINTER(command));
    return row;
}

static void prefer(WeftWindow *w, int index)
{
    GtkListBoxRow *row = gtk_list_box_get_row_at_index(GTK_LIST_BOX(w->commands), index);
    double x = 0, y = 0;
    if (!row)
        return;
    gtk_list_box_select_row(GTK_LIST_BOX(w->commands), row);
    gtk_accessible_update_relation(GTK_ACCESSIBLE(w->wanted),
                                   GTK_ACCESSIBLE_RELATION_ACTIVE_DESCENDANT, row, -1);
    GtkAdjustment *at = gtk_list_box_get_adjustment(GTK_LIST_BOX(w->commands));
    if (at && gtk_widget_translate_coordinates(GTK_WIDGET(row), w->commands, 0, 0, &x, &y))
        gtk_adjustment_clamp_page(at, y, y + gtk_widget_get_height(GTK_WIDGET(row)));
}

static void list_commands(WeftWindow *w)
{
    enum weft_command found[WEFT_COMMANDS];
    unsigned count = weft_command_find(gtk_editable_get_text(GTK_EDITABLE(w->wanted)), found);
    g_autoptr(GString) names = g_string_new("");
    GtkWidget *row;
    while ((row = gtk_widget_get_first_child(w->commands)) && GTK_IS_LIST_BOX_ROW(row))
        gtk_list_box_remove(GTK_LIST_BOX(w->commands), row);
    for (unsigned i = 0; i < count; i++) {
        gtk_list_box_append(GTK_LIST_BOX(w->commands), row_of(found[i]));
        g_string_append_printf(names, "%s\n", weft_commands[found[i]].name);
    }
    prefer(w, 0);
    weft_window_tell(w, "commands", names->str);
}

static void on_row(WeftWindow *w, GtkListBoxRow *row)
{
    close_palette(w);
    if (row)
        weft_window_command(
            w, (enum weft_command)GPOINTER_TO_UINT(g_object_get_data(G_OBJECT(row), "command")));
}

static void on_enter(WeftWindow *w)
{
    on_row(w, gtk_list_box_get_selected_row(GTK_LIST_BOX(w->commands)));
}

static gboolean on_key(GtkEventControllerKey *controller, guint keyval, guint keycode,
                       GdkModifierType state, WeftWindow *w)
{
    GtkListBoxRow *row = gtk_list_box_get_selected_row(GTK_LIST_BOX(w->commands));
    int at = row ? gtk_list_box_row_get_index(row) : 0;
    (void)controller;
    (void)keycode;
    (void)state;
    if (keyval == GDK_KEY_Escape)
        close_palette(w);
    else if (keyval == GDK_KEY_Down || keyval == GDK_KEY_KP_Down)
        prefer(w, at + 1);
    else if (keyval == GDK_KEY_Up || keyval == GDK_KEY_KP_Up)
        prefer(w, at - 1);
    else
        return FALSE;
    return TRUE;
}

GtkWidget *weft_window_palette(WeftWindow *w)
{
    w->wanted =
        g_object_new(GTK_TYPE_SEARCH_ENTRY, "placeholder-text", "Command", "search-delay", 0, NULL);
    weft_window_name(w->wanted, "Command", NULL);
    g_signal_connect_swapped(w->wanted, "search-changed", G_CALLBACK(list_commands), w);
    g_signal_connect_swapped(w->wanted, "activate", G_CALLBACK(on_enter), w);
    GtkEventController *keys = gtk_event_controller_key_new();
    gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE);
    g_signal_connect(keys, "key-pressed", G_CALLBACK(on_key), w);
    gtk_widget_add_controller(w->wanted, keys);
    w->commands = gtk_list_box_new();
    gtk_list_box_set_placeholder(GTK_LIST_BOX(w->commands),
                                 text("No command has these words", "dim-label"));
    weft_window_name(w->commands, "Commands", NULL);
    g_signal_connect_swapped(w->commands, "row-activated", G_CALLBACK(on_row), w);
    GtkWidget *scrolled =
        g_object_new(GTK_TYPE_SCROLLED_WINDOW, "child", w->commands, "min-content-height", ROWS_PX,
                     "hscrollbar-policy", GTK_POLICY_NEVER, NULL);
    w->palette = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
    gtk_box_append(GTK_BOX(w->palette), w->wanted);
    gtk_box_append(GTK_BOX(w->palette), scrolled);
    gtk_widget_add_css_class(w->palette, "reading");
    g_object_set(w->palette, "halign", GTK_ALIGN_CENTER, "valign", GTK_ALIGN_START, "width-request",
                 560, "visible", FALSE, NULL);
    return w->palette;
}

void weft_window_show_palette(WeftWindow *w)
{
    gtk_editable_set_text(GTK_EDITABLE(w->wanted), "");
    list_commands(w);
    gtk_widget_set_visible(w->palette, TRUE);
    gtk_widget_grab_focus(w->wanted);
}
