/* SPDX-License-Identifier: ISC */
#include "read/fxt_spans.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/idmap.h"
#include "format/error.h"
#include "read/state.h"

#define NONE UINT32_MAX
#define NOBODY WEFT_ID_LOOP

enum { LABEL_BYTES = 160 }; /* of the label made from an argument; longer ones are cut */

/* A duration on a thread. */
struct span {
    uint64_t id;
    uint32_t outer; /* or NONE */
    bool ended;
};

/* An asynchronous duration. */
struct async {
    uint64_t id;
    uint32_t outer; /* the one around it with the same number, or NONE */
};

struct read_spans {
    uint32_t *top; /* for each stream: the innermost span, or NONE */
    struct span *span;
    uint32_t spans, span_room;
    struct async *async;
    uint32_t asyncs, async_room;
    uint64_t *from; /* for each flow: where it was last */
    uint32_t flows, flow_room;
    struct weft_idmap *complete, *open, *flow; /* spans by record; asyncs and flows by number */
    uint64_t next;
    char *text; /* text of labels that are made here */
    uint32_t texts;

    /* Set only while an item is translated. */
    struct weft_event *out;
    const struct read_span_item *item;
    int count;
};

static const struct weft_origin span_origin = {.type = "span"}, async_origin = {.type = "async"};

struct read_spans *read_spans_new(uint32_t streams)
{
    struct read_spans *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->top = weft_new_none(streams, sizeof *s->top);
    s->complete = weft_idmap_new();
    s->open = weft_idmap_new();
    s->flow = weft_idmap_new();
    s->text = malloc((size_t)WEFT_BATCH * LABEL_BYTES);
    s->next = 1;
    if (!s->top || !s->complete || !s->open || !s->flow || !s->text) {
        read_spans_free(s);
        return NULL;
    }
    return s;
}

void read_spans_free(struct read_spans *s)
{
    if (!s)
        return;
    weft_idmap_free(s->complete);
    weft_idmap_free(s->open);
    weft_idmap_free(s->flow);
    weft_free_all(s->top, s->span, s->async, s->from, s->text, s);
}

void read_spans_begin_batch(struct read_spans *s)
{
    s->texts = 0;
}

/* ---- Events ---- */

static struct weft_event *put(struct read_spans *s, enum weft_event_kind kind, uint64_t a,
                              uint64_t b)
{
    struct weft_event *ev = &s->out[s->count++];
    *ev = (struct weft_event){.time_ns = s->item->time_ns,
                              .a = a,
                              .b = b,
                              .kind = (uint8_t)kind,
                              .stream = s->item->stream};
    return ev;
}

static void put_text(struct weft_event *ev, struct read_fxt_text t)
{
    read_set_text(ev, t.text, t.size);
}

static int precision(struct read_fxt_text t, int most)
{
    return t.size < (uint32_t)most ? (int)t.size : most;
}

/* Room for the text of a label or a counter that is made here; NULL if there is no more in this batch. */
static char *next_text(struct read_spans *s)
{
    return s->texts < WEFT_BATCH ? s->text + (size_t)s->texts++ * LABEL_BYTES : NULL;
}

static void put_arguments(struct read_spans *s, uint64_t id, const struct read_fxt_value *arg)
{
    for (uint32_t i = 0; i < s->item->args; i++) {
        const struct read_fxt_value *v = &arg[i];
        const int name = precision(v->name, 64);
        char *text = v->type == READ_FXT_NOTHING ? NULL : next_text(s);
        if (!text)
            continue;
        if (v->type == READ_FXT_TEXT)
            snprintf(text, LABEL_BYTES, "%.*s=%.*s", name, v->name.text, precision(v->text, 88),
                     v->text.text);
        else if (v->type == READ_FXT_REAL)
            snprintf(text, LABEL_BYTES, "%.*s=%g", name, v->name.text, v->real);
        else if (v->type == READ_FXT_UNSIGNED)
            snprintf(text, LABEL_BYTES, "%.*s=%" PRIu64, name, v->name.text, (uint64_t)v->value);
        else
            snprintf(text, LABEL_BYTES, "%.*s=%" PRId64, name, v->name.text, v->value);
        read_set_text(put(s, WEFT_EVENT_LABEL, id, 0), text, LABEL_BYTES);
    }
}

/* Creates a promise with the item's name; its category and arguments become labels. */
static uint64_t create(struct read_spans *s, uint64_t parent, const struct weft_origin *origin,
                       const struct read_fxt_value *arg)
{
    const uint64_t id = s->next++;
    struct weft_event *ev = put(s, WEFT_EVENT_CREATES, parent, id);
    ev->origin = origin;
    put_text(ev, s->item->name);
    if (s->item->category.size)
        put_text(put(s, WEFT_EVENT_LABEL, id, 0), s->item->category);
    put_arguments(s, id, arg);
    return id;
}

/* ---- Durations ---- */

/* What runs on the item's thread. */
static uint64_t running(struct read_spans *s)
{
    uint32_t *top = &s->top[s->item->stream];
    while (*top != NONE && s->span[*top].ended)
        *top = s->span[*top].outer;
    return *top == NONE ? NOBODY : s->span[*top].id;
}

