/* SPDX-License-Identifier: ISC */
/* Divides the picture and puts its parts together. */
#include "view/view.h"

#include <string.h>

#include "base/array.h"
#include "view/canvas.h"
#include "view/density.h"

enum {
    DEFAULT_WIDTH = 1600,
    TITLE_HEIGHT = 26 * PX,
    RULER_HEIGHT = 18 * PX,
    REGION_NAMES = 8 * PX, /* above the rows, where it says "sleeping" */
    ROWS_MIN_HEIGHT = 48 * PX,
    COUNTERS_SHARE = 3, /* counters get at most 1/3 of the height */
    COUNTERS_LEAST = 6, /* however many rows there are, low strips get up to 1/6 */
    STRIPS_SHARE = 4,   /* and strips of samples at most 1/4 */
    /* A picture without a given height has room for this many rows; if there are more, they are squeezed. */
    ROWS_MAX = 140,
    TOP_MAX = 16 * WEFT_PICTURE_MAX_PX,
};

static bool viewport_is_sound(const struct weft_viewport *vp)
{
    bool height_ok = vp->height_px == 0 ||
                     (vp->height_px >= WEFT_PICTURE_MIN_PX && vp->height_px <= WEFT_PICTURE_MAX_PX);
    bool width_ok = vp->width_px == 0 ||
                    (vp->width_px >= WEFT_PICTURE_MIN_PX && vp->width_px <= WEFT_PICTURE_MAX_PX);
    bool whole = vp->from_ns == 0 && vp->to_ns == 0;
    bool times_ok = vp->from_ns >= -WEFT_TIME_MAX && vp->to_ns <= WEFT_TIME_MAX;
    bool text_ok = vp->text_percent == 0 || (vp->text_percent >= 50 && vp->text_percent <= 300);
    bool rows_ok = vp->spread <= WEFT_SPREAD_MAX && vp->top_px >= -TOP_MAX && vp->top_px <= TOP_MAX;
    return height_ok && width_ok && times_ok && text_ok && rows_ok &&
           (whole || vp->from_ns < vp->to_ns);
}

/* How much height strips of one kind get if the rows want `wanted`: what the rows leave, but at most a fixed share of
 * the whole, and at least one strip. */
static int32_t share(int32_t room, int64_t rows, int32_t least, int32_t part)
{
    int64_t left = room - rows, most = room / part;
    left = left > least ? left : least;
    return (int32_t)(left < most ? left : most);
}

/* How many strips of samples fit. */
static uint32_t fit_strips(const struct canvas *c, int32_t room, int64_t rows)
{
    uint32_t strips = canvas_strips(c);
    int32_t height = canvas_strip_height(c),
            most = share(room, rows, height, STRIPS_SHARE) / height;
    uint32_t fit = most > 1 ? (uint32_t)most : 1;
    if (height > room - ROWS_MIN_HEIGHT)
        return 0;
    return strips < fit ? strips : fit;
}

/* How much height counters get at least if all strips, of which there are that many, are low. */
static int32_t least_counters(const struct canvas *c, int32_t room, int32_t strips)
{
    const int32_t one = canvas_scaled(c, COUNTER_STRIP_MIN), most = room / COUNTERS_LEAST;
    const int32_t all = strips * one < most ? strips * one : most;
    return all > one ? all : one;
}

/* How much of a given height is left for the rows. */
static int32_t divide_height(struct canvas *c, int32_t room, uint32_t *strips, int32_t *counters,
                             int32_t *legend)
{
    int64_t rows = canvas_readable_height(c); /* the promises come first */
    *legend = *legend <= room - ROWS_MIN_HEIGHT ? *legend : 0;
    room -= *legend;
    *strips = fit_strips(c, room, rows);
    room -= (int32_t)*strips * canvas_strip_height(c);
    const int32_t strips_of_counters = *counters ? *counters / c->counter_strip : 0;
    int32_t most = share(room, rows, least_counters(c, room, strips_of_counters), COUNTERS_SHARE);
    if (*counters > most)
        *counters = canvas_counters_fit(c, most);
    *counters = *counters <= room - ROWS_MIN_HEIGHT ? *counters : 0;
    return room - *counters;
}

