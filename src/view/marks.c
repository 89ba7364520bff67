/* SPDX-License-Identifier: ISC */
/* Draws what an analysis says about promises: flags at moments, bands, a path, where two runs diverge.
 *
 * Bounded by WEFT_MARKS_MAX, and the path by the width of the picture: steps that share a pixel are drawn as
 * one. */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "view/canvas.h"

enum {
    PATH_ROWS = 40,       /* rows of a path that are not squeezed */
    PATH_WIDE = 3 * PX,   /* a step whose row is not squeezed */
    BOX_HEIGHT = 12 * PX, /* of a flag */
    RING = 4 * PX,        /* around the moment */
    JOIN_ALPHA = 90,      /* the link between two lines that an event joins */
    BAR = 4 * PX,         /* below the ruler: a range with a note */
    NOTE_ROWS = 40,       /* rows with notes that are not squeezed */
    TEXT_ROOM = 60 * PX,  /* enough for a label between two flags */
    VEIL_ALPHA = 165,     /* over what is not on the path */
    DASH = 7 * PX,
    DASH_GAP = 4 * PX,
};

static uint32_t marks_of(const struct canvas *c)
{
    return c->vp->marks < WEFT_MARKS_MAX ? c->vp->marks : WEFT_MARKS_MAX;
}

/* ---- The path's place ---- */

/* The first step that does not end before the picture begins. */
static uint32_t first_step(const struct canvas *c)
{
    uint32_t low = 0, high = c->vp->path_steps;
    WEFT_SEEK(low, high, c->vp->path[middle].to_ns < c->from_ns);
    return low;
}

/* ---- Rows ---- */

static bool mark_row(struct canvas *c, uint32_t promise)
{
    uint32_t at = canvas_row_of(c, promise);
    if (at == WEFT_NONE || c->seen[at].marked)
        return false;
    c->seen[at].marked = c->seen[at].full = true;
    return true;
}

void canvas_find_marked(struct canvas *c)
{
    const struct weft_viewport *vp = c->vp;
    for (uint32_t i = 0; i < marks_of(c); i++)
        if (vp->mark[i].kind == WEFT_MARK_EVIDENCE) {
            mark_row(c, vp->mark[i].promise);
            mark_row(c, vp->mark[i].other);
        }
    uint32_t rows = 0;
    for (uint32_t i = 0; i < marks_of(c) && rows < NOTE_ROWS; i++)
        rows += vp->mark[i].kind == WEFT_MARK_NOTE && mark_row(c, vp->mark[i].promise);
    rows = 0;
    for (uint32_t i = first_step(c);
         i < vp->path_steps && rows < PATH_ROWS && vp->path[i].from_ns <= c->to_ns; i++) {
        int32_t x0, x1;
        canvas_ends(c, vp->path[i].from_ns, vp->path[i].to_ns, 0, &x0, &x1);
        rows += x1 - x0 >= PATH_WIDE && mark_row(c, vp->path[i].promise);
    }
}

/* ---- Flags ---- */

static int by_place(const void *a, const void *b)
{
    const struct flag *x = a, *y = b;
    WEFT_ORDER(x->at, y->at);
    WEFT_ORDER(x->x, y->x);
    return weft_order(x->mark, y->mark);
}

/* Flags of one row are placed side by side, as far as there is room; those that are left over lie at the left edge. */
static void spread_flags(struct canvas *c)
{
    for (uint32_t i = 1; i < c->flags; i++) {
        struct flag *f = &c->flag[i], *before = f - 1;
        int32_t by = before->x1 + PX - f->x0;
        if (f->at != before->at || by <= 0)
            continue;
        f->x0 += by;
        f->x1 += by;
    }
    int32_t end = c->x1;
    for (uint32_t i = c->flags; i-- > 0;) {
        struct flag *f = &c->flag[i];
        if (i + 1 == c->flags || f->at != f[1].at)
            end = c->x1;
        int32_t by = f->x1 - end;
        if (by > 0) {
            f->x0 -= by;
            f->x1 -= by;
        }
        end = f->x0 - PX;
        if (f->x0 < c->x0) {
            f->x1 += c->x0 - f->x0;
            f->x0 = c->x0;
            f->x1 = f->x1 < c->x1 ? f->x1 : c->x1;
        }
    }
}

static bool is_flag(const struct weft_mark *m)
{
    return m->kind == WEFT_MARK_EVIDENCE || m->kind == WEFT_MARK_NOTE;
}

