/* SPDX-License-Identifier: ISC */
/* Who held what: acquisitions, each with the release that ends it. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/build.h"

/* While events are read, a release is also stored as a hold, with this value in released_by. */
#define RELEASE (WEFT_NONE - 1)

int model_on_holds(struct weft_builder *b, const struct weft_event *ev, int64_t now)
{
    struct weft_model *m = b->m;
    uint32_t holder, resource;
    TRY(model_lookup(b, ev->a, &holder));
    TRY(model_lookup(b, ev->b, &resource));
    if (resource == WEFT_ROOT) {
        m->contradictions.on_loop++;
        return 0;
    }
    model_set_checked(&m->promise[holder], now);
    model_set_checked(&m->promise[resource], now);
    APPEND(
        b, m->hold, m->holds, b->hold_room, "things held",
        (struct weft_hold){.from_ns = now,
                           .holder = holder,
                           .resource = resource,
                           .released_by = ev->kind == WEFT_EVENT_RELEASES ? RELEASE : WEFT_NONE});
    return 0;
}

/* Who holds one resource. The holds of a holder are a circular list, found through its last one.
 * All of them are also in one list, in order of time. */
struct holding {
    struct weft_model *m;
    uint32_t *order;          /* events by resource, then in order of time */
    uint32_t *last;           /* for each promise: its last open hold, or WEFT_NONE */
    uint32_t *next;           /* for each hold: the next one of its holder */
    uint32_t *before, *after; /* … of all open holds */
    uint32_t oldest, newest;  /* of all open holds */
};

static void open_hold(struct holding *h, uint32_t at, uint32_t holder)
{
    const uint32_t last = h->last[holder];
    h->next[at] = last == WEFT_NONE ? at : h->next[last];
    if (last != WEFT_NONE)
        h->next[last] = at;
    h->last[holder] = at;
    h->before[at] = h->newest;
    h->after[at] = WEFT_NONE;
    if (h->newest == WEFT_NONE)
        h->oldest = at;
    else
        h->after[h->newest] = at;
    h->newest = at;
}

/* Removes the oldest hold of a holder that has one, and returns it. */
static uint32_t close_hold(struct holding *h, uint32_t holder)
{
    const uint32_t last = h->last[holder], first = h->next[last];
    if (first == last)
        h->last[holder] = WEFT_NONE;
    else
        h->next[last] = h->next[first];
    if (h->before[first] == WEFT_NONE)
        h->oldest = h->after[first];
    else
        h->after[h->before[first]] = h->after[first];
    if (h->after[first] == WEFT_NONE)
        h->newest = h->before[first];
    else
        h->before[h->after[first]] = h->before[first];
    return first;
}

/* Returns true if an acquisition by that promise may be missing, because it is older than all
 * events that are there. */
static bool may_be_older(const struct weft_model *m, uint32_t promise)
{
    const struct weft_promise *p = &m->promise[promise];
    return promise != WEFT_ROOT && (!p->created || p->promoted);
}

/* The hold that a release ends, or WEFT_NONE. */
static uint32_t find_released(struct holding *h, uint32_t holder)
{
    if (h->last[holder] != WEFT_NONE)
        return close_hold(h, holder);
    if (h->oldest == WEFT_NONE || may_be_older(h->m, holder))
        return WEFT_NONE;
    return close_hold(h, weft_model_final(h->m, h->m->hold[h->oldest].holder));
}

/* Pairs the events from index from up to end, which belong to one resource. */
static void pair_those(struct holding *h, uint32_t from, uint32_t end)
{
    struct weft_model *m = h->m;
    h->oldest = h->newest = WEFT_NONE;
    for (uint32_t i = from; i < end; i++) {
        struct weft_hold *x = &m->hold[h->order[i]];
        const uint32_t holder = weft_model_final(m, x->holder);
        if (x->released_by != RELEASE) {
            open_hold(h, h->order[i], holder);
            continue;
        }
        const uint32_t released = find_released(h, holder);
        if (released != WEFT_NONE) {
            m->hold[released].to_ns = x->from_ns;
            m->hold[released].released_by = x->holder;
        } else if (!may_be_older(m, holder)) { /* it stays, to record the release */
            x->released_by = x->holder;
            x->holder = WEFT_NONE;
            x->to_ns = x->from_ns;
        }
    }
    while (h->oldest != WEFT_NONE) {
        m->hold[h->oldest].to_ns = m->end_ns;
        h->last[weft_model_final(m, m->hold[h->oldest].holder)] = WEFT_NONE;
        h->oldest = h->after[h->oldest];
    }
}

/* Sorts the events by resource. first: where those of each promise begin, and the end of the last;
 * there is one more entry before. */
static void sort_events(struct holding *h, uint32_t *first)
{
    const struct weft_model *m = h->m;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < m->holds; i++)
        first[weft_model_final(m, m->hold[i].resource) + 2]++;
    for (uint32_t p = 2; p < m->promises + 2; p++) {
        sum += first[p];
        first[p] = sum;
    }
    for (uint32_t i = 0; i < m->holds; i++)
        h->order[first[weft_model_final(m, m->hold[i].resource) + 1]++] = i;
}

int model_finish_holds(struct weft_builder *b)
{
    struct weft_model *m = b->m;
    const uint64_t promises = m->promises, events = m->holds;
    uint32_t kept = 0;
    if (!events)
        return 0;
    uint32_t *first = calloc(promises + 2, sizeof *first);
    uint32_t *room = weft_resize(NULL, promises + 4 * events, sizeof *room);
    if (first && room) {
        struct holding h = {.m = m,
                            .last = room,
                            .order = room + promises,
                            .next = room + promises + events,
                            .before = room + promises + 2 * events,
                            .after = room + promises + 3 * events};
        memset(h.last, 0xff, promises * sizeof *h.last);
        sort_events(&h, first);
        for (uint32_t p = 0; p < m->promises; p++)
            pair_those(&h, first[p], first[p + 1]);
        for (uint32_t i = 0; i < m->holds; i++)
            if (m->hold[i].released_by != RELEASE)
                m->hold[kept++] = m->hold[i];
        m->holds = kept;
    }
    const bool done = first && room;
    free(first);
    free(room);
    return done ? 0 : model_no_room(b, m->holds, "things held");
}
