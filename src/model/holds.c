/* SPDX-License-Identifier: ISC */
/* Who held what: acquisitions, each with the release that ends it. */
#include "base/array.h"
#include "base/lists.h"
#include "model/build.h"

/* While events are read, a release is also stored as a hold, with this value in released_by. */
#define RELEASE (WEFT_NONE - 1)

int model_on_holds(struct weft_builder *b, const struct weft_event *ev)
{
    struct weft_model *m = b->m;
    uint32_t holder, resource;
    TRY(model_lookup(b, ev->a, &holder));
    TRY(model_lookup(b, ev->b, &resource));
    if (resource == WEFT_ROOT) {
        m->contradictions.on_loop++;
        return 0;
    }
    model_set_checked(&m->promise[holder], b->now);
    model_set_checked(&m->promise[resource], b->now);
    APPEND(
        b, m->hold, m->holds, b->hold_room, "things held",
        (struct weft_hold){.from_ns = b->now,
                           .holder = holder,
                           .resource = resource,
                           .released_by = ev->kind == WEFT_EVENT_RELEASES ? RELEASE : WEFT_NONE});
    return 0;
}

/* Who holds one resource. The open holds of a holder are a queue. */
struct holding {
    struct weft_model *m;
    uint32_t *first, *order;   /* events by resource, in order of time */
    uint32_t *oldest, *newest; /* for each promise: of its open holds, or WEFT_NONE */
    uint32_t *next;            /* for each hold: the next one of its holder */
};

static uint32_t resource_of(const void *model, uint32_t hold)
{
    const struct weft_model *m = model;
    return weft_model_final(m, m->hold[hold].resource);
}

static uint32_t holder_of(const struct holding *h, uint32_t hold)
{
    return weft_model_final(h->m, h->m->hold[hold].holder);
}

static bool is_open(const struct holding *h, uint32_t hold)
{
    return h->m->hold[hold].released_by == WEFT_NONE;
}

/* Returns true if an acquisition by that promise may be missing, because it is older than all
 * events that are there. */
static bool may_be_older(const struct weft_model *m, uint32_t promise)
{
    const struct weft_promise *p = &m->promise[promise];
    return promise != WEFT_ROOT && (!p->created || p->promoted);
}

/* Pairs the events of one resource. A release ends the oldest hold of its promise, or else the
 * oldest one of all. */
static void pair_those(struct holding *h, uint32_t resource)
{
    struct weft_model *m = h->m;
    uint32_t end = h->first[resource + 1], open = h->first[resource]; /* none before that is open */
    for (uint32_t i = open; i < end; i++) {
        const uint32_t at = h->order[i], holder = holder_of(h, at);
        struct weft_hold *x = &m->hold[at];
        if (x->released_by != RELEASE) {
            x->to_ns = m->end_ns;
            h->next[at] = WEFT_NONE;
            if (h->oldest[holder] == WEFT_NONE)
                h->oldest[holder] = at;
            else
                h->next[h->newest[holder]] = at;
            h->newest[holder] = at;
            continue;
        }
        uint32_t released = h->oldest[holder];
        while (open < i && !is_open(h, h->order[open]))
            open++;
        if (released == WEFT_NONE && open < i && !may_be_older(m, holder))
            released = h->order[open];
        if (released != WEFT_NONE) {
            h->oldest[holder_of(h, released)] = h->next[released];
            m->hold[released].to_ns = x->from_ns;
            m->hold[released].released_by = x->holder;
        } else if (!may_be_older(m, holder)) { /* it stays, to record the release */
            x->released_by = x->holder;
            x->holder = WEFT_NONE;
            x->to_ns = x->from_ns;
        }
    }
    for (uint32_t i = h->first[resource]; i < end; i++)
        if (is_open(h, h->order[i]))
            h->oldest[holder_of(h, h->order[i])] = WEFT_NONE;
}

int model_finish_holds(struct weft_builder *b)
{
    struct weft_model *m = b->m;
    struct holding h = {.m = m};
    uint32_t kept = 0;
    if (!m->holds)
        return 0;
    h.oldest = weft_new_none(m->promises, sizeof *h.oldest);
    h.newest = weft_resize(NULL, m->promises, sizeof *h.newest);
    h.next = weft_resize(NULL, m->holds, sizeof *h.next);
    const bool ok = weft_lists(&h.first, &h.order, m->promises, m->holds, resource_of, m) &&
                    h.oldest && h.newest && h.next;
    for (uint32_t p = 0; ok && p < m->promises; p++)
        pair_those(&h, p);
    for (uint32_t i = 0; ok && i < m->holds; i++)
        if (m->hold[i].released_by != RELEASE)
            m->hold[kept++] = m->hold[i];
    weft_free_all(h.first, h.order, h.oldest, h.newest, h.next);
    if (!ok)
        return model_no_room(b, m->holds, "things held");
    m->holds = kept;
    return 0;
}
