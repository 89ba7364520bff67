/* SPDX-License-Identifier: ISC */
/* Puts records of several rings in order of time. Within a ring they are so but for a few that an interrupt has
 * overtaken. */
#ifndef WEFT_SAMPLE_ORDER_H
#define WEFT_SAMPLE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft__order {
    struct weft__bytes {
        uint8_t *at;
        size_t used;
        uint32_t room;
    } held, other;
    struct weft__held {
        uint64_t time_ns, count; /* count: of what was added, for what is at the same time */
        size_t offset;
        uint32_t bytes, ring;
    } * item;
    uint32_t item_room;
    size_t items, next; /* next: to be handed out */
    uint64_t count;
};

void weft__order_fini(struct weft__order *o);

/* Room for bytes of a ring's records, which the caller then fills; NULL: no memory. */
uint8_t *weft__order_room(struct weft__order *o, size_t bytes);

/* The caller has filled bytes of it: whole records, one after the other. Returns WEFT_E_NOMEM if they cannot be
 * kept. What makes no sense ends the span; *broken then counts it. */
int weft__order_add(struct weft__order *o, size_t bytes, uint32_t ring, uint64_t *broken);

/* Call after adding, before taking. */
void weft__order_sort(struct weft__order *o);

/* The next record that is older than before_ns, or NULL. It is there until the next weft__order_add. */
const uint8_t *weft__order_take(struct weft__order *o, uint64_t before_ns, uint32_t *bytes,
                                uint32_t *ring);

/* Drops what was taken. 0 or WEFT_E_NOMEM. */
int weft__order_drop(struct weft__order *o);

#endif
