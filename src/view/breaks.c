/* SPDX-License-Identifier: ISC */
/* Folds: each is a narrow break through all rows, with its length above it. Lines that cross it are drawn over it. */
#include <stdio.h>
#include <string.h>

#include "view/canvas.h"

enum {
    ZIGZAG_MIN = 5 * PX,     /* a narrower break is only a stripe */
    ZIGZAG_MAX = 12 * PX,    /* width of the zigzag line in a wider one */
    ZIGZAG_HEIGHT = 10 * PX, /* of one stroke */
    STROKES_MAX = 3000,      /* of all breaks in a picture */
    TEXT_GAP = 6 * PX,
    EDGE = PX / 2,
};

static void draw_zigzag(struct canvas *c, int32_t x0, int32_t x1, int32_t strokes)
{
    int32_t half = x1 - x0 < ZIGZAG_MAX ? (x1 - x0) / 2 : ZIGZAG_MAX / 2;
    int32_t middle = x0 + (x1 - x0) / 2, y = c->rows_y0;
    half -= PX;
    for (int32_t i = 0; i < strokes; i++) {
        int32_t end = y + ZIGZAG_HEIGHT < c->rows_y1 ? y + ZIGZAG_HEIGHT : c->rows_y1;
        int32_t side = i % 2 ? half : -half;
        canvas_line(c, WEFT_INK_REGION_TEXT, PX, middle + side, y, middle - side, end)->alpha = 120;
        y = end;
    }
}

/* Draws the length of a fold above its break. Returns where the text ends, or next if there is no room for it. */
static int32_t draw_length(struct canvas *c, const struct weft_fold *f, int32_t x0, int32_t x1,
                           int32_t next)
{
    const struct weft_figure length = weft_duration(f->to_ns - f->from_ns);
    char text[80];
    int n = snprintf(text, sizeof text, "%s%s", length.text,
                     c->vp->folds->asleep ? " asleep" : " nothing");
    int32_t width = weft_text_width(text, (size_t)n, c->font_small, false);
    if (width > x1 - x0 - 2 * TEXT_GAP) {
        n = (int)strlen(length.text);
        width = weft_text_width(text, (size_t)n, c->font_small, false);
    }
    int32_t x = x0 + (x1 - x0 - width) / 2;
    x = x > c->x1 - width ? c->x1 - width : x < c->x0 ? c->x0 : x;
    if (x < next || width > c->x1 - c->x0)
        return next;
    canvas_text_apart(c, WEFT_INK_REGION_TEXT, c->font_small, x,
                      c->rows_y0 + canvas_scaled(c, 11 * PX), width, text, (size_t)n);
    return x + width + TEXT_GAP;
}

void canvas_draw_folds(struct canvas *c)
{
    const struct weft_folds *f = &c->axis.folds;
    int32_t strokes = (c->rows_y1 - c->rows_y0 + ZIGZAG_HEIGHT - 1) / ZIGZAG_HEIGHT;
    int32_t next = c->x0, drawn = c->x0;
    bool zigzag = (int64_t)strokes * f->count <= STROKES_MAX;
    for (uint32_t i = 0; i < f->count; i++) {
        const struct weft_fold *x = &f->fold[i];
        int32_t x0, x1;
        if (x->to_ns <= c->from_ns)
            continue;
        canvas_ends(c, x->from_ns, x->to_ns, 0, &x0, &x1);
        x0 = x0 < drawn ? drawn : x0; /* many are narrower than one can see: a stripe for all */
        if (x1 <= x0 || (x1 - x0 < PX && i + 1 < f->count))
            continue;
        canvas_rect(c, WEFT_INK_SLEEP, x0, c->ruler_y0, x1, c->rows_y1);
        if (x1 - x0 >= ZIGZAG_MIN) {
            canvas_rect(c, WEFT_INK_REGION_TEXT, x0, c->rows_y0, x0 + EDGE, c->rows_y1)->alpha = 90;
            canvas_rect(c, WEFT_INK_REGION_TEXT, x1 - EDGE, c->rows_y0, x1, c->rows_y1)->alpha = 90;
            if (zigzag)
                draw_zigzag(c, x0, x1, strokes);
        }
        drawn = x1;
    }
    for (uint32_t i = 0; i < f->count; i++) {
        int32_t x0, x1;
        if (f->fold[i].to_ns <= c->from_ns)
            continue;
        canvas_ends(c, f->fold[i].from_ns, f->fold[i].to_ns, 0, &x0, &x1);
        if (x1 - x0 >= ZIGZAG_MIN)
            next = draw_length(c, &f->fold[i], x0, x1, next);
    }
}
