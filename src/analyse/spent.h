/* SPDX-License-Identifier: ISC */
/* What a promise spent its time on: one measure for all who tell it. docs/model.md, "Waits", has the definitions.
 *
 *     struct weft_meter meter = {.h = history};
 *     struct weft_spent s;
 *     if (weft_spent_find(&s, &meter, promise) == 0)
 *         printf("%" PRId64 " ns\n", s.waiting_ns);
 *     weft_meter_fini(&meter); */
#ifndef WEFT_ANALYSE_SPENT_H
#define WEFT_ANALYSE_SPENT_H

#include <stddef.h>

#include "analyse/history.h"

struct weft_spent {
    int64_t waiting_ns; /* it did not run, and something that it waited for was not there */
    int64_t
        blocked_ns; /* of that: all of it may have been there, but its loop was blocked and did not look */
    int64_t ready_ns;      /* that was there, and it did not run yet */
    int64_t running_ns;    /* without garbage collections */
    int64_t collecting_ns; /* garbage collections while it ran */
};

/* Serves for one promise after the other. */
struct weft_meter {
    const struct weft_history *h;
    bool raw; /* a bind and the like begins with its creation, not with its first read */
    int64_t *begin, *end; /* when those that were asked about stood ready */
    uint32_t readies;

    struct weft_meter_span *span;
    uint32_t spans, span_room, begin_room, end_room;
};

/* Returns 0 or WEFT_E_NOMEM. */
int weft_spent_find(struct weft_spent *out, struct weft_meter *meter, uint32_t promise);
void weft_meter_fini(struct weft_meter *meter);

#endif
