/* SPDX-License-Identifier: ISC */
/* A copy of a trace of weft's own as it was at one moment, also of one that is written to meanwhile.
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

/* Sets the moment, and finds the packets. in must stay open. Returns 1; 0 if there is no packet of weft's
 * in it; or a negative WEFT_E code. Unless it is 1, *out is NULL. */
int weft_snapshot_begin(struct weft_snapshot **out, const struct weft_input *in,
                        struct weft_error *err);

/* The process that records into it is alive, so that packets may be overwritten while they are copied. */
bool weft_snapshot_is_live(const struct weft_snapshot *s);

/* Writes the copy, once. In that of a live trace the facts say that it has been saved. What is overwritten
 * meanwhile is counted in the facts only if file can seek. Returns 0 or a negative WEFT_E code; for the
 * file's errors its offset is WEFT_NO_OFFSET. progress may be NULL. */
int weft_snapshot_write(struct weft_snapshot *s, FILE *file, weft_progress_fn *progress, void *data,
                        struct weft_error *err);

/* How large the copy is. */
uint64_t weft_snapshot_bytes(const struct weft_snapshot *s);

/* So many packets were overwritten before they could be copied. */
uint64_t weft_snapshot_gone(const struct weft_snapshot *s);

/* s may be NULL. */
void weft_snapshot_free(struct weft_snapshot *s);

/* Writes the copy into memory, once. The caller closes *out. Returns 0 or a negative WEFT_E code; *out is then
 * closed. */
int weft_snapshot_to_memory(struct weft_snapshot *s, struct weft_input *out,
                            struct weft_error *err);

/* A copy in memory of a live trace, whose state stays what it is. Returns 1; 0 if in is not live, or no trace
 * of weft's; or a negative WEFT_E code. Unless it is 1, *out is closed. */
int weft_snapshot_of_live(struct weft_input *out, const struct weft_input *in,
                          struct weft_error *err);

#endif
