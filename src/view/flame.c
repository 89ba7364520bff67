/* SPDX-License-Identifier: ISC */
/* A flame graph: where its boxes lie, which frames a search finds, and the draw list. */
#include "view/flame.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "view/canvas.h"
#include "view/query.h"

enum {
    DEPTH_MAX = 4096,
    DEFAULT_WIDTH = 1600,
    TITLE_HEIGHT = 26 * PX,
    ROW_HEIGHT = 18 * PX,
    LEGEND_HEIGHT = 22 * PX,
    LEGEND_SAMPLE = 18 * PX,
    TEXT_MIN = 22 * PX, /* narrower boxes have no text */
    TEXT_PAD = 4 * PX,
    SHARE_GAP = 12 * PX,   /* between a name and its share */
    GAP = PX,              /* between boxes … */
    GAP_FROM = 4 * PX,     /* … that are at least this wide */
    FOUND_HEIGHT = 4 * PX, /* bar in a found frame whose own colour is needed for something else */
    BASELINE = 13 * PX,    /* below the upper edge of a row */
    ABOVE_ALPHA = 130,     /* frames above the focus */
    GROWTH_MIN = 500,      /* millionths: a smaller change is not shown … */
    GROWTH_FULL = 100000,  /* … and a larger one looks the same as this */
    TOP_MAX = 16 * WEFT_PICTURE_MAX_PX,
};

void weft_flame_fini(struct weft_flame *f)
{
    free(f->box);
    *f = (struct weft_flame){0};
}

static bool add_box(struct weft_flame *f, struct weft_flame_box box)
{
    if (!weft_reserve(&f->box, f->boxes, &f->room, sizeof *f->box))
        return false;
    f->box[f->boxes++] = box;
    return true;
}

/* The focus and its callers, from the top: each is as wide as the picture. */
static bool add_lineage(struct weft_flame *f, const struct weft_calltree *t, uint32_t focus,
                        int32_t x0, int32_t x1)
{
    uint32_t above[DEPTH_MAX], count = 0;
    for (uint32_t node = focus; count < DEPTH_MAX && node < t->calls; node = t->call[node].parent) {
        above[count++] = node;
        if (node == 0)
            break;
    }
    for (uint32_t row = 0; count-- > 0; row++)
        if (!add_box(f, (struct weft_flame_box){.node = above[count],
                                                .merged = 1,
                                                .row = row,
                                                .x0 = x0,
                                                .x1 = x1,
                                                .total = t->call[above[count]].total}))
            return false;
    return true;
}

/* A linear map from amounts to coordinates; amounts are shifted to 43 bits, the width takes 20. */
struct measure {
    int32_t x0, width;
    uint64_t total;
    unsigned shift;
};

static int32_t x_of(const struct measure *m, uint64_t amount)
{
    amount = amount < m->total ? amount : m->total;
    return m->x0 + (int32_t)((amount >> m->shift) * (uint64_t)m->width / (m->total >> m->shift));
}

/* Neighbouring frames that are too narrow, up to the first that is wide enough. */
static bool flush(struct weft_flame *f, struct weft_flame_box *narrow)
{
    bool added = true;
    if (narrow->merged && narrow->x1 - narrow->x0 >= PX)
        added = add_box(f, *narrow);
    else
        f->hidden += narrow->merged;
    narrow->merged = 0;
    return added;
}

/* Lays out what is below a box. */
static bool add_children(struct weft_flame *f, const struct weft_calltree *t,
                         const struct measure *m, struct weft_flame_box parent)
{
    struct weft_flame_box narrow = {.merged = 0};
    uint64_t at = parent.before, end = at + parent.total;
    uint32_t node = t->call[parent.node].first_child;
    for (; node < t->calls; node = t->call[node].next_sibling) {
        uint64_t total = t->call[node].total;
        total = total < end - at ? total : end - at;
        struct weft_flame_box box = {
            .node = node,
            .merged = 1,
            .row = parent.row + 1,
            .x0 = x_of(m, at),
            .x1 = x_of(m, at + total),
            .total = total,
            .before = at,
        };
        at += total;
        if (box.x1 - box.x0 >= PX) {
            if (!flush(f, &narrow) || !add_box(f, box))
                return false;
        } else if (narrow.merged) {
            narrow.merged++;
            narrow.x1 = box.x1;
            narrow.total += total;
        } else {
            narrow = box;
        }
    }
    return flush(f, &narrow);
}

