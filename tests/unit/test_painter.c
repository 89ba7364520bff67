/* SPDX-License-Identifier: ISC */
/* Painting through cairo: what goes straight into pixels is what cairo would paint, at every scale and under
 * any clip; texts of all scripts; colours that can be read. Linked with --wrap=malloc and so on. */
#include "allocations.h"
#include "picture.h"

#include <math.h>

#include "view/legend.h"

#define ROUNDS 600

/* fontconfig and Pango keep what they have found until the process ends. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libfontconfig\nleak:libpango\nleak:libglib\n";
}

enum way {
    DIRECT,   /* into pixels */
    BY_CAIRO, /* recorded, and played onto the same pixels */
};

/* The picture at a scale, moved by some device pixels, on a surface with a margin of 8 that is black, whose rows take that
 * many bytes: the more, the fewer rows are painted together. */
static cairo_surface_t *paint_rows(struct weft_painter *painter, const struct picture *p, int scale,
                                   int off, enum way way, int row_bytes)
{
    static const cairo_user_data_key_t pixels;
    int width = (p->list.width / PX + 1) * scale + 16,
        height = (p->list.height / PX + 1) * scale + 16;
    unsigned char *data = calloc((size_t)height, (size_t)row_bytes);
    cairo_surface_t *s =
        cairo_image_surface_create_for_data(data, CAIRO_FORMAT_ARGB32, width, height, row_bytes);
    cairo_surface_t *recording = cairo_recording_surface_create(CAIRO_CONTENT_COLOR_ALPHA, NULL);
    cairo_t *to = cairo_create(s), *cr = way == DIRECT ? to : cairo_create(recording);

    assert_non_null(data);
    cairo_surface_set_user_data(s, &pixels, data, free);
    cairo_paint(to);
    cairo_rectangle(to, 8, 8, width - 16, height - 16);
    cairo_clip(to);
    cairo_translate(cr, 8 + off, 8);
    cairo_scale(cr, scale, scale);
    assert_int_equal(weft_paint_cairo(painter, cr, &p->list, WEFT_LIGHT), 0);
    if (way == BY_CAIRO) {
        cairo_destroy(cr);
        cairo_set_source_surface(to, recording, 0, 0);
        cairo_paint(to);
    }
    cairo_destroy(to);
    cairo_surface_destroy(recording);
    cairo_surface_flush(s);
    return s;
}

static cairo_surface_t *paint(struct weft_painter *painter, const struct picture *p, int scale,
                              int off, enum way way)
{
    return paint_rows(painter, p, scale, off, way, ((p->list.width / PX + 1) * scale + 16) * 4);
}

/* How far the pixels of two surfaces are apart: the most of a channel, and all together. */
static int compare(cairo_surface_t *a, cairo_surface_t *b, int64_t *all)
{
    int most = 0;

    *all = 0;
    for (int y = 0; y < cairo_image_surface_get_height(a); y++) {
        for (int x = 0; x < cairo_image_surface_get_width(a); x++) {
            for (int shift = 0; shift < 32; shift += 8) {
                int off = abs((int)(pixel(a, x, y) >> shift & 255) -
                              (int)(pixel(b, x, y) >> shift & 255));

                most = off > most ? off : most;
                *all += off;
            }
        }
    }
    return most;
}

static bool slants(const struct weft_draw *d)
{
    return d->op != WEFT_DRAW_RECT && d->op != WEFT_DRAW_SHADES && d->x0 != d->x1 && d->y0 != d->y1;
}

