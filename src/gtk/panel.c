/* SPDX-License-Identifier: ISC */
#include "gtk/panel.h"

#define NAME_CHARS 13
#define LONG_CHARS 90     /* a sentence is shown below its name */
#define COUNTERS_MAX 1000 /* more than anybody would read */

/* ---- A line of the lists ---- */

enum item_kind { ITEM_TEXT, ITEM_HEADING, ITEM_LINK, ITEM_CHECK };

G_DECLARE_FINAL_TYPE(WeftItem, weft_item, WEFT, ITEM, GObject)

struct _WeftItem {
    GObject parent;
    enum item_kind kind;
    char *name, *text;
    bool named; /* has a column for its name */
    bool bad, checked;
    guint index, pane; /* what the explorer calls it */
};

G_DEFINE_TYPE(WeftItem, weft_item, G_TYPE_OBJECT)

static void finalize_item(GObject *object)
{
    WeftItem *self = WEFT_ITEM(object);
    g_free(self->name);
    g_free(self->text);
    G_OBJECT_CLASS(weft_item_parent_class)->finalize(object);
}

static void weft_item_class_init(WeftItemClass *class)
{
    G_OBJECT_CLASS(class)->finalize = finalize_item;
}

static void weft_item_init(WeftItem *self)
{
    (void)self;
}

static WeftItem *new_item(enum item_kind kind, const char *name, const char *text, guint index)
{
    WeftItem *self = g_object_new(weft_item_get_type(), NULL);
    self->kind = kind;
    self->name = g_strdup(name);
    self->text = g_strdup(text);
    self->index = index;
    return self;
}

static bool is_same(const WeftItem *a, const WeftItem *b)
{
    return a->kind == b->kind && a->bad == b->bad && a->checked == b->checked &&
           a->index == b->index && a->pane == b->pane && strcmp(a->name, b->name) == 0 &&
           strcmp(a->text, b->text) == 0;
}

