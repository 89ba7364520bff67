/* SPDX-License-Identifier: ISC */
#include <stdbool.h>

#include "read/snapshot_parts.h"
#include "read/wide.h"

#define SECOND UINT64_C(1000000000)

/* On a machine without a wall clock it begins at 1970. A time before 2010 cannot be right for a
 * recording. */
#define EARLIEST_NS (UINT64_C(1262304000) * SECOND)

static uint64_t add_saturating(uint64_t a, uint64_t b)
{
    return b < UINT64_MAX - a ? a + b : UINT64_MAX;
}

static uint64_t to_ns(uint64_t ticks, uint64_t hz)
{
    return wide_scaled(ticks, SECOND, hz ? hz : SECOND);
}

/* The event's time on the axis of mono_ns. Without an operating system (no process), the clock of
 * the events is the monotonic one. */
static uint64_t event_ns(const struct weft_facts_header *f, const struct until_pair *p,
                         uint64_t ticks)
{
    if (f->clock == WEFT_CLOCK_MONOTONIC)
        return ticks;
    if (f->clock == WEFT_CLOCK_CALLER)
        return f->pid ? p->mono_ns : to_ns(ticks, f->hz);
    if (ticks < p->ticks)
        return p->mono_ns; /* its packet cannot begin after it was read */
    return add_saturating(p->mono_ns, to_ns(ticks - p->ticks, f->hz));
}

uint64_t read_until_ns(const struct weft_facts_header *facts, const struct until_pair *p,
                       uint64_t newest, uint64_t real_ns)
{
    const uint64_t event = event_ns(facts, p, newest);
    const bool related = p->real_ns >= EARLIEST_NS && p->real_ns <= add_saturating(real_ns, SECOND);
    const uint64_t since = related && real_ns > p->real_ns ? real_ns - p->real_ns : 0;
    const uint64_t now = add_saturating(p->mono_ns, since);
    return related && now > event ? now : event;
}
