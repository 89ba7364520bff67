/* SPDX-License-Identifier: ISC */
/* The painters and the geometry that they share: what a list says is what is to be seen, and no
 * list makes a file that cannot be read. */
#include "picture.h"

#define ROUNDS 3000

/* fontconfig keeps what it has found until the process ends. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libfontconfig\n";
}

static char *svg_of(const struct picture *p, enum weft_theme theme)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_int_equal(weft_paint_svg(&p->list, out, theme), 0);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(strlen(text), size);
    return text;
}

/* A reader of as much XML as the painter writes, stricter than XML. */

static const char *check_name(const char *s)
{
    const char *start = s;

    while ((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || *s == '-' || *s == ':')
        s++;
    assert_true(s > start);
    return s;
}

static const char *check_char(const char *s)
{
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;"};

    if (*s != '&') {
        assert_true((unsigned char)*s >= ' ' || *s == '\n');
        return s + 1;
    }
    for (int i = 0; i < 3; i++) {
        if (strncmp(s, entities[i], strlen(entities[i])) == 0)
            return s + strlen(entities[i]);
    }
    fail_msg("a bare &: %.20s", s);
    return s;
}

/* From the name of an element to behind its ">"; *empty: it ended with "/>". */
static const char *check_attributes(const char *s, bool *empty)
{
    while (*s == ' ') {
        s = check_name(s + 1);
        assert_memory_equal(s, "=\"", 2);
        for (s += 2; *s != '"'; s = check_char(s))
            assert_true(*s != '<' && *s != '\0');
        s++;
    }
    *empty = *s == '/';
    s += *empty;
    assert_int_equal(*s, '>');
    return s + 1;
}

static void check_xml(const char *s)
{
    const char *open[16];
    size_t sizes[16], depth = 0, size = strlen(s);
    char *clean = malloc(size + 1);

    /* Newlines stand between elements and are all that cleaning may change. */
    assert_non_null(clean);
    assert_int_equal(weft_text_clean(clean, size, s, size), size);
    for (size_t i = 0; i < size; i++)
        assert_true(clean[i] == s[i] || s[i] == '\n');
    free(clean);
    assert_memory_equal(s, "<svg ", 5);
    do {
        bool empty;

        if (*s != '<') {
            s = check_char(s);
        } else if (s[1] == '/') {
            assert_true(depth > 0);
            depth--;
            assert_memory_equal(s + 2, open[depth], sizes[depth]);
            assert_int_equal(s[2 + sizes[depth]], '>');
            s += 3 + sizes[depth];
        } else {
            assert_true(depth < 16);
            open[depth] = s + 1;
            s = check_name(s + 1);
            sizes[depth] = (size_t)(s - open[depth]);
            s = check_attributes(s, &empty);
            depth += !empty;
        }
    } while (depth > 0);
    assert_string_equal(s, "\n");
}

/* What stands between the ground and the end. */
static void check_body(struct picture *p, const char *expected)
{
    static const char ground[] = "<rect class=\"f ground\" width=\"100%\" height=\"100%\"/>\n";
    char *svg = svg_of(p, WEFT_LIGHT), *body = strstr(svg, ground);

    assert_non_null(body);
    check_xml(svg);
    svg[strlen(svg) - strlen("</svg>\n")] = '\0';
    assert_string_equal(body + sizeof(ground) - 1, expected);
    free(svg);
    free(p);
}

TEST(svg_is_compact)
{
    struct picture *p = new_picture(100 * PX, 50 * PX);

    add(p, WEFT_DRAW_RECT, WEFT_INK_SLEEP, 0, 10 * PX, 0, 20 * PX + 5, 8 * PX);
    add(p, WEFT_DRAW_RECT, WEFT_INK_SLEEP, 0, 30 * PX + 20, 0, 30 * PX + 21, 8 * PX); /* a sliver */
    add(p, WEFT_DRAW_RECT, WEFT_INK_SLEEP, 0, 40 * PX, 3 * PX, 40 * PX, 8 * PX);      /* nothing */
    add(p, WEFT_DRAW_RECT, WEFT_INK_SLEEP, 0, 200 * PX, 0, 300 * PX, 8 * PX);         /* outside */
    add(p, WEFT_DRAW_RECT, WEFT_INK_SLEEP, 0, -9 * PX, 45 * PX, 300 * PX, 99 * PX);   /* cut */
    add(p, WEFT_DRAW_LINE, WEFT_INK_WAIT, PX, 5 * PX, 10 * PX, 25 * PX, 10 * PX);
    add(p, WEFT_DRAW_LINE, WEFT_INK_WAIT, PX, 5 * PX, 20 * PX, 5 * PX, 12 * PX);
    add(p, WEFT_DRAW_LINE, WEFT_INK_WAIT, PX, 1 * PX + 1, 1 * PX, 9 * PX, 5 * PX + 32);
    check_body(p, "<path class=\"f sleep\" d=\"M10 0h10v8h-10zM30 0h1v8h-1zM0 45h100v5h-100z\"/>\n"
                  "<path class=\"l wait\" d=\"M5 10.5h20M5.5 12v8M1.02 1l7.98 4.5\"/>\n");
}

TEST(svg_arrows_steps_tips)
{
    struct picture *p = new_picture(100 * PX, 50 * PX);
    struct weft_draw *d =
        add(p, WEFT_DRAW_ARROW, WEFT_INK_READ, PX, 10 * PX, 5 * PX, 10 * PX, 30 * PX);

    set_tip(p, d, "a<b");
    d = add(p, WEFT_DRAW_LINE, WEFT_INK_RUN, 2 * PX, 0, 10 * PX, 9 * PX, 10 * PX);
    set_tip(p, d, "runs");
    d = add(p, WEFT_DRAW_STEPS, WEFT_INK_COUNTER_0, 2 * PX, 0, 0, 0, 0);
    d->alpha = 128;
    d->first = 1;
    d->count = 4;
    p->points[1] = (struct weft_point){0, 20 * PX};
    p->points[2] = (struct weft_point){10 * PX, 20 * PX};
    p->points[3] = (struct weft_point){10 * PX, 15 * PX};
    p->points[4] = (struct weft_point){99 * PX, 15 * PX};
    p->list.point_count = 5;
    check_body(p, "<g class=\"read\">\n"
                  "<g><title>a&lt;b</title><path class=\"l\" d=\"M10.5 5v18\"/>\n"
                  "<path class=\"f\" d=\"M10.5 30l-2.5-7h5z\"/>\n"
                  "</g>\n"
                  "</g>\n"
                  "<path class=\"l run\" stroke-width=\"2\" d=\"M0 10h9\">"
                  "<title>runs</title></path>\n"
                  "<g class=\"l c0\" stroke-width=\"2\" stroke-opacity=\".502\">\n"
                  "<path d=\"M0 20h10v-5h89\"/>\n"
                  "</g>\n");
}

TEST(svg_groups)
{
    struct picture *p = new_picture(100 * PX, 50 * PX);

    for (int32_t i = 0; i < 4; i++) {
        struct weft_draw *d =
            add(p, WEFT_DRAW_RECT, WEFT_INK_HIT, 0, i * PX, 0, i * PX + PX, 2 * PX);
        if (i == 2)
            set_tip(p, d, "!");
    }
    /* Translucent ones stay apart, so that they add up. */
    add(p, WEFT_DRAW_LINE, WEFT_INK_EDGE, 32, 0, 0, 3 * PX, 4 * PX)->alpha = 51;
    add(p, WEFT_DRAW_LINE, WEFT_INK_EDGE, 32, 0, 0, 4 * PX, 4 * PX)->alpha = 51;
    check_body(p, "<g class=\"f hit\">\n"
                  "<path d=\"M0 0h1v2h-1zM1 0h1v2h-1z\"/>\n"
                  "<path d=\"M2 0h1v2h-1z\"><title>!</title></path>\n"
                  "<path d=\"M3 0h1v2h-1z\"/>\n"
                  "</g>\n"
                  "<g class=\"l edge\" stroke-width=\".5\" stroke-opacity=\".2\">\n"
                  "<path d=\"M0 0l3 4\"/>\n"
                  "<path d=\"M0 0l4 4\"/>\n"
                  "</g>\n");
}

/* One path for each opacity; what is transparent and has no text serves nobody. */
TEST(svg_shades_and_transparent_tips)
{
    static const uint8_t shades[] = {0, 51, 51, 255, 51, 0};
    struct picture *p = new_picture(100 * PX, 50 * PX);
    struct weft_draw *d =
        add(p, WEFT_DRAW_SHADES, WEFT_INK_FOLD, 2 * PX, 10 * PX, 4 * PX, 21 * PX, 7 * PX);

    memcpy(p->shades + 3, shades, sizeof(shades));
    p->list.shade_count = 3 + sizeof(shades);
    d->first = 3;
    d->count = sizeof(shades);
    d = add(p, WEFT_DRAW_SHADES, WEFT_INK_FOLD, 2 * PX, 10 * PX, 8 * PX, 11 * PX, 9 * PX);
    d->first = 4;
    d->count = 1;
    add(p, WEFT_DRAW_RECT, WEFT_INK_FOLD, 0, 0, 0, 9 * PX, 9 * PX)->alpha = 0;
    d = add(p, WEFT_DRAW_RECT, WEFT_INK_FOLD, 0, 10 * PX, 4 * PX, 20 * PX, 7 * PX);
    d->alpha = 0;
    set_tip(p, d, "7 promises");
    check_body(p, "<g class=\"l fold\">\n"
                  "<path stroke-width=\"3\" stroke-opacity=\".2\" d=\"M12 5.5h4m2 0h2\"/>\n"
                  "<path stroke-width=\"3\" d=\"M16 5.5h2\"/>\n"
                  "<path stroke-opacity=\".2\" d=\"M10 8.5h1\"/>\n"
                  "</g>\n"
                  "<path class=\"f fold\" fill-opacity=\"0\" pointer-events=\"all\" "
                  "d=\"M10 4h10v3h-10z\"><title>7 promises</title></path>\n");
}

TEST(svg_texts)
{
    struct picture *p = new_picture(100 * PX, 50 * PX);
    struct weft_draw *d = add_text(p, 3 * PX + 16, 12 * PX, "x<&>\"\x01\xef\xbf\xbe\xff");

    d->x1 = d->x0 + 20 * PX;
    d->bold = 1;
    check_body(p,
               "<text class=\"f text\" font-size=\"12\" font-weight=\"bold\" x=\"3.25\" y=\"12\" "
               "textLength=\"20\" lengthAdjust=\"spacingAndGlyphs\">"
               "x&lt;&amp;&gt;\" \xef\xbf\xbd\xef\xbf\xbd</text>\n");
}

TEST(svg_themes)
{
    struct picture *p = new_picture(100 * PX + 32, 50 * PX);
    char *light, *dark, *both;

    add_text(p, 0, 12 * PX, "a & b");
    light = svg_of(p, WEFT_LIGHT);
    dark = svg_of(p, WEFT_DARK);
    both = svg_of(p, WEFT_AUTO);
    check_xml(light);
    check_xml(both);
    assert_non_null(strstr(light, " width=\"100.5\" height=\"50\" viewBox=\"0 0 100.5 50\""));
    assert_non_null(strstr(light, "<title>a &amp; b</title>"));
    assert_non_null(strstr(light, ".ground{fill:#ffffff;"));
    assert_null(strstr(light, "@media"));
    assert_non_null(strstr(dark, ".ground{fill:#16191d;"));
    assert_null(strstr(dark, "#ffffff;stroke:#ffffff}\n.panel"));
    assert_true(strstr(both, ".ground{fill:#ffffff;") < strstr(both, "@media"));
    assert_true(strstr(both, ".ground{fill:#16191d;") > strstr(both, "@media"));
    assert_true(strstr(both, ".f{stroke:none}") > strstr(both, "@media"));
    free(light);
    free(dark);
    free(both);
    free(p);
}

static int64_t square(int64_t x)
{
    return x * x;
}

static void check_head(int op, int32_t x0, int32_t y0, int32_t x1, int32_t y1)
{
    struct weft_draw d = {.op = (uint8_t)op, .size = PX, .x0 = x0, .y0 = y0, .x1 = x1, .y1 = y1};
    struct weft_point c[3];
    int64_t far = square((int64_t)x1 - x0) + square((int64_t)y1 - y0);

    weft_arrow_head(c, &d);
    assert_true(c[0].x == x1 && c[0].y == y1);
    int64_t back =
        square(((int64_t)c[1].x + c[2].x) / 2 - x1) + square(((int64_t)c[1].y + c[2].y) / 2 - y1);
    int64_t wide = square((int64_t)c[1].x - c[2].x) + square((int64_t)c[1].y - c[2].y);
    int64_t longest = square(7 * PX), widest = square(5 * PX);
    if (op == WEFT_DRAW_ARROW && far < longest) {
        widest = 25 * far / 49;
        longest = far;
    }
    /* To the roundings of three corners. */
    assert_true(llabs(back - longest) <= 4 * 7 * PX && llabs(wide - widest) <= 6 * 5 * PX);
    assert_true(op == WEFT_DRAW_POINTER || back <= far + 4 * 7 * PX);
}

TEST(heads)
{
    struct weft_draw d = {.op = WEFT_DRAW_ARROW, .size = PX, .x1 = 100 * PX};
    struct weft_point c[3];

    weft_arrow_head(c, &d);
    assert_true(c[1].x == 93 * PX && c[2].x == 93 * PX);
    assert_int_equal(labs(c[1].y - c[2].y), 5 * PX);
    for (int32_t x = -30; x <= 30; x++) {
        for (int32_t y = -30; y <= 30; y++) {
            if (x == 0 && y == 0)
                continue;
            for (int32_t times = 1; times < 1000000; times *= 21) {
                check_head(WEFT_DRAW_ARROW, 0, 0, x * times, y * times);
                check_head(WEFT_DRAW_POINTER, 5000, -7000, 5000 + x * times, -7000 + y * times);
            }
        }
    }
    /* An arrow of no length has no head; a pointer that points nowhere points right. */
    d.x1 = 0;
    weft_arrow_head(c, &d);
    assert_true(c[1].x == 0 && c[1].y == 0 && c[2].x == 0 && c[2].y == 0);
    d.op = WEFT_DRAW_POINTER;
    weft_arrow_head(c, &d);
    assert_true(c[1].x == -7 * PX && c[2].x == -7 * PX);
    /* The ends of the range: no overflow. */
    d = (struct weft_draw){.op = WEFT_DRAW_ARROW, .size = INT32_MAX};
    d.x0 = d.y0 = INT32_MAX;
    d.x1 = d.y1 = INT32_MIN;
    weft_arrow_head(c, &d);
    assert_true(c[0].x == INT32_MIN && c[1].x < 0 && c[2].y < 0);
    d.x0 = d.y0 = INT32_MIN;
    d.x1 = d.y1 = INT32_MAX;
    weft_arrow_head(c, &d);
    assert_true(c[0].x == INT32_MAX && c[1].x > 0 && c[2].y > 0);
}

static cairo_status_t read_some(void *closure, unsigned char *data, unsigned size)
{
    return fread(data, 1, size, closure) == size ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_READ_ERROR;
}

static cairo_surface_t *png_of(const struct picture *p, enum weft_theme theme)
{
    static const unsigned char signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    char begin[sizeof(signature)];
    FILE *file = tmpfile();
    struct weft_error err;

    assert_non_null(file);
    assert_int_equal(weft_paint_png(&p->list, file, theme, &err), 0);
    rewind(file);
    assert_int_equal(fread(begin, 1, sizeof(begin), file), sizeof(begin));
    assert_memory_equal(begin, signature, sizeof(signature));
    rewind(file);
    cairo_surface_t *surface = cairo_image_surface_create_from_png_stream(read_some, file);
    assert_int_equal(cairo_surface_status(surface), CAIRO_STATUS_SUCCESS);
    fclose(file);
    return surface;
}

static uint32_t colour(int ink, enum weft_theme theme)
{
    return weft_inks[ink].rgb[theme];
}

/* Every pixel is wholly the thing or wholly ground, wherever between pixels the thing lies. */
TEST(png_is_sharp)
{
    for (int32_t off = 0; off < PX; off += 7) {
        struct picture *p = new_picture(40 * PX, 30 * PX - 5);
        int count[4] = {0};

        add(p, WEFT_DRAW_RECT, WEFT_INK_HIT, 0, 5 * PX + off, 5 * PX + off, 10 * PX + off,
            8 * PX + off);
        add(p, WEFT_DRAW_LINE, WEFT_INK_READ, PX, 20 * PX + off, 2 * PX + off, 30 * PX + off,
            2 * PX + off);
        add(p, WEFT_DRAW_LINE, WEFT_INK_READ, PX, 35 * PX + off, 2 * PX + off, 35 * PX + off,
            12 * PX + off);
        add(p, WEFT_DRAW_LINE, WEFT_INK_FAILED, 3 * PX, off, 20 * PX + off, 20 * PX + off,
            20 * PX + off);

        cairo_surface_t *s = png_of(p, WEFT_DARK);
        assert_int_equal(cairo_image_surface_get_width(s), 40);
        assert_int_equal(cairo_image_surface_get_height(s), 30);
        for (int y = 0; y < 30; y++) {
            for (int x = 0; x < 40; x++) {
                uint32_t is = pixel(s, x, y) & 0xffffff;
                static const int inks[] = {WEFT_INK_HIT, WEFT_INK_READ, WEFT_INK_FAILED,
                                           WEFT_INK_GROUND};
                int i = 0;

                while (i < 4 && is != colour(inks[i], WEFT_DARK))
                    i++;
                assert_true(i < 4);
                count[i]++;
            }
        }
        assert_int_equal(count[0], 5 * 3);
        assert_int_equal(count[1], 10 + 10);
        assert_int_equal(count[2], 20 * 3);
        cairo_surface_destroy(s);
        free(p);
    }
}

/* A text is as wide as the list says, in any font: here twice and half as wide as it would be. */
TEST(png_text_fits)
{
    for (int32_t wide = 30; wide <= 120; wide *= 2) {
        struct picture *p = new_picture(200 * PX, 20 * PX);
        struct weft_draw *d = add_text(p, 10 * PX, 15 * PX, "HHHHHHH");
        int last = 0;

        d->x1 = d->x0 + wide * PX;
        cairo_surface_t *s = png_of(p, WEFT_AUTO);
        for (int x = 0; x < 200; x++) {
            for (int y = 0; y < 20; y++)
                last =
                    (pixel(s, x, y) & 0xffffff) != colour(WEFT_INK_GROUND, WEFT_LIGHT) ? x : last;
        }
        assert_in_range(last, 10 + wide * 9 / 10 - 2, 10 + wide);
        cairo_surface_destroy(s);
        free(p);
    }
}

TEST(errors)
{
    struct picture *p = new_picture(16385 * PX, 50 * PX);
    struct weft_error err = {0};
    FILE *file = tmpfile(), *full = fopen("/dev/full", "w");

    assert_non_null(file);
    assert_int_equal(weft_paint_png(&p->list, file, WEFT_LIGHT, &err), WEFT_E_LIMIT);
    assert_int_equal(err.code, WEFT_E_LIMIT);
    assert_non_null(strstr(err.text, "16385"));
    assert_int_equal(weft_paint_pdf(&p->list, file, WEFT_LIGHT, NULL), WEFT_E_LIMIT);
    p->list.width = 0;
    assert_int_equal(weft_paint_png(&p->list, file, WEFT_LIGHT, &err), WEFT_E_INVALID);
    p->list.width = INT32_MIN;
    assert_int_equal(weft_paint_pdf(&p->list, file, WEFT_LIGHT, &err), WEFT_E_INVALID);
    assert_int_equal(ftell(file), 0);
    fclose(file);
    if (full) {
        setvbuf(full, NULL, _IONBF, 0);
        p->list.width = 50 * PX;
        assert_int_equal(weft_paint_png(&p->list, full, WEFT_LIGHT, &err), WEFT_E_IO);
        assert_true(strlen(err.text) > 10);
        assert_int_equal(weft_paint_pdf(&p->list, full, WEFT_LIGHT, &err), WEFT_E_IO);
        assert_int_equal(weft_paint_svg(&p->list, full, WEFT_LIGHT), WEFT_E_IO);
        fclose(full);
    }
    free(p);
}

TEST(any_list_can_be_painted)
{
    uint32_t random = 2463534242;

    for (int round = 0; round < ROUNDS; round++) {
        struct picture *p = random_picture(&random);
        char *svg = svg_of(p, (enum weft_theme)(round % 3)), begin[5] = "";

        check_xml(svg);
        free(svg);
        if (round % 4 == 0) {
            cairo_surface_destroy(png_of(p, WEFT_LIGHT));
        } else if (round % 16 == 1) {
            FILE *file = tmpfile();

            assert_non_null(file);
            assert_int_equal(weft_paint_pdf(&p->list, file, WEFT_LIGHT, NULL), 0);
            rewind(file);
            assert_int_equal(fread(begin, 1, 4, file), 4);
            assert_string_equal(begin, "%PDF");
            fclose(file);
        }
        free(p);
    }
}

/* However far away a line's ends are: what is left of it has its slope. */
TEST(clipping_keeps_slopes)
{
    struct picture *p = new_picture(60 * PX, 60 * PX);

    add(p, WEFT_DRAW_LINE, WEFT_INK_READ, PX, -3200 * PX, -1600 * PX, 327680 * PX, 163840 * PX);
    add(p, WEFT_DRAW_LINE, WEFT_INK_READ, PX, 327680 * PX, -163780 * PX, -3200 * PX, 1660 * PX);
    add(p, WEFT_DRAW_LINE, WEFT_INK_READ, PX, INT32_MIN, INT32_MIN, INT32_MAX, INT32_MAX);
    add(p, WEFT_DRAW_LINE, WEFT_INK_READ, PX, INT32_MIN, INT32_MIN, INT32_MAX, INT32_MIN + 9);
    add(p, WEFT_DRAW_ARROW, WEFT_INK_READ, PX, -32768 * PX, 20 * PX, 32767 * PX, 20 * PX);
    check_body(p, "<path class=\"l read\" d=\"M-2-1l64 32M62 29l-64 32M-2-2l64 64\"/>\n"
                  "<g class=\"read\">\n"
                  "<path class=\"l\" d=\"M-2 20.5h64\"/>\n"
                  "</g>\n");
}

RUN_TESTS(NULL, NULL)
