/* SPDX-License-Identifier: ISC */
/* Reader of weft's own traces; its inside.
 *
 *   weft.c     finds the packets and puts them in order
 *   merge.c    reads packets and hands out their events in order of time
 *   process.c  the packet of facts
 *   streams.c  the table of streams
 *   texts.c    texts and sites
 *   clock.c    ticks to nanoseconds */
#ifndef WEFT_READ_WEFT_H
#define WEFT_READ_WEFT_H

#include "format/forms.h"
#include "read/clock.h"
#include "read/state.h"
#include "read/texts.h"

/* A packet of events. */
struct packet {
    uint64_t offset;   /* in the file */
    uint64_t content;  /* bytes, its header included; at most what is there */
    uint64_t sequence; /* not 0 */
    uint64_t begin_ticks, begin_ns;
    uint64_t events_before, discarded_before;
    uint32_t header_bytes;
    uint32_t stream; /* index; its number until they are sorted */
    bool newest;     /* of its stream */
    bool cut;        /* the file ends within its content */
};

/* A packet of another class. */
struct place {
    uint64_t offset, size, content; /* content as above; 0: there is none */
    uint32_t header_bytes;
};

/* Those that come from the file are found by their numbers. */
struct streams {
    struct weft_stream_facts *stream;
    uint64_t *running; /* of each, what runs after its last event; 0: there was none yet */
    uint32_t count, room;
    uint32_t *slot; /* hash table: index plus 1; 0: free */
    uint32_t slots; /* a power of two, more than twice the count */
    uint64_t factor;
};

struct merge;

struct weft_file {
    struct weft_reader common;
    uint8_t uuid[16];
    bool has_uuid;
    struct packet *packet; /* in the order in which they begin */
    uint64_t packets, packets_room;
    struct place strings, facts;
    uint64_t skipped_at; /* offset of the last packet that was skipped but for its header */
    struct texts texts;
    struct clock clock;
    char clock_text[96];
    struct streams streams;
    char *process_text; /* that facts.process points into */
    const char **arg;
    uint32_t trace_state; /* of the facts, or 0 */
    unsigned char *window;
    struct merge *merge;
};

/* Reads the packet at f->facts, if there is one, into the facts and the clock. */
int weft__process_load(struct weft_file *f, struct weft_error *err);

/* The index of the stream with that number, new if need be. WEFT_NO_STREAM: no memory. */
#define WEFT_NO_STREAM UINT32_MAX
uint32_t weft__streams_add(struct streams *s, uint32_t number, uint32_t thread,
                           const char name[16]);

/* Puts them in the order of their numbers. */
void weft__streams_sort(struct streams *s);

/* The index of the stream with that number, which is there. */
uint32_t weft__streams_index(const struct streams *s, uint32_t number);

void weft__streams_fini(struct streams *s);

int weft__merge_begin(struct weft_file *f, struct weft_error *err);
ptrdiff_t weft__merge_next(struct weft_reader *r, struct weft_error *err);
double weft__merge_progress(const struct weft_reader *r);
void weft__merge_end(struct merge *m);

#endif
