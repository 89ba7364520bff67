/* SPDX-License-Identifier: ISC */
/* Promises that are older than a trace: in a ring that has wrapped, their creation was overwritten, or is known only
 * because they were pending then. A line from the trace's beginning to their end would say that something was going on;
 * so their lines begin with the first event about them. Those that have been pending since before are counted in one row
 * of their own, and those without any event have no other line until they are asked for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "view/canvas.h"
#include "view/older.h"

enum { OLDER_HEIGHT = 18 * PX, SHADE_MIN = 30, SHADE_MAX = 150, DASH = 4 * PX, DASH_GAP = 3 * PX };

/* ---- Finding ---- */

struct finder {
    struct weft_layout *l;
    const struct weft_model *m;
    uint32_t *at; /* of each promise: its place in l->older, or WEFT_NONE */
};

/* Returns true if its beginning is not among what is there. */
static bool is_older(const struct weft_model *m, const struct weft_promise *p)
{
    return !p->created || (p->promoted && p->start_ns < weft_layout_whole(m));
}

static void mention(const struct finder *f, uint32_t promise, int64_t time_ns)
{
    uint32_t at = promise < f->m->promises ? f->at[promise] : WEFT_NONE;
    if (at == WEFT_NONE)
        return;
    struct weft_older *older = &f->l->older[at];
    bool kept = f->m->promise[promise].promoted && time_ns < 0; /* from what was overwritten */
    if (!kept && time_ns < older->line_ns)
        older->line_ns = time_ns;
}

static void mention_all(const struct finder *f)
{
    const struct weft_model *m = f->m;
    for (uint32_t i = 0; i < m->interactions; i++) {
        mention(f, m->interaction[i].actor, m->interaction[i].time_ns);
        mention(f, m->interaction[i].other, m->interaction[i].time_ns);
    }
    for (uint32_t i = 0; i < m->labels; i++)
        mention(f, m->label[i].promise, m->label[i].time_ns);
    for (uint32_t i = 1; i < m->promises; i++) {
        const struct weft_promise *p = &m->promise[i];
        if (p->created && !p->promoted)
            mention(f, p->creator, p->start_ns);
        if (p->becomes != WEFT_NONE)
            mention(f, p->becomes, p->end_ns);
        if (p->outcome != WEFT_PENDING)
            mention(f, i, p->end_ns);
        for (uint32_t r = f->at[i] == WEFT_NONE ? WEFT_NONE : p->first_run; r != WEFT_NONE;
             r = m->run[r].next)
            mention(f, i, m->run[r].start_ns);
    }
}

static int by_time(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return weft_order(*x, *y);
}

/* Ends the ones that are counted, and finds those about which there is no event. */
static void settle(struct finder *f)
{
    struct weft_layout *l = f->l;
    for (uint32_t i = 0; i < l->olders; i++) {
        struct weft_older *older = &l->older[i];
        const struct weft_promise *p = &f->m->promise[older->promise];
        older->quiet = older->line_ns == INT64_MAX;
        if (older->quiet || older->line_ns > p->end_ns)
            older->line_ns = older->quiet || p->start_ns > p->end_ns ? p->start_ns : p->end_ns;
        l->quiet += older->quiet;
        if (p->promoted || weft_layout_whole(f->m) == 0)
            l->gone[l->gones++] = p->outcome == WEFT_PENDING ? INT64_MAX : p->end_ns;
    }
    weft_sort(l->gone, l->gones, sizeof *l->gone, by_time);
}

int view_older_find(struct weft_layout *l, const struct weft_model *m)
{
    struct finder f = {.l = l, .m = m};
    uint32_t count = 0;
    for (uint32_t i = 1; m->losses.overwritten && i < m->promises; i++)
        count += is_older(m, &m->promise[i]);
    if (count == 0)
        return 0;
    l->older = malloc(count * sizeof *l->older);
    l->gone = malloc(count * sizeof *l->gone);
    f.at = malloc(m->promises * sizeof *f.at);
    int rc = l->older && l->gone && f.at ? 0 : WEFT_E_NOMEM;
    if (rc == 0) {
        memset(f.at, 0xff, m->promises * sizeof *f.at);
        for (uint32_t i = 1; i < m->promises; i++) {
            if (!is_older(m, &m->promise[i]))
                continue;
            f.at[i] = l->olders;
            l->older[l->olders++] = (struct weft_older){.promise = i, .line_ns = INT64_MAX};
        }
        mention_all(&f);
        settle(&f);
    }
    free(f.at);
    return rc;
}

