/* SPDX-License-Identifier: ISC */
#include <stdlib.h>
#include <string.h>

#include "kprof/state.h"

struct kprof_record {
    struct kprof_record *next;
    uint32_t bytes,
        read; /* read: how many of them a reader has, of a record that is no longer in the queue */
    uint8_t record[];
};

void kprof_queue_init(struct kprof_queue *q, uint64_t limit_bytes)
{
    *q = (struct kprof_queue){.limit_bytes = limit_bytes};
}

/* Puts a record at a place in the list. */
static void link_at(struct kprof_queue *q, struct kprof_record **place, struct kprof_record *r)
{
    r->next = *place;
    *place = r;
    if (!r->next)
        q->last = &r->next;
    q->bytes += r->bytes;
    q->records++;
}

static struct kprof_record *pop(struct kprof_queue *q)
{
    struct kprof_record *r = q->first;
    q->first = r->next;
    if (!q->first)
        q->last = NULL;
    q->bytes -= r->bytes;
    q->records--;
    return r;
}

void kprof_queue_fini(struct kprof_queue *q)
{
    while (q->first)
        free(pop(q));
}

bool kprof_queue_put(struct kprof_queue *q, const void *record, uint32_t bytes)
{
    bool room = bytes <= q->limit_bytes && q->bytes <= q->limit_bytes - bytes;
    struct kprof_record *r = room ? malloc(sizeof *r + bytes) : NULL;
    if (!r) {
        q->dropped++;
        return false;
    }
    *r = (struct kprof_record){.bytes = bytes};
    memcpy(r->record, record, bytes);
    link_at(q, q->last ? q->last : &q->first, r);
    return true;
}

bool kprof_queue_empty(const struct kprof_queue *q, const struct kprof_queue_reader *r)
{
    return q->records == 0 && !r->part;
}

static size_t read_part(struct kprof_queue_reader *r, uint8_t *to, size_t size)
{
    struct kprof_record *p = r->part;
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
    size_t used = r->part ? read_part(r, to, size) : 0;
    /* Whole records, or a part of the first one if there is room for none. */
    while (!r->part && q->first && (q->first->bytes <= size - used || (used == 0 && size > 0))) {
        r->part = pop(q);
        used += read_part(r, (uint8_t *)to + used, size - used);
    }
    return (ptrdiff_t)used;
}

void kprof_queue_leave(struct kprof_queue *q, struct kprof_queue_reader *r)
{
    if (!r->part)
        return;
    r->part->read = 0;
    link_at(q, &q->first, r->part);
    r->part = NULL;
}
