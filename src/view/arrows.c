/* SPDX-License-Identifier: ISC */
/* Who used whose result, who waits for whom, who resolved and signalled whom.
 *
 * An arrow fades with its width: a result used long after it was there is no news. Arrows that look
 * alike are drawn once. Where there are still too many, those that concern promises that lived long
 * are kept: that is where time was spent. */
#include <stdlib.h>
#include <string.h>

#include "view/canvas.h"

enum {
    ARROWS_MAX = 2500,
    COLUMN = 4 * PX,     /* of the picture … */
    COLUMN_MAX = 5,      /* … in which more than so many arrows end would be a blot */
    ALPHA_CROWDED = 120, /* in such a column */
    FADE_FROM = 30 * PX, /* narrower ones are drawn in full */
    FADE_TO = 1500 * PX,
    ALPHA_MAX = 235,
    ALPHA_MIN = 44,
    STUB = 14 * PX, /* of an arrow whose other end is not in the picture */
};

struct arrow {
    int32_t x0, y0, x1, y1;
    int64_t lived_ns; /* the promise that it is about */
    uint8_t ink;
    bool chosen; /* concerns the selection */
    bool crowded;
};

struct arrows {
    struct arrow *arrow;
    uint32_t count, room;
};

/* The ends in time and place of an interaction; false: it is not drawn. */
static bool ends_of(const struct canvas *c, const struct weft_interaction *x, uint32_t end[2],
                    int64_t time[2], enum weft_ink *ink)
{
    const struct weft_promise *other = &c->m->promise[x->other];
    if (x->replaced || x->actor == x->other || x->actor == WEFT_ROOT || x->other == WEFT_ROOT)
        return false;
    end[0] = x->actor;
    end[1] = x->other;
    time[0] = time[1] = x->time_ns;
    switch ((enum weft_interaction_kind)x->kind) {
    case WEFT_READS:
        end[0] = x->other;
        end[1] = x->actor;
        time[0] = other->end_ns < x->time_ns ? other->end_ns : x->time_ns;
        *ink = other->outcome == WEFT_FAILED ? WEFT_INK_READ_FAILED : WEFT_INK_READ;
        return true;
    case WEFT_WAITS:
        *ink = WEFT_INK_WAITS;
        return true;
    case WEFT_RESOLVES:
        *ink = WEFT_INK_RESOLVE;
        return true;
    case WEFT_SIGNALS:
    case WEFT_NOTIFIES:
        *ink = WEFT_INK_SIGNAL;
        return true;
    }
    return false;
}

static bool add_arrow(struct arrows *a, const struct arrow *new)
{
    if (a->count == a->room) {
        uint32_t room = a->room ? a->room * 2 : 256;
        struct arrow *grown = realloc(a->arrow, room * sizeof *grown);
        if (!grown)
            return false;
        a->arrow = grown;
        a->room = room;
    }
    a->arrow[a->count++] = *new;
    return true;
}

static void collect(struct canvas *c, struct arrows *a)
{
    const struct weft_model *m = c->m;
    for (uint32_t i = 0; i < m->interactions && !c->list->failed; i++) {
        const struct weft_interaction *x = &m->interaction[i];
        const struct weft_promise *other = &m->promise[x->other];
        enum weft_ink ink;
        uint32_t end[2];
        int64_t time[2];
        struct arrow new;
        if (!ends_of(c, x, end, time, &ink) || time[1] < c->from_ns || time[0] > c->to_ns ||
            !canvas_y(c, end[1], &new.y1))
            continue;
        new.x0 = canvas_x(c, time[0]);
        new.x1 = canvas_x(c, time[1]);
        if (!canvas_y(c, end[0], &new.y0)) { /* its row is empty in this part of the trace */
            new.y0 = new.y1;
            new.x0 = new.x1 - STUB > c->x0 ? new.x1 - STUB : c->x0;
        }
        new.ink = (uint8_t)ink;
        new.lived_ns = other->end_ns - other->start_ns;
        new.chosen = c->in_chain && (c->in_chain[x->actor] || c->in_chain[x->other]);
        if (time[1] <= c->to_ns && !add_arrow(a, &new))
            c->list->failed = true;
    }
}

/* Where arrows are told apart: two pixels. */
static int32_t coarse(int32_t v)
{
    return v / (2 * PX);
}

static int by_look(const void *a, const void *b)
{
    const struct arrow *x = a, *y = b;
    const int32_t p[6] = {!x->chosen, x->ink, coarse(x->x1), x->y1, x->y0, coarse(x->x0)};
    const int32_t q[6] = {!y->chosen, y->ink, coarse(y->x1), y->y1, y->y0, coarse(y->x0)};
    for (int i = 0; i < 6; i++)
        if (p[i] != q[i])
            return p[i] < q[i] ? -1 : 1;
    return 0;
}

