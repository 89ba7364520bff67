/* SPDX-License-Identifier: ISC */
/* Reading with two threads: another one decodes the events some thousand ahead of weft_reader_next, which hands out the same
 * ones as otherwise.
 *
 *     weft_reader_read_ahead(r, number_all, &numbering);
 *     while ((n = weft_reader_next(r, &ev, &err)) > 0)
 *         use(ev, n, weft_reader_numbers(r));
 *     weft_reader_stop_ahead(r); */
#pragma once

#include "read/reader.h"

/* What that thread finds out about the events, `events` of them, before they are handed out: numbers that mean what the
 * caller wants. Called for all of them in their order. */
#define WEFT_NUMBERS 3
typedef void weft_number_fn(void *data, const struct weft_event *event, ptrdiff_t events,
                            uint32_t (*number)[WEFT_NUMBERS]);

/* Begins, if the trace is large and there is a second processor; otherwise everything stays as it is. Until weft_reader_next
 * has returned 0 or an error, or weft_reader_stop_ahead was called, only weft_reader_next, weft_reader_progress and the
 * functions below may be asked, and of the facts only what is known since the trace was opened: format, quirks, clock
 * and process. */
void weft_reader_read_ahead(struct weft_reader *r, weft_number_fn *number_all, void *data);

/* Ends the thread; events that were decoded but not handed out are lost. Does nothing if there is none. */
void weft_reader_stop_ahead(struct weft_reader *r);

/* The numbers of the events that were handed out last; NULL: no thread finds any. */
const uint32_t (*weft_reader_numbers(const struct weft_reader *r))[WEFT_NUMBERS];

/* first_ns of the facts, as far as it follows from the events that were handed out. */
uint64_t weft_reader_first(const struct weft_reader *r);