int weft_flame_layout(struct weft_flame *f, const struct weft_calltree *t, uint32_t focus,
                      int32_t x0, int32_t x1)
{
    f->boxes = f->rows = f->hidden = 0;
    if (focus >= t->calls || x1 <= x0)
        return WEFT_E_INVALID;
    if (!add_lineage(f, t, focus, x0, x1))
        return WEFT_E_NOMEM;
    struct measure m = {x0, x1 - x0, t->call[focus].total, 0};
    f->rows = f->boxes;
    while (m.total >> m.shift >> 43)
        m.shift++;
    for (uint32_t i = f->boxes - 1; i < f->boxes && m.total; i++) {
        f->rows = f->box[i].row + 1;
        if (f->box[i].merged == 1 && !add_children(f, t, &m, f->box[i]))
            return WEFT_E_NOMEM;
    }
    return 0;
}

uint32_t weft_flame_at(const struct weft_flame *f, int32_t x, int32_t y)
{
    if (f->row_height <= 0 || y < f->frames_y0)
        return WEFT_NONE;
    uint32_t row = (uint32_t)((y - f->frames_y0) / f->row_height);
    if (row >= f->shown_rows)
        return WEFT_NONE;
    row += f->first_row;
    for (uint32_t i = 0; i < f->boxes; i++)
        if (f->box[i].row == row && x >= f->box[i].x0 && x < f->box[i].x1)
            return i;
    return WEFT_NONE;
}

/* ---- Search ---- */

void weft_flame_found_fini(struct weft_flame_found *f)
{
    free(f->bits);
    *f = (struct weft_flame_found){0};
}

/* Returns true if the query has only words; the other conditions are about promises. */
static bool is_plain(const struct view_query *q)
{
    for (uint32_t i = 0; i < q->terms; i++)
        if (q->term[i].kind != VIEW_TERM_WORD)
            return false;
    return q->terms != 0;
}

static bool matches(const struct view_query *q, const char *name)
{
    size_t size = strlen(name);
    uint16_t words = 0;
    for (size_t at = 0; at < size && words != q->all; at += VIEW_QUERY_CHUNK) {
        size_t rest = size - at < UINT32_MAX ? size - at : UINT32_MAX;
        words |= view_query_find(q, name + at,
                                 rest < VIEW_QUERY_CHUNK ? (uint32_t)rest : VIEW_QUERY_CHUNK,
                                 (uint32_t)rest);
    }
    return words == q->all;
}

int weft_flame_find(struct weft_flame_found *out, const struct weft_profile *p,
                    const struct weft_calltree *t, const char *query)
{
    struct view_query q;
    *out = (struct weft_flame_found){0};
    view_query_parse(&q, query);
    out->bits = calloc((size_t)t->calls / 64 + 1, sizeof *out->bits);
    uint64_t *within = calloc((size_t)t->calls / 64 + 1, sizeof *within); /* or is one */
    if (!out->bits || !within) {
        free(within);
        return WEFT_E_NOMEM;
    }
    bool plain = is_plain(&q);
    for (uint32_t i = 1; plain && i < t->calls; i++) { /* parents come before children */
        uint32_t parent = t->call[i].parent;
        bool inside = within[parent / 64] >> (parent % 64) & 1;
        bool found = matches(&q, weft_flame_name(p, t, i));
        out->bits[i / 64] |= (uint64_t)found << (i % 64);
        within[i / 64] |= (uint64_t)(found || inside) << (i % 64);
        out->frames += found;
        out->total += found && !inside ? t->call[i].total : 0;
    }
    free(within);
    return 0;
}

/* ---- In words ---- */

const char *weft_flame_name(const struct weft_profile *p, const struct weft_calltree *t,
                            uint32_t node)
{
    const char *name = node ? weft_profile_text(p, t->call[node].frame.text) : "all";
    return *name ? name : "(no name)";
}

