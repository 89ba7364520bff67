/* SPDX-License-Identifier: ISC */
/* The graph as a trace, so that all that reads traces can read it. Each thing is a promise: its type is its kind, its label
 * its name, a second label its state. What it waits for is a wait that has not ended, and who holds a lock holds it. Nothing
 * has ended; what runs does. All of it is at one moment, except for the beginnings that the system knows, of threads and
 * processes. The facts of the trace (docs/format.md, "outside") say that it was made like this, and count what a trace cannot
 * say: kinds of links, stacks, and that any one of several things suffices. */
#pragma once

#include "now/now.h"

/* Writes it to a file, which is empty, and open for reading and writing. The promise of thing i has the number i + 1. One
 * thread at a time in the process. Returns 0 or a negative WEFT_E code. */
int now_trace(const struct now *n, int fd, struct weft_error *err);
