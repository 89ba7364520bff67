/* SPDX-License-Identifier: ISC */
/* Names for parts of the picture in which lines are too short for names of their own: the type of most of them, what
 * their labels have in common, and how many there are.
 *
 * The rows are divided into bands, a band into chunks; neighbours with the same type share a name. A few rows of a band and
 * a few lines of a row speak for the others, so the work depends on the size of the picture only. */
#include <stdio.h>
#include <string.h>

#include "base/order.h"
#include "view/canvas.h"

enum {
    HIGH = 32 * PX,  /* of a band, unless its row has room for a text */
    WIDE = 120 * PX, /* of a chunk */
    CHUNKS_MAX = WEFT_PICTURE_MAX_PX * PX / WIDE + 1,
    ROWS = 6,       /* of a band that are looked at … */
    LINES = 8,      /* … and lines of a row, in a chunk */
    TYPES = 6,      /* that are told apart in a chunk */
    LEAST = 4,      /* with fewer lines, a chunk has no name */
    ABOVE = 2 * PX, /* from the line up to the baseline */
    GAP = 4 * PX,
    LONG = 40 * PX, /* a line of this length may have a name of its own */
    NAME_MAX = 60,  /* bytes */
};

/* Lines of one type. */
struct gross {
    uint32_t type;          /* text; WEFT_NONE: nothing */
    uint32_t promise, name; /* one of them, and its name: a text, or WEFT_NONE … */
    uint32_t common;        /* … of which this many bytes begin the names of all */
    bool differs;           /* some have another name */
    uint64_t area, count;   /* of all lines for which these speak */
    bool guessed;
};

struct band {
    struct canvas *c;
    struct names *names;
    uint32_t first, last; /* shown rows, last excluded */
    int32_t baseline, font;
    struct gross chunk[CHUNKS_MAX];
    uint32_t chunks;
};

static bool is_alone(const struct canvas *c, uint32_t at)
{
    uint32_t low = 1, high = c->g->lanes;
    WEFT_SEEK(low, high, c->g->lane[middle] <= at);
    return c->g->lane[low] - c->g->lane[low - 1] == 1;
}

/* How many bytes two texts have in common, at the beginning and up to the end of a character. */
static uint32_t common_bytes(const char *a, const char *b, uint32_t most)
{
    uint32_t n = 0;
    while (n < most && a[n] && a[n] == b[n])
        n++;
    while (n && ((unsigned char)a[n] & 0xc0) == 0x80)
        n--;
    return n;
}

static void note_name(const struct canvas *c, struct gross *g, uint32_t name)
{
    if (name == g->name || g->common == 0)
        return;
    g->differs = true;
    g->common = name == WEFT_NONE ? 0
                                  : common_bytes(weft_model_text(c->m, g->name, NULL),
                                                 weft_model_text(c->m, name, NULL), g->common);
}

/* A line that is looked at. What is known of it lies far apart in memory: all are fetched before one is read. */
struct sample {
    uint32_t span, promise;
    uint64_t each; /* lines for which it speaks */
    uint64_t area;
    bool alone, begins, is_named, is_there;
};

/* Adds a line of that many pixels, which speaks for `each`. */
static void add_line(const struct canvas *c, struct gross *types, const struct sample *x)
{
    const uint32_t type = c->m->promise[x->promise].type;
    const uint32_t name = x->is_named ? view_name(c, x->promise) : WEFT_NONE;
    struct gross *g = types;
    while (g < types + TYPES && g->type != WEFT_NONE && g->type != type)
        g++;
    if (g == types + TYPES)
        return;
    if (g->type == WEFT_NONE) {
        *g = (struct gross){.type = type, .promise = x->promise, .name = name};
        if (g->name != WEFT_NONE)
            weft_model_text(c->m, g->name, &g->common);
        g->common = g->common < NAME_MAX ? g->common : NAME_MAX;
    }
    note_name(c, g, name);
    g->area += x->area * x->each;
    g->count += x->begins ? x->each : 0;
    g->guessed |= x->each > 1;
}

