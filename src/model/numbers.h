/* SPDX-License-Identifier: ISC */
/* Which promises events are about. Promises are numbered in the order of first mention, so this can be found out by the thread
 * that reads ahead, before the model is built; internal to the model. */
#pragma once

#include "base/idmap.h"
#include "read/ahead.h"

struct model_numbers {
    struct weft_idmap *ids;
    uint32_t promises; /* how many have a number */
    struct weft_quirks quirks;
    uint8_t *begun; /* by stream: it has had an event */
    uint32_t begun_room;
    bool full; /* no memory for another one, or too many */
};

/* Of an event: the promises with the ids a and b, and what ran before it. */
enum { MODEL_A, MODEL_B, MODEL_RAN };

#define MODEL_UNASKED (WEFT_IDMAP_NONE - 1) /* the model does not look it up */

/* A weft_number_fn; data: struct model_numbers. The numbers are those that the builder would find or give, event by event;
 * WEFT_IDMAP_NONE: none. */
void model_number_all(void *numbers, const struct weft_event *event, ptrdiff_t events,
                      uint32_t (*number)[WEFT_NUMBERS]);

/* The number of an id of that event. */
static inline uint32_t model_number(const uint32_t number[WEFT_NUMBERS],
                                    const struct weft_event *ev, uint64_t id)
{
    if (id == ev->a && number[MODEL_A] != MODEL_UNASKED)
        return number[MODEL_A];
    if (id == ev->b && number[MODEL_B] != MODEL_UNASKED)
        return number[MODEL_B];
    return number[MODEL_RAN];
}
