/* SPDX-License-Identifier: ISC */
/* Brings what was written to the disk: some time after the first write that is not there yet, and never
 * two syncs at a time. */
#ifndef KV_FLUSH_H
#define KV_FLUSH_H

#include "queue.h"

struct kv_flush {
    uv_loop_t *loop; /* set these first */
    int fd;
    uint64_t after_ms;
    weft_promise parent;
    void (*done)(struct kv_op *op, int status); /* of those that wait; op->promise runs */

    uint64_t syncs;
    int status; /* of the last one */

    uv_timer_t timer;
    uv_fs_t request;
    void (*closed)(struct kv_flush *flush);
    bool dirty;   /* the next flush has been planned: after_ms from now, or from the end of … */
    bool syncing; /* … the present one */
    struct kv_queue waiting; /* for the next one */
    struct kv_queue in_sync; /* for the present one */
    weft_promise next, timeout, present, fsync;
};

void kv_flush_init(struct kv_flush *flush);

/* Something was written. */
void kv_flush_soon(struct kv_flush *flush);

/* op waits for the next flush, which has been planned. */
void kv_flush_wait(struct kv_flush *flush, struct kv_op *op);

/* Flushes now if need be; then calls closed. */
void kv_flush_close(struct kv_flush *flush, void (*closed)(struct kv_flush *flush));

#endif