struct chunk {
    int32_t x0, x1;
    int64_t from, to;
    uint32_t first, last; /* buckets */
    struct sample sample[ROWS * LINES];
    uint32_t samples;
};

static void sample_row(const struct canvas *c, struct chunk *k, uint32_t at, uint32_t each)
{
    const uint32_t row = c->shown_row[at];
    const uint32_t begin = view_span_reaching(c->x, c->l, row, k->first, k->from);
    const uint32_t end = view_span_after(c->x, c->l, row, k->last, k->to);
    const uint32_t step = end > begin ? (end - begin - 1) / LINES + 1 : 1;
    const bool alone = is_alone(c, at);
    for (uint32_t s = begin; s < end; s += step) {
        k->sample[k->samples++] =
            (struct sample){.span = s, .each = (uint64_t)step * each, .alone = alone};
        __builtin_prefetch(&c->l->start[s]);
        __builtin_prefetch(&c->l->until[s]);
        __builtin_prefetch(&c->l->spans[s]);
        __builtin_prefetch(&c->l->look[s]);
    }
}

static void measure(const struct canvas *c, const struct chunk *k, struct sample *x)
{
    const int64_t start = c->l->start[x->span], until = weft_layout_span_end(c->l, c->m, x->span);
    if (until < k->from)
        return;
    int32_t a = canvas_x(c, start), b = canvas_x(c, until);
    if (x->alone && axis_seen(&c->axis, a, b) >= LONG)
        return;
    a = a < k->x0 ? k->x0 : a;
    b = b > k->x1 ? k->x1 : b;
    x->area = b > a ? (uint64_t)(b - a) : 1;
    x->begins = start >= k->from;
    x->promise = c->l->spans[x->span];
    x->is_named = c->l->look[x->span] & WEFT_LOOK_NAMED;
    x->is_there = true;
    __builtin_prefetch(&c->m->promise[x->promise].type);
}

static void add_samples(const struct canvas *c, struct gross *types, struct chunk *k)
{
    for (uint32_t i = 0; i < k->samples; i++)
        measure(c, k, &k->sample[i]);
    for (uint32_t i = 0; i < k->samples; i++)
        if (k->sample[i].is_named)
            __builtin_prefetch(&c->m->label[c->m->promise[k->sample[i].promise].first_label]);
    for (uint32_t i = 0; i < k->samples; i++) {
        const struct sample *x = &k->sample[i];
        if (x->is_there)
            add_line(c, types, x);
    }
}

/* Which type takes most of a part of the band. */
static struct gross look(const struct band *b, int32_t x0, int32_t x1)
{
    const struct canvas *c = b->c;
    const uint32_t step = (b->last - b->first - 1) / ROWS + 1;
    struct gross types[TYPES], *most = types;
    struct chunk k = {
        .x0 = x0, .x1 = x1, .from = axis_time(&c->axis, x0), .to = axis_time(&c->axis, x1)};
    uint64_t area = 0;
    for (uint32_t i = 0; i < TYPES; i++)
        types[i] = (struct gross){.type = WEFT_NONE};
    k.first = view_bucket_at(c->x, k.from);
    k.last = view_bucket_at(c->x, k.to);
    for (uint32_t at = b->first; at < b->last; at += step)
        sample_row(c, &k, at, step);
    add_samples(c, types, &k);
    for (struct gross *g = types; g < types + TYPES && g->type != WEFT_NONE; g++) {
        area += g->area;
        most = g->area > most->area ? g : most;
    }
    if (most->count < LEAST || most->area < area / 3)
        most->type = WEFT_NONE;
    return *most;
}

