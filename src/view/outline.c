/* SPDX-License-Identifier: ISC */
#include "view/outline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "format/utf8.h"
#include "view/canvas.h"

enum {
    CELLS = 2048, /* of a row, at most: parts of the time of equal length */
    ROWS = 48,    /* the streams that have recorded most; the last row has all others */
    TITLE_HIGH = 26 * PX,
    RULER_HIGH = 18 * PX,
    ROW_MAX = 48 * PX,
    WIDTH_MIN = 100 * PX,
    NAMED_MIN = 14 * PX, /* lower rows have no name */
    GAP = 2 * PX,
    NAME_BYTES = 64,
    COLUMNS_MAX = WEFT_PICTURE_MAX_PX * PX / CELL + 1,
};

struct weft_outline {
    int64_t length_ns;
    uint32_t streams, rows, cells;
    uint64_t most; /* of any cell */
    char name[ROWS][NAME_BYTES];
    uint64_t cell[ROWS][CELLS + 1]; /* how much was recorded, in no unit */
};

struct making {
    struct weft_outline *o;
    uint64_t from_ns, to_ns;
    uint64_t *bytes; /* of each stream */
    uint32_t *row;
    uint64_t spans, closed;
    uint64_t closed_ns; /* how long those that are closed lasted, together */
    uint64_t open_ns;   /* when the last one began that is not closed */
};

/* ---- Making ---- */

static void measure(void *data, const struct weft_packet_span *s)
{
    struct making *k = data;
    const uint64_t end_ns = s->end_ns == UINT64_MAX ? s->begin_ns : s->end_ns;
    k->from_ns = s->begin_ns < k->from_ns ? s->begin_ns : k->from_ns;
    k->to_ns = end_ns > k->to_ns ? end_ns : k->to_ns;
    k->bytes[s->stream] += s->bytes;
    k->spans++;
    if (s->end_ns == UINT64_MAX) {
        k->open_ns = s->begin_ns > k->open_ns ? s->begin_ns : k->open_ns;
    } else if (end_ns > s->begin_ns) {
        k->closed_ns += end_ns - s->begin_ns;
        k->closed++;
    }
}

/* A packet that nobody has closed lasts until the end. If it is the last one, it lasts as long as others do. */
static void find_end(struct making *k, uint64_t until_ns)
{
    const uint64_t usual_ns = k->closed ? k->closed_ns / k->closed : 0;
    if (until_ns > k->to_ns)
        k->to_ns = until_ns;
    else if (k->to_ns == k->open_ns && k->open_ns <= UINT64_MAX - usual_ns)
        k->to_ns += usual_ns;
}

static uint32_t cell_at(const struct making *k, uint64_t time_ns)
{
    const uint64_t each = (k->to_ns - k->from_ns) / CELLS + 1;
    return (uint32_t)((time_ns - k->from_ns) / each);
}

/* Adds it as a difference of each cell from the one before, so that this takes the same time for any packet. */
static void add(void *data, const struct weft_packet_span *s)
{
    struct making *k = data;
    uint64_t *cell = k->o->cell[k->row[s->stream]];
    const uint64_t end_ns = s->end_ns < k->to_ns ? s->end_ns : k->to_ns;
    const uint32_t first = cell_at(k, s->begin_ns);
    const uint32_t last = end_ns > s->begin_ns ? cell_at(k, end_ns - 1) : first;
    const uint64_t each = (s->bytes << 8) / (last - first + 1);
    cell[first] += each;
    cell[last + 1] -= each;
}

static int by_bytes(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    WEFT_ORDER(y[0], x[0]);
    return weft_order(x[1], y[1]);
}

static void name_row(char name[NAME_BYTES], const struct weft_stream_facts *s)
{
    char clean[3 * sizeof s->name + 1];
    clean[weft_text_clean(clean, sizeof clean - 1, s->name, strlen(s->name))] = '\0';
    snprintf(name, NAME_BYTES, "%s %u", clean, s->thread);
}

/* Gives each stream a row. */
static bool choose_rows(struct making *k, const struct weft_reader_facts *f)
{
    struct weft_outline *o = k->o;
    uint64_t(*order)[2] = calloc((size_t)f->streams + 1, sizeof *order);
    if (!order)
        return false;
    for (uint32_t i = 0; i < f->streams; i++) {
        order[i][0] = k->bytes[i];
        order[i][1] = i;
    }
    qsort(order, f->streams, sizeof *order, by_bytes);
    const uint32_t own = f->streams > ROWS ? ROWS - 1 : f->streams;
    for (uint32_t i = 0; i < f->streams; i++)
        k->row[i] = ROWS - 1;
    for (uint32_t i = 0; i < own; i++)
        k->row[order[i][1]] = WEFT_NONE;
    for (uint32_t i = 0; i < f->streams; i++) { /* its own, in the order of streams */
        if (k->row[i] != WEFT_NONE)
            continue;
        k->row[i] = o->rows++;
        if (f->stream)
            name_row(o->name[k->row[i]], &f->stream[i]);
    }
    if (f->streams > own)
        snprintf(o->name[o->rows++], NAME_BYTES, "%s others", weft_count(f->streams - own).text);
    free(order);
    return true;
}

