/* SPDX-License-Identifier: ISC */
/* The reader of weft's own traces; internal.
 *   weft.c     finds the packets and puts them in order; the table of streams
 *   samples.c  packets of samples
 *   merge.c    reads packets and hands out their events in order of time
 *   process.c  the packet of facts
 *   texts.c    texts and sites
 *   names.c    what places in code in them are called
 *   pending.c  what was kept about pending promises whose events were overwritten
 *   undated.c  … without the time of their creation
 *   cells.c    the cells of class 5, as they are
 *   drained.c  packets of items from OCaml's rings
 *   snapshot.c copies of traces that are being recorded (snapshot.h); scan.c: their packets; until.c: their end
 *   clock.c    ticks to nanoseconds
 *   wall.c     … and to the wall clock */
#pragma once

#include "base/array.h"
#include "base/idmap.h"
#include "base/order.h"
#include "format/forms.h"
#include "read/clock.h"
#include "read/ocaml.h"
#include "read/packets.h"
#include "read/state.h"
#include "read/texts.h"
#include "read/wall.h"

/* A packet of events. */
struct packet {
    uint64_t offset;   /* in the file */
    uint64_t content;  /* bytes, including its header; at most what is there */
    uint64_t sequence; /* not 0 */
    uint64_t begin_ticks, begin_ns;
    uint64_t end_ticks; /* 0: not closed */
    uint64_t base;
    uint64_t events_before, discarded_before;
    uint32_t header_bytes;
    uint32_t stream;                /* index; the stream's number until the streams are sorted */
    uint32_t ended_at, ended_count; /* its ended bytes, in the header; or 0 */
    uint64_t overwritten;           /* events overwritten in its place of the pool, before it */
    bool newest;                    /* of its stream */
    bool chosen;                    /* the part has events of it (choose.h) */
    bool cut;                       /* the file ends within its content */
};

/* A packet of another class. */
struct place {
    uint64_t offset, size, content; /* content as above; 0: there is none */
    uint32_t header_bytes;
};

/* The state of a stream while its events are handed out. */
struct stream_state {
    uint64_t running; /* what runs after its last event; 0: there was no event yet */
    uint64_t first;   /* events before the first one that is there */
    /* events up to the last one handed out, including those that are not there */
    uint64_t next;
    bool gap, missing; /* before the next event that is known: as in struct weft_event */
};

/* Streams in the file are found by their numbers. */
struct streams {
    struct weft_stream_facts *stream;
    struct stream_state *state; /* of each */
    uint32_t count, room, state_room;
    struct weft_idmap *index; /* by number */
};

/* A cell of the packet of pending promises, as it was read. */
struct known {
    uint64_t id; /* without the mark */
    uint32_t place;
    bool resolved; /* the mark */
    bool ended;    /* an emptied packet says so */
    bool gone;     /* the promise became one that has ended */
    bool again;    /* the promise has an earlier cell, too */
    /* Of a promise's first cell: what all its cells say. */
    bool over;     /* it has ended */
    uint64_t link; /* what it became, or 0 */
    struct weft_pending_cell cell;
};

struct cells {
    struct weft_pending_header h;
    const struct weft_input *in; /* where they are read from */
    uint64_t offset;             /* of their packet */
    struct weft_error *err;
    struct known *known; /* cells in use, in the order of their places */
    uint64_t knowns;
    uint32_t room;
};

/* A packet of events that was emptied and not yet begun again. It says which of its promises had
 * ended while the recorder kept what it knew about the pending ones. */
struct emptied {
    uint64_t base, count; /* base first: they are sorted by it */
    uint64_t *bits;
};

struct emptieds {
    struct emptied *packet;
    size_t packets;
    uint32_t room;
    size_t sorted; /* packets that are sorted */
};

/* A kept event. */
struct promoted {
    uint64_t ns, id, other;
    uint32_t site, text, stream;
    uint8_t kind;
    uint8_t order; /* order among events with the same time */
    bool undated;  /* a creation of which only the site is known, or a mark that comes with it */
};

