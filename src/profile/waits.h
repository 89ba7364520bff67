/* SPDX-License-Identifier: ISC */
/* Who waited for a promise at a time; inside of the profile. */
#ifndef WEFT_PROFILE_WAITS_H
#define WEFT_PROFILE_WAITS_H

#include "model/model.h"

struct weft__waits {
    uint32_t *first;       /* beside the promises, and one more: where its waits begin */
    uint32_t *interaction; /* those that are waits, by what is waited for, then by time */
};

/* false: no memory; fini may be called in any case. */
bool weft__waits_init(struct weft__waits *w, const struct weft_model *m);
void weft__waits_fini(struct weft__waits *w);

/* The one who has waited for it the longest, or WEFT_NONE. Of very many waits the latest are looked at. */
uint32_t weft__waits_first(const struct weft__waits *w, const struct weft_model *m,
                           uint32_t promise, int64_t now);

#endif
