/* SPDX-License-Identifier: ISC */
/* The pixels that the page paints are those of the window, at every scale; letters are drawn once, and lie where the
 * list has them. */
#include "picture.h"

#include "web/raster.h"
#include "web/sort.h"

static uint32_t swapped(uint32_t pixel)
{
    return (pixel & 0xff00ff00) | (pixel >> 16 & 0xff) | (pixel & 0xff) << 16;
}

static void paint_page(struct raster *r, const struct picture *p, int width, int height,
                       double ratio)
{
    assert_int_equal(raster_begin(r, &p->list, WEFT_DARK, (uint32_t)width, (uint32_t)height, ratio),
                     0);
    while (letters_find(&r->letters, r->list, r->pixels.scale) > 0)
        ;
    assert_int_equal(raster_paint(r), 0);
}

/* Texts are the browser's, and slanting steps are cairo's. */
static void leave_out(struct picture *p)
{
    for (uint32_t i = 0; i < p->list.draws; i++) {
        struct weft_draw *d = &p->draw[i];
        if (d->op == WEFT_DRAW_TEXT)
            d->alpha = 0;
        for (uint32_t k = 1; d->op == WEFT_DRAW_STEPS && k < d->count; k++) {
            struct weft_point *q = &p->points[d->first + k];
            if (k % 2)
                q->y = q[-1].y;
            else
                q->x = q[-1].x;
        }
    }
}

TEST(pixels_are_those_of_the_window)
{
    struct weft_painter *painter = weft_painter_new();
    static struct raster r;
    uint32_t random = 2463534242;
    assert_non_null(painter);
    for (int round = 0; round < 400; round++) {
        struct picture *p = random_picture(&random);
        const int scale = 1 + round % RASTER_RATIO_MAX;
        leave_out(p);
        const int width = (p->list.width + PX - 1) / PX * scale,
                  height = (p->list.height + PX - 1) / PX * scale;
        cairo_surface_t *s = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
        cairo_t *cr = cairo_create(s);
        cairo_scale(cr, scale, scale);
        assert_int_equal(weft_paint_cairo(painter, cr, &p->list, WEFT_DARK), 0);
        cairo_surface_flush(s);
        paint_page(&r, p, width, height, scale);
        for (int i = 0; i < width * height; i++) {
            const uint32_t is = r.pixel[i], wanted = swapped(pixel(s, i % width, i / width));
            if ((is ^ wanted) & 0xffffff)
                print_error("round %d, scale %d, pixel %d, %d\n", round, scale, i % width,
                            i / width);
            assert_int_equal(is & 0xffffff, wanted & 0xffffff);
            assert_int_equal(is >> 24, 255);
        }
        cairo_destroy(cr);
        cairo_surface_destroy(s);
        free(p);
    }
    weft_painter_free(painter);
}

/* With 1.25 or 1.5 of the screen's pixels to one of the page's, edges lie on the screen's, and shades where their time is. */
TEST(edges_are_sharp_at_any_ratio)
{
    static struct raster r;
    for (int quarters = 4; quarters <= 12; quarters++) {
        const double ratio = quarters / 4.0;
        struct picture *p = new_picture(400 * PX, 30 * PX);
        const int width = (int)(400 * ratio), height = (int)(30 * ratio);
        const uint32_t ground = swapped(weft_inks[WEFT_INK_GROUND].rgb[1]) | 0xff000000;
        const uint32_t ink = swapped(weft_inks[WEFT_INK_RUN].rgb[1]) | 0xff000000;
        add(p, WEFT_DRAW_RECT, WEFT_INK_RUN, 0, 8 * PX, 4 * PX, 16 * PX, 8 * PX);
        add(p, WEFT_DRAW_LINE, WEFT_INK_RUN, PX, 24 * PX, 0, 24 * PX, 30 * PX);
        struct weft_draw *d =
            add(p, WEFT_DRAW_SHADES, WEFT_INK_RUN, PX, 0, 16 * PX, 400 * PX, 20 * PX);
        d->count = p->list.shade_count = 400;
        p->shades[360] = p->shades[361] = p->shades[362] = p->shades[363] = 255;
        paint_page(&r, p, width, height, ratio);
        int inked = 0, line = 0, first = -1;
        for (int i = 0; i < width * height; i++) {
            const int x = i % width, y = i / width;
            if (r.pixel[i] != ground && r.pixel[i] != ink)
                print_error("ratio %g: %d, %d is %x\n", ratio, x, y, r.pixel[i]);
            assert_true(r.pixel[i] == ground || r.pixel[i] == ink);
            inked += r.pixel[i] == ink && x < 20 * ratio;
            line += r.pixel[i] == ink && y == height - 1;
            if (r.pixel[i] == ink && y == (int)(18 * ratio) && x > 30 * ratio && first < 0)
                first = x;
        }
        assert_in_range(inked, 7 * 3 * ratio * ratio, 9 * 5 * ratio * ratio);
        assert_in_range(line, 1, (int)(ratio + 1));
        assert_in_range(first, (int)(360 * ratio) - 2, (int)(360 * ratio) + 2);
        free(p);
    }
}

