/* SPDX-License-Identifier: ISC */
/* Records on their way to readers: a bounded queue that reading drains. Readers get whole records as long as their
 * buffer has room for one; one whose buffer is smaller gets the record in parts, and nobody else gets any of it.
 * One thread. */
#ifndef WEFT_KPROF_QUEUE_H
#define WEFT_KPROF_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft__queue_block;
struct weft__queue_part;

struct weft__queue {
    struct weft__queue_block *first, *last;
    struct weft__queue_part *returned; /* given back by readers: to be read first */
    uint64_t records, bytes;           /* that are in it */
    uint64_t limit_bytes;
    uint64_t dropped; /* records that there was no room for */
};

/* Where a reader stands. Zero: at the boundary of records. */
struct weft__queue_reader {
    struct weft__queue_part *part;
};

void weft__queue_init(struct weft__queue *q, uint64_t limit_bytes);
void weft__queue_fini(struct weft__queue *q);

/* Appends a record of 1 to 32 KiB. Without room it is dropped and counted: false. */
bool weft__queue_put(struct weft__queue *q, const void *record, uint32_t bytes);

bool weft__queue_empty(const struct weft__queue *q, const struct weft__queue_reader *r);

/* Takes what there is, at most size bytes. Returns how many, or WEFT_E_NOMEM, having taken nothing. */
ptrdiff_t weft__queue_read(struct weft__queue *q, struct weft__queue_reader *r, void *to,
                           size_t size);

/* The reader goes: a record that it has read in part is there again, whole, for the next one. */
void weft__queue_leave(struct weft__queue *q, struct weft__queue_reader *r);

#endif
