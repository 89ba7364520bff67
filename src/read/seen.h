/* SPDX-License-Identifier: ISC */
/* What has been handed out of a trace that is followed (follow.h); internal. A packet is known by its sequence number,
 * which no other packet of the trace has, also in a copy. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/idmap.h"

struct seen_packet {
    uint64_t sequence;
    uint64_t bytes; /* of its content, with the header, that were handed out */
};

/* A stream after its last event that was handed out. */
struct seen_stream {
    uint64_t next;    /* events up to there, including those that are lost */
    uint64_t running; /* what runs */
};

struct read_seen {
    bool begun;              /* something was handed out before this look */
    uint64_t until_ns;       /* events later than this come in another look */
    struct seen_packet *old; /* sorted by sequence */
    uint64_t olds;
    uint32_t old_room;
    struct seen_packet *new; /* after this look */
    uint64_t news;
    uint32_t new_room;
    struct seen_stream *stream;
    uint32_t streams, streams_room;
    struct weft_idmap *by_number; /* the streams */
    uint64_t lost;
};

/* How many bytes of that packet were handed out before this look; 0: none. */
uint64_t read_seen_bytes(const struct read_seen *s, uint64_t sequence);

/* The packet has now been handed out up to there. Returns false if there is no memory. */
bool read_seen_note(struct read_seen *s, uint64_t sequence, uint64_t bytes);

/* What is known of the stream with that number, which is added. NULL: no memory. Valid until the next call. */
struct seen_stream *read_seen_stream(struct read_seen *s, uint32_t number);

/* The look was read to its end. */
void read_seen_end(struct read_seen *s);
