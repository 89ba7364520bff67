/* SPDX-License-Identifier: ISC */
#include "model/traced.h"

#include "base/order.h"
#include "model/build.h"

int model_on_span(struct weft_builder *b, const struct weft_event *ev)
{
    struct weft_traced t = {.kind = ev->kind == WEFT_EVENT_SPAN ? WEFT_TRACED_SPAN
                                                                : WEFT_TRACED_PARENT};
    TRY(model_lookup(b, ev->a, &t.promise));
    if (t.promise == WEFT_ROOT || !ev->text || !format_ids_read(t.ids, ev->text, ev->text_size))
        return 0;
    APPEND(b, b->m->traced, b->m->traceds, b->traced_room, "spans", t);
    return 0;
}

/* Of one promise and one kind the last event counts; sorting is not stable, so the order is in there meanwhile. */
struct placed {
    struct weft_traced t;
    uint32_t order;
};

static int by_promise(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    WEFT_ORDER(x->t.promise, y->t.promise);
    WEFT_ORDER(x->t.kind, y->t.kind);
    return weft_order(x->order, y->order);
}

static int sort(struct weft_builder *b)
{
    struct weft_model *m = b->m;
    struct placed *list = malloc((size_t)m->traceds * sizeof *list);
    uint32_t kept = 0;
    if (!list)
        return model_no_room(b, m->traceds, "spans");
    for (uint32_t i = 0; i < m->traceds; i++)
        list[i] = (struct placed){m->traced[i], i};
    weft_sort(list, m->traceds, sizeof *list, by_promise);
    for (uint32_t i = 0; i < m->traceds; i++) {
        const struct weft_traced *t = &list[i].t;
        kept -= kept && m->traced[kept - 1].promise == t->promise &&
                m->traced[kept - 1].kind == t->kind;
        m->traced[kept++] = *t;
    }
    m->traceds = kept;
    free(list);
    return 0;
}

/* Sets the nearest promise with ids of each promise. In a damaged trace creators may form a circle. */
static void inherit(struct weft_model *m)
{
    const uint32_t unknown = WEFT_NONE - 1, open = WEFT_NONE - 2;
    uint32_t *nearest = m->traced_nearest;
    for (uint32_t p = 0; p < m->promises; p++)
        nearest[p] = unknown;
    nearest[WEFT_ROOT] = WEFT_NONE;
    for (uint32_t i = 0; i < m->traceds; i++)
        nearest[m->traced[i].promise] = m->traced[i].promise;
    for (uint32_t p = 0; p < m->promises; p++) {
        uint32_t q = p;
        for (; nearest[q] == unknown; q = m->promise[q].creator)
            nearest[q] = open;
        const uint32_t found = nearest[q] == open ? WEFT_NONE : nearest[q];
        for (q = p; nearest[q] == open; q = m->promise[q].creator)
            nearest[q] = found;
    }
}

int model_finish_traced(struct weft_builder *b)
{
    struct weft_model *m = b->m;
    if (!m->traceds)
        return 0;
    TRY(sort(b));
    m->traced_nearest = malloc((size_t)m->promises * sizeof *m->traced_nearest);
    if (!m->traced_nearest)
        return model_no_room(b, m->traceds, "spans");
    inherit(m);
    return 0;
}

const struct weft_traced *weft_traced_of(const struct weft_model *m, uint32_t promise,
                                         enum weft_traced_kind kind)
{
    uint32_t low = 0, high = m->traceds;
    WEFT_SEEK(low, high,
              m->traced[middle].promise < promise ||
                  (m->traced[middle].promise == promise && m->traced[middle].kind < kind));
    return low < m->traceds && m->traced[low].promise == promise && m->traced[low].kind == kind
               ? &m->traced[low]
               : NULL;
}

const struct weft_traced *weft_traced_any(const struct weft_model *m, uint32_t promise)
{
    const struct weft_traced *t = weft_traced_of(m, promise, WEFT_TRACED_SPAN);
    return t ? t : weft_traced_of(m, promise, WEFT_TRACED_PARENT);
}

uint32_t weft_traced_nearest(const struct weft_model *m, uint32_t promise)
{
    return m->traced_nearest ? m->traced_nearest[promise] : WEFT_NONE;
}

const struct weft_traced *weft_traced_inherited(const struct weft_model *m, uint32_t promise)
{
    const uint32_t nearest = weft_traced_nearest(m, promise);
    return nearest == WEFT_NONE ? NULL : weft_traced_any(m, nearest);
}
