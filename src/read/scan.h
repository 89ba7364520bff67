/* SPDX-License-Identifier: ISC */
/* Walks through the packets of a trace while others write to it: the recorder, or a malicious
 * program. Everything is copied first; only the copy is checked and used. Internal to
 * snapshot*.c. */
#ifndef WEFT_READ_SCAN_H
#define WEFT_READ_SCAN_H

#include <stdbool.h>

#include "format/walk.h"
#include "read/input.h"

struct scan {
    const struct weft_input *in;
    struct weft_error *err;
    uint64_t packets_max; /* packets in one pass; if there are more, it is WEFT_E_LIMIT */
    uint64_t memory_left; /* bytes that may still be allocated; beyond that it is WEFT_E_LIMIT */
    uint64_t retries;     /* attempts left for reading a header in one piece */
};

/* A packet. Its sizes are plausible, and no packet overlaps another. */
struct spot {
    uint64_t at;
    uint64_t bytes; /* the size it claims, or up to the end of the input */
    struct weft_packet_header h;
};

void read_scan_init(struct scan *s, const struct weft_input *in, struct weft_error *err);

/* Called for each packet of a pass. Returns 0 or a negative WEFT_E code. */
typedef int scan_fn(void *data, const struct spot *p);

/* Returns 1; 0 if there is no packet; or a negative WEFT_E code. */
int read_scan_packets(struct scan *s, scan_fn *fn, void *data);

/* Reads the header of a packet of events that has `bytes` bytes, in one piece. Returns 1; 0 if it
 * was never used, or is in transition (its sequence is then 0); or a negative WEFT_E code. Fields
 * that an older header does not have are 0. */
int read_scan_header(struct scan *s, uint64_t at, uint64_t bytes, struct weft_events_header *h);

/* Reads only the sequence number. */
ptrdiff_t read_scan_sequence(struct scan *s, uint64_t at, uint64_t *sequence);

/* Counts memory that is going to be used. Returns 0 or WEFT_E_LIMIT. */
int read_scan_spend(struct scan *s, uint64_t bytes);

/* Makes space for one more item in an array. Returns 0 or a negative WEFT_E code. */
int read_scan_grow(struct scan *s, void *array, size_t used, size_t *room, size_t item);

/* Makes a buffer at least that large. Returns 0 or a negative WEFT_E code. */
int read_scan_reserve(struct scan *s, unsigned char **buffer, uint64_t *room, uint64_t bytes);

#endif