/* Draws what is wanted as a browser with a font of which each letter is a box, `advance` wide. Returns how many. */
static int draw_boxes(struct raster *r, int advance, uint32_t colour)
{
    int all = 0, count;
    while ((count = letters_find(&r->letters, r->list, r->pixels.scale)) > 0) {
        struct letters *l = &r->letters;
        memset(l->sheet, 0, (size_t)l->sheet_width * l->sheet_height * sizeof *l->sheet);
        for (int i = 0; i < count; i++, all++) {
            struct letter_wanted *w = &l->wanted[i];
            const int x0 = w->pen_x / PX, y = w->pen_y / PX;
            assert_true(w->x >= 0 && w->x + w->width_px <= (int)l->sheet_width);
            assert_true(w->y >= 0 && w->y + w->height_px <= (int)l->sheet_height);
            for (int x = x0; x < x0 + 3; x++)
                l->sheet[(size_t)(y - 1) * l->sheet_width + (size_t)x] = colour;
            w->advance = advance;
        }
    }
    assert_int_equal(count, 0);
    return all;
}

static int columns(const struct raster *r, int y, uint32_t ink, int *last)
{
    int found = 0;
    for (int x = 0; x < (int)r->width; x++)
        if (r->pixel[y * (int)r->width + x] == ink) {
            found++;
            *last = x;
        }
    return found;
}

TEST(letters_are_drawn_once)
{
    static struct raster r;
    struct picture *p = new_picture(300 * PX, 40 * PX);
    const uint32_t ink = swapped(weft_inks[WEFT_INK_TEXT].rgb[0]) | 0xff000000;
    int last = -1;
    add_text(p, 10 * PX, 20 * PX, "abcabc \xc3\xa9");
    assert_int_equal(raster_begin(&r, &p->list, WEFT_LIGHT, 300, 40, 1), 0);
    assert_int_equal(draw_boxes(&r, 4 * PX, 0xff000000), 5 * LETTERS_STEPS);
    assert_int_equal(raster_paint(&r), 0);
    assert_int_equal(columns(&r, 19, ink, &last), 8 * 3);
    assert_int_equal(last, 10 + 7 * 4 + 2);
    assert_int_equal(columns(&r, 20, ink, &last), 0);
    /* another picture with them, and one more */
    add_text(p, 10 * PX, 35 * PX, "cba d");
    assert_int_equal(raster_begin(&r, &p->list, WEFT_LIGHT, 300, 40, 1), 0);
    assert_int_equal(draw_boxes(&r, 4 * PX, 0xff000000), LETTERS_STEPS);
    assert_int_equal(raster_paint(&r), 0);
    assert_int_equal(columns(&r, 34, ink, &last), 5 * 3);
    /* a size, a weight, a ground */
    p->draw[1].bold = 1;
    assert_int_equal(raster_begin(&r, &p->list, WEFT_LIGHT, 300, 40, 1), 0);
    assert_int_equal(draw_boxes(&r, 4 * PX, 0xff000000), 5 * LETTERS_STEPS);
    assert_int_equal(raster_begin(&r, &p->list, WEFT_DARK, 300, 40, 1), 0);
    assert_int_equal(draw_boxes(&r, 4 * PX, 0xffffffff), 10 * LETTERS_STEPS);
    free(p);
}