/* Joins what the next chunk says. */
static void join(const struct canvas *c, struct gross *g, const struct gross *next)
{
    const bool differs = next->differs;
    note_name(c, g, next->name);
    g->common = g->common < next->common ? g->common : next->common;
    g->differs |= differs;
    g->count += next->count;
    g->guessed |= next->guessed;
}

/* "request × 412", "GET /users/… request × ~5,100" */
static void words(const struct canvas *c, const struct gross *g, char *text, size_t size)
{
    const uint32_t common = g->common > 2 || !g->differs ? g->common : 0;
    uint64_t count = g->count, unit = 1;
    for (; g->guessed && count / unit >= 100; unit *= 10)
        ;
    snprintf(text, size, "%.*s%s%s × %s%s", (int)common,
             common ? weft_model_text(c->m, g->name, NULL) : "",
             !common      ? ""
             : g->differs ? "… "
                          : " ",
             weft_model_type(c->m, g->promise), g->guessed ? "~" : "",
             weft_count_short(count / unit * unit).text);
}

static void write(const struct band *b, const struct gross *g, int32_t x0, int32_t x1)
{
    struct canvas *c = b->c;
    char text[300];
    words(c, g, text, sizeof text);
    const int32_t width = weft_text_width(text, strlen(text), b->font, false);
    if (width + 2 * GAP > x1 - x0)
        return;
    const int32_t x = (x0 + x1 - width) / 2;
    if (canvas_text_apart(c, WEFT_INK_TEXT, b->font, x, b->baseline, width + PX, text,
                          strlen(text)))
        view_names_take(b->names, x, b->baseline, width);
}

static void write_band(struct band *b)
{
    const struct canvas *c = b->c;
    for (b->chunks = 0; b->chunks < CHUNKS_MAX; b->chunks++) {
        const int32_t x0 = c->x0 + (int32_t)b->chunks * WIDE,
                      x1 = x0 + WIDE < c->x1 ? x0 + WIDE : c->x1;
        if (x0 >= c->x1)
            break;
        struct gross *g = &b->chunk[b->chunks];
        g->type = WEFT_NONE;
        if (view_names_is_free(b->names, x0, x1, b->baseline))
            *g = look(b, x0, x1);
    }
    for (uint32_t i = 0, end; i < b->chunks; i = end) {
        struct gross *g = &b->chunk[i];
        for (end = i + 1; end < b->chunks && b->chunk[end].type == g->type; end++)
            join(c, g, &b->chunk[end]);
        const int32_t x1 = c->x0 + (int32_t)end * WIDE;
        if (g->type != WEFT_NONE)
            write(b, g, c->x0 + (int32_t)i * WIDE, x1 < c->x1 ? x1 : c->x1);
    }
}

void view_gross_write(struct canvas *c, struct names *names)
{
    struct band *b = malloc(sizeof *b);
    if (!b) {
        c->list->failed = true;
        return;
    }
    *b = (struct band){.c = c, .names = names};
    for (uint32_t at = 0; at < c->shown && !c->list->failed; at = b->last) {
        const bool has_room = canvas_row_height(c, at) >= c->row_height_text;
        const uint32_t group = c->seen[at].group;
        b->first = at;
        b->last = at + 1;
        if (c->groups && c->vp->groups->group[group].is_closed) { /* its name is there */
            b->last = c->group_at[group + 1];
            continue;
        }
        while (!has_room && b->last < c->shown && c->seen[b->last].group == group &&
               c->shown_y[b->last + 1] - c->shown_y[at] <= HIGH &&
               canvas_row_height(c, b->last) < c->row_height_text)
            b->last++;
        const int32_t y0 = c->shown_y[at], y1 = c->shown_y[b->last];
        const bool is_low = y1 - y0 < HIGH / 2;
        b->font = has_room || is_low ? c->font : c->font * 9 / 8;
        b->baseline =
            has_room || is_low ? canvas_row_y(c, b->last - 1) - ABOVE : (y0 + y1) / 2 + c->font / 3;
        write_band(b);
    }
    free(b);
}
