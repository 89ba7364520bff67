/* SPDX-License-Identifier: ISC */
/* Copies mirage-profile's ring as it was at one moment, even if it is being written to. Internal to
 * snapshot.c. */
#ifndef WEFT_READ_SNAPSHOT_MIRAGE_H
#define WEFT_READ_SNAPSHOT_MIRAGE_H

#include <stdio.h>
#include <sys/types.h>

#include "read/input.h"

struct read_mirage_copy;

/* Returns 1 if the input begins with a packet of mirage-profile's, 0 if not, or a negative WEFT_E code. */
int read_is_mirage(const struct weft_input *in, struct weft_error *err);

/* Sets the moment and finds the packets. in must stay open. Returns 1; 0 if the input is not
 * mirage's; or a negative WEFT_E code. Unless it returns 1, *out is NULL. */
int read_mirage_copy_begin(struct read_mirage_copy **out, const struct weft_input *in,
                           struct weft_error *err);

/* Writes the copy; call it once. It is as large as the input, and equal to it byte for byte where
 * nothing has changed. start: where it begins in the file; -1: the file cannot seek. Returns 0 or a
 * negative WEFT_E code. */
int read_mirage_copy_write(struct read_mirage_copy *c, FILE *file, off_t start,
                           weft_progress_fn *progress, void *data, struct weft_error *err);

/* The size of the copy, and how many packets were overwritten before they could be copied. */
uint64_t read_mirage_copy_bytes(const struct read_mirage_copy *c);
uint64_t read_mirage_copy_gone(const struct read_mirage_copy *c);

/* c may be NULL. */
void read_mirage_copy_free(struct read_mirage_copy *c);

#endif