TEST(wide_fonts_are_condensed)
{
    static struct raster r;
    struct picture *p = new_picture(900 * PX, 40 * PX);
    const struct weft_draw *d = add_text(p, 10 * PX, 20 * PX, "abcdefghij");
    const uint32_t ink = swapped(weft_inks[WEFT_INK_TEXT].rgb[0]) | 0xff000000;
    int last = -1;
    assert_int_equal(raster_begin(&r, &p->list, WEFT_LIGHT, 900, 40, 1), 0);
    draw_boxes(&r, 50 * PX, 0xff000000);
    assert_int_equal(raster_paint(&r), 0);
    assert_int_equal(columns(&r, 19, ink, &last), 10 * 3);
    assert_in_range(last, d->x1 / PX - 12, d->x1 / PX + 1);
    free(p);
}

/* What needs shaping is drawn as a whole; an emoji keeps its colours, whatever the ink. */
TEST(what_is_shaped_is_one)
{
    static struct raster r;
    struct picture *p = new_picture(300 * PX, 40 * PX);
    int last = -1;
    add_text(p, 10 * PX, 20 * PX, "a \xf0\x9f\x8e\x89 b");
    assert_int_equal(raster_begin(&r, &p->list, WEFT_LIGHT, 300, 40, 1), 0);
    assert_int_equal(draw_boxes(&r, 30 * PX, 0xff2050e0), 1);
    assert_int_equal(raster_paint(&r), 0);
    assert_int_equal(columns(&r, 19, 0xff2050e0, &last), 3);
    assert_int_equal(last, 12);
    assert_int_equal(raster_begin(&r, &p->list, WEFT_LIGHT, 300, 40, 1), 0);
    assert_int_equal(draw_boxes(&r, 30 * PX, 0xff2050e0), 0);
    free(p);
}

/* Texts anywhere, of anything, touch only the picture: sanitizers and the other pixels would tell. */
TEST(texts_may_be_anywhere)
{
    static struct raster r;
    uint32_t random = 88172645;
    for (int round = 0; round < 300; round++) {
        struct picture *p = random_picture(&random);
        const double ratio = 1 + round % 9 / 8.0;
        assert_int_equal(raster_begin(&r, &p->list, WEFT_LIGHT, 100, 90, ratio), 0);
        draw_boxes(&r, 7 * PX, round % 2 ? 0xff000000 : 0xff102030);
        assert_int_equal(raster_paint(&r), 0);
        for (int i = 0; i < 100 * 90; i++)
            assert_int_equal(r.pixel[i] >> 24, 255);
        free(p);
    }
}

/* ---- Sorting ---- */

struct item {
    uint32_t key, place;
    char rest[9];
};

static int by_key(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

TEST(sorts_as_glibc_does)
{
    uint32_t random = 362436069;
    for (uint32_t count = 0; count < 700; count += count < 40 ? 1 : 97)
        for (int is_poor = 0; is_poor < 2; is_poor++) {
            struct item *items = calloc(count + 1, sizeof *items);
            assert_non_null(items);
            for (uint32_t i = 0; i < count; i++)
                items[i] =
                    (struct item){.key = next_random(&random) % 50, .place = i, .rest = "01234567"};
            if (is_poor)
                web_sort_in_place(items, count, sizeof *items, by_key);
            else
                web_sort(items, count, sizeof *items, by_key);
            for (uint32_t i = 1; i < count; i++) {
                const struct item *x = &items[i - 1], *y = &items[i];
                assert_true(x->key < y->key ||
                            (x->key == y->key && (is_poor || x->place < y->place)));
                assert_string_equal(y->rest, "01234567");
            }
            free(items);
        }
}

RUN_TESTS(NULL, NULL)
