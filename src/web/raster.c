/* SPDX-License-Identifier: ISC */
/* It is painted band by band, so that the pixels of a band stay in the processor's cache. */
#include "web/raster.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/error.h"

enum {
    BAND_BYTES = 256 * 1024,
    ROWS_MIN = 16,
    SIDE_MAX = 32768, /* pixels */
};

/* What is painted of a draw, and within which rows of the device. */
struct raster_piece {
    struct paint_shape s;
    int32_t top, bottom;
};

/* ---- Where a pixel of the list is no whole number of the device's pixels ---- */

static int32_t by(int32_t length, double factor)
{
    const double scaled = floor(length * factor + 0.5);
    return scaled > INT32_MAX ? INT32_MAX : scaled < INT32_MIN ? INT32_MIN : (int32_t)scaled;
}

static int32_t thickness(int32_t size, double factor)
{
    const int32_t scaled = by(size, factor);
    return scaled > 0 || size <= 0 ? scaled : 1;
}

/* Columns of a pixel, within the picture, each with the shade that lies in its middle. */
static bool scale_shades(struct weft_drawlist *out, const struct weft_drawlist *list,
                         struct weft_draw *d, const struct weft_draw *from, double factor)
{
    const double width = from->size > 0 ? from->size * factor : factor, begin = d->x0;
    d->x0 = d->x0 > 0 ? d->x0 : 0;
    d->x1 = d->x1 < out->width ? d->x1 : out->width;
    const uint32_t count =
        d->x0 < d->x1 && from->count ? (uint32_t)(d->x1 - d->x0) / WEFT_PX + 1 : 0;
    if (!weft_reserve_all(&out->shades, (uint64_t)out->shade_count + count, &out->shades_room, 1))
        return false;
    d->first = out->shade_count;
    d->count = count;
    d->size = WEFT_PX;
    d->alpha = count ? d->alpha : 0;
    for (uint32_t i = 0; i < count; i++) {
        const double at = (d->x0 - begin + (i + 0.5) * WEFT_PX) / width;
        out->shades[out->shade_count++] =
            list->shades[from->first + (at < from->count ? (uint32_t)at : from->count - 1)];
    }
    return true;
}

/* Texts are not copied: out's are those of the list. */
static bool scale_list(struct weft_drawlist *out, const struct weft_drawlist *list, double factor)
{
    if (!weft_reserve_all(&out->draw, list->draws, &out->draws_room, sizeof *out->draw) ||
        !weft_reserve_all(&out->points, list->point_count, &out->points_room, sizeof *out->points))
        return false;
    out->width = by(list->width, factor);
    out->height = by(list->height, factor);
    out->texts = list->texts;
    out->text_bytes = list->text_bytes;
    out->draws = list->draws;
    out->point_count = list->point_count;
    out->shade_count = 0;
    for (uint32_t i = 0; i < list->point_count; i++)
        out->points[i] =
            (struct weft_point){by(list->points[i].x, factor), by(list->points[i].y, factor)};
    for (uint32_t i = 0; i < list->draws; i++) {
        const struct weft_draw *from = &list->draw[i];
        struct weft_draw *d = &out->draw[i];
        *d = *from;
        d->x0 = by(from->x0, factor);
        d->y0 = by(from->y0, factor);
        d->x1 = by(from->x1, factor);
        d->y1 = by(from->y1, factor);
        d->size = thickness(from->size, factor);
        if (d->op == WEFT_DRAW_SHADES && !scale_shades(out, list, d, from, factor))
            return false;
    }
    return true;
}

/* ---- Painting ---- */

/* 0xAARRGGBB and a browser's order differ in which of the two comes first. */
static uint32_t ink_of(const struct raster *r, const struct weft_draw *d)
{
    const uint32_t rgb = weft_inks[d->ink].rgb[r->theme];
    return rgb >> 16 | (rgb & 0xff00) | (rgb & 0xff) << 16;
}

/* y in the list's units; what is thick or rounded may reach somewhat further. */
static int32_t row_of(const struct raster *r, int64_t y)
{
    const int64_t row = (y >> 6) * r->pixels.scale;
    return row < 0 ? 0 : row > r->height ? (int32_t)r->height : (int32_t)row;
}

static void find_rows(const struct raster *r, const struct weft_draw *d, struct raster_piece *x)
{
    int64_t low = INT32_MAX, high = INT32_MIN, margin = 2 * WEFT_PX;
    if (d->op == WEFT_DRAW_TEXT) {
        low = (int64_t)d->y0 - (int64_t)d->size * 5 / 4;
        high = (int64_t)d->y0 + d->size / 2;
    } else {
        margin += paint_shape_width(d);
    }
    if (x->s.body) {
        low = x->s.y0 < x->s.y1 ? x->s.y0 : x->s.y1;
        high = x->s.y0 < x->s.y1 ? x->s.y1 : x->s.y0;
    }
    for (int i = 0; x->s.head && i < 3; i++) {
        low = x->s.corner[i].y < low ? x->s.corner[i].y : low;
        high = x->s.corner[i].y > high ? x->s.corner[i].y : high;
    }
    for (uint32_t i = 0; d->op == WEFT_DRAW_STEPS && i < d->count; i++) {
        const int32_t y = r->list->points[d->first + i].y;
        low = y < low ? y : low;
        high = y > high ? y : high;
    }
    x->top = low > high ? 0 : row_of(r, low - margin);
    x->bottom = low > high ? 0 : row_of(r, high + margin + WEFT_PX);
}