static void sum_up(struct weft_outline *o)
{
    for (uint32_t r = 0; r < o->rows; r++)
        for (uint32_t i = 0; i < o->cells; i++) {
            o->cell[r][i] += i ? o->cell[r][i - 1] : 0;
            o->most = o->cell[r][i] > o->most ? o->cell[r][i] : o->most;
        }
}

int weft_outline_new(struct weft_outline **out, const struct weft_reader *r)
{
    const struct weft_reader_facts *f = weft_reader_facts(r);
    struct making k = {.o = calloc(1, sizeof *k.o), .from_ns = UINT64_MAX};
    k.bytes = calloc((size_t)f->streams + 1, sizeof *k.bytes);
    k.row = calloc((size_t)f->streams + 1, sizeof *k.row);
    bool ok = k.o && k.bytes && k.row;
    if (ok)
        weft_reader_spans(r, measure, &k);
    ok = ok && (!k.spans || choose_rows(&k, f));
    if (ok && k.spans) {
        find_end(&k, f->process.until_ns);
        k.o->streams = f->streams;
        k.o->length_ns = weft_model_time(k.to_ns, k.from_ns);
        k.o->cells = cell_at(&k, k.to_ns) + 1;
        weft_reader_spans(r, add, &k);
        sum_up(k.o);
    }
    weft_free_all(k.bytes, k.row);
    *out = ok && k.spans && k.o->most ? k.o : NULL;
    if (!*out)
        free(k.o);
    return ok ? 0 : WEFT_E_NOMEM;
}

void weft_outline_free(struct weft_outline *o)
{
    free(o);
}

/* ---- Drawing ---- */

/* What is half as much is a step lighter. */
static uint8_t shade_of(uint64_t value, uint64_t most)
{
    enum { STEP = 24, LEAST = 40 };
    int steps = 0;
    for (; value && value <= most / 2 && 255 - steps * STEP > LEAST; most /= 2)
        steps++;
    return (uint8_t)(value ? 255 - steps * STEP : 0);
}

static void draw_row(struct canvas *c, const struct weft_outline *o, uint32_t row, int32_t y0,
                     int32_t y1, uint8_t *shade)
{
    const uint32_t columns = (uint32_t)((c->x1 - c->x0 + CELL - 1) / CELL);
    for (uint32_t i = 0; i < columns; i++) {
        const uint32_t from = i * o->cells / columns, to = (i + 1) * o->cells / columns;
        uint64_t most = 0;
        for (uint32_t k = from; k < to || k == from; k++)
            most = o->cell[row][k] > most ? o->cell[row][k] : most;
        shade[i] = shade_of(most, o->most);
    }
    const int32_t high = canvas_scaled(c, NAMED_MIN);
    const bool named = *o->name[row] && y1 - y0 >= high;
    const bool above = named && y1 - y0 >= 2 * high;
    canvas_cells(c, WEFT_INK_FOLD, above ? y0 + high : y0, y1 - GAP, shade, 0, columns, 0);
    if (named)
        canvas_text_apart(c, WEFT_INK_TEXT, c->font, c->x0, y0 + high - 3 * PX, c->x1 - c->x0,
                          o->name[row], strlen(o->name[row]));
}

int weft_outline_draw(struct weft_drawlist *list, const struct weft_outline *o, const char *name,
                      int32_t width_px, int32_t height_px, uint16_t text_percent)
{
    static const struct weft_viewport all;
    uint8_t shade[COLUMNS_MAX];
    struct canvas c = {.list = list,
                       .vp = &all,
                       .to_ns = o->length_ns > 0 ? o->length_ns : 1,
                       .x0 = MARGIN,
                       .x1 = width_px * PX - MARGIN};
    char note[200];
    weft_drawlist_clear(list, width_px, height_px);
    canvas_set_text(&c, text_percent);
    c.ruler_y0 = canvas_scaled(&c, TITLE_HIGH);
    c.rows_y0 = c.ruler_y0 + canvas_scaled(&c, RULER_HIGH);
    int32_t each = (list->height - c.rows_y0) / (int32_t)o->rows / PX * PX;
    each = each < ROW_MAX ? each : ROW_MAX;
    if (width_px > WEFT_PICTURE_MAX_PX || c.x1 - c.x0 < WIDTH_MIN || each < CELL)
        return 0; /* nothing can be seen */
    c.rows_y1 = c.rows_y0 + each * (int32_t)o->rows;
    axis_init(&c.axis, NULL, c.from_ns, c.to_ns, c.x0, c.x1);
    snprintf(note, sizeof note, "%s, %s thread%s, shaded by how much was recorded",
             weft_duration(o->length_ns).text, weft_count(o->streams).text,
             weft_plural(o->streams));
    canvas_title(&c, 0, c.x1, name, note, 12 * PX);
    canvas_draw_ruler(&c);
    for (uint32_t r = 0; r < o->rows; r++)
        draw_row(&c, o, r, c.rows_y0 + (int32_t)r * each, c.rows_y0 + (int32_t)(r + 1) * each,
                 shade);
    return list->failed ? WEFT_E_NOMEM : 0;
}