/* Rectangles, lines along the axes and shades are the same to a rounding of each that lies above. */
TEST(pixels_are_those_of_cairo)
{
    struct weft_painter *painter = weft_painter_new();
    uint32_t random = 88172645;
    int64_t all;

    assert_non_null(painter);
    for (int round = 0; round < ROUNDS; round++) {
        struct picture *p = random_picture(&random);
        int scale = 1 + round % 3, off = round % 5 == 0 ? -7 : 0;

        for (uint32_t i = 0; i < p->list.draws; i++) {
            struct weft_draw *d = &p->draw[i];

            if (slants(d) || d->op == WEFT_DRAW_TEXT || d->op >= WEFT_DRAW_ARROW)
                d->op = d->op == WEFT_DRAW_SHADES ? WEFT_DRAW_SHADES : WEFT_DRAW_RECT;
            if (d->op == WEFT_DRAW_RECT || d->op == WEFT_DRAW_LINE)
                d->count = d->first = 0;
        }
        cairo_surface_t *direct = paint(painter, p, scale, off, DIRECT);
        cairo_surface_t *other = paint(painter, p, scale, off, BY_CAIRO);
        int most = compare(direct, other, &all);

        if (most > 6)
            print_error("round %d, scale %d: %d\n", round, scale, most);
        assert_true(most <= 6);
        cairo_surface_destroy(direct);
        cairo_surface_destroy(other);
        free(p);
    }
    weft_painter_free(painter);
}

/* A slanting line or a head covers as much as cairo's, and nothing far from it. */
TEST(slanting_lines_cover_the_same)
{
    struct weft_painter *painter = weft_painter_new();

    for (int round = 0; round < 400; round++) {
        struct picture *p = new_picture(60 * PX, 60 * PX);
        double angle = round * 0.0157 * 4;
        int32_t x = (int32_t)lround(25 * PX * cos(angle)),
                y = (int32_t)lround(25 * PX * sin(angle));
        int64_t all, of, none;

        add(p, round % 2 ? WEFT_DRAW_LINE : WEFT_DRAW_ARROW, WEFT_INK_TEXT, PX + round % 3 * PX,
            30 * PX - x, 30 * PX - y, 30 * PX + x, 30 * PX + y);
        cairo_surface_t *direct = paint(painter, p, 1 + round % 2, 0, DIRECT);
        cairo_surface_t *other = paint(painter, p, 1 + round % 2, 0, BY_CAIRO);
        p->list.draws = 0;
        cairo_surface_t *ground = paint(painter, p, 1 + round % 2, 0, DIRECT);
        int most = compare(direct, other, &all);
        compare(direct, ground, &of);
        compare(other, ground, &none);
        if (most > 150 || of > none * 108 / 100 || none > of * 108 / 100 || all > of / 4)
            print_error("round %d: at most %d, apart %lld of %lld and %lld\n", round, most,
                        (long long)all, (long long)of, (long long)none);
        assert_true(most <= 150 && of <= none * 108 / 100 && none <= of * 108 / 100 &&
                    all <= of / 4);
        cairo_surface_destroy(direct);
        cairo_surface_destroy(other);
        cairo_surface_destroy(ground);
        free(p);
    }
    weft_painter_free(painter);
}

static uint32_t mixed(int ink, int alpha)
{
    uint32_t result = 0;

    for (int shift = 0; shift < 24; shift += 8) {
        double from = weft_inks[WEFT_INK_GROUND].rgb[0] >> shift & 255,
               to = weft_inks[ink].rgb[0] >> shift & 255;

        result |= (uint32_t)lround(from + (to - from) * alpha / 255) << shift;
    }
    return result | 0xff000000;
}

TEST(shades_are_where_they_belong)
{
    struct weft_painter *painter = weft_painter_new();

    for (int scale = 1; scale <= 2; scale++) {
        struct picture *p = new_picture(40 * PX, 30 * PX);
        struct weft_draw *d =
            add(p, WEFT_DRAW_SHADES, WEFT_INK_RUN, 2 * PX, -3 * PX, 5 * PX, 28 * PX, 9 * PX);

        d->count = 16; /* the last one ends early */
        for (uint32_t i = 0; i < 16; i++)
            p->shades[i] = (uint8_t)(i % 4 * 85);
        p->list.shade_count = 16;
        cairo_surface_t *s = paint(painter, p, scale, 0, DIRECT);
        for (int y = 0; y < 30 * scale; y++) {
            for (int x = 0; x < 40 * scale; x++) {
                bool in = y >= 5 * scale && y < 9 * scale && x < 28 * scale;
                int shade = in ? (x / scale + 3) / 2 % 4 * 85 : 0;
                uint32_t is = pixel(s, 8 + x, 8 + y), want = mixed(WEFT_INK_RUN, shade);

                for (int shift = 0; shift < 32; shift += 8)
                    assert_in_range((is >> shift & 255) + 1, want >> shift & 255,
                                    (want >> shift & 255) + 2);
            }
        }
        assert_int_equal(pixel(s, 7, 8 + 6 * scale), 0xff000000); /* outside of the clip */
        cairo_surface_destroy(s);
        free(p);
    }
    weft_painter_free(painter);
}

