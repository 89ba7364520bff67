/* SPDX-License-Identifier: ISC */
#pragma once

#include "read/input.h"

/* If in is compressed by zstd, replaces it with its contents, in an unnamed file. They may be 1 GiB, or 64 times as
 * large as in. Returns 0 or a negative WEFT_E code; in then stays as it is. */
int read_unpack(struct weft_input *in, struct weft_error *err);
