/* SPDX-License-Identifier: ISC */
#include "view/canvas.h"

#include <string.h>

#include "base/array.h"

/* A label may be as long as the file; a picture never needs more than this. */
enum { TEXT_MAX = 600 };

/* Never NULL: without memory, it returns a draw that is thrown away. */
static struct weft_draw *push(struct canvas *c, enum weft_draw_op op, enum weft_ink ink,
                              int32_t size, int32_t x0, int32_t y0, int32_t x1, int32_t y1)
{
    static _Thread_local struct weft_draw nowhere;
    struct weft_drawlist *list = c->list;
    bool fits = canvas_grow(c, &list->draw, list->draws, &list->draws_room, sizeof *list->draw);
    struct weft_draw *d = fits ? &list->draw[list->draws++] : &nowhere;
    *d = (struct weft_draw){.op = (uint8_t)op,
                            .ink = (uint8_t)ink,
                            .alpha = 255,
                            .size = size,
                            .x0 = x0,
                            .y0 = y0,
                            .x1 = x1,
                            .y1 = y1,
                            .tip = WEFT_NO_TIP,
                            .promise = WEFT_NONE};
    return d;
}

struct weft_draw *canvas_rect(struct canvas *c, enum weft_ink ink, int32_t x0, int32_t y0,
                              int32_t x1, int32_t y1)
{
    return push(c, WEFT_DRAW_RECT, ink, 0, x0, y0, x1, y1);
}

struct weft_draw *canvas_line(struct canvas *c, enum weft_ink ink, int32_t width, int32_t x0,
                              int32_t y0, int32_t x1, int32_t y1)
{
    return push(c, WEFT_DRAW_LINE, ink, width, x0, y0, x1, y1);
}

/* Stores a clean text in the list and its offset in *at. */
static bool keep_text(struct canvas *c, const char *text, size_t size, uint32_t *at)
{
    struct weft_drawlist *list = c->list;
    if (!list->failed &&
        !weft_reserve_all(&list->texts, (uint64_t)list->text_bytes + size, &list->texts_room, 1))
        list->failed = true;
    if (list->failed)
        return false;
    memcpy(list->texts + list->text_bytes, text, size);
    *at = list->text_bytes;
    list->text_bytes += (uint32_t)size;
    return true;
}

int32_t canvas_text(struct canvas *c, enum weft_ink ink, int32_t font, bool bold, int32_t x,
                    int32_t baseline, int32_t max_width, const char *text, size_t size)
{
    static const char ellipsis[] = "…";
    char clean[TEXT_MAX + sizeof ellipsis];
    int32_t width;
    size_t n = weft_text_clean(clean, TEXT_MAX, text, size < TEXT_MAX ? size : TEXT_MAX);
    bool cut = size > TEXT_MAX || n > TEXT_MAX - 4; /* cleaning may make it longer */
    size_t fits = weft_text_fit(clean, n, font, bold, max_width, &width);
    if (cut || fits < n) {
        int32_t dots = weft_text_width(ellipsis, sizeof ellipsis - 1, font, bold);
        n = weft_text_fit(clean, n, font, bold, max_width - dots, &width);
        if (n == 0)
            return 0;
        memcpy(clean + n, ellipsis, sizeof ellipsis - 1);
        n += sizeof ellipsis - 1;
        width += dots;
    }
    uint32_t at;
    if (n == 0 || !keep_text(c, clean, n, &at))
        return 0;
    struct weft_draw *d = push(c, WEFT_DRAW_TEXT, ink, font, x, baseline, x + width, baseline);
    d->bold = bold;
    d->first = at;
    d->count = (uint32_t)n;
    return width;
}

int32_t canvas_text_apart(struct canvas *c, enum weft_ink ink, int32_t font, int32_t x,
                          int32_t baseline, int32_t max_width, const char *text, size_t size)
{
    /* Pushed first, because it lies below; its width is set later. */
    uint32_t at = c->list->draws;
    canvas_rect(c, WEFT_INK_GROUND, x - PX, baseline - font * 7 / 8, x, baseline + font / 4)
        ->alpha = 150;
    int32_t width = canvas_text(c, ink, font, false, x, baseline, max_width, text, size);
    if (at < c->list->draws) {
        if (width)
            c->list->draw[at].x1 = x + width + PX;
        else
            c->list->draws = at;
    }
    return width;
}

