/* SPDX-License-Identifier: ISC */
#include "view/scene.h"

#include <stdlib.h>

#include "profile/join.h"
#include "profile/build.h"
#include "view/density.h"
#include "view/index.h"
#include "view/overview.h"

int weft_scene_new(struct weft_scene **out, const struct weft_model *m, bool raw,
                   weft_progress_fn *progress, void *data)
{
    *out = NULL;
    struct weft_scene *s = calloc(1, sizeof *s);
    if (!s)
        return WEFT_E_NOMEM;
    s->m = m;
    int rc = weft_layout_new(&s->l, m, raw);
    if (rc == 0 && progress && !progress(data, 0.5))
        rc = WEFT_E_CANCELED;
    if (rc == 0)
        rc = view_index_new(&s->x, m, s->l, progress, data);
    if (rc == 0)
        rc = view_overview_new(&s->o, m);
    if (rc < 0)
        weft_scene_free(s);
    else
        *out = s;
    return rc;
}

int weft_scene_set_profile(struct weft_scene *s, struct weft_profile *p)
{
    view_density_free(s->d);
    weft_profile_free(s->p);
    s->d = NULL;
    s->p = NULL;
    int rc = p ? view_density_new(&s->d, p, s->m) : 0;
    if (rc < 0 || !s->d)
        weft_profile_free(p);
    else
        s->p = p;
    return rc < 0 ? rc : view_overview_sample(s->o, s);
}

/* Only its samples say when a trace without events begins and ends. */
static void take_times(struct weft_model *m, const struct weft_profile *p)
{
    if (m->events_total || m->promoted_events || m->end_ns > 0)
        return;
    m->first_ns = p->first_ns;
    m->end_ns = weft_model_time(p->last_ns, p->first_ns);
}

/* Reads the samples of a file and joins them with its model; *out is NULL if there are none. */
static int read_profile(struct weft_profile **out, struct weft_model *m, struct weft_reader *r)
{
    struct weft_error err;
    struct weft_profile *p = weft_profile_new();
    *out = NULL;
    if (!p)
        return WEFT_E_NOMEM;
    int rc = weft_profile_load_trace(p, r, &err);
    if (rc == 0 && p->samples) {
        rc = weft_profile_finish(p);
        if (rc == 0) {
            take_times(m, p);
            rc = weft_profile_join(p, m);
        }
        if (rc == 0) {
            *out = p;
            return 0;
        }
    }
    weft_profile_free(p);
    return rc == WEFT_E_NOMEM ? rc : 0;
}

int weft_scene_load(struct weft_scene **out, struct weft_model *m, struct weft_reader *r, bool raw,
                    weft_progress_fn *progress, void *data)
{
    struct weft_profile *p;
    *out = NULL;
    TRY(read_profile(&p, m, r));
    int rc = weft_scene_new(out, m, raw, progress, data);
    if (rc < 0) {
        weft_profile_free(p);
        return rc;
    }
    rc = weft_scene_set_profile(*out, p);
    if (rc < 0) {
        weft_scene_free(*out);
        *out = NULL;
    }
    return rc;
}

uint64_t weft_scene_sample_ns(const struct weft_scene *s, uint32_t sample)
{
    const struct weft_sample *x = &s->p->sample[sample];
    return x->source == s->d->source ? view_density_weight(s->d, x) : 0;
}

size_t weft_scene_function(const struct weft_scene *s, const struct weft_sample *sample,
                           uint32_t *location)
{
    const struct weft_profile *p = s->p;
    uint32_t stack = sample->stack;
    *location = stack && stack < p->stacks ? p->stack[stack].location : WEFT_NONE;
    if (*location >= p->locations)
        return SIZE_MAX;
    const struct weft_location *l = &p->location[*location];
    uint32_t function = l->frames ? p->frame[l->first_frame].function : WEFT_NONE;
    return function < p->functions ? function : (size_t)p->functions + *location;
}

uint32_t weft_scene_source(const struct weft_scene *s)
{
    return s->d ? s->d->source : 0;
}

void weft_scene_free(struct weft_scene *s)
{
    if (!s)
        return;
    weft_layout_free(s->l);
    view_index_free(s->x);
    view_density_free(s->d);
    view_overview_free(s->o);
    weft_profile_free(s->p);
    free(s);
}
