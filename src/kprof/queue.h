/* SPDX-License-Identifier: ISC */
/* A bounded queue of records on their way to readers; reading empties it. A reader gets whole records if its
 * buffer has room for one. A reader with a smaller buffer gets a record in parts, and no other reader gets any
 * part of that record. For one thread. */
#ifndef WEFT_KPROF_QUEUE_H
#define WEFT_KPROF_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kprof_queue_block;
struct kprof_queue_part;

struct kprof_queue {
    struct kprof_queue_block *first, *last;
    struct kprof_queue_part *returned; /* given back by readers: read first */
    uint64_t records, bytes;           /* in the queue */
    uint64_t limit_bytes;
    uint64_t dropped; /* records for which there was no room */
};

/* A reader's position. All zeros: between two records. */
struct kprof_queue_reader {
    struct kprof_queue_part *part;
};

void kprof_queue_init(struct kprof_queue *q, uint64_t limit_bytes);
void kprof_queue_fini(struct kprof_queue *q);

/* Appends a record of 1 byte to 32 KiB. If there is no room, drops and counts it, and returns false. */
bool kprof_queue_put(struct kprof_queue *q, const void *record, uint32_t bytes);

bool kprof_queue_empty(const struct kprof_queue *q, const struct kprof_queue_reader *r);

/* Reads at most size bytes. Returns how many; or WEFT_E_NOMEM, and then nothing was read. */
ptrdiff_t kprof_queue_read(struct kprof_queue *q, struct kprof_queue_reader *r, void *to,
                           size_t size);

/* The reader leaves: a record of which it has read a part is available again, complete, for the next reader. */
void kprof_queue_leave(struct kprof_queue *q, struct kprof_queue_reader *r);

#endif