static int on_begin(struct read_spans *s, const struct read_fxt_value *arg)
{
    const struct read_span_item *x = s->item;
    if (!weft_reserve(&s->span, s->spans, &s->span_room, sizeof *s->span) ||
        (x->kind == READ_FXT_COMPLETE && !weft_idmap_put(s->complete, x->order, s->spans)))
        return WEFT_E_NOMEM;
    const uint64_t id = create(s, running(s), &span_origin, arg);
    s->span[s->spans] = (struct span){.id = id, .outer = s->top[x->stream]};
    s->top[x->stream] = s->spans++;
    put(s, WEFT_EVENT_BACKGROUND, id, 0); /* it may take as long as it likes */
    put(s, WEFT_EVENT_SWITCH, id, 0);
    return 0;
}

static int on_end(struct read_spans *s, uint32_t which)
{
    const uint64_t ran = running(s);
    if (which == NONE || which >= s->spans || s->span[which].ended)
        return 0;
    s->span[which].ended = true;
    put(s, WEFT_EVENT_FULFILLS, ran, s->span[which].id);
    if (ran == s->span[which].id)
        put(s, WEFT_EVENT_SWITCH, running(s), 0);
    return 0;
}

/* ---- Others ---- */

static int on_async_begin(struct read_spans *s, const struct read_fxt_value *arg)
{
    uint32_t *open = weft_idmap_at(s->open, s->item->id);
    if (!open || !weft_reserve(&s->async, s->asyncs, &s->async_room, sizeof *s->async))
        return WEFT_E_NOMEM;
    const uint64_t parent = *open == NONE ? running(s) : s->async[*open].id,
                   id = create(s, parent, &async_origin, arg);
    s->async[s->asyncs] = (struct async){id, *open};
    *open = s->asyncs++;
    return 0;
}

static int on_async(struct read_spans *s, const struct read_fxt_value *arg)
{
    uint32_t *open = weft_idmap_at(s->open, s->item->id);
    if (!open)
        return WEFT_E_NOMEM;
    if (*open == NONE)
        return 0;
    const struct async *a = &s->async[*open];
    if (s->item->kind == READ_FXT_ASYNC_INSTANT)
        put_text(put(s, WEFT_EVENT_LABEL, a->id, 0), s->item->name);
    put_arguments(s, a->id, arg);
    if (s->item->kind == READ_FXT_ASYNC_END) {
        put(s, WEFT_EVENT_FULFILLS, running(s), a->id);
        *open = a->outer;
    }
    return 0;
}

/* A flow goes from the duration where it was last to the current one. */
static int on_flow(struct read_spans *s)
{
    const uint64_t here = running(s);
    uint32_t *flow = weft_idmap_at(s->flow, s->item->id);
    if (!flow)
        return WEFT_E_NOMEM;
    if (*flow == NONE) {
        if (!weft_reserve(&s->from, s->flows, &s->flow_room, sizeof *s->from))
            return WEFT_E_NOMEM;
        s->from[s->flows] = NOBODY;
        *flow = s->flows++;
    }
    uint64_t *from = &s->from[*flow];
    if (s->item->kind != READ_FXT_FLOW_BEGIN && *from != NOBODY && here != NOBODY && here != *from)
        put(s, WEFT_EVENT_SIGNAL_ONLY, here, *from);
    if (s->item->kind == READ_FXT_FLOW_END)
        *from = NOBODY;
    else if (here != NOBODY)
        *from = here;
    return 0;
}

static void on_counter(struct read_spans *s, const struct read_fxt_value *arg)
{
    for (uint32_t i = 0; i < s->item->args; i++) {
        const struct read_fxt_value *v = &arg[i];
        const bool counts = v->type == READ_FXT_NUMBER || v->type == READ_FXT_UNSIGNED;
        char *text = counts ? next_text(s) : NULL;
        if (!text)
            continue;
        snprintf(text, LABEL_BYTES, "%.*s%s%.*s", precision(s->item->name, 64), s->item->name.text,
                 v->name.size ? "." : "", precision(v->name, 64), v->name.text);
        struct weft_event *ev = put(s, WEFT_EVENT_COUNTER, running(s), 0);
        ev->value = v->value;
        read_set_text(ev, text, LABEL_BYTES);
    }
}

int read_spans_tell(struct read_spans *s, struct weft_event *out, const struct read_span_item *item,
                    const struct read_fxt_value *arg)
{
    int rc = 0;
    s->out = out;
    s->count = 0;
    s->item = item;
    const uint64_t ran = running(s);
    switch ((enum read_fxt_kind)item->kind) {
    case READ_FXT_BEGIN:
    case READ_FXT_COMPLETE:
        rc = on_begin(s, arg);
        break;
    case READ_FXT_END:
        rc = on_end(s, s->top[item->stream]);
        break;
    case READ_FXT_COMPLETE_END:
        rc = on_end(s, weft_idmap_seek(s->complete, item->order));
        break;
    case READ_FXT_ASYNC_BEGIN:
        rc = on_async_begin(s, arg);
        break;
    case READ_FXT_ASYNC_INSTANT:
    case READ_FXT_ASYNC_END:
        rc = on_async(s, arg);
        break;
    case READ_FXT_FLOW_BEGIN:
    case READ_FXT_FLOW_STEP:
    case READ_FXT_FLOW_END:
        rc = on_flow(s);
        break;
    case READ_FXT_COUNTER:
        on_counter(s, arg);
        break;
    case READ_FXT_INSTANT:
        if (ran != NOBODY)
            put_text(put(s, WEFT_EVENT_LABEL, ran, 0), item->name);
        break;
    }
    for (int i = 0; i < s->count; i++)
        out[i].running = i == 0 ? ran : running(s);
    return rc < 0 ? rc : s->count;
}
