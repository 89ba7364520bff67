/* SPDX-License-Identifier: ISC */
/* What a promise spent its time on. Everything that reports this uses the same measure;
 * docs/model.md, "Waits", has the definitions.
 *     struct weft_meter meter = {.h = history};
 *     struct weft_spent s;
 *     if (weft_spent_find(&s, &meter, promise) == 0)
 *         printf("%" PRId64 " ns\n", s.waiting_ns);
 *     weft_meter_fini(&meter); */
#pragma once

#include <stddef.h>

#include "analyse/history.h"

struct weft_spent {
    int64_t waiting_ns; /* it did not run, and something that it waited for was not there yet */
    /* part of waiting_ns: all of it may have been there, but its blocked loop did not look */
    int64_t blocked_ns;
    int64_t ready_ns;      /* what it waited for was there, but it did not run yet */
    int64_t running_ns;    /* without garbage collections */
    int64_t collecting_ns; /* garbage collections while it ran */
};

/* Can be used for one promise after another. */
struct weft_meter {
    const struct weft_history *h;
    bool raw;               /* a bind or similar begins at its creation, not at its first read */
    int64_t from_ns, to_ns; /* only what is in between; equal: everything */
    int64_t *begin, *end;   /* when the examined promises were ready */
    uint32_t readies;

    struct weft_meter_span *span;
    uint32_t spans, span_room, begin_room, end_room;
};

/* A part of what a promise did. */
struct weft_spent_part {
    int64_t from_ns, to_ns;
    enum weft_spent_kind {
        WEFT_SPENT_WAITING,
        WEFT_SPENT_READY,
        WEFT_SPENT_RUNNING, /* also while garbage was collected */
    } kind;
    uint32_t wait; /* WAITING: of the history; if it waited for several things, what came last */
};

/* Adds the parts of a promise to an array that grows, in order, without overlaps. Those of one kind add up to what
 * weft_spent_find says. Returns 0 or WEFT_E_NOMEM. */
int weft_spent_parts(struct weft_spent_part **part, uint32_t *parts, uint32_t *room,
                     struct weft_meter *meter, uint32_t promise);

/* Returns 0 or WEFT_E_NOMEM. */
int weft_spent_find(struct weft_spent *out, struct weft_meter *meter, uint32_t promise);
void weft_meter_fini(struct weft_meter *meter);
