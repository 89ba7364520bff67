/* SPDX-License-Identifier: ISC */
#pragma once

#include "read/input.h"

/* Compresses in by zstd into fd, an empty file: the blocks of read/columns.h, a frame each, a mark with that number, and a table of the frames as
 * in zstd's seekable format. *bytes: what was written. Returns 0 or a negative WEFT_E code. */
int watch_pack(const struct weft_input *in, int fd, uint64_t number, uint64_t *bytes,
               struct weft_error *err);

/* The number of a file that was written so; 0: it was not. */
uint64_t watch_pack_number(int fd);
