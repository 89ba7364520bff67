/* SPDX-License-Identifier: ISC */
/* Copies a trace, weft's own or mirage-profile's, as it was at one moment, even if it is being
 * written to.
 * Whoever writes to it may be malicious. What is allocated in addition to the copy is bounded by
 * the input's size, if the input is memory or the trace of a process; for a file, by the space it
 * takes on its disk. The copy is at most as large as the input plus WEFT_SIGHT_TEXT (read/wall.h)
 * bytes. If it is written to a file, that file has holes where there are only zeros.
 *     struct weft_snapshot *s;
 *     if (weft_snapshot_begin(&s, &in, &err) > 0)
 *         rc = weft_snapshot_write(s, file, NULL, NULL, &err);
 *     weft_snapshot_free(s);
 * Threads: it belongs to one thread at a time. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "read/input.h"

struct weft_snapshot;

/* Sets the moment and finds the packets. in must stay open. Returns 1; 0 if it neither begins with
 * a packet of mirage's, nor has any of weft's; or a negative WEFT_E code: WEFT_E_LIMIT if memory
 * has more packets than a recorder makes. Unless it returns 1, *out is NULL. */
int weft_snapshot_begin(struct weft_snapshot **out, const struct weft_input *in,
                        struct weft_error *err);

/* Leaves out of the copy what does not belong to a part: of packets of events outside of it, only their headers are copied,
 * and the facts say which part it is. part: a reader of it, which has read the same input to its end, or needs not if
 * the part has all streams and promises. The trace must not be live. s may be NULL: the trace is in another format. Returns 0, WEFT_E_INVALID if it is not in weft's own format, or
 * WEFT_E_NOMEM. Call it before the copy is written. */
struct weft_reader;
int weft_snapshot_keep_part(struct weft_snapshot *s, const struct weft_reader *part,
                            struct weft_error *err);

/* How many packets of events the copy leaves out, and how many there were. */
uint64_t weft_snapshot_left_out(const struct weft_snapshot *s, uint64_t *all);

/* Returns true if the recording process is alive, so that packets may be overwritten while they are
 * copied. (mirage's files do not say so; for them it is true only if the writer is
 * WEFT_WRITER_ALIVE.) */
bool weft_snapshot_is_live(const struct weft_snapshot *s);

/* Writes the copy; call it once. If the trace is live, the facts in the copy say that it was saved,
 * and that it was recorded until then. If its writer is WEFT_WRITER_DEAD and did not stop, they say
 * that it was killed. A copy of mirage's is as large as the input, and equal to it byte for byte
 * where the input does not change. Packets that are overwritten in the meantime are counted in the
 * facts only if file can seek. Returns 0 or a negative WEFT_E code; for errors of the output file,
 * the offset is WEFT_NO_OFFSET. progress may be NULL. */
int weft_snapshot_write(struct weft_snapshot *s, FILE *file, weft_progress_fn *progress, void *data,
                        struct weft_error *err);

/* The size of the copy. */
uint64_t weft_snapshot_bytes(const struct weft_snapshot *s);

/* How many packets were overwritten before they could be copied. */
uint64_t weft_snapshot_gone(const struct weft_snapshot *s);

/* s may be NULL. */
void weft_snapshot_free(struct weft_snapshot *s);

/* Writes the copy to a file or memory by its descriptor, which stays open; call it once. Returns 0
 * or a negative WEFT_E code. */
int weft_snapshot_to_fd(struct weft_snapshot *s, int fd, struct weft_error *err);

/* Opens an unnamed file in $TMPDIR or /tmp, or memory if there is no space for files. Returns a
 * descriptor, or a negative WEFT_E code. */
int weft_snapshot_room(struct weft_error *err);

/* Writes the copy to such a file; call it once. The caller closes *out. Returns 0 or a negative
 * WEFT_E code; *out is then closed. */
int weft_snapshot_to_room(struct weft_snapshot *s, struct weft_input *out, struct weft_error *err);

/* Makes such a copy of a live trace; the state in its facts does not change. Returns 1; 0 if in is
 * not live or not a trace; or a negative WEFT_E code. Unless it returns 1, *out is closed. */
int weft_snapshot_of_live(struct weft_input *out, const struct weft_input *in,
                          struct weft_error *err);
