/* SPDX-License-Identifier: ISC */
#include "view/legend.h"

#include <stdio.h>
#include <string.h>

#include "view/canvas.h"

enum {
    LINE = 17 * PX,
    SAMPLE = 26 * PX,
    PAD = 4 * PX,     /* above the first line and below the last one */
    OFF_ALPHA = 70,   /* the sample of a kind that is switched off */
    COUNTED = 100000, /* room for a count like this one */
};

const struct weft_kind_info weft_kinds[WEFT_KINDS] = {
#define KIND(NAME, key, SAMPLE, INK, text, meaning)                                                \
    {key, WEFT_SAMPLE_##SAMPLE, WEFT_INK_##INK, text, meaning},
#include "view/kind.def"
};

_Static_assert(WEFT_KINDS <= 32, "a set of kinds is a uint32_t");
_Static_assert(WEFT_KIND_PATH_UNKNOWN - WEFT_KIND_PATH_RUNNING ==
                   WEFT_MARK_UNKNOWN - WEFT_MARK_RUNNING,
               "the steps of a path have the same order in both");

void canvas_saw(struct canvas *c, enum weft_kind kind, uint64_t count)
{
    struct weft_kind_seen *k = &c->g->kind[kind];
    k->count += count;
    k->seen = k->seen || count;
}

void canvas_saw_more(struct canvas *c, enum weft_kind kind)
{
    c->g->kind[kind].seen = c->g->kind[kind].more = true;
}

void weft_legend_add(struct weft_legend *l, const struct weft_kind_seen kind[WEFT_KINDS])
{
    for (unsigned k = 0; k < WEFT_KINDS; k++) {
        l->kind[k].count += kind[k].count;
        l->kind[k].seen = l->kind[k].seen || kind[k].seen;
        l->kind[k].more = l->kind[k].more || kind[k].more;
    }
}

void weft_kind_say(char *out, size_t room, enum weft_kind kind, const struct weft_kind_seen *seen,
                   bool hidden)
{
    const char *text = weft_kinds[kind].text;
    if (hidden)
        snprintf(out, room, "%s (hidden)", text);
    else if (seen->count && !seen->more)
        snprintf(out, room, "%s %s", text, weft_count(seen->count).text);
    else
        snprintf(out, room, "%s", text);
}

static void draw_sample(struct canvas *c, const struct weft_kind_info *k, int32_t x, int32_t y,
                        uint8_t alpha)
{
    static const int32_t halves[] = {
        [WEFT_SAMPLE_BAR] = PX,      [WEFT_SAMPLE_RUNNING] = 5 * PX / 2,
        [WEFT_SAMPLE_PENDING] = PX,  [WEFT_SAMPLE_FAIL] = PX,
        [WEFT_SAMPLE_FOLD] = 3 * PX, [WEFT_SAMPLE_BOX] = 5 * PX,
        [WEFT_SAMPLE_PATH] = 3 * PX, [WEFT_SAMPLE_DOWN] = 0,
        [WEFT_SAMPLE_STEP] = 0,      [WEFT_SAMPLE_FLAG] = 0,
    };
    const enum weft_kind_sample s = k->sample;
    int32_t end = x + SAMPLE - 6 * PX, half = halves[s];
    uint32_t first = c->list->draws;
    if (half)
        canvas_rect(c, k->ink, x, y - half, s == WEFT_SAMPLE_PENDING ? end - 4 * PX : end, y + half)
            ->alpha = s == WEFT_SAMPLE_FOLD ? 140 : 255;
    if (s == WEFT_SAMPLE_PENDING || s == WEFT_SAMPLE_STEP)
        canvas_line(c, k->ink, PX, x, y, end, y)->op =
            s == WEFT_SAMPLE_STEP ? WEFT_DRAW_ARROW : WEFT_DRAW_POINTER;
    if (s == WEFT_SAMPLE_FAIL)
        canvas_rect(c, k->ink, end - 2 * PX, y - 6 * PX, end, y + 6 * PX);
    if (s == WEFT_SAMPLE_DOWN)
        canvas_line(c, k->ink, PX, x + 10 * PX, y - 6 * PX, x + 10 * PX, y + 6 * PX);
    if (s == WEFT_SAMPLE_FLAG) {
        canvas_rect(c, k->ink, x + 4 * PX, y - 6 * PX, x + 14 * PX, y + 2 * PX);
        canvas_line(c, k->ink, 3 * PX / 2, x + 4 * PX, y - 6 * PX, x + 4 * PX, y + 6 * PX);
    }
    for (uint32_t i = first; i < c->list->draws; i++)
        c->list->draw[i].alpha = alpha < c->list->draw[i].alpha ? alpha : c->list->draw[i].alpha;
}

/* ---- Where each kind is named ---- */

/* Places a text of that width after the others. Returns false if no line is left. */
struct places {
    int32_t x0, x1, y0, line, x;
    int32_t lines, lines_max;
};

static bool next_place(struct places *p, int32_t width, struct weft_legend_item *item)
{
    if (p->lines == 0 || (p->x > p->x0 && p->x + width > p->x1)) {
        if (p->lines == p->lines_max)
            return false;
        p->lines++;
        p->x = p->x0;
    }
    item->x0 = p->x;
    item->x1 = p->x + width < p->x1 ? p->x + width : p->x1;
    item->y0 = p->y0 + (p->lines - 1) * p->line;
    item->y1 = item->y0 + p->line;
    p->x += width;
    return true;
}

static int32_t width_of(const char *text, int32_t font)
{
    return weft_text_width(text, strlen(text), font, false) + SAMPLE + 2 * MARGIN;
}

/* Names the kinds that are seen or hidden, and draws them if asked to. Returns the number of lines. */
static int32_t name_kinds(struct canvas *c, struct weft_legend *l, int32_t y0, bool draw)
{
    struct places p = {.x0 = c->x0, .x1 = c->x1, .y0 = y0 + PAD, .line = canvas_scaled(c, LINE)};
    p.lines_max = l->lines;
    l->items = l->left = 0;
    for (unsigned k = 0; k < WEFT_KINDS; k++) {
        bool hidden = l->hidden & weft_kind_bit(k);
        char text[120];
        struct weft_legend_item item = {.kind = (enum weft_kind)k};
        if (!l->kind[k].seen && !hidden)
            continue;
        weft_kind_say(text, sizeof text, (enum weft_kind)k, &l->kind[k], hidden);
        if (l->left || !next_place(&p, width_of(text, c->font_small), &item)) {
            l->left++;
            continue;
        }
        l->item[l->items++] = item;
        if (!draw)
            continue;
        int32_t y = item.y0 + p.line / 2;
        if (l->pointed == item.kind)
            canvas_rect(c, WEFT_INK_HOVER, item.x0 - MARGIN / 2, item.y0, item.x1 - MARGIN,
                        item.y1);
        draw_sample(c, &weft_kinds[k], item.x0, y, hidden ? OFF_ALPHA : 255);
        canvas_text(c, WEFT_INK_FAINT_TEXT, c->font_small, false, item.x0 + SAMPLE, y + 7 * PX / 2,
                    c->x1 - item.x0 - SAMPLE, text, strlen(text));
    }
    return p.lines;
}

int32_t canvas_name_kinds(struct canvas *c, int32_t y0, bool draw)
{
    struct weft_legend l = {.lines = INT32_MAX, .hidden = c->vp->hidden, .pointed = WEFT_KINDS};
    weft_legend_add(&l, c->g->kind);
    return name_kinds(c, &l, y0, draw);
}

bool canvas_shows(const struct canvas *c, enum weft_kind kind)
{
    return !(c->vp->hidden & weft_kind_bit(kind));
}

/* ---- A legend of its own, below pictures ---- */

static struct canvas canvas_of(struct weft_drawlist *list, int32_t width_px, uint16_t percent)
{
    struct canvas c = {.list = list, .x0 = MARGIN, .x1 = width_px * PX - MARGIN};
    canvas_set_text(&c, percent);
    return c;
}

int32_t weft_legend_height(int32_t lines, uint16_t text_percent)
{
    struct canvas c = canvas_of(NULL, 0, text_percent);
    return (lines * canvas_scaled(&c, LINE) + 2 * PAD) / PX;
}

int32_t weft_legend_lines(uint32_t kinds, int32_t width_px, uint16_t text_percent)
{
    struct canvas c = canvas_of(NULL, width_px, text_percent);
    struct weft_legend l = {.lines = INT32_MAX, .pointed = WEFT_KINDS};
    for (unsigned k = 0; k < WEFT_KINDS; k++)
        if (kinds & weft_kind_bit(k))
            l.kind[k] = (struct weft_kind_seen){.count = COUNTED, .seen = true};
    return name_kinds(&c, &l, 0, false);
}

int weft_legend_draw(struct weft_drawlist *list, struct weft_legend *l)
{
    struct canvas c = canvas_of(list, l->width_px, l->text_percent);
    int32_t y0 = l->top_px * PX, y1 = y0 + weft_legend_height(l->lines, l->text_percent) * PX;
    canvas_rect(&c, WEFT_INK_PANEL, 0, y0, c.x1 + MARGIN, y1);
    name_kinds(&c, l, y0, true);
    if (l->left) {
        char text[32];
        int n = snprintf(text, sizeof text, "… %u more", l->left);
        int32_t width = weft_text_width(text, (size_t)n, c.font_small, false);
        canvas_text_apart(&c, WEFT_INK_FAINT_TEXT, c.font_small, c.x1 - width,
                          y1 - PAD - canvas_scaled(&c, LINE) / 2 + 7 * PX / 2, width, text,
                          (size_t)n);
    }
    return list->failed ? WEFT_E_NOMEM : 0;
}

enum weft_kind weft_legend_at(const struct weft_legend *l, int32_t x, int32_t y)
{
    for (uint32_t i = 0; i < l->items; i++)
        if (x >= l->item[i].x0 && x < l->item[i].x1 - MARGIN && y >= l->item[i].y0 &&
            y < l->item[i].y1)
            return l->item[i].kind;
    return WEFT_KINDS;
}
