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

#include "profile/profile.h"
#include "view/layout.h"

struct weft_scene {
    const struct weft_model *m; /* borrowed */
    struct weft_layout *l;
    struct weft_index *x;
    struct weft_profile
        *p; /* samples of the same time, joined with the model; owned; NULL: there are none */
    struct weft_density *d; /* of them; NULL: none to be drawn */
};

/* On success the caller owns *out, and keeps the model as long. progress may be NULL. Returns 0,
 * WEFT_E_NOMEM or WEFT_E_CANCELED; *out is then NULL. */
int weft_scene_new(struct weft_scene **out, const struct weft_model *m, bool raw,
                   weft_progress_fn *progress, void *data);

/* Samples of the trace that the scene is of: they are drawn with it, and asked for what ran. Takes over p, which is
 * finished and joined with the scene's model, also where it fails; NULL, or one without samples: none. Before the
 * scene is drawn for the first time. Returns 0 or WEFT_E_NOMEM; the scene is then without samples.
 * Texts may be added to a profile while it is asked: that is for one thread. */
int weft_scene_set_profile(struct weft_scene *s, struct weft_profile *p);

/* The scene of a trace with the samples that are in its file: r is the reader of which the model was just built. A
 * model without events gets the times of its samples. Samples that cannot be read are left out. Returns as
 * weft_scene_new. */
int weft_scene_load(struct weft_scene **out, struct weft_model *m, struct weft_reader *r, bool raw,
                    weft_progress_fn *progress, void *data);

/* How long a thread was on a core by a sample of the scene's profile, ns; 0: it is not one of those that are drawn
 * (of several things that trigger samples, one). Where nothing says it, an estimate. */
uint64_t weft_scene_sample_ns(const struct weft_scene *s, uint32_t sample);

/* Which those are: a source of the profile. */
uint32_t weft_scene_source(const struct weft_scene *s);

void weft_scene_free(struct weft_scene *s);

#endif
