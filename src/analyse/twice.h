/* SPDX-License-Identifier: ISC */
/* Promises that were ended a second time: the first end counts, though somebody relies on the
 * second. */
#ifndef WEFT_ANALYSE_TWICE_H
#define WEFT_ANALYSE_TWICE_H

#include "analyse/names.h"

/* Finds the interactions (RESOLVES_AGAIN) that ended a promise again (WEFT_ROOT: any promise);
 * stores the first ones, at most room. With WEFT_ROOT, promises that were cancelled first are left
 * out, since it is normal that they are resolved later. Returns how many there are. Linear in the
 * interactions. */
uint64_t weft_ended_again(const struct weft_model *m, uint32_t promise, uint32_t *first,
                          uint32_t room);

#endif