/* Finds what is painted of each draw. */
static bool find_pieces(struct raster *r)
{
    const struct weft_drawlist *list = r->list;
    if (!weft_reserve_all(&r->piece, list->draws, &r->pieces_room, sizeof *r->piece))
        return false;
    for (uint32_t i = 0; i < list->draws; i++) {
        const struct weft_draw *d = &list->draw[i];
        struct raster_piece *x = &r->piece[i];
        bool is_seen = d->alpha != 0;
        *x = (struct raster_piece){.top = 0};
        if (d->op == WEFT_DRAW_TEXT)
            is_seen = paint_shape_text(list, d);
        else if (d->op == WEFT_DRAW_SHADES)
            is_seen = paint_shape_shaded(&x->s, list, d);
        else if (d->op != WEFT_DRAW_STEPS)
            is_seen = paint_shape_of(&x->s, list, d);
        if (is_seen)
            find_rows(r, d, x);
    }
    return true;
}

static void paint_steps(struct paint_pixels *p, const struct weft_drawlist *list,
                        const struct weft_draw *d)
{
    struct paint_shape s;
    if (paint_pixels_steps(p, list, d))
        return;
    for (uint32_t i = 1; i < d->count; i++)
        if (paint_shape_step(&s, list, d, i))
            paint_pixels_line(p, &s, paint_shape_width(d));
}

static void paint(struct raster *r, const struct weft_draw *d, const struct paint_shape *s)
{
    struct paint_pixels *p = &r->pixels;
    p->ink = ink_of(r, d);
    p->alpha = d->alpha;
    if (d->op == WEFT_DRAW_TEXT)
        letters_paint(&r->letters, p, r->list, d);
    else if (d->op == WEFT_DRAW_SHADES)
        paint_pixels_shades(p, r->list, d);
    else if (d->op == WEFT_DRAW_STEPS)
        paint_steps(p, r->list, d);
    else if (s->body && d->op == WEFT_DRAW_RECT)
        paint_pixels_box(p, s->x0, s->y0, s->x1, s->y1);
    else if (s->body)
        paint_pixels_line(p, s, paint_shape_width(d));
    if (s->head)
        paint_pixels_head(p, s);
}

int raster_begin(struct raster *r, const struct weft_drawlist *list, unsigned theme, uint32_t width,
                 uint32_t height, double ratio)
{
    struct paint_pixels *p = &r->pixels;
    if (width > SIDE_MAX || height > SIDE_MAX ||
        !weft_reserve_all(&r->pixel, (uint64_t)width * height, &r->pixels_room, sizeof *r->pixel))
        return WEFT_E_NOMEM;
    r->width = width;
    r->height = height;
    r->theme = theme;
    r->shown = r->list = list;
    p->scale = ratio < 1 ? 1 : ratio > RASTER_RATIO_MAX ? RASTER_RATIO_MAX : (int)(ratio + 0.5);
    if (ratio != p->scale) {
        if (!scale_list(&r->scaled, list, ratio / p->scale))
            return WEFT_E_NOMEM;
        r->list = &r->scaled;
    }
    p->data = (unsigned char *)r->pixel;
    p->stride = (int)width * 4;
    p->x0 = p->y0 = p->top = p->dx = p->dy = 0;
    p->x1 = (int)width;
    p->y1 = (int)height;
    letters_begin(&r->letters, theme & 1 ? 255 : 0, width);
    return paint_pixels_begin(p) ? 0 : WEFT_E_NOMEM;
}

int raster_paint(struct raster *r)
{
    struct paint_pixels *p = &r->pixels;
    const struct weft_draw ground = {.op = WEFT_DRAW_RECT, .ink = WEFT_INK_GROUND, .alpha = 255};
    const struct paint_shape all = {.body = true, .x1 = INT32_MAX, .y1 = INT32_MAX};
    const int height = (int)r->height;
    const int rows =
        p->stride && BAND_BYTES / p->stride > ROWS_MIN ? BAND_BYTES / p->stride : ROWS_MIN;
    if (!find_pieces(r))
        return WEFT_E_NOMEM;
    for (p->y0 = 0; p->y0 < height; p->y0 = p->y1) {
        p->y1 = height - p->y0 < rows ? height : p->y0 + rows;
        paint(r, &ground, &all);
        for (uint32_t i = 0; i < r->list->draws; i++)
            if (r->piece[i].top < p->y1 && r->piece[i].bottom > p->y0)
                paint(r, &r->list->draw[i], &r->piece[i].s);
    }
    p->y0 = 0;
    return 0;
}
