/* SPDX-License-Identifier: ISC */
#include "gtk/item.h"

#define NAME_CHARS 13
#define LONG_CHARS 90 /* a sentence is shown below its name */

G_DEFINE_TYPE(WeftItem, weft_item, G_TYPE_OBJECT)

static void finalize(GObject *object)
{
    WeftItem *self = WEFT_ITEM(object);
    g_free(self->name);
    g_free(self->text);
    G_OBJECT_CLASS(weft_item_parent_class)->finalize(object);
}

static void weft_item_class_init(WeftItemClass *class)
{
    G_OBJECT_CLASS(class)->finalize = finalize;
}

static void weft_item_init(WeftItem *self)
{
    (void)self;
}

WeftItem *weft_item_new(enum weft_item_kind kind, const char *name, const char *text)
{
    WeftItem *self = g_object_new(WEFT_TYPE_ITEM, NULL);
    self->kind = kind;
    self->name = g_strdup(name);
    self->text = g_strdup(text);
    return self;
}

static bool is_same(const WeftItem *a, const WeftItem *b)
{
    return a->kind == b->kind && a->bad == b->bad && a->checked == b->checked &&
           a->index == b->index && a->pane == b->pane && strcmp(a->name, b->name) == 0 &&
           strcmp(a->text, b->text) == 0;
}

/* Replaces only the items that differ: the view keeps its scroll position, and a screen reader does not start again. */
static void replace(GListStore *list, GPtrArray *items)
{
    guint old = g_list_model_get_n_items(G_LIST_MODEL(list)), same = 0, tail = 0;
    for (; same < old && same < items->len; same++) {
        g_autoptr(WeftItem) item = g_list_model_get_item(G_LIST_MODEL(list), same);
        if (!is_same(item, items->pdata[same]))
            break;
    }
    for (; tail < old - same && tail < items->len - same; tail++) {
        g_autoptr(WeftItem) item = g_list_model_get_item(G_LIST_MODEL(list), old - tail - 1);
        if (!is_same(item, items->pdata[items->len - tail - 1]))
            break;
    }
    if (same + tail < old || same + tail < items->len)
        g_list_store_splice(list, same, old - same - tail, items->pdata + same,
                            items->len - same - tail);
    for (guint i = 0; i < items->len; i++)
        g_object_unref(items->pdata[i]);
    g_ptr_array_unref(items);
}

static gboolean focus_again(gpointer view)
{
    GtkRoot *root = gtk_widget_get_root(view);
    if (root && !gtk_root_get_focus(root))
        gtk_widget_child_focus(view, GTK_DIR_TAB_FORWARD);
    return G_SOURCE_REMOVE;
}

/* The line that had the focus may be gone, and GTK gives the focus to a line that does not exist yet, where keys get
 * lost. So the window has the focus until the lines are laid out. */
void weft_items_replace(GListStore *list, GtkWidget *view, GPtrArray *items)
{
    GtkRoot *root = gtk_widget_get_root(view);
    GtkWidget *focus = root ? gtk_root_get_focus(root) : NULL;
    bool inside = focus && gtk_widget_is_ancestor(focus, view);
    replace(list, items);
    focus = inside ? gtk_root_get_focus(root) : NULL;
    if (inside && !(focus && gtk_widget_get_mapped(focus))) {
        gtk_root_set_focus(root, NULL);
        g_idle_add_full(G_PRIORITY_LOW, focus_again, g_object_ref(view), g_object_unref);
    }
}

/* ---- The view ---- */

struct view {
    weft_item_fn *chosen;
    void *data;
    bool binding; /* a change by the program is not a click */
};

/* The widgets of a line; only one of value, link and check is visible. */
struct line {
    GtkWidget *box, *name, *value, *link, *link_text, *check;
    struct view *view;
    WeftItem *item; /* the item shown, or NULL */
};

static void on_link(GtkButton *button, struct line *line)
{
    (void)button;
    if (line->item)
        line->view->chosen(line->view->data, line->item);
}

static void on_check(GtkCheckButton *check, struct line *line)
{
    if (!line->item || line->view->binding)
        return;
    line->item->checked = gtk_check_button_get_active(check);
    line->view->chosen(line->view->data, line->item);
}

static GtkWidget *text_label(void)
{
    GtkWidget *label = gtk_label_new(NULL);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    gtk_label_set_wrap_mode(GTK_LABEL(label), PANGO_WRAP_WORD_CHAR);
    gtk_label_set_natural_wrap_mode(GTK_LABEL(label), GTK_NATURAL_WRAP_NONE);
    gtk_widget_set_hexpand(label, TRUE);
    gtk_widget_set_valign(label, GTK_ALIGN_START);
    return label;
}

static void set_up(GtkListItemFactory *factory, GtkListItem *list_item, struct view *view)
{
    struct line *line = g_new0(struct line, 1);
    (void)factory;
    line->view = view;
    line->box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    line->name = gtk_label_new(NULL);
    gtk_label_set_xalign(GTK_LABEL(line->name), 0);
    gtk_label_set_wrap(GTK_LABEL(line->name), TRUE);
    gtk_label_set_wrap_mode(GTK_LABEL(line->name), PANGO_WRAP_WORD_CHAR);
    gtk_widget_set_valign(line->name, GTK_ALIGN_START);
    gtk_widget_add_css_class(line->name, "name");
    line->value = text_label();
    gtk_label_set_selectable(GTK_LABEL(line->value), TRUE);
    gtk_widget_set_focusable(line->value, FALSE);
    gtk_widget_add_css_class(line->value, "value");
    line->link_text = text_label();
    line->link = gtk_button_new();
    gtk_button_set_child(GTK_BUTTON(line->link), line->link_text);
    gtk_widget_set_hexpand(line->link, TRUE);
    gtk_widget_set_valign(line->link, GTK_ALIGN_START);
    gtk_widget_add_css_class(line->link, "flat");
    gtk_widget_add_css_class(line->link, "fact-link");
    g_signal_connect(line->link, "clicked", G_CALLBACK(on_link), line);
    line->check = gtk_check_button_new();
    g_signal_connect(line->check, "toggled", G_CALLBACK(on_check), line);
    gtk_box_append(GTK_BOX(line->box), line->name);
    gtk_box_append(GTK_BOX(line->box), line->value);
    gtk_box_append(GTK_BOX(line->box), line->link);
    gtk_box_append(GTK_BOX(line->box), line->check);
    gtk_list_item_set_child(list_item, line->box);
    gtk_list_item_set_activatable(list_item, FALSE);
    g_object_set_data_full(G_OBJECT(line->box), "line", line, g_free);
}

