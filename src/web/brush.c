/* SPDX-License-Identifier: ISC */
#include "web/brush.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/error.h"
#include "paint/shape.h"

/* Makes room for that many more words. False: no memory. */
static bool make_room(struct brush *b, uint32_t more)
{
    b->failed = b->failed || !weft_reserve_all(&b->word, (uint64_t)b->words + more, &b->words_room,
                                               sizeof *b->word);
    return !b->failed;
}

/* Adds an item to the last command if it looks the same, else to a new command. */
static void put(struct brush *b, enum brush_kind kind, const struct weft_draw *d, int32_t size,
                bool together, uint32_t n, const int32_t item[])
{
    if (!make_room(b, BRUSH_HEADER + n))
        return;
    int32_t *c = b->word + b->command;
    if (b->words == 0 || !together || c[0] != (int32_t)kind || c[1] != d->ink || c[2] != d->alpha ||
        c[3] != size) {
        b->command = b->words;
        c = b->word + b->words;
        c[0] = (int32_t)kind;
        c[1] = d->ink;
        c[2] = d->alpha;
        c[3] = size;
        c[4] = 0;
        b->words += BRUSH_HEADER;
    }
    c[4]++;
    for (uint32_t i = 0; i < n; i++)
        b->word[b->words++] = item[i];
}

/* A line of that width; along an axis it is a rectangle, which is faster and exact. */
static void put_line(struct brush *b, const struct weft_draw *d, const struct paint_shape *s,
                     int32_t width)
{
    int32_t x = s->x0 < s->x1 ? s->x0 : s->x1, y = s->y0 < s->y1 ? s->y0 : s->y1;
    if (s->y0 == s->y1) {
        int32_t r[] = {x, y - width / 2, abs(s->x1 - s->x0), width};
        put(b, BRUSH_RECTS, d, 0, true, 4, r);
    } else if (s->x0 == s->x1) {
        int32_t r[] = {x - width / 2, y, width, abs(s->y1 - s->y0)};
        put(b, BRUSH_RECTS, d, 0, true, 4, r);
    } else {
        int32_t r[] = {s->x0, s->y0, s->x1, s->y1};
        put(b, BRUSH_LINES, d, width, d->alpha == 255, 4, r);
    }
}

static void put_shape(struct brush *b, const struct weft_drawlist *list, const struct weft_draw *d,
                      bool heads)
{
    struct paint_shape s;
    if (!paint_shape_of(&s, list, d))
        return;
    if (!heads && s.body && d->op == WEFT_DRAW_RECT) {
        int32_t r[] = {s.x0, s.y0, s.x1 - s.x0, s.y1 - s.y0};
        put(b, BRUSH_RECTS, d, 0, true, 4, r);
    } else if (!heads && s.body) {
        put_line(b, d, &s, paint_shape_width(d));
    } else if (heads && s.head) {
        int32_t r[] = {s.corner[0].x, s.corner[0].y, s.corner[1].x,
                       s.corner[1].y, s.corner[2].x, s.corner[2].y};
        put(b, BRUSH_HEADS, d, 0, d->alpha == 255, 6, r);
    }
}

static void put_steps(struct brush *b, const struct weft_drawlist *list, const struct weft_draw *d)
{
    struct paint_shape s;
    for (uint32_t i = 1; i < d->count; i++)
        if (paint_shape_step(&s, list, d, i))
            put_line(b, d, &s, paint_shape_width(d));
}

static void put_text(struct brush *b, const struct weft_drawlist *list, const struct weft_draw *d)
{
    if (!paint_shape_text(list, d))
        return;
    int32_t item[] = {d->x0, d->y0, d->x1 - d->x0, (int32_t)(uintptr_t)(list->texts + d->first),
                      (int32_t)d->count};
    put(b, BRUSH_TEXTS, d, d->bold ? -d->size : d->size, true, 5, item);
}

/* ---- Shades: too many to fill one by one, so each draw becomes a row of pixels ---- */

static bool make_pixels(struct brush *b, const struct weft_drawlist *list)
{
    uint32_t rows = 0;
    for (uint32_t i = 0; i < list->draws; i++)
        rows += list->draw[i].op == WEFT_DRAW_SHADES;
    b->width = (uint32_t)(list->width + WEFT_PX - 1) / WEFT_PX;
    b->height = 0;
    uint64_t wanted = (uint64_t)b->width * rows;
    if (wanted > b->pixels_room) {
        free(b->pixel);
        b->pixel = wanted < UINT32_MAX / 8 ? malloc(wanted * sizeof *b->pixel) : NULL;
        b->pixels_room = b->pixel ? (uint32_t)wanted : 0;
    }
    return wanted <= b->pixels_room;
}

static void put_shades(struct brush *b, const struct weft_drawlist *list, const struct weft_draw *d,
                       unsigned theme)
{
    struct paint_shape all, s;
    if (!paint_shape_shaded(&all, list, d))
        return;
    uint32_t rgb = weft_inks[d->ink].rgb[theme];
    uint32_t colour = rgb >> 16 | (rgb & 0xff00) | (rgb & 0xff) << 16;
    uint32_t *pixel = b->pixel + (size_t)b->height * b->width;
    uint32_t width = (uint32_t)(all.x1 - all.x0) / WEFT_PX;
    memset(pixel, 0, width * sizeof *pixel);
    uint8_t alpha;
    for (uint32_t i = 0; paint_shape_shades(&s, &alpha, list, d, &i);) {
        uint32_t end = (uint32_t)(s.x1 - all.x0) / WEFT_PX;
        for (uint32_t x = (uint32_t)(s.x0 - all.x0) / WEFT_PX; x < end && x < width; x++)
            pixel[x] = colour | (uint32_t)alpha << 24;
    }
    int32_t item[] = {all.x0, all.y0, all.x1 - all.x0, all.y1 - all.y0, (int32_t)b->height};
    b->height++;
    put(b, BRUSH_SHADES, d, 0, true, 5, item);
}

int brush_fill(struct brush *b, const struct weft_drawlist *list, unsigned theme)
{
    b->words = 0;
    b->failed = !make_pixels(b, list);
    for (uint32_t i = 0, n; i < list->draws && !b->failed; i += n) {
        const struct weft_draw *d = &list->draw[i];
        for (n = 1; d->op == WEFT_DRAW_ARROW && i + n < list->draws && d[n].op == d->op &&
                    d[n].ink == d->ink && d[n].alpha == d->alpha && d[n].size == d->size;)
            n++;
        if (d->op == WEFT_DRAW_TEXT)
            put_text(b, list, d);
        else if (d->op == WEFT_DRAW_STEPS)
            put_steps(b, list, d);
        else if (d->op == WEFT_DRAW_SHADES)
            put_shades(b, list, d, theme);
        else
            for (uint32_t part = 0; part < 2 * n; part++) /* all bodies, then all heads */
                put_shape(b, list, &d[part % n], part >= n);
    }
    return b->failed ? WEFT_E_NOMEM : 0;
}