void canvas_title(struct canvas *c, int32_t top, int32_t end, const char *title, const char *note,
                  int32_t gap)
{
    int32_t y = top + canvas_scaled(c, 18 * PX), width = end - MARGIN;
    int32_t right = weft_text_width(note, strlen(note), c->font, false);
    right = right < width * 2 / 3 ? right : width * 2 / 3;
    title = title ? title : "weft";
    canvas_text(c, WEFT_INK_TEXT, 13 * PX * c->percent / 100, true, MARGIN, y, width - right - gap,
                title, strlen(title));
    canvas_text(c, WEFT_INK_FAINT_TEXT, c->font, false, end - right, y, right, note, strlen(note));
}

struct weft_draw *canvas_steps(struct canvas *c, enum weft_ink ink, int32_t width)
{
    struct weft_draw *d = push(c, WEFT_DRAW_STEPS, ink, width, 0, 0, 0, 0);
    d->first = c->list->point_count;
    return d;
}

void canvas_point(struct canvas *c, int32_t x, int32_t y)
{
    struct weft_drawlist *list = c->list;
    if (!canvas_grow(c, &list->points, list->point_count, &list->points_room, sizeof *list->points))
        return;
    list->points[list->point_count++] = (struct weft_point){x, y};
    list->draw[list->draws - 1].count++;
}

static void add_shades(struct canvas *c, enum weft_ink ink, int32_t x0, int32_t y0, int32_t x1,
                       int32_t y1, const uint8_t *shade, uint32_t count)
{
    struct weft_drawlist *list = c->list;
    if (!list->failed && !weft_reserve_all(&list->shades, (uint64_t)list->shade_count + count,
                                           &list->shades_room, 1))
        list->failed = true;
    if (list->failed)
        return;
    struct weft_draw *d = push(c, WEFT_DRAW_SHADES, ink, CELL, x0, y0, x1, y1);
    d->first = list->shade_count;
    d->count = count;
    memcpy(list->shades + list->shade_count, shade, count);
    list->shade_count += count;
}

/* The first cell from i on that is not empty, or end. */
static uint32_t next_cell(const uint8_t *shade, uint32_t i, uint32_t end)
{
    for (uint64_t eight; i + 8 <= end; i += 8) {
        memcpy(&eight, shade + i, 8);
        if (eight)
            break;
    }
    while (i < end && !shade[i])
        i++;
    return i;
}

void canvas_cells(struct canvas *c, enum weft_ink ink, int32_t y0, int32_t y1, const uint8_t *shade,
                  uint32_t first, uint32_t end, uint32_t gap)
{
    for (uint32_t i = first; y1 > y0 && (i = next_cell(shade, i, end)) < end;) {
        uint32_t until = i, next = i; /* until: after the last one that is not empty */
        do {
            for (until = next + 1; until < end && shade[until]; until++)
                ;
            next = next_cell(shade, until, end);
        } while (next < end && next - until <= gap);
        int32_t x0 = c->x0 + (int32_t)i * CELL, x1 = c->x0 + (int32_t)until * CELL;
        add_shades(c, ink, x0, y0, x1 < c->x1 ? x1 : c->x1, y1, shade + i, until - i);
        i = next;
    }
}

bool canvas_grow(struct canvas *c, void *array, uint32_t used, uint32_t *room, size_t item)
{
    if (!c->list->failed && !weft_reserve(array, used, room, item))
        c->list->failed = true;
    return !c->list->failed;
}

void canvas_tip(struct canvas *c, struct weft_draw *d, const char *text, size_t size)
{
    char clean[TEXT_MAX];
    size_t n = weft_text_clean(clean, sizeof clean, text, size);
    if (keep_text(c, clean, n, &d->tip))
        d->tip_size = (uint32_t)n;
}

/* Counts the folds that begin before each part of the time; the first part also stands for all earlier times, the last
 * one for all later ones. */
static void count_folds(struct axis *a)
{
    const uint64_t span = (uint64_t)a->to_ns - (uint64_t)a->from_ns;
    while (span >> a->slot_shift >= AXIS_SLOTS)
        a->slot_shift++;
    uint32_t count = 0;
    for (uint64_t i = 1; i < AXIS_SLOTS; i++) {
        while (count < a->folds.count &&
               a->folds.fold[count].from_ns < a->from_ns + (int64_t)(i << a->slot_shift))
            count++;
        a->before[i] = (uint16_t)count;
    }
    a->before[AXIS_SLOTS] = (uint16_t)a->folds.count;
}

