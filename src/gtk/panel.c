/* SPDX-License-Identifier: ISC */
#include "gtk/panel.h"

#include "gtk/item.h"

#define COUNTERS_MAX 1000 /* more than anybody would read */

struct _WeftPanel {
    GtkBox parent;
    struct weft_explorer *e;
    GListStore *facts, *visible, *counters;
    GtkWidget *stack, *facts_view, *visible_view, *counters_view, *visible_page, *total;
};

G_DEFINE_TYPE(WeftPanel, weft_panel, GTK_TYPE_BOX)

static guint touched_signal;

static void touched(WeftPanel *self)
{
    g_signal_emit(self, touched_signal, 0);
}

static void on_fact(void *data, WeftItem *item)
{
    WeftPanel *self = data;
    uint32_t count = 0;
    if (!self->e)
        return;
    const struct weft_fact *fact = weft_explorer_facts(self->e, &count);
    /* The displayed fact may be slightly out of date. */
    if (item->index < count && strcmp(fact[item->index].text, item->text) == 0)
        weft_explorer_follow(self->e, item->index);
    touched(self);
}

static void on_visible(void *data, WeftItem *item)
{
    WeftPanel *self = data;
    if (!self->e || item->pane >= weft_explorer_panes(self->e))
        return;
    weft_explorer_select(self->e, item->pane, item->index);
    gtk_stack_set_visible_child_name(GTK_STACK(self->stack), "facts");
    touched(self);
}

static void on_counter(void *data, WeftItem *item)
{
    WeftPanel *self = data;
    if (!self->e || item->index >= weft_explorer_counters(self->e))
        return;
    weft_explorer_show_counter(self->e, item->index, item->checked);
    touched(self);
}

void weft_panel_show_facts(WeftPanel *self)
{
    GPtrArray *items = g_ptr_array_new();
    uint32_t count = 0;
    const struct weft_fact *fact = self->e ? weft_explorer_facts(self->e, &count) : NULL;
    for (uint32_t i = 0; fact && i < count; i++) {
        enum weft_item_kind kind = fact[i].heading                  ? WEFT_ITEM_HEADING
                                   : fact[i].link != WEFT_LINK_NONE ? WEFT_ITEM_LINK
                                                                    : WEFT_ITEM_TEXT;
        WeftItem *item = weft_item_new(kind, fact[i].name, fact[i].text);
        item->bad = fact[i].bad;
        item->index = i;
        item->named = true;
        g_ptr_array_add(items, item);
    }
    weft_items_replace(self->facts, self->facts_view, items);
}

/* The list costs more than a frame, so it is filled only while it can be seen. */
static void fill_visible(WeftPanel *self, const struct weft_visible *v, uint32_t count,
                         uint32_t all)
{
    GPtrArray *items = g_ptr_array_new();
    for (uint32_t i = 0; i < count; i++) {
        WeftItem *item = weft_item_new(WEFT_ITEM_LINK, "", v[i].text);
        item->index = v[i].promise;
        item->pane = v[i].pane;
        g_ptr_array_add(items, item);
    }
    weft_items_replace(self->visible, self->visible_view, items);
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

static void on_visible_mapped(GtkWidget *page, WeftPanel *self)
{
    (void)page;
    g_free(weft_panel_show_visible(self));
}

void weft_panel_show_counters(WeftPanel *self)
{
    GPtrArray *items = g_ptr_array_new();
    uint32_t count = self->e ? weft_explorer_counters(self->e) : 0;
    for (uint32_t i = 0; i < count && i < COUNTERS_MAX; i++) {
        bool shown = true;
        const char *name = weft_explorer_counter(self->e, i, &shown);
        WeftItem *item = weft_item_new(WEFT_ITEM_CHECK, "", name);
        item->checked = shown;
        item->index = i;
        g_ptr_array_add(items, item);
    }
    gtk_widget_set_visible(self->counters_view, count > 0);
    weft_items_replace(self->counters, self->counters_view, items);
}

char *weft_panel_facts_text(WeftPanel *self)
{
    return weft_items_text(self->facts);
}

/* ---- The object ---- */

static GtkWidget *visible_page(WeftPanel *self)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    self->total = gtk_label_new("");
    gtk_label_set_xalign(GTK_LABEL(self->total), 0);
    gtk_widget_add_css_class(self->total, "dim-label");
    gtk_widget_add_css_class(self->total, "total");
    gtk_box_append(GTK_BOX(box), self->total);
    self->visible_view = weft_items_view(self->visible, "Visible promises", on_visible, self);
    gtk_box_append(GTK_BOX(box), self->visible_view);
    return box;
}

static void weft_panel_init(WeftPanel *self)
{
    self->facts = g_list_store_new(WEFT_TYPE_ITEM);
    self->visible = g_list_store_new(WEFT_TYPE_ITEM);
    self->counters = g_list_store_new(WEFT_TYPE_ITEM);
    gtk_orientable_set_orientation(GTK_ORIENTABLE(self), GTK_ORIENTATION_VERTICAL);
    gtk_widget_add_css_class(GTK_WIDGET(self), "panel");
    self->stack = gtk_stack_new();
    gtk_stack_set_hhomogeneous(GTK_STACK(self->stack), TRUE);
    GtkStack *stack = GTK_STACK(self->stack);
    self->facts_view = weft_items_view(self->facts, "Facts", on_fact, self);
    self->counters_view = weft_items_view(self->counters, "Counters", on_counter, self);
    gtk_stack_add_titled(stack, self->facts_view, "facts", "Facts");
    self->visible_page = visible_page(self);
    g_signal_connect(self->visible_page, "map", G_CALLBACK(on_visible_mapped), self);
    gtk_stack_add_titled(stack, self->visible_page, "visible", "Visible");
    gtk_stack_add_titled(stack, self->counters_view, "counters", "Counters");
    GtkWidget *switcher = gtk_stack_switcher_new();
    gtk_stack_switcher_set_stack(GTK_STACK_SWITCHER(switcher), stack);
    gtk_widget_set_halign(switcher, GTK_ALIGN_CENTER);
    gtk_widget_add_css_class(switcher, "switcher");
    gtk_box_append(GTK_BOX(self), switcher);
    gtk_box_append(GTK_BOX(self), self->stack);
}

static void dispose(GObject *object)
{
    WeftPanel *self = WEFT_PANEL(object);
    self->e = NULL;
    g_clear_object(&self->facts);
    g_clear_object(&self->visible);
    g_clear_object(&self->counters);
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
