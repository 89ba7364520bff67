/* SPDX-License-Identifier: ISC */
#include "gtk/table.h"

#include "gtk/window.h"

#define BARS_HEIGHT 64
#define ROWS_HEIGHT 190
#define NAME_CHARS 18 /* at least */

/* ---- A row ---- */

G_DECLARE_FINAL_TYPE(WeftRow, weft_row, WEFT, ROW, GObject)

struct _WeftRow {
    GObject parent;
    char *cell[WEFT_TABLE_COLUMNS];
};

G_DEFINE_TYPE(WeftRow, weft_row, G_TYPE_OBJECT)

static void finalize_row(GObject *object)
{
    for (unsigned c = 0; c < WEFT_TABLE_COLUMNS; c++)
        g_free(WEFT_ROW(object)->cell[c]);
    G_OBJECT_CLASS(weft_row_parent_class)->finalize(object);
}

static void weft_row_class_init(WeftRowClass *class)
{
    G_OBJECT_CLASS(class)->finalize = finalize_row;
}

static void weft_row_init(WeftRow *self)
{
    (void)self;
}

/* ---- The table ---- */

struct _WeftTable {
    GtkBox parent;
    struct weft_explorer *e;
    GListStore *rows;
    GtkSingleSelection *selection;
    GtkWidget *view, *by, *about, *bars, *bars_about, *pin;
    GtkColumnViewColumn *column[WEFT_TABLE_COLUMNS];
    int asked;              /* the column that compared first, see on_sorted */
    bool updating;          /* a change by the program is not a click */
    int drag_from, drag_to; /* bars that are brushed, or -1 */
    double drag_x;
};

G_DEFINE_TYPE(WeftTable, weft_table, GTK_TYPE_BOX)

static guint touched_signal;

static void touched(WeftTable *self)
{
    g_signal_emit(self, touched_signal, 0);
}

/* What a column's cells need. */
struct cells {
    WeftTable *table;
    int column;
};

static void set_up_cell(const struct cells *c, GtkListItem *item)
{
    bool is_name = c->column == WEFT_TABLE_NAME;
    GtkWidget *label = gtk_label_new("");
    g_object_set(label, "xalign", is_name ? 0.0 : 1.0, "ellipsize",
                 is_name ? PANGO_ELLIPSIZE_END : PANGO_ELLIPSIZE_NONE, "width-chars",
                 is_name ? NAME_CHARS : -1, NULL);
    if (!is_name)
        gtk_widget_add_css_class(label, "numeric");
    gtk_list_item_set_child(item, label);
}

static void bind_cell(const struct cells *c, GtkListItem *item)
{
    WeftRow *row = gtk_list_item_get_item(item);
    GtkWidget *label = gtk_list_item_get_child(item);
    gtk_label_set_text(GTK_LABEL(label), row->cell[c->column]);
    if (c->column == WEFT_TABLE_NAME)
        gtk_widget_set_tooltip_text(label, row->cell[c->column]);
}

/* The explorer sorts; this only says which heading was clicked. */
static int compare(gconstpointer a, gconstpointer b, gpointer data)
{
    const struct cells *c = data;
    (void)a;
    (void)b;
    if (c->table->asked < 0)
        c->table->asked = c->column;
    return 0;
}

/* A heading was clicked. Which one, GTK says only from 4.10 on; but its sorter asks that column first. */
static void on_sorted(WeftTable *self, int change, GtkSorter *sorter)
{
    g_autoptr(GObject) a = g_object_new(weft_row_get_type(), NULL);
    g_autoptr(GObject) b = g_object_new(weft_row_get_type(), NULL);
    (void)change;
    if (self->updating || !self->e)
        return;
    self->asked = -1;
    gtk_sorter_compare(sorter, a, b);
    if (self->asked < 0)
        return;
    weft_explorer_table_sort(self->e, (enum weft_table_column)self->asked);
    touched(self);
}

static void on_activate(WeftTable *self, guint row)
{
    if (self->updating || !self->e)
        return;
    weft_explorer_table_go(self->e, row);
    touched(self);
}

static void on_by(WeftTable *self)
{
    guint by = gtk_drop_down_get_selected(GTK_DROP_DOWN(self->by));
    if (self->updating || !self->e || by >= WEFT_TABLES)
        return;
    weft_explorer_table_show(self->e, (enum weft_table_by)by);
    touched(self);
}