const struct weft_older *weft_layout_older(const struct weft_layout *l, uint32_t promise)
{
    uint32_t low = 0, high = l->olders;
    WEFT_SEEK(low, high, l->older[middle].promise < promise);
    return low < l->olders && l->older[low].promise == promise ? &l->older[low] : NULL;
}

uint32_t weft_layout_pending_since(const struct weft_layout *l, int64_t time_ns)
{
    uint32_t low = 0, high = l->gones;
    WEFT_SEEK(low, high, l->gone[middle] < time_ns);
    return l->gones - low;
}

/* ---- Drawing ---- */

int32_t canvas_older_height(const struct canvas *c)
{
    return c->l->gones ? canvas_scaled(c, OLDER_HEIGHT) : 0;
}

void canvas_draw_older(struct canvas *c, int32_t y0)
{
    int32_t y1 = y0 + canvas_older_height(c);
    uint32_t count = (uint32_t)((c->x1 - c->x0 + CELL - 1) / CELL);
    uint8_t *shade = malloc(count ? count : 1);
    if (!shade) {
        c->list->failed = true;
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        int64_t time = axis_time(&c->axis, c->x0 + (int32_t)i * CELL);
        uint64_t left = time <= c->m->end_ns ? weft_layout_pending_since(c->l, time) : 0;
        shade[i] = (uint8_t)(left ? SHADE_MIN + left * (SHADE_MAX - SHADE_MIN) / c->l->gones : 0);
    }
    canvas_rect(c, WEFT_INK_PANEL, 0, y0, c->x1 + MARGIN, y1);
    canvas_cells(c, WEFT_INK_FOLD, y0 + 2 * PX, y1 - 2 * PX, shade, 0, count, 8);
    free(shade);
    char text[96];
    int n = snprintf(text, sizeof text, "pending since before the trace: %s",
                     weft_count(c->l->gones).text);
    if (c->l->quiet)
        n +=
            snprintf(text + n, sizeof text - (size_t)n,
                     c->vp->older ? ", all shown" : ", %s not shown", weft_count(c->l->quiet).text);
    canvas_text_apart(c, WEFT_INK_TEXT, c->font_small, c->x0 + 3 * PX,
                      y0 + canvas_scaled(c, 13 * PX), c->x1 - c->x0 - 6 * PX, text, (size_t)n);
}

/* Where what is complete begins: a dashed line, and on the ruler what it means. */
void canvas_draw_whole(struct canvas *c)
{
    static const char text[] = "complete from here";
    const int64_t whole = weft_layout_whole(c->m);
    if (!c->m->losses.overwritten || whole < c->from_ns || whole > c->to_ns)
        return;
    int32_t x = canvas_x(c, whole), pad = 4 * PX, top = c->rows_y0 - canvas_scaled(c, 15 * PX);
    int32_t width = weft_text_width(text, sizeof text - 1, c->font_small, true);
    for (int32_t y = c->rows_y0; y < c->rows_y1; y += DASH + DASH_GAP)
        canvas_line(c, WEFT_INK_REGION_TEXT, 3 * PX / 2, x, y, x,
                    y + DASH < c->rows_y1 ? y + DASH : c->rows_y1);
    int32_t x0 = x + width + 2 * pad <= c->x1 ? x : x - width - 2 * pad;
    if (x0 < c->x0)
        return;
    canvas_rect(c, WEFT_INK_REGION_TEXT, x0, top, x0 + width + 2 * pad, c->rows_y0);
    canvas_text(c, WEFT_INK_GROUND, c->font_small, true, x0 + pad,
                c->rows_y0 - canvas_scaled(c, 4 * PX), width, text, sizeof text - 1);
}
