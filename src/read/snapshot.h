/* SPDX-License-Identifier: ISC */
/* A copy of a trace, weft's own or mirage-profile's, as it was at one moment, even if it is being written to.
 * Whoever writes to it may be malicious: what is allocated besides the copy is bounded by the input's size
 * if the input is memory, or the trace of a process; of that, by what it takes on its disk. The copy is no larger than
 * the input and WEFT_SIGHT_TEXT (read/wall.h) bytes, and a file that it is written to has holes where it is only zeros.
 *
 *     struct weft_snapshot *s;
 *     if (weft_snapshot_begin(&s, &in, &err) > 0)
 *         rc = weft_snapshot_write(s, file, NULL, NULL, &err);
 *     weft_snapshot_free(s);
 *
 * It belongs to one thread at a time. */
#ifndef WEFT_READ_SNAPSHOT_H
#define WEFT_READ_SNAPSHOT_H

#include <stdbool.h>
#include <stdio.h>

#include "read/input.h"

struct weft_snapshot;

/* Sets the moment, and finds the packets. in must stay open. Returns 1; 0 if it neither begins with a packet of
 * mirage's, nor has any of weft's; or a negative WEFT_E code, WEFT_E_LIMIT if memory has more packets than a recorder
 * makes. Unless it is 1, *out is NULL. */
int weft_snapshot_begin(struct weft_snapshot **out, const struct weft_input *in,
                        struct weft_error *err);

/* Who records into it is alive, so that packets may be overwritten while they are copied. (mirage's file does not say
 * it: then only if its writer is WEFT_WRITER_ALIVE.) */
bool weft_snapshot_is_live(const struct weft_snapshot *s);

/* Writes the copy, once. In that of a live trace the facts say that it has been saved, and that it was recorded
 * until then; in that of one whose writer is WEFT_WRITER_DEAD and did not stop, that it was killed. mirage's is as
 * large as the input, and where that does not change the same, byte for byte. What is overwritten meanwhile is counted
 * in the facts only if file can seek. Returns 0 or a negative WEFT_E code; for the file's errors its offset is
 * WEFT_NO_OFFSET. progress may be NULL. */
int weft_snapshot_write(struct weft_snapshot *s, FILE *file, weft_progress_fn *progress, void *data,
                        struct weft_error *err);

/* How large the copy is. */
uint64_t weft_snapshot_bytes(const struct weft_snapshot *s);

/* So many packets were overwritten before they could be copied. */
uint64_t weft_snapshot_gone(const struct weft_snapshot *s);

/* s may be NULL. */
void weft_snapshot_free(struct weft_snapshot *s);

/* Writes the copy into a file or memory by its descriptor, which stays open, once. Returns 0 or a negative WEFT_E code. */
int weft_snapshot_to_fd(struct weft_snapshot *s, int fd, struct weft_error *err);

/* Opens an unnamed file in $TMPDIR, or /tmp; memory if there is no room for files. Returns a descriptor, or a negative
 * WEFT_E code. */
int weft_snapshot_room(struct weft_error *err);

/* Writes the copy into such a file, once. The caller closes *out. Returns 0 or a negative WEFT_E code; *out is then
 * closed. */
int weft_snapshot_to_room(struct weft_snapshot *s, struct weft_input *out, struct weft_error *err);

/* Such a copy of a live trace, whose state stays what it is. Returns 1; 0 if in is not live, or no trace;
 * or a negative WEFT_E code. Unless it is 1, *out is closed. */
int weft_snapshot_of_live(struct weft_input *out, const struct weft_input *in,
                          struct weft_error *err);

#endif