/* ---- The histogram ---- */

static const struct weft_table_view *shown(const WeftTable *self)
{
    static const struct weft_table_view none = {.about = "", .bars_about = ""};
    return self->e ? weft_explorer_table(self->e) : &none;
}

static int bar_at(const WeftTable *self, double x)
{
    const struct weft_table_view *t = shown(self);
    int width = gtk_widget_get_width(self->bars);
    if (!t->bars || width <= 0)
        return -1;
    return (int)CLAMP(x * t->bars / width, 0, t->bars - 1);
}

static void draw_bars(GtkDrawingArea *area, cairo_t *cr, int width, int height, gpointer data)
{
    WeftTable *self = data;
    const struct weft_table_view *t = shown(self);
    GdkRGBA ink;
    (void)area;
    gtk_style_context_get_color(gtk_widget_get_style_context(self->bars), &ink);
    int low = MIN(self->drag_from, self->drag_to), high = MAX(self->drag_from, self->drag_to);
    for (uint32_t i = 0; i < t->bars; i++) {
        double x0 = (double)width * i / t->bars, x1 = (double)width * (i + 1) / t->bars;
        double part = t->bar_max ? (double)t->bar[i].count / t->bar_max : 0;
        double tall = t->bar[i].count ? MAX(part * (height - 2), 2) : 0;
        bool brushed = self->drag_from >= 0 && (int)i >= low && (int)i <= high;
        if (brushed) {
            cairo_set_source_rgba(cr, 0.0, 0.45, 0.70, 0.25);
            cairo_rectangle(cr, x0, 0, x1 - x0, height);
            cairo_fill(cr);
        }
        cairo_set_source_rgba(cr, ink.red, ink.green, ink.blue, 0.6);
        cairo_rectangle(cr, x0 + 0.5, height - tall, MAX(x1 - x0 - 1, 1), tall);
        cairo_fill(cr);
    }
}

static void on_drag_begin(WeftTable *self, double x)
{
    self->drag_x = x;
    self->drag_from = self->drag_to = bar_at(self, x);
    gtk_widget_queue_draw(self->bars);
}

static void on_drag_update(WeftTable *self, double dx)
{
    self->drag_to = bar_at(self, self->drag_x + dx);
    gtk_widget_queue_draw(self->bars);
}

static void on_drag_end(WeftTable *self, double dx)
{
    int from = self->drag_from, to = bar_at(self, self->drag_x + dx);
    self->drag_from = self->drag_to = -1;
    gtk_widget_queue_draw(self->bars);
    if (!self->e || from < 0 || to < 0)
        return;
    weft_explorer_table_brush(self->e, (uint32_t)from, (uint32_t)to);
    touched(self);
}

static gboolean on_tip(GtkWidget *widget, int x, int y, gboolean keyboard, GtkTooltip *tip,
                       WeftTable *self)
{
    int bar = bar_at(self, x);
    (void)widget;
    (void)y;
    if (keyboard || bar < 0)
        return FALSE;
    gtk_tooltip_set_text(tip, shown(self)->bar[bar].text);
    return TRUE;
}

/* ---- Showing ---- */

static void fill(WeftTable *self, const struct weft_table_view *t)
{
    g_autoptr(GPtrArray) items = g_ptr_array_new_with_free_func(g_object_unref);
    guint chosen = GTK_INVALID_LIST_POSITION;
    for (uint32_t i = 0; i < t->rows; i++) {
        WeftRow *row = g_object_new(weft_row_get_type(), NULL);
        for (unsigned c = 0; c < WEFT_TABLE_COLUMNS; c++)
            row->cell[c] = g_strdup(t->row[i].cell[c]);
        g_ptr_array_add(items, row);
        if (t->row[i].chosen)
            chosen = i;
    }
    guint old = g_list_model_get_n_items(G_LIST_MODEL(self->rows)), same = 0;
    while (same < old && same < items->len) { /* so that the view stays where it is */
        g_autoptr(WeftRow) was = g_list_model_get_item(G_LIST_MODEL(self->rows), same);
        const WeftRow *now = items->pdata[same];
        unsigned c = 0;
        while (c < WEFT_TABLE_COLUMNS && strcmp(was->cell[c], now->cell[c]) == 0)
            c++;
        if (c < WEFT_TABLE_COLUMNS)
            break;
        same++;
    }
    if (same < old || same < items->len)
        g_list_store_splice(self->rows, same, old - same, items->pdata + same, items->len - same);
    gtk_single_selection_set_selected(self->selection, chosen);
}

