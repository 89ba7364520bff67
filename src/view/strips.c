/* SPDX-License-Identifier: ISC */
/* Samples: a strip for each thread below the promises, on the same time axis. The longer a thread was on a core within
 * a cell, the darker the cell: in one colour while a promise ran, in another while none did. Blank: the thread was on
 * no core. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/order.h"
#include "view/canvas.h"
#include "view/density.h"

enum {
    STRIP_HEIGHT = 16 * PX,
    STRIP_PAD = 2 * PX,
    INTERRUPTS_HEIGHT = 5 * PX,
    SHADE_MIN = 44, /* of a cell that is not blank */
    INTERRUPT_MIN = 190,
    PICKED_MAX = 4096, /* samples that are read for the place under the pointer */
};

uint32_t canvas_strips(const struct canvas *c)
{
    return c->d && !c->vp->no_strips ? c->d->strips : 0;
}

int32_t canvas_strip_height(const struct canvas *c)
{
    return canvas_scaled(c, STRIP_HEIGHT);
}

/* Which strips of the profile the drawn strip number `at` shows, if there are so many: the last one shows all that are
 * left. */
static uint32_t last_of(const struct weft_density *d, uint32_t at, uint32_t strips)
{
    return at + 1 == strips ? d->strips : at + 1;
}

/* ---- Drawing ---- */

/* Opacities of two inks, one over the other, that show two shares: part and other of whole, together at most whole. */
struct blend {
    uint8_t below, above;
};

static struct blend blend_of(uint64_t part, uint64_t other, uint64_t whole)
{
    uint64_t all = part + other;
    for (; all >> 31 || whole >> 31; whole >>= 1) {
        part >>= 1;
        all >>= 1;
    }
    if (all == 0 || whole == 0)
        return (struct blend){0, 0};
    /* Needed because clocks differ a little, and several threads may be on several cores. */
    uint64_t shown = all < whole ? all : whole;
    uint64_t shade = SHADE_MIN + shown * (255 - SHADE_MIN) / whole;
    uint64_t below = shade * part / all, above = shade - below;
    below = above < 255 ? below * 255 / (255 - above) : 0;
    return (struct blend){(uint8_t)(below < 255 ? below : 255), (uint8_t)above};
}

/* The cells of a strip. */
struct cells {
    uint8_t *promise, *other, *interrupt;
    uint32_t count;
};

static void fill_cells(const struct canvas *c, struct cells *cells, uint32_t first, uint32_t last)
{
    uint32_t hint[VIEW_SERIES][VIEW_STRIPS] = {{0}};
    struct view_on_core before[VIEW_SERIES][VIEW_STRIPS];
    int64_t from = axis_time(&c->axis, c->x0);
    for (unsigned k = 0; k < VIEW_SERIES; k++)
        for (uint32_t s = first; s < last; s++)
            before[k][s] = view_density_until(c->d, s, k, from, &hint[k][s]);
    for (uint32_t i = 0; i < cells->count; i++) {
        int32_t x1 = c->x0 + (int32_t)(i + 1) * CELL;
        int64_t to = x1 < c->x1 ? axis_time(&c->axis, x1) : c->to_ns;
        struct view_on_core sum[VIEW_SERIES] = {{0, 0}};
        cells->promise[i] = cells->other[i] = cells->interrupt[i] = 0;
        if (to <= from)
            continue;
        for (unsigned k = 0; k < VIEW_SERIES; k++)
            for (uint32_t s = first; s < last; s++) {
                struct view_on_core now = view_density_until(c->d, s, k, to, &hint[k][s]);
                sum[k].on_ns += now.on_ns - before[k][s].on_ns;
                sum[k].promise_ns += now.promise_ns - before[k][s].promise_ns;
                before[k][s] = now;
            }
        /* Nobody is on a core in a fold, so it would only make its edges paler. */
        uint64_t whole = axis_since(&c->axis, to) - axis_since(&c->axis, from);
        uint64_t promise = sum[VIEW_SAMPLES].promise_ns;
        whole = whole ? whole : 1;
        uint64_t marked = sum[VIEW_INTERRUPTS].on_ns;
        struct blend b = blend_of(promise, sum[VIEW_SAMPLES].on_ns - promise, whole);
        cells->promise[i] = b.below;
        cells->other[i] = b.above;
        marked = marked < whole ? marked : whole;
        for (; whole >> 55; whole >>= 1)
            marked >>= 1;
        if (marked)
            cells->interrupt[i] = (uint8_t)(INTERRUPT_MIN + marked * (255 - INTERRUPT_MIN) / whole);
        from = to;
    }
}