/* Promises that were pending when their creation or other events were overwritten. */
struct pending {
    struct promoted *event; /* in order of time; those from next on have not been handed out */
    uint64_t events, next;
    uint32_t room;
    uint64_t next_ns; /* time of the next one; UINT64_MAX: only those that come last are left */
    struct endings *endings; /* or NULL: all endings are there */
};

struct sample_place {
    struct place in;
    uint64_t sequence;
};

/* Packets of samples, in their order. */
struct samples {
    struct sample_place *place;
    uint64_t places;
    uint32_t room;
    uint64_t next; /* the next to hand out */
    unsigned char *packet;
    size_t packet_room;
};

/* Packets of items from OCaml's rings. */
struct drained {
    struct drained_packet *packet;
    uint64_t packets;
    uint32_t room;
    struct read_ocaml o;
    bool on; /* the trace consists of them */
};

struct merge;

struct weft_file {
    struct weft_reader common;
    uint8_t uuid[16];
    bool has_uuid;
    struct packet *packet; /* in the order in which they begin */
    uint64_t packets;
    uint32_t packets_room;
    struct place strings, facts, pending, roll;
    struct weft_given_up *sort; /* facts.promotion points into it */
    uint32_t sorts;
    struct texts texts;
    struct clock clock;
    struct wall wall;
    char clock_text[96];
    struct streams streams;
    struct pending pending_events;
    uint64_t pending_age; /* age of the packet at pending: the larger, the newer */
    /* events overwritten in places that are being handed to another stream */
    uint64_t in_transition;
    uint64_t changing; /* such places that may not be counted among the overwritten ones yet */
    struct emptieds emptied;
    struct drained drained;
    struct samples samples;
    uint64_t in_pool;   /* … and in the other places of the pool */
    bool joined;        /* it has packets twice: files were joined */
    bool cut_off;       /* a part is read, and packets come after it */
    char *process_text; /* facts.process points into it */
    const char **arg, **remark;
    struct weft_outside_links *outside_link;
    uint32_t outside_links_room, remarks_room;
    uint32_t trace_state;          /* from the facts, or 0 */
    struct weft_facts_pause pause; /* from the facts, or zeros */
    uint32_t pool_packet_bytes;
    uint64_t pool_at, pool_packets; /* 0: this file was not made by the recorder */
    unsigned char *window;
    struct merge *merge;
};

/* Reads the packet at f->facts, if there is one, into the facts and the clock. */
int read_process_load(struct weft_file *f, struct weft_error *err);

/* Sets when the recording was paused; call it once the clock is known. */
void read_process_pause(struct weft_file *f);

/* The index of the stream with that number; adds it if it is new. WEFT_NO_STREAM: no memory. */
#define WEFT_NO_STREAM WEFT_STREAM_NONE
uint32_t read_streams_add(struct streams *s, uint32_t number, uint32_t thread, const char name[16]);

/* The index of the stream with that number, or WEFT_NO_STREAM. */
uint32_t read_streams_find(const struct streams *s, uint32_t number);

/* Reads a packet of pending promises. Returns 1; 0 if its tables are not within it; or a negative
 * code. The caller calls fini in every case. */
int read_cells_load(struct cells *c, const struct weft_input *in, const struct place *p,
                    struct weft_error *err);

void read_cells_fini(struct cells *c);

/* If the packet at that offset was emptied, reads its ended bytes. It may have size bytes; h: its
 * header. Returns 0 or a negative code. */
int read_emptied_add(struct emptieds *e, const struct weft_input *in, uint64_t at, uint64_t size,
                     const struct weft_events_header *h, struct weft_error *err);

/* Marks the cells whose promises had ended, according to the emptied packets. */
void read_emptied_mark(struct emptieds *e, struct cells *c);

void read_emptied_fini(struct emptieds *e);

/* Returns true if the tables of a roll lie within its packet. */
bool read_roll_fits(const struct weft_roll_header *h, uint64_t header_bytes, uint64_t content);

