/* SPDX-License-Identifier: ISC */
/* All commands as actions of the window: for keys, menus and, through D-Bus, scripts.
 *
 * Each command is an action of the same name. "place" and "find" take a text, which is also their state; "facts",
 * "found", "selected", "visible", "tip", "message", "link" (the one copied last) and "picture" (x, y, width and height
 * in the window) only have a state. "quiet" takes a text, and reports it as its state once everything is shown that
 * resulted from earlier keyboard and pointer events. */
#include <string.h>

#include "gtk/settings.h"
#include "gtk/window.h"

#define TEXT_STEP 10
#define TEXT_MIN 50
#define TEXT_MAX 300
#define QUIET_FRAMES 300 /* after these, everything counts as shown even if something goes on */

static void set_text_percent(WeftWindow *w, int percent)
{
    weft_settings()->text_percent = CLAMP(percent, TEXT_MIN, TEXT_MAX);
    weft_window_set_looks(w);
    g_autofree char *text = g_strdup_printf("Texts at %d %%", weft_settings()->text_percent);
    weft_window_toast(w, text);
}

static void toggle_theme(WeftWindow *w)
{
    gboolean dark = FALSE;
    GtkSettings *settings = gtk_settings_get_default();
    (void)w;
    g_object_get(settings, "gtk-application-prefer-dark-theme", &dark, NULL);
    g_strlcpy(weft_settings()->theme, dark ? "light" : "dark", sizeof weft_settings()->theme);
    g_object_set(settings, "gtk-application-prefer-dark-theme", !dark, NULL);
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
        toggle_theme(w);
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
    default:
        break;
    }
    if (!w->traces->len)
        return;
    switch (command) {
    case WEFT_COMMAND_SEARCH:
        gtk_widget_grab_focus(w->entry);
        gtk_editable_select_region(GTK_EDITABLE(w->entry), 0, -1);
        break;
    case WEFT_COMMAND_REFRESH:
        weft_window_reread(w);
        break;
    case WEFT_COMMAND_COPY_LINK:
        weft_window_copy_link(w);
        break;
    case WEFT_COMMAND_SAVE_PICTURE:
        weft_window_save_picture(w);
        break;
    default:
        weft_explorer_command(w->e, command);
        weft_window_touched(w);
    }
}

static void on_command(GSimpleAction *action, GVariant *parameter, gpointer data)
{
    const char *name = g_action_get_name(G_ACTION(action));
    (void)parameter;
    for (unsigned i = 0; i < WEFT_COMMANDS; i++)
        if (strcmp(weft_commands[i].name, name) == 0)
            weft_window_command(data, (enum weft_command)i);
}

/* ---- Actions that are not commands of the explorer ---- */

static void on_place(GSimpleAction *action, GVariant *parameter, gpointer data)
{
    WeftWindow *w = data;
    (void)action;
    if (!w->traces->len)
        return;
    if (!weft_explorer_go(w->e, g_variant_get_string(parameter, NULL)))
        weft_window_toast(w, "Not all of that place is in this trace");
    weft_window_compare(w);
    weft_window_touched(w);
}

static void on_find(GSimpleAction *action, GVariant *parameter, gpointer data)
{
    WeftWindow *w = data;
    (void)action;
    weft_explorer_search(w->e, g_variant_get_string(parameter, NULL));
    weft_window_touched(w);
}

static void read_one(WeftWindow *w, GVariant *parameter, bool add)
{
    const char *paths[] = {g_variant_get_bytestring(parameter), NULL};
    if (add)
        weft_window_read(w, paths, NULL);
    else
        weft_window_open(w, paths);
}

static void on_open_file(GSimpleAction *action, GVariant *parameter, gpointer data)
{
    (void)action;
    read_one(data, parameter, false);
}

static void on_add_file(GSimpleAction *action, GVariant *parameter, gpointer data)
{
    (void)action;
    read_one(data, parameter, true);
}

static void on_save_to(GSimpleAction *action, GVariant *parameter, gpointer data)
{
    (void)action;
    weft_window_save_picture_to(data, g_variant_get_bytestring(parameter));
}

static void on_remove(GSimpleAction *action, GVariant *parameter, gpointer data)
{
    int pane = g_variant_get_int32(parameter);
    (void)action;
    if (pane >= 0)
        weft_window_remove(data, (unsigned)pane);
}

