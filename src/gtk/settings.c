/* SPDX-License-Identifier: ISC */
#include "gtk/window.h"

#include <glib/gstdio.h>

#define GROUP "window"

static char *path_of_settings(void)
{
    return g_build_filename(g_get_user_config_dir(), "weft", "view.ini", NULL);
}

static void read_int(GKeyFile *file, const char *key, int least, int most, int *value)
{
    g_autoptr(GError) error = NULL;
    int found = g_key_file_get_integer(file, GROUP, key, &error);
    if (!error && found >= least && found <= most)
        *value = found;
}

static void read_bool(GKeyFile *file, const char *key, bool *value)
{
    g_autoptr(GError) error = NULL;
    bool found = g_key_file_get_boolean(file, GROUP, key, &error);
    if (!error)
        *value = found;
}

static void read_settings(struct weft_settings *s)
{
    g_autoptr(GKeyFile) file = g_key_file_new();
    g_autofree char *path = path_of_settings();
    *s = (struct weft_settings){
        .width = 1280, .height = 800, .panel_width = 340, .panel = true, .text_percent = 100};
    if (!g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, NULL))
        return;
    read_int(file, "width", 300, 16384, &s->width);
    read_int(file, "height", 200, 16384, &s->height);
    read_int(file, "panel-width", 100, 4096, &s->panel_width);
    read_int(file, "text-percent", 50, 300, &s->text_percent);
    read_bool(file, "maximized", &s->maximized);
    read_bool(file, "panel", &s->panel);
    g_autofree char *theme = g_key_file_get_string(file, GROUP, "theme", NULL);
    if (g_strcmp0(theme, "light") == 0 || g_strcmp0(theme, "dark") == 0)
        g_strlcpy(s->theme, theme, sizeof s->theme);
}

struct weft_settings *weft_settings(void)
{
    static struct weft_settings settings;
    if (!settings.width)
        read_settings(&settings);
    return &settings;
}

void weft_settings_write(void)
{
    const struct weft_settings *s = weft_settings();
    g_autoptr(GKeyFile) file = g_key_file_new();
    g_autofree char *path = path_of_settings();
    g_autofree char *folder = g_path_get_dirname(path);
    g_key_file_set_integer(file, GROUP, "width", s->width);
    g_key_file_set_integer(file, GROUP, "height", s->height);
    g_key_file_set_integer(file, GROUP, "panel-width", s->panel_width);
    g_key_file_set_integer(file, GROUP, "text-percent", s->text_percent);
    g_key_file_set_boolean(file, GROUP, "maximized", s->maximized);
    g_key_file_set_boolean(file, GROUP, "panel", s->panel);
    g_key_file_set_string(file, GROUP, "theme", s->theme);
    if (g_mkdir_with_parents(folder, 0700) == 0)
        g_key_file_save_to_file(file, path, NULL);
}
