/* SPDX-License-Identifier: ISC */
/* Takes bytes through everything that reads a trace: reader, model, what is found out about it, layout, view,
 * SVG. Aborts, saying why, where a promise of one of them is broken. Whether the bytes are a trace does not
 * matter. */
#pragma once

#include <inttypes.h>
#include <stdint.h>
#include <string.h>

#include "format/mirage.h"
#include "model/model.h"
#include "paint/paint.h"
#include "require.h"
#include "view/outline.h"
#include "view/view.h"

/* ---- Reader ---- */

static inline void try_error(const struct weft_error *err, int rc)
{
    REQUIRE(rc < 0 && err->code == rc);
    REQUIRE(err->text[0] != '\0');
    for (const char *c = err->text; *c; c++)
        REQUIRE((unsigned char)*c >= 0x20 && *c != 0x7f);
}

static inline void try_damage(const struct weft_damage *d, uint64_t file_bytes)
{
    uint64_t kept = d->problems < WEFT_DAMAGE_KEPT ? d->problems : WEFT_DAMAGE_KEPT;
    for (uint64_t i = 0; i < kept; i++) {
        try_error(&d->first[i], WEFT_E_FORMAT);
        REQUIRE(d->first[i].offset <= file_bytes);
    }
    REQUIRE(d->half_written <= 1);
    REQUIRE(d->skipped_bytes <= file_bytes);
    REQUIRE(d->skipped_bytes == 0 || d->problems + d->half_written > 0);
}

static inline void try_text_of(const char *text, uint32_t size)
{
    REQUIRE(size == 0 || !memchr(text, 0, size));
}

/* The events of a batch. *decoded: their bytes in mirage's layout. */
static inline void try_batch(const struct weft_reader_facts *f, const struct weft_event *ev,
                             ptrdiff_t n, uint64_t *last_ns, uint64_t *decoded)
{
    for (const struct weft_event *end = ev + n; ev < end; ev++) {
        REQUIRE(ev->kind < WEFT_EVENT_KINDS);
        REQUIRE(ev->stream < f->streams || (ev->promoted && ev->stream == WEFT_STREAM_NONE));
        try_text_of(ev->text, ev->text_size);
        *decoded += weft_event_size(ev);
        if (f->quirks.mirage_kinds) {
            REQUIRE(weft_event_kinds[ev->kind].in_mirage && !ev->origin && !ev->gap);
            continue;
        }
        bool last = ev->promoted &&
                    (ev->kind == WEFT_EVENT_RESOLVES || ev->kind == WEFT_EVENT_SHOULD_RESOLVE ||
                     ev->kind == WEFT_EVENT_BACKGROUND);
        REQUIRE(ev->time_ns >= *last_ns || last);
        *last_ns = ev->time_ns > *last_ns ? ev->time_ns : *last_ns;
        REQUIRE((ev->origin != NULL) == (ev->kind == WEFT_EVENT_CREATES));
        if (ev->origin)
            REQUIRE(*ev->origin->type && (!ev->origin->file || strlen(ev->origin->file) < 1 << 24));
    }
}

/* In mirage's: every byte is a header, an event, skipped, or beyond a packet's content. */
static inline void try_mirage_facts(const struct weft_reader_facts *f, const struct weft_damage *d,
                                    size_t size, uint64_t decoded)
{
    uint64_t headers = f->packets * WEFT_MIRAGE_HEADER_SIZE;
    uint64_t unused = f->unused_packets * WEFT_MIRAGE_HEADER_SIZE;
    REQUIRE(f->packets + f->unused_packets + d->problems > 0);
    REQUIRE(headers + decoded <= f->content_bytes);
    uint64_t skipped_within = f->content_bytes - headers - decoded;
    REQUIRE(skipped_within <= d->skipped_bytes);
    REQUIRE(f->content_bytes + unused + (d->skipped_bytes - skipped_within) <= size);
}

