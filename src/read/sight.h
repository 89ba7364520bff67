/* SPDX-License-Identifier: ISC */
/* Finds the offset between the clock of another machine and this one's, from the trace that the
 * other machine records into memory that both can read. Its wall clock may be wrong or differ from
 * the one here: a guest that has just booted may be tens of milliseconds behind. But if an event
 * was not there a moment ago and is there now, it was recorded in between.
 *     struct weft_sight sight;
 *     if (weft_sight_take(&sight, &in, 20))
 *         in.sight = &sight;                    copies of it then store this */
#pragma once

#include <stdbool.h>

#include "read/input.h"
#include "read/wall.h"

/* Watches the trace for at most that many milliseconds, until enough events have been recorded.
 * Returns false if none was. in: memory that others write to. Whatever they write, the worst result
 * is a wrong sight. */
bool weft_sight_take(struct weft_sight *out, const struct weft_input *in, unsigned most_ms);
