/* SPDX-License-Identifier: ISC */
#include "view/overview.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "view/canvas.h"
#include "view/density.h"

enum {
    LEVELS = 4,     /* of the bars, one row of cells for each */
    SHADE_MIN = 90, /* of a cell in which anything ran */
    MARKS_HEIGHT = 9 * PX,
    MARK_WIDTH = 3 * PX,
    FAILED_HEIGHT = 4 * PX,
    SAMPLES_HEIGHT = 4 * PX,
    TALL = 36 * PX, /* a strip at least this high has a lane for each thing */
    LINES_MAX = 3,  /* counters */
    VEIL = 165,     /* over what the view does not show */
    WINDOW_MIN = 6 * PX,
    COLUMNS_MAX = WEFT_PICTURE_MAX_PX * PX / CELL + 1,
};

/* ---- Making ---- */

#define HEIGHT_MAX (UINT64_C(1) << 50)

/* Widths are powers of two because this is asked for each event. */
static inline uint32_t cell_at(const struct weft_overview *o, int64_t time_ns)
{
    uint64_t at = time_ns > 0 ? (uint64_t)time_ns >> o->shift : 0;
    return at < o->cells ? (uint32_t)at : o->cells - 1;
}

static int64_t begin_of(const struct weft_overview *o, uint32_t cell)
{
    return (int64_t)cell << o->shift;
}

/* Adds a stretch of time to the cells it lies in. */
static void add_stretch(const struct weft_overview *o, uint64_t *sum, int64_t from_ns,
                        int64_t to_ns)
{
    from_ns = from_ns < 0 ? 0 : from_ns;
    if (to_ns <= from_ns)
        return;
    for (uint32_t cell = cell_at(o, from_ns), last = cell_at(o, to_ns); cell <= last; cell++) {
        int64_t end = cell == last ? to_ns : begin_of(o, cell + 1);
        sum[cell] += (uint64_t)(end - from_ns);
        from_ns = end;
    }
}

/* Runs of a thread do not overlap, so all of them together visit each cell little more than once for each thread; but
 * those of a damaged trace may. What the loop itself does is not the work of a promise, and often sleep. */
static int add_runs(struct weft_overview *o, const struct weft_model *m)
{
    uint8_t *of_loop = calloc((size_t)m->runs / 8 + 1, 1);
    if (!of_loop)
        return WEFT_E_NOMEM;
    for (uint32_t i = m->promise[WEFT_ROOT].first_run; i != WEFT_NONE; i = m->run[i].next)
        of_loop[i / 8] |= (uint8_t)(1u << (i % 8));
    uint64_t steps = 0, most = (uint64_t)m->runs + (uint64_t)o->cells * (m->streams + 16);
    for (uint32_t i = 0; i < m->runs && steps < most; i++) {
        const struct weft_run *r = &m->run[i];
        if (r->end_ns <= r->start_ns || of_loop[i / 8] >> (i % 8) & 1)
            continue;
        steps += cell_at(o, r->end_ns) - cell_at(o, r->start_ns);
        add_stretch(o, o->run_ns, r->start_ns, r->end_ns);
        o->runs = true;
    }
    free(of_loop);
    return 0;
}

/* Hardly any promise is one of the longest, and when one began is sooner read than how long it lasts. */
static void compare_lengths(struct weft_overview *o, const struct weft_model *m, bool raw,
                            uint32_t promise, bool overdue)
{
    const struct weft_promise *p = &m->promise[promise];
    const int64_t end = p->outcome == WEFT_PENDING ? m->end_ns : p->end_ns;
    if (!overdue && o->longest.count == o->longest.room &&
        end - p->start_ns <= o->longest.value[o->longest.room - 1])
        return;
    const int64_t lasts = weft_layout_lasts(m, raw, promise);
    weft_greatest_add(&o->longest, promise, lasts, 0);
    if (overdue)
        weft_greatest_add(&o->longest_overdue, promise, lasts, 0);
}

