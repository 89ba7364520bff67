/* SPDX-License-Identifier: ISC */
/* The thin lines that show creation and becoming: for promises drawn as shapes, and for all promises if few are
 * visible. */
#include <stdlib.h>

#include "base/order.h"
#include "view/canvas.h"

enum { FEW = 10000 };

struct edge {
    int32_t x, y0, y1;
};

struct edges {
    struct edge *edge;
    uint32_t count, room;
};

static void add_edge(struct canvas *c, struct edges *e, int64_t time_ns, uint32_t from, uint32_t to)
{
    int32_t y0, y1;
    if (time_ns < c->from_ns || time_ns > c->to_ns || !canvas_y(c, from, &y0) ||
        !canvas_y(c, to, &y1) || y0 == y1 ||
        !canvas_grow(c, &e->edge, e->count, &e->room, sizeof *e->edge))
        return;
    e->edge[e->count++] =
        (struct edge){.x = canvas_x(c, time_ns), .y0 = y0 < y1 ? y0 : y1, .y1 = y0 < y1 ? y1 : y0};
}

static void add_edges(struct canvas *c, struct edges *e, uint32_t promise)
{
    const struct weft_promise *p = &c->m->promise[promise];
    if (c->l->raw || !p->simplified)
        add_edge(c, e, p->start_ns, p->creator, promise);
    if (p->becomes != WEFT_NONE)
        add_edge(c, e, p->end_ns, promise, p->becomes);
}

static int by_place(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    WEFT_ORDER(x->x / PX, y->x / PX);
    WEFT_ORDER(x->y0, y->y0);
    WEFT_ORDER(x->y1, y->y1);
    return weft_order(x->x, y->x);
}

void canvas_draw_edges(struct canvas *c)
{
    struct edges e = {0};
    if (c->visible <= FEW) {
        for (uint32_t at = 0; at < c->shown; at++)
            for (uint32_t s = c->seen[at].begin; s < c->seen[at].end; s++)
                add_edges(c, &e, c->l->spans[s]);
    } else {
        c->left_out.edges = true;
        for (uint32_t i = 0; i < c->shapes; i++)
            add_edges(c, &e, c->l->spans[c->shape[i].span]);
    }
    if (e.count)
        qsort(e.edge, e.count, sizeof *e.edge, by_place);
    for (uint32_t i = 0, next; i < e.count; i = next) {
        struct edge joined = e.edge[i];
        for (next = i + 1; next < e.count; next++) {
            const struct edge *n = &e.edge[next];
            if (n->x / PX != joined.x / PX || n->y0 > joined.y1)
                break;
            joined.y1 = n->y1 > joined.y1 ? n->y1 : joined.y1;
        }
        canvas_line(c, WEFT_INK_EDGE, PX, joined.x, joined.y0, joined.x, joined.y1)->alpha =
            e.count < 3000 ? 255 : 110;
    }
    free(e.edge);
}