struct weft_figure weft_flame_amount(enum weft_source_unit unit, uint64_t value)
{
    struct weft_figure out = weft_count_short(value);
    if (unit == WEFT_UNIT_NS)
        return weft_duration(value < INT64_MAX ? (int64_t)value : INT64_MAX);
    if (unit == WEFT_UNIT_CYCLES)
        strcat(out.text, " cycles");
    return out;
}

/* "35.2 %" in tenths, rounded; without floating point, so that it is the same everywhere. */
static struct weft_figure percent(uint64_t part, uint64_t whole)
{
    struct weft_figure out;
    for (; whole >> 53; whole >>= 1)
        part >>= 1;
    uint64_t tenths = whole ? (part * 1000 + whole / 2) / whole : 0;
    if (part && tenths == 0)
        snprintf(out.text, sizeof out.text, "< 0.1 %%");
    else
        snprintf(out.text, sizeof out.text, "%" PRIu64 ".%" PRIu64 " %%", tenths / 10, tenths % 10);
    return out;
}

static size_t at_most(int n, size_t room)
{
    return n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
}

size_t weft_flame_describe(char *out, size_t room, const struct weft_profile *p,
                           const struct weft_calltree *t, const struct weft_flame_box *box)
{
    const struct weft_call *c = &t->call[box->node];
    const struct weft_figure amount = weft_flame_amount(t->unit, box->total);
    const struct weft_figure share = percent(box->total, t->total);
    if (box->merged > 1)
        return at_most(
            snprintf(out, room, "%" PRIu32 " frames, the first of them %.200s: together %s (%s)",
                     box->merged, weft_flame_name(p, t, box->node), share.text, amount.text),
            room);
    if (t->waits)
        return at_most(snprintf(out, room, "%.400s: %s (%s)", weft_flame_name(p, t, box->node),
                                share.text, amount.text),
                       room);
    size_t n = at_most(snprintf(out, room, "%.400s: %s (%s, %s sample%s), itself %s",
                                weft_flame_name(p, t, box->node), share.text, amount.text,
                                weft_count(c->samples).text, c->samples == 1 ? "" : "s",
                                percent(c->self, t->total).text),
                       room);
    uint32_t function = box->node ? c->frame.function : WEFT_NONE;
    const char *file =
        function < p->functions ? weft_profile_text(p, p->function[function].file) : "";
    if (!*file)
        return n;
    uint32_t line = p->function[function].start_line;
    n += at_most(snprintf(out + n, room - n, line ? "; %.200s:%" PRIu32 : "; %.200s", file, line),
                 room - n);
    return n;
}

int weft_flame_found_text(char *out, size_t room, const struct weft_calltree *t,
                          const struct weft_flame_found *f)
{
    return snprintf(out, room, "%s in %s frame%s", percent(f->total, t->total).text,
                    weft_count(f->frames).text, f->frames == 1 ? "" : "s");
}

/* ---- Drawing ---- */

static enum weft_ink ink_of(const struct weft_profile *p, const struct weft_calltree *t,
                            const struct weft_flame_box *box)
{
    const struct weft_named_frame *f = &t->call[box->node].frame;
    if (box->merged > 1)
        return WEFT_INK_FRAME_MORE;
    if (box->node == 0 || weft_frame_is_gap(p, f))
        return WEFT_INK_FRAME_GROUP;
    switch (f->kind) {
    case WEFT_FRAME_FUNCTION:
    case WEFT_FRAME_ADDRESS:
        if (f->location < p->locations && p->location[f->location].kernel)
            return WEFT_INK_FRAME_KERNEL;
        return f->kind == WEFT_FRAME_ADDRESS ? WEFT_INK_FRAME_UNNAMED : WEFT_INK_FRAME_USER;
    case WEFT_FRAME_PROMISE:
    case WEFT_FRAME_LABEL:
        return WEFT_INK_FRAME_PROMISE;
    case WEFT_FRAME_THREAD:
    case WEFT_FRAME_CORE:
    case WEFT_FRAME_OBJECT:
    case WEFT_FRAME_PROCESS:
    case WEFT_FRAME_STATE:
        break;
    }
    return WEFT_INK_FRAME_GROUP;
}

