/* SPDX-License-Identifier: ISC */
#include "view/scene.h"

#include <stdlib.h>

#include "base/aside.h"
#include "profile/join.h"
#include "profile/build.h"
#include "view/density.h"
#include "view/index.h"
#include "view/legend.h"
#include "view/overview.h"

enum { MANY = 50000 }; /* promises and interactions; with fewer, a scene takes less than 10 ms */

/* What a scene has that does not depend on its rows. */
struct rest {
    struct weft_scene *s;
    bool raw, folds;
    int rc;
};

static void make_rest(void *data)
{
    struct rest *r = data;
    struct weft_scene *s = r->s;
    r->rc = view_index_rest(s->x, s->m);
    if (r->rc == 0)
        r->rc = view_overview_new(&s->o, s->m, r->raw);
    if (r->rc == 0 && r->folds)
        r->rc = weft_folds_init(&s->folds, s->m, NULL);
}

static int make_rows(struct weft_scene *s, bool raw, weft_progress_fn *progress, void *data)
{
    TRY(weft_layout_new(&s->l, s->m, raw));
    if (progress && !progress(data, 0.5))
        return WEFT_E_CANCELED;
    return view_index_rows(s->x, s->m, s->l, progress, data);
}

/* Rows take about as long as all the rest, so each is made by a thread of its own. */
static int begin(struct weft_scene **out, const struct weft_model *m, bool raw, bool folds,
                 weft_progress_fn *progress, void *data)
{
    *out = NULL;
    struct weft_scene *s = calloc(1, sizeof *s);
    if (!s)
        return WEFT_E_NOMEM;
    s->m = m;
    s->x = calloc(1, sizeof *s->x);
    struct rest rest = {.s = s, .raw = raw, .folds = folds};
    struct weft_aside aside;
    int rc = s->x ? 0 : WEFT_E_NOMEM;
    if (rc == 0) {
        weft_aside_begin(&aside, make_rest, &rest, (uint64_t)m->promises + m->interactions > MANY);
        if (aside.begun || rest.rc == 0)
            rc = make_rows(s, raw, progress, data);
        weft_aside_end(&aside);
    }
    rc = rc < 0 ? rc : rest.rc;
    if (rc < 0)
        weft_scene_free(s);
    else
        *out = s;
    return rc;
}

int weft_scene_new(struct weft_scene **out, const struct weft_model *m, bool raw,
                   weft_progress_fn *progress, void *data)
{
    return begin(out, m, raw, true, progress, data);
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
    if (rc == 0) { /* no sample is hidden in a fold */
        weft_folds_fini(&s->folds);
        rc = weft_folds_init(&s->folds, s->m, s->p);
    }
    if (rc == 0)
        rc = view_overview_sample(s->o, s);
    if (rc < 0 && s->p) {
        view_density_free(s->d);
        weft_profile_free(s->p);
        s->d = NULL;
        s->p = NULL;
    }
    return rc;
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
    int rc = begin(out, m, raw, !p, progress, data);
    if (rc < 0) {
        weft_profile_free(p);
        return rc;
    }
    rc = p ? weft_scene_set_profile(*out, p) : 0;
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
    weft_folds_fini(&s->folds);
    free(s);
}

uint32_t weft_scene_last_act(const struct weft_scene *s, uint32_t promise, int64_t time_ns,
                             uint32_t look_back)
{
    const struct view_groups *g = &s->x->about;
    uint32_t found = WEFT_NONE, end = g->first[promise / 16 + 1], n = 0;
    for (uint32_t k = g->first[promise / 16]; k < end && n < look_back; k++, n++) {
        const struct weft_interaction *x = &s->m->interaction[g->item[k]];
        if (x->other == promise && x->kind != WEFT_READS && x->kind != WEFT_WAITS &&
            x->time_ns <= time_ns &&
            (found == WEFT_NONE || s->m->interaction[found].time_ns <= x->time_ns))
            found = g->item[k];
    }
    return found;
}

uint32_t weft_scene_kinds(const struct weft_scene *s)
{
    const struct weft_model *m = s->m;
    const uint64_t *n = m->events;
    const bool present[WEFT_KINDS] = {
        [WEFT_KIND_WAITING] = m->promises > 1,
        [WEFT_KIND_RUNNING] = m->runs != 0,
        [WEFT_KIND_PENDING] = m->promises > 1,
        [WEFT_KIND_FAILED] = m->promises > 1,
        [WEFT_KIND_FOLDED] = m->promises > 1,
        [WEFT_KIND_EDGES] = m->promises > 1,
        [WEFT_KIND_READS] = m->interactions != 0,
        [WEFT_KIND_FAILURES] = n[WEFT_EVENT_FAILS] != 0,
        [WEFT_KIND_WAITS] = n[WEFT_EVENT_TRY_READ] != 0,
        [WEFT_KIND_RESOLVES] = m->interactions != 0,
        [WEFT_KIND_SIGNALS] =
            n[WEFT_EVENT_SIGNAL] + n[WEFT_EVENT_SIGNAL_ONLY] + n[WEFT_EVENT_NOTIFIES] != 0,
        [WEFT_KIND_SLEEPS] = m->sleeps != 0,
        [WEFT_KIND_GC] = m->pauses != 0,
        [WEFT_KIND_MISSING] = m->missings != 0 || weft_layout_whole(m) > 0,
        [WEFT_KIND_CPU_PROMISE] = s->d != NULL,
        [WEFT_KIND_CPU_OTHER] = s->d != NULL,
        [WEFT_KIND_INTERRUPTS] = s->d && s->d->p->interrupts,
    };
    uint32_t kinds = 0;
    for (unsigned k = 0; k < WEFT_KINDS; k++)
        kinds |= present[k] ? weft_kind_bit(k) : 0;
    return kinds;
}
