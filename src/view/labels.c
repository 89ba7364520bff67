/* SPDX-License-Identifier: ISC */
/* Texts above the lines: labels at their times, the type after the first label, and why the promise failed. A text may
 * extend beyond the end of its line if nothing else is there. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "view/canvas.h"

enum {
    ROOM_MIN = 12 * PX, /* with less room there is no text … */
    CUT_MIN = 36 * PX,  /* … and with less than this, no part of one: it would say nothing */
    GAP = 4 * PX,
    TICK = 4 * PX,
    TYPE_ROOM = 40 * PX,
};

struct writing {
    struct canvas *c;
    uint32_t at;   /* shown row */
    int32_t y;     /* of the line … */
    int32_t above; /* … and of the baseline over it */
    uint32_t promise;
    struct names *names;
    bool wrote;
    int32_t next; /* x from which on there is room */
    int32_t end;  /* … up to where */
};

static bool put(struct writing *w, enum weft_ink ink, int32_t x, const char *text, size_t size)
{
    x = x < w->next ? w->next : x;
    int32_t room = w->end - x;
    if (w->c->flags)
        x = canvas_beside_flags(w->c, w->at, x, w->end,
                                weft_text_width(text, strnlen(text, size), w->c->font, false),
                                &room);
    if (room < ROOM_MIN ||
        (room < CUT_MIN && room < weft_text_width(text, strnlen(text, size), w->c->font, false)))
        return false;
    int32_t width = canvas_text_apart(w->c, ink, w->c->font, x, w->y - w->above, room, text, size);
    if (!width)
        return false;
    w->next = x + width + GAP;
    w->wrote = true;
    if (!w->c->list->failed)
        w->c->list->draw[w->c->list->draws - 1].promise = w->promise;
    view_names_take(w->names, x, w->y - w->above, width);
    return true;
}

static void put_type(struct writing *w, uint32_t promise)
{
    const char *type = weft_model_type(w->c->m, promise);
    int32_t width = weft_text_width(type, strlen(type), w->c->font, false);
    if (w->end - w->next >= width)
        put(w, WEFT_INK_FAINT_TEXT, w->next, type, strlen(type));
}

const char *view_reason_text(const struct canvas *c, uint32_t promise, uint32_t *size)
{
    const struct weft_model *m = c->m;
    const struct weft_promise *p = &m->promise[promise];
    static const char never[] = "never resolved";
    bool failed = p->outcome == WEFT_FAILED,
         seen = p->end_ns >= c->from_ns && p->end_ns <= c->to_ns;
    *size = sizeof never - 1;
    if (failed && weft_model_reason(m, promise) != WEFT_NONE)
        return seen ? weft_model_text(m, weft_model_reason(m, promise), size) : NULL;
    return weft_model_overdue(m, promise) && (!failed || seen) ? never : NULL;
}

static void put_reason(struct writing *w, uint32_t promise)
{
    const struct weft_promise *p = &w->c->m->promise[promise];
    uint32_t size;
    const char *text = view_reason_text(w->c, promise, &size);
    if (!text)
        return;
    int32_t x = canvas_x(w->c, p->end_ns) + GAP;
    int32_t width = weft_text_width(text, strnlen(text, size), w->c->font, false);
    if (x + width > w->end) /* then to the left of the end */
        x = w->end - width;
    put(w, WEFT_INK_FAILED, x, text, size);
}

static bool has_room_after(const struct writing *w, uint32_t label)
{
    uint32_t next = view_next_label(w->c, w->c->m->label[label].next);
    return next == WEFT_NONE || canvas_x(w->c, w->c->m->label[next].time_ns) > w->next + TYPE_ROOM;
}

/* Draws the labels of one promise whose line is visible from x0 to x1. */
static void write_labels(struct writing *w, uint32_t promise, int32_t x0, int32_t x1)
{
    struct canvas *c = w->c;
    const struct weft_model *m = c->m;
    char text[256];
    uint32_t l = view_label_at_start(c, promise, x0);
    bool typed = false;
    if (l == WEFT_NONE) {
        /* Adds the number only if the type also fits: the type says more. */
        int n = snprintf(text, sizeof text, "%" PRIu64, m->promise[promise].id);
        const char *type = weft_model_type(m, promise);
        int32_t both = weft_text_width(text, (size_t)n, w->c->font, false) + GAP +
                       weft_text_width(type, strlen(type), w->c->font, false);
        if (both <= w->end - w->next)
            put(w, WEFT_INK_FAINT_TEXT, x0, text, (size_t)n);
    }
    for (; l != WEFT_NONE && m->label[l].time_ns <= c->to_ns;
         l = view_label_from(c, m->label[l].next, w->next - GAP)) {
        int32_t x = canvas_x(c, m->label[l].time_ns);
        x = x < x0 ? x0 : x;
        if (x > x1 + PX || w->next > w->end - ROOM_MIN)
            break;
        if (w->next > x + GAP) /* another label is already there */
            continue;
        uint32_t n = weft_model_label_text(m, &m->label[l], text, sizeof text);
        if (put(w, WEFT_INK_TEXT, x, text, n) && x > x0 + PX)
            canvas_line(c, WEFT_INK_TEXT, PX, x, w->y - TICK, x, w->y);
        if (!typed && has_room_after(w, l))
            put_type(w, promise);
        typed = true;
    }
    if (!typed)
        put_type(w, promise);
    put_reason(w, promise);
}

/* From where on a text with that baseline is right of the names of groups. *head: the first of these that is not above
 * it; texts are asked for downwards. */
static int32_t beside_heads(const struct canvas *c, uint32_t *head, int32_t baseline)
{
    const struct weft_group_head *h = c->g->head;
    const int32_t top = baseline - c->font, bottom = baseline + c->font / 5;
    int32_t x = c->x0;
    while (*head < c->g->heads && h[*head].y1 <= top)
        ++*head;
    for (uint32_t i = *head; i < c->g->heads && h[i].y0 < bottom; i++)
        x = x > h[i].x1 ? x : h[i].x1;
    return x;
}

uint32_t view_labels_write(struct canvas *c, struct names *names)
{
    const struct weft_layout *l = c->l;
    uint32_t written = 0, head = 0;
    int32_t next = c->x0, from = c->x0;
    for (uint32_t i = 0; i < c->shapes; i++) {
        const struct shape *s = &c->shape[i];
        int32_t height = canvas_row_height(c, s->at), above = height - 11 * PX;
        above = above < 2 * PX ? 2 * PX : above > 4 * PX ? 4 * PX : above;
        if (i == 0 || s->at != s[-1].at)
            next = from = beside_heads(c, &head, canvas_row_y(c, s->at) - above);
        if (height < c->row_height_text || (s->x1 < from && from > c->x0))
            continue;
        int32_t x0 = s->x0 < from ? from : s->x0;
        struct writing w = {.c = c,
                            .at = s->at,
                            .y = canvas_row_y(c, s->at),
                            .above = above,
                            .promise = l->spans[s->span],
                            .names = names,
                            .next = x0 + PX > next ? x0 + PX : next,
                            .end = canvas_span_room(c, c->shown_row[s->at], s->span) - 2 * PX};
        if (w.end - w.next < ROOM_MIN)
            continue;
        write_labels(&w, l->spans[s->span], x0, s->x1);
        next = w.next;
        written += w.wrote;
    }
    return written;
}
