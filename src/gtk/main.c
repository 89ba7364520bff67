/* SPDX-License-Identifier: ISC */
/* weft-view: the window. `weft view` checks the command line and runs it; see there for the options. */
#include <epoxy/gl.h>
#include <gtk/gtk.h>
#include <string.h>

#include "gtk/window.h"

static const GOptionEntry options[] = {
    {"at", 0, 0, G_OPTION_ARG_STRING, NULL, "Go to that place", "PLACE"},
    {"raw", 0, 0, G_OPTION_ARG_NONE, NULL, "Draw a bind and the like from its creation on", NULL},
    {"theme", 0, 0, G_OPTION_ARG_STRING, NULL, "light or dark", "THEME"},
    {"measure", 0, 0, G_OPTION_ARG_NONE, NULL, "Measure what a frame costs, and end", NULL},
    {"measure-size", 0, 0, G_OPTION_ARG_STRING, NULL, "Size of its picture (1600x900)",
     "WIDTHxHEIGHT"},
    {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, NULL, NULL, "FILE…"},
    {0},
};

/* Styles that GTK's own theme lacks. */
static const char style[] =
    "picture:focus-visible { outline: 2px solid alpha(@theme_selected_bg_color, 0.6); }"
    ".panel { border-left: 1px solid @borders; background: @theme_base_color; }"
    ".panel .switcher { margin: 6px; }"
    ".panel .switcher > button { min-width: 0; padding: 4px 8px; }" /* GTK's: 100 px, too wide for four */
    ".panel .total { padding: 3px 12px; }"
    ".lines { background: none; }"
    ".lines > row { padding: 1px 6px 1px 12px; }"
    ".lines .heading { font-weight: bold; font-size: inherit; margin-top: 9px; }"
    ".lines .name { padding: 3px 0; }"
    ".lines .value { padding: 3px 5px; }"
    ".lines .fact-link { padding: 2px 4px; min-height: 0; font-weight: normal; }"
    ".fact-link label { color: #0069a6; }"
    ".dark .fact-link label { color: #56b4e9; }"
    "label.bad, .fact-link label.bad { color: #d01c1c; }"
    ".dark label.bad, .dark .fact-link label.bad { color: #ff6b5e; }"
    "stackswitcher.circular > button > label { margin: 0; padding: 0; }" /* GTK's: -4 px wide */
    ".found { font-feature-settings: 'tnum'; }"
    ".why { background: @theme_bg_color; border: 1px solid @borders; border-radius: 6px;"
    "  padding: 4px 10px; margin: 6px; }"
    ".reading { background: @theme_bg_color; border: 1px solid @borders; border-radius: 9px;"
    "  padding: 12px; margin: 24px; box-shadow: 0 2px 8px alpha(black, 0.2); }"
    ".toast-text { background: alpha(black, 0.8); color: white; border-radius: 99px;"
    "  padding: 6px 18px; margin: 24px; }"
    ".card { background: @theme_bg_color; border-bottom: 1px solid @borders; padding: 9px 12px; }"
    ".card .heading { font-weight: bold; font-size: 120%; }"
    ".status { margin: 24px; }"
    ".title-1 { font-size: 180%; font-weight: 800; }"
    ".pill { border-radius: 99px; padding: 6px 24px; }";

static void apply_theme(const char *theme)
{
    if (*theme)
        g_object_set(gtk_settings_get_default(), "gtk-application-prefer-dark-theme",
                     strcmp(theme, "dark") == 0, NULL);
}

static void on_new_window(GtkApplication *application)
{
    gtk_window_present(GTK_WINDOW(weft_window_new(application)));
}

static void on_quit(GtkApplication *application)
{
    for (GList *w = gtk_application_get_windows(application), *next; w; w = next) {
        next = w->next;
        gtk_window_close(w->data);
    }
}

static void add_action(GtkApplication *application, const char *name, GCallback activate)
{
    g_autoptr(GSimpleAction) action = g_simple_action_new(name, NULL);
    g_signal_connect_swapped(action, "activate", activate, application);
    g_action_map_add_action(G_ACTION_MAP(application), G_ACTION(action));
}

static const struct {
    const char *action, *keys[3];
} accelerators[] = {
    {"app.new-window", {"<Control>n"}},    {"app.quit", {"<Control>q"}},
    {"win.close", {"<Control>w"}},         {"win.panel", {"F9"}},
    {"win.open", {"<Control>o"}},          {"win.search", {"<Control>f"}},
    {"win.refresh", {"F5", "<Control>r"}}, {"win.save-picture", {"<Control>s"}},
    {"win.help", {"<Control>question"}},
};

/* Returns true if the kernel offers a graphics processor; if it does not, asking OpenGL would only load a compiler. */
static bool has_processor(void)
{
    g_autoptr(GDir) dir = g_dir_open("/dev/dri", 0, NULL);
    const char *name;
    while (dir && (name = g_dir_read_name(dir)))
        if (g_str_has_prefix(name, "renderD"))
            return true;
    return false;
}

/* Remote screens use OpenGL in software even if there is a graphics processor. */
static bool is_software(void)
{
    static const char *const names[] = {"llvmpipe", "softpipe", "swrast", "Software"};
    g_autoptr(GdkGLContext) context =
        gdk_display_create_gl_context(gdk_display_get_default(), NULL);
    if (!context || !gdk_gl_context_realize(context, NULL))
        return true;
    gdk_gl_context_make_current(context);
    const char *renderer = (const char *)glGetString(GL_RENDERER);
    bool software = !renderer;
    for (size_t i = 0; !software && i < G_N_ELEMENTS(names); i++)
        software = strstr(renderer, names[i]) != NULL;
    gdk_gl_context_clear_current();
    return software;
}

