/* SPDX-License-Identifier: ISC */
/* The promises that concern the selection, and the bands behind those, behind search results and behind the promise
 * under the pointer. */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "view/canvas.h"
#include "view/search.h"

enum {
    JOINED_MAX = 4096, /* by becoming */
    CREATORS_MAX = 256,
    OTHERS_MAX = 512, /* promises that it waited for, or that resolved it */
    BAND_MIN = 4 * PX,
    HITS_MAX = 20000, /* bands of one picture */
    FEW_SPANS = 20000,
};

/* ---- Finding ---- */

static bool add(struct canvas *c, uint32_t *room, uint32_t promise, bool joined)
{
    if (promise == WEFT_ROOT || !canvas_grow(c, &c->kin, c->kins, room, sizeof *c->kin))
        return false;
    c->kin[c->kins++] = (struct kin){.promise = promise, .joined = joined};
    return true;
}

/* Adds the promises that became one of those already listed, what became these, and so on. */
static void add_joined(struct canvas *c, uint32_t *room)
{
    const struct weft_model *m = c->m;
    const struct view_groups *g = &c->x->became;
    uint32_t final = weft_model_final(m, c->vp->selected);
    add(c, room, final, true);
    /* First the chain from the selection, which may be long; then whatever else became one of these. */
    for (uint32_t p = c->vp->selected; p != final && c->kins < JOINED_MAX / 2;
         p = m->promise[p].becomes)
        add(c, room, p, true);
    for (uint32_t i = 0; i < c->kins && c->kins < JOINED_MAX; i++) {
        uint32_t p = c->kin[i].promise;
        for (uint32_t k = g->first[p / 16]; k < g->first[p / 16 + 1] && c->kins < JOINED_MAX; k++) {
            uint32_t before = g->item[k];
            if (m->promise[before].becomes != p)
                continue;
            bool known = false; /* those on the chain from the selection are */
            for (uint32_t j = 0; j < c->kins && j < 2 + JOINED_MAX / 2 && !known; j++)
                known = c->kin[j].promise == before;
            if (!known)
                add(c, room, before, true);
        }
    }
}

static int by_promise(const void *a, const void *b)
{
    const struct kin *x = a, *y = b;
    WEFT_ORDER(x->promise, y->promise);
    return (int)y->joined - (int)x->joined;
}

void canvas_find_kin(struct canvas *c)
{
    const struct weft_model *m = c->m;
    uint32_t room = 0, selected = c->vp->selected;
    if (!c->selected)
        return;
    add_joined(c, &room);
    uint32_t p = selected;
    for (int i = 0; i < CREATORS_MAX && p != WEFT_ROOT; i++)
        if ((p = m->promise[p].creator) == selected || !add(c, &room, p, false))
            break;
    uint32_t i = m->promise[selected].first_interaction;
    for (int n = 0; i != WEFT_NONE && n < OTHERS_MAX; i = m->interaction[i].next, n++)
        if (m->interaction[i].kind == WEFT_WAITS || m->interaction[i].kind == WEFT_READS)
            add(c, &room, m->interaction[i].other, false);
    const struct view_groups *g = &c->x->about;
    int resolvers = 0;
    for (uint32_t k = g->first[selected / 16];
         k < g->first[selected / 16 + 1] && resolvers < OTHERS_MAX; k++) {
        const struct weft_interaction *x = &m->interaction[g->item[k]];
        if (x->other == selected && (x->kind == WEFT_RESOLVES || x->kind == WEFT_RESOLVES_AGAIN))
            resolvers += add(c, &room, x->actor, false);
    }
    weft_sort(c->kin, c->kins, sizeof *c->kin, by_promise);
    uint32_t n = 0;
    for (i = 0; i < c->kins; i++)
        if (n == 0 || c->kin[n - 1].promise != c->kin[i].promise)
            c->kin[n++] = c->kin[i];
    c->kins = n;
}

const struct kin *canvas_kin(const struct canvas *c, uint32_t promise)
{
    uint32_t low = 0, high = c->kins;
    WEFT_SEEK(low, high, c->kin[middle].promise < promise);
    return low < c->kins && c->kin[low].promise == promise ? &c->kin[low] : NULL;
}

/* ---- Bands ---- */

static void draw_band(struct canvas *c, enum weft_ink ink, uint32_t at, int32_t x0, int32_t x1)
{
    int32_t height = canvas_row_height(c, at), y = canvas_row_y(c, at);
    int32_t up = height >= c->row_height_text ? height - 7 * PX : height / 2;
    int32_t down = height >= c->row_height_text ? 4 * PX : height / 2;
    if (up + down < 4 * PX)
        up = down = 2 * PX;
    canvas_rect(c, ink, x0, y - up, x1, y + down);
}

