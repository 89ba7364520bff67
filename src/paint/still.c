/* SPDX-License-Identifier: ISC */
/* Still pictures through cairo: PNG and PDF. */
#include <cairo-pdf.h>
#include <errno.h>
#include <string.h>

#include "paint/cairo.h"

#define SIDE_MAX 16384 /* px; also the maximum size of a PDF page, where 1 px is 3/4 point */

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
    if (width > SIDE_MAX || height > SIDE_MAX)
        return weft_error_set(err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                              "a picture may measure %d pixels each way, not %lld x %lld", SIDE_MAX,
                              (long long)width, (long long)height);
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
