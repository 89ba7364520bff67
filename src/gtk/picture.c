/* SPDX-License-Identifier: ISC */
#include "gtk/picture.h"

#include <math.h>

#include "paint/cairo.h"

#define NOTCH_PX 40 /* pixels of a touchpad that count as one notch of a wheel */
#define BAND_PX 48
#define TIP_WIDTH_PX 420 /* wider tips are wrapped */
#define TIP_AWAY_PX 16   /* from the pointer */
#define TIP_PAD_PX 6

struct _WeftPicture {
    GtkWidget parent;
    struct weft_explorer *e;
    struct weft_painter *painter;
    cairo_surface_t *surface;
    GskRenderNode *node; /* that shows it */
    bool stale;
    guint glide;   /* calls on_glide, or 0 */
    bool is_empty; /* only the background is painted */
    enum weft_theme theme;
    char *tip;
    double x, y; /* of the pointer */
    GtkGesture *drag;
    bool pressed, pinching;
    double pinch_scale, pinch_x, pinch_y;
};

G_DEFINE_TYPE(WeftPicture, weft_picture, GTK_TYPE_WIDGET)

static guint touched_signal;

static void touched(WeftPicture *self)
{
    g_signal_emit(self, touched_signal, 0);
}

/* ---- Painting ---- */

static cairo_surface_t *acquire(cairo_pattern_t *pattern, void *surface, cairo_surface_t *target,
                                const cairo_rectangle_int_t *extents)
{
    (void)pattern;
    (void)target;
    (void)extents;
    return cairo_surface_reference(surface);
}

static void release_surface(cairo_pattern_t *pattern, void *data, cairo_surface_t *surface)
{
    (void)pattern;
    (void)data;
    cairo_surface_destroy(surface);
}

static cairo_status_t copy_pattern(cairo_pattern_t *pattern, void *surface,
                                   const cairo_pattern_t *other)
{
    (void)pattern;
    (void)other;
    cairo_surface_reference(surface);
    return CAIRO_STATUS_SUCCESS;
}

static void finish_pattern(cairo_pattern_t *pattern, void *surface)
{
    (void)pattern;
    cairo_surface_destroy(surface);
}

/* If a node records the surface itself, cairo copies the surface before it is painted over, even if the node is gone. A
 * node that records this pattern only knows where to ask for the pixels. */
static cairo_pattern_t *pattern_of(cairo_surface_t *surface)
{
    cairo_pattern_t *pattern = cairo_pattern_create_raster_source(
        cairo_surface_reference(surface), CAIRO_CONTENT_COLOR,
        cairo_image_surface_get_width(surface), cairo_image_surface_get_height(surface));
    cairo_raster_source_pattern_set_acquire(pattern, acquire, release_surface);
    cairo_raster_source_pattern_set_copy(pattern, copy_pattern);
    cairo_raster_source_pattern_set_finish(pattern, finish_pattern);
    cairo_pattern_set_filter(pattern, CAIRO_FILTER_NEAREST);
    return pattern;
}

/* The picture is a node of its own that is kept, so that GSK can tell from its address whether something has changed.
 * It is not a texture, because GSK's cairo renderer would copy that once more. It is split into bands, because that
 * renderer first paints each into its own memory, and a band fits the processor's cache. */
static void make_node(WeftPicture *self, int scale, int width, int height)
{
    g_autoptr(GPtrArray) bands =
        g_ptr_array_new_with_free_func((GDestroyNotify)gsk_render_node_unref);
    cairo_pattern_t *pattern = pattern_of(self->surface);
    for (int y = 0; y < height; y += BAND_PX) {
        GskRenderNode *band = gsk_cairo_node_new(
            &GRAPHENE_RECT_INIT(0, (float)y, (float)width, (float)MIN(BAND_PX, height - y)));
        cairo_t *cr = gsk_cairo_node_get_draw_context(band);
        cairo_scale(cr, 1.0 / scale, 1.0 / scale);
        cairo_set_source(cr, pattern);
        cairo_set_operator(cr, CAIRO_OPERATOR_SOURCE);
        cairo_paint(cr);
        cairo_destroy(cr);
        g_ptr_array_add(bands, band);
    }
    cairo_pattern_destroy(pattern);
    g_clear_pointer(&self->node, gsk_render_node_unref);
    self->node = gsk_container_node_new((GskRenderNode **)bands->pdata, bands->len);
}

static gboolean on_glide(GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
    WeftPicture *self = WEFT_PICTURE(widget);
    (void)clock;
    (void)data;
    if (!self->e || !weft_explorer_glides(self->e)) {
        self->glide = 0;
        return G_SOURCE_REMOVE;
    }
    weft_picture_redraw(self);
    return G_SOURCE_CONTINUE;
}

