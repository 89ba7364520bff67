/* SPDX-License-Identifier: ISC */
/* Counters: a strip for each scale below the promises, on the same time axis. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/order.h"
#include "view/canvas.h"

enum {
    STRIP_HEIGHT = 46 * PX,
    STRIPS_MAX = 8,
    LINES_MAX = 32,        /* in a strip; more could not be told apart */
    NAME_HEIGHT = 11 * PX, /* the names stand in a line above the graph */
    NAME_GAP = 12 * PX,
    NAME_ROOM = 60 * PX, /* with less space there is no name */
    DENSE = 8,           /* from this many changes per pixel on, whole blocks are read */
};

static bool is_on(const struct canvas *c, uint32_t counter)
{
    return !c->vp->counter_off || !c->vp->counter_off[counter];
}

/* The scales of which a counter is shown, in order; *all is how many there are. The array has room for STRIPS_MAX. */
static uint32_t strips(const struct canvas *c, uint32_t *scale, uint32_t *all)
{
    uint32_t n = 0;
    *all = 0;
    for (uint32_t s = 0, i = 0; s < c->m->scales; s++) {
        /* Counters that share a scale are mostly neighbours. */
        uint32_t looked = 0;
        for (; looked < c->m->counters; looked++, i = i + 1 < c->m->counters ? i + 1 : 0)
            if (c->m->counter[i].scale == s && is_on(c, i))
                break;
        if (looked == c->m->counters)
            continue;
        if (n < STRIPS_MAX)
            scale[n++] = s;
        ++*all;
        if (!c->vp->counter_off && n == STRIPS_MAX) {
            *all = c->m->scales;
            break;
        }
    }
    return n;
}

/* If space is short, all strips get lower first; then there are fewer of them. */
int32_t canvas_counters_fit(struct canvas *c, int32_t height)
{
    uint32_t scale[STRIPS_MAX], all;
    int32_t n = (int32_t)strips(c, scale, &all), least = canvas_scaled(c, COUNTER_STRIP_MIN);
    int32_t most = canvas_scaled(c, STRIP_HEIGHT), fit = height / least;
    n = n < fit ? n : fit;
    if (n == 0)
        return 0;
    c->counter_strip = height / n / PX * PX;
    c->counter_strip = c->counter_strip < most ? c->counter_strip : most;
    return n * c->counter_strip;
}

static int32_t y_of(const struct canvas *c, const struct weft_scale *s, int32_t y0, int64_t value)
{
    const int32_t above = canvas_scaled(c, NAME_HEIGHT) + 4 * PX;
    const int32_t height = c->counter_strip - above - 4 * PX;
    uint64_t span = (uint64_t)s->max - (uint64_t)s->min;
    uint64_t from_min = (uint64_t)value - (uint64_t)s->min;
    for (; span >> 43; span >>= 1)
        from_min >>= 1;
    return y0 + above + height - (int32_t)(from_min * (uint64_t)height / span);
}

/* Walks through the changes of a counter: one by one, or by blocks if many fall into one pixel. */
struct walk {
    const struct canvas *c;
    uint32_t counter, at, end; /* index into index->change */
    bool blocks;
};

static const struct weft_change *change_at(const struct walk *w, uint32_t at)
{
    return &w->c->m->change[w->c->x->change[at]];
}

/* The first change of the counter at or after a time. */
static uint32_t change_from(const struct walk *w, int64_t time_ns)
{
    uint32_t low = w->c->x->change_first[w->counter], high = w->c->x->change_first[w->counter + 1];
    WEFT_SEEK(low, high, change_at(w, middle)->time_ns < time_ns);
    return low;
}

/* The block that begins with the next change; NULL: changes are read one by one. */
static const struct view_extremes *block_at(const struct walk *w)
{
    uint32_t since = w->at - w->c->x->change_first[w->counter];
    if (!w->blocks || since % VIEW_CHANGES != 0 || w->end - w->at < VIEW_CHANGES)
        return NULL;
    return &w->c->x->extremes[w->c->x->extremes_first[w->counter] + since / VIEW_CHANGES];
}