static void add_promises(struct weft_overview *o, const struct weft_model *m, bool raw)
{
    o->longest.room = o->longest_overdue.room = o->first_failed.room = WEFT_OVERVIEW_FEW;
    for (uint32_t i = 1; i < m->promises; i++) {
        const struct weft_promise *p = &m->promise[i];
        const bool failed = p->outcome == WEFT_FAILED, overdue = weft_model_overdue(m, i);
        o->begin_ns = p->start_ns < o->begin_ns ? p->start_ns : o->begin_ns;
        o->outcome[p->outcome]++;
        o->overdue += overdue;
        if (p->created && p->start_ns >= 0)
            o->acts[cell_at(o, p->start_ns)]++;
        if (failed || overdue)
            o->failed[cell_at(o, p->end_ns)]++;
        if (failed)
            weft_greatest_add(&o->first_failed, i, -p->end_ns, 0);
        compare_lengths(o, m, raw, i, overdue);
    }
    for (uint32_t i = 0; i < m->interactions; i++)
        if (m->interaction[i].time_ns >= 0)
            o->acts[cell_at(o, m->interaction[i].time_ns)]++;
}

static void add_counter(struct weft_overview *o, const struct weft_model *m, uint32_t counter)
{
    int64_t *value = o->value + (size_t)counter * o->cells, last;
    uint32_t at = m->counter[counter].first_change, cell = 0;
    if (at == WEFT_NONE)
        return;
    last = (int64_t)((uint64_t)m->change[at].value - (uint64_t)m->change[at].amount);
    for (; at != WEFT_NONE; at = m->change[at].next) {
        uint32_t to = cell_at(o, m->change[at].time_ns);
        for (; cell < to; cell++)
            value[cell] = last;
        last = m->change[at].value;
    }
    for (; cell < o->cells; cell++)
        value[cell] = last;
}

int view_overview_new(struct weft_overview **out, const struct weft_model *m, bool raw)
{
    *out = NULL;
    struct weft_overview *o = calloc(1, sizeof *o);
    if (!o)
        return WEFT_E_NOMEM;
    int64_t end = m->end_ns > 0 ? m->end_ns : 1;
    while (end >> o->shift >= WEFT_OVERVIEW_CELLS)
        o->shift++;
    o->cells = (uint32_t)(end >> o->shift) + 1;
    o->counters = m->counters < WEFT_OVERVIEW_COUNTERS ? m->counters : WEFT_OVERVIEW_COUNTERS;
    o->run_ns = calloc(o->cells, sizeof *o->run_ns);
    o->acts = calloc(o->cells, sizeof *o->acts);
    o->failed = calloc(o->cells, sizeof *o->failed);
    o->value = calloc((size_t)o->cells * o->counters + 1, sizeof *o->value);
    if (!o->run_ns || !o->acts || !o->failed || !o->value || add_runs(o, m) < 0) {
        view_overview_free(o);
        return WEFT_E_NOMEM;
    }
    add_promises(o, m, raw);
    for (uint32_t i = 0; i < o->counters; i++)
        add_counter(o, m, i);
    *out = o;
    return 0;
}

void view_overview_free(struct weft_overview *o)
{
    if (o)
        weft_free_all(o->run_ns, o->acts, o->failed, o->on_ns, o->value, o);
}

int view_overview_sample(struct weft_overview *o, const struct weft_scene *s)
{
    free(o->on_ns);
    o->on_ns = s->d ? calloc(o->cells, sizeof *o->on_ns) : NULL;
    if (!s->d || !o->on_ns)
        return s->d ? WEFT_E_NOMEM : 0;
    for (uint32_t strip = 0; strip < s->d->strips; strip++) {
        uint32_t hint = 0;
        uint64_t before = view_density_until(s->d, strip, VIEW_SAMPLES, 0, &hint).on_ns;
        for (uint32_t cell = 0; cell < o->cells; cell++) {
            uint64_t now =
                view_density_until(s->d, strip, VIEW_SAMPLES, begin_of(o, cell + 1), &hint).on_ns;
            o->on_ns[cell] += now - before;
            before = now;
        }
    }
    return 0;
}