/* Rows that have moved glide, unless the desktop is told not to move things. */
static const struct weft_drawlist *draw(WeftPicture *self)
{
    gboolean moves = FALSE;
    g_object_get(gtk_widget_get_settings(GTK_WIDGET(self)), "gtk-enable-animations", &moves, NULL);
    if (moves)
        weft_explorer_frame(self->e, g_get_monotonic_time() * 1000);
    const struct weft_drawlist *list = weft_explorer_draw(self->e);
    if (weft_explorer_glides(self->e) && !self->glide)
        self->glide = gtk_widget_add_tick_callback(GTK_WIDGET(self), on_glide, NULL, NULL);
    return list;
}

static void paint(WeftPicture *self)
{
    int scale = gtk_widget_get_scale_factor(GTK_WIDGET(self));
    int width = gtk_widget_get_width(GTK_WIDGET(self)) * scale;
    int height = gtk_widget_get_height(GTK_WIDGET(self)) * scale;
    self->stale = false;
    const struct weft_drawlist *list = self->e ? draw(self) : NULL;
    struct weft_drawlist nothing = {.width = width * WEFT_PX, .height = height * WEFT_PX};
    if (self->is_empty)
        list = &nothing;
    if (!list || !self->painter || width <= 0 || height <= 0)
        return;
    if (self->surface && (cairo_image_surface_get_width(self->surface) != width ||
                          cairo_image_surface_get_height(self->surface) != height))
        g_clear_pointer(&self->surface, cairo_surface_destroy);
    if (!self->surface)
        self->surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    cairo_t *cr = cairo_create(self->surface);
    cairo_scale(cr, scale, scale);
    int rc = weft_paint_cairo(self->painter, cr, list, self->theme);
    cairo_destroy(cr);
    if (rc == 0)
        make_node(self, scale, width / scale, height / scale);
}

static GdkRGBA colour_of(const WeftPicture *self, enum weft_ink ink, float alpha)
{
    uint32_t rgb = weft_inks[ink].rgb[self->theme];
    return (GdkRGBA){(float)(rgb >> 16) / 255, (float)(rgb >> 8 & 0xff) / 255,
                     (float)(rgb & 0xff) / 255, alpha};
}

static void draw_tip(WeftPicture *self, GtkSnapshot *snapshot, float width, float height)
{
    const GdkRGBA ground = colour_of(self, WEFT_INK_TEXT, 0.92f),
                  text = colour_of(self, WEFT_INK_GROUND, 1);
    g_autoptr(PangoLayout) layout = gtk_widget_create_pango_layout(GTK_WIDGET(self), self->tip);
    pango_layout_set_width(layout, TIP_WIDTH_PX * PANGO_SCALE);
    pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR);
    int w, h;
    pango_layout_get_pixel_size(layout, &w, &h);
    float box_w = (float)w + 2 * TIP_PAD_PX, box_h = (float)h + 2 * TIP_PAD_PX;
    float x = (float)self->x + TIP_AWAY_PX, y = (float)self->y + TIP_AWAY_PX;
    if (x + box_w > width)
        x = MAX(0, (float)self->x - TIP_AWAY_PX / 2 - box_w);
    if (y + box_h > height)
        y = MAX(0, (float)self->y - TIP_AWAY_PX / 2 - box_h);
    GskRoundedRect box;
    gsk_rounded_rect_init_from_rect(&box, &GRAPHENE_RECT_INIT(floorf(x), floorf(y), box_w, box_h),
                                    6);
    gtk_snapshot_push_rounded_clip(snapshot, &box);
    gtk_snapshot_append_color(snapshot, &ground, &box.bounds);
    gtk_snapshot_pop(snapshot);
    gtk_snapshot_save(snapshot);
    gtk_snapshot_translate(snapshot, &GRAPHENE_POINT_INIT(box.bounds.origin.x + TIP_PAD_PX,
                                                          box.bounds.origin.y + TIP_PAD_PX));
    gtk_snapshot_append_layout(snapshot, layout, &text);
    gtk_snapshot_restore(snapshot);
}

static void snapshot(GtkWidget *widget, GtkSnapshot *snapshot)
{
    WeftPicture *self = WEFT_PICTURE(widget);
    float width = (float)gtk_widget_get_width(widget),
          height = (float)gtk_widget_get_height(widget);
    if (self->stale)
        paint(self);
    if (self->node)
        gtk_snapshot_append_node(snapshot, self->node);
    if (*self->tip && !self->pressed)
        draw_tip(self, snapshot, width, height);
}

static void size_allocate(GtkWidget *widget, int width, int height, int baseline)
{
    WeftPicture *self = WEFT_PICTURE(widget);
    (void)baseline;
    if (self->e)
        weft_explorer_resize(self->e, width, height);
    self->stale = true;
    touched(self);
}

