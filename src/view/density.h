/* SPDX-License-Identifier: ISC */
/* Prepares samples for drawing as strips. For any stretch of time it says how long each thread was on a core and how
 * much of that a promise ran, without reading the samples in that stretch. Private to src/view.
 *
 * A sample stands for its period: for time before it that the thread was on a core, as far as that is known. So the
 * total time on a core is a piecewise linear function of time; every VIEW_STRETCHES-th of its bends is stored. Only the
 * busiest threads have a strip of their own; all others share one. */
#pragma once

#include "profile/profile.h"
#include "view/scene.h"

#define VIEW_STRIPS 8     /* at most this many strips */
#define VIEW_STRETCHES 32 /* stretches per block */

struct view_stretches {
    uint64_t before_ns, before_promise_ns; /* sum up to the first stretch of a block */
    int64_t end_ns;                        /* start of that stretch */
};

/* Stretches of time, by their ends; they do not overlap. */
struct view_series {
    uint32_t count;
    uint32_t *item;               /* the sample or interrupt of each stretch */
    uint32_t *length;             /* of each, ns */
    struct view_stretches *block; /* the longest stretch */
};

struct view_strip {
    uint32_t thread;  /* of the profile; WEFT_NONE: several */
    uint32_t threads; /* how many */
    struct view_series samples, interrupts;
};

struct weft_density {
    const struct weft_profile *p;
    uint64_t first_ns;  /* of the model: where its times begin */
    uint32_t source;    /* which samples are shown: those of the most frequent source */
    uint64_t period_ns; /* time that a sample stands for; 0: each sample has its own */
    bool estimated;     /* … from the gaps between the samples */
    uint32_t strips;    /* the busiest first */
    struct view_strip strip[VIEW_STRIPS];
};

/* p must be finished and joined with m. *out is NULL if there are no samples to be drawn. Returns 0 or WEFT_E_NOMEM. */
int view_density_new(struct weft_density **out, const struct weft_profile *p,
                     const struct weft_model *m);
void view_density_free(struct weft_density *d);

struct view_on_core {
    uint64_t on_ns, promise_ns; /* on a core; of that while a promise ran */
};

/* The sums of a strip up to a time of the model: of its samples, or how long it was interrupted (on_ns). *hint is the
 * block to search from: 0, or what a call for an earlier time left in it. */
enum view_series_kind { VIEW_SAMPLES, VIEW_INTERRUPTS, VIEW_SERIES };
struct view_on_core view_density_until(const struct weft_density *d, uint32_t strip,
                                       enum view_series_kind kind, int64_t time_ns, uint32_t *hint);

/* The time that a sample stands for, ns. */
uint64_t view_density_weight(const struct weft_density *d, const struct weft_sample *s);

/* The samples of a strip whose time on a core reaches into [from, to): the first place in the series and the one after
 * the last. */
void view_density_between(const struct weft_density *d, uint32_t strip, int64_t from_ns,
                          int64_t to_ns, uint32_t *first, uint32_t *last);
