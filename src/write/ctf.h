/* SPDX-License-Identifier: ISC */
/* Writes a trace as a CTF 1.8 folder, which babeltrace2 and other CTF readers open: a file `metadata`
 * and a file `stream_N` for each stream, in mirage-profile's layout.
 *
 *     struct weft_ctf_writer *w;
 *     if (weft_ctf_writer_open(&w, "folder", &err) == 0) {
 *         rc = weft_ctf_writer_append(w, 0, &event, &err);
 *         …
 *         rc = weft_ctf_writer_close(w, &err);
 *     }
 *
 * CTF readers refuse a stream in which time runs backwards, and times beyond 2^63 - 1. So an event
 * earlier than the one before it in its stream, or later than that, gets the time of the one before it;
 * weft_ctf_writer_moved says how many did. If the first event is later than 2^62, as may be for a clock
 * that does not count from a known moment, all times count from it.
 *
 * Threads: a writer belongs to one thread at a time. */
#ifndef WEFT_WRITE_CTF_H
#define WEFT_WRITE_CTF_H

#include <stdint.h>

#include "format/error.h"
#include "format/events.h"

struct weft_ctf_writer;

/* Creates the folder, which must not exist or be empty. No file is followed through a symbolic link
 * or replaced. On success the caller owns *out. Returns 0 or a negative WEFT_E code; *out is then
 * NULL and nothing is left behind. */
int weft_ctf_writer_open(struct weft_ctf_writer **out, const char *folder, struct weft_error *err);

/* Adds an event to a stream; streams are numbered from 0 without large gaps. Returns 0 or a negative
 * WEFT_E code (as weft_mirage_writer_append). */
int weft_ctf_writer_append(struct weft_ctf_writer *w, uint32_t stream, const struct weft_event *ev,
                           struct weft_error *err);

/* How many events had their time changed. */
uint64_t weft_ctf_writer_moved(const struct weft_ctf_writer *w);

/* Writes what is left and frees w, also when that fails; the folder is then removed as by
 * weft_ctf_writer_abandon. Returns 0 or a negative WEFT_E code. */
int weft_ctf_writer_close(struct weft_ctf_writer *w, struct weft_error *err);

/* Removes what was written, and the folder if it was created; frees w. NULL is allowed. */
void weft_ctf_writer_abandon(struct weft_ctf_writer *w);

#endif
