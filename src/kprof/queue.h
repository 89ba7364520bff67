/* SPDX-License-Identifier: ISC */
/* Records on their way to readers: a bounded queue that reading drains. Readers get whole records as long as their
 * buffer has room for one; one whose buffer is smaller gets the record in parts, and nobody else gets any of it.
 * One thread. */
#ifndef WEFT_KPROF_QUEUE_H
#define WEFT_KPROF_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kprof_queue_block;
struct kprof_queue_part;

struct kprof_queue {
    struct kprof_queue_block *first, *last;
    struct kprof_queue_part *returned; /* given back by readers: to be read first */
    uint64_t records, bytes;           /* that are in it */
    uint64_t limit_bytes;
    uint64_t dropped; /* records that there was no room for */
};

/* Where a reader stands. Zero: at the boundary of records. */
struct kprof_queue_reader {
    struct kprof_queue_part *part;
};

void kprof_queue_init(struct kprof_queue *q, uint64_t limit_bytes);
void kprof_queue_fini(struct kprof_queue *q);

/* Appends a record of 1 to 32 KiB. Without room it is dropped and counted: false. */
bool kprof_queue_put(struct kprof_queue *q, const void *record, uint32_t bytes);

bool kprof_queue_empty(const struct kprof_queue *q, const struct kprof_queue_reader *r);

/* Takes what there is, at most size bytes. Returns how many, or WEFT_E_NOMEM, having taken nothing. */
ptrdiff_t kprof_queue_read(struct kprof_queue *q, struct kprof_queue_reader *r, void *to,
                           size_t size);

/* The reader goes: a record that it has read in part is there again, whole, for the next one. */
void kprof_queue_leave(struct kprof_queue *q, struct kprof_queue_reader *r);

#endif