void canvas_draw_band(struct canvas *c, enum weft_ink ink, uint32_t promise)
{
    uint32_t at = canvas_row_of(c, promise);
    if (at == WEFT_NONE)
        return;
    int64_t start = weft_layout_line(c->l, &c->m->promise[promise]);
    int64_t end = weft_layout_end(c->l, c->m, promise);
    if (end < c->from_ns || start > c->to_ns)
        return;
    int32_t x0, x1;
    canvas_ends(c, start, end, BAND_MIN, &x0, &x1);
    draw_band(c, ink, at, x0, x1);
}

/* Bands that cannot be told apart are drawn once. Returns true if this band covers something that no earlier band at
 * the same height does. covered: a byte for each BAND_MIN of the axis. */
static bool cover(const struct canvas *c, char *covered, int32_t x0, int32_t x1)
{
    size_t first = (size_t)((x0 - c->x0) / BAND_MIN), last = (size_t)((x1 - c->x0 - 1) / BAND_MIN);
    if (!memchr(covered + first, 0, last - first + 1))
        return false;
    memset(covered + first, 1, last - first + 1);
    return true;
}

/* The first span of a row, from `span` on, that begins where the picture is not covered yet. */
static uint32_t uncovered(const struct canvas *c, const char *covered, uint32_t span, uint32_t end,
                          int32_t x)
{
    int32_t cells = (c->x1 - c->x0) / BAND_MIN, cell = (x - c->x0) / BAND_MIN;
    while (cell < cells && covered[cell])
        cell++;
    if (cell >= cells)
        return end;
    int64_t time = axis_time(&c->axis, c->x0 + cell * BAND_MIN);
    VIEW_GALLOP(span, end, c->l->start[middle] < time);
    return span;
}

static void mark_row(struct canvas *c, uint32_t at, const struct weft_search *search, bool few,
                     char *covered, uint32_t *drawn)
{
    uint32_t end = c->seen[at].end;
    if (!few)
        c->hits += weft_search_count_spans(search, c->seen[at].begin, end);
    for (uint32_t s = c->seen[at].begin; s < end && *drawn < HITS_MAX; s++) {
        if (!few)
            s = weft_search_next_span(search, s, end);
        if (s == end)
            return;
        int64_t until = weft_layout_span_end(c->l, c->m, s);
        if ((few && !weft_search_has(search, c->l->spans[s])) || until < c->from_ns)
            continue;
        c->hits += few;
        int32_t x0, x1;
        canvas_ends(c, c->l->start[s], until, BAND_MIN, &x0, &x1);
        if (cover(c, covered, x0, x1)) {
            draw_band(c, WEFT_INK_HIT, at, x0, x1);
            ++*drawn;
        } else if (!few) {
            s = uncovered(c, covered, s + 1, end, x0) - 1;
        }
    }
}

static void draw_hits(struct canvas *c)
{
    const struct weft_search *search = c->vp->search;
    size_t cells = (size_t)((c->x1 - c->x0) / BAND_MIN) + 1;
    char *covered = malloc(cells);
    int32_t y = INT32_MIN / 2;
    uint32_t drawn = 0;
    bool few = c->visible <= FEW_SPANS;
    if (!covered)
        c->list->failed = true;
    for (uint32_t at = 0; at < c->shown && !c->list->failed; at++) {
        if (c->shown_y[at] - y >= 2 * PX) {
            memset(covered, 0, cells);
            y = c->shown_y[at];
        }
        mark_row(c, at, search, few, covered, &drawn);
    }
    free(covered);
}

void canvas_draw_marks(struct canvas *c)
{
    const struct weft_viewport *vp = c->vp;
    if (vp->search && weft_search_hits(vp->search) && canvas_shows(c, WEFT_KIND_FOUND))
        draw_hits(c); /* drawn below the selection's band; the selection may be a hit, too */
    canvas_saw(c, WEFT_KIND_FOUND, c->hits);
    bool chain = canvas_shows(c, WEFT_KIND_SELECTED);
    for (uint32_t i = 0; i < c->kins && chain; i++)
        if (!c->kin[i].joined)
            canvas_draw_band(c, WEFT_INK_CHAIN, c->kin[i].promise);
    canvas_draw_affected(c);
    for (uint32_t i = 0; i < c->kins && chain; i++)
        if (c->kin[i].joined)
            canvas_draw_band(c, WEFT_INK_SELECTED, c->kin[i].promise);
    if (c->selected && chain)
        canvas_saw_more(c, WEFT_KIND_SELECTED);
    if (vp->hovered != WEFT_ROOT && vp->hovered < c->m->promises && vp->hovered != vp->selected)
        canvas_draw_band(c, WEFT_INK_HOVER, vp->hovered);
}
