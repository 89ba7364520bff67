/* SPDX-License-Identifier: ISC */
/* What the two halves of copying weft's own traces (see snapshot.c) share: what was found in the
 * source, and where the copy is. Internal to snapshot*.c. */
#pragma once

#include "format/walk.h"
#include "read/snapshot.h"
#include "read/weft.h"

/* ---- Walking through the packets (scan.c) ---- */

/* Others write to them: the recorder, or a malicious program. Everything is copied first; only the
 * copy is checked and used. */

struct weft_snapshot;

/* "part=", five numbers, and a NUL. */
enum { READ_PART_TEXT = 128 };

/* A packet. Its sizes are plausible, and no packet overlaps another. */
struct spot {
    uint64_t at;
    uint64_t bytes; /* the size it claims, or up to the end of the input */
    struct weft_packet_header h;
};

/* Sets the limits. */
void read_scan_init(struct weft_snapshot *s);

/* Called for each packet of a pass. Returns 0 or a negative WEFT_E code. */
typedef int scan_fn(struct weft_snapshot *s, const struct spot *p);

/* Returns 1; 0 if there is no packet; or a negative WEFT_E code. */
int read_scan_packets(struct weft_snapshot *s, scan_fn *fn);

/* Reads the header of a packet of events that has `bytes` bytes, in one piece. Returns 1; 0 if it
 * was never used, or is in transition (its sequence is then 0); or a negative WEFT_E code. Fields
 * that an older header does not have are 0. */
int read_scan_header(struct weft_snapshot *s, uint64_t at, uint64_t bytes,
                     struct weft_events_header *h);

/* Reads only the sequence number. */
ptrdiff_t read_scan_sequence(struct weft_snapshot *s, uint64_t at, uint64_t *sequence);

/* Counts memory that is going to be used. Returns 0 or WEFT_E_LIMIT. */
int read_scan_spend(struct weft_snapshot *s, uint64_t bytes);

/* Makes space for one more item in an array. Returns 0 or a negative WEFT_E code. */
int read_scan_grow(struct weft_snapshot *s, void *array, size_t used, uint32_t *room, size_t item);

/* Makes the buffer at least that large. Returns 0 or a negative WEFT_E code. */
int read_scan_reserve(struct weft_snapshot *s, uint64_t bytes);

/* ---- Until when it was recorded (until.c) ---- */

/* For a trace of another machine that is copied while it is live. Its last event may be long ago if
 * the program hangs. The other machine's monotonic clock cannot be read from here; its wall clock
 * equals ours, if it is right. */

/* One moment on both clocks of that machine. */
struct until_pair {
    uint64_t ticks, mono_ns, real_ns;
};

/* The current time (real_ns: our wall clock) on that machine's monotonic clock. p: its newest pair;
 * facts: they define its ticks; newest: ticks of its newest event; the result is never earlier. If
 * the clocks are clearly unrelated, it is the time of that event. */
uint64_t read_until_ns(const struct weft_facts_header *facts, const struct until_pair *p,
                       uint64_t newest, uint64_t real_ns);

/* ---- mirage-profile's ring (snapshot_mirage.c) ---- */

struct read_mirage_copy;

/* Returns 1 if the input begins with a packet of mirage-profile's, 0 if not, or a negative WEFT_E code. */
int read_is_mirage(const struct weft_input *in, struct weft_error *err);

/* Sets the moment and finds the packets. in must stay open. Returns 1; 0 if the input is not
 * mirage's; or a negative WEFT_E code. Unless it returns 1, *out is NULL. */
int read_mirage_copy_begin(struct read_mirage_copy **out, const struct weft_input *in,
                           struct weft_error *err);

/* Writes s->mirage to s->out, once, and sets s->written and s->gone. The copy is as large as the
 * input, and equal to it byte for byte where nothing has changed. start: where it begins in the file;
 * -1: the file cannot seek. Returns 0 or a negative WEFT_E code. */
int read_mirage_copy_write(struct weft_snapshot *s, off_t start, weft_progress_fn *progress,
                           void *data);

/* c may be NULL. */
void read_mirage_copy_free(struct read_mirage_copy *c);

/* ---- weft's own traces ---- */

/* A packet of the source. */
struct piece {
    uint64_t at;
    uint64_t room;      /* bytes up to the next packet: in the copy it gets no more */
    uint64_t sequence;  /* 0: no events */
    uint64_t bytes;     /* of its content when it was found; 0: all of it */
    uint64_t end_ticks; /* 0: not closed, or no events */
    uint64_t overwritten;
    uint32_t events; /* UINT32_MAX: it was not closed yet */
    uint16_t class;
    bool left_out; /* it lies outside of the part that is copied: only its header is written */
};

/* What had ended, before the moment, among the promises of a packet of events, or those in a packet
 * of pending promises (sequence 0): a bit for each, or the number with a mark. */
struct ended {
    uint64_t at, sequence, end_ticks;
    /* events overwritten in its place once it is overwritten; only if it was closed */
    uint64_t overwritten;
    uint64_t count;
    uint64_t *word; /* numbers of cells; or the lowest two bits of each ended byte */
};

