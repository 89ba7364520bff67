/* SPDX-License-Identifier: ISC */
/* Counters: a strip for each scale below the promises, on the same time axis. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "view/canvas.h"

enum {
    STRIP = 46 * PX,
    STRIPS_MAX = 8,
    NAMES_MAX = 4,  /* in a strip; more would not fit below one another */
    LINES_MAX = 32, /* in a strip; more could not be told apart */
    NAME_LINE = 11 * PX,
};

static uint32_t strips(const struct canvas *c)
{
    return c->m->scales < STRIPS_MAX ? c->m->scales : STRIPS_MAX;
}

int32_t canvas_counters_height(const struct canvas *c)
{
    return (int32_t)strips(c) * STRIP;
}

static int32_t y_of(const struct weft_scale *s, int32_t y0, int64_t value)
{
    const int32_t height = STRIP - 10 * PX;
    uint64_t span = (uint64_t)s->max - (uint64_t)s->min;
    uint64_t above = (uint64_t)value - (uint64_t)s->min;
    for (; span >> 43; span >>= 1)
        above >>= 1;
    return y0 + STRIP - 4 * PX - (int32_t)(above * (uint64_t)height / span);
}

/* One counter as steps. Within a pixel only the extremes and the last value are drawn. Returns the
 * value at the end of the picture. */
static int64_t draw_counter(struct canvas *c, uint32_t counter, enum weft_ink ink, int32_t y0)
{
    const struct weft_model *m = c->m;
    const struct weft_scale *s = &m->scale[m->counter[counter].scale];
    int64_t value = 0;
    uint32_t i = m->counter[counter].first_change;
    for (; i != WEFT_NONE && m->change[i].time_ns < c->from_ns; i = m->change[i].next)
        value = m->change[i].value;
    canvas_steps(c, ink, 2 * PX);
    canvas_point(c, c->x0, y_of(s, y0, value));
    while (i != WEFT_NONE && m->change[i].time_ns <= c->to_ns) {
        int32_t x = canvas_x(c, m->change[i].time_ns), y = y_of(s, y0, value);
        int64_t low = value, high = value;
        /* Times that run backwards count as standing still. */
        for (; i != WEFT_NONE && canvas_x(c, m->change[i].time_ns) / PX <= x / PX;
             i = m->change[i].next) {
            value = m->change[i].value;
            low = value < low ? value : low;
            high = value > high ? value : high;
        }
        canvas_point(c, x, y);
        if (low != value && y_of(s, y0, low) != y)
            canvas_point(c, x, y_of(s, y0, low));
        if (high != value && y_of(s, y0, high) != y)
            canvas_point(c, x, y_of(s, y0, high));
        canvas_point(c, x, y_of(s, y0, value));
    }
    canvas_point(c, c->x1, y_of(s, y0, value));
    return value;
}

static void draw_strip(struct canvas *c, uint32_t scale, int32_t y0)
{
    const struct weft_model *m = c->m;
    const struct weft_scale *s = &m->scale[scale];
    int32_t zero = y_of(s, y0, 0);
    canvas_rect(c, WEFT_INK_PANEL, 0, y0 + PX, c->list->width, y0 + STRIP);
    canvas_line(c, WEFT_INK_GRID, PX, c->x0, zero, c->x1, zero);
    uint32_t drawn = 0;
    int32_t name_y = y0 + NAME_LINE;
    for (uint32_t i = 0; i < m->counters && drawn < LINES_MAX; i++) {
        if (m->counter[i].scale != scale)
            continue;
        enum weft_ink ink = (enum weft_ink)(WEFT_INK_COUNTER_0 + i % 4);
        int64_t value = draw_counter(c, i, ink, y0);
        if (drawn++ >= NAMES_MAX)
            continue;
        uint32_t size;
        const char *name = weft_model_text(m, m->counter[i].name, &size);
        char number[32], text[160];
        snprintf(number, sizeof number, " %" PRId64, value);
        size_t cut = size < sizeof text - sizeof number ? size : sizeof text - sizeof number;
        memcpy(text, name, cut);
        memcpy(text + cut, number, strlen(number));
        size_t n = cut + strlen(number);
        int32_t width = weft_text_width(text, n, FONT, false);
        width = width < (c->x1 - c->x0) / 2 ? width : (c->x1 - c->x0) / 2;
        canvas_text_apart(c, ink, FONT, c->x1 - width, name_y, width, text, n);
        name_y += NAME_LINE;
    }
    char max[24];
    int n = snprintf(max, sizeof max, "%" PRId64, s->max);
    canvas_text_apart(c, WEFT_INK_FAINT_TEXT, FONT_SMALL, c->x0, y_of(s, y0, s->max) + 5 * PX,
                      100 * PX, max, (size_t)n);
}

void canvas_draw_counters(struct canvas *c, int32_t y0)
{
    uint32_t n = strips(c);
    for (uint32_t i = 0; i < n; i++)
        draw_strip(c, i, y0 + (int32_t)i * STRIP);
    c->scales_left_out = c->m->scales - n;
}
