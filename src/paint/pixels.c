/* SPDX-License-Identifier: ISC */
#include "paint/pixels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK                                                                                      \
    16 /* bytes that are blended together: compilers turn a loop of this length into a few instructions */
#define PLAIN 8     /* columns of shades that look alike are painted as one */
#define SUB WEFT_PX /* parts of a device pixel along x */

bool paint_pixels_begin(struct paint_pixels *p)
{
    size_t width = (size_t)(p->x1 - p->x0) + BLOCK;
    if (width <= p->row_room)
        return true;
    paint_pixels_fini(p);
    p->cover = calloc(3 * width, sizeof(*p->cover));
    if (!p->cover)
        return false;
    p->add = (unsigned char *)(p->cover + width);
    p->keep = (unsigned char *)(p->cover + 2 * width);
    p->row_room = width;
    return true;
}

void paint_pixels_fini(struct paint_pixels *p)
{
    free(p->cover);
    p->cover = NULL;
    p->row_room = 0;
}

static int within(int64_t value, int low, int high)
{
    return value < low ? low : value > high ? high : (int)value;
}

static int64_t device_x(const struct paint_pixels *p, int32_t x)
{
    return (int64_t)(x / WEFT_PX) * p->scale + p->dx;
}

/* The device's pixel, or the nearest one that may be written. */
static int clip_x(const struct paint_pixels *p, int32_t x)
{
    return within(device_x(p, x), p->x0, p->x1);
}

static int clip_y(const struct paint_pixels *p, int32_t y)
{
    return within((int64_t)(y / WEFT_PX) * p->scale + p->dy, p->y0, p->y1);
}

static unsigned char *pixel_at(const struct paint_pixels *p, int x, int y)
{
    return p->data + (ptrdiff_t)y * p->stride + (ptrdiff_t)x * 4;
}

static uint32_t load(const unsigned char *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof(value));
    return value;
}

static void store(unsigned char *at, uint32_t value)
{
    memcpy(at, &value, sizeof(value));
}

/* Multiplies two of a pixel's bytes, in 16 bits each, by part / 255. */
static uint32_t times(uint32_t pair, uint32_t part)
{
    uint32_t t = pair * part + 0x800080;
    return (t + (t >> 8 & 0xff00ff)) >> 8 & 0xff00ff;
}

static uint32_t scaled(uint32_t pixel, uint32_t part)
{
    return times(pixel & 0xff00ff, part) | times(pixel >> 8 & 0xff00ff, part) << 8;
}

static void blend_block(unsigned char *restrict row, const unsigned char *restrict add,
                        const unsigned char *restrict keep)
{
    for (int i = 0; i < BLOCK; i++) {
        uint16_t t = (uint16_t)(row[i] * keep[i] + 0x80);
        t = (uint16_t)(t + (t >> 8));
        row[i] = (unsigned char)(add[i] + (t >> 8));
    }
}

/* With step 0, add and keep are one block for the whole row. */
static void blend_row(unsigned char *row, const unsigned char *add, const unsigned char *keep,
                      size_t step, size_t bytes)
{
    unsigned char rest[BLOCK] = {0};
    size_t at = 0;
    for (; at + BLOCK <= bytes; at += BLOCK, add += step, keep += step)
        blend_block(row + at, add, keep);
    if (at == bytes)
        return;
    memcpy(rest, row + at, bytes - at);
    blend_block(rest, add, keep);
    memcpy(row + at, rest, bytes - at);
}

static void fill_row(unsigned char *row, const unsigned char *block, size_t bytes)
{
    size_t at = 0;
    for (; at + BLOCK <= bytes; at += BLOCK)
        memcpy(row + at, block, BLOCK);
    memcpy(row + at, block, bytes - at);
}

