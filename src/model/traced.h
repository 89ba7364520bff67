/* SPDX-License-Identifier: ISC */
/* The spans of distributed traces (W3C's Trace Context) that promises are, or belong to. Few promises have them, so they are
 * in a table beside the promises. A promise without ids has the trace of its nearest creator with ids.
 *
 * A model does not change, so any number of threads may ask. */
#pragma once

#include "format/ids.h"
#include "model/model.h"

enum weft_traced_kind {
    WEFT_TRACED_PARENT, /* the promise was caused by this span, as a rule one of another program */
    WEFT_TRACED_SPAN,   /* the promise is this span */
};

struct weft_traced {
    uint32_t promise;
    uint32_t kind; /* enum weft_traced_kind */
    unsigned char ids[WEFT_IDS_BYTES];
};

/* The ids of the promise itself, or NULL. */
const struct weft_traced *weft_traced_of(const struct weft_model *m, uint32_t promise,
                                         enum weft_traced_kind kind);

/* … of either kind: the span that it is, otherwise the one that caused it. */
const struct weft_traced *weft_traced_any(const struct weft_model *m, uint32_t promise);

/* The nearest promise with ids: itself, or a creator, its creator, and so on; WEFT_NONE: there is none. */
uint32_t weft_traced_nearest(const struct weft_model *m, uint32_t promise);

/* The ids of the nearest one: weft_traced_any, or NULL. Only its trace's id says something about the promise itself. */
const struct weft_traced *weft_traced_inherited(const struct weft_model *m, uint32_t promise);