void axis_init(struct axis *a, const struct weft_folds *folds, int64_t from_ns, int64_t to_ns,
               int32_t x0, int32_t x1)
{
    *a = (struct axis){.from_ns = from_ns, .to_ns = to_ns, .x0 = x0, .x1 = x1};
    uint32_t first = weft_folds_after(folds, from_ns), end = first;
    while (folds && end < folds->count && folds->fold[end].from_ns < to_ns)
        end++;
    if (end > first && first > 0) /* it says where time before the first one is shown */
        first--;
    if (end > first)
        a->folds = (struct weft_folds){.fold = folds->fold + first, .count = end - first};
    if (a->folds.count) /* else nobody asks, and many axes are made for one point each */
        count_folds(a);
    a->shown_from = weft_folds_shown(&a->folds, from_ns);
    a->span = (uint64_t)weft_folds_shown(&a->folds, to_ns) - (uint64_t)a->shown_from;
    if (a->span == 0) /* a moment within a fold */
        a->span = 1;
    uint64_t span = a->span;
    while (span >> a->shift >> 38)
        a->shift++;
    span >>= a->shift;
    a->scale = (((uint64_t)(x1 - x0) << 43) + span - 1) / span;
}

/* The point in shown time after `width` of the x1 - x0 parts of the visible time. */
static uint64_t part_of(const struct axis *a, uint64_t width, bool up)
{
    uint64_t span = a->span, all = (uint64_t)(a->x1 - a->x0);
    return span / all * width + (span % all * width + (up ? all - 1 : 0)) / all;
}

int64_t axis_time(const struct axis *a, int32_t x)
{
    if (x <= a->x0)
        return a->from_ns;
    uint64_t shown = (uint64_t)a->shown_from + part_of(a, (uint64_t)(x - a->x0), true);
    if (!a->folds.count)
        return (int64_t)shown;
    int64_t time = weft_folds_time(&a->folds, (int64_t)shown);
    return time < a->from_ns ? a->from_ns : time > a->to_ns ? a->to_ns : time;
}

int64_t axis_length(const struct axis *a, int32_t width)
{
    return (int64_t)part_of(a, (uint64_t)width, false);
}

int32_t canvas_row_height(const struct canvas *c, uint32_t at)
{
    return c->shown_y[at + 1] - c->shown_y[at];
}

int32_t canvas_row_y(const struct canvas *c, uint32_t at)
{
    int32_t height = canvas_row_height(c, at);
    return c->shown_y[at] + (height >= 10 * PX ? height - 5 * PX : height / 2);
}

uint32_t canvas_row_of(const struct canvas *c, uint32_t promise)
{
    uint32_t row = promise < c->m->promises ? c->l->row[promise] : WEFT_NONE;
    return row == WEFT_NONE ? WEFT_NONE : c->shown_at[row];
}

bool canvas_y(const struct canvas *c, uint32_t promise, int32_t *y)
{
    uint32_t at = canvas_row_of(c, promise);
    if (at != WEFT_NONE)
        *y = canvas_row_y(c, at);
    return at != WEFT_NONE;
}

void canvas_ends(const struct canvas *c, int64_t from_ns, int64_t to_ns, int32_t least, int32_t *x0,
                 int32_t *x1)
{
    *x0 = canvas_x(c, from_ns);
    *x1 = canvas_x(c, to_ns);
    *x0 = *x0 < c->x0 ? c->x0 : *x0 > c->x1 - least ? c->x1 - least : *x0;
    *x1 = *x1 < *x0 + least ? *x0 + least : *x1 > c->x1 ? c->x1 : *x1;
}

int32_t canvas_span_room(const struct canvas *c, uint32_t row, uint32_t span)
{
    if (span + 1 == c->l->first[row + 1])
        return c->x1;
    int32_t x = canvas_x(c, c->l->start[span + 1]);
    return x < c->x1 ? x : c->x1;
}

void weft_notice_text(struct weft_drawlist *list, enum weft_ink ink, int32_t font, int32_t x,
                      int32_t baseline, int32_t max_width, const char *text)
{
    struct canvas c = {.list = list};
    size_t size = strlen(text);
    int32_t width = weft_text_width(text, size, font, false);
    width = width < max_width ? width : max_width;
    canvas_text(&c, ink, font, false, x - width / 2, baseline, max_width, text, size);
}

void weft_notice_line(struct weft_drawlist *list, enum weft_ink ink, int32_t x0, int32_t y,
                      int32_t x1)
{
    struct canvas c = {.list = list};
    canvas_rect(&c, ink, x0, y, x1, y + PX);
}

void weft_notice_rect(struct weft_drawlist *list, enum weft_ink ink, int32_t x0, int32_t y0,
                      int32_t x1, int32_t y1)
{
    struct canvas c = {.list = list};
    canvas_rect(&c, ink, x0, y0, x1, y1);
}

void weft_notice_stroke(struct weft_drawlist *list, enum weft_ink ink, int32_t width, int32_t x0,
                        int32_t y0, int32_t x1, int32_t y1)
{
    struct canvas c = {.list = list};
    canvas_line(&c, ink, width, x0, y0, x1, y1);
}