/* The same on every machine, whatever its qsort does with equals. */
static int by_look_and_place(const void *a, const void *b)
{
    const struct arrow *x = a, *y = b;
    int look = by_look(a, b);
    if (look != 0)
        return look;
    if (x->x1 != y->x1)
        return x->x1 < y->x1 ? -1 : 1;
    return x->x0 < y->x0 ? -1 : x->x0 > y->x0;
}

static int by_weight(const void *a, const void *b)
{
    const struct arrow *x = a, *y = b;
    if (x->chosen != y->chosen)
        return x->chosen ? -1 : 1;
    if (x->lived_ns != y->lived_ns)
        return x->lived_ns > y->lived_ns ? -1 : 1;
    return by_look(a, b);
}

/* Faint ones first, so that the others lie above them; then in the order of the kinds. The beginning of a
 * wait comes last: it often stands where something was just resolved, and must not be hidden. */
static int by_layer(const void *a, const void *b)
{
    const struct arrow *x = a, *y = b;
    if (x->chosen != y->chosen)
        return x->chosen ? 1 : -1;
    int32_t wide = abs(x->x1 - x->x0) > FADE_FROM, wide_too = abs(y->x1 - y->x0) > FADE_FROM;
    if (wide != wide_too)
        return wide ? -1 : 1;
    if ((x->ink == WEFT_INK_WAITS) != (y->ink == WEFT_INK_WAITS))
        return x->ink == WEFT_INK_WAITS ? 1 : -1;
    return by_look(a, b);
}

static void draw_arrow(struct canvas *c, const struct arrow *a)
{
    int32_t width = abs(a->x1 - a->x0);
    struct weft_draw *d = canvas_arrow(c, (enum weft_ink)a->ink, a->x0, a->y0, a->x1, a->y1);
    if (a->chosen) {
        d->size = 2 * PX;
    } else if (width >= FADE_TO) {
        d->alpha = ALPHA_MIN;
    } else if (width > FADE_FROM) {
        /* Falls steeply at first. */
        int64_t left = FADE_TO - width, all = FADE_TO - FADE_FROM;
        d->alpha =
            (uint8_t)(ALPHA_MIN + (ALPHA_MAX - ALPHA_MIN) * left / all * left / all * left / all);
    } else {
        d->alpha = a->crowded ? ALPHA_CROWDED : ALPHA_MAX;
    }
}

/* Keeps the weightiest arrows of each column, and of the picture. */
static uint32_t thin_out(struct canvas *c, struct arrow *a, uint32_t count)
{
    size_t columns = (size_t)(c->list->width / COLUMN) + 2;
    uint32_t *in_column = calloc(columns, sizeof *in_column), kept = 0;
    if (!in_column) {
        c->list->failed = true;
        return 0;
    }
    for (uint32_t i = 0; i < count; i++)
        in_column[a[i].x1 / COLUMN]++;
    for (uint32_t i = 0; i < count; i++)
        a[i].crowded = in_column[a[i].x1 / COLUMN] > COLUMN_MAX;
    memset(in_column, 0, columns * sizeof *in_column);
    if (count)
        qsort(a, count, sizeof *a, by_weight);
    for (uint32_t i = 0; i < count && kept < ARROWS_MAX; i++)
        if (a[i].chosen || in_column[a[i].x1 / COLUMN]++ < COLUMN_MAX)
            a[kept++] = a[i];
    c->arrows_left_out = count - kept;
    free(in_column);
    return kept;
}

void canvas_draw_arrows(struct canvas *c)
{
    struct arrows a = {0};
    collect(c, &a);
    if (a.count)
        qsort(a.arrow, a.count, sizeof *a.arrow, by_look_and_place);
    uint32_t n = 0;
    for (uint32_t i = 0; i < a.count; i++)
        if (n == 0 || by_look(&a.arrow[n - 1], &a.arrow[i]) != 0)
            a.arrow[n++] = a.arrow[i];
        else if (a.arrow[i].lived_ns > a.arrow[n - 1].lived_ns)
            a.arrow[n - 1].lived_ns = a.arrow[i].lived_ns;
    n = thin_out(c, a.arrow, n);
    if (n)
        qsort(a.arrow, n, sizeof *a.arrow, by_layer);
    for (uint32_t i = 0; i < n; i++)
        draw_arrow(c, &a.arrow[i]);
    free(a.arrow);
}