static const char *const scripts[] = {
    "GET /users/7",
    "\xd8\xb7\xd9\x84\xd8\xa8 \xd8\xb4\xd8\xa8\xd9\x83\xd8\xa9 (7)",
    "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d a<b>",
    "e\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81 Z\xcc\xa7\xcc\xa7\xcc\xa7",
    "\xe8\xaf\xb7\xe6\xb1\x82 42",
    "\xf0\x9f\x8e\x89 \xf0\x9f\x91\xa9\xf0\x9f\x8f\xbd",
    "\xe0\xa4\xa8\xe0\xa4\xae\xe0\xa4\xb8\xe0\xa5\x8d\xe0\xa4\xa4\xe0\xa5\x87",
    "\xff\xfe\x80 \xc3( \xed\xa0\x80 \x01\x02",
    "\xe2\x80\xae gnitirw \xe2\x80\xac",
    "\xf4\x8f\xbf\xbd\xee\x80\x80\xf3\xa0\x80\x81",
};
#define SCRIPTS (int)(sizeof(scripts) / sizeof(scripts[0]))

/* Whatever it is written in, a text stays in the room that the list gives it, and something is seen. */
TEST(texts_of_any_script_stay_in_their_room)
{
    struct weft_painter *painter = weft_painter_new();

    for (int i = 0; i < 2 * SCRIPTS; i++) {
        struct picture *p = new_picture(300 * PX, 40 * PX);
        struct weft_draw *d = add_text(p, 50 * PX, 25 * PX, scripts[i % SCRIPTS]);
        int inside = 0, outside = 0, room = (d->x1 - d->x0) / PX;

        d->bold = i >= SCRIPTS;
        cairo_surface_t *s = paint(painter, p, 1, 0, DIRECT);
        for (int y = 8; y < 48; y++) {
            for (int x = 8; x < 308; x++) {
                bool in = x >= 8 + 50 - 3 && x <= 8 + 50 + room + 3;

                if (pixel(s, x, y) == (weft_inks[WEFT_INK_GROUND].rgb[0] | 0xff000000))
                    continue;
                inside += in;
                outside += !in;
            }
        }
        if (inside == 0 || outside != 0)
            print_error("text %d: %d inside, %d outside\n", i, inside, outside);
        assert_true(inside > 0);
        assert_int_equal(outside, 0);
        cairo_surface_destroy(s);
        free(p);
    }
    weft_painter_free(painter);
}