/* Divides the height: rows, strips, counters, legend. Returns that of the rows. */
static int32_t divide(struct canvas *c, uint32_t *strips, int32_t *counters, int32_t *legend)
{
    const struct weft_viewport *vp = c->vp;
    int32_t title = canvas_scaled(c, TITLE_HEIGHT), ruler = canvas_scaled(c, RULER_HEIGHT), rows;
    int32_t older = canvas_older_height(c);
    *counters = vp->no_counters ? 0 : canvas_counters_fit(c, TOP_MAX);
    *legend = vp->no_legend ? 0 : canvas_legend_height(c);
    *strips = canvas_strips(c);
    if (vp->height_px) {
        rows = divide_height(c, vp->height_px * PX - title - ruler - older - MARGIN / 2, strips,
                             counters, legend);
    } else {
        int64_t wanted = canvas_natural_height(c);
        rows = wanted < ROWS_MAX * c->row_height ? (int32_t)wanted : ROWS_MAX * c->row_height;
    }
    rows = rows < ROWS_MIN_HEIGHT ? ROWS_MIN_HEIGHT : rows;
    int32_t others = title + ruler + older + (int32_t)*strips * canvas_strip_height(c) + *counters +
                     *legend + MARGIN / 2;
    c->height = vp->height_px ? vp->height_px * PX : (rows + others) / PX * PX;
    c->ruler_y0 = c->top + title;
    c->rows_y0 = c->ruler_y0 + ruler;
    c->rows_y1 = c->rows_y0 + rows;
    return rows;
}

static void describe(const struct canvas *c, uint32_t strips, int32_t counters)
{
    struct weft_geometry *g = c->g;
    g->x0 = c->x0;
    g->x1 = c->x1;
    g->from_ns = c->from_ns;
    g->to_ns = c->to_ns;
    g->folds = c->vp->folds;
    g->y0 = c->top;
    g->ruler_y0 = c->ruler_y0;
    g->rows_y0 = c->rows_y0;
    g->rows_y1 = c->rows_y1;
    g->strips = strips;
    g->older_y1 = c->rows_y1 + canvas_older_height(c);
    g->strips_y1 = g->older_y1 + (int32_t)strips * canvas_strip_height(c);
    g->counters_y1 = g->strips_y1 + counters;
    g->y1 = c->top + c->height;
    g->shown = c->shown;
}

static void draw(struct canvas *c)
{
    int32_t counters, legend;
    uint32_t strips;
    int32_t rows = divide(c, &strips, &counters, &legend);
    if (c->top + c->height > c->list->height)
        c->list->height = c->top + c->height;
    canvas_place_rows(c, rows - REGION_NAMES - MARGIN);
    canvas_glide_rows(c);
    canvas_find_lanes(c);
    describe(c, strips, counters);
    canvas_find_shapes(c);
    canvas_find_flags(c);

    canvas_draw_title(c); /* first, because SVG viewers take the first text as the title */
    const uint32_t regions = c->list->draws;
    canvas_draw_regions(c);
    canvas_draw_folds(c);
    const uint32_t regions_end = c->list->draws;
    canvas_draw_range(c);
    canvas_draw_ruler(c);
    canvas_draw_whole(c);
    canvas_draw_marks(c);
    canvas_draw_edges(c);
    canvas_draw_promises(c);
    canvas_draw_joins(c);
    canvas_draw_arrows(c);
    uint32_t labels = c->list->draws;
    canvas_draw_labels(c);
    const uint32_t labels_end = c->list->draws;
    canvas_draw_heads(c, labels);
    canvas_draw_path(c, labels);
    canvas_draw_flags(c);
    if (c->g->older_y1 > c->rows_y1)
        canvas_draw_older(c, c->rows_y1);
    if (strips)
        canvas_draw_strips(c, c->g->older_y1, strips);
    for (uint32_t i = 0; !strips && i < canvas_strips(c); i++)
        c->left_out.threads += c->d->strip[i].threads;
    if (c->vp->marks > WEFT_MARKS_MAX)
        c->left_out.marks = c->vp->marks - WEFT_MARKS_MAX;
    if (!c->vp->no_counters)
        canvas_draw_counters(c, c->g->strips_y1, counters);
    if (legend)
        canvas_draw_legend(c, c->top + c->height - legend);
    canvas_drop_covered_regions(c, regions, regions_end, labels, labels_end);
}