static enum weft_kind kind_of(const struct weft_mark *m)
{
    return m->kind == WEFT_MARK_NOTE ? WEFT_KIND_NOTES : WEFT_KIND_EVIDENCE;
}

static enum weft_ink ink_of(const struct weft_mark *m)
{
    return m->kind == WEFT_MARK_NOTE ? WEFT_INK_NOTE : WEFT_INK_EVIDENCE;
}

static int32_t text_width(const struct canvas *c, const struct weft_mark *m)
{
    return m->text ? weft_text_width(m->text, strlen(m->text), c->font_small, true) : 0;
}

void canvas_find_flags(struct canvas *c)
{
    uint32_t room = 0;
    for (uint32_t i = 0; i < marks_of(c); i++) {
        const struct weft_mark *m = &c->vp->mark[i];
        struct flag f = {.mark = m, .at = canvas_row_of(c, m->promise), .y = c->rows_y0};
        bool has_line = m->promise != WEFT_ROOT && m->promise != WEFT_NONE;
        int64_t from = m->from_ns; /* the flag of a range that began before is at its left edge */
        if (m->kind == WEFT_MARK_NOTE && from < c->from_ns && m->to_ns > c->from_ns)
            from = c->from_ns;
        if (!is_flag(m) || !canvas_shows(c, kind_of(m)) || from < c->from_ns || from > c->to_ns ||
            (has_line && f.at == WEFT_NONE) ||
            !canvas_grow(c, &c->flag, c->flags, &room, sizeof *c->flag))
            continue;
        int32_t scale = canvas_scaled(c, BOX_HEIGHT);
        if (has_line)
            f.y = canvas_row_y(c, f.at);
        f.x = f.x0 = canvas_x(c, from);
        f.x1 = f.x0 + text_width(c, m) + 5 * PX;
        f.y0 = f.y - (has_line ? scale + 5 * PX : scale + 2 * PX);
        f.y1 = f.y0 + scale;
        c->flag[c->flags++] = f;
    }
    weft_sort(c->flag, c->flags, sizeof *c->flag, by_place);
    spread_flags(c);
}

int32_t canvas_beside_flags(const struct canvas *c, uint32_t at, int32_t x, int32_t end,
                            int32_t width, int32_t *room)
{
    int32_t best = x, enough = width < TEXT_ROOM ? width : TEXT_ROOM;
    *room = 0;
    for (uint32_t i = 0; i <= c->flags; i++) {
        const struct flag *f = i < c->flags ? &c->flag[i] : NULL;
        if (f && (f->at != at || f->x1 <= x))
            continue;
        int32_t gap = (f && f->x0 < end ? f->x0 - 2 * PX : end) - x;
        if (gap > *room) {
            best = x;
            *room = gap;
        }
        if (*room >= enough || !f || f->x0 >= end)
            break;
        x = f->x1 + 2 * PX;
    }
    return best;
}

/* ---- Drawing ---- */

void canvas_draw_affected(struct canvas *c)
{
    for (uint32_t i = 0; i < marks_of(c); i++) {
        const struct weft_mark *m = &c->vp->mark[i];
        if (m->kind == WEFT_MARK_AFFECTED && canvas_shows(c, WEFT_KIND_AFFECTED)) {
            uint32_t before = c->list->draws;
            canvas_draw_band(c, WEFT_INK_AFFECTED, m->promise);
            canvas_saw(c, WEFT_KIND_AFFECTED, c->list->draws - before);
        }
    }
}

/* Links the lines of consecutive steps; links in one pixel are drawn as one. */
struct joint {
    enum weft_ink ink;
    int32_t x, low, high;
    bool open;
};

static void flush_joint(struct canvas *c, struct joint *j)
{
    if (j->open)
        canvas_line(c, j->ink, 3 * PX, j->x, j->low, j->x, j->high);
    j->open = false;
}

static void add_joint(struct canvas *c, struct joint *j, enum weft_ink ink, int32_t x, int32_t from,
                      int32_t to)
{
    int32_t low = from < to ? from : to, high = from < to ? to : from;
    if (j->open && x - j->x < PX) {
        j->low = low < j->low ? low : j->low;
        j->high = high > j->high ? high : j->high;
        return;
    }
    flush_joint(c, j);
    *j = (struct joint){.ink = ink, .x = x, .low = low, .high = high, .open = true};
}

static int32_t half_of(enum weft_mark_kind kind)
{
    return kind == WEFT_MARK_UNKNOWN ? PX : kind == WEFT_MARK_OUTSIDE ? 5 * PX / 2 : 7 * PX / 2;
}

