/* SPDX-License-Identifier: ISC */
/* The model under construction; inside of the model. */
#ifndef WEFT_MODEL_BUILD_H
#define WEFT_MODEL_BUILD_H

#include "model/idmap.h"
#include "model/model.h"
#include "model/strings.h"

#define WEFT_TYPE_PREEXISTING 0xffffu

/* What is known of a promise only while events are read. */
struct weft_growing {
    int64_t last_child_ns;   /* creation of its latest child */
    int64_t last_checked_ns; /* latest wait for it or signal to it */
    uint32_t before_last;    /* interaction before the last one, or WEFT_NONE */
    uint32_t children;
};

struct weft_builder {
    struct weft_model *m;
    struct weft_growing *growing; /* beside m->promise */
    uint32_t *marked;             /* promises marked should_resolve */
    uint32_t promise_room, label_room, interaction_room, run_room, pause_room, change_room,
        counter_room, marked_room, marks;
    uint32_t *counter_of; /* from texts to counters; WEFT_NONE */
    uint32_t counter_of_room;
    uint32_t should_resolve_text;

    uint32_t running; /* promise, or WEFT_NONE */
    int64_t running_since;
    bool begun;
    struct weft_error *err;
};

/* Makes room for one more item. used, room: in items. Returns false if there is none. */
bool weft__grow(void *array, uint32_t used, uint32_t *room, size_t item);

/* Closes the last run, then what can only be known at the end: when pending promises end, which binds
 * are simplified, and the scales of the counters. 0 or a negative WEFT_E code. */
int weft__model_finish(struct weft_builder *b);

/* From now on next runs (WEFT_NONE: nothing). */
int weft__model_switch(struct weft_builder *b, int64_t now, uint32_t next);

#endif
