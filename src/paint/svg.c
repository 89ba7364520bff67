/* SPDX-License-Identifier: ISC */
/* A draw list as one SVG file that stands alone: no script, nothing fetched, every text as text.
 *
 * Numbers are printed from integers, so that neither locale nor floating point matters: the file is the same
 * everywhere. Consecutive draws that look alike share a <g>; if they cannot be told apart at all (opaque, without a
 * tip), they share a <path>. */
#include "paint/paint.h"

#include <stdlib.h>

#include "paint/shape.h"
#include "view/text.h"

#define PATH_DRAWS 256   /* maximum number of draws that share a <path> */
#define PATH_POINTS 4096 /* points of steps in one <path> */

struct svg {
    FILE *out;
    const struct weft_drawlist *list;
    char *scratch; /* space for any text of the list after cleaning */
    size_t room;
    int64_t x, y; /* the pen, in 1/100 px */
    bool open;    /* a path has begun, so the pen has a position */
    bool alone;   /* the element has no group that says how it looks */
};

/* value / unit, unit being a power of ten, without trailing zeros. */
static void put_decimal(FILE *out, int64_t value, int64_t unit)
{
    char digits[24];
    size_t n = sizeof(digits);
    uint64_t rest = (uint64_t)(value < 0 ? -value : value);
    uint64_t whole = rest / (uint64_t)unit;
    bool some = false;
    for (rest %= (uint64_t)unit; unit > 1; unit /= 10, rest /= 10) {
        if (some || rest % 10 != 0) {
            digits[--n] = (char)('0' + rest % 10);
            some = true;
        }
    }
    if (some)
        digits[--n] = '.';
    for (; whole != 0 || (!some && n == sizeof(digits)); whole /= 10)
        digits[--n] = (char)('0' + whole % 10);
    if (value < 0)
        digits[--n] = '-';
    fwrite(digits + n, 1, sizeof(digits) - n, out);
}

static int64_t hundredths(int64_t units)
{
    return (units * 100 + (units < 0 ? -WEFT_PX / 2 : WEFT_PX / 2)) / WEFT_PX;
}

static void put_attribute(FILE *out, const char *name, int64_t value, int64_t unit)
{
    fprintf(out, " %s=\"", name);
    put_decimal(out, value, unit);
    fputc('"', out);
}

/* An attribute in pixels. */
static void put_size(FILE *out, const char *name, int64_t units)
{
    put_attribute(out, name, hundredths(units), 100);
}

static void put_pair(FILE *out, int64_t a, int64_t b)
{
    put_decimal(out, a, 100);
    if (b >= 0) /* a minus separates as well */
        fputc(' ', out);
    put_decimal(out, b, 100);
}

static void put_text(struct svg *svg, uint32_t first, uint32_t count)
{
    /* The list promises clean texts; one that is not must not make the file unreadable. */
    size_t size = weft_text_clean(svg->scratch, svg->room, svg->list->texts + first, count);
    for (size_t i = 0; i < size; i++) {
        char c = svg->scratch[i];
        const char *name = c == '&' ? "amp" : c == '<' ? "lt" : c == '>' ? "gt" : NULL;
        if (name)
            fprintf(svg->out, "&%s;", name);
        else
            fputc(c, svg->out);
    }
}

static bool has_tip(const struct weft_draw *d)
{
    return d->tip != WEFT_NO_TIP;
}

static void put_tip(struct svg *svg, const struct weft_draw *d)
{
    if (has_tip(d)) {
        fputs("<title>", svg->out);
        put_text(svg, d->tip, d->tip_size);
        fputs("</title>", svg->out);
    }
}

/* What consists of several elements shares a tip. */
static void begin_tip(struct svg *svg, const struct weft_draw *d)
{
    if (has_tip(d))
        fputs("<g>", svg->out);
    put_tip(svg, d);
}

static void end_tip(struct svg *svg, const struct weft_draw *d)
{
    if (has_tip(d))
        fputs("</g>\n", svg->out);
}

/* Not even as a transparent shape: without a tip it has no use. */
static bool is_nothing(const struct weft_draw *d)
{
    return d->alpha == 0 && !(has_tip(d) && d->op == WEFT_DRAW_RECT);
}

static bool is_line(const struct weft_draw *d)
{
    return d->op == WEFT_DRAW_LINE || d->op == WEFT_DRAW_ARROW || d->op == WEFT_DRAW_STEPS;
}

