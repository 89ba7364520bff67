/* SPDX-License-Identifier: ISC */
/* Finds the trace in a core file: the program recorded into its own memory, or its shared mappings
 * were dumped. */
#ifndef WEFT_READ_CORE_H
#define WEFT_READ_CORE_H

#include "read/input.h"

/* If in is a core file, replaces in with a copy, in memory, of the newest complete weft trace in
 * it. If it only has other packets of weft's or mirage's, like the memory of a whole machine, in
 * stays as it is. Returns 0 or a negative WEFT_E code if there is no trace in it. */
int read_core_open(struct weft_input *in, struct weft_error *err);

#endif