static void canvas_init(struct canvas *c)
{
    const struct weft_viewport *vp = c->vp;
    bool whole = vp->from_ns == 0 && vp->to_ns == 0;
    int32_t width = (vp->width_px ? vp->width_px : DEFAULT_WIDTH) * PX;
    if (vp->top_px == 0 && !vp->added)
        weft_drawlist_clear(c->list, 0, 0);
    c->list->width = width > c->list->width ? width : c->list->width;
    c->top = vp->top_px * PX;
    c->from_ns = vp->from_ns;
    c->to_ns = whole ? c->m->end_ns + (c->m->end_ns <= 0 ? 1 - c->m->end_ns : 0) : vp->to_ns;
    c->x0 = MARGIN;
    c->x1 = width - MARGIN;
    canvas_set_text(c, vp->text_percent);
    c->row_height = canvas_scaled(c, 22 * PX);
    c->row_height_text = canvas_scaled(c, 12 * PX);
    c->selected = vp->selected != WEFT_ROOT && vp->selected < c->m->promises;
    axis_init(&c->axis, vp->folds, c->from_ns, c->to_ns, c->x0, c->x1);
}

/* Lines of the legend. */
struct lines {
    int32_t kinds, notes;
};

/* Draws one picture. *lines: how many lines the legend has room for; on return, how many it needs. */
static int draw_once(struct weft_drawlist *list, struct weft_geometry *g,
                     const struct weft_scene *s, const struct weft_viewport *vp,
                     struct lines *lines)
{
    struct canvas c = {.list = list, .g = g, .m = s->m, .l = s->l, .x = s->x, .d = s->d, .vp = vp};
    c.note_lines = lines->notes;
    c.legend_lines = lines->kinds;
    g->arrows = g->flags = 0;
    memset(g->kind, 0, sizeof g->kind);
    canvas_init(&c);
    int rc = WEFT_E_NOMEM;
    canvas_find_kin(&c);
    if (!list->failed && canvas_find_rows(&c)) {
        draw(&c);
        rc = list->failed ? WEFT_E_NOMEM : 0;
    }
    if (rc == 0)
        *lines = (struct lines){canvas_name_kinds(&c, 0, false), canvas_note_lines(&c)};
    g->left_out = c.left_out;
    canvas_free_mix(&c);
    weft_free_all(c.seen, c.shown_at, c.shape, c.shape_first, c.flag, c.kin);
    return rc;
}

int weft_view_draw(struct weft_drawlist *list, struct weft_geometry *g, const struct weft_scene *s,
                   const struct weft_viewport *vp)
{
    struct weft_geometry own = {0}, *used = g ? g : &own;
    if (!viewport_is_sound(vp))
        return WEFT_E_INVALID;
    const struct weft_drawlist before = *list;
    struct lines room = {1, 1}, lines = room;
    int rc = draw_once(list, used, s, vp, &lines);
    /* The legend is complete only once it has room for all. */
    while (rc == 0 && !vp->no_legend && (lines.kinds > room.kinds || lines.notes > room.notes)) {
        list->draws = before.draws;
        list->point_count = before.point_count;
        list->text_bytes = before.text_bytes;
        list->shade_count = before.shade_count;
        list->width = before.width;
        list->height = before.height;
        room.kinds = lines.kinds > room.kinds ? lines.kinds : room.kinds;
        room.notes = lines.notes > room.notes ? lines.notes : room.notes;
        lines = room;
        rc = draw_once(list, used, s, vp, &lines);
    }
    weft_geometry_fini(&own);
    if (rc < 0 && g)
        g->shown = g->lanes = 0;
    return rc;
}