static void on_stop(GSimpleAction *action, GVariant *parameter, gpointer data)
{
    WeftWindow *w = data;
    (void)action;
    (void)parameter;
    weft_window_stop_reading(w);
    gtk_widget_set_visible(w->progress, FALSE);
    weft_window_show_page(w, w->traces->len ? "view" : "empty");
}

static void on_panel(GSimpleAction *action, GVariant *state, gpointer data)
{
    WeftWindow *w = data;
    gtk_widget_set_visible(GTK_WIDGET(w->panel), g_variant_get_boolean(state));
    weft_settings()->panel = g_variant_get_boolean(state);
    g_simple_action_set_state(action, state);
}

static void on_normal_text(GSimpleAction *action, GVariant *parameter, gpointer data)
{
    (void)action;
    (void)parameter;
    set_text_percent(data, 100);
}

static void on_about(GSimpleAction *action, GVariant *parameter, gpointer data)
{
    (void)action;
    (void)parameter;
    weft_window_show_about(data);
}

static void on_close(GSimpleAction *action, GVariant *parameter, gpointer data)
{
    (void)action;
    (void)parameter;
    gtk_window_close(GTK_WINDOW(data));
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

static void on_quiet(GSimpleAction *action, GVariant *parameter, gpointer data)
{
    struct quiet *q = g_new0(struct quiet, 1);
    (void)action;
    q->text = g_variant_dup_string(parameter, NULL);
    gdk_display_sync(gtk_widget_get_display(data)); /* now all events up to here have arrived */
    gtk_widget_add_tick_callback(data, on_quiet_frame, q, quiet_free);
}

static const GActionEntry others[] = {
    {.name = "place", .activate = on_place, .parameter_type = "s", .state = "''"},
    {.name = "find", .activate = on_find, .parameter_type = "s", .state = "''"},
    {.name = "quiet", .activate = on_quiet, .parameter_type = "s", .state = "''"},
    {.name = "open-file", .activate = on_open_file, .parameter_type = "ay"},
    {.name = "add-file", .activate = on_add_file, .parameter_type = "ay"},
    {.name = "save-picture-to", .activate = on_save_to, .parameter_type = "ay"},
    {.name = "remove", .activate = on_remove, .parameter_type = "i"},
    {.name = "stop-reading", .activate = on_stop},
    {.name = "panel", .state = "true", .change_state = on_panel},
    {.name = "text-normal", .activate = on_normal_text},
    {.name = "about", .activate = on_about},
    {.name = "close", .activate = on_close},
};

static const char *const told[] = {"facts", "found",   "selected", "visible",
                                   "tip",   "message", "link",     "picture"};

void weft_window_tell(WeftWindow *w, const char *name, const char *text)
{
    GAction *action = g_action_map_lookup_action(G_ACTION_MAP(w), name);
    g_autoptr(GVariant) state = g_action_get_state(action);
    if (strcmp(g_variant_get_string(state, NULL), text) != 0)
        g_simple_action_set_state(G_SIMPLE_ACTION(action), g_variant_new_string(text));
}

void weft_window_add_actions(WeftWindow *w)
{
    for (unsigned i = 0; i < WEFT_COMMANDS; i++) {
        g_autoptr(GSimpleAction) action = g_simple_action_new(weft_commands[i].name, NULL);
        g_signal_connect(action, "activate", G_CALLBACK(on_command), w);
        g_action_map_add_action(G_ACTION_MAP(w), G_ACTION(action));
    }
    g_action_map_add_action_entries(G_ACTION_MAP(w), others, G_N_ELEMENTS(others), w);
    GAction *panel = g_action_map_lookup_action(G_ACTION_MAP(w), "panel");
    g_simple_action_set_state(G_SIMPLE_ACTION(panel),
                              g_variant_new_boolean(weft_settings()->panel));
    for (size_t i = 0; i < G_N_ELEMENTS(told); i++) {
        g_autoptr(GSimpleAction) action =
            g_simple_action_new_stateful(told[i], NULL, g_variant_new_string(""));
        g_action_map_add_action(G_ACTION_MAP(w), G_ACTION(action));
    }
}