static int64_t next_time(const struct walk *w)
{
    const struct view_extremes *block = block_at(w);
    return block ? block->time_ns : change_at(w, w->at)->time_ns;
}

/* Reads the next change or block: its extremes and its last value. */
static void take_change(struct walk *w, int64_t *value, int64_t *low, int64_t *high)
{
    const struct view_extremes *block = block_at(w);
    int64_t one = block ? 0 : change_at(w, w->at)->value;
    int64_t min = block ? block->min : one, max = block ? block->max : one;
    *low = min < *low ? min : *low;
    *high = max > *high ? max : *high;
    *value = block ? block->last : one;
    w->at += block ? VIEW_CHANGES : 1;
}

bool weft_view_counter_at(int64_t *value, const struct weft_scene *s, uint32_t counter,
                          int64_t time_ns)
{
    const struct weft_model *m = s->m;
    const uint32_t first = s->x->change_first[counter];
    uint32_t low = first, high = s->x->change_first[counter + 1];
    WEFT_SEEK(low, high, m->change[s->x->change[middle]].time_ns <= time_ns);
    *value = low > first ? m->change[s->x->change[low - 1]].value : m->counter[counter].before;
    return low > first || (m->counter[counter].before_known && time_ns >= m->known_ns);
}

/* Where the line of a counter begins: at the left edge, or where its value is known from; *value is that one. Returns
 * false if it is known nowhere in the picture. */
static bool find_begin(const struct canvas *c, const struct walk *w, int32_t *at, int64_t *value)
{
    const struct weft_model *m = c->m;
    const struct weft_counter_info *info = &m->counter[w->counter];
    const uint32_t first = c->x->change_first[w->counter];
    int32_t x = c->x0;
    if (w->at > first) {
        *value = change_at(w, w->at - 1)->value;
    } else if (info->before_known && m->known_ns <= c->to_ns &&
               (w->at == w->end || m->known_ns < change_at(w, w->at)->time_ns)) {
        *value = info->before;
        x = m->known_ns > c->from_ns ? canvas_x(c, m->known_ns) : x;
    } else if (w->at < w->end) {
        *value = change_at(w, w->at)->value;
        x = canvas_x(c, change_at(w, w->at)->time_ns);
    } else {
        return false;
    }
    *at = x < c->x0 ? c->x0 : x > c->x1 ? c->x1 : x;
    return true;
}

/* Draws one counter as steps. Within a pixel only the extremes and the last value are drawn. Returns false if nothing is
 * known of it; otherwise *last is the value at the end of the picture. */
static bool draw_counter(struct canvas *c, uint32_t counter, enum weft_ink ink, int32_t y0,
                         int64_t *last)
{
    const struct weft_scale *s = &c->m->scale[c->m->counter[counter].scale];
    struct walk w = {.c = c, .counter = counter};
    w.at = change_from(&w, c->from_ns);
    w.end = change_from(&w, c->to_ns + 1);
    w.blocks = (w.end - w.at) / (uint32_t)((c->x1 - c->x0) / PX) >= DENSE;
    int32_t pixel = w.end - w.at > (uint32_t)(c->x1 - c->x0) / PX ? 2 * PX : PX;
    int32_t begin;
    int64_t value;
    if (!find_begin(c, &w, &begin, &value))
        return false;
    canvas_steps(c, ink, 2 * PX);
    canvas_point(c, begin, y_of(c, s, y0, value));
    while (w.at < w.end) {
        int32_t x = canvas_x(c, next_time(&w)), y = y_of(c, s, y0, value);
        int64_t low = value, high = value;
        x = x < c->x0 ? c->x0 : x > c->x1 ? c->x1 : x;
        int32_t edge = (x / pixel + 1) * pixel;
        int64_t until = edge < c->x1 ? axis_time(&c->axis, edge) : INT64_MAX;
        do
            take_change(&w, &value, &low, &high);
        while (w.at < w.end && next_time(&w) < until);
        canvas_point(c, x, y);
        if (low != value && y_of(c, s, y0, low) != y)
            canvas_point(c, x, y_of(c, s, y0, low));
        if (high != value && y_of(c, s, y0, high) != y)
            canvas_point(c, x, y_of(c, s, y0, high));
        canvas_point(c, x, y_of(c, s, y0, value));
    }
    int32_t end = canvas_x(c, c->m->end_ns); /* of the trace */
    canvas_point(c, end > c->x1 ? c->x1 : end < c->x0 ? c->x0 : end, y_of(c, s, y0, value));
    *last = value;
    return true;
}

