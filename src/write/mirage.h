/* SPDX-License-Identifier: ISC */
/* Writes a trace in mirage-profile's format: events in, packets out.
 *     struct weft_mirage_writer *w;
 *     if (weft_mirage_writer_open(&w, file, NULL, &err) == 0) {
 *         rc = weft_mirage_writer_append(w, &event, &err);
 *         …
 *         rc = weft_mirage_writer_close(w, &err);
 *     }
 * Sequence numbers count packets modulo 2^16. A packet is only as long as its content: there is no
 * unused tail. A trace without events has one packet without events, so that it is still recognised
 * as a trace.
 * Threads: a writer belongs to one thread at a time. */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "format/error.h"
#include "format/events.h"

struct weft_mirage_writer;

struct weft_mirage_options {
    /* at most, including the header; 0: 1 MiB. An event that is too large for that gets its own
     * packet */
    uint32_t packet_bytes;
    uint16_t first_sequence; /* number of the first packet */
};

/* Packets are written to file, which still belongs to the caller and may be a pipe; options may be
 * NULL. On success the caller owns *out. Returns 0 or WEFT_E_NOMEM; *out is then NULL. */
int weft_mirage_writer_open(struct weft_mirage_writer **out, FILE *file,
                            const struct weft_mirage_options *options, struct weft_error *err);

/* Adds an event; its text is copied. Returns 0, WEFT_E_INVALID for a kind that mirage-profile
 * lacks, WEFT_E_LIMIT for a text that is too long for any packet (512 MiB), WEFT_E_NOMEM or
 * WEFT_E_IO. After WEFT_E_IO the file is of no use. */
int weft_mirage_writer_append(struct weft_mirage_writer *w, const struct weft_event *ev,
                              struct weft_error *err);

/* Writes what is left, flushes the file and frees w, even if that fails. Returns 0 or WEFT_E_IO. */
int weft_mirage_writer_close(struct weft_mirage_writer *w, struct weft_error *err);

/* Frees w without writing what is left. NULL is allowed. */
void weft_mirage_writer_abandon(struct weft_mirage_writer *w);
