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

uint32_t paint_bands_run(const struct weft_drawlist *list, uint32_t at)
{
    uint32_t end = at;
    while (end < list->draws && list->draw[end].op != WEFT_DRAW_TEXT &&
           list->draw[end].op != WEFT_DRAW_STEPS)
        end++;
    return end - at;
}

static int32_t lower(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static int32_t higher(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* Which bands, of that many rows, a piece reaches into; it may be some more. */
static void find_bands(struct paint_piece *x, const struct paint_pixels *p, int32_t width, int rows)
{
    const struct paint_shape *s = &x->s;
    int32_t low = INT32_MAX, high = INT32_MIN;
    if (s->body) {
        low = lower(s->y0, s->y1);
        high = higher(s->y0, s->y1);
    }
    for (int i = 0; s->head && i < 3; i++) {
        low = lower(low, s->corner[i].y);
        high = higher(high, s->corner[i].y);
    }
    const int64_t top = ((int64_t)low - width - WEFT_PX) / WEFT_PX * p->scale + p->dy - p->y0,
                  bottom = ((int64_t)high + width + WEFT_PX) / WEFT_PX * p->scale + p->dy - p->y0 +
                           p->scale,
                  height = p->y1 - p->y0;
    x->first = x->end = 0;
    if (low > high || bottom <= 0 || top >= height)
        return;
    x->first = top > 0 ? (uint32_t)(top / rows) : 0;
    x->end = (uint32_t)(((bottom < height ? bottom : height) - 1) / rows) + 1;
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
                       const struct weft_drawlist *list, uint32_t at, uint32_t count, int theme)
{
    const int top = p->y0, bottom = p->y1;
    const int rows = BAND_BYTES / p->stride > ROWS_MIN ? BAND_BYTES / p->stride : ROWS_MIN;
    const uint32_t bands = (uint32_t)((bottom - top + rows - 1) / rows);
    if (!weft_reserve_all(&b->piece, count, &b->pieces_room, sizeof *b->piece) ||
        !weft_reserve_all(&b->first, (uint64_t)bands + 2, &b->bands_room, sizeof *b->first))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct weft_draw *d = &list->draw[at + i];
        struct paint_piece *x = &b->piece[i];
        x->first = x->end = 0;
        if (d->op == WEFT_DRAW_SHADES ? paint_shape_shaded(&x->s, list, d)
                                      : paint_shape_of(&x->s, list, d))
            find_bands(x, p, paint_shape_width(d), rows);
    }
    if (!sort(b, count, bands))
        return false;
    for (uint32_t k = 0; k < bands; k++) {
        p->y0 = top + (int)k * rows;
        p->y1 = bottom - p->y0 < rows ? bottom : p->y0 + rows;
        for (uint32_t i = b->first[k]; i < b->first[k + 1]; i++)
            paint_pixels_shape(p, list, &list->draw[at + b->item[i]], &b->piece[b->item[i]].s,
                               theme);
    }
    p->y0 = top;
    p->y1 = bottom;
    return true;
}
