/* SPDX-License-Identifier: ISC */
/* Chooses which rows are shown, how high they are, how they are joined into lanes, and which lines are drawn as shapes. */
#include "base/array.h"
#include "base/order.h"
#include "view/canvas.h"

enum {
    REGION_NAMES = 8 * PX, /* above the rows, where it says "sleeping" */
    FOCUS_ROWS = 12,       /* rows above and below a selection that are not squeezed */
    LANE_MIN = 3 * PX,     /* rows thinner than that share a lane */
    FULL_MAX = 20000,      /* above this many rows, few can be seen individually */
    FEW_SPANS = 300,       /* up to this many in a block are folded one by one */
    SHAPES_MAX = 8000,     /* as many as a painter can draw in time */
    BAND_PERCENT = 12,     /* of the height, for rows that are pressed together at an edge */
};

/* ---- Finding ---- */

/* Returns true if one of these lines is wide enough for a label. */
static bool has_label(const struct canvas *c, uint32_t begin, uint32_t end)
{
    int64_t length = axis_length(&c->axis, LABEL_LINE - 1);
    for (uint32_t s = begin; (s = view_long_span(c->x, c->l, s, end, length)) < end; s++) {
        int64_t until = weft_layout_span_end(c->l, c->m, s);
        if (until >= c->from_ns &&
            axis_seen(&c->axis, canvas_x(c, c->l->start[s]), canvas_x(c, until)) >= LABEL_LINE)
            return true;
    }
    return false;
}

/* Returns true if one of them is visible: some may have ended already, although an earlier one still goes on. */
static bool is_seen(const struct canvas *c, uint32_t begin, uint32_t end)
{
    for (uint32_t s = begin; s < end; s++)
        if (weft_layout_span_end(c->l, c->m, s) >= c->from_ns)
            return true;
    return false;
}

static bool make_room(struct canvas *c)
{
    struct weft_geometry *g = c->g;
    size_t room = (size_t)c->l->rows + 1;
    if (g->room < room) {
        weft_free_all(g->shown_row, g->shown_y, g->lane);
        g->room = 0;
        g->shown_row = malloc(room * sizeof *g->shown_row);
        g->shown_y = malloc(room * sizeof *g->shown_y);
        g->lane = malloc(room * sizeof *g->lane);
        if (g->shown_row && g->shown_y && g->lane)
            g->room = (uint32_t)room;
    }
    c->shown_row = g->shown_row;
    c->shown_y = g->shown_y;
    c->shown_at = malloc(room * sizeof *c->shown_at);
    c->seen = calloc(room, sizeof *c->seen);
    return g->room >= room && c->shown_at && c->seen;
}

static void mark_row(const struct canvas *c, uint8_t *wanted, uint32_t promise)
{
    uint32_t row = promise < c->m->promises ? c->l->row[promise] : WEFT_NONE;
    if (row != WEFT_NONE && row >= c->l->own_rows)
        wanted[row - c->l->own_rows] = 1;
}

/* Of the rows of promises without events: a byte for each that is shown; NULL: all are, or there is no memory. */
static uint8_t *find_wanted(struct canvas *c)
{
    const struct weft_viewport *vp = c->vp;
    uint32_t rows = c->l->rows - c->l->own_rows;
    uint8_t *wanted = rows && !vp->older ? calloc(rows, 1) : NULL;
    if (!wanted) {
        c->list->failed = c->list->failed || (rows && !vp->older);
        return NULL;
    }
    mark_row(c, wanted, vp->selected);
    for (uint32_t i = 0; i < vp->marks && i < WEFT_MARKS_MAX; i++)
        mark_row(c, wanted, vp->mark[i].promise);
    for (uint32_t i = 0; i < vp->path_steps; i++)
        mark_row(c, wanted, vp->path[i].promise);
    return wanted;
}

