/* SPDX-License-Identifier: ISC */
#include "paint/cairo.h"

#include <cairo-pdf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "paint/bands.h"
#include "paint/glyphs.h"
#include "paint/pixels.h"

#define SIDE_MAX 32768 /* px; the largest image surface, so products fit */

struct weft_painter {
    struct paint_glyphs *glyphs;
    struct paint_pixels pixels;
    struct paint_bands bands;
};

/* A picture that is being painted. */
struct canvas {
    cairo_t *cr;
    const struct weft_drawlist *list;
    struct weft_painter *painter;
    cairo_surface_t *surface; /* whose pixels are written */
    int clipped;              /* the row of pixels at which what cairo may draw begins; -1: all */
    int theme;                /* which of a colour's values */
};

struct weft_painter *weft_painter_new(void)
{
    struct weft_painter *painter = calloc(1, sizeof(*painter));
    if (painter && !(painter->glyphs = paint_glyphs_new())) {
        free(painter);
        return NULL;
    }
    return painter;
}

void weft_painter_free(struct weft_painter *painter)
{
    if (!painter)
        return;
    paint_glyphs_free(painter->glyphs);
    paint_pixels_fini(&painter->pixels);
    paint_bands_fini(&painter->bands);
    free(painter);
}

static double px(int32_t units)
{
    return units / (double)WEFT_PX;
}

/* ---- Through cairo, onto any surface ---- */

static void draw_shape(struct canvas *c, const struct weft_draw *d)
{
    struct paint_shape s;
    if (!paint_shape_of(&s, c->list, d))
        return;
    if (s.body && d->op == WEFT_DRAW_RECT) {
        cairo_rectangle(c->cr, px(s.x0), px(s.y0), px(s.x1 - s.x0), px(s.y1 - s.y0));
        cairo_fill(c->cr);
    } else if (s.body) {
        cairo_set_line_width(c->cr, px(paint_shape_width(d)));
        cairo_move_to(c->cr, px(s.x0), px(s.y0));
        cairo_line_to(c->cr, px(s.x1), px(s.y1));
        cairo_stroke(c->cr);
    }
    if (s.head) {
        for (int i = 0; i < 3; i++)
            cairo_line_to(c->cr, px(s.corner[i].x), px(s.corner[i].y));
        cairo_fill(c->cr);
    }
}

static void draw_steps(struct canvas *c, const struct weft_draw *d)
{
    struct paint_shape s;
    int32_t x = 0, y = 0;
    bool going_on = false;
    for (uint32_t i = 1; i < d->count; i++) {
        if (!paint_shape_step(&s, c->list, d, i))
            continue;
        if (!going_on || s.x0 != x || s.y0 != y)
            cairo_move_to(c->cr, px(s.x0), px(s.y0));
        cairo_line_to(c->cr, px(s.x1), px(s.y1));
        x = s.x1;
        y = s.y1;
        going_on = true;
    }
    cairo_set_line_width(c->cr, px(paint_shape_width(d)));
    cairo_stroke(c->cr);
}

/* Paints all columns of one opacity together. */
static void draw_shades(struct canvas *c, const struct weft_draw *d)
{
    struct paint_shape s;
    uint8_t alpha;
    bool is_there[256] = {false};
    for (uint32_t i = 0; paint_shape_shades(&s, &alpha, c->list, d, &i);)
        is_there[alpha] = true;
    for (int wanted = 1; wanted < 256; wanted++) {
        if (!is_there[wanted])
            continue;
        for (uint32_t i = 0; paint_shape_shades(&s, &alpha, c->list, d, &i);) {
            if (alpha == wanted)
                cairo_rectangle(c->cr, px(s.x0), px(s.y0), px(s.x1 - s.x0), px(s.y1 - s.y0));
        }
        paint_use_ink(c->cr, weft_inks[d->ink].rgb[c->theme], wanted);
        cairo_fill(c->cr);
    }
}

static void draw_by_cairo(struct canvas *c, const struct weft_draw *d)
{
    if (d->op == WEFT_DRAW_TEXT) {
        paint_glyphs_text(c->painter->glyphs, c->list, d, weft_inks[d->ink].rgb[c->theme]);
        return;
    }
    paint_use_ink(c->cr, weft_inks[d->ink].rgb[c->theme], d->alpha);
    if (d->op == WEFT_DRAW_STEPS)
        draw_steps(c, d);
    else if (d->op == WEFT_DRAW_SHADES)
        draw_shades(c, d);
    else
        draw_shape(c, d);
}

/* ---- Into pixels ---- */