/* The opacity of each shape in a group, not of the group: overlapping shapes add up, as in cairo. */
static void put_alpha(FILE *out, const char *attribute, int alpha)
{
    if (alpha != 255)
        put_attribute(out, attribute, (alpha * 1000 + 127) / 255, 1000);
}

/* The attributes that a group of draws shares. */
static void put_look(struct svg *svg, const struct weft_draw *d)
{
    const char *role = d->op == WEFT_DRAW_ARROW                  ? ""
                       : is_line(d) || d->op == WEFT_DRAW_SHADES ? "l "
                                                                 : "f ";

    fprintf(svg->out, " class=\"%s%s\"", role, weft_inks[d->ink].css);
    if (d->op == WEFT_DRAW_TEXT) {
        put_size(svg->out, "font-size", d->size);
        fputs(d->bold ? " font-weight=\"bold\"" : "", svg->out);
    } else if (is_line(d) && paint_shape_width(d) != WEFT_PX) { /* 1 is what SVG assumes */
        put_size(svg->out, "stroke-width", paint_shape_width(d));
    }
    if (d->op == WEFT_DRAW_SHADES)
        return;
    if (is_line(d))
        put_alpha(svg->out, "stroke-opacity", d->alpha);
    if (!is_line(d) || d->op == WEFT_DRAW_ARROW)
        put_alpha(svg->out, "fill-opacity", d->alpha);
    if (d->alpha == 0)
        fputs(" pointer-events=\"all\"", svg->out);
}

/* Paths: absolute where they begin, relative from there. The differences are between rounded numbers, so that rounding
 * errors do not add up. */

static void path_begin(struct svg *svg, const struct weft_draw *d, bool head)
{
    fputs("<path", svg->out);
    if (svg->alone)
        put_look(svg, d);
    else if (d->op == WEFT_DRAW_ARROW) /* whose group sets neither */
        fputs(head ? " class=\"f\"" : " class=\"l\"", svg->out);
    fputs(" d=\"", svg->out);
    svg->open = false;
}

static void path_move(struct svg *svg, int32_t x, int32_t y)
{
    int64_t to_x = hundredths(x), to_y = hundredths(y);
    if (svg->open && to_x == svg->x && to_y == svg->y)
        return;
    fputc('M', svg->out);
    put_pair(svg->out, to_x, to_y);
    svg->x = to_x;
    svg->y = to_y;
    svg->open = true;
}

static void path_line(struct svg *svg, int32_t x, int32_t y)
{
    int64_t dx = hundredths(x) - svg->x, dy = hundredths(y) - svg->y;
    if (dx != 0 && dy != 0) {
        fputc('l', svg->out);
        put_pair(svg->out, dx, dy);
    } else if (dx != 0 || dy != 0) {
        fputc(dx != 0 ? 'h' : 'v', svg->out);
        put_decimal(svg->out, dx != 0 ? dx : dy, 100);
    }
    svg->x += dx;
    svg->y += dy;
}

static void path_body(struct svg *svg, const struct weft_draw *d, const struct paint_shape *s)
{
    svg->open = false; /* joining two lines would mitre them */
    path_move(svg, s->x0, s->y0);
    if (d->op == WEFT_DRAW_RECT) {
        path_line(svg, s->x1, s->y0);
        path_line(svg, s->x1, s->y1);
        path_line(svg, s->x0, s->y1);
        fputc('z', svg->out);
    } else {
        path_line(svg, s->x1, s->y1);
    }
}

static void path_head(struct svg *svg, const struct paint_shape *s)
{
    svg->open = false;
    path_move(svg, s->corner[0].x, s->corner[0].y);
    path_line(svg, s->corner[1].x, s->corner[1].y);
    path_line(svg, s->corner[2].x, s->corner[2].y);
    fputc('z', svg->out);
}

/* One path of the bodies or of the heads of draws that look alike. */
static void put_parts(struct svg *svg, const struct weft_draw *d, uint32_t count, bool heads)
{
    struct paint_shape s;
    bool begun = false;
    for (uint32_t i = 0; i < count; i++) {
        struct weft_draw solid = d[i];
        solid.alpha = 255; /* transparent shapes still react to the pointer */
        if (!paint_shape_of(&s, svg->list, &solid) || !(heads ? s.head : s.body))
            continue;
        if (!begun)
            path_begin(svg, d, heads);
        begun = true;
        if (heads)
            path_head(svg, &s);
        else
            path_body(svg, &d[i], &s);
    }
    if (!begun)
        return;
    if (count == 1 && d->op != WEFT_DRAW_ARROW && has_tip(d)) {
        fputs("\">", svg->out);
        put_tip(svg, d);
        fputs("</path>\n", svg->out);
    } else {
        fputs("\"/>\n", svg->out);
    }
}

