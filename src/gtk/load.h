/* SPDX-License-Identifier: ISC */
/* Reads and analyses traces without blocking the window: in threads; can be cancelled.
 *
 * All functions belong to the thread of the main loop, which also calls done. */
#pragma once

#include <glib.h>

#include "explore/explore.h"
#include "model/model.h"
#include "view/outline.h"
#include "view/scene.h"

struct weft_load;

/* The result. */
struct weft_loaded {
    struct weft_model *model; /* NULL: error says why; the receiver owns both */
    struct weft_scene *scene;
    struct weft_analysis *analysis; /* if requested, and there was memory */
    struct weft_error error;
    struct weft_damage damage;
    enum weft_ended ended;
    int64_t took_us;
};
typedef void weft_loaded_fn(void *data, struct weft_loaded *loaded);

/* Calls done once, unless it is cancelled; the handle is valid until then. explain: also analyses the trace. */
struct weft_load *weft_load_begin(const char *path, bool raw, bool explain, weft_loaded_fn *done,
                                  void *data);

/* From 0 to 1. */
double weft_load_progress(const struct weft_load *load);

/* What is known of the trace so far, which becomes the caller's; NULL: nothing, or somebody has taken it. */
struct weft_outline *weft_load_outline(struct weft_load *load);

/* Cancels: the thread ends as soon as it can; done is not called. */
void weft_load_cancel(struct weft_load *load);

/* Frees model, scene and analysis in a thread, because that can take a while. */
void weft_load_drop(const struct weft_loaded *loaded);

/* ---- Analysing ---- */

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
