/* SPDX-License-Identifier: ISC */
#include "gtk/outline.h"

#include "paint/cairo.h"

struct shown {
    struct weft_outline *outline;
    char *name;
    struct weft_painter *painter; /* NULL until there is something to paint */
    struct weft_drawlist list;
    enum weft_theme theme;
    uint16_t text_percent;
    int64_t since_us;
};

static struct shown *shown_of(GtkWidget *area)
{
    return g_object_get_data(G_OBJECT(area), "weft-outline");
}

static void drop(gpointer data)
{
    struct shown *s = data;
    weft_outline_free(s->outline);
    weft_painter_free(s->painter);
    weft_drawlist_fini(&s->list);
    g_free(s->name);
    g_free(s);
}

static void draw(GtkDrawingArea *area, cairo_t *cr, int width, int height, gpointer data)
{
    struct shown *s = data;
    (void)area;
    if (!s->outline)
        return;
    if (!s->painter)
        s->painter = weft_painter_new();
    if (s->painter &&
        weft_outline_draw(&s->list, s->outline, s->name, width, height, s->text_percent) == 0)
        weft_paint_cairo(s->painter, cr, &s->list, s->theme);
    s->since_us = s->since_us ? s->since_us : g_get_monotonic_time();
}

GtkWidget *weft_outline_area_new(void)
{
    GtkWidget *area = gtk_drawing_area_new();
    struct shown *s = g_new0(struct shown, 1);
    g_object_set_data_full(G_OBJECT(area), "weft-outline", s, drop);
    gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(area), draw, s, NULL);
    gtk_accessible_update_property(GTK_ACCESSIBLE(area), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "How much each thread recorded", -1);
    return area;
}

void weft_outline_area_set(GtkWidget *area, struct weft_outline *o, const char *name)
{
    struct shown *s = shown_of(area);
    weft_outline_free(s->outline);
    s->outline = o;
    g_free(s->name);
    s->name = g_strdup(name);
    gtk_widget_queue_draw(area);
}

void weft_outline_area_set_looks(GtkWidget *area, enum weft_theme theme, uint16_t text_percent)
{
    shown_of(area)->theme = theme;
    shown_of(area)->text_percent = text_percent;
    gtk_widget_queue_draw(area);
}

int64_t weft_outline_area_shown(GtkWidget *area)
{
    return shown_of(area)->since_us;
}
