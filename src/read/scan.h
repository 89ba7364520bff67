/* SPDX-License-Identifier: ISC */
/* The packets of a trace that others write to while it is read: the recorder, or a malicious program. What is
 * read is a copy, that is checked, and only the copy is used. Internal to snapshot*.c. */
#ifndef WEFT_READ_SCAN_H
#define WEFT_READ_SCAN_H

#include <stdbool.h>

#include "format/walk.h"
#include "read/input.h"

struct scan {
    const struct weft_input *in;
    struct weft_error *err;
    uint64_t packets_max; /* in a pass; more is WEFT_E_LIMIT */
    uint64_t memory_left; /* bytes that may be allocated for it; more is WEFT_E_LIMIT */
    uint64_t retries;     /* left, to see a header in one piece */
};

/* A packet. Its sizes are possible, and no packet overlaps another. */
struct spot {
    uint64_t at;
    uint64_t bytes; /* what it says, or up to the end of the input */
    struct weft_packet_header h;
};

void read_scan_init(struct scan *s, const struct weft_input *in, struct weft_error *err);

/* What is done with each packet of a pass. Returns 0 or a negative WEFT_E code. */
typedef int scan_fn(void *data, const struct spot *p);

/* Returns 1; 0 if there is no packet; or a negative WEFT_E code. */
int read_scan_packets(struct scan *s, scan_fn *fn, void *data);

/* Reads the header of a packet of events that has `bytes` bytes, in one piece. Returns 1; 0 if it was never used, or is in
 * transition (its sequence is then 0); or a negative WEFT_E code. What an older header does not have is 0. */
int read_scan_header(struct scan *s, uint64_t at, uint64_t bytes, struct weft_events_header *h);

/* Reads only that number. */
ptrdiff_t read_scan_sequence(struct scan *s, uint64_t at, uint64_t *sequence);

/* Accounts for memory. Returns 0 or WEFT_E_LIMIT. */
int read_scan_spend(struct scan *s, uint64_t bytes);

/* Makes room for one more in an array. Returns 0 or a negative WEFT_E code. */
int read_scan_grow(struct scan *s, void *array, size_t used, size_t *room, size_t item);

/* Makes a buffer that large. Returns 0 or a negative WEFT_E code. */
int read_scan_reserve(struct scan *s, unsigned char **buffer, uint64_t *room, uint64_t bytes);

#endif