/* Most lines are vertical and one pixel wide: blocks would not help. */
static void thin_box(const struct paint_pixels *p, int left, int top, int right, int bottom)
{
    uint32_t add = scaled(p->ink | 0xff000000, p->alpha), keep = 255u - p->alpha;
    ptrdiff_t stride = p->stride;

    for (int x = left; x < right; x++) {
        unsigned char *at = pixel_at(p, x, top);
        for (int y = top; keep == 0 && y < bottom; y++, at += stride)
            store(at, add);
        for (int y = top; keep != 0 && y < bottom; y++, at += stride)
            store(at, add + scaled(load(at), keep));
    }
}

void paint_pixels_box(const struct paint_pixels *p, int32_t x0, int32_t y0, int32_t x1, int32_t y1)
{
    int left = clip_x(p, x0), right = clip_x(p, x1), top = clip_y(p, y0), bottom = clip_y(p, y1);
    unsigned char add[BLOCK], keep[BLOCK];
    if (right - left < BLOCK / 4) {
        thin_box(p, left, top, right, bottom);
        return;
    }
    for (int i = 0; i < BLOCK; i += 4)
        store(add + i, scaled(p->ink | 0xff000000, p->alpha));
    memset(keep, 255 - p->alpha, sizeof(keep));
    for (int y = top; y < bottom; y++) {
        if (p->alpha == 255)
            fill_row(pixel_at(p, left, y), add, (size_t)(right - left) * 4);
        else
            blend_row(pixel_at(p, left, y), add, keep, 0, (size_t)(right - left) * 4);
    }
}

/* ---- Shades: one row is prepared and blended with every row of pixels ---- */

/* What each of a draw's shades adds to a pixel; the top byte is the opacity. */
static const uint32_t *shade_table(struct paint_pixels *p, const struct weft_draw *d)
{
    struct paint_shade_table *t = &p->table[(p->ink ^ p->ink >> 8 ^ p->ink >> 16) % PAINT_TABLES];
    if (t->known && t->ink == p->ink && t->alpha == d->alpha)
        return t->add;
    for (int shade = 0; shade < 256; shade++)
        t->add[shade] = scaled(p->ink | 0xff000000, paint_shape_opacity(d, (uint8_t)shade));
    t->known = true;
    t->ink = p->ink;
    t->alpha = d->alpha;
    return t->add;
}

/* One row of a draw's shades. */
static void prepare(struct paint_pixels *p, const struct weft_drawlist *list,
                    const struct weft_draw *d, int first, int last)
{
    const uint32_t *table = shade_table(p, d);
    int x = first;
    unsigned char *add_row = p->add, *keep_row = p->keep;
    const uint8_t *shades = list->shades + d->first;
    ptrdiff_t base = p->x0;
    for (uint32_t i = 0, count = d->count; i < count && x < last; i++) {
        uint32_t add_one = table[shades[i]], keep_one = (255u - (add_one >> 24)) * 0x01010101;
        int end = within(device_x(p, paint_shape_column(d, i + 1)), x, last);
        for (; x < end; x++) {
            store(add_row + 4 * (x - base), add_one);
            store(keep_row + 4 * (x - base), keep_one);
        }
    }
    /* Nothing if there are no columns, or if they do not reach the end. */
    memset(p->add + 4 * (x - p->x0), 0, (size_t)(last - x) * 4);
    memset(p->keep + 4 * (x - p->x0), 255, (size_t)(last - x) * 4);
}

/* Returns true if columns differ from their predecessors so rarely that painting each run by itself is faster. */
static bool is_plain(const struct weft_drawlist *list, const struct weft_draw *d)
{
    const uint8_t *shades = list->shades + d->first;
    uint32_t runs = 1, count = d->count;
    for (uint32_t i = 1; i < count; i++)
        runs += shades[i] != shades[i - 1];
    return runs <= 1 + count / PLAIN;
}

