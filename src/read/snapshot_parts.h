/* SPDX-License-Identifier: ISC */
/* What the two halves of a copy of weft's own trace (see snapshot.c) have in common: what has been found in the
 * source, and where the copy is. Internal to snapshot*.c. */
#ifndef WEFT_READ_SNAPSHOT_PARTS_H
#define WEFT_READ_SNAPSHOT_PARTS_H

#include "read/scan.h"
#include "read/snapshot.h"
#include "read/snapshot_mirage.h"
#include "read/until.h"
#include "read/weft.h"

/* A packet of the source. */
struct piece {
    uint64_t at;
    uint64_t room;      /* bytes up to the next one: it gets no more in the copy */
    uint64_t sequence;  /* 0: no events */
    uint64_t bytes;     /* of its content, when it was found; 0: all of it */
    uint64_t end_ticks; /* 0: not closed, or no events */
    uint64_t overwritten;
    uint32_t events; /* UINT32_MAX: it was not closed yet */
    uint16_t class;
};

/* What was known to have ended, before the moment, of the promises of a packet of events, or those in a
 * packet of pending ones (sequence 0): of each a bit, or the number that is marked. */
struct ended {
    uint64_t at, sequence, end_ticks;
    uint64_t overwritten; /* in its place, once it is overwritten; if it was closed */
    uint64_t count;
    uint64_t *word; /* numbers of cells; or two bits for each ended byte, its lowest */
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
    bool still; /* when the roll was read */
};

struct weft_snapshot {
    const struct weft_input *in;
    struct read_mirage_copy *mirage; /* or NULL: it is weft's own; the rest is about that */
    struct scan scan;
    struct weft_facts_header facts; /* with which the file begins, if it does */
    bool has_facts, recording, live;
    bool keeps_state;       /* the copy's facts have the state of the source's */
    uint64_t now_real_ns;   /* CLOCK_REALTIME at the moment; only if another machine's is live */
    struct until_pair pair; /* the newest packet's */
    uint64_t pair_sequence;
    FILE *out;
    bool leaves_holes; /* in out, where there are only zeros */
    uint64_t written;
    struct piece *piece;
    size_t pieces, pieces_room;
    struct ended *ended; /* by offset */
    size_t endeds, endeds_room;
    struct late *late;
    size_t lates, lates_room;
    unsigned char *buffer; /* for one packet */
    uint64_t buffer_room;
    struct on_roll *on_roll; /* by number */
    size_t on_rolls;
    struct emptieds emptied;             /* packets, in 1 */
    uint64_t newest;                     /* ticks of the newest event that was seen */
    uint64_t moment;                     /* the copy holds nothing newer */
    uint64_t overwritten;                /* events, in all places */
    uint64_t closed;                     /* ticks: what was closed before, was so before 1 began */
    bool lossy;                          /* an ending after 1 may have been overwritten */
    uint64_t listed, copied, gone;       /* packets of events */
    uint64_t last_listed, last_copied;   /* their sequences */
    struct weft_facts_header facts_copy; /* those that the copy begins with, as they were read */
    bool says_pause;                     /* … and a weft_facts_pause is behind them */
    uint64_t facts_at;
    bool begins_with_facts;
    unsigned facts_found; /* packets of them */
    struct weft_error *err;
};

/* ---- Looking ---- */

/* 1 to 3: finds what belongs into the copy. Returns 1; 0 if there is no packet; or a negative WEFT_E code. */
int read_snapshot_look(struct weft_snapshot *s);

/* Reads the facts with which the source begins, if it does, and sees whether it is live. Returns 0 or a negative WEFT_E
 * code. */
int read_snapshot_read_facts(struct weft_snapshot *s);

/* The process that records, by these facts of the source, is alive. */
bool read_snapshot_alive(const struct weft_snapshot *s, const struct weft_facts_header *facts);

/* What had ended in the packet at that offset, or NULL. */
const struct ended *read_snapshot_ended_at(const struct weft_snapshot *s, uint64_t at);

/* A packet that was closed at that time (0: not yet) has been overwritten. */
void read_snapshot_lose(struct weft_snapshot *s, uint64_t end_ticks);

/* Reads up to that many bytes into the buffer. Returns how many, or a negative WEFT_E code. */
ptrdiff_t read_snapshot_get(struct weft_snapshot *s, uint64_t at, uint64_t bytes);

/* Makes the buffer that large. Returns 0 or a negative WEFT_E code. */
int read_snapshot_reserve(struct weft_snapshot *s, uint64_t bytes);

/* Returns the offset of the first event in the packet that is newer than limit, or where they end. h: its header,
 * that of the bytes is not looked at. *last: raised to the time of those before. */
uint64_t read_snapshot_walk(const struct weft_events_header *h, const unsigned char *packet,
                            uint64_t bytes, uint64_t limit, uint64_t *last);

/* Reads a packet of pending promises, in any case into cells that must be finished. Returns 1; 0 if it is damaged; or a
 * negative WEFT_E code. */
int read_snapshot_load_cells(struct weft_snapshot *s, const struct spot *p, struct cells *cells);

static inline uint8_t read_ended_bits(const struct ended *e, uint64_t i)
{
    return (uint8_t)(e && i < e->count ? e->word[i / 32] >> i % 32 * 2 & 3 : 0);
}

/* ---- Copying ---- */

/* 4 to 6: writes it. start: where in the file, -1 if one cannot go back there. Returns 0 or a negative WEFT_E code. */
int read_snapshot_write_packets(struct weft_snapshot *s, off_t start, weft_progress_fn *progress,
                                void *data);

/* Sets the error that errno says. */
int read_snapshot_cannot_write(struct weft_snapshot *s);

#endif