static inline void try_weft_facts(const struct weft_reader_facts *f, uint64_t events)
{
    uint64_t kept = 0;
    REQUIRE(f->content_bytes <= f->file_bytes);
    REQUIRE(f->streams == 0 || f->stream);
    for (uint32_t i = 0; i < f->streams; i++) {
        kept += f->stream[i].kept;
        REQUIRE(strlen(f->stream[i].name) < sizeof f->stream[i].name);
    }
    REQUIRE(kept + f->promotion.events == events + f->unknown_events);
    REQUIRE(f->overwritten_events >= f->overwritten_elsewhere);
    REQUIRE(f->promotion.known || !f->promotion.promises);
    REQUIRE(f->streams_recorded >= f->streams);
    REQUIRE(*f->clock && *weft_ended_name(f->ended));
    for (uint32_t i = 0; i < f->process.args; i++)
        REQUIRE(strlen(f->process.arg[i]) < f->file_bytes);
}

/* Returns how many events there are, or -1 if it is not a trace. */
static inline int64_t try_events(const char *path, size_t size)
{
    struct weft_reader *r;
    struct weft_error err = {.code = 1};
    int rc = weft_reader_open(&r, path, &err);
    if (rc < 0) {
        REQUIRE(rc == WEFT_E_FORMAT && r == NULL);
        try_error(&err, rc);
        return -1;
    }
    const struct weft_event *ev;
    uint64_t events = 0, decoded = 0, last_ns = 0;
    ptrdiff_t n;
    while ((n = weft_reader_next(r, &ev, &err)) > 0) {
        try_batch(weft_reader_facts(r), ev, n, &last_ns, &decoded);
        events += (uint64_t)n;
        double progress = weft_reader_progress(r);
        REQUIRE(progress >= 0 && progress <= 1);
    }
    REQUIRE(n == 0 && weft_reader_next(r, &ev, &err) == 0);

    const struct weft_reader_facts *f = weft_reader_facts(r);
    const struct weft_damage *d = weft_reader_damage(r);
    REQUIRE(f->file_bytes == size);
    if (f->quirks.anonymous)
        try_mirage_facts(f, d, size, decoded);
    else
        try_weft_facts(f, events);
    REQUIRE(weft_reader_progress(r) == 1);
    try_damage(d, size);
    weft_reader_close(r);
    return (int64_t)events;
}

/* ---- Model ---- */

static inline void try_text(const struct weft_model *m, uint32_t text)
{
    uint32_t size;
    const char *at = weft_model_text(m, text, &size);
    REQUIRE(strlen(at) == size);
}

static inline void try_promise(const struct weft_model *m, uint32_t index)
{
    const struct weft_promise *p = &m->promise[index];
    char text[64];
    REQUIRE(p->creator < m->promises && weft_model_under(m, p) < m->promises);
    REQUIRE(p->becomes == WEFT_NONE || p->becomes < m->promises);
    REQUIRE((p->becomes != WEFT_NONE) == (p->outcome == WEFT_BECAME));
    REQUIRE(m->promise[weft_model_final(m, index)].becomes == WEFT_NONE);
    REQUIRE(weft_model_find(m, p->id) == index);
    REQUIRE(*weft_outcome_name((enum weft_outcome)p->outcome) && *weft_model_type(m, index));
    if (weft_model_reason(m, index) != WEFT_NONE)
        try_text(m, weft_model_reason(m, index));
    uint32_t origin = weft_model_origin(m, index);
    if (origin != WEFT_NONE) {
        REQUIRE(origin < m->origins);
        try_text(m, m->origin[origin].file);
    }
    if (weft_model_name(m, index) != WEFT_NONE)
        try_text(m, weft_model_name(m, index));
    for (uint32_t i = p->first_label; i != WEFT_NONE; i = m->label[i].next) {
        REQUIRE(i < m->labels && m->label[i].promise == index);
        REQUIRE(!m->label[i].is_change || m->label[i].what < m->changes);
        uint32_t n = weft_model_label_text(m, &m->label[i], text, sizeof text);
        REQUIRE(n < sizeof text && strlen(text) == n);
    }
    for (uint32_t i = p->first_interaction; i != WEFT_NONE; i = m->interaction[i].next) {
        REQUIRE(i < m->interactions && m->interaction[i].actor == index);
        REQUIRE(m->interaction[i].other < m->promises && !m->interaction[i].replaced);
    }
    for (uint32_t i = p->first_run; i != WEFT_NONE; i = m->run[i].next) {
        REQUIRE(i < m->runs);
        REQUIRE(m->run[i].start_ns <= m->run[i].end_ns);
    }
}