void paint_pixels_shades(struct paint_pixels *p, const struct weft_drawlist *list,
                         const struct weft_draw *d)
{
    struct paint_shape s;
    if (!paint_shape_shaded(&s, list, d))
        return;
    if (is_plain(list, d)) {
        for (uint32_t i = 0; paint_shape_shades(&s, &p->alpha, list, d, &i);)
            paint_pixels_box(p, s.x0, s.y0, s.x1, s.y1);
        return;
    }
    int left = clip_x(p, s.x0), right = clip_x(p, s.x1);
    int top = clip_y(p, s.y0), bottom = clip_y(p, s.y1);
    if (left >= right || top >= bottom)
        return;
    prepare(p, list, d, left, right);
    for (int y = top; y < bottom; y++)
        blend_row(pixel_at(p, left, y), p->add + 4 * (left - p->x0), p->keep + 4 * (left - p->x0),
                  BLOCK, (size_t)(right - left) * 4);
}

/* ---- Lines and heads: convex polygons ---- */

/* One side of a polygon, from its top to its bottom, at the samples that it crosses. */
struct side {
    int step;      /* to the next corner: 1 or -1 */
    int corner;    /* where the current edge ends */
    int64_t until; /* sample before which it ends */
    int64_t x;     /* at the current sample, in 1/65536 of 1/SUB device pixels */
    int64_t slope; /* per sample */
};

struct polygon {
    int corners;        /* at most 4 */
    int64_t x[4], y[4]; /* 1/SUB device pixels */
    int samples;        /* in a row of pixels */
};

/* The first sample at or below a y: sample k is at (k + 1/2) / samples. */
static int64_t sample_from(const struct polygon *g, int64_t y)
{
    return (y * g->samples + SUB / 2 - 1) >> 6;
}

/* Advances to the edge that crosses a sample. False: there is none. */
static bool side_go(const struct polygon *g, struct side *side, int64_t sample)
{
    for (int tried = 0; tried <= g->corners; tried++) {
        int from = side->corner, to = (from + side->step + g->corners) % g->corners;
        if (g->y[to] < g->y[from])
            return false;
        side->corner = to;
        side->until = sample_from(g, g->y[to]);
        if (side->until <= sample)
            continue;
        int64_t down = g->y[to] - g->y[from], across = (g->x[to] - g->x[from]) * 65536;
        /* How far the sample is below the edge's start; the product may not fit 64 bits. */
        double below = ((double)sample + 0.5) * SUB / g->samples - (double)g->y[from];
        side->slope = across * SUB / (down * g->samples);
        side->x = g->x[from] * 65536 + (int64_t)((double)across * below / (double)down);
        return true;
    }
    return false;
}

/* Adds everything to the right of x to a row of coverages, as differences between neighbours. */
static void add_edge(int32_t *cover, int x, int32_t sign)
{
    int32_t part = x & (SUB - 1);
    cover[x >> 6] += sign * (SUB - part);
    cover[(x >> 6) + 1] += sign * part;
}

static void blend_cover(const struct paint_pixels *p, int y, int first, int last, int shift)
{
    /* Local copies, because the compiler must assume that a store may change these fields. */
    uint32_t ink = p->ink | 0xff000000, alpha = p->alpha;
    int32_t *cover = p->cover, sum = 0;
    int beyond = p->x1 - p->x0;
    unsigned char *at = pixel_at(p, p->x0 + first, y);
    for (int x = first; x <= last; x++, at += 4) {
        sum += cover[x];
        cover[x] = 0;
        if (sum <= 0 || x >= beyond)
            continue;
        uint32_t part = (uint32_t)sum * alpha >> shift;
        store(at, scaled(ink, part) + scaled(load(at), 255 - part));
    }
}

/* How many samples along y are taken in each row of pixels, as a power of two; along x, coverage is exact. So steep
 * edges need only one, but flat edges would show steps. */
static int shift_of(int corners, int64_t width, int64_t height)
{
    if (width > 4 * height)
        return 4;
    if (corners == 3 || width > height)
        return 2;
    return height > 2 * width ? 0 : 1;
}

