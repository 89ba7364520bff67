/* SPDX-License-Identifier: ISC */
/* Operations of the store, first in, first out. Initialise before use. */
#ifndef KV_QUEUE_H
#define KV_QUEUE_H

#include "store.h"

struct kv_queue {
    struct kv_op *first, **last;
};

static inline void kv_queue_init(struct kv_queue *queue)
{
    queue->first = NULL;
    queue->last = &queue->first;
}

static inline void kv_queue_push(struct kv_queue *queue, struct kv_op *op)
{
    op->next = NULL;
    *queue->last = op;
    queue->last = &op->next;
}

static inline struct kv_op *kv_queue_pop(struct kv_queue *queue)
{
    struct kv_op *op = queue->first;
    if (op && !(queue->first = op->next))
        queue->last = &queue->first;
    return op;
}

/* Leaves from empty. to is initialised by this. */
static inline void kv_queue_move(struct kv_queue *to, struct kv_queue *from)
{
    kv_queue_init(to);
    if (from->first) {
        *to = *from;
        kv_queue_init(from);
    }
}

#endif
