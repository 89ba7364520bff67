/* SPDX-License-Identifier: ISC */
/* The window's menus: of the header, and of the recent files. */
#include "gtk/window.h"

#include <string.h>

#define RECENT_MAX 10

struct entry {
    const char *label,
        *action; /* NULL, NULL ends a section; "Close" closes one of several traces */
};

static const struct entry entries[] = {
    {"_New Window", "app.new-window"},
    {"_Open…", "win.open"},
    {"_Add Below…", "win.add"},
    {"_Refresh", "win.refresh"},
    {NULL, NULL},
    {"_Save Picture…", "win.save-picture"},
    {"Pr_int…", "win.print"},
    {"_Copy Link", "win.copy-link"},
    {"Write a _Note…", "win.note"},
    {NULL, NULL},
    {"_Undo", "win.undo"},
    {"Red_o", "win.redo"},
    {"Show _Everything", "win.fit"},
    {"Show the Se_lection", "win.fit-selection"},
    {"Ne_xt Finding", "win.next-finding"},
    {"Critical _Path", "win.path"},
    {"_Compare With the Next", "win.compare"},
    {"_Flame Graph", "win.flame"},
    {"Leg_end", "win.legend"},
    {"_Why Waiting", "win.why-waiting"},
    {"Ta_ble", "win.table"},
    {"Counters", "win.counters"},
    {"Sa_mples", "win.strips"},
    {"F_old Long Sleep", "win.fold"},
    {"_Group Rows", "win.group"},
    {"Link the _Time Axes", "win.link"},
    {"Align by the _Clock", "win.align"},
    {"Side _Panel", "win.panel"},
    {NULL, NULL},
    {"_Duplicate This Trace", "win.duplicate"},
    {"Move This Trace _Up", "win.trace-up"},
    {"Move This Trace Do_wn", "win.trace-down"},
    {"Close This Trace", "win.close-trace"},
    {NULL, NULL},
    {"_Light or Dark", "win.theme"},
    {"Lar_ger Texts", "win.text-larger"},
    {"S_maller Texts", "win.text-smaller"},
    {"_Normal Texts", "win.text-normal"},
    {NULL, NULL},
    {"Close", NULL},
    {"Find a _Command…", "win.palette"},
    {"A To_ur", "win.tour"},
    {"_Keyboard Shortcuts", "win.help"},
    {"About _weft", "win.about"},
    {NULL, NULL},
};

char *weft_command_title(const struct weft_command_info *command)
{
    g_autofree char *title = g_strdup(command->help);
    title[0] = g_ascii_toupper(title[0]);
    return g_steal_pointer(&title);
}

/* All commands, in a menu for each group; tells their names. */
static GMenu *command_menu(WeftWindow *w)
{
    GMenu *menu = g_menu_new();
    g_autoptr(GString) names = g_string_new("");
    for (unsigned i = 0; i < WEFT_COMMANDS; i++) {
        const char *group = weft_commands[i].group;
        unsigned first = 0;
        while (strcmp(weft_commands[first].group, group) != 0)
            first++;
        if (first != i)
            continue;
        g_autoptr(GMenu) section = g_menu_new();
        for (unsigned k = i; k < WEFT_COMMANDS; k++) {
            if (strcmp(weft_commands[k].group, group) != 0)
                continue;
            g_autofree char *title = weft_command_title(&weft_commands[k]);
            g_autofree char *action = g_strconcat("win.", weft_commands[k].name, NULL);
            g_menu_append(section, title, action);
            g_string_append_printf(names, "%s\n", weft_commands[k].name);
        }
        g_menu_append_submenu(menu, group, G_MENU_MODEL(section));
    }
    weft_window_tell(w, "menu", names->str);
    return menu;
}

GMenuModel *weft_window_menu(WeftWindow *w)
{
    g_autoptr(GMenu) all = command_menu(w);
    GMenu *menu = g_menu_new();
    g_autoptr(GMenu) section = g_menu_new();
    for (size_t i = 0; i < G_N_ELEMENTS(entries); i++) {
        if (entries[i].action) {
            g_menu_append(section, entries[i].label, entries[i].action);
        } else if (entries[i].label) {
            g_menu_append_section(menu, entries[i].label, G_MENU_MODEL(w->close_menu));
            g_menu_append_submenu(section, "_All Commands", G_MENU_MODEL(all));
        } else {
            g_menu_append_section(menu, NULL, G_MENU_MODEL(section));
            g_object_unref(section);
            section = g_menu_new();
        }
    }
    return G_MENU_MODEL(menu);
}

/* ---- Recent files ---- */

static int by_time(gconstpointer a, gconstpointer b)
{
    GDateTime *x = gtk_recent_info_get_modified((GtkRecentInfo *)a);
    GDateTime *y = gtk_recent_info_get_modified((GtkRecentInfo *)b);
    return g_date_time_compare(y, x);
}

static void append_recent(GMenu *menu, GtkRecentInfo *info)
{
    g_autoptr(GFile) file = g_file_new_for_uri(gtk_recent_info_get_uri(info));
    g_autofree char *path = g_file_get_path(file);
    if (!path)
        return;
    g_autofree char *shown = g_filename_display_name(path), *folder = g_path_get_dirname(shown);
    g_autofree char *name = g_path_get_basename(shown);
    g_autofree char *label = g_strdup_printf("%s  (%s)", name, folder);
    g_auto(GStrv) parts = g_strsplit(label, "_", -1);
    g_autofree char *escaped = g_strjoinv("__", parts); /* _ marks a letter to be typed */
    g_autoptr(GMenuItem) item = g_menu_item_new(escaped, NULL);
    g_menu_item_set_action_and_target_value(item, "win.open-file", g_variant_new_bytestring(path));
    g_menu_append_item(menu, item);
}

static void on_recent(GtkMenuButton *button, gpointer data)
{
    g_autoptr(GMenu) menu = g_menu_new(), section = g_menu_new();
    GList *all =
        g_list_sort(gtk_recent_manager_get_items(gtk_recent_manager_get_default()), by_time);
    int count = 0;
    (void)data;
    for (GList *i = all; i && count < RECENT_MAX; i = i->next) {
        if (!gtk_recent_info_has_application(i->data, "weft") || !gtk_recent_info_exists(i->data))
            continue;
        append_recent(section, i->data);
        count++;
    }
    if (!count)
        g_menu_append(section, "None yet", "win.none");
    g_list_free_full(all, (GDestroyNotify)gtk_recent_info_unref);
    g_menu_append_section(menu, "Recent Traces", G_MENU_MODEL(section));
    gtk_menu_button_set_popover(button, gtk_popover_menu_new_from_model(G_MENU_MODEL(menu)));
}

GtkWidget *weft_window_recent_button(void)
{
    GtkWidget *button = gtk_menu_button_new();
    gtk_menu_button_set_create_popup_func(GTK_MENU_BUTTON(button), on_recent, NULL, NULL);
    return weft_window_name(button, "Recent traces", "Recent traces");
}
