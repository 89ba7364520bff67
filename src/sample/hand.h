/* SPDX-License-Identifier: ISC */
/* Decodes a record of perf's rings and passes it to the caller in the sampler's own terms. */
#ifndef WEFT_SAMPLE_HAND_H
#define WEFT_SAMPLE_HAND_H

#include "sample/state.h"

/* Passes the record at bytes to fn, if it is of a kind that callers see, and counts it in count. Returns true
 * to continue. */
bool sample_hand_out(struct weft_sampler *s, struct sample_ring *ring, const uint8_t *bytes,
                     uint32_t size, weft_sampled_fn *fn, void *data, ptrdiff_t *count);

/* Called when a ring reports how many records it has lost so far. Returns true, with out filled in, if some
 * were not reported yet. */
bool sample_hand_lost(struct weft_sampler *s, struct sample_ring *ring, uint64_t total,
                      struct weft_sampled *out);

/* Called before a mapping is handed out: the unwinder notes it. Returns false if there is no memory. */
bool sample_hand_mapping(struct weft_sampler *s, const struct weft_sampled *r);

#endif