/* More shapes than a picture of these tests has otherwise, on a picture that is higher than a band. */
static void add_many(struct picture *p, struct weft_draw *draw, uint32_t count, uint32_t *random)
{
    static const uint8_t ops[] = {WEFT_DRAW_RECT, WEFT_DRAW_LINE, WEFT_DRAW_ARROW,
                                  WEFT_DRAW_POINTER, WEFT_DRAW_SHADES};
    p->list.draw = draw;
    p->list.shade_count = 40;
    for (uint32_t i = 0; i < 40; i++)
        p->shades[i] = (uint8_t)(i * 37);
    for (uint32_t i = 0; i < count; i++) {
        const bool shades = next_random(random) % 5 == 0;
        int32_t x = (int32_t)(next_random(random) % (500 * PX)),
                y = (int32_t)(next_random(random) % (1500 * PX));
        draw[i] = (struct weft_draw){
            .op = shades ? WEFT_DRAW_SHADES : ops[next_random(random) % 4],
            .ink = (uint8_t)(next_random(random) % WEFT_INKS),
            .alpha = (uint8_t)(next_random(random) % 2 ? 255 : next_random(random)),
            .size = (int32_t)(next_random(random) % (4 * PX)) + 1,
            .x0 = x,
            .y0 = y,
            .x1 = x + (int32_t)(next_random(random) % (200 * PX)),
            .y1 = y + (int32_t)(next_random(random) % (800 * PX)),
            .count = shades ? 40 : 0,
            .tip = WEFT_NO_TIP,
            .promise = UINT32_MAX};
        if (shades) {
            draw[i].size = 3 * PX;
            draw[i].y1 = y + (int32_t)(next_random(random) % (60 * PX));
        } else if (draw[i].op != WEFT_DRAW_RECT && next_random(random) % 2) {
            draw[i].y1 = y - (int32_t)(next_random(random) % (800 * PX));
            draw[i].x1 = next_random(random) % 3 ? draw[i].x1 : x;
        }
    }
    p->list.draws = count;
}

/* How high the bands are in which a picture is painted makes no difference. */
TEST(low_bands_are_painted_like_high_ones)
{
    enum { MANY = 400, FEW = 20, ROW_BYTES = 24 * 1024 };
    static const char words[] = "Agjpq fj";
    struct weft_painter *painter = weft_painter_new();
    uint32_t random = 20261127;
    int64_t all;

    for (int round = 0; round < 8; round++) {
        static struct weft_draw draw[MANY];
        struct picture *p = new_picture(500 * PX, 700 * PX);
        const int scale = round % 4 == 3 ? 2 : 1;

        add_many(p, draw, MANY, &random);
        memcpy(p->texts, words, sizeof words);
        p->list.text_bytes = sizeof words - 1;
        p->list.point_count = 20;
        for (uint32_t i = 0; i < 20; i++)
            p->points[i] = (struct weft_point){(int32_t)(i * 25 * PX),
                                               (int32_t)(next_random(&random) % (700 * PX))};
        for (uint32_t i = 0; i < MANY; i += FEW) { /* what cairo draws, between the rest */
            struct weft_draw *d = &draw[i];
            const bool steps = next_random(&random) % 4 == 0;
            *d = (struct weft_draw){.op = steps ? WEFT_DRAW_STEPS : WEFT_DRAW_TEXT,
                                    .ink = d->ink,
                                    .alpha = d->alpha,
                                    .size = steps ? 2 * PX
                                                  : (int32_t)(10 + next_random(&random) % 90) * PX,
                                    .x0 = d->x0,
                                    .y0 = d->y0,
                                    .x1 = d->x0 + 300 * PX,
                                    .count = steps ? 20 : sizeof words - 1,
                                    .tip = WEFT_NO_TIP,
                                    .promise = UINT32_MAX};
        }
        cairo_surface_t *a = paint(painter, p, scale, round % 3, DIRECT);
        cairo_surface_t *b = paint_rows(painter, p, scale, round % 3, DIRECT, ROW_BYTES);
        assert_int_equal(compare(a, b, &all), 0);
        assert_int_equal(all, 0);
        cairo_surface_destroy(a);
        cairo_surface_destroy(b);
        free(p);
    }
    weft_painter_free(painter);
}

/* What a painter keeps changes nothing: used before or not, at this scale or another. (But where no font has a
 * character, Pango draws a box with its number, and not the same box the first time as later.) */
