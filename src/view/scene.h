/* SPDX-License-Identifier: ISC */
/* A trace prepared for drawing: the layout of its promises, and summaries with which a picture of any part is drawn in
 * a few milliseconds, however large the trace is.
 *
 *     struct weft_scene *s;
 *     if (weft_scene_new(&s, model, false, NULL, NULL) == 0)
 *         weft_view_draw(&list, NULL, s, &viewport);
 *
 * It does not change once it is made; any number of threads may read it. */
#pragma once

#include "profile/profile.h"
#include "view/folds.h"
#include "view/layout.h"

struct weft_scene {
    const struct weft_model *m; /* borrowed */
    struct weft_layout *l;
    struct weft_index *x;
    struct weft_profile
        *p; /* samples of the same time, joined with the model; owned; NULL: there are none */
    struct weft_density *d;  /* of the samples; NULL: nothing to be drawn */
    struct weft_overview *o; /* of the whole time */
    struct weft_folds folds; /* drawn only if a viewport wants it */
};

/* On success the caller owns *out and must keep the model as long as it exists. progress may be NULL. Returns 0,
 * WEFT_E_NOMEM or WEFT_E_CANCELED; *out is then NULL. */
int weft_scene_new(struct weft_scene **out, const struct weft_model *m, bool raw,
                   weft_progress_fn *progress, void *data);

/* Adds the samples of the scene's trace: they are drawn with it, and say what ran. Takes ownership of p, even if it
 * fails; p must be finished and joined with the scene's model. NULL, or a profile without samples: the scene has none.
 * Call it before the scene is drawn for the first time. Returns 0 or WEFT_E_NOMEM; the scene is then without samples.
 * Questions may add texts to a profile: only one thread may ask them. */
int weft_scene_set_profile(struct weft_scene *s, struct weft_profile *p);

/* The scene of a trace with the samples that are in its file: r is the reader from which the model was just built. A
 * model without events gets the times of its samples. Samples that cannot be read are left out. Returns the same codes
 * as weft_scene_new. */
int weft_scene_load(struct weft_scene **out, struct weft_model *m, struct weft_reader *r, bool raw,
                    weft_progress_fn *progress, void *data);

/* The time on a core, in ns, that a sample of the scene's profile stands for; 0: the sample is not drawn (only the
 * samples of one source are). An estimate if the trace does not give it. */
uint64_t weft_scene_sample_ns(const struct weft_scene *s, uint32_t sample);

/* The innermost function of a sample of the scene's profile; if that is not known, the number of functions plus
 * *location, which is where the sample was taken. SIZE_MAX: that is not known, either. */
size_t weft_scene_function(const struct weft_scene *s, const struct weft_sample *sample,
                           uint32_t *location);

/* The source of the profile whose samples are drawn. */
uint32_t weft_scene_source(const struct weft_scene *s);

/* The latest interaction with a promise as the other one that resolves or signals it, at or before that time; at most
 * look_back are read. WEFT_NONE: none. */
uint32_t weft_scene_last_act(const struct weft_scene *s, uint32_t promise, int64_t time_ns,
                             uint32_t look_back);

/* The kinds of things that pictures of the trace can show, whatever is searched or selected: a bit for each (legend.h). */
uint32_t weft_scene_kinds(const struct weft_scene *s);

void weft_scene_free(struct weft_scene *s);