/* Ended bytes in the copy that were read late. */
struct late {
    uint64_t at; /* in the copy */
    uint32_t count;
    const struct ended *before; /* or NULL: none of them had ended */
};

/* A place on the roll, as it was before the cells were read. */
struct on_roll {
    uint64_t word;
    bool still; /* it was still there when the roll was read */
};

struct weft_snapshot {
    const struct weft_input *in;
    /* or NULL: the trace is weft's own, and the rest is about that */
    struct read_mirage_copy *mirage;
    uint64_t packets_max; /* packets in one pass; if there are more, it is WEFT_E_LIMIT */
    uint64_t memory_left; /* bytes that may still be allocated; beyond that it is WEFT_E_LIMIT */
    uint64_t retries;     /* attempts left for reading a header in one piece */
    struct weft_facts_header facts; /* the facts at the beginning of the file, if there are any */
    bool has_facts, recording, live;
    bool keeps_state; /* the facts in the copy keep the state of the source's */
    bool sampling;    /* it is being written by weft sample */
    /* CLOCK_REALTIME at the moment; only for a live trace of another machine */
    uint64_t now_real_ns;
    struct until_pair pair; /* from the newest packet */
    uint64_t pair_sequence;
    FILE *out;
    bool leaves_holes; /* in out, where there are only zeros */
    uint64_t written;
    struct piece *piece;
    size_t pieces;
    uint32_t pieces_room;
    struct ended *ended; /* sorted by offset */
    size_t endeds;
    uint32_t endeds_room;
    struct late *late;
    size_t lates;
    uint32_t lates_room;
    unsigned char *buffer; /* for one packet */
    uint64_t buffer_room;
    struct on_roll *on_roll; /* sorted by number */
    size_t on_rolls;
    struct emptieds emptied; /* packets, found in step 1 */
    uint64_t newest;         /* ticks of the newest event that was seen */
    uint64_t moment;         /* the copy holds nothing newer */
    uint64_t overwritten;    /* events, in all places */
    /* ticks: whatever was closed earlier than this was closed before step 1 began */
    uint64_t closed;
    /* events that end promises, recorded after step 1, may have been overwritten */
    bool lossy;
    uint64_t listed, copied, gone; /* packets of events */
    uint64_t left_out;             /* … of those listed, only headers */
    char part[READ_PART_TEXT];     /* what the facts say of the part; empty: the copy is whole */
    uint64_t last_listed, last_copied; /* their sequence numbers */
    /* the facts that the copy begins with, as they were read */
    struct weft_facts_header facts_copy;
    bool says_pause; /* … and a weft_facts_pause follows them */
    uint64_t facts_at;
    bool begins_with_facts;
    unsigned facts_found; /* how many packets of facts there are */
    struct weft_error *err;
};

/* ---- Looking ---- */

/* Steps 1 to 3: finds out what belongs in the copy. Returns 1; 0 if there is no packet; or a
 * negative WEFT_E code. */
int read_snapshot_look(struct weft_snapshot *s);

/* Reads the facts at the beginning of the source, if there are any, and checks whether it is live.
 * Returns 0 or a negative WEFT_E code. */
int read_snapshot_read_facts(struct weft_snapshot *s);

/* Returns true if the process that records, according to these facts of the source, is alive. */
bool read_snapshot_alive(const struct weft_snapshot *s, const struct weft_facts_header *facts);

/* What had ended in the packet at that offset, or NULL. */
const struct ended *read_snapshot_ended_at(const struct weft_snapshot *s, uint64_t at);

/* Counts a packet that was overwritten. It was closed at that time (0: not yet). */
void read_snapshot_lose(struct weft_snapshot *s, uint64_t end_ticks);

/* Reads up to that many bytes into the buffer. Returns how many, or a negative WEFT_E code. */
ptrdiff_t read_snapshot_get(struct weft_snapshot *s, uint64_t at, uint64_t bytes);

/* Returns the offset of the first event in the packet that is newer than limit, or the end of the
 * events. h: the header to use instead of the one in the bytes. *last: raised to the time of the
 * events before that one. */
uint64_t read_snapshot_walk(const struct weft_events_header *h, const unsigned char *packet,
                            uint64_t bytes, uint64_t limit, uint64_t *last);

/* Reads a packet of pending promises. The caller must release the cells in any case. Returns 1; 0
 * if it is damaged; or a negative WEFT_E code. */
int read_snapshot_load_cells(struct weft_snapshot *s, const struct spot *p, struct cells *cells);

static inline uint8_t read_ended_bits(const struct ended *e, uint64_t i)
{
    return (uint8_t)(e && i < e->count ? e->word[i / 32] >> i % 32 * 2 & 3 : 0);
}

/* ---- Copying ---- */

/* Steps 4 to 6: writes the copy. start: where in the file; -1: the file cannot seek. Returns 0 or a
 * negative WEFT_E code. */
int read_snapshot_write_packets(struct weft_snapshot *s, off_t start, weft_progress_fn *progress,
                                void *data);

/* Sets the error from errno. */
int read_snapshot_cannot_write(struct weft_error *err);