TEST(painting_again_gives_the_same)
{
    struct weft_painter *kept = weft_painter_new();
    uint32_t random = 5772156;
    int64_t all;

    for (int round = 0; round < ROUNDS / 4; round++) {
        struct picture *p = random_picture(&random);
        struct weft_painter *fresh = weft_painter_new();

        for (uint32_t i = 0; i < p->list.text_bytes; i++) {
            if ((unsigned char)p->texts[i] >= 0x80)
                p->texts[i] = '?';
        }
        for (int i = 0; i < 3; i++)
            add_text(p, 5 * PX, 10 * (i + 1) * PX, scripts[i])->size += round % 40 * PX;
        for (int scale = 1; scale <= 2; scale++) {
            cairo_surface_t *a = paint(kept, p, scale, 0, DIRECT),
                            *b = paint(fresh, p, scale, 0, DIRECT);
            cairo_surface_t *c = paint(kept, p, scale, 0, DIRECT);

            assert_int_equal(compare(a, b, &all), 0);
            assert_int_equal(compare(a, c, &all), 0);
            cairo_surface_destroy(a);
            cairo_surface_destroy(b);
            cairo_surface_destroy(c);
        }
        weft_painter_free(fresh);
        free(p);
    }
    weft_painter_free(kept);
}

/* Scales that are not whole, turned, clipped to a circle, other formats: slower, but painted. */
TEST(any_surface_will_do)
{
    static const cairo_format_t formats[] = {CAIRO_FORMAT_ARGB32, CAIRO_FORMAT_RGB24,
                                             CAIRO_FORMAT_A8, CAIRO_FORMAT_RGB16_565};
    struct weft_painter *painter = weft_painter_new();
    uint32_t random = 1618033;

    for (int round = 0; round < ROUNDS / 2; round++) {
        struct picture *p = random_picture(&random);
        cairo_surface_t *s = cairo_image_surface_create(formats[round % 4], 50 + round % 7, 50);

        cairo_surface_set_device_scale(s, 1 + round % 3 / 2.0, 1 + round % 3 / 2.0);
        cairo_t *cr = cairo_create(s);
        if (round % 5 == 1)
            cairo_scale(cr, 1.25, 1.25);
        if (round % 5 == 2)
            cairo_rotate(cr, 0.3);
        if (round % 5 == 3)
            cairo_arc(cr, 20, 20, 18, 0, 7);
        if (round % 5 == 4)
            cairo_rectangle(cr, 0, 0, round % 2, 0);
        if (round % 5 > 2)
            cairo_clip(cr);
        assert_int_equal(weft_paint_cairo(painter, cr, &p->list, WEFT_DARK), 0);
        assert_false(cairo_has_current_point(cr));
        cairo_destroy(cr);
        cairo_surface_destroy(s);
        free(p);
    }
    cairo_surface_t *finished = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 9, 9);
    cairo_surface_finish(finished);
    cairo_t *cr = cairo_create(finished);
    struct picture *p = random_picture(&random);
    assert_int_equal(weft_paint_cairo(painter, cr, &p->list, WEFT_DARK), WEFT_E_IO);
    free(p);
    cairo_destroy(cr);
    cairo_surface_destroy(finished);
    weft_painter_free(painter);
}

/* Each allocation of ours fails once: said, or done without, as the picture shows. */
TEST(memory_runs_out)
{
    struct picture *p = new_picture(80 * PX, 60 * PX);
    struct weft_painter *painter = weft_painter_new();
    int failures = 0;
    int64_t all;

    add(p, WEFT_DRAW_RECT, WEFT_INK_HIT, 0, 5 * PX, 5 * PX, 30 * PX, 30 * PX)->alpha = 100;
    add(p, WEFT_DRAW_SHADES, WEFT_INK_HIT, 5 * PX, 5 * PX, 35 * PX, 30 * PX, 39 * PX)->count = 5;
    memset(p->shades, 90, 5);
    p->list.shade_count = 5;
    add_text(p, 0, 12 * PX, scripts[0]);
    add_text(p, 0, 30 * PX, scripts[1]);
    cairo_surface_t *right = paint(painter, p, 1, 0, DIRECT);
    weft_painter_free(painter);
    for (long n = 1, left = 0; left == 0; n++) {
        cairo_surface_t *s = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, 97, 77);
        cairo_t *cr = cairo_create(s);
        int result = WEFT_E_NOMEM;

        cairo_paint(cr);
        cairo_rectangle(cr, 8, 8, 81, 61);
        cairo_clip(cr);
        cairo_translate(cr, 8, 8);
        fail_at = n;
        painter = weft_painter_new();
        if (painter)
            result = weft_paint_cairo(painter, cr, &p->list, WEFT_LIGHT);
        left = fail_at;
        fail_at = 0;
        weft_painter_free(painter);
        cairo_destroy(cr);
        failures += result == WEFT_E_NOMEM;
        if (result == 0)
            assert_true(compare(s, right, &all) <= 3);
        else
            assert_int_equal(result, WEFT_E_NOMEM);
        assert_true(n < 100);
        cairo_surface_destroy(s);
    }
    assert_int_equal(failures, 3); /* the painter, its glyphs, room for a text */
    cairo_surface_destroy(right);
    free(p);
}