static void measure(GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum,
                    int *natural, int *minimum_baseline, int *natural_baseline)
{
    (void)widget;
    (void)for_size;
    *minimum = WEFT_PICTURE_MIN_PX;
    *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 960 : 600;
    *minimum_baseline = *natural_baseline = -1;
}

/* ---- Pointer ---- */

unsigned weft_picture_mods(GdkModifierType state)
{
    return (state & GDK_SHIFT_MASK ? WEFT_SHIFT : 0u) |
           (state & GDK_CONTROL_MASK ? WEFT_CTRL : 0u) | (state & GDK_ALT_MASK ? WEFT_ALT : 0u);
}

static unsigned mods_of(void *controller)
{
    return weft_picture_mods(gtk_event_controller_get_current_event_state(controller));
}

static void on_press(GtkGestureClick *click, int clicks, double x, double y, WeftPicture *self)
{
    gtk_widget_grab_focus(GTK_WIDGET(self));
    if (!self->e || self->pinching)
        return;
    self->pressed = true;
    weft_explorer_press(self->e, x, y, clicks, mods_of(click));
    touched(self);
}

static void on_drag(GtkGestureDrag *drag, double dx, double dy, WeftPicture *self)
{
    double x, y;
    if (!self->e || !self->pressed || !gtk_gesture_drag_get_start_point(drag, &x, &y))
        return;
    self->x = x + dx;
    self->y = y + dy;
    weft_explorer_drag(self->e, self->x, self->y);
    touched(self);
}

static void release(WeftPicture *self, double x, double y)
{
    if (!self->e || !self->pressed)
        return;
    self->pressed = false;
    weft_explorer_release(self->e, x, y);
    touched(self);
}

static void on_drag_end(GtkGestureDrag *drag, double dx, double dy, WeftPicture *self)
{
    double x, y;
    if (gtk_gesture_drag_get_start_point(drag, &x, &y))
        release(self, x + dx, y + dy);
    else
        release(self, self->x, self->y);
}

static void on_drag_cancel(WeftPicture *self)
{
    release(self, self->x, self->y);
}

static void on_motion(WeftPicture *self, double x, double y)
{
    self->x = x;
    self->y = y;
    if (!self->e || self->pressed)
        return;
    weft_explorer_point(self->e, x, y);
    if (*self->tip) /* the tip moves along */
        gtk_widget_queue_draw(GTK_WIDGET(self));
    touched(self);
}

static void on_leave(WeftPicture *self)
{
    if (!self->e)
        return;
    weft_explorer_leave(self->e);
    touched(self);
}

static gboolean on_scroll(GtkEventControllerScroll *scroll, double dx, double dy, WeftPicture *self)
{
    if (!self->e)
        return FALSE;
    if (gtk_event_controller_scroll_get_unit(scroll) == GDK_SCROLL_UNIT_SURFACE) {
        dx /= NOTCH_PX;
        dy /= NOTCH_PX;
    }
    weft_explorer_scroll(self->e, self->x, self->y, dx, dy, mods_of(scroll));
    touched(self);
    return TRUE;
}

/* A finger that stays where it is: describes, as a pointer does, and selects nothing. */
static void on_long_press(WeftPicture *self, double x, double y)
{
    if (!self->e)
        return;
    self->pressed = false;
    weft_explorer_cancel(self->e);
    on_motion(self, x, y);
}

static void on_pinch_begin(GtkGesture *zoom, GdkEventSequence *sequence, WeftPicture *self)
{
    (void)sequence;
    release(self, self->x, self->y); /* cancels what the first finger had begun */
    self->pinching = true;
    self->pinch_scale = 1;
    if (!gtk_gesture_get_bounding_box_center(zoom, &self->pinch_x, &self->pinch_y)) {
        self->pinch_x = self->x;
        self->pinch_y = self->y;
    }
}

static void on_pinch(GtkGestureZoom *zoom, double scale, WeftPicture *self)
{
    double x, y;
    if (!self->e || !(scale > 0) || !isfinite(scale))
        return;
    if (!gtk_gesture_get_bounding_box_center(GTK_GESTURE(zoom), &x, &y)) {
        x = self->pinch_x;
        y = self->pinch_y;
    }
    weft_explorer_pinch(self->e, x, y, x - self->pinch_x, y - self->pinch_y,
                        scale / self->pinch_scale);
    self->pinch_scale = scale;
    self->pinch_x = x;
    self->pinch_y = y;
    touched(self);
}

static void on_pinch_end(WeftPicture *self)
{
    self->pinching = false;
}

