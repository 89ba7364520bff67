/* SPDX-License-Identifier: ISC */
/* All commands as actions of the window: for keys, menus and, through D-Bus, scripts.
 *
 * Each command is an action of the same name. "place" and "find" take a text, which is also their state; "facts",
 * "found", "selected", "visible", "table-text", "tip", "message", "notes", "link" (the one copied last), "picture" (x, y,
 * width and height in the window), "commands" (in the palette), "card" (of the tour) and "menu" (the commands there) only have a state. "quiet"
 * takes a text, and reports it as its state once everything is shown that resulted from earlier keyboard and pointer
 * events. "add-note", "edit-note" and "delete-note" do without the window in which a note is written. */
#include <string.h>

#include "gtk/window.h"

#define TEXT_STEP 10
#define TEXT_MIN 50
#define TEXT_MAX 300
#define QUIET_FRAMES 300 /* after these, everything counts as shown even if something goes on */

static void set_text_percent(WeftWindow *w, int percent)
{
    weft_settings()->text_percent = CLAMP(percent, TEXT_MIN, TEXT_MAX);
    weft_window_set_looks(w);
    weft_window_toast(w, "Texts at %d %%", weft_settings()->text_percent);
}

static void toggle_theme(void)
{
    bool dark = weft_window_is_dark();
    g_strlcpy(weft_settings()->theme, dark ? "light" : "dark", sizeof weft_settings()->theme);
    g_object_set(gtk_settings_get_default(), "gtk-application-prefer-dark-theme", !dark, NULL);
}

void weft_window_command(WeftWindow *w, enum weft_command command)
{
    switch (command) {
    case WEFT_COMMAND_OPEN:
        weft_window_choose(w, false);
        return;
    case WEFT_COMMAND_ADD:
        weft_window_choose(w, true);
        return;
    case WEFT_COMMAND_THEME:
        toggle_theme();
        return;
    case WEFT_COMMAND_TEXT_LARGER:
        set_text_percent(w, weft_settings()->text_percent + TEXT_STEP);
        return;
    case WEFT_COMMAND_TEXT_SMALLER:
        set_text_percent(w, weft_settings()->text_percent - TEXT_STEP);
        return;
    case WEFT_COMMAND_HELP:
        weft_window_show_keys(w);
        return;
    case WEFT_COMMAND_TOUR:
        weft_window_take_tour(w, NULL);
        return;
    case WEFT_COMMAND_PALETTE:
        weft_window_show_palette(w);
        return;
    default:
        break;
    }
    if (!w->traces->len) {
        weft_window_toast(w, "No trace is open");
        return;
    }
    switch (command) {
    case WEFT_COMMAND_SEARCH:
        gtk_widget_grab_focus(w->entry);
        gtk_editable_select_region(GTK_EDITABLE(w->entry), 0, -1);
        break;
    case WEFT_COMMAND_REFRESH:
        weft_window_reread(w);
        break;
    case WEFT_COMMAND_NOTE:
        weft_window_write_note(w);
        break;
    case WEFT_COMMAND_COPY_LINK:
        weft_window_copy_link(w);
        break;
    case WEFT_COMMAND_SAVE_PICTURE:
        weft_window_save_picture(w);
        break;
    case WEFT_COMMAND_PRINT:
        weft_window_print(w, NULL);
        break;
    default:
        weft_explorer_command(w->e, command);
        if (*weft_explorer_why(w->e))
            weft_window_toast(w, "%s", weft_explorer_why(w->e));
        weft_window_touched(w);
    }
}

/* ---- Actions; each gets the window, then its parameter, then itself ---- */

static void on_command(WeftWindow *w, GVariant *parameter, GAction *action)
{
    const char *name = g_action_get_name(action);
    (void)parameter;
    for (unsigned i = 0; i < WEFT_COMMANDS; i++)
        if (strcmp(weft_commands[i].name, name) == 0)
            weft_window_command(w, (enum weft_command)i);
}