void weft_table_update(WeftTable *self)
{
    const struct weft_table_view *t = shown(self);
    gtk_widget_set_visible(GTK_WIDGET(self), t->open);
    if (!t->open)
        return;
    self->updating = true;
    gtk_drop_down_set_selected(GTK_DROP_DOWN(self->by), t->by);
    g_autofree char *about = t->all > t->rows
                                 ? g_strdup_printf("%s (the first %u)", t->about, t->rows)
                                 : g_strdup(t->about);
    gtk_label_set_text(GTK_LABEL(self->about), about);
    gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(self->pin), t->pinned);
    gtk_column_view_column_set_visible(self->column[WEFT_TABLE_CPU], t->has_cpu);
    gtk_column_view_sort_by_column(
        GTK_COLUMN_VIEW(self->view), self->column[t->sort],
        t->ascending == (t->sort == WEFT_TABLE_NAME) ? GTK_SORT_DESCENDING : GTK_SORT_ASCENDING);
    fill(self, t);
    gtk_label_set_text(GTK_LABEL(self->bars_about), t->bars_about);
    gtk_widget_set_visible(self->bars, t->bars > 0);
    gtk_widget_set_visible(self->bars_about, *t->bars_about != '\0');
    gtk_widget_queue_draw(self->bars);
    self->updating = false;
}

/* ---- The object ---- */

static void add_column(WeftTable *self, unsigned c)
{
    struct cells *cells = g_new0(struct cells, 1);
    *cells = (struct cells){self, (int)c};
    GtkListItemFactory *factory = gtk_signal_list_item_factory_new();
    g_signal_connect_swapped(factory, "setup", G_CALLBACK(set_up_cell), cells);
    g_signal_connect_swapped(factory, "bind", G_CALLBACK(bind_cell), cells);
    self->column[c] = gtk_column_view_column_new(weft_table_headings[c], factory);
    g_autoptr(GtkSorter) sorter = GTK_SORTER(gtk_custom_sorter_new(compare, cells, g_free));
    gtk_column_view_column_set_sorter(self->column[c], sorter);
    gtk_column_view_column_set_expand(self->column[c], c == WEFT_TABLE_NAME);
    gtk_column_view_column_set_resizable(self->column[c], TRUE);
    if (c != WEFT_TABLE_NAME)
        gtk_column_view_column_set_fixed_width(self->column[c], 70);
    gtk_column_view_append_column(GTK_COLUMN_VIEW(self->view), self->column[c]);
    g_object_unref(self->column[c]);
}

static GtkWidget *make_view(WeftTable *self)
{
    self->rows = g_list_store_new(weft_row_get_type());
    self->selection = gtk_single_selection_new(g_object_ref(G_LIST_MODEL(self->rows)));
    gtk_single_selection_set_autoselect(self->selection, FALSE);
    gtk_single_selection_set_can_unselect(self->selection, TRUE);
    self->view = gtk_column_view_new(g_object_ref(GTK_SELECTION_MODEL(self->selection)));
    gtk_column_view_set_single_click_activate(GTK_COLUMN_VIEW(self->view), TRUE);
    gtk_widget_add_css_class(self->view, "data-table");
    weft_window_name(self->view, "Table", NULL);
    for (unsigned c = 0; c < WEFT_TABLE_COLUMNS; c++)
        add_column(self, c);
    g_signal_connect_object(gtk_column_view_get_sorter(GTK_COLUMN_VIEW(self->view)), "changed",
                            G_CALLBACK(on_sorted), self, G_CONNECT_SWAPPED);
    g_signal_connect_swapped(self->view, "activate", G_CALLBACK(on_activate), self);
    return g_object_new(GTK_TYPE_SCROLLED_WINDOW, "child", self->view, "vexpand", TRUE,
                        "min-content-height", ROWS_HEIGHT, NULL);
}