static inline void try_counters(const struct weft_model *m)
{
    uint32_t changes = 0;
    for (uint32_t c = 0; c < m->counters; c++) {
        const struct weft_scale *s = &m->scale[m->counter[c].scale];
        REQUIRE(m->counter[c].scale < m->scales);
        REQUIRE(s->min <= 0 && s->max >= 0 && (uint64_t)s->max - (uint64_t)s->min >= 10);
        try_text(m, m->counter[c].name);
        REQUIRE(c == 0 || strcmp(weft_model_text(m, m->counter[c - 1].name, NULL),
                                 weft_model_text(m, m->counter[c].name, NULL)) < 0);
        for (uint32_t i = m->counter[c].first_change; i != WEFT_NONE; i = m->change[i].next) {
            REQUIRE(i < m->changes && m->change[i].counter == c);
            REQUIRE(m->change[i].value >= s->min && m->change[i].value <= s->max);
            changes++;
        }
    }
    REQUIRE(changes == m->changes);
}

static inline void try_model(const struct weft_model *m)
{
    uint64_t kinds = 0;
    for (unsigned k = 0; k < WEFT_EVENT_KINDS; k++)
        kinds += m->events[k];
    REQUIRE(kinds == m->events_total);
    for (uint32_t i = 0; i < m->promises; i++)
        try_promise(m, i);
    for (uint32_t i = 0; i < m->sleeps; i++)
        REQUIRE(m->sleep[i].start_ns <= m->sleep[i].end_ns &&
                (!i || !m->idle || m->sleep[i - 1].end_ns <= m->sleep[i].start_ns));
    for (uint32_t i = 0; i < m->pauses; i++)
        REQUIRE(m->pause[i].start_ns <= m->pause[i].end_ns);
    try_counters(m);
    uint32_t *sorted = weft_model_by_id(m);
    REQUIRE(sorted);
    for (uint32_t i = 1; i + 1 < m->promises; i++)
        REQUIRE(m->promise[sorted[i - 1]].id < m->promise[sorted[i]].id);
    free(sorted);
}

/* ---- Layout ---- */

/* Every promise stands once, in order, and over no other but one that it goes on from. */
static inline void try_layout(const struct weft_model *m, const struct weft_layout *l)
{
    uint32_t found = 0;
    REQUIRE(l->row[WEFT_ROOT] == WEFT_NONE && l->first[0] == 0);
    for (uint32_t row = 0; row < l->rows; row++) {
        int64_t start = INT64_MIN, busy = INT64_MIN, until = INT64_MIN;
        REQUIRE(l->first[row] < l->first[row + 1]);
        for (uint32_t s = l->first[row]; s < l->first[row + 1]; s++) {
            uint32_t promise = l->spans[s],
                     before = s > l->first[row] ? l->spans[s - 1] : WEFT_ROOT;
            const struct weft_promise *p = &m->promise[promise];
            int64_t begin = weft_layout_line(l, p), end = weft_layout_end(l, m, promise);
            REQUIRE(l->row[promise] == row && begin >= start);
            REQUIRE(s == l->first[row] || begin > busy || m->promise[before].becomes == promise);
            start = begin;
            busy = end > busy ? end : busy;
            until = end > until ? end : until;
            REQUIRE(l->start[s] == begin && l->until[s] == until);
            REQUIRE(weft_layout_span_end(l, m, s) == end);
            found++;
        }
    }
    REQUIRE(found == m->promises - 1);
}

