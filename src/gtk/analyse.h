/* SPDX-License-Identifier: ISC */
/* Analyses traces without blocking the window: in a thread, one after another; can be cancelled.
 *
 * All functions belong to the thread of the main loop, which also calls done. */
#ifndef WEFT_GTK_ANALYSE_H
#define WEFT_GTK_ANALYSE_H

#include "explore/explore.h"

struct weft_analyse;

/* The result, owned by the receiver; NULL, or empty, if there was no memory. */
typedef void weft_analysed_fn(void *data, struct weft_analysis *analysis);
typedef void weft_compared_fn(void *data, struct weft_diff *diff);

/* Calls done once, unless it is cancelled; the handle is valid until then. The models must stay while it works. */
struct weft_analyse *weft_analyse_begin(const struct weft_model *m, weft_analysed_fn *done,
                                        void *data);
struct weft_analyse *weft_analyse_compare(const struct weft_history *good,
                                          const struct weft_history *bad, weft_compared_fn *done,
                                          void *data);

/* Stops it and waits until it has ended: done is not called, and nothing is read any more. */
void weft_analyse_end(struct weft_analyse *work);

#endif