static void put_shapes(struct svg *svg, const struct weft_draw *d, uint32_t count)
{
    if (d->op == WEFT_DRAW_ARROW)
        begin_tip(svg, d);
    put_parts(svg, d, count, false);
    put_parts(svg, d, count, true);
    if (d->op == WEFT_DRAW_ARROW)
        end_tip(svg, d);
}

static void put_steps(struct svg *svg, const struct weft_draw *d)
{
    struct paint_shape s;
    uint32_t in_path = 0;
    begin_tip(svg, d);
    for (uint32_t i = 1; i < d->count; i++) {
        if (!paint_shape_step(&s, svg->list, d, i))
            continue;
        if (in_path == PATH_POINTS) {
            fputs("\"/>\n", svg->out);
            in_path = 0;
        }
        if (in_path++ == 0)
            path_begin(svg, d, false);
        path_move(svg, s.x0, s.y0);
        path_line(svg, s.x1, s.y1);
    }
    if (in_path != 0)
        fputs("\"/>\n", svg->out);
    end_tip(svg, d);
}

static void put_words(struct svg *svg, const struct weft_draw *d)
{
    if (!paint_shape_text(svg->list, d))
        return;
    fputs("<text", svg->out);
    if (svg->alone)
        put_look(svg, d);
    put_size(svg->out, "x", d->x0);
    put_size(svg->out, "y", d->y0);
    put_size(svg->out, "textLength", (int64_t)d->x1 - d->x0);
    fputs(" lengthAdjust=\"spacingAndGlyphs\">", svg->out);
    put_tip(svg, d);
    put_text(svg, d->first, d->count);
    fputs("</text>\n", svg->out);
}

/* Shades are lines as thick as they are high, all of one opacity in one path: the fewest bytes. */

static void shade_run(struct svg *svg, const struct paint_shape *s, uint8_t alpha)
{
    int64_t x = hundredths(s->x0);
    if (!svg->open) {
        fputs("<path", svg->out);
        if (s->y1 - s->y0 != WEFT_PX)
            put_size(svg->out, "stroke-width", s->y1 - s->y0);
        put_alpha(svg->out, "stroke-opacity", alpha);
        fputs(" d=\"", svg->out);
        path_move(svg, s->x0, s->y0 + (s->y1 - s->y0) / 2);
    } else {
        fputc('m', svg->out);
        put_pair(svg->out, x - svg->x, 0);
        svg->x = x;
    }
    fputc('h', svg->out);
    put_decimal(svg->out, hundredths(s->x1 - s->x0), 100);
    svg->x += hundredths(s->x1 - s->x0);
}

static void put_shade(struct svg *svg, const struct weft_draw *d, uint8_t wanted)
{
    struct paint_shape s;
    uint8_t alpha;
    svg->open = false;
    for (uint32_t i = 0; paint_shape_shades(&s, &alpha, svg->list, d, &i);) {
        if (alpha == wanted)
            shade_run(svg, &s, alpha);
    }
    if (svg->open)
        fputs("\"/>\n", svg->out);
}

static void put_shades(struct svg *svg, const struct weft_draw *d)
{
    struct paint_shape s;
    uint8_t alpha;
    bool is_there[256] = {false};
    begin_tip(svg, d);
    for (uint32_t i = 0; paint_shape_shades(&s, &alpha, svg->list, d, &i);)
        is_there[alpha] = true;
    for (int i = 1; i < 256; i++) {
        if (is_there[i])
            put_shade(svg, d, (uint8_t)i);
    }
    end_tip(svg, d);
}

static bool alike(const struct weft_draw *a, const struct weft_draw *b)
{
    if (a->op != b->op || a->ink != b->ink || a->alpha != b->alpha)
        return false;
    if (a->alpha == 0 && is_nothing(a) != is_nothing(b))
        return false;
    if (a->op == WEFT_DRAW_SHADES)
        return true;
    if (a->op == WEFT_DRAW_TEXT)
        return a->size == b->size && a->bold == b->bold;
    return !is_line(a) || paint_shape_width(a) == paint_shape_width(b);
}

