/* SPDX-License-Identifier: ISC */
/* A copy of mirage-profile's ring as it was at one moment, even if it is being written to. Internal to
 * snapshot.c. */
#ifndef WEFT_READ_SNAPSHOT_MIRAGE_H
#define WEFT_READ_SNAPSHOT_MIRAGE_H

#include <stdio.h>
#include <sys/types.h>

#include "read/input.h"

struct read_mirage_copy;

/* Returns 1 if the input begins with a packet of mirage-profile's, 0 if not, or a negative WEFT_E code. */
int read_is_mirage(const struct weft_input *in, struct weft_error *err);

/* Sets the moment, and finds the packets. in must stay open. Returns 1; 0 if it is no such input; or a negative WEFT_E
 * code. Unless it is 1, *out is NULL. */
int read_mirage_copy_begin(struct read_mirage_copy **out, const struct weft_input *in,
                           struct weft_error *err);

/* Writes the copy, once: as large as the input, and where nothing has changed, byte for byte. start: where it begins in
 * the file; -1: one cannot go back in it. Returns 0 or a negative WEFT_E code. */
int read_mirage_copy_write(struct read_mirage_copy *c, FILE *file, off_t start,
                           weft_progress_fn *progress, void *data, struct weft_error *err);

/* How large it is, and how many packets were overwritten before they could be copied. */
uint64_t read_mirage_copy_bytes(const struct read_mirage_copy *c);
uint64_t read_mirage_copy_gone(const struct read_mirage_copy *c);

/* c may be NULL. */
void read_mirage_copy_free(struct read_mirage_copy *c);

#endif
