/* SPDX-License-Identifier: ISC */
/* What a record of perf's rings means: it is handed out in the sampler's own words. */
#ifndef WEFT_SAMPLE_HAND_H
#define WEFT_SAMPLE_HAND_H

#include "sample/state.h"

/* Hands out the record at bytes, if it is something that is handed out; count says so. Returns whether to go on. */
bool sample_hand_out(struct weft_sampler *s, struct sample_ring *ring, const uint8_t *bytes,
                     uint32_t size, weft_sampled_fn *fn, void *data, ptrdiff_t *count);

/* The ring has lost total records so far. True: out says those that were not told yet. */
bool sample_hand_lost(struct weft_sampler *s, struct sample_ring *ring, uint64_t total,
                      struct weft_sampled *out);

/* A mapping is about to be handed out: the unwinder takes note of it. False: no memory. */
bool sample_hand_mapping(struct weft_sampler *s, const struct weft_sampled *r);

#endif
