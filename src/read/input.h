/* SPDX-License-Identifier: ISC */
/* The bytes of a file, wherever they come from, at any offset. Not mapped: somebody may truncate it. */
#ifndef WEFT_READ_INPUT_H
#define WEFT_READ_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "format/error.h"

struct weft_input {
    int fd;        /* -1: none */
    uint64_t size; /* when it was opened; what is appended later is not seen */
};

/* Opens path for reading. "-" (standard input), pipes and sockets are read to their end into memory.
 * Returns 0 or a negative WEFT_E code; in->fd is then -1. */
int weft_input_open(struct weft_input *in, const char *path, struct weft_error *err);

void weft_input_close(struct weft_input *in);

/* Reads up to size bytes at offset. Returns how many: fewer only at the end of the file. */
ptrdiff_t weft_input_read(const struct weft_input *in, void *buffer, size_t size, uint64_t offset,
                          struct weft_error *err);

#endif