/* By how much the share of a call has grown, in millionths: -1,000,000 to 1,000,000. */
static int32_t growth(const struct weft_calltree *t, const struct weft_flame_options *o,
                      uint32_t node)
{
    uint64_t now = t->call[node].total, all = t->total;
    uint64_t was = o->before[node].total, all_was = o->before_total;
    for (; all >> 43; all >>= 1)
        now >>= 1;
    for (; all_was >> 43; all_was >>= 1)
        was >>= 1;
    int64_t share = all ? (int64_t)(now * 1000000 / all) : 0;
    int64_t share_was = all_was ? (int64_t)(was * 1000000 / all_was) : 0;
    return (int32_t)(share - share_was);
}

struct picture {
    struct canvas c;
    struct weft_flame *f;
    const struct weft_profile *p;
    const struct weft_calltree *t;
    const struct weft_flame_options *o;
    int32_t width, height, title, legend;
    bool used[WEFT_INKS];
};

/* Returns true if at least one frame of a box is a search result. */
static bool is_found(const struct picture *v, const struct weft_flame_box *box)
{
    const struct weft_flame_found *found = v->o->found;
    uint32_t node = box->node;
    for (uint32_t n = 0; found && n < box->merged && node < v->t->calls; n++) {
        if (found->bits[node / 64] >> (node % 64) & 1)
            return true;
        node = v->t->call[node].next_sibling;
    }
    return false;
}

/* Red for frames whose share has grown, blue for those whose share has shrunk; the larger the change, the stronger. */
static void draw_growth(struct picture *v, const struct weft_flame_box *box, int32_t y0, int32_t x1)
{
    int32_t grew = growth(v->t, v->o, box->node), by = grew < 0 ? -grew : grew;
    enum weft_ink ink = grew < 0 ? WEFT_INK_FRAME_SHRANK : WEFT_INK_FRAME_GREW;
    if (by < GROWTH_MIN)
        return;
    struct weft_draw *d = canvas_rect(&v->c, ink, box->x0, y0, x1, y0 + v->f->row_height - GAP);
    d->alpha = (uint8_t)(50 + 205 * (by < GROWTH_FULL ? by : GROWTH_FULL) / GROWTH_FULL);
    v->used[ink] = true;
}

