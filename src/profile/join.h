/* SPDX-License-Identifier: ISC */
/* Samples and promises on one time axis: each sample belongs to the promise that ran on its thread then. */
#ifndef WEFT_PROFILE_JOIN_H
#define WEFT_PROFILE_JOIN_H

#include "profile/profile.h"

/* Fills promise and gap of samples and absences, and stream of threads; p->model is m afterwards (borrowed: it must live as
 * long as it is asked for). A thread is found by its number, and by its process where that is known. Linear in
 * samples + runs (log for the sort). p is finished. 0; 1 if the samples are of another machine, or of another boot of
 * it, so that nothing can be joined (p->model is NULL then); or WEFT_E_NOMEM. */
int weft_profile_join(struct weft_profile *p, const struct weft_model *m);

/* On whose behalf the promise runs: a request, a connection. Its outermost creator below the event loop, or below
 * the nearest one that is marked background (an accept loop begins what does not belong to it). The promise itself if
 * there is none; WEFT_NONE for WEFT_NONE and for the loop. Bounded even where creators form a circle; linear in
 * the number of creators, so ask weft_profile_roots if it is for many. */
uint32_t weft_profile_root(const struct weft_model *m, uint32_t promise);

/* The same for each promise of the model, in linear time. The caller frees it. NULL: no memory. */
uint32_t *weft_profile_roots(const struct weft_model *m);

#endif
