/* SPDX-License-Identifier: ISC */
#include "view/drawlist.h"

#include "base/array.h"

/* With high contrast, whatever is drawn onto a ground is half as far from black or white; texts are black or white. What
 * lies behind texts stays, but the ground itself: it is told from the others by its brightness. So the palette needs no
 * more columns, and an addition to it cannot forget them. */
enum { GROUND_LIGHT = 160, GROUND_DARK = 96 }; /* brightness of what may lie behind texts */
#define BRIGHTNESS(rgb)                                                                            \
    ((2126 * ((rgb) >> 16) + 7152 * ((rgb) >> 8 & 0xff) + 722 * ((rgb)&0xff)) / 10000)
#define DARKER(rgb) (BRIGHTNESS(rgb) >= GROUND_LIGHT ? (rgb) : (rgb) >> 1 & 0x7f7f7fu)
#define LIGHTER(rgb) (BRIGHTNESS(rgb) <= GROUND_DARK ? (rgb) : ((rgb) >> 1 & 0x7f7f7fu) + 0x808080u)
#define IS_TEXT(NAME)                                                                              \
    (WEFT_INK_##NAME == WEFT_INK_TEXT || WEFT_INK_##NAME == WEFT_INK_FAINT_TEXT ||                 \
     WEFT_INK_##NAME == WEFT_INK_REGION_TEXT)
#define FOR_LIGHT(NAME, rgb)                                                                       \
    (WEFT_INK_##NAME == WEFT_INK_GROUND ? 0xffffffu : IS_TEXT(NAME) ? 0u : DARKER(rgb))
#define FOR_DARK(NAME, rgb)                                                                        \
    (WEFT_INK_##NAME == WEFT_INK_GROUND ? 0u : IS_TEXT(NAME) ? 0xffffffu : LIGHTER(rgb))

const struct weft_ink_info weft_inks[WEFT_INKS] = {
#define INK(NAME, css, light, dark)                                                                \
    {css, {light, dark, FOR_LIGHT(NAME, light##u), FOR_DARK(NAME, dark##u)}},
#include "view/palette.def"
};

#define HEAD_LENGTH (7 * WEFT_PX)
#define HEAD_WIDTH (5 * WEFT_PX)

void weft_drawlist_clear(struct weft_drawlist *list, int32_t width_px, int32_t height_px)
{
    list->draws = list->point_count = list->text_bytes = list->shade_count = 0;
    list->failed = false;
    list->width = width_px * WEFT_PX;
    list->height = height_px * WEFT_PX;
}

void weft_drawlist_fini(struct weft_drawlist *list)
{
    weft_free_all(list->draw, list->points, list->texts, list->shades);
    *list = (struct weft_drawlist){0};
}

static int64_t square_root(int64_t of)
{
    int64_t root = 0;
    for (int64_t bit = INT64_C(1) << 31; bit != 0; bit >>= 1) {
        if ((root + bit) * (root + bit) <= of)
            root += bit;
    }
    return root;
}

/* a * b / of, to the nearest; of > 0, b >= 0. */
static int64_t scaled(int64_t a, int64_t b, int64_t of)
{
    return (a * b + (a < 0 ? -of / 2 : of / 2)) / of;
}

static int32_t coordinate(int64_t value)
{
    if (value > INT32_MAX)
        return INT32_MAX;
    return value < INT32_MIN ? INT32_MIN : (int32_t)value;
}

void weft_arrow_head(struct weft_point corner[3], const struct weft_draw *arrow)
{
    int64_t dx = (int64_t)arrow->x1 - arrow->x0, dy = (int64_t)arrow->y1 - arrow->y0;
    int64_t larger = llabs(dx) > llabs(dy) ? llabs(dx) : llabs(dy);
    /* Wide enough to stand out from the shaft, with constant proportions. */
    int64_t line = arrow->size < 0                ? 0
                   : arrow->size > 1024 * WEFT_PX ? 1024 * WEFT_PX
                                                  : arrow->size;
    int64_t width = line + 3 * WEFT_PX > HEAD_WIDTH ? line + 3 * WEFT_PX : HEAD_WIDTH;
    int64_t length = width * HEAD_LENGTH / HEAD_WIDTH;
    int64_t longest = length;
    if (larger == 0) { /* a pointer without a direction points along the time axis */
        dx = larger = 1;
        if (arrow->op != WEFT_DRAW_POINTER)
            longest = 0;
    }
    /* The direction is scaled to the same magnitude, whatever the length: then the squares do not overflow, and the
     * angle of a short arrow is not coarse. */
    int64_t times = 1;
    while (larger * times < INT64_C(1) << 29)
        times *= 2;
    int64_t over = 1;
    while (larger / over >= INT64_C(1) << 30)
        over *= 2;
    dx = dx * times / over;
    dy = dy * times / over;
    int64_t distance = square_root(dx * dx + dy * dy);
    if (arrow->op != WEFT_DRAW_POINTER && over == 1 && distance / times < longest)
        longest = distance / times;
    width = width * longest / length;
    length = longest;

    int64_t base_x = arrow->x1 - scaled(dx, length, distance);
    int64_t base_y = arrow->y1 - scaled(dy, length, distance);
    int64_t side_x = scaled(-dy, width, 2 * distance), side_y = scaled(dx, width, 2 * distance);
    corner[0] = (struct weft_point){arrow->x1, arrow->y1};
    corner[1] = (struct weft_point){coordinate(base_x + side_x), coordinate(base_y + side_y)};
    corner[2] = (struct weft_point){coordinate(base_x - side_x), coordinate(base_y - side_y)};
}
