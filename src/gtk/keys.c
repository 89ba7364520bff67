/* SPDX-License-Identifier: ISC */
#include "gtk/keys.h"

#include <string.h>

static const struct {
    guint keyval;
    const char *browser;
} keys[] = {
    {GDK_KEY_Left, "ArrowLeft"},
    {GDK_KEY_KP_Left, "ArrowLeft"},
    {GDK_KEY_Right, "ArrowRight"},
    {GDK_KEY_KP_Right, "ArrowRight"},
    {GDK_KEY_Up, "ArrowUp"},
    {GDK_KEY_KP_Up, "ArrowUp"},
    {GDK_KEY_Down, "ArrowDown"},
    {GDK_KEY_KP_Down, "ArrowDown"},
    {GDK_KEY_Home, "Home"},
    {GDK_KEY_KP_Home, "Home"},
    {GDK_KEY_End, "End"},
    {GDK_KEY_KP_End, "End"},
    {GDK_KEY_Page_Up, "PageUp"},
    {GDK_KEY_KP_Page_Up, "PageUp"},
    {GDK_KEY_Page_Down, "PageDown"},
    {GDK_KEY_KP_Page_Down, "PageDown"},
    {GDK_KEY_BackSpace, "Backspace"},
    {GDK_KEY_Delete, "Delete"},
    {GDK_KEY_Escape, "Escape"},
    {GDK_KEY_Return, "Enter"},
    {GDK_KEY_KP_Enter, "Enter"},
    {GDK_KEY_Tab, "Tab"},
    {GDK_KEY_F1, "F1"},
    {GDK_KEY_F2, "F2"},
    {GDK_KEY_F3, "F3"},
    {GDK_KEY_F5, "F5"},
    {GDK_KEY_space, "Space"},
};

bool weft_key_name(guint keyval, char name[16])
{
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
        if (keys[i].keyval == keyval) {
            g_strlcpy(name, keys[i].browser, 16);
            return true;
        }
    }
    gunichar c = gdk_keyval_to_unicode(keyval);
    if (!c || g_unichar_iscntrl(c))
        return false;
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
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
        if (strcmp(keys[i].browser, rest) == 0) {
            g_string_append(out, gdk_keyval_name(keys[i].keyval));
            return;
        }
    }
    gunichar c = g_utf8_get_char(rest);
    const char *named = gdk_keyval_name(gdk_unicode_to_keyval(g_unichar_tolower(c)));
    if (c != g_unichar_tolower(c))
        g_string_append(out, "&lt;Shift&gt;");
    g_string_append(out, named ? named : rest);
}

char *weft_key_accelerators(const char *commands_keys)
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
