/* SPDX-License-Identifier: ISC */
/* Which events belong to the part of a trace that one stream, or one promise, has to do with.
 *
 * Of a stream these are all of its events; of a promise, those about it and about what it depends on: what it waited for, what
 * it became, and so on from these. They are handed out as they are. Where events of a stream are left out before one of them, it
 * says so (gap, missing), so nothing seems to run longer than it did.
 *
 * They name other promises: who created those that they are about, who resolved them. What happened to these is handed
 * out too, marked as promoted: how they were created, called, what they became, and how they ended. So no promise seems to be
 * pending that is not. If such an event names a promise of which nothing else is handed out, it names the loop
 * instead.
 *
 * To find this, the part between the two times is read twice before it is handed out. Memory grows with the promises in
 * it: 16 bytes for each creation and for each wait. */
#pragma once

#include "read/state.h"

struct read_choice;

/* Reads the trace in `in`, within those times on its clock, which becomes what was really read, if that is a copy; on failure
 * it is closed. Returns 0 or a negative WEFT_E code. */
int read_choice_new(struct read_choice **out, struct weft_input *in, const struct weft_part *part,
                    uint64_t from_ns, uint64_t to_ns, struct weft_error *err);

/* Returns true if the event is handed out, perhaps changed. number: of its stream. If it has been called with the event
 * before, and returned true, it does so again, and changes nothing. */
bool read_choice_takes(struct read_choice *c, struct weft_event *ev, uint64_t number);

void read_choice_free(struct read_choice *c);
