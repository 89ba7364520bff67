/* SPDX-License-Identifier: ISC */
#include "gtk/window.h"

#include <string.h>

#define TELL_EVERY_MS 100  /* texts need not follow every frame */
#define QUIET_MS 90        /* time without movement of the picture before its place is published */
#define TELL_AFTER_MS 1000 /* even if it keeps moving */
#define REST_MS 500        /* time without movement after which a step of the view is over */
#define TOAST_S 3
#define SCROLL_STEP_PX 80

G_DEFINE_TYPE(WeftWindow, weft_window, GTK_TYPE_APPLICATION_WINDOW)

/* ---- What changes ---- */

static gboolean on_work(gpointer data)
{
    WeftWindow *w = data;
    bool more = weft_explorer_work(w->e);
    if (!more)
        w->work = 0;
    weft_window_touched(w);
    return more ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

static void show_selected(WeftWindow *w)
{
    unsigned pane = 0;
    uint32_t selected = w->traces->len ? weft_explorer_selected(w->e, &pane) : WEFT_NONE;
    g_autofree char *text = NULL;
    if (selected != WEFT_NONE && pane < weft_explorer_panes(w->e)) {
        const struct weft_trace *t = weft_window_trace(w, pane);
        text = g_strdup_printf("%u:%" G_GUINT64_FORMAT, pane, t->model->promise[selected].id);
    }
    weft_window_tell(w, "selected", text ? text : "");
}

static void show_facts(WeftWindow *w)
{
    g_autofree char *text = weft_panel_show_facts(w->panel);
    weft_window_tell(w, "facts", text);
    show_selected(w);
}

static void on_search(WeftWindow *w);

enum { FOUND_BYTES = 30 }; /* "searching … 1,204", "12,345 of 678,901" */

static void show_search(WeftWindow *w)
{
    const char *query = weft_explorer_query(w->e);
    const char *found = weft_explorer_found(w->e);
    if (strcmp(query, gtk_editable_get_text(GTK_EDITABLE(w->entry))) != 0 &&
        !gtk_widget_has_focus(GTK_WIDGET(gtk_editable_get_delegate(GTK_EDITABLE(w->entry))))) {
        /* Setting a text deletes the old one first, and the entry reports an empty text at once. */
        g_signal_handlers_block_by_func(w->entry, on_search, w);
        gtk_editable_set_text(GTK_EDITABLE(w->entry), query);
        g_signal_handlers_unblock_by_func(w->entry, on_search, w);
        g_free(w->put);
        w->put = g_strdup(query);
    }
    /* Why nothing is found has no room beside the entry, so it is below it. */
    const bool is_long = strlen(found) > FOUND_BYTES;
    gtk_label_set_text(GTK_LABEL(w->found), is_long ? "not found" : found);
    gtk_label_set_text(GTK_LABEL(w->why), found);
    gtk_widget_set_visible(w->why, is_long);
    gtk_widget_set_visible(w->hits, *query != '\0');
    weft_window_tell(w, "find", query);
    weft_window_tell(w, "found", found);
}

static void show_table(WeftWindow *w)
{
    const struct weft_table_view *t = weft_explorer_table(w->e);
    weft_table_update(w->table);
    const char *text = t->open && t->all <= t->rows ? weft_explorer_table_tsv(w->e) : "";
    weft_window_tell(w, "table-text", text ? text : "");
}

static void show_visible(WeftWindow *w)
{
    g_autofree char *text = weft_panel_show_visible(w->panel);
    weft_window_tell(w, "visible", text);
    const char *end = strchr(text, '\n');
    g_autofree char *description = g_strdup_printf(
        "Time from left to right, a line for each promise. The list \"Visible\" beside it "
        "has what is seen, beginning with: %.*s",
        end ? (int)(end - text) : 0, text);
    gtk_accessible_update_property(GTK_ACCESSIBLE(w->picture), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                   description, -1);
}

/* Where the picture lies, for scripts that move the pointer. */
static void tell_picture(WeftWindow *w)
{
    GtkWidget *picture = GTK_WIDGET(w->picture);
    double x = 0, y = 0;
    gtk_widget_translate_coordinates(picture, GTK_WIDGET(w), 0, 0, &x, &y);
    g_autofree char *text = g_strdup_printf("%.0f %.0f %d %d", x, y, gtk_widget_get_width(picture),
                                            gtk_widget_get_height(picture));
    weft_window_tell(w, "picture", text);
}

static void show_place(WeftWindow *w, unsigned changed)
{
    tell_picture(w);
    if (changed & WEFT_CHANGED_TIP)
        weft_window_tell(w, "tip", weft_explorer_tip(w->e));
    if (changed & WEFT_CHANGED_PLACE) {
        weft_window_tell(w, "place", w->traces->len ? weft_explorer_place(w->e) : "");
        gtk_accessible_update_property(GTK_ACCESSIBLE(w->picture),
                                       GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                       weft_explorer_where(w->e), -1);
    }
    if (changed & WEFT_CHANGED_VISIBLE)
        show_visible(w);
    weft_panel_show_legend(w->panel);
    w->shown_us = g_get_monotonic_time();
}

/* Brings the scroll bar, the menu and the window's own list of traces to what the panes are now. */
static void show_panes(WeftWindow *w)
{
    unsigned pane;
    while (weft_explorer_wants_close(w->e, &pane))
        weft_window_remove(w, pane);
    int total = weft_explorer_panes_height(w->e), seen = weft_explorer_panes_seen(w->e);
    gtk_widget_set_visible(w->scrollbar, total > seen);
    gtk_adjustment_configure(w->scrolled, weft_explorer_panes_top(w->e), 0, total, SCROLL_STEP_PX,
                             seen, seen);
    weft_window_compare(w);
    weft_window_retitle(w);
}

static void on_scrolled(WeftWindow *w)
{
    int top = (int)gtk_adjustment_get_value(w->scrolled);
    if (top == weft_explorer_panes_top(w->e))
        return;
    weft_explorer_panes_scroll(w->e, top);
    weft_window_touched(w);
}

static gboolean on_later(gpointer data)
{
    WeftWindow *w = data;
    unsigned changed =
        w->changed | (weft_explorer_changed(w->e) &
                      ~(unsigned)WEFT_CHANGED_STEP); /* drawing may have changed something */
    int64_t now = g_get_monotonic_time();
    w->changed = 0;
    if (changed & WEFT_CHANGED_PICTURE)
        weft_picture_redraw(w->picture);
    if (changed & WEFT_CHANGED_PANES)
        show_panes(w);
    if (changed & WEFT_CHANGED_NOTES)
        weft_window_show_notes(w);
    if (changed & WEFT_CHANGED_FACTS)
        show_facts(w);
    if (changed & WEFT_CHANGED_SEARCH)
        show_search(w);
    if (changed & WEFT_CHANGED_TABLE)
        show_table(w);
    if (now - w->moved_us >= QUIET_MS * 1000 || now - w->shown_us >= TELL_AFTER_MS * 1000)
        show_place(w, changed);
    else
        w->changed = WEFT_CHANGED_PLACE | (changed & (WEFT_CHANGED_TIP | WEFT_CHANGED_VISIBLE));
    if (w->changed || !weft_picture_is_drawn(w->picture))
        return G_SOURCE_CONTINUE;
    w->later = 0;
    return G_SOURCE_REMOVE;
}

static gboolean on_rest(gpointer data)
{
    WeftWindow *w = data;
    w->rest = 0;
    weft_explorer_rest(w->e);
    return G_SOURCE_REMOVE;
}

void weft_window_touched(WeftWindow *w)
{
    unsigned changed = weft_explorer_changed(w->e) & ~(unsigned)WEFT_CHANGED_STEP;
    if (!changed)
        return;
    if (changed & WEFT_CHANGED_PLACE) {
        g_clear_handle_id(&w->rest, g_source_remove);
        w->rest = g_timeout_add(REST_MS, on_rest, w);
    }
    if (changed & WEFT_CHANGED_PANES)
        show_panes(w);
    if (changed & (WEFT_CHANGED_TOUR | WEFT_CHANGED_PANES))
        weft_window_show_card(w);
    if (changed & WEFT_CHANGED_PICTURE) {
        weft_picture_redraw(w->picture);
        w->moved_us = g_get_monotonic_time();
    }
    if (changed & WEFT_CHANGED_TIP)
        weft_picture_set_tip(w->picture, weft_explorer_tip(w->e));
    if ((changed & (WEFT_CHANGED_SEARCH | WEFT_CHANGED_TABLE | WEFT_CHANGED_FACTS)) && !w->work)
        w->work = g_idle_add(on_work, w);
    w->changed |= changed & ~(unsigned)WEFT_CHANGED_PICTURE;
    if (!w->later)
        w->later = g_timeout_add(TELL_EVERY_MS, on_later, w);
}

/* ---- Messages ---- */

static gboolean on_toast_end(gpointer data)
{
    WeftWindow *w = data;
    w->toast_timer = 0;
    gtk_revealer_set_reveal_child(GTK_REVEALER(w->toast), FALSE);
    return G_SOURCE_REMOVE;
}

void weft_window_toast(WeftWindow *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    gtk_label_set_text(GTK_LABEL(w->toast_text), text);
    gtk_revealer_set_reveal_child(GTK_REVEALER(w->toast), TRUE);
    g_clear_handle_id(&w->toast_timer, g_source_remove);
    w->toast_timer = g_timeout_add_seconds(TOAST_S, on_toast_end, w);
    weft_window_tell(w, "message", text);
}

void weft_window_complain(WeftWindow *w, bool refresh, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    gtk_label_set_text(GTK_LABEL(w->bar_text), text);
    gtk_widget_set_visible(w->bar_refresh, refresh);
    gtk_info_bar_set_message_type(GTK_INFO_BAR(w->bar),
                                  refresh ? GTK_MESSAGE_INFO : GTK_MESSAGE_WARNING);
    gtk_info_bar_set_revealed(GTK_INFO_BAR(w->bar), TRUE);
    weft_window_tell(w, "message", text);
}

static void on_bar(GtkInfoBar *bar, int response, WeftWindow *w)
{
    gtk_info_bar_set_revealed(bar, FALSE);
    if (response == GTK_RESPONSE_OK)
        weft_window_reread(w);
}

void weft_window_show_page(WeftWindow *w, const char *name)
{
    bool view = strcmp(name, "view") == 0;
    gtk_stack_set_visible_child_name(GTK_STACK(w->stack), name);
    gtk_widget_set_sensitive(w->search_box, view);
    if (view)
        gtk_widget_grab_focus(GTK_WIDGET(w->picture));
}

void weft_window_retitle(WeftWindow *w)
{
    g_autofree char *name = NULL, *folder = NULL;
    bool running = false;
    for (guint i = 0; i < w->traces->len; i++)
        running |= ((struct weft_trace *)w->traces->pdata[i])->running;
    if (w->traces->len) {
        const struct weft_trace *t = w->traces->pdata[0];
        name = weft_trace_name(t->path);
        g_autofree char *path = g_path_get_dirname(t->path);
        const char *home = g_get_home_dir();
        const char *rest = g_str_has_prefix(path, home) ? path + strlen(home) : NULL;
        bool at_home = rest && (!*rest || *rest == G_DIR_SEPARATOR);
        g_autofree char *shown = at_home ? g_strconcat("~", rest, NULL) : g_strdup(path);
        folder = t->file ? g_filename_display_name(shown) : NULL;
    }
    g_autofree char *title = w->traces->len > 1
                                 ? g_strdup_printf("%s and %u more", name, w->traces->len - 1)
                                 : g_strdup(name ? name : "weft");
    gtk_window_set_title(GTK_WINDOW(w), title);
    gtk_label_set_text(GTK_LABEL(w->title), title);
    gtk_label_set_text(GTK_LABEL(w->subtitle), running ? "recording" : folder ? folder : "");
    gtk_widget_set_visible(w->subtitle, running || folder);
    gtk_widget_set_visible(w->refresh, running);
    g_menu_remove_all(w->close_menu);
    const guint panes = weft_explorer_panes(w->e);
    for (guint i = 0; panes > 1 && i < panes; i++) {
        g_autofree char *action = g_strdup_printf("win.remove(%u)", i);
        g_autofree char *label = g_strdup_printf("%u. %s", i + 1, weft_explorer_title(w->e, i));
        g_menu_append(w->close_menu, label, action);
    }
}

/* The panel uses the same text size as the picture. */
static void set_panel_text(int percent)
{
    static GtkCssProvider *css; /* of all windows */
    g_autofree char *rule = g_strdup_printf(".panel { font-size: %d%%; }", percent);
    if (!css) {
        css = gtk_css_provider_new();
        gtk_style_context_add_provider_for_display(gdk_display_get_default(),
                                                   GTK_STYLE_PROVIDER(css),
                                                   GTK_STYLE_PROVIDER_PRIORITY_APPLICATION);
    }
    gtk_css_provider_load_from_data(css, rule, -1);
}

bool weft_window_is_dark(void)
{
    gboolean dark = FALSE;
    g_object_get(gtk_settings_get_default(), "gtk-application-prefer-dark-theme", &dark, NULL);
    return dark;
}

/* GTK's themes for high contrast are known by their names only; the inverse ones are dark. */
static enum weft_theme theme_of_desktop(bool dark)
{
    g_autofree char *name = NULL;
    g_object_get(gtk_settings_get_default(), "gtk-theme-name", &name, NULL);
    const char *given = g_getenv("GTK_THEME"); /* takes precedence */
    const char *theme = given && *given ? given : name ? name : "";
    if (strncmp(theme, "HighContrast", strlen("HighContrast")) != 0 &&
        strncmp(theme, "Default-hc", strlen("Default-hc")) != 0)
        return dark ? WEFT_DARK : WEFT_LIGHT;
    return dark || strstr(theme, "Inverse") || strstr(theme, "dark") ? WEFT_DARK_CONTRAST
                                                                     : WEFT_LIGHT_CONTRAST;
}

void weft_window_set_looks(WeftWindow *w)
{
    const struct weft_settings *s = weft_settings();
    bool dark = weft_window_is_dark();
    weft_picture_set_theme(w->picture, theme_of_desktop(dark));
    weft_outline_area_set_looks(w->outline, theme_of_desktop(dark), (uint16_t)s->text_percent);
    if (dark)
        gtk_widget_add_css_class(GTK_WIDGET(w), "dark");
    else
        gtk_widget_remove_css_class(GTK_WIDGET(w), "dark");
    weft_explorer_text_size(w->e, (unsigned)s->text_percent);
    set_panel_text(s->text_percent);
    weft_window_touched(w);
}

/* ---- Events ---- */

static gboolean on_key(GtkEventControllerKey *controller, guint keyval, guint keycode,
                       GdkModifierType state, WeftWindow *w)
{
    char name[16];
    unsigned mods = weft_picture_mods(state);
    (void)controller;
    (void)keycode;
    if (!weft_key_name(keyval, name))
        return FALSE;
    enum weft_command command = weft_command_of_key(name, mods);
    if (command < WEFT_COMMANDS) {
        weft_window_command(w, command);
        return TRUE;
    }
    if (!weft_explorer_key(w->e, name, mods) && *weft_explorer_why(w->e))
        weft_window_toast(w, "%s", weft_explorer_why(w->e));
    return FALSE;
}

static void add_keys(GtkWidget *widget, WeftWindow *w)
{
    GtkEventController *keys = gtk_event_controller_key_new();
    g_signal_connect(keys, "key-pressed", G_CALLBACK(on_key), w);
    gtk_widget_add_controller(widget, keys);
}

static gboolean on_drop(GtkDropTarget *target, const GValue *value, double x, double y,
                        WeftWindow *w)
{
    g_autoptr(GListStore) files = g_list_store_new(G_TYPE_FILE);
    unsigned mods = weft_picture_mods(
        gtk_event_controller_get_current_event_state(GTK_EVENT_CONTROLLER(target)));
    (void)x;
    (void)y;
    for (GSList *f = g_value_get_boxed(value); f; f = f->next)
        g_list_store_append(files, f->data);
    weft_window_take(w, G_LIST_MODEL(files), !(mods & WEFT_CTRL) && !weft_window_is_example(w));
    return TRUE;
}

static void on_search(WeftWindow *w)
{
    const char *text = gtk_editable_get_text(GTK_EDITABLE(w->entry));
    /* The entry reports a text that was put there somewhat later, and another one may be searched for by then. */
    if (strcmp(text, weft_explorer_query(w->e)) == 0 || g_strcmp0(text, w->put) == 0)
        return;
    g_clear_pointer(&w->put, g_free);
    weft_explorer_search(w->e, text);
    weft_window_touched(w);
}

static void on_next(WeftWindow *w)
{
    g_clear_pointer(&w->put, g_free); /* whoever presses Enter wants it */
    on_search(w);
    weft_window_command(w, WEFT_COMMAND_NEXT_HIT);
}

static void on_previous(WeftWindow *w)
{
    on_search(w);
    weft_window_command(w, WEFT_COMMAND_PREVIOUS_HIT);
}

static void on_stop_search(WeftWindow *w)
{
    gtk_widget_grab_focus(GTK_WIDGET(w->picture));
}

/* Enter: from then on keys are commands, so that n goes to the next hit. */
static void on_enter(WeftWindow *w)
{
    on_next(w);
    on_stop_search(w);
}

/* ---- Putting it together ---- */

static GtkWidget *label(const char *text, const char *class)
{
    GtkWidget *made = gtk_label_new(text);
    if (class)
        gtk_widget_add_css_class(made, class);
    gtk_label_set_ellipsize(GTK_LABEL(made), PANGO_ELLIPSIZE_MIDDLE);
    return made;
}

GtkWidget *weft_window_name(GtkWidget *widget, const char *name, const char *tip)
{
    gtk_widget_set_tooltip_text(widget, tip);
    gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
    return widget;
}

static GtkWidget *button(const char *icon, const char *text, const char *action)
{
    GtkWidget *made = icon ? gtk_button_new_from_icon_name(icon) : gtk_button_new_with_label(text);
    gtk_actionable_set_action_name(GTK_ACTIONABLE(made), action);
    return icon ? weft_window_name(made, text, text) : made;
}

static GtkWidget *box_of(GtkOrientation orientation, int spacing, ...)
{
    GtkWidget *box = gtk_box_new(orientation, spacing), *child;
    va_list children;
    va_start(children, spacing);
    while ((child = va_arg(children, GtkWidget *)))
        gtk_box_append(GTK_BOX(box), child);
    va_end(children);
    return box;
}

static GtkWidget *search_box(WeftWindow *w)
{
    w->entry = gtk_search_entry_new();
    g_object_set(w->entry, "placeholder-text", "Search", "search-delay", 50, "width-chars", 18,
                 NULL);
    weft_window_name(
        w->entry, "Search",
        "Labels, types, numbers; \"quoted text\", type:fsync, outcome:failed, >10ms (/)");
    g_signal_connect_swapped(w->entry, "search-changed", G_CALLBACK(on_search), w);
    g_signal_connect_swapped(w->entry, "activate", G_CALLBACK(on_enter), w);
    g_signal_connect_swapped(w->entry, "next-match", G_CALLBACK(on_next), w);
    g_signal_connect_swapped(w->entry, "previous-match", G_CALLBACK(on_previous), w);
    g_signal_connect_swapped(w->entry, "stop-search", G_CALLBACK(on_stop_search), w);
    w->found = gtk_label_new("");
    gtk_widget_add_css_class(w->found, "found");
    GtkWidget *steps = box_of(GTK_ORIENTATION_HORIZONTAL, 0,
                              button("go-up-symbolic", "The hit before (N)", "win.previous-hit"),
                              button("go-down-symbolic", "The next hit (n)", "win.next-hit"), NULL);
    gtk_widget_add_css_class(steps, "linked");
    w->hits = box_of(GTK_ORIENTATION_HORIZONTAL, 6, w->found, steps, NULL);
    gtk_widget_set_visible(w->hits, FALSE);
    w->search_box = box_of(GTK_ORIENTATION_HORIZONTAL, 6, w->hits, w->entry, NULL);
    return w->search_box;
}

static GtkWidget *header(WeftWindow *w)
{
    GtkWidget *bar = gtk_header_bar_new();
    GtkWidget *open = box_of(GTK_ORIENTATION_HORIZONTAL, 0, button(NULL, "Open", "win.open"),
                             weft_window_recent_button(), NULL);
    gtk_widget_add_css_class(open, "linked");
    gtk_widget_set_tooltip_text(gtk_widget_get_first_child(open), "Open a trace (o)");
    w->refresh = button("view-refresh-symbolic", "Read the trace again (F5)", "win.refresh");
    w->title = label("weft", "title");
    w->subtitle = label("", "subtitle");
    GtkWidget *titles = box_of(GTK_ORIENTATION_VERTICAL, 0, w->title, w->subtitle, NULL);
    gtk_widget_set_valign(titles, GTK_ALIGN_CENTER);
    g_autoptr(GMenuModel) model = weft_window_menu(w);
    GtkWidget *menu = g_object_new(GTK_TYPE_MENU_BUTTON, "icon-name", "open-menu-symbolic",
                                   "primary", TRUE, "menu-model", model, NULL);
    weft_window_name(menu, "Menu", "Menu (F10)");
    GtkWidget *panel =
        g_object_new(GTK_TYPE_TOGGLE_BUTTON, "icon-name", "sidebar-show-right-symbolic",
                     "action-name", "win.panel", NULL);
    weft_window_name(panel, "Side panel", "Side panel (F9)");
    gtk_header_bar_pack_start(GTK_HEADER_BAR(bar), open);
    gtk_header_bar_pack_start(GTK_HEADER_BAR(bar),
                              button("list-add-symbolic", "Add a trace below (B)", "win.add"));
    gtk_header_bar_pack_start(GTK_HEADER_BAR(bar), w->refresh);
    gtk_header_bar_set_title_widget(GTK_HEADER_BAR(bar), titles);
    gtk_header_bar_pack_end(GTK_HEADER_BAR(bar), menu);
    gtk_header_bar_pack_end(GTK_HEADER_BAR(bar), panel);
    gtk_header_bar_pack_end(GTK_HEADER_BAR(bar), search_box(w));
    return bar;
}

static GtkWidget *status_page(const char *icon, GtkWidget *title, GtkWidget *text,
                              const char *button_text)
{
    GtkWidget *image = gtk_image_new_from_icon_name(icon);
    gtk_image_set_pixel_size(GTK_IMAGE(image), 128);
    gtk_widget_add_css_class(title, "title-1");
    gtk_label_set_wrap(GTK_LABEL(title), TRUE);
    g_object_set(text, "wrap", TRUE, "ellipsize", PANGO_ELLIPSIZE_NONE, "justify",
                 GTK_JUSTIFY_CENTER, "max-width-chars", 60, NULL);
    GtkWidget *open = button(NULL, button_text, "win.open");
    gtk_widget_add_css_class(open, "suggested-action");
    gtk_widget_add_css_class(open, "pill");
    gtk_widget_set_halign(open, GTK_ALIGN_CENTER);
    GtkWidget *page = box_of(GTK_ORIENTATION_VERTICAL, 18, image, title, text, open, NULL);
    g_object_set(page, "valign", GTK_ALIGN_CENTER, "halign", GTK_ALIGN_CENTER, NULL);
    gtk_widget_add_css_class(page, "status");
    return page;
}

static GtkWidget *view_page(WeftWindow *w)
{
    const struct weft_settings *s = weft_settings();
    w->picture = WEFT_PICTURE(weft_picture_new(w->e));
    w->panel = WEFT_PANEL(weft_panel_new(w->e));
    weft_panel_add(w->panel, weft_window_notes_page(w));
    gtk_accessible_update_property(GTK_ACCESSIBLE(w->picture), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "Promises over time", -1);
    g_signal_connect_swapped(w->picture, "touched", G_CALLBACK(weft_window_touched), w);
    g_signal_connect_swapped(w->panel, "touched", G_CALLBACK(weft_window_touched), w);
    w->table = WEFT_TABLE(weft_table_new(w->e));
    g_signal_connect_swapped(w->table, "touched", G_CALLBACK(weft_window_touched), w);
    add_keys(GTK_WIDGET(w->picture), w); /* before the window uses an arrow key to move the focus */
    gtk_widget_set_hexpand(GTK_WIDGET(w->picture), TRUE);
    gtk_widget_set_vexpand(GTK_WIDGET(w->picture), TRUE);
    w->scrolled = gtk_adjustment_new(0, 0, 1, SCROLL_STEP_PX, 1, 1);
    w->scrollbar = gtk_scrollbar_new(GTK_ORIENTATION_VERTICAL, w->scrolled);
    gtk_accessible_update_property(GTK_ACCESSIBLE(w->scrollbar), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "Traces", -1);
    gtk_widget_set_visible(w->scrollbar, FALSE);
    g_signal_connect_swapped(w->scrolled, "value-changed", G_CALLBACK(on_scrolled), w);
    GtkWidget *view =
        box_of(GTK_ORIENTATION_HORIZONTAL, 0, GTK_WIDGET(w->picture), w->scrollbar, NULL);
    GtkWidget *left = g_object_new(
        GTK_TYPE_PANED, "orientation", GTK_ORIENTATION_VERTICAL, "start-child",
        box_of(GTK_ORIENTATION_VERTICAL, 0, weft_window_card(w), view, NULL), "end-child", w->table,
        "resize-end-child", FALSE, "shrink-start-child", FALSE, "shrink-end-child", FALSE, NULL);
    gtk_widget_set_size_request(GTK_WIDGET(w->panel), 240, -1);
    gtk_widget_set_visible(GTK_WIDGET(w->panel), s->panel);
    w->paned = g_object_new(GTK_TYPE_PANED, "start-child", left, "end-child", w->panel,
                            "resize-end-child", FALSE, "shrink-start-child", FALSE,
                            "shrink-end-child", FALSE, "position", s->width - s->panel_width, NULL);
    return w->paned;
}

static GtkWidget *reading_card(WeftWindow *w)
{
    w->progress_text = label("", NULL);
    w->progress_bar =
        g_object_new(GTK_TYPE_PROGRESS_BAR, "valign", GTK_ALIGN_CENTER, "hexpand", TRUE, NULL);
    GtkWidget *row = box_of(GTK_ORIENTATION_HORIZONTAL, 12, w->progress_bar,
                            button(NULL, "Cancel", "win.stop-reading"), NULL);
    w->progress = box_of(GTK_ORIENTATION_VERTICAL, 6, w->progress_text, row, NULL);
    gtk_widget_add_css_class(w->progress, "reading");
    g_object_set(w->progress, "width-request", 380, "halign", GTK_ALIGN_CENTER, "visible", FALSE,
                 NULL);
    return w->progress;
}

static GtkWidget *message_bar(WeftWindow *w)
{
    w->bar = g_object_new(GTK_TYPE_INFO_BAR, "show-close-button", TRUE, "revealed", FALSE, NULL);
    w->bar_text = g_object_new(GTK_TYPE_LABEL, "wrap", TRUE, "xalign", 0.0, NULL);
    gtk_info_bar_add_child(GTK_INFO_BAR(w->bar), w->bar_text);
    w->bar_refresh = gtk_info_bar_add_button(GTK_INFO_BAR(w->bar), "Refresh", GTK_RESPONSE_OK);
    g_signal_connect(w->bar, "response", G_CALLBACK(on_bar), w);
    return w->bar;
}

static GtkWidget *content(WeftWindow *w)
{
    w->stack = gtk_stack_new();
    w->problem_title = label("", NULL);
    w->problem_text = label("", NULL);
    GtkStack *stack = GTK_STACK(w->stack);
    GtkWidget *empty = status_page(
        WEFT_APPLICATION_ID, label("Open a Trace", NULL),
        label("Choose a file, or drop one here. weft record makes one.", "dim-label"), "Open…");
    gtk_box_append(GTK_BOX(empty), button(NULL, "Take the Tour", "win.tour"));
    gtk_stack_add_named(stack, empty, "empty");
    gtk_stack_add_named(stack, view_page(w), "view");
    gtk_stack_add_named(
        stack,
        status_page("dialog-warning-symbolic", w->problem_title, w->problem_text, "Open Another…"),
        "problem");
    w->outline = weft_outline_area_new();
    gtk_stack_add_named(stack, w->outline, "reading");
    gtk_widget_set_vexpand(w->stack, TRUE);
    /* A screen reader reads a status out when it changes. */
    w->toast_text = g_object_new(GTK_TYPE_LABEL, "accessible-role", GTK_ACCESSIBLE_ROLE_STATUS,
                                 "ellipsize", PANGO_ELLIPSIZE_MIDDLE, NULL);
    gtk_widget_add_css_class(w->toast_text, "toast-text");
    w->toast = g_object_new(GTK_TYPE_REVEALER, "child", w->toast_text, "transition-type",
                            GTK_REVEALER_TRANSITION_TYPE_CROSSFADE, "halign", GTK_ALIGN_CENTER,
                            "valign", GTK_ALIGN_END, "can-target", FALSE, NULL);
    GtkWidget *overlay = gtk_overlay_new();
    gtk_overlay_set_child(GTK_OVERLAY(overlay), w->stack);
    gtk_overlay_add_overlay(GTK_OVERLAY(overlay), reading_card(w));
    gtk_overlay_add_overlay(GTK_OVERLAY(overlay), w->toast);
    w->why = label("", "why");
    g_object_set(w->why, "halign", GTK_ALIGN_END, "valign", GTK_ALIGN_START, "wrap", TRUE,
                 "ellipsize", PANGO_ELLIPSIZE_NONE, "max-width-chars", 50, "visible", FALSE,
                 "can-target", FALSE, NULL);
    gtk_overlay_add_overlay(GTK_OVERLAY(overlay), w->why);
    gtk_overlay_add_overlay(GTK_OVERLAY(overlay), weft_window_palette(w));
    return box_of(GTK_ORIENTATION_VERTICAL, 0, message_bar(w), overlay, NULL);
}

/* ---- The object ---- */

static gboolean close_request(GtkWindow *window)
{
    WeftWindow *w = WEFT_WINDOW(window);
    struct weft_settings *s = weft_settings();
    s->maximized = gtk_window_is_maximized(window);
    if (!s->maximized)
        gtk_window_get_default_size(window, &s->width, &s->height);
    s->panel = gtk_widget_get_visible(GTK_WIDGET(w->panel));
    if (s->panel && gtk_widget_get_mapped(GTK_WIDGET(w->panel)))
        s->panel_width = gtk_widget_get_width(GTK_WIDGET(w->panel));
    if (!w->forgets)
        weft_settings_write();
    return GTK_WINDOW_CLASS(weft_window_parent_class)->close_request(window);
}

static void dispose(GObject *object)
{
    WeftWindow *w = WEFT_WINDOW(object);
    weft_window_stop_reading(w);
    weft_window_stop_comparing(w);
    g_clear_handle_id(&w->later, g_source_remove);
    g_clear_handle_id(&w->work, g_source_remove);
    g_clear_handle_id(&w->rest, g_source_remove);
    g_clear_handle_id(&w->toast_timer, g_source_remove);
    g_clear_pointer(&w->traces, g_ptr_array_unref);
    g_clear_pointer(&w->put, g_free);
    g_clear_object(&w->close_menu);
    if (w->picture)
        weft_picture_forget(w->picture);
    if (w->panel)
        weft_panel_forget(w->panel);
    if (w->table)
        weft_table_forget(w->table);
    w->picture = NULL;
    w->panel = NULL;
    w->table = NULL;
    g_signal_handlers_disconnect_by_data(gtk_settings_get_default(), w);
    G_OBJECT_CLASS(weft_window_parent_class)->dispose(object);
    g_clear_pointer(&w->e, weft_explorer_free);
}

static void finalize(GObject *object)
{
    WeftWindow *w = WEFT_WINDOW(object);
    g_free(w->place);
    G_OBJECT_CLASS(weft_window_parent_class)->finalize(object);
}

static void weft_window_class_init(WeftWindowClass *class)
{
    G_OBJECT_CLASS(class)->dispose = dispose;
    G_OBJECT_CLASS(class)->finalize = finalize;
    GTK_WINDOW_CLASS(class)->close_request = close_request;
}

static void weft_window_init(WeftWindow *w)
{
    const struct weft_settings *s = weft_settings();
    if (weft_explorer_new(&w->e) < 0)
        g_error("out of memory"); /* as GLib does */
    weft_explorer_usually_overview(w->e);
    weft_explorer_fold(w->e, true);
    w->traces = g_ptr_array_new_with_free_func((GDestroyNotify)weft_trace_free);
    w->close_menu = g_menu_new();
    g_queue_init(&w->waiting);
    weft_window_add_actions(w);
    gtk_window_set_titlebar(GTK_WINDOW(w), header(w));
    gtk_window_set_child(GTK_WINDOW(w), content(w));
    gtk_window_set_default_size(GTK_WINDOW(w), s->width, s->height);
    if (s->maximized)
        gtk_window_maximize(GTK_WINDOW(w));
    add_keys(GTK_WIDGET(w), w);
    GtkDropTarget *drop = gtk_drop_target_new(GDK_TYPE_FILE_LIST, GDK_ACTION_COPY);
    g_signal_connect(drop, "drop", G_CALLBACK(on_drop), w);
    gtk_widget_add_controller(GTK_WIDGET(w), GTK_EVENT_CONTROLLER(drop));
    g_signal_connect_swapped(gtk_settings_get_default(),
                             "notify::gtk-application-prefer-dark-theme",
                             G_CALLBACK(weft_window_set_looks), w);
    g_signal_connect_swapped(gtk_settings_get_default(), "notify::gtk-theme-name",
                             G_CALLBACK(weft_window_set_looks), w);
    weft_window_set_looks(w);
    weft_window_show_page(w, "empty");
    weft_window_retitle(w);
}

WeftWindow *weft_window_new(GtkApplication *application)
{
    return g_object_new(WEFT_TYPE_WINDOW, "application", application, "icon-name",
                        WEFT_APPLICATION_ID, NULL);
}
