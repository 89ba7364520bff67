/* SPDX-License-Identifier: ISC */
/* Draw lists for tests of the painters: put together by hand, or at random. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "paint/cairo.h"
#include "test.h"
#include "view/text.h"

#define PX 64

struct picture {
    struct weft_drawlist list;
    struct weft_draw draw[64];
    struct weft_point points[256];
    char texts[4096];
    uint8_t shades[1024];
};

static inline struct picture *new_picture(int32_t width, int32_t height)
{
    struct picture *p = calloc(1, sizeof(*p));

    assert_non_null(p);
    p->list.width = width;
    p->list.height = height;
    p->list.draw = p->draw;
    p->list.points = p->points;
    p->list.texts = p->texts;
    p->list.shades = p->shades;
    return p;
}

static inline struct weft_draw *add(struct picture *p, int op, int ink, int32_t size, int32_t x0,
                                    int32_t y0, int32_t x1, int32_t y1)
{
    struct weft_draw *d = &p->draw[p->list.draws++];

    *d = (struct weft_draw){.op = (uint8_t)op,
                            .ink = (uint8_t)ink,
                            .alpha = 255,
                            .size = size,
                            .x0 = x0,
                            .y0 = y0,
                            .x1 = x1,
                            .y1 = y1,
                            .tip = WEFT_NO_TIP,
                            .promise = UINT32_MAX};
    return d;
}

static inline uint32_t add_bytes(struct picture *p, const char *text, size_t size)
{
    uint32_t at = p->list.text_bytes;

    memcpy(p->texts + at, text, size);
    p->list.text_bytes += (uint32_t)size;
    return at;
}

static inline struct weft_draw *add_text(struct picture *p, int32_t x, int32_t y, const char *text)
{
    struct weft_draw *d = add(p, WEFT_DRAW_TEXT, WEFT_INK_TEXT, 12 * PX, x, y, 0, 0);

    d->count = (uint32_t)strlen(text);
    d->first = add_bytes(p, text, d->count);
    d->x1 = x + weft_text_width(text, d->count, d->size, false);
    return d;
}

static inline void set_tip(struct picture *p, struct weft_draw *d, const char *text)
{
    d->tip = add_bytes(p, text, strlen(text));
    d->tip_size = (uint32_t)strlen(text);
}

/* Mostly in or near the picture, sometimes anywhere, sometimes at the ends of the range. */
static inline int32_t anywhere(uint32_t *random)
{
    switch (next_random(random) % 8) {
    case 0:
        return (int32_t)next_random(random);
    case 1:
        return next_random(random) % 2 ? INT32_MIN : INT32_MAX;
    default:
        return (int32_t)(next_random(random) % (120 * PX)) - 10 * PX;
    }
}

static inline void random_text(struct picture *p, uint32_t *random, uint32_t *first,
                               uint32_t *count)
{
    static const char *const parts[] = {"<",
                                        "&",
                                        ">",
                                        "]]>",
                                        "\"",
                                        "a",
                                        "\xc3\xa9",
                                        "\xf0\x9f\x8e\x89",
                                        "\xef\xbf\xbf",
                                        "\xff",
                                        "\x1b",
                                        "\xe2\x80\xae",
                                        "\xed\xa0\x80"};

    *first = p->list.text_bytes;
    *count = 0;
    for (uint32_t n = next_random(random) % 8; n > 0; n--) {
        const char *part = parts[next_random(random) % (sizeof(parts) / sizeof(parts[0]))];
        add_bytes(p, part, strlen(part));
        *count += (uint32_t)strlen(part);
    }
}

static inline struct picture *random_picture(uint32_t *random)
{
    struct picture *p = new_picture((int32_t)(next_random(random) % (100 * PX)) + 1,
                                    (int32_t)(next_random(random) % (100 * PX)) + 1);

    for (uint32_t n = next_random(random) % 30; n > 0; n--) {
        struct weft_draw *d =
            add(p, (int)(next_random(random) % (WEFT_DRAW_SHADES + 1)),
                (int)(next_random(random) % WEFT_INKS), (int32_t)(next_random(random) % (20 * PX)),
                anywhere(random), anywhere(random), anywhere(random), anywhere(random));

        if (next_random(random) % 4 == 0)
            d->size = anywhere(random);
        if (next_random(random) % 4 == 0)
            d->alpha = (uint8_t)next_random(random);
        d->bold = next_random(random) % 2;
        if (d->op == WEFT_DRAW_TEXT) {
            random_text(p, random, &d->first, &d->count);
        } else if (d->op == WEFT_DRAW_STEPS) {
            d->first = p->list.point_count;
            d->count = next_random(random) % 6;
            for (uint32_t i = 0; i < d->count; i++) {
                p->points[p->list.point_count].x = anywhere(random);
                p->points[p->list.point_count++].y = anywhere(random);
            }
        } else if (d->op == WEFT_DRAW_SHADES) {
            d->first = p->list.shade_count;
            d->count = next_random(random) % 30;
            for (uint32_t i = 0; i < d->count; i++)
                p->shades[p->list.shade_count++] = (uint8_t)(next_random(random) % 5 * 60);
        }
        if (next_random(random) % 3 == 0)
            random_text(p, random, &d->tip, &d->tip_size);
    }
    return p;
}

static inline uint32_t pixel(cairo_surface_t *surface, int x, int y)
{
    uint32_t value;

    memcpy(&value,
           cairo_image_surface_get_data(surface) + y * cairo_image_surface_get_stride(surface) +
               4 * x,
           4);
    return value;
}
