/* SPDX-License-Identifier: ISC */
/* How the clock of another machine stands to this one's, from the trace that it records in memory which both can read.
 * Its wall clock need not be right, and need not be the same as here: a guest that has just booted may be tens of
 * milliseconds behind. But an event that was not there yet a moment ago, and is there now, was recorded in between.
 *
 *     struct weft_sight sight;
 *     if (weft_sight_take(&sight, &in, 20))
 *         in.sight = &sight;                    what is copied of it says so */
#ifndef WEFT_READ_SIGHT_H
#define WEFT_READ_SIGHT_H

#include <stdbool.h>

#include "read/input.h"
#include "read/wall.h"

/* Looks at the trace for at most that many milliseconds, until enough events have been recorded. Returns false if none
 * was. in: memory that others write to, whatever they write; at worst the sight is wrong. */
bool weft_sight_take(struct weft_sight *out, const struct weft_input *in, unsigned most_ms);

#endif
