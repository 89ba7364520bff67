/* SPDX-License-Identifier: ISC */
#include "sample/order.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "format/error.h"
#include "sample/perf.h"

void sample_order_fini(struct sample_order *o)
{
    free(o->held.at);
    free(o->other.at);
    free(o->item);
    *o = (struct sample_order){0};
}

static bool reserve(struct sample_held_bytes *b, size_t more)
{
    return weft_reserve_all(&b->at, b->used + (more ? more : 1), &b->room, 1); /* never NULL */
}

uint8_t *sample_order_room(struct sample_order *o, size_t bytes)
{
    return reserve(&o->held, bytes) ? o->held.at + o->held.used : NULL;
}

int sample_order_add(struct sample_order *o, size_t bytes, uint32_t ring, uint64_t *broken)
{
    struct perf_event_header head;
    const size_t end = o->held.used + bytes;
    uint64_t last_ns = 0;
    while (o->held.used < end) {
        const uint8_t *at = o->held.at + o->held.used;
        const size_t left = end - o->held.used;
        if (left >= sizeof head)
            memcpy(&head, at, sizeof head);
        if (left < sizeof head || head.size < sizeof head || head.size > left) {
            ++*broken;
            o->held.used = end;
            break;
        }
        if (!weft_reserve(&o->item, o->items, &o->item_room, sizeof *o->item))
            return WEFT_E_NOMEM;
        uint64_t time_ns = sample_perf_time(at, head.size);
        if (time_ns == 0)
            time_ns = last_ns; /* it keeps its place */
        last_ns = time_ns;
        o->item[o->items++] =
            (struct sample_held){time_ns, o->count++, o->held.used, head.size, ring};
        o->held.used += head.size;
    }
    return 0;
}

static int compare(const void *a, const void *b)
{
    const struct sample_held *x = a, *y = b;
    WEFT_ORDER(x->time_ns, y->time_ns);
    return weft_order(x->count, y->count);
}

void sample_order_sort(struct sample_order *o)
{
    if (o->items)
        qsort(o->item, o->items, sizeof *o->item, compare);
}

const uint8_t *sample_order_take(struct sample_order *o, uint64_t before_ns, uint32_t *bytes,
                                 uint32_t *ring)
{
    if (o->next >= o->items || o->item[o->next].time_ns >= before_ns)
        return NULL;
    const struct sample_held *h = &o->item[o->next++];
    *bytes = h->bytes;
    *ring = h->ring;
    return o->held.at + h->offset;
}

/* Little is left over, unless a caller stops in the middle. It moves to a buffer of its own, because records
 * there are in the order of the rings. */
int sample_order_drop(struct sample_order *o)
{
    size_t left = 0;
    for (size_t i = o->next; i < o->items; i++)
        left += o->item[i].bytes;
    if (o->next == 0)
        return 0;
    o->other.used = 0;
    if (left && !reserve(&o->other, left))
        return WEFT_E_NOMEM;
    for (size_t i = o->next; i < o->items; i++) {
        struct sample_held h = o->item[i];
        memcpy(o->other.at + o->other.used, o->held.at + h.offset, h.bytes);
        h.offset = o->other.used;
        o->other.used += h.bytes;
        o->item[i - o->next] = h;
    }
    o->items -= o->next;
    o->next = 0;
    struct sample_held_bytes was = o->held;
    o->held = o->other;
    o->other = was;
    return 0;
}
