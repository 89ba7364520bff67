/* SPDX-License-Identifier: ISC */
/* Reader of mirage-profile's traces; weft_reader's inside. */
#ifndef WEFT_READ_MIRAGE_H
#define WEFT_READ_MIRAGE_H

#include <stdbool.h>

#include "read/input.h"
#include "read/reader.h"

struct weft_packet {
    uint64_t offset;   /* of its header in the file */
    uint64_t first_ns; /* time of its first event */
    uint64_t number;   /* sequence number, unwrapped; only differences are meaningful */
    uint32_t content;  /* bytes of header and events that are really there */
    uint16_t sequence; /* as in the file */
    bool cut;          /* the file ends within its content */
};

#define WEFT_BATCH 256

struct weft_reader {
    struct weft_input input;
    struct weft_reader_facts facts;
    struct weft_damage damage;

    struct weft_packet *packet; /* those with events; in the order of recording once sorted */
    uint64_t packets, packets_room;

    /* Where decoding is. The window holds bytes [window_at, window_at + window_size) of the file. */
    uint64_t current;  /* packet */
    uint64_t position; /* in the file; 0: the packet has not been begun */
    unsigned char *window;
    uint64_t window_at;
    size_t window_size, window_room;
    uint64_t last_ns;       /* time of the event before */
    uint64_t stale_checked; /* up to this offset the newest packet has no unfinished tail */
    uint64_t done_bytes;    /* content of the packets before current */
    uint64_t skipped_at;    /* the last packet that was skipped but for its header */
    bool begun;             /* last_ns is that of an event */
    struct weft_event batch[WEFT_BATCH];
};

/* Counts a problem at that offset of the file, and keeps its text if it is one of the first. */
void weft__reader_problem(struct weft_reader *r, uint64_t offset, uint64_t skipped_bytes,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Finds the packets of r->input and puts them in order. 0 or a negative WEFT_E code. */
int weft__mirage_index(struct weft_reader *r, struct weft_error *err);

/* As weft_reader_next. */
ptrdiff_t weft__mirage_next(struct weft_reader *r, struct weft_error *err);

#endif