static void draw_box(struct picture *v, uint32_t at)
{
    const struct weft_flame_box *box = &v->f->box[at];
    struct canvas *c = &v->c;
    int32_t y0 = v->f->frames_y0 + (int32_t)(box->row - v->f->first_row) * v->f->row_height;
    int32_t x1 = box->x1 - box->x0 >= GAP_FROM ? box->x1 - GAP : box->x1;
    bool compared = v->o->before && box->merged == 1;
    enum weft_ink ink = compared ? WEFT_INK_FRAME_GROUP : ink_of(v->p, v->t, box);
    bool above = v->o->focus && box->row < v->t->call[v->o->focus].depth;
    bool found = is_found(v, box);
    if (found && !compared)
        ink = WEFT_INK_FRAME_FOUND;
    struct weft_draw *d = canvas_rect(c, ink, box->x0, y0, x1, y0 + v->f->row_height - GAP);
    v->used[ink] = true;
    if (above)
        d->alpha = ABOVE_ALPHA;
    if (v->o->tips) {
        char tip[700];
        size_t n = weft_flame_describe(tip, sizeof tip, v->p, v->t, box);
        if (compared)
            n += at_most(snprintf(tip + n, sizeof tip - n, "; before %s",
                                  percent(v->o->before[box->node].total, v->o->before_total).text),
                         sizeof tip - n);
        canvas_tip(c, d, tip, n);
    }
    if (compared)
        draw_growth(v, box, y0, x1);
    if (compared && found) { /* its own colour already means something else */
        int32_t y1 = y0 + v->f->row_height - GAP;
        canvas_rect(c, WEFT_INK_FRAME_FOUND, box->x0, y1 - FOUND_HEIGHT, x1, y1);
        v->used[WEFT_INK_FRAME_FOUND] = true;
    }
    if (at == v->o->hovered) {
        int32_t y1 = y0 + v->f->row_height - GAP;
        canvas_line(c, WEFT_INK_TEXT, PX, box->x0, y0 + PX / 2, x1, y0 + PX / 2);
        canvas_line(c, WEFT_INK_TEXT, PX, box->x0, y1 - PX / 2, x1, y1 - PX / 2);
        canvas_line(c, WEFT_INK_TEXT, PX, box->x0 + PX / 2, y0, box->x0 + PX / 2, y1);
        canvas_line(c, WEFT_INK_TEXT, PX, x1 - PX / 2, y0, x1 - PX / 2, y1);
    }
    if (x1 - box->x0 < TEXT_MIN)
        return;
    char more[40];
    const char *name = weft_flame_name(v->p, v->t, box->node);
    if (box->merged > 1) {
        snprintf(more, sizeof more, "%" PRIu32 " more", box->merged);
        name = more;
    }
    int32_t y = y0 + canvas_scaled(c, BASELINE), room = x1 - box->x0 - 2 * TEXT_PAD;
    bool faint = above && !found;
    int32_t width = canvas_text(c, faint ? WEFT_INK_FAINT_TEXT : WEFT_INK_TEXT, c->font, found,
                                box->x0 + TEXT_PAD, y, room, name, strlen(name));
    const struct weft_figure share = percent(box->total, v->t->total);
    int32_t right = weft_text_width(share.text, strlen(share.text), c->font_small, false);
    if (width + right + SHARE_GAP <= room) /* at its end, where there is room */
        canvas_text(c, compared || found ? WEFT_INK_TEXT : WEFT_INK_FAINT_TEXT, c->font_small,
                    false, box->x0 + TEXT_PAD + room - right, y, right, share.text,
                    strlen(share.text));
}

static bool is_in_picture(const struct weft_flame *f, const struct weft_flame_box *box)
{
    return box->row >= f->first_row && box->row < f->first_row + f->shown_rows;
}

/* How many frames that belong to the picture have no box in it. */
static uint32_t left_out_of(const struct picture *v)
{
    const struct weft_calltree *t = v->t;
    uint32_t focus = v->o->focus, all = t->call[focus].depth + 1, drawn = 0, node = focus;
    for (;;) { /* what is below the focus */
        if (t->call[node].first_child < t->calls) {
            node = t->call[node].first_child;
        } else {
            while (node != focus && t->call[node].next_sibling >= t->calls)
                node = t->call[node].parent;
            if (node == focus)
                break;
            node = t->call[node].next_sibling;
        }
        all++;
    }
    for (uint32_t i = 0; i < v->f->boxes; i++)
        if (is_in_picture(v->f, &v->f->box[i]))
            drawn += v->f->box[i].merged;
    return all - drawn;
}

static void draw_legend(struct picture *v, int32_t y)
{
    static const struct {
        enum weft_ink ink;
        const char *text;
    } entries[] = {
        {WEFT_INK_FRAME_USER, "program"},
        {WEFT_INK_FRAME_KERNEL, "kernel"},
        {WEFT_INK_FRAME_PROMISE, "promise"},
        {WEFT_INK_FRAME_UNNAMED, "no name known"},
        {WEFT_INK_FRAME_GREW, "a larger share than before"},
        {WEFT_INK_FRAME_SHRANK, "a smaller one"},
        {WEFT_INK_FRAME_MORE, "several, too narrow for one pixel"},
        {WEFT_INK_FRAME_FOUND, "found"},
    };
    struct canvas *c = &v->c;
    int32_t x = MARGIN, baseline = y + canvas_scaled(c, 14 * PX);
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        if (!v->used[entries[i].ink])
            continue;
        canvas_rect(c, entries[i].ink, x, baseline - 9 * PX, x + LEGEND_SAMPLE - 5 * PX,
                    baseline + 2 * PX);
        x += LEGEND_SAMPLE;
        x += canvas_text(c, WEFT_INK_FAINT_TEXT, c->font_small, false, x, baseline,
                         v->width - MARGIN - x, entries[i].text, strlen(entries[i].text)) +
             2 * MARGIN;
    }
    char text[160];
    uint32_t left_out = left_out_of(v);
    bool cut = v->f->first_row + v->f->shown_rows < v->f->rows || v->f->first_row;
    if (!left_out)
        return;
    int n = snprintf(text, sizeof text, "%s frame%s left out: less than a pixel%s%s.",
                     weft_count(left_out).text, left_out == 1 ? "" : "s",
                     v->f->hidden || !cut ? " wide, or below such ones" : "",
                     cut ? ", or no room for the row" : "");
    canvas_text(c, WEFT_INK_FAINT_TEXT, c->font_small, false, x, baseline, v->width - MARGIN - x,
                text, (size_t)n);
}