static void on_place(WeftWindow *w, GVariant *parameter)
{
    if (!w->traces->len)
        return;
    if (!weft_explorer_go(w->e, g_variant_get_string(parameter, NULL)))
        weft_window_toast(w, "Not all of that place is in this trace");
    weft_window_compare(w);
    weft_window_touched(w);
}

static void on_find(WeftWindow *w, GVariant *parameter)
{
    weft_explorer_search(w->e, g_variant_get_string(parameter, NULL));
    weft_window_touched(w);
}

static void on_open_file(WeftWindow *w, GVariant *parameter)
{
    weft_window_open(w, (const char *[]){g_variant_get_bytestring(parameter), NULL});
}

static void on_add_file(WeftWindow *w, GVariant *parameter)
{
    weft_window_read(w, (const char *[]){g_variant_get_bytestring(parameter), NULL}, NULL);
}

static void on_save_to(WeftWindow *w, GVariant *parameter)
{
    weft_window_save_picture_to(w, g_variant_get_bytestring(parameter));
}

static void on_print_to(WeftWindow *w, GVariant *parameter)
{
    if (w->traces->len)
        weft_window_print(w, g_variant_get_bytestring(parameter));
}

static void on_table_by(WeftWindow *w, GVariant *parameter)
{
    const char *by = g_variant_get_string(parameter, NULL);
    for (unsigned i = 0; i < WEFT_TABLES; i++)
        if (strcmp(by, weft_table_names[i]) == 0)
            weft_explorer_table_show(w->e, (enum weft_table_by)i);
    weft_window_touched(w);
}

static void on_table_row(WeftWindow *w, GVariant *parameter)
{
    weft_explorer_table_go(w->e, (uint32_t)g_variant_get_int32(parameter));
    weft_window_touched(w);
}

static void on_save_table_to(WeftWindow *w, GVariant *parameter)
{
    weft_window_save_table_to(w, g_variant_get_bytestring(parameter));
}

static void on_remove(WeftWindow *w, GVariant *parameter)
{
    int pane = g_variant_get_int32(parameter);
    if (pane >= 0)
        weft_window_remove(w, (unsigned)pane);
}

static void on_add_note(WeftWindow *w, GVariant *parameter)
{
    weft_explorer_note_add(w->e, g_variant_get_string(parameter, NULL));
    weft_window_touched(w);
}

static void on_edit_note(WeftWindow *w, GVariant *parameter)
{
    guint32 note;
    const char *text;
    g_variant_get(parameter, "(u&s)", &note, &text);
    weft_explorer_note_edit(w->e, note, text);
    weft_window_touched(w);
}

static void on_delete_note(WeftWindow *w, GVariant *parameter)
{
    weft_explorer_note_delete(w->e, g_variant_get_uint32(parameter));
    weft_window_touched(w);
}

static void on_stop(WeftWindow *w)
{
    weft_window_stop_reading(w);
    gtk_widget_set_visible(w->progress, FALSE);
    weft_outline_area_set(w->outline, NULL, NULL);
    weft_window_show_page(w, w->traces->len ? "view" : "empty");
}

static void on_panel(WeftWindow *w, GVariant *state, GSimpleAction *action)
{
    gtk_widget_set_visible(GTK_WIDGET(w->panel), g_variant_get_boolean(state));
    weft_settings()->panel = g_variant_get_boolean(state);
    g_simple_action_set_state(action, state);
}

static void on_normal_text(WeftWindow *w)
{
    set_text_percent(w, 100);
}

struct quiet {
    char *text;
    int idle, frames; /* idle: the number of latest frames in which there was nothing to do */
};

static void quiet_free(gpointer data)
{
    struct quiet *q = data;
    g_free(q->text);
    g_free(q);
}

static gboolean on_quiet_frame(GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
    WeftWindow *w = (WeftWindow *)widget;
    struct quiet *q = data;
    (void)clock;
    q->idle = w->later || w->work ? 0 : q->idle + 1;
    if (q->idle < 3 && ++q->frames < QUIET_FRAMES)
        return G_SOURCE_CONTINUE;
    weft_window_tell(w, "quiet", q->text);
    return G_SOURCE_REMOVE;
}

