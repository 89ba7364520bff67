/* SPDX-License-Identifier: ISC */
/* Divides the picture and puts its parts together; and the questions about promises that pictures and
 * their readers ask. */
#include "view/view.h"

#include <stdlib.h>

#include "view/canvas.h"

enum {
    DEFAULT_WIDTH = 1600,
    TITLE_HEIGHT = 26 * PX,
    RULER_HEIGHT = 18 * PX,
    REGION_NAMES = 8 * PX, /* above the rows, where it says "sleeping" */
    ROWS_MIN_HEIGHT = 48 * PX,
    /* A picture without a given height has room for that many rows; more are squeezed. */
    ROWS_MAX_HEIGHT = 140 * ROW_HEIGHT,
    FOCUS_ROWS = 12, /* above and below a selection that are not squeezed */
};

static bool viewport_is_sound(const struct weft_viewport *vp)
{
    bool height_ok = vp->height_px == 0 ||
                     (vp->height_px >= WEFT_PICTURE_MIN_PX && vp->height_px <= WEFT_PICTURE_MAX_PX);
    bool width_ok = vp->width_px == 0 ||
                    (vp->width_px >= WEFT_PICTURE_MIN_PX && vp->width_px <= WEFT_PICTURE_MAX_PX);
    bool whole = vp->from_ns == 0 && vp->to_ns == 0;
    bool times_ok = vp->from_ns >= -WEFT_TIME_MAX && vp->to_ns <= WEFT_TIME_MAX;
    return height_ok && width_ok && times_ok && (whole || vp->from_ns < vp->to_ns);
}

/* Whether a line in the row, from that span on, is wide enough for a label; or is selected. */
static bool row_is_full(const struct canvas *c, uint32_t row, uint32_t span)
{
    for (; span < c->l->first[row + 1]; span++) {
        uint32_t promise = c->l->spans[span];
        const struct weft_promise *p = &c->m->promise[promise];
        int64_t start = weft_layout_start(c->l, p);
        if (start > c->to_ns)
            return false;
        if (promise == c->vp->selected ||
            (p->end_ns >= c->from_ns && canvas_x(c, p->end_ns) - canvas_x(c, start) >= LABEL_LINE))
            return true;
    }
    return false;
}

/* Which rows have something in [from_ns, to_ns]. The others take no room: a row is only a place, and
 * one that is empty here says nothing. */
static bool find_rows(struct canvas *c)
{
    const struct weft_layout *l = c->l;
    size_t room = (size_t)l->rows + 1;
    c->shown_row = malloc(room * sizeof *c->shown_row);
    c->shown_y = malloc(room * sizeof *c->shown_y);
    c->shown_at = malloc(room * sizeof *c->shown_at);
    c->shown_full = malloc(room * sizeof *c->shown_full);
    if (!c->shown_row || !c->shown_y || !c->shown_at || !c->shown_full)
        return false;
    for (uint32_t row = 0; row < l->rows; row++) {
        uint32_t s = canvas_first_span(c, row);
        bool visible =
            s < l->first[row + 1] && weft_layout_start(l, &c->m->promise[l->spans[s]]) <= c->to_ns;
        c->shown_at[row] = visible ? c->shown : WEFT_NONE;
        if (!visible)
            continue;
        c->shown_full[c->shown] = row_is_full(c, row, s);
        c->shown_row[c->shown++] = row;
    }
    return true;
}

static int32_t natural_height(const struct canvas *c, uint32_t at)
{
    return c->shown_full[at] ? ROW_HEIGHT : ROW_HEIGHT_SMALL;
}

static int64_t natural_heights(const struct canvas *c, uint32_t from, uint32_t to)
{
    int64_t sum = 0;
    for (uint32_t at = from; at < to; at++)
        sum += natural_height(c, at);
    return sum;
}

/* Divides height among the shown rows. Where they must be squeezed, the ones near the selection keep
 * their height. */
static void place_rows(struct canvas *c, int32_t height)
{
    uint32_t n = c->shown, low = 0, high = 0; /* rows from low up to high are not squeezed */
    int64_t wanted = natural_heights(c, 0, n);
    uint32_t focus = WEFT_NONE;
    if (c->vp->selected != WEFT_NONE && c->vp->selected != WEFT_ROOT)
        focus = c->shown_at[c->l->row[c->vp->selected]];
    if (wanted > height && focus != WEFT_NONE) {
        uint32_t around = (uint32_t)(height / ROW_HEIGHT / 3);
        around = around > FOCUS_ROWS ? FOCUS_ROWS : around;
        low = focus > around ? focus - around : 0;
        high = focus + around + 1 < n ? focus + around + 1 : n;
    }
    int64_t kept = natural_heights(c, low, high), squeezed = wanted - kept;
    int64_t room = height - kept < squeezed ? height - kept : squeezed;
    int64_t full = 0, thin = 0; /* heights so far */
    for (uint32_t at = 0; at <= n; at++) {
        c->shown_y[at] =
            c->rows_y0 + REGION_NAMES + (int32_t)(full + (squeezed ? room * thin / squeezed : 0));
        if (at == n)
            break;
        *(at >= low && at < high ? &full : &thin) += natural_height(c, at);
    }
}

/* The promises that are joined to the selected one by becoming. */
static bool find_chain(struct canvas *c)
{
    if (c->vp->selected == WEFT_NONE || c->vp->selected == WEFT_ROOT)
        return true;
    uint32_t count, *chain = weft_view_chain(c->m, c->vp->selected, &count);
    c->in_chain = calloc(c->m->promises, sizeof *c->in_chain);
    if (chain && c->in_chain)
        for (uint32_t i = 0; i < count; i++)
            c->in_chain[chain[i]] = true;
    free(chain);
    return chain && c->in_chain;
}

