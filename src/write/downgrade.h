/* SPDX-License-Identifier: ISC */
/* Expresses events of weft's own traces in terms of mirage-profile, which has fewer kinds and
 * types; see the table in docs/format.md, "What mirage's format cannot say".
 *     struct weft_downgrade d = {0};
 *     struct weft_event out[WEFT_DOWNGRADED_MAX];
 *     unsigned n = weft_downgrade(&d, out, &event);
 * Afterwards d says what was lost. Threads: one. */
#pragma once

#include "format/events.h"

#define WEFT_DOWNGRADED_MAX 3
#define WEFT_DOWNGRADE_COUNTERS 4096

struct weft_downgrade {
    uint64_t left_out[WEFT_EVENT_KINDS];
    uint64_t endings; /* resolves, cancels, forgets: written as fulfills */
    uint64_t types;   /* types of creations that became labels */
    uint64_t places;  /* source locations of creations that were left out */
    struct {
        uint64_t name; /* hash; 0: free */
        int64_t value;
    } counter[WEFT_DOWNGRADE_COUNTERS];
};

/* Returns how many events *ev becomes. Their texts are those of *ev, or literals. */
unsigned weft_downgrade(struct weft_downgrade *d, struct weft_event out[WEFT_DOWNGRADED_MAX],
                        const struct weft_event *ev);