static double luminance(uint32_t rgb)
{
    static const double weight[] = {0.0722, 0.7152, 0.2126};
    double sum = 0;

    for (int i = 0; i < 3; i++) {
        double v = (rgb >> 8 * i & 255) / 255.0;

        sum += weight[i] * (v <= 0.03928 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4));
    }
    return sum;
}

static void check_contrast(int a, int b, double least)
{
    for (int theme = 0; theme < 2; theme++) {
        double x = luminance(weft_inks[a].rgb[theme]), y = luminance(weft_inks[b].rgb[theme]);
        double is = x > y ? (x + 0.05) / (y + 0.05) : (y + 0.05) / (x + 0.05);

        if (is < least)
            print_error("%s on %s, %s: %.2f\n", weft_inks[a].css, weft_inks[b].css,
                        theme ? "dark" : "light", is);
        assert_true(is >= least);
    }
}

static double ratio(uint32_t a, uint32_t b)
{
    double x = luminance(a), y = luminance(b);
    return x > y ? (x + 0.05) / (y + 0.05) : (y + 0.05) / (x + 0.05);
}

/* High contrast: seven for all that is drawn, be it a line or a text (WCAG 2.1, 1.4.6). What is only a ground may lie
 * behind texts, which are seen on it just as well. */
TEST(high_contrast_is_high)
{
    for (int theme = 2; theme < 4; theme++) {
        uint32_t ground = weft_inks[WEFT_INK_GROUND].rgb[theme],
                 text = weft_inks[WEFT_INK_TEXT].rgb[theme];
        unsigned drawn = 0;
        assert_int_equal(ground, theme == 2 ? 0xffffff : 0);
        for (int ink = 0; ink < WEFT_INKS; ink++) {
            uint32_t rgb = weft_inks[ink].rgb[theme];
            double on_ground = ratio(rgb, ground), under_text = ratio(rgb, text);
            if (on_ground < 7 && under_text < 7)
                fail_msg("%s, theme %d: %.2f on the ground, %.2f behind texts", weft_inks[ink].css,
                         theme, on_ground, under_text);
            drawn += on_ground >= 7;
        }
        static const int lines[] = {WEFT_INK_WAIT,    WEFT_INK_RUN,    WEFT_INK_FAILED,
                                    WEFT_INK_EDGE,    WEFT_INK_READ,   WEFT_INK_WAITS,
                                    WEFT_INK_RESOLVE, WEFT_INK_SIGNAL, WEFT_INK_FAINT_TEXT};
        for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
            if (ratio(weft_inks[lines[i]].rgb[theme], ground) < 7)
                fail_msg("%s, theme %d: #%06x", weft_inks[lines[i]].css, theme,
                         (unsigned)weft_inks[lines[i]].rgb[theme]);
        assert_true(drawn > 20);
    }
}

