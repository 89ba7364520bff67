/* SPDX-License-Identifier: ISC */
/* A draw list through cairo: PNG and PDF, by the same function. */
#include "paint/paint.h"

#include <cairo-pdf.h>
#include <cairo.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "paint/shape.h"
#include "view/text.h"

#define SIDE_MAX 16384 /* px; also what a page may measure in PDF, where 1 px is 3/4 point */

struct canvas {
    cairo_t *cr;
    const struct weft_drawlist *list;
    int theme;     /* which of a colour's two */
    char *scratch; /* room for any text of the list, terminated */
    size_t room;
};

static double px(int32_t units)
{
    return units / (double)WEFT_PX;
}

static void use_ink(cairo_t *cr, int ink, int theme, int alpha)
{
    uint32_t rgb = weft_inks[ink].rgb[theme];

    cairo_set_source_rgba(cr, (rgb >> 16) / 255.0, (rgb >> 8 & 0xff) / 255.0, (rgb & 0xff) / 255.0,
                          alpha / 255.0);
}

static void draw_shape(struct canvas *c, const struct weft_draw *d)
{
    struct weft__shape s;

    if (!weft__shape(&s, c->list, d))
        return;
    if (s.body && d->op == WEFT_DRAW_RECT) {
        cairo_rectangle(c->cr, px(s.x0), px(s.y0), px(s.x1 - s.x0), px(s.y1 - s.y0));
        cairo_fill(c->cr);
    } else if (s.body) {
        cairo_set_line_width(c->cr, px(weft__shape_width(d)));
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
    struct weft__shape s;
    int32_t x = 0, y = 0;
    bool going_on = false;

    for (uint32_t i = 1; i < d->count; i++) {
        if (!weft__shape_step(&s, c->list, d, i))
            continue;
        if (!going_on || s.x0 != x || s.y0 != y)
            cairo_move_to(c->cr, px(s.x0), px(s.y0));
        cairo_line_to(c->cr, px(s.x1), px(s.y1));
        x = s.x1;
        y = s.y1;
        going_on = true;
    }
    cairo_set_line_width(c->cr, px(weft__shape_width(d)));
    cairo_stroke(c->cr);
}

/* The layout relies on the list's width: another font than the table's is stretched to it. */
static void draw_text(struct canvas *c, const struct weft_draw *d)
{
    cairo_text_extents_t natural;
    double width = ((double)d->x1 - d->x0) / WEFT_PX;

    if (!weft__shape_text(c->list, d))
        return;
    size_t size = weft_text_clean(c->scratch, c->room - 1, c->list->texts + d->first, d->count);
    c->scratch[size] = '\0';
    cairo_select_font_face(c->cr, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
                           d->bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(c->cr, px(d->size));
    cairo_text_extents(c->cr, c->scratch, &natural);
    double off = natural.x_advance - width;
    /* Not into nonsense: a list that says so is wrong about the width. */
    if ((off > 0.5 || off < -0.5) && natural.x_advance > width / 8 &&
        natural.x_advance < width * 8) {
        cairo_matrix_t stretched;

        cairo_matrix_init_scale(&stretched, px(d->size) * width / natural.x_advance, px(d->size));
        cairo_set_font_matrix(c->cr, &stretched);
    }
    cairo_move_to(c->cr, px(d->x0), px(d->y0));
    cairo_show_text(c->cr, c->scratch);
    cairo_new_path(c->cr); /* show_text leaves a current point */
}

static int draw_list(cairo_t *cr, const struct weft_drawlist *list, enum weft_theme theme)
{
    struct canvas c = {.cr = cr, .list = list, .theme = theme == WEFT_DARK};
    cairo_font_options_t *font = cairo_font_options_create();

    for (uint32_t i = 0; i < list->draws; i++) {
        if (list->draw[i].op == WEFT_DRAW_TEXT && list->draw[i].count > c.room)
            c.room = list->draw[i].count;
    }
    c.room = 3 * c.room + 1; /* a byte that is not UTF-8 becomes three */
    c.scratch = malloc(c.room);
    if (!c.scratch) {
        cairo_font_options_destroy(font);
        return WEFT_E_NOMEM;
    }
    /* Advances as the font has them, not rounded to pixels: the table's are not either. */
    cairo_font_options_set_hint_metrics(font, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_hint_style(font, CAIRO_HINT_STYLE_SLIGHT);
    cairo_font_options_set_antialias(font, CAIRO_ANTIALIAS_GRAY);
    cairo_set_font_options(cr, font);
    cairo_font_options_destroy(font);

    use_ink(cr, WEFT_INK_GROUND, c.theme, 255);
    cairo_paint(cr);
    for (uint32_t i = 0; i < list->draws; i++) {
        const struct weft_draw *d = &list->draw[i];

        use_ink(cr, d->ink, c.theme, d->alpha);
        if (d->op == WEFT_DRAW_TEXT)
            draw_text(&c, d);
        else if (d->op == WEFT_DRAW_STEPS)
            draw_steps(&c, d);
        else
            draw_shape(&c, d);
    }
    free(c.scratch);
    return 0;
}

static cairo_status_t write_some(void *closure, const unsigned char *data, unsigned size)
{
    return fwrite(data, 1, size, closure) == size ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

static int check_size(const struct weft_drawlist *list, struct weft_error *err)
{
    int64_t width = ((int64_t)list->width + WEFT_PX - 1) / WEFT_PX;
    int64_t height = ((int64_t)list->height + WEFT_PX - 1) / WEFT_PX;

    if (list->width <= 0 || list->height <= 0)
        return weft_error_set(err, WEFT_E_INVALID, WEFT_NO_OFFSET, "the picture has no size");
    if (width > SIDE_MAX || height > SIDE_MAX)
        return weft_error_set(err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                              "a picture may measure %d pixels each way, not %lld x %lld", SIDE_MAX,
                              (long long)width, (long long)height);
    return 0;
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

/* Draws onto a new surface and releases it; writes it to png, unless it writes itself. */
static int paint(cairo_surface_t *surface, double scale, const struct weft_drawlist *list,
                 FILE *png, enum weft_theme theme, struct weft_error *err)
{
    const char *kind = png ? "PNG" : "PDF";
    cairo_t *cr = cairo_create(surface);
    cairo_status_t status;
    int result;

    cairo_scale(cr, scale, scale);
    result = cairo_status(cr) ? 0 : draw_list(cr, list, theme);
    status = cairo_status(cr);
    cairo_destroy(cr);
    if (result < 0) {
        weft_error_set(err, result, WEFT_NO_OFFSET, "no memory for the %s", kind);
    } else {
        errno = 0;
        if (!status && png)
            status = cairo_surface_write_to_png_stream(surface, write_some, png);
        cairo_surface_finish(surface); /* the PDF is written now */
        if (!status)
            status = cairo_surface_status(surface);
        result = report(status, kind, err);
    }
    cairo_surface_destroy(surface);
    return result;
}

int weft_paint_png(const struct weft_drawlist *list, FILE *out, enum weft_theme theme,
                   struct weft_error *err)
{
    int result = check_size(list, err);

    if (result < 0)
        return result;
    return paint(cairo_image_surface_create(CAIRO_FORMAT_RGB24,
                                            (list->width + WEFT_PX - 1) / WEFT_PX,
                                            (list->height + WEFT_PX - 1) / WEFT_PX),
                 1, list, out, theme, err);
}

int weft_paint_pdf(const struct weft_drawlist *list, FILE *out, enum weft_theme theme,
                   struct weft_error *err)
{
    int result = check_size(list, err);
    double scale = 72.0 / 96;

    if (result < 0)
        return result;
    return paint(cairo_pdf_surface_create_for_stream(write_some, out, px(list->width) * scale,
                                                     px(list->height) * scale),
                 scale, list, NULL, theme, err);
}