/* Calls use for each place on the roll, with the number and the sort of a promise (format/packet.h), in no order; use
 * returns false if there is no memory. Returns 0 or a negative code. */
typedef bool roll_use_fn(void *data, uint64_t word);
int read_roll_numbers(struct weft_file *f, roll_use_fn *use, void *data, struct weft_error *err);

/* Reads the packet at f->roll, if there is one, into the facts. The texts must be loaded. Returns 0
 * or a negative code. */
int read_roll_load(struct weft_file *f, const struct cells *cells, struct weft_error *err);

/* Reports that there is no memory for promises. */
int read_no_promises(struct weft_error *err);

/* Reads the packet at f->pending and the ended bytes. The packets must be in order. Returns 0 or a
 * negative code. */
int read_pending_load(struct weft_file *f, struct weft_error *err);

/* Gives the kept creations that have no time one, before the kept events are sorted. There may be a packet with the
 * creation of such a promise if maybe_there. Returns 0 or a negative code. */
int read_undated_place(struct weft_file *f, bool maybe_there, struct weft_error *err);

/* Returns true if a cell or a packet mentions the promise, so that its number on the roll adds
 * nothing. */
bool read_pending_tells(const struct weft_file *f, uint64_t id);

/* Takes note of an event that creates or ends a promise; call it only if there are endings. Returns
 * false if there is no memory. */
bool read_pending_see(struct endings *e, const struct weft_event *ev);

/* Returns true if an event, as well as a cell, says that the promise was created. e may be NULL. */
bool read_pending_was_created(const struct endings *e, uint64_t id);

/* Gives the next promise that has ended, though no event says so; call it only after the last
 * event. Returns false if there is none. */
bool read_pending_ended(struct endings *e, uint64_t *id, uint64_t *ns);

void read_pending_fini(struct pending *p);

/* weft_reader_was_overwritten, for traces in which all pending promises are known. */
bool read_pending_overwritten(const struct weft_reader *r, uint64_t id);

/* Reads a packet's header, of size bytes, which belongs to the owner whose sequence number is there both before and
 * after reading it. *sequence: that number, in the header; 0: there is no owner, or it changes. Returns 1; 0 if the file
 * has become shorter; or a negative code. */
int read_one_owner(struct weft_file *f, void *header, size_t size, uint64_t *sequence,
                   uint64_t offset, struct weft_error *err);

/* Stores the place of a packet of samples. Returns 0 or a negative code. */
int read_samples_add(struct weft_file *f, const struct read_packet *p, struct weft_error *err);

/* Call it once all packets are known. */
void read_samples_sort(struct weft_file *f);

/* See weft_reader_next_samples. */
ptrdiff_t read_samples_next(struct weft_reader *r, const void **packet, uint64_t *offset,
                            struct weft_error *err);

/* Stores the place of a packet of items from OCaml's rings. Returns 0 or a negative code. */
int read_drained_add(struct weft_file *f, const struct read_packet *p, struct weft_error *err);

/* Call it once all packets are known. If there are packets of items and none of events, the trace
 * consists of them. Returns 0 or a negative code. */
int read_drained_begin(struct weft_file *f, struct weft_error *err);

void read_drained_fini(struct drained *d);

/* Calls look for each event of the packets that are there, one packet after the other. The event has no texts, and
 * its time is in ticks. Returns 0 or a negative code. */
typedef void read_look_fn(void *data, const struct weft_event *ev);
int read_merge_look(struct weft_file *f, read_look_fn *look, void *data, struct weft_error *err);

/* Calls use for each packet of events that the part has: of a stream or a promise, once all events have been handed
 * out, only those with such events. offset: in the file. Returns false if use did. */
bool read_part_packets(const struct weft_reader *r, bool (*use)(void *data, uint64_t offset),
                       void *data);

int read_merge_begin(struct weft_file *f, struct weft_error *err);
ptrdiff_t read_merge_next(struct weft_reader *r, struct weft_error *err);
void read_merge_end(struct merge *m);