/* WCAG 2.1: 1.4.3 for texts, 1.4.11 for lines. */
TEST(colours_have_contrast)
{
    static const int texts[] = {WEFT_INK_TEXT, WEFT_INK_FAINT_TEXT, WEFT_INK_REGION_TEXT,
                                WEFT_INK_FAILED};
    static const int grounds[] = {
        WEFT_INK_GROUND,   WEFT_INK_PANEL, WEFT_INK_SLEEP, WEFT_INK_GC,    WEFT_INK_HIT,
        WEFT_INK_SELECTED, WEFT_INK_RANGE, WEFT_INK_CHAIN, WEFT_INK_HOVER, WEFT_INK_AFFECTED};
    static const int lines[] = {
        WEFT_INK_WAIT,      WEFT_INK_RUN,       WEFT_INK_FOLD,      WEFT_INK_PENDING,
        WEFT_INK_FAILED,    WEFT_INK_EDGE,      WEFT_INK_READ,      WEFT_INK_READ_FAILED,
        WEFT_INK_WAITS,     WEFT_INK_RESOLVE,   WEFT_INK_SIGNAL,    WEFT_INK_COUNTER_0,
        WEFT_INK_COUNTER_1, WEFT_INK_COUNTER_2, WEFT_INK_COUNTER_3, WEFT_INK_EVIDENCE,
        WEFT_INK_ELSE,      WEFT_INK_AWAY,      WEFT_INK_OUTSIDE,   WEFT_INK_CPU_PROMISE};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        for (size_t k = 0; k < sizeof(grounds) / sizeof(grounds[0]); k++)
            check_contrast(texts[i], grounds[k], 4.5);
    }
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        check_contrast(lines[i], WEFT_INK_GROUND, 3);
    for (size_t k = 1; k < sizeof(grounds) / sizeof(grounds[0]); k++)
        check_contrast(grounds[k], WEFT_INK_GROUND, grounds[k] == WEFT_INK_PANEL ? 1.05 : 1.14);
    static const int frames[] = {WEFT_INK_FRAME_USER,    WEFT_INK_FRAME_KERNEL,
                                 WEFT_INK_FRAME_UNNAMED, WEFT_INK_FRAME_PROMISE,
                                 WEFT_INK_FRAME_GROUP,   WEFT_INK_FRAME_MORE};
    for (size_t k = 0; k < sizeof(frames) / sizeof(frames[0]); k++) {
        check_contrast(WEFT_INK_TEXT, frames[k], 4.5);
        check_contrast(WEFT_INK_FAINT_TEXT, frames[k], 4.5);
        check_contrast(frames[k], WEFT_INK_GROUND, 1.14);
    }
    check_contrast(WEFT_INK_TEXT, WEFT_INK_FRAME_GREW, 4.5);
    check_contrast(WEFT_INK_TEXT, WEFT_INK_FRAME_SHRANK, 4.5);
    check_contrast(WEFT_INK_TEXT, WEFT_INK_FRAME_FOUND, 4.5);
    static const int strips[] = {WEFT_INK_CPU_PROMISE, WEFT_INK_ELSE, WEFT_INK_AWAY};
    for (size_t k = 0; k < sizeof(strips) / sizeof(strips[0]); k++)
        check_contrast(strips[k], WEFT_INK_PANEL, 3);
    check_contrast(WEFT_INK_GROUND, WEFT_INK_EVIDENCE, 4.5); /* the text of a flag */
    for (int i = 0; i < 4; i++)                              /* names of counters */
        check_contrast(WEFT_INK_COUNTER_0 + i, WEFT_INK_PANEL, 4.5);
}

/* ---- One colour, one meaning ---- */