/* Which of the shown rows are those of which group. */
static void find_groups(struct canvas *c)
{
    const struct weft_groups *g = c->vp->groups;
    uint32_t at = 0;
    c->groups = g && g->count == c->l->groups ? g->count : 0;
    for (uint32_t i = 0; i < c->groups; i++) {
        c->group_at[i] = at;
        for (; at < c->shown && c->shown_row[at] < c->l->group_first[i + 1]; at++)
            c->seen[at].group = (uint8_t)i;
        c->left_out.hidden += g->group[i].is_hidden ? g->group[i].promises : 0;
    }
    c->group_at[c->groups] = at;
    for (; c->groups && at < c->shown; at++)
        c->seen[at].group = (uint8_t)c->groups; /* of none: promises without events */
}

static bool is_closed(const struct canvas *c, uint32_t at)
{
    const uint32_t group = c->seen[at].group;
    return group < c->groups && c->vp->groups->group[group].is_closed;
}

/* Which rows have something in [from_ns, to_ns]. The others take no space: an empty row carries no information. */
bool canvas_find_rows(struct canvas *c)
{
    const struct weft_layout *l = c->l;
    if (!make_room(c))
        return false;
    uint32_t from = view_bucket_at(c->x, c->from_ns), to = view_bucket_at(c->x, c->to_ns);
    c->buckets = to - from + 1;
    uint8_t *wanted = find_wanted(c);
    const struct weft_groups *g =
        c->vp->groups && c->vp->groups->count == l->groups ? c->vp->groups : NULL;
    for (uint32_t row = 0, group = 0; row < l->rows; row++) {
        for (; group < l->groups && l->group_first[group + 1] <= row; group++)
            ;
        if ((wanted && row >= l->own_rows && !wanted[row - l->own_rows]) ||
            (g && group < l->groups && g->group[group].is_hidden)) {
            c->shown_at[row] = WEFT_NONE;
            continue;
        }
        view_fetch_row(c->x, l, row + 16, from);
        if (c->buckets > 1)
            view_fetch_row(c->x, l, row + 16, to);
        uint32_t begin = view_span_reaching(c->x, l, row, from, c->from_ns), end;
        c->shown_at[row] = WEFT_NONE;
        if (begin == l->first[row + 1] || l->start[begin] > c->to_ns)
            continue;
        end = begin + 1; /* of many rows, few show more than one line */
        if (end < l->first[row + 1] && l->start[end] <= c->to_ns)
            end = view_span_after(c->x, l, row, to, c->to_ns);
        if (!is_seen(c, begin, end))
            continue;
        c->shown_at[row] = c->shown;
        c->seen[c->shown] = (struct seen){
            .begin = begin,
            .end = end,
            .through = end - begin == 1 && l->start[begin] <= c->from_ns &&
                       weft_layout_span_end(l, c->m, begin) > c->to_ns,
        };
        c->shown_row[c->shown++] = row;
        c->visible += end - begin;
    }
    free(wanted);
    find_groups(c);
    uint32_t selected = c->selected ? c->shown_at[l->row[c->vp->selected]] : WEFT_NONE;
    uint32_t focus = c->vp->focus_row < l->rows ? c->shown_at[c->vp->focus_row] : selected;
    for (uint32_t at = 0; at < c->shown; at++)
        if (c->shown <= FULL_MAX || (focus != WEFT_NONE && at + 200 > focus && at < focus + 200))
            c->seen[at].full = !is_closed(c, at) &&
                               (at == selected || has_label(c, c->seen[at].begin, c->seen[at].end));
    canvas_find_marked(c);
    return !c->list->failed;
}

/* ---- Placing ---- */

static int32_t natural_height(const struct canvas *c, uint32_t at)
{
    const int32_t own = c->seen[at].full ? c->row_height : ROW_HEIGHT_SMALL;
    const uint32_t group = c->seen[at].group;
    if (group >= c->groups)
        return own;
    const uint32_t first = c->group_at[group];
    if (is_closed(c, at)) { /* all rows of the group share the height of one */
        const int64_t rows = c->group_at[group + 1] - first, k = at - first;
        return (int32_t)(c->row_height * (k + 1) / rows - c->row_height * k / rows);
    }
    return at == first ? own + c->row_height : own; /* with the group's name above it */
}