/* Goes on from one sample to a later one, as if each between was looked at. False: the sides end before. */
static bool side_skip(const struct polygon *g, struct side *side, int64_t sample, int64_t to)
{
    while (true) {
        if (side->until <= sample && !side_go(g, side, sample))
            return false;
        if (to < side->until)
            break;
        sample = side->until;
    }
    side->x += side->slope * (to - sample);
    return true;
}

static void fill(const struct paint_pixels *p, struct polygon *g)
{
    int top = 0;
    int64_t low = g->y[0], left = g->x[0], right = g->x[0];
    int limit = (p->x1 - p->x0) * SUB;
    for (int i = 1; i < g->corners; i++) {
        top = g->y[i] < g->y[top] ? i : top;
        low = g->y[i] > low ? g->y[i] : low;
        left = g->x[i] < left ? g->x[i] : left;
        right = g->x[i] > right ? g->x[i] : right;
    }
    int shift = shift_of(g->corners, right - left, low - g->y[top]);
    g->samples = 1 << shift;

    int64_t sample = sample_from(g, g->y[top]), end = sample_from(g, low);
    int64_t from = (int64_t)p->y0 * g->samples, to = (int64_t)p->y1 * g->samples;
    int64_t first = (int64_t)p->top * g->samples;
    struct side a = {.step = 1, .corner = top}, b = {.step = -1, .corner = top};
    sample = sample < first ? first : sample;
    end = end > to ? to : end;
    a.until = b.until = sample;
    if (sample < from && from < end) {
        if (!side_skip(g, &a, sample, from) || !side_skip(g, &b, sample, from))
            return;
        sample = from;
    }
    if (sample < from)
        return;
    while (sample < end) {
        int y = (int)(sample >> shift), first = p->x1 - p->x0, last = -1;
        int64_t stop = (int64_t)(y + 1) * g->samples;
        for (stop = stop < end ? stop : end; sample < stop; sample++) {
            if ((a.until <= sample && !side_go(g, &a, sample)) ||
                (b.until <= sample && !side_go(g, &b, sample))) {
                end = sample; /* by rounding */
                break;
            }
            int x0 = within((a.x < b.x ? a.x : b.x) >> 16, 0, limit);
            int x1 = within((a.x < b.x ? b.x : a.x) >> 16, 0, limit);
            add_edge(p->cover, x0, 1);
            add_edge(p->cover, x1, -1);
            first = x0 >> 6 < first ? x0 >> 6 : first;
            last = (x1 >> 6) + 1 > last ? (x1 >> 6) + 1 : last;
            a.x += a.slope;
            b.x += b.slope;
        }
        blend_cover(p, y, first, last, shift + 6);
    }
}

static void set_corner(const struct paint_pixels *p, struct polygon *g, int i, double x, double y)
{
    g->x[i] = llround(x * p->scale) + (int64_t)(p->dx - p->x0) * SUB;
    g->y[i] = llround(y * p->scale) + (int64_t)p->dy * SUB;
}

void paint_pixels_line(const struct paint_pixels *p, const struct paint_shape *s, int32_t width)
{
    struct polygon g = {.corners = 4};
    double dx = s->x1 - (double)s->x0, dy = s->y1 - (double)s->y0, half = width / 2.0;
    /* Along an axis; the shaft of an arrow may end within a pixel, where its head goes on. */
    if (s->x0 == s->x1 || s->y0 == s->y1) {
        int32_t x0 = s->x0 < s->x1 ? s->x0 : s->x1, x1 = s->x0 < s->x1 ? s->x1 : s->x0;
        int32_t y0 = s->y0 < s->y1 ? s->y0 : s->y1, y1 = s->y0 < s->y1 ? s->y1 : s->y0;
        if (s->x0 == s->x1)
            paint_pixels_box(p, x0 - width / 2, y0 & -WEFT_PX, x0 - width / 2 + width,
                             (y1 + WEFT_PX - 1) & -WEFT_PX);
        else
            paint_pixels_box(p, x0 & -WEFT_PX, y0 - width / 2, (x1 + WEFT_PX - 1) & -WEFT_PX,
                             y0 - width / 2 + width);
        return;
    }
    double length = sqrt(dx * dx + dy * dy), off_x = -dy / length * half,
           off_y = dx / length * half;
    set_corner(p, &g, 0, s->x0 + off_x, s->y0 + off_y);
    set_corner(p, &g, 1, s->x1 + off_x, s->y1 + off_y);
    set_corner(p, &g, 2, s->x1 - off_x, s->y1 - off_y);
    set_corner(p, &g, 3, s->x0 - off_x, s->y0 - off_y);
    fill(p, &g);
}