/* ---- View ---- */

static inline void try_place(const struct weft_drawlist *list, int32_t x, int32_t y)
{
    REQUIRE(x >= 0 && x <= list->width);
    REQUIRE(y >= -list->height && y <= 2 * list->height);
}

static inline void try_drawlist(const struct weft_drawlist *list)
{
    REQUIRE(list->width > 0 && list->height > 0);
    for (uint32_t i = 0; i < list->draws; i++) {
        const struct weft_draw *d = &list->draw[i];
        REQUIRE(d->ink < WEFT_INKS && d->op <= WEFT_DRAW_SHADES);
        try_place(list, d->x0, d->y0);
        try_place(list, d->x1, d->y1);
        if (d->op == WEFT_DRAW_RECT)
            REQUIRE(d->x0 <= d->x1 && d->y0 <= d->y1);
        if (d->op == WEFT_DRAW_STEPS)
            REQUIRE(d->first <= list->point_count && d->count <= list->point_count - d->first);
        if (d->op == WEFT_DRAW_SHADES) {
            REQUIRE(d->first <= list->shade_count && d->count <= list->shade_count - d->first);
            REQUIRE(d->x0 < d->x1 && d->y0 < d->y1 && d->y0 % WEFT_PX == 0 && d->y1 % WEFT_PX == 0);
            REQUIRE((int64_t)d->x0 + (int64_t)d->size * d->count >= d->x1);
            REQUIRE((int64_t)d->x0 + (int64_t)d->size * (d->count - 1) < d->x1);
        }
        if (d->op == WEFT_DRAW_TEXT)
            REQUIRE(d->first <= list->text_bytes && d->count <= list->text_bytes - d->first);
        if (d->tip != WEFT_NO_TIP)
            REQUIRE(d->tip <= list->text_bytes && d->tip_size <= list->text_bytes - d->tip);
    }
    for (uint32_t i = 0; i < list->point_count; i++)
        try_place(list, list->points[i].x, list->points[i].y);
}

/* Every pixel can be drawn over a few times, and no more. */
static inline void try_size(const struct weft_drawlist *list)
{
    uint64_t pixels = (uint64_t)(list->width / WEFT_PX) * (uint64_t)(list->height / WEFT_PX);
    REQUIRE(list->draws <= 20000 + pixels / 4);
    REQUIRE(list->point_count <= 20000 + pixels / 4);
    REQUIRE(list->text_bytes <= 4000000 + pixels);
}

/* The finished search; NULL for none. */
static inline struct weft_search *try_search(const struct weft_scene *s, const char *query)
{
    struct weft_search *q = NULL;
    if (query) {
        REQUIRE(weft_search_new(&q, s, query) == 0);
        REQUIRE(!weft_search_work(q, 0));
    }
    return q;
}