static int64_t natural_heights(const struct canvas *c, uint32_t from, uint32_t to)
{
    int64_t sum = 0;
    for (uint32_t at = from; at < to; at++)
        sum += natural_height(c, at);
    return sum;
}

int64_t canvas_natural_height(const struct canvas *c)
{
    return natural_heights(c, 0, c->shown) + REGION_NAMES + MARGIN;
}

int64_t canvas_readable_height(const struct canvas *c)
{
    return natural_heights(c, 0, c->shown) * c->row_height_text / c->row_height + REGION_NAMES +
           MARGIN;
}

/* a * part / whole, where part <= whole, a < 2^24. */
static int64_t portion(int64_t a, int64_t part, int64_t whole)
{
    for (; whole >> 38; whole >>= 1)
        part >>= 1;
    return whole ? a * part / whole : 0;
}

/* The total height of the marked rows outside low … high. */
static int64_t marked_heights(const struct canvas *c, uint32_t low, uint32_t high)
{
    int64_t sum = 0;
    for (uint32_t at = 0; at < c->shown; at++)
        sum += c->seen[at].marked && (at < low || at >= high) ? natural_height(c, at) : 0;
    return sum;
}

/* Rows near the selection and rows with marks keep their height; the others are squeezed. */
static void place_around(struct canvas *c, int32_t height, uint32_t focus)
{
    uint32_t n = c->shown, low = 0, high = 0; /* rows from low up to high are not squeezed */
    int64_t wanted = natural_heights(c, 0, n);
    if (wanted > height && focus != WEFT_NONE) {
        uint32_t around = (uint32_t)(height / c->row_height / 3);
        around = around > FOCUS_ROWS ? FOCUS_ROWS : around;
        low = focus > around ? focus - around : 0;
        high = focus + around + 1 < n ? focus + around + 1 : n;
    }
    bool marks = wanted > height;
    int64_t kept = natural_heights(c, low, high) + (marks ? marked_heights(c, low, high) : 0);
    if (kept > height && focus != WEFT_NONE && marks) { /* the selected row and the marks */
        low = focus;
        high = focus + 1;
        kept = natural_heights(c, low, high) + marked_heights(c, low, high);
    }
    if (kept > height) { /* not even the selected row gets its full height */
        kept = 0;
        low = high = 0;
        marks = false;
    }
    int64_t squeezed = wanted - kept;
    int64_t room = height - kept < squeezed ? height - kept : squeezed;
    int64_t full = 0, thin = 0; /* heights so far */
    for (uint32_t at = 0; at <= n; at++) {
        c->shown_y[at] = (int32_t)(full + (squeezed ? portion(room, thin, squeezed) : 0));
        if (at == n)
            break;
        bool keeps = (at >= low && at < high) || (marks && c->seen[at].marked);
        *(keeps ? &full : &thin) += natural_height(c, at);
    }
}

#define ONE (INT64_C(1) << 32) /* a lens's scale of 1 */

/* Maps positions in a stack of all rows at their natural heights, from 0 to `all`, to the available height: those from
 * low to high linearly, by scale; those above to a band at the upper edge, those below to a band at the lower edge. */
struct lens {
    int64_t all, low, high; /* natural */
    int64_t scale;          /* in 2^-32 */
    int64_t upper, lower;   /* heights of the bands */
    int64_t focus, focus_y; /* a natural position, and where it lies */
    int64_t height;
};

/* a * scale / 2^32. */
static int64_t times(int64_t a, int64_t scale)
{
    bool negative = a < 0;
    uint64_t u = (uint64_t)(negative ? -a : a), s = (uint64_t)scale;
    int64_t product = (int64_t)((u >> 32) * s + ((u & 0xffffffff) * s >> 32));
    return negative ? -product : product;
}