static bool options_are_sound(const struct weft_flame_options *o)
{
    bool width = o->width_px == 0 ||
                 (o->width_px >= WEFT_PICTURE_MIN_PX && o->width_px <= WEFT_PICTURE_MAX_PX);
    bool height = o->height_px >= 0 && o->height_px <= WEFT_PICTURE_MAX_PX;
    bool text = o->text_percent == 0 || (o->text_percent >= 50 && o->text_percent <= 300);
    return width && height && text && o->top_px >= 0 && o->top_px <= TOP_MAX;
}

/* Chooses which rows are shown and how high the picture is. */
static void place(struct picture *v)
{
    struct weft_flame *f = v->f;
    struct canvas *c = &v->c;
    v->title = canvas_scaled(c, TITLE_HEIGHT);
    v->legend = v->o->tips && !v->o->no_legend ? canvas_scaled(c, LEGEND_HEIGHT) : 0;
    f->row_height = canvas_scaled(c, ROW_HEIGHT);
    int32_t most = WEFT_PICTURE_MAX_PX * PX - v->title - v->legend - MARGIN;
    uint32_t fit = (uint32_t)(most / f->row_height);
    uint32_t rows = f->rows < fit ? f->rows : fit;
    if (v->o->height_px) {
        int32_t room = v->o->height_px * PX - v->title - v->legend - MARGIN / 2;
        rows = room > 0 ? (uint32_t)(room / f->row_height) : 0;
        v->height = v->o->height_px * PX;
    } else {
        v->height = v->title + (int32_t)rows * f->row_height + MARGIN + v->legend;
    }
    uint32_t hidden = f->rows > rows ? f->rows - rows : 0;
    f->first_row = v->o->scrolled < hidden ? v->o->scrolled : hidden;
    f->shown_rows = f->rows - f->first_row < rows ? f->rows - f->first_row : rows;
    f->y0 = v->o->top_px * PX;
    f->frames_y0 = f->y0 + v->title;
    f->y1 = f->y0 + v->height;
}

int weft_flame_draw(struct weft_drawlist *list, struct weft_flame *f, const struct weft_profile *p,
                    const struct weft_calltree *t, const struct weft_flame_options *o)
{
    if (!options_are_sound(o))
        return WEFT_E_INVALID;
    struct picture v = {.c = {.list = list}, .f = f, .p = p, .t = t, .o = o};
    v.width = (o->width_px ? o->width_px : DEFAULT_WIDTH) * PX;
    canvas_set_text(&v.c, o->text_percent);
    TRY(weft_flame_layout(f, t, o->focus, MARGIN, v.width - MARGIN));
    place(&v);
    if (o->top_px == 0)
        weft_drawlist_clear(list, 0, 0);
    list->width = v.width > list->width ? v.width : list->width;
    list->height = f->y1 > list->height ? f->y1 : list->height;
    canvas_title(&v.c, f->y0, v.width - MARGIN, o->title, o->note ? o->note : "", 2 * MARGIN);
    for (uint32_t i = 0; i < f->boxes && !list->failed; i++)
        if (is_in_picture(f, &f->box[i]))
            draw_box(&v, i);
    if (v.legend)
        draw_legend(&v, f->y1 - v.legend);
    return list->failed ? WEFT_E_NOMEM : 0;
}