/* How people see linear light: all of it, or without one kind of cones (Machado, Oliveira and Fernandes, 2009). */
static const double sights[][3][3] = {
    {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
    {{0.152286, 1.052583, -0.204868},
     {0.114503, 0.786281, 0.099216},
     {-0.003882, -0.048116, 1.051998}},
    {{0.367322, 0.860646, -0.227968},
     {0.280085, 0.672501, 0.047413},
     {-0.011820, 0.042940, 0.968881}},
    {{1.255528, -0.076749, -0.178779},
     {-0.078411, 0.930809, 0.147602},
     {0.004733, 0.691367, 0.303900}},
};
enum { SIGHTS = sizeof(sights) / sizeof(sights[0]) };

static double bent(double t)
{
    return t > 0.008856 ? cbrt(t) : 7.787 * t + 16.0 / 116;
}

/* CIELAB. */
static void as_seen(double lab[3], uint32_t rgb, const double sight[3][3])
{
    double raw[3], l[3];
    for (int i = 0; i < 3; i++) {
        double c = (rgb >> (16 - 8 * i) & 255) / 255.0;
        raw[i] = c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
    }
    for (int i = 0; i < 3; i++) {
        l[i] = sight[i][0] * raw[0] + sight[i][1] * raw[1] + sight[i][2] * raw[2];
        l[i] = l[i] < 0 ? 0 : l[i] > 1 ? 1 : l[i];
    }
    double x = bent((0.4124 * l[0] + 0.3576 * l[1] + 0.1805 * l[2]) / 0.9505);
    double y = bent(0.2126 * l[0] + 0.7152 * l[1] + 0.0722 * l[2]);
    double z = bent((0.0193 * l[0] + 0.1192 * l[1] + 0.9505 * l[2]) / 1.089);
    lab[0] = 116 * y - 16;
    lab[1] = 500 * (x - y);
    lab[2] = 200 * (y - z);
}

static bool have_one_meaning(enum weft_ink a, enum weft_ink b)
{
    static const enum weft_ink pairs[][2] = {
        {WEFT_INK_WAIT, WEFT_INK_PENDING},       /* it waits, and still does at the end */
        {WEFT_INK_FAILED, WEFT_INK_READ_FAILED}, /* a failure, and who learns of it */
        {WEFT_INK_RUN, WEFT_INK_CPU_PROMISE},    /* a promise runs: recorded, and sampled */
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        if ((a == pairs[i][0] && b == pairs[i][1]) || (b == pairs[i][0] && a == pairs[i][1]))
            return true;
    return a == b;
}

/* Greys that are told apart from waiting by their form: thin and upright, or as high as a row. */
static bool is_told_by_form(enum weft_ink ink)
{
    return ink == WEFT_INK_EDGE || ink == WEFT_INK_FOLD;
}

static bool is_band(unsigned kind)
{
    const enum weft_ink ink = weft_kinds[kind].ink;
    return weft_kinds[kind].sample == WEFT_SAMPLE_BOX && ink != WEFT_INK_CPU_PROMISE &&
           ink != WEFT_INK_ELSE && ink != WEFT_INK_AWAY;
}

static bool is_in_strip(unsigned kind)
{
    return kind >= WEFT_KIND_CPU_PROMISE && kind <= WEFT_KIND_INTERRUPTS;
}

static double distance(enum weft_ink a, enum weft_ink b, int theme, int sight)
{
    double p[3], q[3], sum = 0;
    as_seen(p, weft_inks[a].rgb[theme], sights[sight]);
    as_seen(q, weft_inks[b].rgb[theme], sights[sight]);
    for (int i = 0; i < 3; i++)
        sum += (p[i] - q[i]) * (p[i] - q[i]);
    return sqrt(sum);
}

/* Any two kinds with different meanings have colours that can be told apart, also by the colour-blind. */
TEST(one_colour_has_one_meaning)
{
    for (unsigned a = 0; a < WEFT_KINDS; a++)
        for (unsigned b = 0; b < a; b++) {
            const enum weft_ink x = weft_kinds[a].ink, y = weft_kinds[b].ink;
            const double least = is_band(a) ? 7 : 9;
            if (is_in_strip(a) != is_in_strip(b) || have_one_meaning(x, y) ||
                is_band(a) != is_band(b) || is_told_by_form(x) || is_told_by_form(y))
                continue;
            for (int theme = 0; theme < 2; theme++)
                for (int sight = 0; sight < SIGHTS; sight++) {
                    double is = distance(x, y, theme, sight);
                    if (is < least)
                        print_error("%s and %s, %s, sight %d: %.1f\n", weft_kinds[a].key,
                                    weft_kinds[b].key, theme ? "dark" : "light", sight, is);
                    assert_true(is >= least);
                }
        }
}

RUN_TESTS(NULL, NULL)