void weft_overview_between(struct weft_overview_sum *out, const struct weft_scene *s,
                           int64_t from_ns, int64_t to_ns)
{
    const struct weft_overview *o = s->o;
    uint32_t first = cell_at(o, from_ns), last = cell_at(o, to_ns > from_ns ? to_ns - 1 : to_ns);
    *out =
        (struct weft_overview_sum){.from_ns = begin_of(o, first), .to_ns = begin_of(o, last + 1)};
    for (uint32_t i = first; i <= last; i++) {
        out->run_ns += o->run_ns[i];
        out->acts += o->acts[i];
        out->failed += o->failed[i];
        out->on_ns += o->on_ns ? o->on_ns[i] : 0;
    }
}

/* ---- Drawing ---- */

struct drawing {
    struct canvas c;
    const struct weft_scene *s;
    const struct weft_overview_strip *strip;
    uint32_t columns;
    struct weft_overview_sum *sum; /* of each column */
    uint8_t *shade;
};

static void find_sums(struct drawing *d)
{
    const struct axis *a = &d->c.axis;
    int64_t end = d->s->m->end_ns;
    for (uint32_t i = 0; i < d->columns; i++) {
        int64_t from = axis_time(a, a->x0 + (int32_t)i * CELL);
        int32_t x1 = a->x0 + (int32_t)(i + 1) * CELL;
        int64_t to = x1 < a->x1 ? axis_time(a, x1) : a->to_ns;
        d->sum[i] = (struct weft_overview_sum){0};
        if ((to > 0 || from == 0) && from <= end)
            weft_overview_between(&d->sum[i], d->s, from, to);
    }
}

/* part of whole in thousandths */
static uint64_t thousandths(uint64_t part, uint64_t whole)
{
    for (; part >> 50 || whole >> 50; whole >>= 1)
        part >>= 1;
    return whole ? part * 1000 / whole : 0;
}

/* How high the bar of a column is, in thousandths of one core; without runs, in acts. */
static uint64_t height_of(const struct drawing *d, const struct weft_overview_sum *x)
{
    uint64_t height =
        d->s->o->runs ? thousandths(x->run_ns, (uint64_t)(x->to_ns - x->from_ns)) : x->acts;
    return height < HEIGHT_MAX ? height : HEIGHT_MAX;
}

/* Bars as rows of cells: the uppermost row that a bar reaches is as dark as the bar fills it. */
static void draw_bars(struct drawing *d, int32_t y0, int32_t y1)
{
    uint64_t full = d->s->o->runs ? 1000 : 1;
    for (uint32_t i = 0; i < d->columns; i++)
        full = height_of(d, &d->sum[i]) > full ? height_of(d, &d->sum[i]) : full;
    for (int32_t level = 0; level < LEVELS; level++) {
        int32_t bottom = y1 - (y1 - y0) * level / LEVELS,
                top = y1 - (y1 - y0) * (level + 1) / LEVELS;
        for (uint32_t i = 0; i < d->columns; i++) {
            uint64_t height = height_of(d, &d->sum[i]), part = height * LEVELS * 255 / full;
            uint64_t below = (uint64_t)level * 255;
            uint64_t shade = part > below ? part - below : 0;
            bool any = level == 0 && (d->sum[i].run_ns || (!d->s->o->runs && d->sum[i].acts));
            shade = any && shade < SHADE_MIN ? SHADE_MIN : shade;
            d->shade[i] = (uint8_t)(shade < 255 ? shade : 255);
        }
        canvas_cells(&d->c, WEFT_INK_RUN, top / PX * PX, bottom / PX * PX, d->shade, 0, d->columns,
                     8);
    }
}

static void draw_failures(struct drawing *d, int32_t y0, int32_t y1)
{
    for (uint32_t i = 0; i < d->columns; i++)
        d->shade[i] = d->sum[i].failed ? 255 : 0;
    canvas_cells(&d->c, WEFT_INK_FAILED, y0, y1, d->shade, 0, d->columns, 8);
}