static int64_t band(const struct lens *z, int64_t hidden, int64_t beside)
{
    int64_t height = z->height * BAND_PERCENT / 100;
    height = hidden < height ? hidden : height;
    return beside < height ? (beside > 0 ? beside : 0) : height;
}

static void lens_init(struct lens *z, int64_t spread, int64_t half_focus)
{
    int64_t fit = z->height * ONE / z->all;
    z->scale = (fit * (WEFT_SPREAD_MAX - spread) + spread * ONE) / WEFT_SPREAD_MAX;
    int64_t scaled = times(z->focus, z->scale), rest = times(z->all - z->focus, z->scale);
    /* Leaves no empty space at an edge while there are rows to show there. */
    int64_t half = times(half_focus, z->scale) + 3 * PX;
    if (z->focus_y < half)
        z->focus_y = half;
    if (z->focus_y > z->height - half)
        z->focus_y = z->height - half;
    if (z->focus_y > scaled)
        z->focus_y = scaled;
    if (z->focus_y < z->height - rest)
        z->focus_y = z->height - rest;
    half -= 3 * PX;
    z->upper = band(z, scaled - z->focus_y, z->focus_y - half);
    z->lower = band(z, rest - (z->height - z->focus_y), z->height - z->focus_y - half);
    z->low = z->focus - (z->focus_y - z->upper) * ONE / z->scale;
    z->high = z->focus + (z->height - z->lower - z->focus_y) * ONE / z->scale;
}

static int64_t lens_y(const struct lens *z, int64_t at)
{
    int64_t y;
    if (at < z->low)
        return portion(z->upper, at, z->low);
    if (at > z->high)
        return z->height - z->lower + portion(z->lower, at - z->high, z->all - z->high);
    y = z->focus_y + times(at - z->focus, z->scale);
    return y < z->upper ? z->upper : y > z->height - z->lower ? z->height - z->lower : y;
}

static void place_through_lens(struct canvas *c, int32_t height, uint32_t focus, int32_t y0)
{
    struct lens z = {.all = natural_heights(c, 0, c->shown), .height = height};
    if (focus == WEFT_NONE)
        focus = 0;
    int32_t own = natural_height(c, focus);
    z.focus = natural_heights(c, 0, focus) + own / 2;
    z.focus_y = (int64_t)c->vp->focus_px * PX + c->top - y0;
    lens_init(&z, c->vp->spread, own / 2);
    int64_t at = 0;
    for (uint32_t i = 0; i < c->shown; i++) {
        c->shown_y[i] = (int32_t)lens_y(&z, at);
        at += natural_height(c, i);
    }
    c->shown_y[c->shown] = height;
}

/* The shown row of a row of the layout, or the next shown row after it. */
static uint32_t shown_near(const struct canvas *c, uint32_t row)
{
    uint32_t low = 0, high = c->shown;
    WEFT_SEEK(low, high, c->shown_row[middle] < row);
    return low < c->shown ? low : c->shown ? c->shown - 1 : WEFT_NONE;
}

void canvas_place_rows(struct canvas *c, int32_t height)
{
    const struct weft_viewport *vp = c->vp;
    int32_t y0 = c->rows_y0 + REGION_NAMES;
    bool focused = vp->focus_row < c->l->rows;
    uint32_t focus = focused       ? shown_near(c, vp->focus_row)
                     : c->selected ? c->shown_at[c->l->row[vp->selected]]
                                   : WEFT_NONE;
    if (vp->spread && c->shown && natural_heights(c, 0, c->shown) > height)
        place_through_lens(c, height, focus, y0);
    else
        place_around(c, height, focused ? WEFT_NONE : focus);
    for (uint32_t at = 0; at <= c->shown; at++)
        c->shown_y[at] += y0;
}

/* ---- Lanes ---- */

static uint32_t block_at(const struct canvas *c, uint32_t at)
{
    return c->x->block_of[c->shown_row[at]];
}