static GtkWidget *make_bars(WeftTable *self)
{
    self->bars = g_object_new(GTK_TYPE_DRAWING_AREA, "content-height", BARS_HEIGHT, "has-tooltip",
                              TRUE, NULL);
    gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(self->bars), draw_bars, self, NULL);
    GtkGesture *drag = gtk_gesture_drag_new();
    g_signal_connect_swapped(drag, "drag-begin", G_CALLBACK(on_drag_begin), self);
    g_signal_connect_swapped(drag, "drag-update", G_CALLBACK(on_drag_update), self);
    g_signal_connect_swapped(drag, "drag-end", G_CALLBACK(on_drag_end), self);
    gtk_widget_add_controller(self->bars, GTK_EVENT_CONTROLLER(drag));
    g_signal_connect(self->bars, "query-tooltip", G_CALLBACK(on_tip), self);
    self->bars_about =
        g_object_new(GTK_TYPE_LABEL, "xalign", 0.0, "ellipsize", PANGO_ELLIPSIZE_END, NULL);
    gtk_widget_add_css_class(self->bars_about, "dim-label");
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 2);
    g_object_set(box, "margin-start", 6, "margin-end", 6, NULL);
    gtk_box_append(GTK_BOX(box), self->bars_about);
    gtk_box_append(GTK_BOX(box), self->bars);
    return box;
}

static GtkWidget *make_bar(WeftTable *self)
{
    static const char *const kinds[WEFT_TABLES + 1] = {"By label", "By label without numbers",
                                                       "By type", "By creator", "By finding"};
    static const struct {
        const char *text, *tip, *action;
    } buttons[] = {
        {"Why Waiting", "What those of the selection's label waited for (W)", "win.why-waiting"},
        {"Copy", "Copy as text, separated by tabs", "win.copy-table"},
        {"Save…", "Save as text, separated by tabs", "win.save-table"},
        {"Close", "Close the table (T)", "win.table"},
    };
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    g_object_set(box, "margin-start", 6, "margin-end", 6, "margin-top", 4, "margin-bottom", 4,
                 NULL);
    self->by = gtk_drop_down_new_from_strings(kinds);
    weft_window_name(self->by, "What a row is", NULL);
    g_signal_connect_swapped(self->by, "notify::selected", G_CALLBACK(on_by), self);
    self->about = g_object_new(GTK_TYPE_LABEL, "xalign", 0.0, "hexpand", TRUE, "ellipsize",
                               PANGO_ELLIPSIZE_END, NULL);
    self->pin = gtk_toggle_button_new_with_label("Only of Selection");
    gtk_actionable_set_action_name(GTK_ACTIONABLE(self->pin), "win.table-pin");
    gtk_widget_set_tooltip_text(self->pin, "Only what the selected promise created, or all (P)");
    gtk_box_append(GTK_BOX(box), self->by);
    gtk_box_append(GTK_BOX(box), self->about);
    gtk_box_append(GTK_BOX(box), self->pin);
    for (size_t i = 0; i < G_N_ELEMENTS(buttons); i++) {
        GtkWidget *button = gtk_button_new_with_label(buttons[i].text);
        gtk_actionable_set_action_name(GTK_ACTIONABLE(button), buttons[i].action);
        gtk_widget_set_tooltip_text(button, buttons[i].tip);
        gtk_box_append(GTK_BOX(box), button);
    }
    return box;
}

static void weft_table_init(WeftTable *self)
{
    self->drag_from = self->drag_to = -1;
    gtk_orientable_set_orientation(GTK_ORIENTABLE(self), GTK_ORIENTATION_VERTICAL);
    gtk_widget_add_css_class(GTK_WIDGET(self), "panel");
    gtk_box_append(GTK_BOX(self), make_bar(self));
    gtk_box_append(GTK_BOX(self), make_view(self));
    gtk_box_append(GTK_BOX(self), make_bars(self));
    gtk_widget_set_visible(GTK_WIDGET(self), FALSE);
}

static void dispose(GObject *object)
{
    WeftTable *self = WEFT_TABLE(object);
    self->e = NULL;
    g_clear_object(&self->rows);
    g_clear_object(&self->selection);
    G_OBJECT_CLASS(weft_table_parent_class)->dispose(object);
}

static void weft_table_class_init(WeftTableClass *class)
{
    G_OBJECT_CLASS(class)->dispose = dispose;
    touched_signal = g_signal_new("touched", WEFT_TYPE_TABLE, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                  NULL, G_TYPE_NONE, 0);
}

GtkWidget *weft_table_new(struct weft_explorer *e)
{
    WeftTable *self = g_object_new(WEFT_TYPE_TABLE, NULL);
    self->e = e;
    return GTK_WIDGET(self);
}

void weft_table_forget(WeftTable *self)
{
    self->e = NULL;
}