void paint_pixels_head(const struct paint_pixels *p, const struct paint_shape *s)
{
    struct polygon g = {.corners = 3};
    for (int i = 0; i < 3; i++)
        set_corner(p, &g, i, s->corner[i].x, s->corner[i].y);
    fill(p, &g);
}

/* ---- Steps ---- */

/* Returns true if one begins where the other ends, at a right angle. */
static bool joined(const struct paint_shape *s, const struct paint_shape *t)
{
    return s->body && t->body && s->x1 == t->x0 && s->y1 == t->y0 &&
           (s->y0 == s->y1) != (t->y0 == t->y1);
}

/* Horizontal parts include the corners, vertical parts lie between them: nothing is painted twice. */
static void step(const struct paint_pixels *p, struct paint_shape s, bool before, bool after,
                 int32_t width)
{
    int32_t first = width / 2, second = width - first;
    bool forward = s.x0 < s.x1 || s.y0 < s.y1;
    int32_t x0 = forward ? s.x0 : s.x1, x1 = forward ? s.x1 : s.x0;
    int32_t y0 = forward ? s.y0 : s.y1, y1 = forward ? s.y1 : s.y0;
    bool low = forward ? before : after, high = forward ? after : before;
    if (s.y0 == s.y1)
        paint_pixels_box(p, x0 - (low ? first : 0), y0 - first, x1 + (high ? second : 0),
                         y0 + second);
    else
        paint_pixels_box(p, x0 - first, y0 + (low ? second : 0), x0 + second,
                         y1 - (high ? first : 0));
}

bool paint_pixels_steps(const struct paint_pixels *p, const struct weft_drawlist *list,
                        const struct weft_draw *d)
{
    struct paint_shape now = {0}, next;
    int32_t width = paint_shape_width(d);
    bool before = false;
    for (uint32_t i = 1; i < d->count; i++) {
        if (paint_shape_step(&next, list, d, i) && next.x0 != next.x1 && next.y0 != next.y1)
            return false;
    }
    for (uint32_t i = 1; i <= d->count && d->count > 1; i++) {
        next = (struct paint_shape){0};
        if (i < d->count && !paint_shape_step(&next, list, d, i))
            continue;
        if (now.body)
            step(p, now, before, joined(&now, &next), width);
        before = joined(&now, &next);
        now = next;
    }
    return true;
}

bool paint_pixels_draw(struct paint_pixels *p, const struct weft_drawlist *list,
                       const struct weft_draw *d, const struct paint_shape *s, int theme)
{
    p->ink = weft_inks[d->ink].rgb[theme];
    p->alpha = d->alpha;
    if (d->op == WEFT_DRAW_TEXT)
        return false;
    if (d->op == WEFT_DRAW_STEPS)
        return paint_pixels_steps(p, list, d);
    if (d->op == WEFT_DRAW_SHADES)
        paint_pixels_shades(p, list, d);
    else if (s->body && d->op == WEFT_DRAW_RECT)
        paint_pixels_box(p, s->x0, s->y0, s->x1, s->y1);
    else if (s->body)
        paint_pixels_line(p, s, paint_shape_width(d));
    if (s->head)
        paint_pixels_head(p, s);
    return true;
}