static void draw_samples(struct drawing *d, int32_t y0, int32_t y1)
{
    for (uint32_t i = 0; i < d->columns; i++) {
        const struct weft_overview_sum *x = &d->sum[i];
        uint64_t part = thousandths(x->on_ns, (uint64_t)(x->to_ns - x->from_ns)) * 255 / 1000;
        part = x->on_ns && part < SHADE_MIN ? SHADE_MIN : part;
        d->shade[i] = (uint8_t)(part < 255 ? part : 255);
    }
    canvas_cells(&d->c, WEFT_INK_ELSE, y0, y1, d->shade, 0, d->columns, 8);
}

static void draw_counter(struct drawing *d, uint32_t counter, int32_t y0, int32_t y1)
{
    const struct weft_overview *o = d->s->o;
    const int64_t *value = o->value + (size_t)counter * o->cells;
    const struct weft_scale *scale = &d->s->m->scale[d->s->m->counter[counter].scale];
    uint64_t range = (uint64_t)scale->max - (uint64_t)scale->min;
    int32_t last = -1;
    canvas_steps(&d->c, (enum weft_ink)(WEFT_INK_COUNTER_0 + counter % 4), PX);
    for (uint32_t i = 0; i < d->columns; i++) {
        if (d->sum[i].to_ns == d->sum[i].from_ns)
            continue;
        uint64_t above = (uint64_t)value[cell_at(o, d->sum[i].to_ns - 1)] - (uint64_t)scale->min;
        int32_t x = d->c.x0 + (int32_t)i * CELL;
        int32_t y = y1 - (int32_t)(thousandths(above, range) * (uint64_t)(y1 - y0) / 1000);
        if (y == last && i + 1 < d->columns)
            continue;
        if (last >= 0)
            canvas_point(&d->c, x, last);
        canvas_point(&d->c, x, y);
        last = y;
    }
    canvas_point(&d->c, d->c.x1, last < 0 ? y1 : last);
}

static void draw_counters(struct drawing *d, int32_t y0, int32_t y1)
{
    uint32_t drawn = 0;
    for (uint32_t i = 0; i < d->s->o->counters && drawn < LINES_MAX; i++) {
        if (d->strip->counter_off && d->strip->counter_off[i])
            continue;
        draw_counter(d, i, y0, y1);
        drawn++;
    }
}

/* The surer, the higher and the darker. */
static void draw_marks(struct drawing *d, int32_t y0, int32_t height)
{
    static const uint8_t alphas[4] = {0, 110, 180, 255};
    memset(d->shade, 0, d->columns);
    for (uint32_t i = 0; i < d->strip->marks; i++) {
        const struct weft_overview_mark *mark = &d->strip->mark[i];
        int32_t x = axis_x(&d->c.axis, mark->time_ns);
        uint32_t at = x < d->c.x0 ? 0 : (uint32_t)(x - d->c.x0) / CELL;
        at = at < d->columns ? at : d->columns - 1;
        d->shade[at] = mark->weight > d->shade[at] ? mark->weight : d->shade[at];
    }
    for (uint32_t i = 0; i < d->columns; i++) {
        uint8_t weight = d->shade[i] > 3 ? 3 : d->shade[i];
        int32_t x = d->c.x0 + (int32_t)i * CELL;
        if (weight)
            canvas_rect(&d->c, WEFT_INK_EVIDENCE, x, y0, x + MARK_WIDTH, y0 + height * weight / 3)
                ->alpha = alphas[weight];
    }
}

