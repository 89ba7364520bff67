/* SPDX-License-Identifier: ISC */
/* Promises that were ended a second time: the first end counts, though somebody relies on the second. */
#ifndef WEFT_ANALYSE_TWICE_H
#define WEFT_ANALYSE_TWICE_H

#include "analyse/names.h"

/* The interactions (RESOLVES_AGAIN) by which a promise was ended again, or, for WEFT_ROOT, any promise was; the first
 * ones, at most room of them. What was cancelled before may well be resolved later, and is not among them where all are
 * asked for. Returns how many there are. Linear in the interactions. */
uint64_t weft_ended_again(const struct weft_model *m, uint32_t promise, uint32_t *first,
                          uint32_t room);

#endif
