/* SPDX-License-Identifier: ISC */
#include "kprof/queue.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "format/error.h"

#define BLOCK_BYTES (64u << 10)
#define HEAD_BYTES 4u /* the record's size, before each record */

struct kprof_queue_block {
    struct kprof_queue_block *next;
    uint32_t begin, end; /* the unread part */
    uint8_t bytes[BLOCK_BYTES];
};

/* A record of which a reader has read a part. It is no longer in the blocks, so that giving it back needs no
 * memory. */
struct kprof_queue_part {
    struct kprof_queue_part *next;
    uint32_t bytes, read;
    uint8_t record[];
};

void kprof_queue_init(struct kprof_queue *q, uint64_t limit_bytes)
{
    *q = (struct kprof_queue){.limit_bytes = limit_bytes};
}

void kprof_queue_fini(struct kprof_queue *q)
{
    while (q->first) {
        struct kprof_queue_block *b = q->first;
        q->first = b->next;
        free(b);
    }
    while (q->returned) {
        struct kprof_queue_part *p = q->returned;
        q->returned = p->next;
        free(p);
    }
    *q = (struct kprof_queue){0};
}

static bool append_block(struct kprof_queue *q)
{
    struct kprof_queue_block *b = malloc(sizeof *b);
    if (!b)
        return false;
    b->next = NULL;
    b->begin = b->end = 0;
    if (q->last)
        q->last->next = b;
    else
        q->first = b;
    q->last = b;
    return true;
}

bool kprof_queue_put(struct kprof_queue *q, const void *record, uint32_t bytes)
{
    assert(bytes > 0 && bytes <= BLOCK_BYTES / 2);
    bool room = bytes <= q->limit_bytes && q->bytes <= q->limit_bytes - bytes;
    if (room && (!q->last || BLOCK_BYTES - q->last->end < HEAD_BYTES + bytes))
        room = append_block(q);
    if (!room) {
        q->dropped++;
        return false;
    }
    struct kprof_queue_block *b = q->last;
    memcpy(b->bytes + b->end, &bytes, HEAD_BYTES);
    memcpy(b->bytes + b->end + HEAD_BYTES, record, bytes);
    b->end += HEAD_BYTES + bytes;
    q->bytes += bytes;
    q->records++;
    return true;
}

bool kprof_queue_empty(const struct kprof_queue *q, const struct kprof_queue_reader *r)
{
    return q->records == 0 && !r->part;
}

/* Returns the first record in the blocks, or NULL. */
static const uint8_t *first_record(const struct kprof_queue *q, uint32_t *bytes)
{
    if (!q->first)
        return NULL;
    const uint8_t *at = q->first->bytes + q->first->begin;
    memcpy(bytes, at, HEAD_BYTES);
    return at + HEAD_BYTES;
}

/* A block is freed together with its last record, so an empty queue holds no memory. */
static void drop_first(struct kprof_queue *q, uint32_t bytes)
{
    struct kprof_queue_block *b = q->first;
    b->begin += HEAD_BYTES + bytes;
    q->bytes -= bytes;
    q->records--;
    if (b->begin < b->end)
        return;
    q->first = b->next;
    if (!q->first)
        q->last = NULL;
    free(b);
}

/* Gives the next record to this reader alone. Returns 0 or WEFT_E_NOMEM. */
static int begin_part(struct kprof_queue *q, struct kprof_queue_reader *r)
{
    if (q->returned) {
        r->part = q->returned;
        q->returned = r->part->next;
        q->bytes -= r->part->bytes;
        q->records--;
        return 0;
    }
    uint32_t bytes = 0;
    const uint8_t *record = first_record(q, &bytes);
    struct kprof_queue_part *p = malloc(sizeof *p + bytes);
    if (!p)
        return WEFT_E_NOMEM;
    *p = (struct kprof_queue_part){.bytes = bytes};
    memcpy(p->record, record, bytes);
    r->part = p;
    drop_first(q, bytes);
    return 0;
}

static size_t read_part(struct kprof_queue_reader *r, uint8_t *to, size_t size)
{
    struct kprof_queue_part *p = r->part;
    size_t n = p->bytes - p->read;
    n = n < size ? n : size;
    memcpy(to, p->record + p->read, n);
    p->read += (uint32_t)n;
    if (p->read == p->bytes) {
        free(p);
        r->part = NULL;
    }
    return n;
}

ptrdiff_t kprof_queue_read(struct kprof_queue *q, struct kprof_queue_reader *r, void *to,
                           size_t size)
{
    uint8_t *out = to;
    size_t used = 0;
    uint32_t bytes;
    if (r->part)
        used = read_part(r, out, size);
    while (!r->part && q->returned && q->returned->bytes <= size - used) {
        begin_part(q, r); /* cannot fail: the part exists already */
        used += read_part(r, out + used, size - used);
    }
    const uint8_t *record;
    while (!r->part && !q->returned && (record = first_record(q, &bytes)) != NULL &&
           bytes <= size - used) {
        memcpy(out + used, record, bytes);
        used += bytes;
        drop_first(q, bytes);
    }
    if (used == 0 && size > 0 && q->records > 0) { /* the buffer is too small for even one record */
        if (begin_part(q, r) < 0)
            return WEFT_E_NOMEM;
        used = read_part(r, out, size);
    }
    return (ptrdiff_t)used;
}

void kprof_queue_leave(struct kprof_queue *q, struct kprof_queue_reader *r)
{
    struct kprof_queue_part *p = r->part;
    if (!p)
        return;
    p->read = 0;
    p->next = q->returned;
    q->returned = p;
    q->bytes += p->bytes;
    q->records++;
    r->part = NULL;
}
