/* SPDX-License-Identifier: ISC */
/* Reads a trace without blocking the window: in a thread, with progress; can be cancelled.
 *
 * All functions belong to the thread of the main loop, which also calls done. */
#ifndef WEFT_GTK_LOAD_H
#define WEFT_GTK_LOAD_H

#include <glib.h>

#include "explore/explore.h"
#include "model/model.h"
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

/* Cancels: the thread ends as soon as it can; done is not called. */
void weft_load_cancel(struct weft_load *load);

/* Frees what was read in a thread, because that can take a while. */
void weft_load_drop(struct weft_scene *scene, struct weft_model *model,
                    struct weft_analysis *analysis);

#endif
