/* SPDX-License-Identifier: ISC */
/* Writes a trace as a CTF 1.8 folder, which babeltrace2 and other CTF readers can open: a file
 * `metadata`, and a file `stream_N` for each stream. From stream 500 on they share one file, in
 * which each packet belongs to one stream. Every packet says when it begins and ends. Events of
 * mirage's traces keep their layout; for weft's own there is a layout in which every kind has all
 * its fields, and types and labels are texts.
 *     struct weft_ctf_writer *w;
 *     if (weft_ctf_writer_open(&w, "folder", NULL, &err) == 0) {
 *         rc = weft_ctf_writer_append(w, &event, &err);
 *         …
 *         rc = weft_ctf_writer_close(w, &err);
 *     }
 * CTF readers refuse a stream in which time runs backwards, and times beyond 2^63 - 1. So an event
 * that is earlier than the one before it in its stream, or later than that limit, gets the time of
 * the one before it; weft_ctf_writer_moved says how many did. If the first event is later than
 * 2^62, which may happen with a clock that does not count from a known moment, all times are
 * relative to it.
 * Threads: a writer belongs to one thread at a time. */
#pragma once

#include <stdint.h>

#include "format/error.h"
#include "format/events.h"
#include "format/tsdl.h"

struct weft_ctf_writer;

/* Fills an empty folder. The caller removes it if this or anything later fails. Files are never
 * opened through a symbolic link, or replaced. trace: what is known about a trace of weft's own;
 * NULL: it is one of mirage's. On success the caller owns *out. Returns 0 or a negative WEFT_E
 * code; *out is then NULL. */
int weft_ctf_writer_open(struct weft_ctf_writer **out, const char *folder,
                         const struct weft_tsdl_trace *trace, struct weft_error *err);

/* Says which OS thread a stream is; call it before the stream's first event. name: up to its NUL or
 * 16 bytes. Returns 0 or WEFT_E_NOMEM. */
int weft_ctf_writer_thread(struct weft_ctf_writer *w, uint32_t stream, uint32_t thread,
                           const char *name, struct weft_error *err);

/* Adds an event to its stream; streams are numbered from 0 without large gaps. Returns 0,
 * WEFT_E_INVALID for a kind that traces of mirage cannot have, WEFT_E_NOMEM or WEFT_E_IO. */
int weft_ctf_writer_append(struct weft_ctf_writer *w, const struct weft_event *ev,
                           struct weft_error *err);

/* How many events had their time changed. */
uint64_t weft_ctf_writer_moved(const struct weft_ctf_writer *w);

/* Writes what is left and frees w, even if that fails. Returns 0 or a negative WEFT_E code. */
int weft_ctf_writer_close(struct weft_ctf_writer *w, struct weft_error *err);

/* Frees w, and leaves the folder as it is. NULL is allowed. */
void weft_ctf_writer_abandon(struct weft_ctf_writer *w);
