/* SPDX-License-Identifier: ISC */
/* A trace made ready to be drawn: where the promises lie, and the summaries that let a picture of any part
 * of it be drawn in some milliseconds, however large the trace.
 *
 *     struct weft_scene *s;
 *     if (weft_scene_new(&s, model, false, NULL, NULL) == 0)
 *         weft_view_draw(&list, NULL, s, &viewport);
 *
 * Does not change once made; any number of threads may read it. */
#ifndef WEFT_VIEW_SCENE_H
#define WEFT_VIEW_SCENE_H

#include "view/layout.h"

struct weft_scene {
    const struct weft_model *m; /* borrowed */
    struct weft_layout *l;
    struct weft_index *x;
};

/* On success the caller owns *out, and keeps the model as long. progress may be NULL. Returns 0,
 * WEFT_E_NOMEM or WEFT_E_CANCELED; *out is then NULL. */
int weft_scene_new(struct weft_scene **out, const struct weft_model *m, bool raw,
                   weft_progress_fn *progress, void *data);

void weft_scene_free(struct weft_scene *s);

#endif
