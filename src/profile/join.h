/* SPDX-License-Identifier: ISC */
/* Joins samples and promises on one time axis: each sample belongs to the promise that ran on its
 * thread at that time. */
#pragma once

#include "base/order.h"
#include "model/model.h"
#include "profile/profile.h"

/* Sets promise and gap of samples and absences, and stream of threads; p->model is then m
 * (borrowed: it must outlive the queries). A thread is found by its number, and by its process if
 * that is known. Linear in samples + runs, plus sorting. p must be finished. Returns 0; 1 if the
 * samples are from another machine, or another boot of it, so that nothing can be joined (p->model
 * is then NULL); or WEFT_E_NOMEM. */
int weft_profile_join(struct weft_profile *p, const struct weft_model *m);

/* The first sample at that time of the model, or later. p is joined with m. */
static inline uint32_t weft_profile_first_at(const struct weft_profile *p,
                                             const struct weft_model *m, int64_t time_ns)
{
    uint32_t low = 0, high = p->samples;
    WEFT_SEEK(low, high, weft_model_time(p->sample[middle].time_ns, m->first_ns) < time_ns);
    return low;
}

/* For each promise of the model, the one on whose behalf it runs: a request, a connection. It is its
 * outermost creator below the event loop, or below the nearest creator that is marked background (an
 * accept loop starts things that do not belong to it). If there is none, or creators form a circle,
 * it is the promise itself. WEFT_NONE for the loop. In linear time. The caller frees it. NULL: no
 * memory. */
uint32_t *weft_profile_roots(const struct weft_model *m);