static void on_quiet(GtkWidget *w, GVariant *parameter)
{
    struct quiet *q = g_new0(struct quiet, 1);
    q->text = g_variant_dup_string(parameter, NULL);
    gdk_display_sync(gtk_widget_get_display(w)); /* now all events up to here have arrived */
    gtk_widget_add_tick_callback(w, on_quiet_frame, q, quiet_free);
}

static const struct {
    const char *name, *parameter;
    bool has_text; /* as its state */
    GCallback activate;
} others[] = {
    {"place", "s", true, G_CALLBACK(on_place)},
    {"find", "s", true, G_CALLBACK(on_find)},
    {"quiet", "s", true, G_CALLBACK(on_quiet)},
    {"open-file", "ay", false, G_CALLBACK(on_open_file)},
    {"add-file", "ay", false, G_CALLBACK(on_add_file)},
    {"save-picture-to", "ay", false, G_CALLBACK(on_save_to)},
    {"print-to", "ay", false, G_CALLBACK(on_print_to)},
    {"table-by", "s", false, G_CALLBACK(on_table_by)},
    {"table-row", "i", false, G_CALLBACK(on_table_row)},
    {"copy-table", NULL, false, G_CALLBACK(weft_window_copy_table)},
    {"save-table", NULL, false, G_CALLBACK(weft_window_save_table)},
    {"save-table-to", "ay", false, G_CALLBACK(on_save_table_to)},
    {"table-text", NULL, true, NULL},
    {"remove", "i", false, G_CALLBACK(on_remove)},
    {"add-note", "s", false, G_CALLBACK(on_add_note)},
    {"edit-note", "(us)", false, G_CALLBACK(on_edit_note)},
    {"delete-note", "u", false, G_CALLBACK(on_delete_note)},
    {"stop-reading", NULL, false, G_CALLBACK(on_stop)},
    {"text-normal", NULL, false, G_CALLBACK(on_normal_text)},
    {"about", NULL, false, G_CALLBACK(weft_window_show_about)},
    {"close", NULL, false, G_CALLBACK(gtk_window_close)},
    {"facts", NULL, true, NULL},
    {"found", NULL, true, NULL},
    {"selected", NULL, true, NULL},
    {"visible", NULL, true, NULL},
    {"tip", NULL, true, NULL},
    {"message", NULL, true, NULL},
    {"notes", NULL, true, NULL},
    {"link", NULL, true, NULL},
    {"picture", NULL, true, NULL},
    {"commands", NULL, true, NULL},
    {"card", NULL, true, NULL},
    {"menu", NULL, true, NULL},
};

void weft_window_tell(WeftWindow *w, const char *name, const char *text)
{
    GAction *action = g_action_map_lookup_action(G_ACTION_MAP(w), name);
    g_autoptr(GVariant) state = g_action_get_state(action);
    if (strcmp(g_variant_get_string(state, NULL), text) != 0)
        g_simple_action_set_state(G_SIMPLE_ACTION(action), g_variant_new_string(text));
}

/* state may be NULL. */
static void add(WeftWindow *w, const char *name, const char *parameter, GVariant *state,
                const char *signal, GCallback callback)
{
    const GVariantType *type = parameter ? G_VARIANT_TYPE(parameter) : NULL;
    g_autoptr(GSimpleAction) action =
        state ? g_simple_action_new_stateful(name, type, state) : g_simple_action_new(name, type);
    if (callback)
        g_signal_connect_swapped(action, signal, callback, w);
    g_action_map_add_action(G_ACTION_MAP(w), G_ACTION(action));
}

void weft_window_add_actions(WeftWindow *w)
{
    for (unsigned i = 0; i < WEFT_COMMANDS; i++)
        add(w, weft_commands[i].name, NULL, NULL, "activate", G_CALLBACK(on_command));
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
        add(w, others[i].name, others[i].parameter,
            others[i].has_text ? g_variant_new_string("") : NULL, "activate", others[i].activate);
    add(w, "panel", NULL, g_variant_new_boolean(weft_settings()->panel), "change-state",
        G_CALLBACK(on_panel));
}