/* The n-th of some ways to look at it. */
#define TRY_VIEWPORTS 8u
static inline struct weft_viewport try_viewport(const struct weft_model *m, unsigned n,
                                                const char **query)
{
    struct weft_viewport vp = {.selected = WEFT_NONE,
                               .hovered = WEFT_NONE,
                               .focus_row = WEFT_NONE,
                               .title = "a\xff<b>",
                               .tips = true};
    *query = NULL;
    int64_t end = m->end_ns < WEFT_TIME_MAX ? m->end_ns : WEFT_TIME_MAX;
    switch (n % TRY_VIEWPORTS) {
    case 0: /* all of it, a search and a selection */
        vp.selected = m->promises / 3;
        *query = "e";
        break;
    case 1: /* small */
        vp.width_px = vp.height_px = WEFT_PICTURE_MIN_PX;
        vp.selected = m->promises / 2;
        break;
    case 2: /* a piece from the middle */
        vp.from_ns = end / 3;
        vp.to_ns = end / 3 + end / 10 + 1;
        vp.no_legend = true;
        vp.selected = m->promises - 1;
        break;
    case 3: /* everything that a number can say */
        vp.from_ns = -WEFT_TIME_MAX;
        vp.to_ns = WEFT_TIME_MAX;
        vp.height_px = 900;
        break;
    case 4: /* one nanosecond */
        vp.from_ns = end - 1;
        vp.to_ns = end;
        vp.no_counters = true;
        *query = "1";
        break;
    case 6: /* spread, in the lower of two pictures */
        vp.top_px = 250;
        vp.height_px = 400;
        vp.width_px = 700;
        vp.spread = 700;
        vp.focus_row = m->promises / 5;
        vp.focus_px = 170;
        vp.hovered = m->promises / 4;
        vp.text_percent = 150;
        vp.range_from_ns = end / 4;
        vp.range_to_ns = end / 3 + 10;
        vp.tips = false;
        break;
    case 7: /* as spread as can be, small texts */
        vp.height_px = 350;
        vp.spread = WEFT_SPREAD_MAX;
        vp.focus_row = 3;
        vp.focus_px = -50;
        vp.selected = m->promises / 2 + 1;
        vp.text_percent = 50;
        vp.from_ns = end / 2;
        vp.to_ns = end / 2 + end / 100 + 1;
        break;
    case 5: /* before the beginning */
        vp.from_ns = -5000000;
        vp.to_ns = end / 2 + 1;
        vp.width_px = 3000;
        vp.height_px = 300;
        break;
    }
    return vp;
}

/* What lies where: rows from top to bottom, times and places inverse to one another, and at every point
 * something that there is. */
static inline void try_geometry(const struct weft_scene *s, const struct weft_geometry *g)
{
    REQUIRE(g->x0 < g->x1 && g->from_ns < g->to_ns);
    REQUIRE(g->y0 <= g->ruler_y0 && g->ruler_y0 < g->rows_y0 && g->rows_y0 < g->rows_y1);
    REQUIRE(g->rows_y1 <= g->counters_y1 && g->counters_y1 <= g->y1);
    for (uint32_t i = 0; i < g->shown; i++) {
        REQUIRE(g->shown_row[i] < s->l->rows && (i == 0 || g->shown_row[i - 1] < g->shown_row[i]));
        REQUIRE(g->shown_y[i] <= g->shown_y[i + 1]);
    }
    if (g->shown)
        REQUIRE(g->shown_y[0] >= g->rows_y0 && g->shown_y[g->shown] <= g->rows_y1);
    for (uint32_t i = 0; i < g->lanes; i++)
        REQUIRE(g->lane[i] < g->lane[i + 1]);
    REQUIRE(g->shown == 0 || (g->lane[0] == 0 && g->lane[g->lanes] == g->shown));
    for (int32_t i = 0; i <= 12; i++) {
        int32_t x = g->x0 + (g->x1 - g->x0) / 12 * i;
        int32_t back = weft_geometry_x(g, weft_geometry_time(g, x));
        int64_t one = (g->to_ns - g->from_ns) / ((g->x1 - g->x0) / WEFT_PX);
        REQUIRE(one < 2 || (back >= x - WEFT_PX && back <= x + WEFT_PX));
        for (int32_t k = 0; k <= 12; k++) {
            int32_t y = g->y0 + (g->y1 - g->y0) / 12 * k;
            struct weft_pick pick = weft_view_pick(s, g, x, y);
            bool one_or_more = pick.kind == WEFT_PLACE_PROMISE || pick.kind == WEFT_PLACE_FOLD;
            bool above = pick.kind == WEFT_PLACE_ARROW || pick.kind == WEFT_PLACE_MARK;
            REQUIRE(above || one_or_more == (pick.promise != WEFT_NONE));
            REQUIRE(pick.kind != WEFT_PLACE_ARROW || pick.arrow < g->arrows);
            REQUIRE(pick.promise == WEFT_NONE ||
                    (pick.promise > 0 && pick.promise < s->m->promises));
            REQUIRE(pick.folded == 0 || one_or_more || above);
            REQUIRE(pick.kind != WEFT_PLACE_FOLD || pick.folded > 1);
        }
    }
}