static void add_controllers(WeftPicture *self)
{
    GtkWidget *widget = GTK_WIDGET(self);
    GtkGesture *click = gtk_gesture_click_new();
    g_signal_connect(click, "pressed", G_CALLBACK(on_press), self);
    self->drag = gtk_gesture_drag_new();
    g_signal_connect(self->drag, "drag-update", G_CALLBACK(on_drag), self);
    g_signal_connect(self->drag, "drag-end", G_CALLBACK(on_drag_end), self);
    g_signal_connect_swapped(self->drag, "cancel", G_CALLBACK(on_drag_cancel), self);
    gtk_gesture_group(click, self->drag);
    /* Controllers get events in the reverse order in which they were added. */
    gtk_widget_add_controller(widget, GTK_EVENT_CONTROLLER(self->drag));
    gtk_widget_add_controller(widget, GTK_EVENT_CONTROLLER(click));
    GtkGesture *zoom = gtk_gesture_zoom_new();
    g_signal_connect(zoom, "begin", G_CALLBACK(on_pinch_begin), self);
    g_signal_connect(zoom, "scale-changed", G_CALLBACK(on_pinch), self);
    g_signal_connect_swapped(zoom, "end", G_CALLBACK(on_pinch_end), self);
    g_signal_connect_swapped(zoom, "cancel", G_CALLBACK(on_pinch_end), self);
    gtk_widget_add_controller(widget, GTK_EVENT_CONTROLLER(zoom));
    GtkGesture *long_press = gtk_gesture_long_press_new();
    gtk_gesture_single_set_touch_only(GTK_GESTURE_SINGLE(long_press), TRUE);
    g_signal_connect_swapped(long_press, "pressed", G_CALLBACK(on_long_press), self);
    gtk_widget_add_controller(widget, GTK_EVENT_CONTROLLER(long_press));
    gtk_gesture_group(click, long_press);
    GtkEventController *motion = gtk_event_controller_motion_new();
    g_signal_connect_swapped(motion, "enter", G_CALLBACK(on_motion), self);
    g_signal_connect_swapped(motion, "motion", G_CALLBACK(on_motion), self);
    g_signal_connect_swapped(motion, "leave", G_CALLBACK(on_leave), self);
    gtk_widget_add_controller(widget, motion);
    GtkEventController *scroll =
        gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES);
    g_signal_connect(scroll, "scroll", G_CALLBACK(on_scroll), self);
    gtk_widget_add_controller(widget, scroll);
}

/* ---- The object ---- */

static void weft_picture_init(WeftPicture *self)
{
    self->painter = weft_painter_new();
    self->stale = true;
    self->tip = g_strdup("");
    gtk_widget_set_focusable(GTK_WIDGET(self), TRUE);
    gtk_widget_set_overflow(GTK_WIDGET(self), GTK_OVERFLOW_HIDDEN);
    add_controllers(self);
    g_signal_connect(self, "notify::scale-factor", G_CALLBACK(weft_picture_redraw), NULL);
}

static void finalize(GObject *object)
{
    WeftPicture *self = WEFT_PICTURE(object);
    g_clear_pointer(&self->node, gsk_render_node_unref);
    g_clear_pointer(&self->surface, cairo_surface_destroy);
    weft_painter_free(self->painter);
    g_free(self->tip);
    G_OBJECT_CLASS(weft_picture_parent_class)->finalize(object);
}

static void weft_picture_class_init(WeftPictureClass *class)
{
    GtkWidgetClass *widget = GTK_WIDGET_CLASS(class);
    G_OBJECT_CLASS(class)->finalize = finalize;
    widget->snapshot = snapshot;
    widget->size_allocate = size_allocate;
    widget->measure = measure;
    gtk_widget_class_set_accessible_role(widget, GTK_ACCESSIBLE_ROLE_IMG);
    gtk_widget_class_set_css_name(widget, "picture");
    touched_signal = g_signal_new("touched", WEFT_TYPE_PICTURE, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                  NULL, G_TYPE_NONE, 0);
}

GtkWidget *weft_picture_new(struct weft_explorer *e)
{
    WeftPicture *self = g_object_new(WEFT_TYPE_PICTURE, NULL);
    self->e = e;
    return GTK_WIDGET(self);
}

void weft_picture_redraw(WeftPicture *self)
{
    self->stale = true;
    gtk_widget_queue_draw(GTK_WIDGET(self));
}

void weft_picture_set_theme(WeftPicture *self, enum weft_theme theme)
{
    self->theme = theme;
    weft_picture_redraw(self);
}

bool weft_picture_is_drawn(WeftPicture *self)
{
    return (!self->stale && !self->glide) || !gtk_widget_get_mapped(GTK_WIDGET(self));
}

void weft_picture_set_tip(WeftPicture *self, const char *text)
{
    if (strcmp(self->tip, text) == 0)
        return;
    g_free(self->tip);
    self->tip = g_strdup(text);
    gtk_widget_queue_draw(GTK_WIDGET(self));
}

void weft_picture_empty(WeftPicture *self)
{
    self->is_empty = true;
    weft_picture_redraw(self);
}

void weft_picture_forget(WeftPicture *self)
{
    self->e = NULL;
}
