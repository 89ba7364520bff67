/* SPDX-License-Identifier: ISC */
/* The current view on paper: the picture, as large as the paper is wide, then the facts. */
#include "gtk/window.h"
#include "paint/cairo.h"

#define GAP_PT 12

struct print {
    struct weft_drawlist list;
    struct weft_painter *painter;
    PangoLayout *facts;
    double scale, picture_pt; /* of the picture: pixels to points; its height */
    GArray *first; /* of each page: the first line of the facts on it; one more at the end */
};

/* Adds the facts as text: "name: text". */
static void append_facts(WeftWindow *w, GString *out)
{
    uint32_t count;
    const struct weft_fact *fact = weft_explorer_facts(w->e, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (fact[i].heading)
            g_string_append_printf(out, "\n%s\n", fact[i].name);
        else if (*fact[i].name)
            g_string_append_printf(out, "%s: %s\n", fact[i].name, fact[i].text);
        else
            g_string_append_printf(out, "    %s\n", fact[i].text);
    }
}

/* Distributes the lines of the facts to pages: first below the picture. */
static void break_pages(struct print *p, double height)
{
    double room = height - p->picture_pt - GAP_PT;
    int index = 0;
    g_array_append_val(p->first, index);
    for (GSList *l = pango_layout_get_lines_readonly(p->facts); l; l = l->next, index++) {
        PangoRectangle line;
        pango_layout_line_get_extents(l->data, NULL, &line);
        double high = (double)line.height / PANGO_SCALE;
        if (high > room && high <= height) {
            g_array_append_val(p->first, index);
            room = height;
        }
        room -= high;
    }
    g_array_append_val(p->first, index);
}

static void on_begin(GtkPrintOperation *operation, GtkPrintContext *context, WeftWindow *w)
{
    struct print *p = g_object_get_data(G_OBJECT(operation), "print");
    double width = gtk_print_context_get_width(context),
           height = gtk_print_context_get_height(context);
    g_autoptr(GString) text = g_string_new("");
    p->scale = width / ((double)p->list.width / WEFT_PX);
    double most = height / ((double)p->list.height / WEFT_PX);
    p->scale = p->scale > most ? most : p->scale;
    p->picture_pt = p->scale * p->list.height / WEFT_PX;
    append_facts(w, text);
    p->facts = gtk_print_context_create_pango_layout(context);
    g_autoptr(PangoFontDescription) font = pango_font_description_from_string("Sans 9");
    pango_layout_set_font_description(p->facts, font);
    pango_layout_set_width(p->facts, (int)(width * PANGO_SCALE));
    pango_layout_set_wrap(p->facts, PANGO_WRAP_WORD_CHAR);
    pango_layout_set_text(p->facts, text->str, (int)text->len);
    break_pages(p, height);
    gtk_print_operation_set_n_pages(operation, (int)p->first->len - 1);
}

static void on_page(GtkPrintOperation *operation, GtkPrintContext *context, int page, WeftWindow *w)
{
    const struct print *p = g_object_get_data(G_OBJECT(operation), "print");
    cairo_t *cr = gtk_print_context_get_cairo_context(context);
    double y = 0;
    (void)w;
    if (page == 0) {
        cairo_save(cr);
        cairo_scale(cr, p->scale, p->scale);
        weft_paint_cairo(p->painter, cr, &p->list, WEFT_LIGHT);
        cairo_restore(cr);
        y = p->picture_pt + GAP_PT;
    }
    cairo_set_source_rgb(cr, 0, 0, 0);
    for (int i = g_array_index(p->first, int, page); i < g_array_index(p->first, int, page + 1);
         i++) {
        PangoLayoutLine *line = pango_layout_get_line_readonly(p->facts, i);
        PangoRectangle at;
        pango_layout_line_get_extents(line, NULL, &at);
        cairo_move_to(cr, 0, y - (double)at.y / PANGO_SCALE);
        pango_cairo_show_layout_line(cr, line);
        y += (double)at.height / PANGO_SCALE;
    }
}

static void print_free(gpointer data)
{
    struct print *p = data;
    weft_drawlist_fini(&p->list);
    weft_painter_free(p->painter);
    g_clear_object(&p->facts);
    g_array_unref(p->first);
    g_free(p);
}

void weft_window_print(WeftWindow *w, const char *path)
{
    g_autoptr(GtkPrintOperation) operation = gtk_print_operation_new();
    g_autoptr(GError) error = NULL;
    struct print *p = g_new0(struct print, 1);
    p->first = g_array_new(FALSE, FALSE, sizeof(int));
    p->painter = weft_painter_new();
    g_object_set_data_full(G_OBJECT(operation), "print", p, print_free);
    if (!p->painter || weft_explorer_picture(w->e, &p->list) < 0) {
        weft_window_complain(w, false, "There is no memory to print");
        return;
    }
    gtk_print_operation_set_unit(operation, GTK_UNIT_POINTS);
    gtk_print_operation_set_job_name(operation, gtk_window_get_title(GTK_WINDOW(w)));
    g_signal_connect_object(operation, "begin-print", G_CALLBACK(on_begin), w, 0);
    g_signal_connect_object(operation, "draw-page", G_CALLBACK(on_page), w, 0);
    if (path)
        gtk_print_operation_set_export_filename(operation, path);
    GtkPrintOperationResult result = gtk_print_operation_run(
        operation,
        path ? GTK_PRINT_OPERATION_ACTION_EXPORT : GTK_PRINT_OPERATION_ACTION_PRINT_DIALOG,
        GTK_WINDOW(w), &error);
    if (result == GTK_PRINT_OPERATION_RESULT_ERROR)
        weft_window_complain(w, false, "It cannot be printed: %s", error->message);
    else if (result == GTK_PRINT_OPERATION_RESULT_APPLY)
        weft_window_toast(w, "Printed");
}
