/* SPDX-License-Identifier: ISC */
#include "paint/bands.h"

#include <stdlib.h>

#include "base/array.h"

enum {
    BAND_BYTES = 768 * 1024, /* less than a core's second cache */
    ROWS_MIN = 16,
};

struct paint_piece {
    struct paint_shape s;
    uint32_t first, end; /* bands; equal: it is not visible */
};

void paint_bands_fini(struct paint_bands *b)
{
    weft_free_all(b->piece, b->first, b->item);
    *b = (struct paint_bands){.piece = NULL};
}

static int64_t lower(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t higher(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Which bands, of that many rows, something from low to high reaches into; it may be some more. */
static void find_bands(struct paint_piece *x, const struct paint_pixels *p, int64_t low,
                       int64_t high, int rows)
{
    const int64_t top = (low - WEFT_PX) / WEFT_PX * p->scale + p->dy - p->y0,
                  bottom = (high + WEFT_PX) / WEFT_PX * p->scale + p->dy - p->y0 + p->scale,
                  height = p->y1 - p->y0;
    if (low > high || bottom <= 0 || top >= height)
        return;
    x->first = top > 0 ? (uint32_t)(top / rows) : 0;
    x->end = (uint32_t)((lower(bottom, height) - 1) / rows) + 1;
}

static void find_piece(struct paint_piece *x, const struct paint_pixels *p,
                       const struct weft_drawlist *list, const struct weft_draw *d, int rows)
{
    const struct paint_shape *s = &x->s;
    int64_t low = INT32_MAX, high = INT32_MIN;
    const int64_t width = d->op == WEFT_DRAW_TEXT ? 0 : paint_shape_width(d);
    *x = (struct paint_piece){.first = 0};
    if (d->op == WEFT_DRAW_TEXT && paint_shape_text(list, d)) {
        low = d->y0 - (int64_t)d->size * 5 / 4;
        high = d->y0 + (int64_t)d->size / 2;
    } else if (d->op == WEFT_DRAW_STEPS) {
        for (uint32_t i = 0; i < d->count && d->alpha; i++) {
            low = lower(low, list->points[d->first + i].y);
            high = higher(high, list->points[d->first + i].y);
        }
    } else if (d->op == WEFT_DRAW_SHADES) {
        paint_shape_shaded(&x->s, list, d);
    } else if (d->op != WEFT_DRAW_TEXT) {
        paint_shape_of(&x->s, list, d);
    }
    if (s->body) {
        low = lower(s->y0, s->y1);
        high = higher(s->y0, s->y1);
    }
    for (int i = 0; s->head && i < 3; i++) {
        low = lower(low, s->corner[i].y);
        high = higher(high, s->corner[i].y);
    }
    find_bands(x, p, low - width, high + width, rows);
}

/* Sorts the pieces into the bands, keeping their order. */
static bool sort(struct paint_bands *b, uint32_t pieces, uint32_t bands)
{
    uint64_t items = 0;
    for (uint32_t k = 0; k < bands + 2; k++)
        b->first[k] = 0;
    for (uint32_t i = 0; i < pieces; i++) {
        items += b->piece[i].end - b->piece[i].first;
        for (uint32_t k = b->piece[i].first; k < b->piece[i].end; k++)
            b->first[k + 2]++;
    }
    if (!weft_reserve_all(&b->item, items + 1, &b->items_room, sizeof *b->item))
        return false;
    for (uint32_t k = 0; k < bands; k++)
        b->first[k + 2] += b->first[k + 1];
    for (uint32_t i = 0; i < pieces; i++)
        for (uint32_t k = b->piece[i].first; k < b->piece[i].end; k++)
            b->item[b->first[k + 1]++] = i;
    return true;
}

bool paint_bands_paint(struct paint_bands *b, struct paint_pixels *p,
                       const struct weft_drawlist *list, int theme, paint_other_fn *other,
                       void *data)
{
    const int top = p->y0, bottom = p->y1;
    const int rows = BAND_BYTES / p->stride > ROWS_MIN ? BAND_BYTES / p->stride : ROWS_MIN;
    const uint32_t bands = (uint32_t)((bottom - top + rows - 1) / rows);
    const struct weft_draw ground = {.op = WEFT_DRAW_RECT,
                                     .ink = WEFT_INK_GROUND,
                                     .alpha = 255,
                                     .x1 = INT32_MAX,
                                     .y1 = INT32_MAX};
    struct paint_shape all;
    const bool has_ground = paint_shape_of(&all, list, &ground);
    if (!weft_reserve_all(&b->piece, list->draws, &b->pieces_room, sizeof *b->piece) ||
        !weft_reserve_all(&b->first, (uint64_t)bands + 2, &b->bands_room, sizeof *b->first))
        return false;
    for (uint32_t i = 0; i < list->draws; i++)
        find_piece(&b->piece[i], p, list, &list->draw[i], rows);
    if (!sort(b, list->draws, bands))
        return false;
    for (uint32_t k = 0; k < bands; k++) {
        p->y0 = top + (int)k * rows;
        p->y1 = bottom - p->y0 < rows ? bottom : p->y0 + rows;
        if (has_ground)
            paint_pixels_draw(p, list, &ground, &all, theme);
        for (uint32_t i = b->first[k]; i < b->first[k + 1]; i++) {
            const struct weft_draw *d = &list->draw[b->item[i]];
            if (!paint_pixels_draw(p, list, d, &b->piece[b->item[i]].s, theme))
                other(data, d);
        }
    }
    p->y0 = top;
    p->y1 = bottom;
    return true;
}