/* How many of these draws share a path: opaque ones without a tip do. */
static uint32_t path_draws(const struct weft_draw *d, uint32_t count)
{
    uint32_t n = 1;
    if (d->op == WEFT_DRAW_TEXT || d->op == WEFT_DRAW_STEPS || d->op == WEFT_DRAW_SHADES ||
        d->alpha != 255 || has_tip(d))
        return 1;
    while (n < count && n < PATH_DRAWS && !has_tip(&d[n]))
        n++;
    return n;
}

/* Draws that look alike. */
static void put_group(struct svg *svg, const struct weft_draw *d, uint32_t count)
{
    svg->alone = path_draws(d, count) == count && d->op != WEFT_DRAW_ARROW &&
                 d->op != WEFT_DRAW_STEPS && d->op != WEFT_DRAW_SHADES;
    if (!svg->alone) {
        fputs("<g", svg->out);
        put_look(svg, d);
        fputs(">\n", svg->out);
    }
    for (uint32_t i = 0, n; i < count; i += n) {
        n = path_draws(&d[i], count - i);
        if (d->op == WEFT_DRAW_TEXT)
            put_words(svg, &d[i]);
        else if (d->op == WEFT_DRAW_STEPS)
            put_steps(svg, &d[i]);
        else if (d->op == WEFT_DRAW_SHADES)
            put_shades(svg, &d[i]);
        else
            put_shapes(svg, &d[i], n);
    }
    if (!svg->alone)
        fputs("</g>\n", svg->out);
}

/* Marks are rare: their colours are written only if they are used. */
static bool is_needed(const struct weft_drawlist *list, unsigned ink)
{
    for (uint32_t i = 0; ink >= WEFT_INK_AFFECTED && i < list->draws; i++)
        if (list->draw[i].ink == ink)
            return true;
    return ink < WEFT_INK_AFFECTED;
}

static void put_colours(FILE *out, const struct weft_drawlist *list, enum weft_theme theme)
{
    for (unsigned i = 0; i < WEFT_INKS; i++) {
        if (!is_needed(list, i))
            continue;
        unsigned rgb = weft_inks[i].rgb[theme == WEFT_DARK];
        fprintf(out, ".%s{fill:#%06x;stroke:#%06x}\n", weft_inks[i].css, rgb, rgb);
    }
}

static void put_style(FILE *out, const struct weft_drawlist *list, enum weft_theme theme)
{
    fputs("<style>\n", out);
    put_colours(out, list, theme);
    if (theme == WEFT_AUTO) {
        fputs("@media (prefers-color-scheme:dark){\n", out);
        put_colours(out, list, WEFT_DARK);
        fputs("}\n", out);
    }
    fputs(".f{stroke:none}\n.l{fill:none}\n</style>\n", out); /* last, so that they win */
}

static void put_start(struct svg *svg, enum weft_theme theme)
{
    const struct weft_drawlist *list = svg->list;
    FILE *out = svg->out;
    fputs("<svg xmlns=\"http://www.w3.org/2000/svg\"", out);
    put_size(out, "width", list->width);
    put_size(out, "height", list->height);
    fputs(" viewBox=\"0 0 ", out);
    put_pair(out, hundredths(list->width), hundredths(list->height));
    fputs("\" role=\"img\" xml:space=\"preserve\" font-family=\"'DejaVu "
          "Sans',Verdana,sans-serif\">\n",
          out);
    for (uint32_t i = 0; i < list->draws; i++) {
        if (list->draw[i].op == WEFT_DRAW_TEXT) {
            fputs("<title>", out);
            put_text(svg, list->draw[i].first, list->draw[i].count);
            fputs("</title>\n", out);
            break;
        }
    }
    put_style(out, list, theme);
    fprintf(out, "<rect class=\"f %s\" width=\"100%%\" height=\"100%%\"/>\n",
            weft_inks[WEFT_INK_GROUND].css);
}

int weft_paint_svg(const struct weft_drawlist *list, FILE *out, enum weft_theme theme)
{
    /* A byte that is not UTF-8 becomes three. */
    struct svg svg = {.out = out, .list = list, .room = 3 * (size_t)list->text_bytes + 1};
    svg.scratch = malloc(svg.room);
    if (!svg.scratch)
        return WEFT_E_NOMEM;
    put_start(&svg, theme);
    for (uint32_t i = 0, n; i < list->draws; i += n) {
        for (n = 1; i + n < list->draws && alike(&list->draw[i], &list->draw[i + n]);)
            n++;
        if (!is_nothing(&list->draw[i]))
            put_group(&svg, &list->draw[i], n);
    }
    fputs("</svg>\n", out);
    free(svg.scratch);
    return ferror(out) ? WEFT_E_IO : 0;
}