static bool whole(double value, int *out)
{
    if (!(value > -1e6 && value < 1e6) || value != (int)value)
        return false;
    *out = (int)value;
    return true;
}

/* The area that may be written: the single rectangle of the clip, in device pixels. */
static bool find_clip(struct paint_pixels *p, cairo_t *cr, int width, int height)
{
    cairo_rectangle_list_t *clip = cairo_copy_clip_rectangle_list(cr);
    bool ok = clip->status == CAIRO_STATUS_SUCCESS && clip->num_rectangles == 1;
    if (ok) {
        const cairo_rectangle_t *r = clip->rectangles;
        ok = whole(r->x * p->scale + p->dx, &p->x0) && whole(r->y * p->scale + p->dy, &p->y0) &&
             whole((r->x + r->width) * p->scale + p->dx, &p->x1) &&
             whole((r->y + r->height) * p->scale + p->dy, &p->y1);
    }
    cairo_rectangle_list_destroy(clip);
    if (!ok)
        return false;
    p->x0 = p->x0 < 0 ? 0 : p->x0;
    p->y0 = p->y0 < 0 ? 0 : p->y0;
    p->x1 = p->x1 > width ? width : p->x1;
    p->y1 = p->y1 > height ? height : p->y1;
    p->top = p->y0;
    return p->x0 < p->x1 && p->y0 < p->y1;
}

/* Returns true if the surface's pixels can be written directly; the painter then points to them. */
static bool find_pixels(struct canvas *c)
{
    struct paint_pixels *p = &c->painter->pixels;
    cairo_surface_t *surface = cairo_get_group_target(c->cr);
    cairo_matrix_t m;
    double sx, sy, ox, oy;
    if (cairo_surface_get_type(surface) != CAIRO_SURFACE_TYPE_IMAGE ||
        c->list->width > SIDE_MAX * WEFT_PX || c->list->height > SIDE_MAX * WEFT_PX)
        return false;
    cairo_format_t format = cairo_image_surface_get_format(surface);
    if (format != CAIRO_FORMAT_RGB24 && format != CAIRO_FORMAT_ARGB32)
        return false;
    cairo_get_matrix(c->cr, &m);
    cairo_surface_get_device_scale(surface, &sx, &sy);
    cairo_surface_get_device_offset(surface, &ox, &oy);
    if (m.xy != 0 || m.yx != 0 || m.xx * sx != m.yy * sy || !whole(m.xx * sx, &p->scale) ||
        p->scale < 1 || p->scale > PAINT_SCALE_MAX || !whole(m.x0 * sx + ox, &p->dx) ||
        !whole(m.y0 * sy + oy, &p->dy))
        return false;
    if (!find_clip(p, c->cr, cairo_image_surface_get_width(surface),
                   cairo_image_surface_get_height(surface)))
        return false;
    cairo_surface_flush(surface);
    p->data = cairo_image_surface_get_data(surface);
    p->stride = cairo_image_surface_get_stride(surface);
    if (!p->data || !paint_pixels_begin(p)) /* without memory it is only slower */
        return false;
    c->surface = surface;
    return true;
}

/* Draws in the band that is being painted. */
static void draw_in_band(void *data, const struct weft_draw *d)
{
    struct canvas *c = data;
    const struct paint_pixels *p = &c->painter->pixels;
    const double scale = p->scale;
    cairo_surface_mark_dirty(c->surface);
    if (c->clipped != p->y0) {
        c->clipped = p->y0;
        cairo_restore(c->cr);
        cairo_save(c->cr);
        cairo_rectangle(c->cr, (p->x0 - p->dx) / scale, (p->y0 - p->dy) / scale,
                        (p->x1 - p->x0) / scale, (p->y1 - p->y0) / scale);
        cairo_clip(c->cr);
    }
    draw_by_cairo(c, d);
    cairo_surface_flush(c->surface);
}

static void draw_all(struct canvas *c)
{
    const struct weft_drawlist *list = c->list;
    const struct weft_draw ground = {.op = WEFT_DRAW_RECT,
                                     .ink = WEFT_INK_GROUND,
                                     .alpha = 255,
                                     .x1 = INT32_MAX,
                                     .y1 = INT32_MAX};
    if (find_pixels(c)) {
        cairo_save(c->cr);
        const bool painted = paint_bands_paint(&c->painter->bands, &c->painter->pixels, list,
                                               c->theme, draw_in_band, c);
        cairo_restore(c->cr);
        cairo_surface_mark_dirty(c->surface);
        if (painted)
            return;
    }
    draw_by_cairo(c, &ground);
    for (uint32_t i = 0; i < list->draws; i++) {
        const struct weft_draw *d = &list->draw[i];
        if (d->alpha != 0 && (d->op != WEFT_DRAW_TEXT || paint_shape_text(list, d)))
            draw_by_cairo(c, d);
    }
}

