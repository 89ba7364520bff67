/* SPDX-License-Identifier: ISC */
/* Who waited for a promise at a given time. Internal to the profile. */
#ifndef WEFT_PROFILE_WAITS_H
#define WEFT_PROFILE_WAITS_H

#include "model/model.h"

struct profile_wait_lists {
    /* parallel to the promises, with one more entry: where its waits begin */
    uint32_t *first;
    uint32_t *interaction; /* those that are waits, sorted by what is waited for, then by time */
};

/* Returns false if there is no memory; fini may be called in any case. */
bool profile_waits_init(struct profile_wait_lists *w, const struct weft_model *m);
void profile_waits_fini(struct profile_wait_lists *w);

/* The promise that has waited for it the longest, or WEFT_NONE. If there are very many waits, only
 * the latest are considered. */
uint32_t profile_waits_first(const struct profile_wait_lists *w, const struct weft_model *m,
                             uint32_t promise, int64_t now);

#endif
