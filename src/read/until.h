/* SPDX-License-Identifier: ISC */
/* Estimates until when a trace of another machine was recorded, if it is copied while it is live.
 * Its last event may be long ago if the program hangs. The other machine's monotonic clock cannot
 * be read from here; its wall clock equals ours, if it is right. */
#ifndef WEFT_READ_UNTIL_H
#define WEFT_READ_UNTIL_H

#include <stdint.h>

#include "format/packet.h"

/* One moment on both clocks of that machine. */
struct until_pair {
    uint64_t ticks, mono_ns, real_ns;
};

/* The current time (real_ns: our wall clock) on that machine's monotonic clock. p: its newest pair;
 * facts: they define its ticks; newest: ticks of its newest event; the result is never earlier. If
 * the clocks are clearly unrelated, it is the time of that event. */
uint64_t read_until_ns(const struct weft_facts_header *facts, const struct until_pair *p,
                       uint64_t newest, uint64_t real_ns);

#endif
