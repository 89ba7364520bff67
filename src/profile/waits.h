/* SPDX-License-Identifier: ISC */
/* Who waited for a promise at a time; inside of the profile. */
#ifndef WEFT_PROFILE_WAITS_H
#define WEFT_PROFILE_WAITS_H

#include "model/model.h"

struct profile_wait_lists {
    uint32_t *first;       /* beside the promises, and one more: where its waits begin */
    uint32_t *interaction; /* those that are waits, by what is waited for, then by time */
};

/* false: no memory; fini may be called in any case. */
bool profile_waits_init(struct profile_wait_lists *w, const struct weft_model *m);
void profile_waits_fini(struct profile_wait_lists *w);

/* The one who has waited for it the longest, or WEFT_NONE. Of very many waits the latest are looked at. */
uint32_t profile_waits_first(const struct profile_wait_lists *w, const struct weft_model *m,
                             uint32_t promise, int64_t now);

#endif