/* Replaces only the items that differ: the view keeps its scroll position, and a screen reader does not start again. */
static void replace_items(GListStore *list, GPtrArray *items)
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
        g_list_store_splice(list, same, old - same - tail, items->len ? items->pdata + same : NULL,
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

struct list {
    GListStore *store;
    GtkWidget *view;
};

/* Replaces the items of a list, unless they look the same; takes ownership of the new ones. If the view has the focus, it
 * keeps it. The line that had the focus may be gone, and GTK gives the focus to a line that does not exist yet, where keys get
 * lost. So the window has the focus until the lines are laid out. */
static void show_items(const struct list *list, GPtrArray *items)
{
    GtkWidget *view = list->view;
    GtkRoot *root = gtk_widget_get_root(view);
    GtkWidget *focus = root ? gtk_root_get_focus(root) : NULL;
    bool inside = focus && gtk_widget_is_ancestor(focus, view);
    replace_items(list->store, items);
    focus = inside ? gtk_root_get_focus(root) : NULL;
    if (inside && !(focus && gtk_widget_get_mapped(focus))) {
        gtk_root_set_focus(root, NULL);
        g_idle_add_full(G_PRIORITY_LOW, focus_again, g_object_ref(view), g_object_unref);
    }
}

/* ---- The view ---- */

typedef void chosen_fn(WeftPanel *panel, WeftItem *item);

struct view {
    chosen_fn *chosen; /* a link or a check box was clicked */
    WeftPanel *panel;
    bool binding; /* a change by the program is not a click */
};

/* The widgets of a line; only one of value, link and check is visible. */
struct line {
    GtkWidget *box, *name, *value, *link, *link_text, *check;
    struct view *view;
    WeftItem *item; /* the item shown, or NULL */
};

static void on_link(struct line *line)
{
    if (line->item)
        line->view->chosen(line->view->panel, line->item);
}

static void on_check(GtkCheckButton *check, struct line *line)
{
    if (!line->item || line->view->binding)
        return;
    line->item->checked = gtk_check_button_get_active(check);
    line->view->chosen(line->view->panel, line->item);
}

static GtkWidget *text_label(bool grows)
{
    return g_object_new(GTK_TYPE_LABEL, "xalign", 0.0, "wrap", TRUE, "wrap-mode",
                        PANGO_WRAP_WORD_CHAR, "natural-wrap-mode",
                        grows ? GTK_NATURAL_WRAP_NONE : GTK_NATURAL_WRAP_INHERIT, "hexpand", grows,
                        "valign", GTK_ALIGN_START, NULL);
}

static void set_up(struct view *view, GtkListItem *list_item)
{
    struct line *line = g_new0(struct line, 1);
    line->view = view;
    line->box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    line->name = text_label(false);
    gtk_widget_add_css_class(line->name, "name");
    line->value = text_label(true);
    g_object_set(line->value, "selectable", TRUE, "focusable", FALSE, NULL);
    gtk_widget_add_css_class(line->value, "value");
    line->link_text = text_label(true);
    line->link = g_object_new(GTK_TYPE_BUTTON, "child", line->link_text, "hexpand", TRUE, "valign",
                              GTK_ALIGN_START, NULL);
    gtk_widget_add_css_class(line->link, "flat");
    gtk_widget_add_css_class(line->link, "fact-link");
    g_signal_connect_swapped(line->link, "clicked", G_CALLBACK(on_link), line);
    line->check = gtk_check_button_new();
    g_signal_connect(line->check, "toggled", G_CALLBACK(on_check), line);
    GtkWidget *parts[] = {line->name, line->value, line->link, line->check};
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
        gtk_box_append(GTK_BOX(line->box), parts[i]);
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
    bool heading = item->kind == ITEM_HEADING;
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

static void bind(struct view *view, GtkListItem *list_item)
{
    struct line *line = line_of(list_item);
    WeftItem *item = gtk_list_item_get_item(list_item);
    line->item = item;
    view->binding = true;
    bool is_long = g_utf8_strlen(item->text, -1) > LONG_CHARS && *item->name;
    gtk_orientable_set_orientation(GTK_ORIENTABLE(line->box),
                                   is_long ? GTK_ORIENTATION_VERTICAL : GTK_ORIENTATION_HORIZONTAL);
    gtk_box_set_spacing(GTK_BOX(line->box), is_long ? 0 : 6);
    show_name(line);
    gtk_widget_set_visible(line->value, item->kind == ITEM_TEXT);
    gtk_widget_set_visible(line->link, item->kind == ITEM_LINK);
    gtk_widget_set_visible(line->check, item->kind == ITEM_CHECK);
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

static void unbind(struct view *view, GtkListItem *list_item)
{
    (void)view;
    line_of(list_item)->item = NULL;
}

static struct list new_list(WeftPanel *panel, const char *label, chosen_fn *chosen)
{
    struct view *view = g_new0(struct view, 1);
    struct list list = {.store = g_list_store_new(weft_item_get_type())};
    view->chosen = chosen;
    view->panel = panel;
    GtkListItemFactory *factory = gtk_signal_list_item_factory_new();
    g_signal_connect_swapped(factory, "setup", G_CALLBACK(set_up), view);
    g_signal_connect_swapped(factory, "bind", G_CALLBACK(bind), view);
    g_signal_connect_swapped(factory, "unbind", G_CALLBACK(unbind), view);
    GtkNoSelection *model = gtk_no_selection_new(g_object_ref(G_LIST_MODEL(list.store)));
    GtkWidget *lines = gtk_list_view_new(GTK_SELECTION_MODEL(model), factory);
    gtk_widget_add_css_class(lines, "lines");
    gtk_accessible_update_property(GTK_ACCESSIBLE(lines), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
    list.view = g_object_new(GTK_TYPE_SCROLLED_WINDOW, "hscrollbar-policy", GTK_POLICY_NEVER,
                             "child", lines, "vexpand", TRUE, NULL);
    g_object_set_data_full(G_OBJECT(list.view), "view", view, g_free);
    return list;
}

/* ---- The lists ---- */

struct _WeftPanel {
    GtkBox parent;
    struct weft_explorer *e;
    struct list facts, visible, counters, legend;
    GtkWidget *stack, *facts_page, *visible_page, *total;
};

G_DEFINE_TYPE(WeftPanel, weft_panel, GTK_TYPE_BOX)

static guint touched_signal;

static void touched(WeftPanel *self)
{
    g_signal_emit(self, touched_signal, 0);
}

static void on_fact(WeftPanel *self, WeftItem *item)
{
    uint32_t count = 0;
    if (!self->e)
        return;
    const struct weft_fact *fact = weft_explorer_facts(self->e, &count);
    /* The displayed fact may be slightly out of date. */
    if (item->index < count && strcmp(fact[item->index].text, item->text) == 0)
        weft_explorer_follow(self->e, item->index);
    touched(self);
}

static void on_visible(WeftPanel *self, WeftItem *item)
{
    if (!self->e || item->pane >= weft_explorer_panes(self->e))
        return;
    weft_explorer_select(self->e, item->pane, item->index);
    gtk_stack_set_visible_child_name(GTK_STACK(self->stack), "facts");
    touched(self);
}

static void on_counter(WeftPanel *self, WeftItem *item)
{
    if (!self->e || item->index >= weft_explorer_counters(self->e))
        return;
    weft_explorer_show_counter(self->e, item->index, item->checked);
    touched(self);
}

static void on_kind(WeftPanel *self, WeftItem *item)
{
    if (!self->e)
        return;
    weft_explorer_show_kind(self->e, (enum weft_kind)item->index, item->checked);
    touched(self);
}

void weft_panel_show_legend(WeftPanel *self)
{
    if (!gtk_widget_get_mapped(self->legend.view))
        return;
    GPtrArray *items = g_ptr_array_new();
    for (guint kind = 0; self->e && kind < WEFT_KINDS; kind++) {
        const char *text;
        bool shown;
        if (!weft_explorer_kind(self->e, (enum weft_kind)kind, &text, &shown))
            continue;
        WeftItem *item = new_item(ITEM_CHECK, "", text, kind);
        item->checked = shown;
        g_ptr_array_add(items, item);
    }
    show_items(&self->legend, items);
}

char *weft_panel_show_facts(WeftPanel *self)
{
    GPtrArray *items = g_ptr_array_new();
    GString *text = g_string_new(NULL);
    uint32_t count = 0;
    const struct weft_fact *fact = self->e ? weft_explorer_facts(self->e, &count) : NULL;
    for (uint32_t i = 0; fact && i < count; i++) {
        enum item_kind kind = fact[i].heading                  ? ITEM_HEADING
                              : fact[i].link != WEFT_LINK_NONE ? ITEM_LINK
                                                               : ITEM_TEXT;
        WeftItem *item = new_item(kind, fact[i].name, fact[i].text, i);
        item->bad = fact[i].bad;
        item->named = true;
        g_ptr_array_add(items, item);
        g_string_append_printf(text, "%s\t%s\n", fact[i].name, fact[i].text);
    }
    show_items(&self->facts, items);
    return g_string_free(text, FALSE);
}

/* The list costs more than a frame, so it is filled only while it can be seen. */
static void fill_visible(WeftPanel *self, const struct weft_visible *v, uint32_t count,
                         uint32_t all)
{
    GPtrArray *items = g_ptr_array_new();
    for (uint32_t i = 0; i < count; i++) {
        WeftItem *item = new_item(ITEM_LINK, "", v[i].text, v[i].promise);
        item->pane = v[i].pane;
        g_ptr_array_add(items, item);
    }
    show_items(&self->visible, items);
    g_autofree char *total = all > count
                                 ? g_strdup_printf("The %u that take most room, of %u", count, all)
                                 : g_strdup_printf("%u promise%s", all, all == 1 ? "" : "s");
    gtk_label_set_text(GTK_LABEL(self->total), total);
}

char *weft_panel_show_visible(WeftPanel *self)
{
    GString *text = g_string_new(NULL);
    uint32_t count = 0, all = 0;
    const struct weft_visible *v = self->e ? weft_explorer_visible(self->e, &count, &all) : NULL;
    for (uint32_t i = 0; v && i < count; i++)
        g_string_append_printf(text, "%s\n", v[i].text);
    if (gtk_widget_get_mapped(self->visible_page))
        fill_visible(self, v, v ? count : 0, all);
    return g_string_free(text, FALSE);
}

static void on_visible_mapped(WeftPanel *self)
{
    g_free(weft_panel_show_visible(self));
}

void weft_panel_show_counters(WeftPanel *self)
{
    GPtrArray *items = g_ptr_array_new();
    uint32_t count = self->e ? weft_explorer_counters(self->e) : 0;
    for (uint32_t i = 0; i < count && i < COUNTERS_MAX; i++) {
        bool shown = true;
        const char *name = weft_explorer_counter(self->e, i, &shown);
        WeftItem *item = new_item(ITEM_CHECK, "", name, i);
        item->checked = shown;
        g_ptr_array_add(items, item);
    }
    gtk_widget_set_visible(self->counters.view, count > 0);
    show_items(&self->counters, items);
}

/* ---- The object ---- */

static GtkWidget *visible_page(WeftPanel *self)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    self->total = g_object_new(GTK_TYPE_LABEL, "xalign", 0.0, NULL);
    gtk_widget_add_css_class(self->total, "dim-label");
    gtk_widget_add_css_class(self->total, "total");
    gtk_box_append(GTK_BOX(box), self->total);
    gtk_box_append(GTK_BOX(box), self->visible.view);
    return box;
}

static void weft_panel_init(WeftPanel *self)
{
    self->facts = new_list(self, "Facts", on_fact);
    self->visible = new_list(self, "Visible promises", on_visible);
    self->counters = new_list(self, "Counters", on_counter);
    self->legend = new_list(self, "Legend", on_kind);
    gtk_orientable_set_orientation(GTK_ORIENTABLE(self), GTK_ORIENTATION_VERTICAL);
    gtk_widget_add_css_class(GTK_WIDGET(self), "panel");
    self->stack = gtk_stack_new();
    GtkStack *stack = GTK_STACK(self->stack);
    gtk_stack_set_hhomogeneous(stack, TRUE);
    self->facts_page = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_box_append(GTK_BOX(self->facts_page), self->facts.view);
    gtk_stack_add_titled(stack, self->facts_page, "facts", "Facts");
    self->visible_page = visible_page(self);
    g_signal_connect_swapped(self->visible_page, "map", G_CALLBACK(on_visible_mapped), self);
    gtk_stack_add_titled(stack, self->visible_page, "visible", "Visible");
    gtk_stack_add_titled(stack, self->counters.view, "counters", "Counters");
    g_signal_connect_swapped(self->legend.view, "map", G_CALLBACK(weft_panel_show_legend), self);
    gtk_stack_add_titled(stack, self->legend.view, "legend", "Legend");
    GtkWidget *switcher =
        g_object_new(GTK_TYPE_STACK_SWITCHER, "stack", stack, "halign", GTK_ALIGN_CENTER, NULL);
    gtk_widget_add_css_class(switcher, "switcher");
    gtk_box_append(GTK_BOX(self), switcher);
    gtk_box_append(GTK_BOX(self), self->stack);
}

static void dispose(GObject *object)
{
    WeftPanel *self = WEFT_PANEL(object);
    self->e = NULL;
    g_clear_object(&self->facts.store);
    g_clear_object(&self->visible.store);
    g_clear_object(&self->counters.store);
    g_clear_object(&self->legend.store);
    G_OBJECT_CLASS(weft_panel_parent_class)->dispose(object);
}

static void weft_panel_class_init(WeftPanelClass *class)
{
    G_OBJECT_CLASS(class)->dispose = dispose;
    touched_signal = g_signal_new("touched", WEFT_TYPE_PANEL, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                  NULL, G_TYPE_NONE, 0);
}

GtkWidget *weft_panel_new(struct weft_explorer *e)
{
    WeftPanel *self = g_object_new(WEFT_TYPE_PANEL, NULL);
    self->e = e;
    return GTK_WIDGET(self);
}

void weft_panel_forget(WeftPanel *self)
{
    self->e = NULL;
}

void weft_panel_add(WeftPanel *self, GtkWidget *list)
{
    gtk_box_append(GTK_BOX(self->facts_page), list);
}
