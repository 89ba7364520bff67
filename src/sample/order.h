/* SPDX-License-Identifier: ISC */
/* Puts records of several rings in order of time. Within a ring they are in order, except for a few that an
 * interrupt has overtaken. */
#ifndef WEFT_SAMPLE_ORDER_H
#define WEFT_SAMPLE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sample_order {
    struct sample_held_bytes {
        uint8_t *at;
        size_t used;
        uint32_t room;
    } held, other;
    struct sample_held {
        uint64_t time_ns, count; /* count: order of adding, for records of the same time */
        size_t offset;
        uint32_t bytes, ring;
    } * item;
    uint32_t item_room;
    size_t items, next; /* next: the next to be handed out */
    uint64_t count;
};

void sample_order_fini(struct sample_order *o);

/* Returns room for bytes of a ring's records; the caller fills it. NULL: no memory. */
uint8_t *sample_order_room(struct sample_order *o, size_t bytes);

/* The caller has filled in that many bytes: whole records, one after the other. Returns WEFT_E_NOMEM if they
 * cannot be kept. An invalid record ends the span and is counted in *broken. */
int sample_order_add(struct sample_order *o, size_t bytes, uint32_t ring, uint64_t *broken);

/* Call it after adding and before taking. */
void sample_order_sort(struct sample_order *o);

/* Returns the next record older than before_ns, or NULL. It stays valid until the next sample_order_add. */
const uint8_t *sample_order_take(struct sample_order *o, uint64_t before_ns, uint32_t *bytes,
                                 uint32_t *ring);

/* Drops the records that were taken. Returns 0 or WEFT_E_NOMEM. */
int sample_order_drop(struct sample_order *o);

#endif