/* What the view does not show lies under a veil. */
static void draw_window(struct drawing *d)
{
    const struct weft_overview_strip *s = d->strip;
    struct canvas *c = &d->c;
    int32_t x0, x1;
    canvas_ends(c, s->view_from_ns, s->view_to_ns, WINDOW_MIN, &x0, &x1);
    if (x0 > c->x0)
        canvas_rect(c, WEFT_INK_PANEL, c->x0, s->y0, x0, s->y1)->alpha = VEIL;
    if (x1 < c->x1)
        canvas_rect(c, WEFT_INK_PANEL, x1, s->y0, c->x1, s->y1)->alpha = VEIL;
    canvas_rect(c, WEFT_INK_READ, x0, s->y0, x1, s->y0 + PX);
    canvas_rect(c, WEFT_INK_READ, x0, s->y1 - PX, x1, s->y1);
    canvas_rect(c, WEFT_INK_READ, x0 - 2 * PX, s->y0, x0, s->y1);
    canvas_rect(c, WEFT_INK_READ, x1, s->y0, x1 + 2 * PX, s->y1);
}

static void draw_length(struct drawing *d)
{
    struct canvas *c = &d->c;
    const struct weft_figure text = weft_duration(d->strip->to_ns - d->strip->from_ns);
    int32_t width = weft_text_width(text.text, strlen(text.text), c->font_small, false);
    canvas_text_apart(c, WEFT_INK_FAINT_TEXT, c->font_small, c->x1 - width - 4 * PX,
                      d->strip->y0 + canvas_scaled(c, 11 * PX), width, text.text,
                      strlen(text.text));
}

/* In a ring that has wrapped: the time of which little is left. */
static void draw_gone(struct drawing *d)
{
    int64_t whole = weft_layout_whole(d->s->m);
    int32_t x0, x1;
    canvas_ends(&d->c, 0, whole, 0, &x0, &x1);
    if (whole > 0 && x1 > x0)
        canvas_rect(&d->c, WEFT_INK_MISSING, x0, d->strip->y0, x1, d->strip->y1);
}

static void draw_parts(struct drawing *d)
{
    const struct weft_overview_strip *s = d->strip;
    bool tall = s->y1 - s->y0 >= TALL;
    int32_t pad = 2 * PX, y0 = s->y0 + pad, y1 = s->y1 - pad;
    int32_t marks = tall ? MARKS_HEIGHT : (y1 - y0) / 2, top = tall ? y0 + marks : y0;
    canvas_rect(&d->c, WEFT_INK_PANEL, 0, s->y0, d->c.x1 + MARGIN, s->y1);
    draw_gone(d);
    draw_failures(d, y1 - FAILED_HEIGHT, y1);
    int32_t bottom = y1 - FAILED_HEIGHT - PX;
    if (d->s->o->on_ns && !s->no_strips && tall) {
        draw_samples(d, bottom - SAMPLES_HEIGHT, bottom);
        bottom -= SAMPLES_HEIGHT + PX;
    }
    draw_bars(d, top, bottom);
    if (!s->no_counters && bottom - top > 2 * PX) /* with small texts the strip is low */
        draw_counters(d, top + PX, bottom - PX);
    draw_marks(d, y0, marks);
    if (tall)
        draw_length(d);
    draw_window(d);
}

int weft_overview_draw(struct weft_drawlist *list, const struct weft_scene *s,
                       const struct weft_overview_strip *strip)
{
    struct drawing d = {.s = s, .strip = strip};
    struct canvas *c = &d.c;
    c->list = list;
    c->m = s->m;
    c->x0 = strip->x0;
    c->x1 = strip->x1;
    canvas_set_text(c, strip->text_percent);
    if (strip->x1 - strip->x0 < CELL || strip->from_ns >= strip->to_ns)
        return 0;
    axis_init(&c->axis, NULL, strip->from_ns, strip->to_ns, strip->x0, strip->x1);
    d.columns = (uint32_t)((strip->x1 - strip->x0 + CELL - 1) / CELL);
    d.columns = d.columns < COLUMNS_MAX ? d.columns : COLUMNS_MAX;
    d.sum = malloc(d.columns * sizeof *d.sum);
    d.shade = malloc(d.columns);
    if (d.sum && d.shade) {
        find_sums(&d);
        draw_parts(&d);
    } else {
        list->failed = true;
    }
    weft_free_all(d.sum, d.shade);
    return list->failed ? WEFT_E_NOMEM : 0;
}
