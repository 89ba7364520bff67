/* SPDX-License-Identifier: ISC */
/* Hands out the events of a trace while it is recorded, each once.
 *     struct weft_follow *f;
 *     rc = weft_follow_open(&f, &in, &err);
 *     while (rc == 0 && the caller wants to) {
 *         rc = weft_follow_look(f, &err);
 *         while (rc == 0 && (n = weft_follow_next(f, &events, &err)) > 0)
 *             use(events, n);
 *         wait();
 *     }
 *     weft_follow_close(f);
 * The first look hands out what the ring has, including promises that were pending when their events were overwritten,
 * as weft_reader_next does. Later looks hand out what was recorded since, in order of time, up to a millisecond ago, so
 * that no thread's events come before those that led to them; only if the program reads the clock once a turn, they
 * may. A look that is not read to its end is handed out again. What is overwritten between two looks is lost, and
 * counted; the first event after it is marked `missing`.
 * A look reads the headers of all packets, and only those packets that have grown.
 * Threads: it belongs to one thread at a time. */
#pragma once

#include "read/input.h"
#include "read/reader.h"

struct weft_follow;

/* in: a file or memory by its descriptor, which is taken over, also on failure. Returns 0 or a negative WEFT_E code:
 * WEFT_E_INVALID if it has no descriptor. */
int weft_follow_open(struct weft_follow **out, struct weft_input *in, struct weft_error *err);

/* Looks for what is new. Returns 0, or a negative WEFT_E code, after which the caller may look again. */
int weft_follow_look(struct weft_follow *f, struct weft_error *err);

/* Like weft_reader_next; 0: that was all that is new. Events have the index of their stream in the table of
 * weft_follow_reader, which differs from look to look; the stream's number in it does not. */
ptrdiff_t weft_follow_next(struct weft_follow *f, const struct weft_event **events,
                           struct weft_error *err);

/* The reader of this look, for its facts; valid until the next look. NULL before the first. Its counts are about this
 * look. */
const struct weft_reader *weft_follow_reader(const struct weft_follow *f);

/* Events up to then, on the clock of weft_monotonic_ns, have been handed out by the looks so far, unless a thread was slow
 * to record them. */
uint64_t weft_follow_until_ns(const struct weft_follow *f);

/* How many events were overwritten before they were handed out, since the first look. */
uint64_t weft_follow_lost(const struct weft_follow *f);

/* f may be NULL. */
void weft_follow_close(struct weft_follow *f);