/* Returns true if so many are visible in the block of a row that the index is used for them. */
static bool is_crowded(const struct canvas *c, uint32_t at)
{
    uint32_t block = block_at(c, at);
    uint64_t spans = 0;
    while (at > 0 && block_at(c, at - 1) == block)
        at--;
    for (; at < c->shown && block_at(c, at) == block && spans <= FEW_SPANS; at++)
        spans += c->seen[at].end - c->seen[at].begin;
    return spans > FEW_SPANS;
}

void canvas_find_lanes(struct canvas *c)
{
    struct weft_geometry *g = c->g;
    g->lanes = 0;
    for (uint32_t at = 0, last; at < c->shown; at = last) {
        g->lane[g->lanes++] = at;
        for (last = at + 1; last < c->shown; last++)
            if ((c->groups && c->seen[last].group != c->seen[at].group) ||
                (!is_closed(c, at) && c->shown_y[last] - c->shown_y[at] >= LANE_MIN))
                break;
        /* A crowded block is not divided, because the index knows nothing about its parts. */
        if (last - at > 1 && last < c->shown && block_at(c, last - 1) == block_at(c, last) &&
            is_crowded(c, last))
            while (last < c->shown && block_at(c, last) == block_at(c, last - 1))
                last++;
        if (last < c->shown && c->shown_y[c->shown] - c->shown_y[last] < PX)
            last = c->shown;
    }
    g->lane[g->lanes] = c->shown;
}

/* ---- Shapes ---- */

static void add_shape(struct canvas *c, uint32_t at, uint32_t span)
{
    int64_t end = weft_layout_span_end(c->l, c->m, span);
    struct shape s = {
        .at = at, .span = span, .x0 = canvas_x(c, c->l->start[span]), .x1 = canvas_x(c, end)};
    if (axis_seen(&c->axis, s.x0, s.x1) >= c->g->shape_width &&
        canvas_grow(c, &c->shape, c->shapes, &c->shapes_room, sizeof *c->shape))
        c->shape[c->shapes++] = s;
}

/* Keeps those that are at least so wide, of the lanes before `lanes`. */
static void keep_wider(struct canvas *c, uint32_t lanes)
{
    uint32_t kept = 0, i = 0;
    for (uint32_t lane = 0; lane < lanes; lane++) {
        const uint32_t end = lane + 1 < lanes ? c->shape_first[lane + 1] : c->shapes;
        c->shape_first[lane] = kept;
        for (; i < end; i++)
            if (axis_seen(&c->axis, c->shape[i].x0, c->shape[i].x1) >= c->g->shape_width)
                c->shape[kept++] = c->shape[i];
    }
    c->shapes = kept;
}

/* If there would be too many, only the wider ones: those found so far are sifted, and from there on only wider ones are
 * sought. */
void canvas_find_shapes(struct canvas *c)
{
    struct weft_geometry *g = c->g;
    c->shape_first = malloc(((size_t)g->lanes + 1) * sizeof *c->shape_first);
    if (!c->shape_first) {
        c->list->failed = true;
        return;
    }
    g->shape_width = SHAPE_WIDTH;
    int64_t length = axis_length(&c->axis, g->shape_width - 1);
    for (uint32_t lane = 0; lane < g->lanes; lane++) {
        c->shape_first[lane] = c->shapes;
        uint32_t at = g->lane[lane];
        if (g->lane[lane + 1] - at > 1)
            continue;
        uint32_t end = c->seen[at].end;
        for (uint32_t s = c->seen[at].begin;
             !c->list->failed && (s = view_long_span(c->x, c->l, s, end, length)) < end; s++) {
            add_shape(c, at, s);
            while (c->shapes > SHAPES_MAX) {
                g->shape_width *= 2;
                length = axis_length(&c->axis, g->shape_width - 1);
                keep_wider(c, lane + 1);
            }
        }
    }
    c->shape_first[g->lanes] = c->shapes;
}