/* Makes GTK draw with cairo if OpenGL would run in software: showing a picture of 1600 x 900 takes that 50 ms of
 * processor time, cairo 2 ms. Call it before there is a window; GSK_RENDERER takes precedence. */
static void choose_renderer(void)
{
    if (!g_getenv("GSK_RENDERER") && (!has_processor() || is_software()))
        g_setenv("GSK_RENDERER", "cairo", TRUE);
}

static void on_startup(GtkApplication *application)
{
    g_autoptr(GtkCssProvider) css = gtk_css_provider_new();
    gtk_css_provider_load_from_data(css, style, -1);
    gtk_style_context_add_provider_for_display(gdk_display_get_default(), GTK_STYLE_PROVIDER(css),
                                               GTK_STYLE_PROVIDER_PRIORITY_APPLICATION);
    choose_renderer();
    gtk_window_set_default_icon_name(WEFT_APPLICATION_ID);
    apply_theme(weft_settings()->theme);
    add_action(application, "new-window", G_CALLBACK(on_new_window));
    add_action(application, "quit", G_CALLBACK(on_quit));
    for (size_t i = 0; i < G_N_ELEMENTS(accelerators); i++)
        gtk_application_set_accels_for_action(application, accelerators[i].action,
                                              accelerators[i].keys);
}

/* Relative paths are relative to the directory in which the command was given. */
static char **paths_of(GApplicationCommandLine *line, GVariantDict *given)
{
    g_auto(GStrv) files = NULL;
    g_variant_dict_lookup(given, G_OPTION_REMAINING, "^aay", &files);
    GPtrArray *paths = g_ptr_array_new();
    for (char **f = files; f && *f; f++) {
        g_autoptr(GFile) file = g_application_command_line_create_file_for_arg(line, *f);
        char *path = strcmp(*f, "-") ? g_file_get_path(file) : g_strdup("-");
        g_ptr_array_add(paths, path ? path : g_strdup(*f));
    }
    g_ptr_array_add(paths, NULL);
    return (char **)g_ptr_array_free(paths, FALSE);
}

/* A size like 1600x900; without one, that. */
static bool find_size(GVariantDict *given, int size[2])
{
    const char *text;
    size[0] = 1600;
    size[1] = 900;
    if (!g_variant_dict_lookup(given, "measure-size", "&s", &text))
        return true;
    g_auto(GStrv) part = g_strsplit(text, "x", 2);
    guint64 side[2] = {0, 0};
    for (int i = 0; i < 2; i++)
        if (!part[i] || !g_ascii_string_to_unsigned(part[i], 10, WEFT_PICTURE_MIN_PX,
                                                    WEFT_PICTURE_MAX_PX, &side[i], NULL))
            return false;
    size[0] = (int)side[0];
    size[1] = (int)side[1];
    return true;
}

static int on_command_line(GtkApplication *application, GApplicationCommandLine *line)
{
    GVariantDict *given = g_application_command_line_get_options_dict(line);
    g_auto(GStrv) paths = paths_of(line, given);
    const char *place = NULL, *theme = NULL;
    gboolean measure = FALSE, raw = FALSE;
    int size[2];
    g_variant_dict_lookup(given, "at", "&s", &place);
    g_variant_dict_lookup(given, "measure", "b", &measure);
    g_variant_dict_lookup(given, "raw", "b", &raw);
    if (g_variant_dict_lookup(given, "theme", "&s", &theme))
        apply_theme(theme);
    if (!find_size(given, size)) {
        g_application_command_line_printerr(line,
                                            "weft-view: --measure-size takes a size like "
                                            "1600x900, each side from %d to %d\n",
                                            WEFT_PICTURE_MIN_PX, WEFT_PICTURE_MAX_PX);
        return 2;
    }
    WeftWindow *w = weft_window_new(application);
    w->raw = raw;
    if (measure)
        weft_flight_begin(w, size[0], size[1]);
    if (*paths)
        weft_window_read(w, (const char *const *)paths, place);
    else
        weft_window_take_tour(w, place);
    gtk_window_present(GTK_WINDOW(w));
    return 0;
}

/* Standard input and copies in memory belong to this process, and measuring needs its own process. */
static bool wants_own_process(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "-") == 0 || strcmp(argv[i], "--measure") == 0 ||
            g_str_has_prefix(argv[i], WEFT_MEMORY_PATH))
            return true;
    return false;
}

int main(int argc, char **argv)
{
    GApplicationFlags flags = G_APPLICATION_HANDLES_COMMAND_LINE;
    if (!gtk_init_check()) {
        g_printerr(
            "weft: view: there is no display to open a window on; weft html -o PAGE FILE makes a "
            "page that shows the same in any browser, and ssh -X brings a display along\n");
        return 1;
    }
    if (wants_own_process(argc, argv))
        flags |= G_APPLICATION_NON_UNIQUE;
    g_autoptr(GtkApplication) application = gtk_application_new(WEFT_APPLICATION_ID, flags);
    g_set_application_name("weft");
    g_application_add_main_option_entries(G_APPLICATION(application), options);
    g_signal_connect(application, "startup", G_CALLBACK(on_startup), NULL);
    g_signal_connect(application, "activate", G_CALLBACK(on_new_window), NULL);
    g_signal_connect(application, "command-line", G_CALLBACK(on_command_line), NULL);
    return g_application_run(G_APPLICATION(application), argc, argv);
}
