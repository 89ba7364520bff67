/* SPDX-License-Identifier: ISC */
/* Where the boxes of a flame graph lie, and which frames a search finds. */
#include "view/flame.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "view/canvas.h"
#include "view/query.h"

enum { DEPTH_MAX = 4096 };

void weft_flame_fini(struct weft_flame *f)
{
    free(f->box);
    *f = (struct weft_flame){0};
}

static bool add_box(struct weft_flame *f, struct weft_flame_box box)
{
    if (!weft_reserve(&f->box, f->boxes, &f->room, sizeof *f->box))
        return false;
    f->box[f->boxes++] = box;
    return true;
}

/* The focus and its callers, from the top: each is as wide as the picture. */
static bool add_lineage(struct weft_flame *f, const struct weft_calltree *t, uint32_t focus,
                        int32_t x0, int32_t x1)
{
    uint32_t above[DEPTH_MAX], count = 0;
    for (uint32_t node = focus; count < DEPTH_MAX && node < t->calls; node = t->call[node].parent) {
        above[count++] = node;
        if (node == 0)
            break;
    }
    for (uint32_t row = 0; count-- > 0; row++)
        if (!add_box(f, (struct weft_flame_box){.node = above[count],
                                                .merged = 1,
                                                .row = row,
                                                .x0 = x0,
                                                .x1 = x1,
                                                .total = t->call[above[count]].total}))
            return false;
    return true;
}

/* A linear map from amounts to coordinates; amounts are shifted to 43 bits, the width takes 20. */
struct measure {
    int32_t x0, width;
    uint64_t total;
    unsigned shift;
};

static int32_t x_of(const struct measure *m, uint64_t amount)
{
    amount = amount < m->total ? amount : m->total;
    return m->x0 + (int32_t)((amount >> m->shift) * (uint64_t)m->width / (m->total >> m->shift));
}

/* Neighbouring frames that are too narrow, up to the first that is wide enough. */
static bool flush(struct weft_flame *f, struct weft_flame_box *narrow)
{
    bool added = true;
    if (narrow->merged && narrow->x1 - narrow->x0 >= PX)
        added = add_box(f, *narrow);
    else
        f->hidden += narrow->merged;
    narrow->merged = 0;
    return added;
}

/* Lays out what is below a box. */
static bool add_children(struct weft_flame *f, const struct weft_calltree *t,
                         const struct measure *m, struct weft_flame_box parent)
{
    struct weft_flame_box narrow = {.merged = 0};
    uint64_t at = parent.before, end = at + parent.total;
    uint32_t node = t->call[parent.node].first_child;
    for (; node < t->calls; node = t->call[node].next_sibling) {
        uint64_t total = t->call[node].total;
        total = total < end - at ? total : end - at;
        struct weft_flame_box box = {
            .node = node,
            .merged = 1,
            .row = parent.row + 1,
            .x0 = x_of(m, at),
            .x1 = x_of(m, at + total),
            .total = total,
            .before = at,
        };
        at += total;
        if (box.x1 - box.x0 >= PX) {
            if (!flush(f, &narrow) || !add_box(f, box))
                return false;
        } else if (narrow.merged) {
            narrow.merged++;
            narrow.x1 = box.x1;
            narrow.total += total;
        } else {
            narrow = box;
        }
    }
    return flush(f, &narrow);
}

int weft_flame_layout(struct weft_flame *f, const struct weft_calltree *t, uint32_t focus,
                      int32_t x0, int32_t x1)
{
    f->boxes = f->rows = f->hidden = 0;
    if (focus >= t->calls || x1 <= x0)
        return WEFT_E_INVALID;
    if (!add_lineage(f, t, focus, x0, x1))
        return WEFT_E_NOMEM;
    struct measure m = {x0, x1 - x0, t->call[focus].total, 0};
    f->rows = f->boxes;
    while (m.total >> m.shift >> 43)
        m.shift++;
    for (uint32_t i = f->boxes - 1; i < f->boxes && m.total; i++) {
        f->rows = f->box[i].row + 1;
        if (f->box[i].merged == 1 && !add_children(f, t, &m, f->box[i]))
            return WEFT_E_NOMEM;
    }
    return 0;
}

uint32_t weft_flame_at(const struct weft_flame *f, int32_t x, int32_t y)
{
    if (f->row_height <= 0 || y < f->frames_y0)
        return WEFT_NONE;
    uint32_t row = (uint32_t)((y - f->frames_y0) / f->row_height);
    if (row >= f->shown_rows)
        return WEFT_NONE;
    row += f->first_row;
    for (uint32_t i = 0; i < f->boxes; i++)
        if (f->box[i].row == row && x >= f->box[i].x0 && x < f->box[i].x1)
            return i;
    return WEFT_NONE;
}

/* ---- Search ---- */

void weft_flame_found_fini(struct weft_flame_found *f)
{
    free(f->bits);
    *f = (struct weft_flame_found){0};
}

/* Returns true if the query has only words; the other conditions are about promises. */
static bool is_plain(const struct view_query *q)
{
    for (uint32_t i = 0; i < q->terms; i++)
        if (q->term[i].kind != VIEW_TERM_WORD)
            return false;
    return q->terms != 0;
}

static bool matches(const struct view_query *q, const char *name)
{
    size_t size = strlen(name);
    uint16_t words = 0;
    for (size_t at = 0; at < size && words != q->all; at += VIEW_QUERY_CHUNK) {
        size_t rest = size - at < UINT32_MAX ? size - at : UINT32_MAX;
        words |= view_query_find(q, name + at,
                                 rest < VIEW_QUERY_CHUNK ? (uint32_t)rest : VIEW_QUERY_CHUNK,
                                 (uint32_t)rest);
    }
    return words == q->all;
}

int weft_flame_find(struct weft_flame_found *out, const struct weft_profile *p,
                    const struct weft_calltree *t, const char *query)
{
    struct view_query q;
    *out = (struct weft_flame_found){0};
    view_query_parse(&q, query);
    out->bits = calloc((size_t)t->calls / 64 + 1, sizeof *out->bits);
    uint64_t *within = calloc((size_t)t->calls / 64 + 1, sizeof *within); /* or is one */
    if (!out->bits || !within) {
        free(within);
        return WEFT_E_NOMEM;
    }
    bool plain = is_plain(&q);
    for (uint32_t i = 1; plain && i < t->calls; i++) { /* parents come before children */
        uint32_t parent = t->call[i].parent;
        bool inside = within[parent / 64] >> (parent % 64) & 1;
        bool found = matches(&q, weft_flame_name(p, t, i));
        out->bits[i / 64] |= (uint64_t)found << (i % 64);
        within[i / 64] |= (uint64_t)(found || inside) << (i % 64);
        out->frames += found;
        out->total += found && !inside ? t->call[i].total : 0;
    }
    free(within);
    return 0;
}