/* Draws the name of a counter and its value at the end of the picture (NULL: not known), to the left of the previous
 * ones. Returns where it begins, or end if there is no room. */
static int32_t draw_name(struct canvas *c, uint32_t counter, const int64_t *value, int32_t y0,
                         int32_t end)
{
    const struct weft_model *m = c->m;
    uint32_t size;
    const char *name = weft_model_text(m, m->counter[counter].name, &size);
    char number[32], text[160];
    if (value)
        snprintf(number, sizeof number, " %" PRId64, *value);
    else
        snprintf(number, sizeof number, ": not known");
    size_t cut = size < sizeof text - sizeof number ? size : sizeof text - sizeof number;
    memcpy(text, name, cut);
    memcpy(text + cut, number, strlen(number));
    size_t n = cut + strlen(number);
    int32_t width = weft_text_width(text, n, c->font, false), room = end - c->x0 - NAME_ROOM;
    if (width > room && room < NAME_ROOM)
        return end;
    int32_t half = (c->x1 - c->x0) / 2;
    room = room < half ? room : half;
    width = width < room ? width : room;
    enum weft_ink ink = (enum weft_ink)(WEFT_INK_COUNTER_0 + counter % 4);
    canvas_text_apart(c, ink, c->font, end - width, y0 + canvas_scaled(c, NAME_HEIGHT) + PX, width,
                      text, n);
    return end - width;
}

/* more: how many strips there is no room for, said in the last one. */
static void draw_strip(struct canvas *c, uint32_t scale, int32_t y0, uint32_t more)
{
    const struct weft_model *m = c->m;
    const struct weft_scale *s = &m->scale[scale];
    int32_t zero = y_of(c, s, y0, 0), end = c->x1;
    canvas_rect(c, WEFT_INK_PANEL, 0, y0 + PX, c->x1 + MARGIN, y0 + c->counter_strip);
    canvas_line(c, WEFT_INK_GRID, PX, c->x0, zero, c->x1, zero);
    uint32_t drawn = 0;
    bool full = false;
    for (uint32_t i = 0; i < m->counters; i++) {
        if (m->counter[i].scale != scale || !is_on(c, i))
            continue;
        if (drawn == LINES_MAX) {
            c->left_out.counters++;
            continue;
        }
        enum weft_ink ink = (enum weft_ink)(WEFT_INK_COUNTER_0 + i % 4);
        int64_t value;
        const bool known = draw_counter(c, i, ink, y0, &value);
        int32_t begin = full ? end : draw_name(c, i, known ? &value : NULL, y0, end);
        full = begin == end;
        c->left_out.counter_names += full;
        end = full ? end : begin - NAME_GAP;
        drawn++;
    }
    char max[80];
    int n = snprintf(max, sizeof max, "%" PRId64, s->max);
    if (more)
        n += snprintf(max + n, sizeof max - (size_t)n, "; no room for %u more strip%s", more,
                      more == 1 ? "" : "s");
    canvas_text_apart(c, WEFT_INK_FAINT_TEXT, c->font_small, c->x0,
                      y0 + canvas_scaled(c, NAME_HEIGHT) + PX, end - c->x0, max, (size_t)n);
}

void canvas_draw_counters(struct canvas *c, int32_t y0, int32_t height)
{
    uint32_t scale[STRIPS_MAX], all, n = strips(c, scale, &all);
    uint32_t fit = c->counter_strip ? (uint32_t)(height / c->counter_strip) : 0;
    n = n < fit ? n : fit;
    for (uint32_t i = 0; i < n; i++)
        draw_strip(c, scale[i], y0 + (int32_t)i * c->counter_strip, i + 1 == n ? all - n : 0);
    c->left_out.scales = all - n;
}
