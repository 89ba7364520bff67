/* SPDX-License-Identifier: ISC */
/* A trace file as a sequence of events, in the order in which they were recorded.
 *
 *     struct weft_reader *r;
 *     const struct weft_event *ev;
 *     ptrdiff_t n;
 *     if (weft_reader_open(&r, "net.ctf", &err) == 0) {
 *         while ((n = weft_reader_next(r, &ev, &err)) > 0)
 *             use(ev, n);
 *         weft_reader_close(r);
 *     }
 *
 * The file may be damaged, hostile, or still growing: it is read, never mapped, and memory is
 * bounded by what is really in it. What cannot be read is skipped and counted (weft_reader_damage).
 *
 * Threads: a reader belongs to one thread at a time. */
#ifndef WEFT_READ_READER_H
#define WEFT_READ_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/error.h"
#include "format/events.h"

struct weft_reader;

/* Opens the trace at path ("-": standard input, which is read to its end first), finds its packets
 * and puts them in order. On success the caller owns *out. Returns 0 or a negative WEFT_E code;
 * *out is then NULL. A file in which no packet can be found is WEFT_E_FORMAT; one that is merely
 * damaged opens. */
int weft_reader_open(struct weft_reader **out, const char *path, struct weft_error *err);

void weft_reader_close(struct weft_reader *r);

/* Hands out the next events, some hundreds at a time. *events and the texts in them are the reader's
 * and stay valid until the next call. Returns how many, 0 at the end, or a negative WEFT_E code. */
ptrdiff_t weft_reader_next(struct weft_reader *r, const struct weft_event **events,
                           struct weft_error *err);

/* The stream (OS thread or core) that the events last handed out belong to. */
uint32_t weft_reader_stream(const struct weft_reader *r);

/* What is wrong with the file. */
#define WEFT_DAMAGE_KEPT 16

struct weft_damage {
    uint64_t skipped_bytes;  /* could not be read as packets or events */
    uint64_t problems;       /* how many places */
    uint64_t unknown_types;  /* creations with a type that is not in the table; kept */
    uint64_t backward_times; /* events earlier than the one before them; kept */
    uint64_t half_written;   /* last events that the writer had not finished (0 or 1); left out */
    struct weft_error
        first[WEFT_DAMAGE_KEPT]; /* the first min(problems, WEFT_DAMAGE_KEPT) places */
};

/* What has been found so far; complete once weft_reader_next has returned 0. */
const struct weft_damage *weft_reader_damage(const struct weft_reader *r);

struct weft_reader_facts {
    const char *format; /* "mirage" */
    const char *clock;  /* what is known of it, for people */
    uint64_t file_bytes;
    uint64_t packets; /* that hold events */
    uint64_t unused_packets;
    uint64_t content_bytes;       /* headers and events, without unused tails */
    uint64_t overwritten_packets; /* before the oldest one; mirage says it modulo 2^16 only */
    uint64_t missing_packets;     /* gaps in the sequence numbers */
    uint32_t streams;
    bool wrapped; /* the oldest packet is not the first one in the file */
};

const struct weft_reader_facts *weft_reader_facts(const struct weft_reader *r);

/* How much of the content has been handed out, 0 to 1: for progress on long work. */
double weft_reader_progress(const struct weft_reader *r);

#endif
