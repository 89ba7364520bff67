/* SPDX-License-Identifier: ISC */
#include <string.h>

#include "gtk/keys.h"
#include "gtk/window.h"

/* What the mouse does, for the help overlay: GTK has no names for these gestures. */
static const char *const pointer[][2] = {
    {"drag", "pan; on the ruler: measure a range"},
    {"wheel", "zoom about the pointer"},
    {"Shift + wheel", "pan in time"},
    {"Ctrl + wheel", "spread the rows"},
    {"click", "select a promise"},
    {"Alt + drag", "move one trace against the others"},
};

static void append_group(GString *xml, const char *group)
{
    g_string_append_printf(
        xml, "<child><object class='GtkShortcutsGroup'><property name='title'>%s</property>",
        group);
    for (unsigned i = 0; i < WEFT_COMMANDS; i++) {
        if (strcmp(weft_commands[i].group, group) != 0)
            continue;
        g_autofree char *keys = weft_key_accelerators(weft_commands[i].keys);
        g_autofree char *help = g_markup_escape_text(weft_commands[i].help, -1);
        g_string_append_printf(xml,
                               "<child><object class='GtkShortcutsShortcut'>"
                               "<property name='accelerator'>%s</property>"
                               "<property name='title'>%s</property></object></child>",
                               keys, help);
    }
    g_string_append(xml, "</object></child>");
}

static void append_pointer(GString *xml)
{
    g_string_append(
        xml, "<child><object class='GtkShortcutsGroup'><property name='title'>Pointer</property>");
    for (size_t i = 0; i < G_N_ELEMENTS(pointer); i++)
        g_string_append_printf(xml,
                               "<child><object class='GtkShortcutsShortcut'>"
                               "<property name='shortcut-type'>gesture</property>"
                               "<property name='title'>%s</property>"
                               "<property name='subtitle'>%s</property></object></child>",
                               pointer[i][0], pointer[i][1]);
    g_string_append(xml, "</object></child>");
}

void weft_window_show_keys(WeftWindow *w)
{
    GString *xml = g_string_new(
        "<interface><object class='GtkShortcutsWindow' id='keys'><property "
        "name='modal'>1</property>"
        "<child><object class='GtkShortcutsSection'><property name='section-name'>keys</property>"
        "<property name='max-height'>12</property>");
    for (unsigned i = 0; i < WEFT_COMMANDS; i++) {
        unsigned first = 0;
        while (strcmp(weft_commands[first].group, weft_commands[i].group) != 0)
            first++;
        if (first == i)
            append_group(xml, weft_commands[i].group);
    }
    append_pointer(xml);
    g_string_append(xml, "</object></child></object></interface>");
    g_autoptr(GtkBuilder) builder = gtk_builder_new_from_string(xml->str, (gssize)xml->len);
    g_string_free(xml, TRUE);
    GtkWindow *keys = GTK_WINDOW(gtk_builder_get_object(builder, "keys"));
    gtk_window_set_transient_for(keys, GTK_WINDOW(w));
    gtk_window_present(keys);
}

void weft_window_show_about(WeftWindow *w)
{
    gtk_show_about_dialog(GTK_WINDOW(w), "program-name", "weft", "version", WEFT_VERSION,
                          "comments", "What was this asynchronous program waiting for?",
                          "logo-icon-name", WEFT_APPLICATION_ID, "license-type", GTK_LICENSE_CUSTOM,
                          "license", "ISC licence; see the file LICENSE of weft.", NULL);
}
