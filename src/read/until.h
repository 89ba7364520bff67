/* SPDX-License-Identifier: ISC */
/* Until when a trace of another machine was recorded that is copied while it runs: its last event may be long ago, if
 * it hangs. Its monotonic clock cannot be read from here; its wall clock is ours, if it is right. */
#ifndef WEFT_READ_UNTIL_H
#define WEFT_READ_UNTIL_H

#include <stdint.h>

#include "format/packet.h"

/* One moment by that machine's clocks. */
struct until_pair {
    uint64_t ticks, mono_ns, real_ns;
};

/* The time now (real_ns: our wall clock) on that machine's monotonic clock. p: its newest pair; facts: for what its
 * ticks are; newest: ticks of its newest event, before which it does not lie. If the clocks are evidently not related,
 * it is the time of that event. */
uint64_t read_until_ns(const struct weft_facts_header *facts, const struct until_pair *p,
                       uint64_t newest, uint64_t real_ns);

#endif