/* "kv_server 4711", "12 more threads". Returns its size. */
static int name_of(const struct weft_density *d, uint32_t first, uint32_t last, bool alone,
                   char *out, size_t room)
{
    uint32_t thread = d->strip[first].thread, threads = 0;
    for (uint32_t s = first; s < last; s++)
        threads += d->strip[s].threads;
    if (threads > 1)
        return snprintf(out, room, "%u %sthreads", threads, alone ? "" : "more ");
    const struct weft_thread *t = &d->p->thread[thread];
    const char *name = weft_profile_text(d->p, t->name);
    if (t->thread == UINT32_MAX)
        return snprintf(out, room, "%.80s", *name ? name : "a thread");
    return snprintf(out, room, "%.80s %" PRIu32, *name ? name : "thread", t->thread);
}

/* What strips first … last - 1 show between two times. */
static struct view_on_core between(const struct weft_density *d, enum view_series_kind kind,
                                   uint32_t first, uint32_t last, int64_t from_ns, int64_t to_ns)
{
    struct view_on_core sum = {0, 0};
    for (uint32_t s = first; s < last; s++) {
        uint32_t hint = 0;
        struct view_on_core from = view_density_until(d, s, kind, from_ns, &hint);
        struct view_on_core to = view_density_until(d, s, kind, to_ns, &hint);
        sum.on_ns += to.on_ns - from.on_ns;
        sum.promise_ns += to.promise_ns - from.promise_ns;
    }
    return sum;
}

/* The share of a whole in words: "35 %", "0.4 %". */
static const char *percent(char out[16], uint64_t part, uint64_t whole)
{
    double share = whole ? 100.0 * (double)part / (double)whole : 0;
    snprintf(out, 16, share > 0 && share < 9.95 ? "%.1f %%" : "%.0f %%", share);
    return out;
}

static void draw_tip(struct canvas *c, uint32_t first, uint32_t last, const char *name, int32_t y0,
                     int32_t y1)
{
    const struct view_on_core sum = between(c->d, VIEW_SAMPLES, first, last, c->from_ns, c->to_ns);
    char on[16], promise[16], text[300];
    int n = snprintf(text, sizeof text,
                     "%s: on a core for %s of the time in the picture, %s of that while a promise "
                     "ran",
                     name, percent(on, sum.on_ns, (uint64_t)(c->to_ns - c->from_ns)),
                     percent(promise, sum.promise_ns, sum.on_ns));
    struct weft_draw *d = canvas_rect(c, WEFT_INK_CPU_PROMISE, c->x0, y0, c->x1, y1);
    d->alpha = 0;
    canvas_tip(c, d, text, (size_t)n);
}

static void draw_cells(struct canvas *c, enum weft_kind kind, int32_t y0, int32_t y1,
                       const uint8_t *shade, uint32_t count)
{
    uint32_t before = c->list->draws;
    if (!canvas_shows(c, kind))
        return;
    canvas_cells(c, weft_kinds[kind].ink, y0, y1, shade, 0, count, 0);
    if (c->list->draws > before)
        canvas_saw_more(c, kind);
}

static void draw_strip(struct canvas *c, struct cells *cells, uint32_t at, uint32_t strips,
                       int32_t y0)
{
    uint32_t last = last_of(c->d, at, strips);
    int32_t y1 = y0 + canvas_strip_height(c), end = y1 - STRIP_PAD / 2;
    char name[120];
    int n = name_of(c->d, at, last, at == 0, name, sizeof name);
    canvas_rect(c, WEFT_INK_PANEL, 0, y0, c->x1 + MARGIN, y1);
    fill_cells(c, cells, at, last);
    draw_cells(c, WEFT_KIND_CPU_PROMISE, y0 + STRIP_PAD / 2, end, cells->promise, cells->count);
    draw_cells(c, WEFT_KIND_CPU_OTHER, y0 + STRIP_PAD / 2, end, cells->other, cells->count);
    draw_cells(c, WEFT_KIND_INTERRUPTS, end - INTERRUPTS_HEIGHT, end, cells->interrupt,
               cells->count);
    if (c->vp->tips)
        draw_tip(c, at, last, name, y0, y1);
    canvas_text_apart(c, WEFT_INK_TEXT, c->font_small, c->x0 + 2 * PX,
                      y0 + canvas_scaled(c, 23 * PX / 2), (c->x1 - c->x0) / 3, name, (size_t)n);
}

