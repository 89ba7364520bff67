/* SPDX-License-Identifier: ISC */
/* Where each promise's line goes: rows, counted from the top.
 *
 * mirage-trace-viewer's rule: a child goes on the first free row below its parent; what a promise
 * becomes may continue on the promise's own row. Placed in order of time, which needs no search among
 * all intervals: n promises, a alive at once, take O(n log a).
 *
 *     struct weft_layout *l;
 *     if (weft_layout_new(&l, model, false) == 0)
 *         row = l->row[promise];
 *
 * Does not change once made; any number of threads may read it. */
#ifndef WEFT_VIEW_LAYOUT_H
#define WEFT_VIEW_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/model.h"

struct weft_layout {
    uint32_t rows;
    bool raw;        /* without the simplification of binds */
    uint32_t *row;   /* of each promise; WEFT_NONE for the loop, which has none */
    uint32_t *spans; /* the promises row by row, in each by start */
    int64_t *until;  /* beside spans: the latest end in the row up to there */
    uint32_t *first; /* spans of row r are spans[first[r] … first[r + 1]) */
};

/* On success the caller owns *out. Returns 0 or WEFT_E_NOMEM; *out is then NULL. */
int weft_layout_new(struct weft_layout **out, const struct weft_model *m, bool raw);

void weft_layout_free(struct weft_layout *l);

/* When the line of a promise begins. */
static inline int64_t weft_layout_start(const struct weft_layout *l, const struct weft_promise *p)
{
    return l->raw ? p->start_ns : p->wake_ns;
}

/* The promise that it hangs under. */
static inline uint32_t weft_layout_parent(const struct weft_layout *l, const struct weft_promise *p)
{
    return l->raw ? p->creator : p->under;
}

#endif
