/* SPDX-License-Identifier: ISC */
/* The help, and names of keys. */
#include <string.h>

#include "gtk/window.h"

/* Where a browser, whose names the commands use, calls a key otherwise than GDK does. */
static const struct {
    const char *gdk, *browser;
} keys[] = {
    {"Left", "ArrowLeft"},      {"Right", "ArrowRight"}, {"Up", "ArrowUp"},
    {"Down", "ArrowDown"},      {"Page_Up", "PageUp"},   {"Page_Down", "PageDown"},
    {"BackSpace", "Backspace"}, {"Return", "Enter"},     {"space", "Space"},
};

bool weft_key_name(guint keyval, char name[16])
{
    const char *gdk = gdk_keyval_name(keyval);
    gunichar c = gdk_keyval_to_unicode(keyval);
    if (!gdk)
        return false;
    gdk += g_str_has_prefix(gdk, "KP_") ? strlen("KP_") : 0;
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
        if (strcmp(keys[i].gdk, gdk) == 0)
            gdk = keys[i].browser;
    if (strcmp(gdk, "Space") == 0 || !c || g_unichar_iscntrl(c))
        g_strlcpy(name, gdk, 16);
    else
        name[g_unichar_to_utf8(c, name)] = '\0';
    return true;
}

/* Appends one of the keys, which is size bytes long. */
static void append_accelerator(GString *out, const char *key, size_t size)
{
    g_autofree char *name = g_strndup(key, size);
    const char *rest = name;
    for (const char *plus; (plus = strchr(rest, '+')) && plus[1]; rest = plus + 1)
        g_string_append_printf(out, "&lt;%.*s&gt;", (int)(plus - rest), rest);
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
        if (strcmp(keys[i].browser, rest) == 0)
            rest = keys[i].gdk;
    if (g_utf8_strlen(rest, -1) > 1) {
        g_string_append(out, rest);
        return;
    }
    gunichar c = g_utf8_get_char(rest);
    const char *named = gdk_keyval_name(gdk_unicode_to_keyval(g_unichar_tolower(c)));
    if (c != g_unichar_tolower(c))
        g_string_append(out, "&lt;Shift&gt;");
    g_string_append(out, named ? named : rest);
}

/* A command's keys as GtkShortcutsShortcut wants them: "+ =" becomes "plus equal". As markup; the caller frees it. */
static char *accelerators(const char *commands_keys)
{
    GString *out = g_string_new(NULL);
    for (const char *k = commands_keys; *k; k += strspn(k, " ")) {
        size_t size = strcspn(k, " ");
        if (out->len)
            g_string_append_c(out, ' ');
        append_accelerator(out, k, size);
        k += size;
    }
    return g_string_free(out, FALSE);
}

/* What the mouse does, for the help overlay: GTK has no names for these gestures. */
static const char *const pointer[][2] = {
    {"drag", "pan; on the ruler: measure a range"},
    {"wheel", "zoom about the pointer"},
    {"Shift + wheel", "pan in time"},
    {"Ctrl + wheel", "spread the rows"},
    {"click", "select a promise"},
    {"Shift + drag", "move one trace against the others"},
    {"two fingers", "zoom and pan"},
    {"long touch", "describe what is there"},
};

static void append_group(GString *xml, const char *group)
{
    g_string_append_printf(
        xml, "<child><object class='GtkShortcutsGroup'><property name='title'>%s</property>",
        group);
    for (unsigned i = 0; i < WEFT_COMMANDS; i++) {
        if (strcmp(weft_commands[i].group, group) != 0)
            continue;
        g_autofree char *keys = accelerators(weft_commands[i].keys);
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
