/* SPDX-License-Identifier: ISC */
/* Samples made ready to be drawn as strips: how long each thread was on a core, and how much of that a promise ran,
 * for any stretch of time without walking through the samples in it. Private to src/view.
 *
 * A sample stands for its period: for time before it that the thread was on a core, as far as that is known. So the
 * time on a core until a moment is a line with bends, of which every WEFT__STRETCHES-th is kept. Only the
 * busiest threads have a strip of their own; all others are one. */
#ifndef WEFT_VIEW_DENSITY_H
#define WEFT_VIEW_DENSITY_H

#include "profile/profile.h"
#include "view/scene.h"

#define WEFT__STRIPS 8     /* at most */
#define WEFT__STRETCHES 32 /* in a block */

struct weft__stretches {
    uint64_t before_ns, before_promise_ns; /* until the first of a block */
    int64_t end_ns;                        /* of that one */
};

/* Stretches of time, by their ends; they do not overlap. */
struct weft__series {
    uint32_t count;
    uint32_t *item;                /* sample or interrupt that each is of */
    uint32_t *length;              /* of each, ns */
    struct weft__stretches *block; /* and one that holds all of it */
};

struct weft__strip {
    uint32_t thread;  /* of the profile; WEFT_NONE: several */
    uint32_t threads; /* how many */
    struct weft__series samples, interrupts;
};

struct weft_density {
    const struct weft_profile *p;
    uint64_t first_ns;  /* of the model: where its times begin */
    uint32_t source;    /* the samples that are shown: those of which there are most */
    uint64_t period_ns; /* that a sample stands for; 0: each says so itself */
    bool estimated;     /* … from how far they are apart */
    uint32_t strips;    /* the busiest first */
    struct weft__strip strip[WEFT__STRIPS];
};

/* p is finished, and joined with m. *out is NULL where nothing can be drawn: there are no samples. Returns 0 or
 * WEFT_E_NOMEM. */
int weft__density_new(struct weft_density **out, const struct weft_profile *p,
                      const struct weft_model *m);
void weft__density_free(struct weft_density *d);

struct weft__on_core {
    uint64_t on_ns, promise_ns; /* on a core; of that while a promise ran */
};

/* Until a time of the model. *hint: a block to look from, as it was left by a call for an earlier time, or 0. */
struct weft__on_core weft__density_until(const struct weft_density *d, uint32_t strip,
                                         int64_t time_ns, uint32_t *hint);
uint64_t weft__density_interrupted(const struct weft_density *d, uint32_t strip, int64_t time_ns,
                                   uint32_t *hint);

/* What a sample stands for, ns. */
uint64_t weft__density_weight(const struct weft_density *d, const struct weft_sample *s);

/* The samples of a strip whose time on a core reaches into [from, to): first and, excluded, last place in the
 * series. */
void weft__density_between(const struct weft_density *d, uint32_t strip, int64_t from_ns,
                           int64_t to_ns, uint32_t *first, uint32_t *last);

#endif