/* Looks at it in the n-th way. */
static inline void try_view(const struct weft_scene *s, unsigned n)
{
    static FILE *nowhere;
    struct weft_drawlist list = {0};
    if (!nowhere)
        nowhere = fopen("/dev/null", "w");
    REQUIRE(nowhere);
    const char *query;
    struct weft_viewport vp = try_viewport(s->m, n, &query);
    struct weft_search *q = try_search(s, query);
    vp.search = q;
    struct weft_geometry g = {0};
    REQUIRE(weft_view_draw(&list, &g, s, &vp) == 0);
    try_drawlist(&list);
    try_size(&list);
    try_geometry(s, &g);
    weft_geometry_fini(&g);
    REQUIRE(weft_paint_svg(&list, nowhere, WEFT_AUTO) == 0);
    weft_drawlist_fini(&list);
    weft_search_free(q);
}

#include "try_analyse.h"

static inline void try_outline(const struct weft_reader *r)
{
    struct weft_drawlist list = {0};
    struct weft_outline *o;
    REQUIRE(weft_outline_new(&o, r) == 0);
    for (int32_t side = 1; o && side < 3000; side *= 7) {
        REQUIRE(weft_outline_draw(&list, o, "a trace", side, side * 3 / 4 + 1,
                                  (uint16_t)(side % 250)) == 0);
        try_drawlist(&list);
    }
    weft_outline_free(o);
    weft_drawlist_fini(&list);
}

/* Takes the bytes all the way, with the viewports first to first + count - 1; of one, in one of the two forms. Returns
 * how many events there are, or -1 if it is not a trace. */
static inline int64_t try_bytes(const void *bytes, size_t size, unsigned first, unsigned count)
{
    const char *path = try_file(bytes, size);
    int64_t events = try_events(path, size);
    if (events < 0)
        return events;
    struct weft_reader *r;
    struct weft_model *m;
    REQUIRE(weft_reader_open(&r, path, NULL) == 0);
    try_outline(r);
    REQUIRE(weft_model_build(&m, r, NULL, NULL, NULL) == 0);
    weft_reader_close(r);
    REQUIRE((int64_t)(m->events_total + m->promoted_events) == events);
    try_model(m);
    try_analyse(m);
    for (int raw = 0; raw < 2; raw++) {
        struct weft_scene *s;
        if (count == 1 && raw != (int)(first / TRY_VIEWPORTS % 2))
            continue;
        REQUIRE(weft_scene_new(&s, m, raw, NULL, NULL) == 0);
        try_layout(m, s->l);
        for (unsigned i = 0; i < count; i++)
            if (count < 2 || raw == (int)(i % 2)) /* each in one of the two forms */
                try_view(s, first + i);
        weft_scene_free(s);
    }
    weft_model_free(m);
    return events;
}

/* Likewise, as a target does: the bytes say which viewport, so that there are more runs; a replay takes all of them. */
static inline void try_target(const uint8_t *bytes, size_t size)
{
#ifdef REPLAY
    try_bytes(bytes, size, 0, TRY_VIEWPORTS);
#else
    unsigned sum = 0;
    for (size_t i = 0; i < size; i++)
        sum = sum * 31 + bytes[i];
    try_bytes(bytes, size, sum % (2 * TRY_VIEWPORTS), 1);
#endif
}
