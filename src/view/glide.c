/* SPDX-License-Identifier: ISC */
/* Rows that glide to new places: a part of the way in each picture. What was between two rows stays between them, so the
 * rows never overlap: the places of the last picture grow with the row, and so do the new ones. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "view/canvas.h"

void weft_glide_fini(struct weft_glide *g)
{
    weft_free_all(g->row, g->y);
    *g = (struct weft_glide){.layout = NULL};
}

/* Returns true if the last picture had the same rows in the same space. */
static bool is_comparable(const struct weft_glide *g, const struct canvas *c)
{
    return g->layout == c->l && g->rows == c->l->rows && g->shown && c->shown &&
           g->height == c->rows_y1 - c->rows_y0;
}

/* Remembers where the rows are in this picture. Without memory, the next one has them at rest. */
static void remember(struct weft_glide *g, const struct canvas *c)
{
    const size_t n = (size_t)c->shown + 1;
    if (g->room < n) {
        weft_glide_fini(g);
        g->row = malloc(n * sizeof *g->row);
        g->y = malloc(n * sizeof *g->y);
        if (!g->row || !g->y) {
            weft_glide_fini(g);
            return;
        }
        g->room = (uint32_t)n;
    }
    g->layout = c->l;
    g->rows = c->l->rows;
    g->height = c->rows_y1 - c->rows_y0;
    g->shown = c->shown;
    memcpy(g->row, c->shown_row, c->shown * sizeof *g->row);
    for (uint32_t at = 0; at <= c->shown; at++)
        g->y[at] = c->shown_y[at] - c->rows_y0;
}

void canvas_glide_rows(struct canvas *c)
{
    struct weft_glide *g = c->vp->glide;
    if (!g)
        return;
    g->moves = false;
    const bool moves = is_comparable(g, c) && g->part < WEFT_GLIDE_WHOLE;
    for (uint32_t at = 0, old = 0; moves && at <= c->shown; at++) {
        while (old < g->shown && (at == c->shown || g->row[old] < c->shown_row[at]))
            old++;
        const int32_t from = c->rows_y0 + g->y[old];
        const int64_t way = (int64_t)c->shown_y[at] - from;
        if (way > -PX && way < PX)
            continue;
        c->shown_y[at] = from + (int32_t)(way * g->part / WEFT_GLIDE_WHOLE);
        g->moves = true;
    }
    remember(g, c);
}