static struct line *line_of(GtkListItem *list_item)
{
    return g_object_get_data(G_OBJECT(gtk_list_item_get_child(list_item)), "line");
}

static void set_class(GtkWidget *widget, const char *class, bool on)
{
    if (on)
        gtk_widget_add_css_class(widget, class);
    else
        gtk_widget_remove_css_class(widget, class);
}

static void show_name(struct line *line)
{
    const WeftItem *item = line->item;
    bool heading = item->kind == WEFT_ITEM_HEADING;
    int chars = heading ? -1 : NAME_CHARS;
    gtk_label_set_text(GTK_LABEL(line->name), item->name);
    gtk_label_set_width_chars(GTK_LABEL(line->name), chars);
    gtk_label_set_max_width_chars(GTK_LABEL(line->name), chars);
    gtk_widget_set_hexpand(line->name, heading);
    gtk_widget_set_visible(line->name, item->named);
    gtk_accessible_update_state(GTK_ACCESSIBLE(line->name), GTK_ACCESSIBLE_STATE_HIDDEN,
                                *item->name == '\0', -1);
    set_class(line->name, "heading", heading);
    set_class(line->name, "dim-label", !heading);
}

static void bind(GtkListItemFactory *factory, GtkListItem *list_item, struct view *view)
{
    struct line *line = line_of(list_item);
    WeftItem *item = gtk_list_item_get_item(list_item);
    (void)factory;
    line->item = item;
    view->binding = true;
    bool is_long = g_utf8_strlen(item->text, -1) > LONG_CHARS && *item->name;
    gtk_orientable_set_orientation(GTK_ORIENTABLE(line->box),
                                   is_long ? GTK_ORIENTATION_VERTICAL : GTK_ORIENTATION_HORIZONTAL);
    gtk_box_set_spacing(GTK_BOX(line->box), is_long ? 0 : 6);
    show_name(line);
    gtk_widget_set_visible(line->value, item->kind == WEFT_ITEM_TEXT);
    gtk_widget_set_visible(line->link, item->kind == WEFT_ITEM_LINK);
    gtk_widget_set_visible(line->check, item->kind == WEFT_ITEM_CHECK);
    gtk_label_set_text(GTK_LABEL(line->value), item->text);
    gtk_label_set_text(GTK_LABEL(line->link_text), item->text);
    gtk_check_button_set_label(GTK_CHECK_BUTTON(line->check), item->text);
    gtk_check_button_set_active(GTK_CHECK_BUTTON(line->check), item->checked);
    set_class(line->value, "bad", item->bad);
    set_class(line->link_text, "bad", item->bad);
    g_autofree char *label =
        g_strdup_printf("%s%s%s", item->name, *item->name ? ": " : "", item->text);
    gtk_accessible_update_property(GTK_ACCESSIBLE(line->link), GTK_ACCESSIBLE_PROPERTY_LABEL, label,
                                   -1);
    view->binding = false;
}

static void unbind(GtkListItemFactory *factory, GtkListItem *list_item, struct view *view)
{
    (void)factory;
    (void)view;
    line_of(list_item)->item = NULL;
}

GtkWidget *weft_items_view(GListStore *list, const char *label, weft_item_fn *chosen, void *data)
{
    struct view *view = g_new0(struct view, 1);
    view->chosen = chosen;
    view->data = data;
    GtkListItemFactory *factory = gtk_signal_list_item_factory_new();
    g_signal_connect(factory, "setup", G_CALLBACK(set_up), view);
    g_signal_connect(factory, "bind", G_CALLBACK(bind), view);
    g_signal_connect(factory, "unbind", G_CALLBACK(unbind), view);
    GtkNoSelection *model = gtk_no_selection_new(g_object_ref(G_LIST_MODEL(list)));
    GtkWidget *lines = gtk_list_view_new(GTK_SELECTION_MODEL(model), factory);
    gtk_widget_add_css_class(lines, "lines");
    gtk_accessible_update_property(GTK_ACCESSIBLE(lines), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
    GtkWidget *scrolled = gtk_scrolled_window_new();
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scrolled), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), lines);
    gtk_widget_set_vexpand(scrolled, TRUE);
    g_object_set_data_full(G_OBJECT(scrolled), "view", view, g_free);
    return scrolled;
}

char *weft_items_text(GListStore *list)
{
    GString *out = g_string_new(NULL);
    guint count = g_list_model_get_n_items(G_LIST_MODEL(list));
    for (guint i = 0; i < count; i++) {
        g_autoptr(WeftItem) item = g_list_model_get_item(G_LIST_MODEL(list), i);
        if (item->named)
            g_string_append_printf(out, "%s\t", item->name);
        g_string_append_printf(out, "%s\n", item->text);
    }
    return g_string_free(out, FALSE);
}