/* Draws what events are about, behind their arrows. */
void canvas_draw_joins(struct canvas *c)
{
    for (uint32_t i = 0; i < c->flags; i++) {
        const struct flag *f = &c->flag[i];
        int32_t y;
        if (f->at != WEFT_NONE && canvas_y(c, f->mark->other, &y) && y != f->y)
            canvas_line(c, WEFT_INK_EVIDENCE, 6 * PX, f->x, f->y, f->x, y)->alpha = JOIN_ALPHA;
    }
}

/* Draws one step on the line at y, unless it is switched off; narrow steps in one pixel are drawn once. */
static void draw_step(struct canvas *c, const struct weft_mark *m, int32_t y, int32_t *dot)
{
    const enum weft_kind kind = WEFT_KIND_PATH_RUNNING + (m->kind - WEFT_MARK_RUNNING);
    int32_t x0, x1, half = half_of(m->kind);
    canvas_ends(c, m->from_ns, m->to_ns, 0, &x0, &x1);
    if (m->to_ns < c->from_ns || !canvas_shows(c, kind))
        return;
    canvas_saw(c, kind, 1);
    if (x1 - x0 >= PX || x0 - *dot >= PX) {
        canvas_rect(c, weft_kinds[kind].ink, x0, y - half, x1 - x0 >= PX ? x1 : x0 + PX, y + half);
        *dot = x1 - x0 >= PX ? x1 - PX : x0;
    }
}

static bool is_step(const struct canvas *c, uint32_t i)
{
    return c->vp->path[i].kind >= WEFT_MARK_RUNNING && c->vp->path[i].from_ns <= c->to_ns;
}

/* The part of a shown row that the path touches; x0 > x1: none. */
struct part {
    int32_t x0, x1;
};

static void find_parts(const struct canvas *c, struct part *part)
{
    for (uint32_t at = 0; at <= c->shown; at++)
        part[at] = (struct part){INT32_MAX, INT32_MIN};
    for (uint32_t i = first_step(c); i < c->vp->path_steps && c->vp->path[i].from_ns <= c->to_ns;
         i++) {
        const struct weft_mark *m = &c->vp->path[i];
        uint32_t at = canvas_row_of(c, m->promise);
        int32_t x0, x1;
        if (at == WEFT_NONE)
            continue;
        canvas_ends(c, m->from_ns, m->to_ns, 0, &x0, &x1);
        part[at].x0 = x0 < part[at].x0 ? x0 : part[at].x0;
        part[at].x1 = x1 > part[at].x1 ? x1 : part[at].x1;
    }
}

/* Draws the texts at these parts again, above the veil. */
static void draw_texts_again(struct canvas *c, const struct part *part, uint32_t first,
                             uint32_t end)
{
    for (uint32_t i = first; i < end && c->shown && !c->list->failed; i++) {
        const struct weft_draw d = c->list->draw[i];
        uint32_t low = 1, high = c->shown;
        if (d.op != WEFT_DRAW_TEXT)
            continue;
        WEFT_SEEK(low, high, c->shown_y[middle] <= d.y0);
        if (d.x0 <= part[low - 1].x1 && d.x1 >= part[low - 1].x0)
            *canvas_line(c, (enum weft_ink)d.ink, d.size, d.x0, d.y0, d.x1, d.y1) = d;
    }
}

void canvas_draw_path(struct canvas *c, uint32_t labels)
{
    const struct weft_viewport *vp = c->vp;
    struct joint joint = {.open = false};
    int32_t y = 0, dot = c->x0 - PX;
    bool begun = false;
    uint32_t first = first_step(c), end = c->list->draws;
    if (first == vp->path_steps || vp->path[first].from_ns > c->to_ns)
        return;
    struct part *part = malloc(((size_t)c->shown + 1) * sizeof *part);
    if (!part) {
        c->list->failed = true;
        return;
    }
    canvas_rect(c, WEFT_INK_GROUND, 0, c->rows_y0, c->x1 + MARGIN, c->rows_y1)->alpha = VEIL_ALPHA;
    find_parts(c, part);
    for (uint32_t i = first; i < vp->path_steps && vp->path[i].from_ns <= c->to_ns; i++) {
        const struct weft_mark *m = &vp->path[i];
        int32_t x0, x1, at = y;
        if (!is_step(c, i) || (!canvas_y(c, m->promise, &at) && !begun))
            continue;
        canvas_ends(c, m->from_ns, m->to_ns, 0, &x0, &x1);
        if (begun && at != y)
            add_joint(c, &joint,
                      weft_kinds[WEFT_KIND_PATH_RUNNING + (m->kind - WEFT_MARK_RUNNING)].ink, x0, y,
                      at);
        draw_step(c, m, at, &dot);
        begun = true;
        y = at;
    }
    flush_joint(c, &joint);
    draw_texts_again(c, part, labels, end);
    free(part);
}