static void draw(struct canvas *c)
{
    const struct weft_viewport *vp = c->vp;
    struct weft_drawlist *list = c->list;
    int32_t counters = vp->no_counters ? 0 : canvas_counters_height(c);
    int32_t legend = vp->no_legend ? 0 : canvas_legend_height(c);
    if (vp->height_px) { /* the promises come first */
        int32_t room = vp->height_px * PX - TITLE_HEIGHT - RULER_HEIGHT - MARGIN / 2;
        legend = legend <= room - ROWS_MIN_HEIGHT ? legend : 0;
        counters = counters <= room - legend - ROWS_MIN_HEIGHT ? counters : 0;
    }
    int32_t others = TITLE_HEIGHT + RULER_HEIGHT + counters + legend + MARGIN / 2;
    int64_t wanted = natural_heights(c, 0, c->shown) + REGION_NAMES + MARGIN;
    int32_t rows;
    if (vp->height_px)
        rows = vp->height_px * PX - others;
    else
        rows = (int32_t)(wanted < ROWS_MAX_HEIGHT ? wanted : ROWS_MAX_HEIGHT);
    if (rows < ROWS_MIN_HEIGHT)
        rows = ROWS_MIN_HEIGHT;
    list->height = vp->height_px ? vp->height_px * PX : (rows + others) / PX * PX;
    c->ruler_y0 = TITLE_HEIGHT;
    c->rows_y0 = TITLE_HEIGHT + RULER_HEIGHT;
    c->rows_y1 = c->rows_y0 + rows;
    place_rows(c, rows - REGION_NAMES - MARGIN);

    canvas_draw_title(c); /* first, for readers of the SVG take the first text as its title */
    canvas_draw_regions(c);
    canvas_draw_ruler(c);
    canvas_draw_marks(c);
    canvas_draw_edges(c);
    canvas_draw_promises(c);
    canvas_draw_arrows(c);
    canvas_draw_labels(c);
    if (counters)
        canvas_draw_counters(c, c->rows_y1);
    if (legend)
        canvas_draw_legend(c, list->height - legend);
}

int weft_view_draw(struct weft_drawlist *list, struct weft_geometry *g, const struct weft_scene *s,
                   const struct weft_viewport *vp)
{
    const struct weft_model *m = s->m;
    const struct weft_layout *l = s->l;
    if (!viewport_is_sound(vp))
        return WEFT_E_INVALID;
    (void)g;
    bool whole = vp->from_ns == 0 && vp->to_ns == 0;
    list->draws = list->point_count = list->text_bytes = 0;
    list->failed = false;
    list->width = (vp->width_px ? vp->width_px : DEFAULT_WIDTH) * PX;
    struct canvas c = {
        .list = list,
        .m = m,
        .l = l,
        .vp = vp,
        .from_ns = vp->from_ns,
        .to_ns = whole ? m->end_ns + (m->end_ns == 0) : vp->to_ns,
        .x0 = MARGIN,
        .x1 = list->width - MARGIN,
    };
    int rc = WEFT_E_NOMEM;
    if (find_rows(&c) && find_chain(&c)) {
        draw(&c);
        rc = list->failed ? WEFT_E_NOMEM : 0;
    }
    free(c.shown_row);
    free(c.shown_y);
    free(c.shown_at);
    free(c.shown_full);
    free(c.in_chain);
    return rc;
}

uint32_t *weft_view_chain(const struct weft_model *m, uint32_t promise, uint32_t *count)
{
    uint32_t final = weft_model_final(m, promise);
    uint32_t *chain = malloc(m->promises * sizeof *chain);
    /* Whether a promise becomes the final one is found out once for each; a chain may be long. */
    uint8_t *joined = calloc(m->promises, 1); /* 1: no, 2: yes */
    *count = 0;
    if (!chain || !joined) {
        free(chain);
        free(joined);
        return NULL;
    }
    joined[final] = 2;
    for (uint32_t i = 1; i < m->promises; i++) {
        uint32_t p = i;
        while (!joined[p] && m->promise[p].becomes != WEFT_NONE)
            p = m->promise[p].becomes;
        uint8_t answer = joined[p] ? joined[p] : 1;
        for (p = i; !joined[p]; p = m->promise[p].becomes) {
            joined[p] = answer;
            if (m->promise[p].becomes == WEFT_NONE)
                break;
        }
        if (joined[i] == 2)
            chain[(*count)++] = i;
    }
    free(joined);
    return chain;
}

void weft_geometry_fini(struct weft_geometry *g)
{
    free(g->shown_row);
    free(g->shown_y);
    *g = (struct weft_geometry){0};
}

int64_t weft_geometry_time(const struct weft_geometry *g, int32_t x)
{
    int64_t width = g->x1 - g->x0;
    return g->from_ns + (int64_t)((double)(g->to_ns - g->from_ns) * (double)(x - g->x0) /
                                  (double)(width ? width : 1));
}

int32_t weft_geometry_x(const struct weft_geometry *g, int64_t time_ns)
{
    (void)time_ns;
    return g->x0;
}

struct weft_pick weft_view_pick(const struct weft_scene *s, const struct weft_viewport *vp,
                                const struct weft_geometry *g, int32_t x, int32_t y)
{
    (void)s;
    (void)vp;
    (void)y;
    return (struct weft_pick){
        .time_ns = weft_geometry_time(g, x), .row = WEFT_NONE, .promise = WEFT_NONE};
}
