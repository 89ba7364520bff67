/* SPDX-License-Identifier: ISC */
/* Samples made ready to be drawn as strips: how long each thread was on a core, and how much of that a promise ran,
 * for any stretch of time without walking through the samples in it. Private to src/view.
 *
 * A sample stands for its period: for time before it that the thread was on a core, as far as that is known. So the
 * time on a core until a moment is a line with bends, of which every VIEW_STRETCHES-th is kept. Only the
 * busiest threads have a strip of their own; all others are one. */
#ifndef WEFT_VIEW_DENSITY_H
#define WEFT_VIEW_DENSITY_H

#include "profile/profile.h"
#include "view/scene.h"

#define VIEW_STRIPS 8     /* at most */
#define VIEW_STRETCHES 32 /* in a block */

struct view_stretches {
    uint64_t before_ns, before_promise_ns; /* until the first of a block */
    int64_t end_ns;                        /* of that one */
};

/* Stretches of time, by their ends; they do not overlap. */
struct view_series {
    uint32_t count;
    uint32_t *item;               /* sample or interrupt that each is of */
    uint32_t *length;             /* of each, ns */
    struct view_stretches *block; /* and one that holds all of it */
};

struct view_strip {
    uint32_t thread;  /* of the profile; WEFT_NONE: several */
    uint32_t threads; /* how many */
    struct view_series samples, interrupts;
};

struct weft_density {
    const struct weft_profile *p;
    uint64_t first_ns;  /* of the model: where its times begin */
    uint32_t source;    /* the samples that are shown: those of which there are most */
    uint64_t period_ns; /* that a sample stands for; 0: each says so itself */
    bool estimated;     /* … from how far they are apart */
    uint32_t strips;    /* the busiest first */
    struct view_strip strip[VIEW_STRIPS];
};

/* p is finished, and joined with m. *out is NULL where nothing can be drawn: there are no samples. Returns 0 or
 * WEFT_E_NOMEM. */
int view_density_new(struct weft_density **out, const struct weft_profile *p,
                     const struct weft_model *m);
void view_density_free(struct weft_density *d);

struct view_on_core {
    uint64_t on_ns, promise_ns; /* on a core; of that while a promise ran */
};

/* Until a time of the model. *hint: a block to look from, as it was left by a call for an earlier time, or 0. */
struct view_on_core view_density_until(const struct weft_density *d, uint32_t strip,
                                       int64_t time_ns, uint32_t *hint);
uint64_t view_density_interrupted(const struct weft_density *d, uint32_t strip, int64_t time_ns,
                                  uint32_t *hint);

/* What a sample stands for, ns. */
uint64_t view_density_weight(const struct weft_density *d, const struct weft_sample *s);

/* The samples of a strip whose time on a core reaches into [from, to): first and, excluded, last place in the
 * series. */
void view_density_between(const struct weft_density *d, uint32_t strip, int64_t from_ns,
                          int64_t to_ns, uint32_t *first, uint32_t *last);

#endif