/* Remembers where it is, for hit tests. */
static void keep_flag(struct canvas *c, const struct flag *f)
{
    struct weft_geometry *g = c->g;
    if (canvas_grow(c, &g->flag, g->flags, &g->flags_room, sizeof *g->flag))
        g->flag[g->flags++] = (struct weft_flag){.x0 = f->x0 < f->x - RING ? f->x0 : f->x - RING,
                                                 .y0 = f->y0,
                                                 .x1 = f->x1 > f->x + RING ? f->x1 : f->x + RING,
                                                 .y1 = f->y + RING,
                                                 .mark = (uint32_t)(f->mark - c->vp->mark)};
}

static void draw_flag(struct canvas *c, const struct flag *f)
{
    const enum weft_ink ink = ink_of(f->mark);
    canvas_saw(c, kind_of(f->mark), 1);
    keep_flag(c, f);
    if (f->at == WEFT_NONE) {
        if (f->mark->kind == WEFT_MARK_NOTE && f->mark->to_ns > f->mark->from_ns)
            canvas_rect(c, ink, f->x, f->y - BAR / 2,
                        canvas_x(c, f->mark->to_ns < c->to_ns ? f->mark->to_ns : c->to_ns),
                        f->y + BAR / 2);
        canvas_line(c, ink, 3 * PX / 2, f->x, f->y0, f->x, f->y + 2 * RING);
    } else {
        int32_t top = f->x >= f->x0 && f->x <= f->x1 ? f->y0 : f->y1;
        canvas_line(c, ink, 3 * PX / 2, f->x, top, f->x, f->y);
        canvas_rect(c, ink, f->x - RING, f->y - RING, f->x + RING, f->y + RING);
        canvas_rect(c, WEFT_INK_GROUND, f->x - RING / 2, f->y - RING / 2, f->x + RING / 2,
                    f->y + RING / 2);
    }
    canvas_rect(c, ink, f->x0, f->y0, f->x1, f->y1);
    if (f->mark->text)
        canvas_text(c, WEFT_INK_GROUND, c->font_small, true, f->x0 + 5 * PX / 2,
                    f->y1 - canvas_scaled(c, 5 * PX / 2), f->x1 - f->x0, f->mark->text,
                    strlen(f->mark->text));
}

static void draw_divergence(struct canvas *c, const struct weft_mark *m)
{
    const enum weft_ink ink = WEFT_INK_EVIDENCE;
    if (m->from_ns < c->from_ns || m->from_ns > c->to_ns || !canvas_shows(c, WEFT_KIND_EVIDENCE))
        return;
    canvas_saw(c, WEFT_KIND_EVIDENCE, 1);
    int32_t x = canvas_x(c, m->from_ns), width = text_width(c, m);
    for (int32_t y = c->rows_y0; y < c->rows_y1; y += DASH + DASH_GAP)
        canvas_line(c, ink, 3 * PX / 2, x, y, x, y + DASH < c->rows_y1 ? y + DASH : c->rows_y1);
    if (!width || width > c->x1 - c->x0)
        return;
    int32_t x0 = x - width / 2; /* in the middle, or as near to it as possible */
    x0 = x0 > c->x1 - width ? c->x1 - width : x0 < c->x0 ? c->x0 : x0;
    canvas_rect(c, ink, x0 - 4 * PX, c->rows_y0 - canvas_scaled(c, 15 * PX), x0 + width + 4 * PX,
                c->rows_y0);
    canvas_text(c, WEFT_INK_GROUND, c->font_small, true, x0, c->rows_y0 - canvas_scaled(c, 4 * PX),
                width, m->text, strlen(m->text));
}

void canvas_draw_flags(struct canvas *c)
{
    for (uint32_t i = 0; i < marks_of(c); i++)
        if (c->vp->mark[i].kind == WEFT_MARK_DIVERGENCE)
            draw_divergence(c, &c->vp->mark[i]);
    for (uint32_t i = 0; i < c->flags; i++)
        draw_flag(c, &c->flag[i]);
}