void canvas_draw_strips(struct canvas *c, int32_t y0, uint32_t strips)
{
    uint32_t count = (uint32_t)((c->x1 - c->x0 + CELL - 1) / CELL);
    uint8_t *room = malloc((size_t)count * 3);
    if (!room) {
        c->list->failed = true;
        return;
    }
    struct cells cells = {room, room + count, room + 2 * (size_t)count, count};
    for (uint32_t at = 0; at < strips; at++)
        draw_strip(c, &cells, at, strips, y0 + (int32_t)at * canvas_strip_height(c));
    free(room);
    for (uint32_t s = strips - 1, n = 0; s < c->d->strips; s++) {
        n += c->d->strip[s].threads;
        c->left_out.together = n > 1 ? n : 0;
    }
}

/* ---- Pointing ---- */

struct found {
    size_t running; /* see weft_scene_function */
    uint32_t location;
};

static int by_running(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    return weft_order(x->running, y->running);
}

/* If there are many samples, an evenly spread selection of them is read. */
static void find_hottest(struct weft_strip_pick *out, const struct weft_scene *s,
                         struct found *found, uint32_t first, uint32_t last)
{
    const struct weft_density *d = s->d;
    uint32_t n = 0, room = PICKED_MAX / (last - first);
    for (uint32_t at = first; at < last; at++) {
        uint32_t begin, end;
        view_density_between(d, at, out->from_ns, out->to_ns, &begin, &end);
        out->samples += end - begin;
        uint32_t step = (end - begin) / room + 1;
        for (uint32_t i = begin; i < end && n < PICKED_MAX; i += step) {
            const struct weft_sample *x = &d->p->sample[d->strip[at].samples.item[i]];
            found[n].running = weft_scene_function(s, x, &found[n].location);
            n++;
        }
    }
    qsort(found, n, sizeof *found, by_running);
    out->looked = n;
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && found[end].running == found[i].running;)
            end++;
        if (found[i].running != SIZE_MAX && end - i > out->hottest) {
            out->hottest = end - i;
            out->location = found[i].location;
        }
    }
}

void weft_view_strip_at(struct weft_strip_pick *out, const struct weft_scene *s,
                        const struct weft_geometry *g, const struct weft_pick *pick)
{
    const struct weft_density *d = s->d;
    struct found found[PICKED_MAX];
    *out = (struct weft_strip_pick){.thread = WEFT_NONE, .location = WEFT_NONE};
    if (!d || pick->kind != WEFT_PLACE_STRIP || pick->strip >= d->strips)
        return;
    uint32_t first = pick->strip, last = last_of(d, first, g->strips);
    int32_t x = weft_geometry_x(g, pick->time_ns);
    x = g->x0 + (x - g->x0) / CELL * CELL; /* the cell and its neighbours */
    out->from_ns = weft_geometry_time(g, x - CELL);
    out->to_ns = weft_geometry_time(g, x + 2 * CELL);
    out->to_ns = out->to_ns > out->from_ns ? out->to_ns : out->from_ns + 1;
    const struct view_on_core sum = between(d, VIEW_SAMPLES, first, last, out->from_ns, out->to_ns);
    out->on_ns = sum.on_ns;
    out->promise_ns = sum.promise_ns;
    out->interrupted_ns = between(d, VIEW_INTERRUPTS, first, last, out->from_ns, out->to_ns).on_ns;
    for (uint32_t at = first; at < last; at++)
        out->threads += d->strip[at].threads;
    if (out->threads == 1)
        out->thread = d->strip[first].thread;
    find_hottest(out, s, found, first, last);
}
