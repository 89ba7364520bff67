/* SPDX-License-Identifier: ISC */
#include "model/numbers.h"

#include "base/array.h"
#include "model/model.h"

static uint32_t mention(struct model_numbers *n, uint64_t id)
{
    uint32_t known = weft_idmap_seek(n->ids, id);
    if (known != WEFT_IDMAP_NONE || n->full)
        return known;
    n->full = n->promises >= WEFT_PROMISES_MAX || !weft_idmap_put(n->ids, id, n->promises);
    return n->full ? WEFT_IDMAP_NONE : n->promises++;
}

/* What ran is looked up if no event of the stream has said it, or not all that did are there. */
static bool asks_what_ran(struct model_numbers *n, const struct weft_event *ev)
{
    if (n->quirks.no_running || ev->promoted)
        return false;
    if (!weft_reach(&n->begun, ev->stream, &n->begun_room, 1, 0)) {
        n->full = true;
        return false;
    }
    const bool asks = !n->begun[ev->stream] || ev->gap;
    n->begun[ev->stream] = true;
    return asks;
}

static bool is_promise(const struct weft_event *ev, unsigned field)
{
    const struct weft_event_desc *d = &weft_event_kinds[ev->kind];
    return field < d->fields && d->field[field].field == WEFT_FIELD_PROMISE;
}

/* See build.c: the order of these is the one in which the builder looks them up. */
static void number_one(struct model_numbers *n, const struct weft_event *ev,
                       uint32_t number[WEFT_NUMBERS])
{
    number[MODEL_A] = number[MODEL_B] = number[MODEL_RAN] = MODEL_UNASKED;
    if (asks_what_ran(n, ev))
        number[MODEL_RAN] = mention(n, ev->running);
    if (ev->promoted && ev->kind == WEFT_EVENT_RESOLVES) {
        number[MODEL_B] = weft_idmap_seek(n->ids, ev->b);
        return;
    }
    const bool reads = ev->kind == WEFT_EVENT_READ || ev->kind == WEFT_EVENT_READ_LATER ||
                       ev->kind == WEFT_EVENT_TRY_READ;
    if (ev->kind == WEFT_EVENT_SNAPSHOT ||
        (reads && ev->b == WEFT_ID_LOOP && n->quirks.loop_is_sleep))
        return;
    if (is_promise(ev, 0) && !ev->undated)
        number[MODEL_A] = mention(n, ev->a);
    if (is_promise(ev, 1))
        number[MODEL_B] = mention(n, ev->b);
}

void model_number_all(void *numbers, const struct weft_event *event, ptrdiff_t events,
                      uint32_t (*number)[WEFT_NUMBERS])
{
    for (ptrdiff_t i = 0; i < events; i++)
        number_one(numbers, &event[i], number[i]);
}
