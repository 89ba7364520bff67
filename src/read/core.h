/* SPDX-License-Identifier: ISC */
/* The trace in a core file: of a program that recorded into memory of its own, or whose shared mappings are dumped. */
#ifndef WEFT_READ_CORE_H
#define WEFT_READ_CORE_H

#include "read/input.h"

/* If in, a file, is a core file: in becomes a copy in memory of the newest whole trace of weft's in it. Other packets of
 * weft's or mirage's in it, such as those of a whole machine's memory, leave it as it is. Returns 0 or a negative WEFT_E
 * code: there is no trace in it. */
int read_core_open(struct weft_input *in, struct weft_error *err);

#endif
