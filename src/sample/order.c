/* SPDX-License-Identifier: ISC */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "sample/state.h"

void sample_order_fini(struct sample_order *o)
{
    free(o->held);
    free(o->item);
    *o = (struct sample_order){0};
}

uint8_t *sample_order_room(struct sample_order *o, size_t bytes)
{
    return weft_reserve_all(&o->held, o->used + (bytes ? bytes : 1), &o->room, 1) /* never NULL */
               ? o->held + o->used
               : NULL;
}

int sample_order_add(struct sample_order *o, size_t bytes, uint32_t ring, uint64_t *broken)
{
    struct perf_event_header head;
    const size_t end = o->used + bytes;
    uint64_t last_ns = 0;
    while (o->used < end) {
        const uint8_t *at = o->held + o->used;
        const size_t left = end - o->used;
        if (left >= sizeof head)
            memcpy(&head, at, sizeof head);
        if (left < sizeof head || head.size < sizeof head || head.size > left) {
            ++*broken;
            o->used = end;
            break;
        }
        if (!weft_reserve(&o->item, o->items, &o->item_room, sizeof *o->item))
            return WEFT_E_NOMEM;
        uint64_t time_ns = sample_perf_time(at, head.size);
        if (time_ns == 0)
            time_ns = last_ns; /* it keeps its place */
        last_ns = time_ns;
        o->item[o->items++] = (struct sample_held){time_ns, o->count++, o->used, head.size, ring};
        o->used += head.size;
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
    weft_sort(o->item, o->items, sizeof *o->item, compare);
}

const uint8_t *sample_order_take(struct sample_order *o, uint64_t before_ns, uint32_t *bytes,
                                 uint32_t *ring)
{
    if (o->next >= o->items || o->item[o->next].time_ns >= before_ns)
        return NULL;
    const struct sample_held *h = &o->item[o->next++];
    *bytes = h->bytes;
    *ring = h->ring;
    return o->held + h->offset;
}

/* Little is left over, unless a caller stops in the middle. It is moved by way of another buffer, because records
 * are there in the order of the rings. */
int sample_order_drop(struct sample_order *o)
{
    size_t bytes = 0;
    if (o->next == 0)
        return 0;
    for (size_t i = o->next; i < o->items; i++)
        bytes += o->item[i].bytes;
    uint8_t *rest = malloc(bytes + 1);
    if (!rest)
        return WEFT_E_NOMEM;
    o->used = 0;
    for (size_t i = o->next; i < o->items; i++) {
        struct sample_held *h = &o->item[i - o->next];
        *h = o->item[i];
        memcpy(rest + o->used, o->held + h->offset, h->bytes);
        h->offset = o->used;
        o->used += h->bytes;
    }
    memcpy(o->held, rest, bytes);
    free(rest);
    o->items -= o->next;
    o->next = 0;
    return 0;
}
