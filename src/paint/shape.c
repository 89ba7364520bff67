/* SPDX-License-Identifier: ISC */
#include "paint/shape.h"

#include <assert.h>

#define THICKEST (1024 * WEFT_PX)

static int32_t smaller(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* The pixel edge at or before a coordinate. */
static int32_t edge_before(int64_t at)
{
    at = at > INT32_MAX ? INT32_MAX : at;
    at = at < INT32_MIN ? INT32_MIN : at;
    return (int32_t)(at - (at & (WEFT_PX - 1)));
}

static int32_t edge_nearest(int64_t at)
{
    return edge_before(at + WEFT_PX / 2);
}

/* The middle of a line of that thickness, placed so that its edges are on pixel edges. */
static int32_t centre(int32_t at, int32_t width)
{
    return smaller(edge_nearest((int64_t)at - width / 2), INT32_MAX - THICKEST) + width / 2;
}

/* Rounds the range from *a to *b to whole pixels, at least one unless it is empty, and clips it to 0 … end. */
static bool span(int32_t *a, int32_t *b, int32_t end)
{
    int32_t low = smaller(*a, *b), high = larger(*a, *b);
    if (low == high || high < 0 || low > end)
        return false;
    *a = edge_nearest(low);
    *b = edge_nearest(high);
    if (*a == *b) {
        *a = edge_before(low);
        *b = edge_before((int64_t)*a + WEFT_PX);
    }
    *a = larger(*a, 0);
    *b = smaller(*b, edge_before((int64_t)end + WEFT_PX - 1));
    return *a < *b;
}

/* a * b / c where a <= c: products of 33-bit numbers, which fit 64 bits only unsigned. */
static int64_t portion(int64_t a, int64_t b, int64_t c)
{
    uint64_t product = (uint64_t)a * (uint64_t)(b < 0 ? -b : b);
    int64_t result = (int64_t)(product / (uint64_t)c);
    return b < 0 ? -result : result;
}

/* Clips the line from p to q to the part whose first coordinate is within low … high. */
static bool cut(int32_t p[2], int32_t q[2], int first, int32_t low, int32_t high)
{
    int other = 1 - first;
    int32_t *from = p[first] <= q[first] ? p : q, *to = from == p ? q : p;
    int64_t along = (int64_t)to[first] - from[first], across = (int64_t)to[other] - from[other];
    int64_t before = (int64_t)low - from[first], after = (int64_t)to[first] - high;
    if (to[first] < low || from[first] > high)
        return false;
    if (before > 0) {
        from[other] = (int32_t)(from[other] + portion(before, across, along));
        from[first] = low;
    }
    if (after > 0) {
        to[other] = (int32_t)(to[other] - portion(after, across, along));
        to[first] = high;
    }
    return true;
}

/* Clips a line to the picture plus a margin that hides its thickness and slanting ends. */
static bool cut_line(struct paint_shape *s, const struct weft_drawlist *list, int32_t width)
{
    int32_t p[2] = {s->x0, s->y0}, q[2] = {s->x1, s->y1};
    int32_t margin = width + WEFT_PX;
    if (!cut(p, q, 0, -margin, smaller(list->width, INT32_MAX - margin) + margin) ||
        !cut(p, q, 1, -margin, smaller(list->height, INT32_MAX - margin) + margin))
        return false;
    s->x0 = p[0];
    s->y0 = p[1];
    s->x1 = q[0];
    s->y1 = q[1];
    return s->x0 != s->x1 || s->y0 != s->y1;
}

int32_t paint_shape_width(const struct weft_draw *d)
{
    int32_t width = smaller(larger(d->size, 1), THICKEST);
    if (d->op != WEFT_DRAW_STEPS && d->x0 != d->x1 && d->y0 != d->y1)
        return width;
    return larger(edge_nearest(width), WEFT_PX);
}

/* Returns true if the head's corners are near the picture. */
static bool near(const struct weft_point *corner, const struct weft_drawlist *list)
{
    for (int i = 0; i < 3; i++) {
        if (corner[i].x < -2 * THICKEST || corner[i].y < -2 * THICKEST ||
            corner[i].x - 2 * THICKEST > list->width || corner[i].y - 2 * THICKEST > list->height)
            return false;
    }
    return true;
}

static void arrow(struct paint_shape *s, const struct weft_drawlist *list,
                  const struct weft_draw *d, int32_t width)
{
    struct weft_draw sharp = *d;
    if (d->op == WEFT_DRAW_ARROW && d->x0 == d->x1)
        sharp.x0 = sharp.x1 = centre(d->x0, width);
    else if (d->op == WEFT_DRAW_ARROW && d->y0 == d->y1)
        sharp.y0 = sharp.y1 = centre(d->y0, width);
    weft_arrow_head(s->corner, &sharp);
    s->head = near(s->corner, list);
    if (d->op == WEFT_DRAW_ARROW) {
        s->x0 = sharp.x0;
        s->y0 = sharp.y0;
        s->x1 = (int32_t)(((int64_t)s->corner[1].x + s->corner[2].x) / 2);
        s->y1 = (int32_t)(((int64_t)s->corner[1].y + s->corner[2].y) / 2);
        s->body = cut_line(s, list, width);
    }
}

bool paint_shape_of(struct paint_shape *s, const struct weft_drawlist *list,
                    const struct weft_draw *d)
{
    int32_t width = paint_shape_width(d);
    *s = (struct paint_shape){.x0 = d->x0, .y0 = d->y0, .x1 = d->x1, .y1 = d->y1};
    if (d->alpha == 0)
        return false;
    if (d->op == WEFT_DRAW_RECT) {
        s->body = span(&s->x0, &s->x1, list->width) && span(&s->y0, &s->y1, list->height);
    } else if (d->op != WEFT_DRAW_LINE) {
        arrow(s, list, d, width);
    } else if (d->x0 == d->x1) {
        s->x0 = s->x1 = centre(d->x0, width);
        s->body = span(&s->y0, &s->y1, list->height) && cut_line(s, list, width);
    } else if (d->y0 == d->y1) {
        s->y0 = s->y1 = centre(d->y0, width);
        s->body = span(&s->x0, &s->x1, list->width) && cut_line(s, list, width);
    } else {
        s->body = cut_line(s, list, width);
    }
    return s->body || s->head;
}

bool paint_shape_step(struct paint_shape *s, const struct weft_drawlist *list,
                      const struct weft_draw *d, uint32_t i)
{
    int32_t width = paint_shape_width(d);
    assert(d->count <= list->point_count && d->first <= list->point_count - d->count);
    const struct weft_point *p = &list->points[d->first + i - 1], *q = p + 1;
    *s = (struct paint_shape){
        .x0 = centre(p->x, width),
        .y0 = centre(p->y, width),
        .x1 = centre(q->x, width),
        .y1 = centre(q->y, width),
    };
    s->body = d->alpha != 0 && cut_line(s, list, width);
    return s->body;
}

bool paint_shape_shaded(struct paint_shape *s, const struct weft_drawlist *list,
                        const struct weft_draw *d)
{
    assert(d->count <= list->shade_count && d->first <= list->shade_count - d->count);
    *s = (struct paint_shape){.x0 = d->x0, .y0 = d->y0, .x1 = d->x1, .y1 = d->y1};
    s->body = d->alpha != 0 && d->x0 < d->x1 && span(&s->x0, &s->x1, list->width) &&
              span(&s->y0, &s->y1, list->height);
    return s->body;
}

bool paint_shape_shades(struct paint_shape *s, uint8_t *alpha, const struct weft_drawlist *list,
                        const struct weft_draw *d, uint32_t *i)
{
    struct paint_shape all;
    const uint8_t *shade = list->shades + d->first;
    if (!paint_shape_shaded(&all, list, d))
        return false;
    while (*i < d->count) {
        uint32_t from = *i;
        while (*i < d->count && shade[*i] == shade[from])
            ++*i;
        *alpha = paint_shape_opacity(d, shade[from]);
        *s = all;
        s->x0 = larger(paint_shape_column(d, from), all.x0);
        s->x1 = smaller(paint_shape_column(d, *i), all.x1);
        if (*alpha != 0 && s->x0 < s->x1)
            return true;
    }
    return false;
}

bool paint_shape_text(const struct weft_drawlist *list, const struct weft_draw *d)
{
    assert(d->count <= list->text_bytes && d->first <= list->text_bytes - d->count);
    return d->alpha != 0 && d->count > 0 && d->x0 < d->x1 && d->size > 0 &&
           d->size <= PAINT_FONT_MAX && d->x1 > 0 && d->x0 < list->width &&
           (int64_t)d->y0 + d->size / 2 > 0 && (int64_t)d->y0 - d->size < list->height;
}