int weft_paint_cairo(struct weft_painter *painter, cairo_t *cr, const struct weft_drawlist *list,
                     enum weft_theme theme)
{
    struct canvas c = {.cr = cr,
                       .clipped = -1,
                       .list = list,
                       .painter = painter,
                       .theme = theme == WEFT_AUTO ? WEFT_LIGHT : (int)theme};
    if (cairo_status(cr) == CAIRO_STATUS_SUCCESS) {
        if (!paint_glyphs_begin(painter->glyphs, cr, list->text_bytes))
            return WEFT_E_NOMEM;
        cairo_save(cr);
        cairo_set_operator(cr, CAIRO_OPERATOR_OVER);
        cairo_set_line_cap(cr, CAIRO_LINE_CAP_BUTT);
        cairo_set_line_join(cr, CAIRO_LINE_JOIN_MITER);
        cairo_set_dash(cr, NULL, 0, 0);
        cairo_new_path(cr);
        draw_all(&c);
        cairo_restore(cr);
    }
    switch (cairo_status(cr)) {
    case CAIRO_STATUS_SUCCESS:
        return 0;
    case CAIRO_STATUS_NO_MEMORY:
        return WEFT_E_NOMEM;
    default:
        return WEFT_E_IO;
    }
}

/* ---- Still pictures: PNG and PDF ---- */

#define STILL_MAX 16384 /* px; also the maximum size of a PDF page, where 1 px is 3/4 point */

static cairo_status_t write_some(void *closure, const unsigned char *data, unsigned size)
{
    return fwrite(data, 1, size, closure) == size ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

static int report(cairo_status_t status, const char *kind, struct weft_error *err)
{
    switch (status) {
    case CAIRO_STATUS_SUCCESS:
        return 0;
    case CAIRO_STATUS_NO_MEMORY:
        return weft_error_set(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for the %s", kind);
    case CAIRO_STATUS_WRITE_ERROR:
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "cannot write the %s: %s", kind,
                              strerror(errno));
    default:
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "cairo cannot make the %s: %s", kind,
                              cairo_status_to_string(status));
    }
}

static int paint(const struct weft_drawlist *list, bool png, FILE *out, enum weft_theme theme,
                 struct weft_error *err)
{
    int64_t width = ((int64_t)list->width + WEFT_PX - 1) / WEFT_PX;
    int64_t height = ((int64_t)list->height + WEFT_PX - 1) / WEFT_PX;
    double scale = png ? 1 : 72.0 / 96;
    int result = WEFT_E_NOMEM;
    if (list->width <= 0 || list->height <= 0)
        return weft_error_set(err, WEFT_E_INVALID, WEFT_NO_OFFSET, "the picture has no size");
    if (width > STILL_MAX || height > STILL_MAX)
        return weft_error_set(err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                              "a picture may measure %d pixels each way, not %lld x %lld",
                              STILL_MAX, (long long)width, (long long)height);
    cairo_surface_t *surface =
        png ? cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)width, (int)height)
            : cairo_pdf_surface_create_for_stream(write_some, out, list->width * scale / WEFT_PX,
                                                  list->height * scale / WEFT_PX);
    struct weft_painter *painter = weft_painter_new();
    cairo_t *cr = cairo_create(surface);
    cairo_scale(cr, scale, scale);
    if (painter)
        result = weft_paint_cairo(painter, cr, list, theme);
    cairo_status_t status = cairo_status(cr);
    cairo_destroy(cr);
    weft_painter_free(painter);
    if (result == WEFT_E_NOMEM)
        status = CAIRO_STATUS_NO_MEMORY;
    errno = 0;
    if (!status && png)
        status = cairo_surface_write_to_png_stream(surface, write_some, out);
    cairo_surface_finish(surface); /* the PDF is written now */
    if (!status)
        status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    return report(status, png ? "PNG" : "PDF", err);
}

int weft_paint_png(const struct weft_drawlist *list, FILE *out, enum weft_theme theme,
                   struct weft_error *err)
{
    return paint(list, true, out, theme, err);
}

int weft_paint_pdf(const struct weft_drawlist *list, FILE *out, enum weft_theme theme,
                   struct weft_error *err)
{
    return paint(list, false, out, theme, err);
}
