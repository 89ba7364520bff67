/* SPDX-License-Identifier: ISC */
#include "flush.h"

#include <stdio.h>

#include "awake.h"

static void end_close(struct kv_flush *flush);
static void on_due(uv_timer_t *timer);

/* The flush waits for its timer, as an operation of its own: it outlives the write that asked for it. */
static void plan(struct kv_flush *flush)
{
    weft_promise caller = weft_run(flush->next);
    flush->timeout = weft_create("timer", "flush");
    weft_wait(flush->timeout);
    uv_timer_start(&flush->timer, on_due, flush->after_ms, 0);
    weft_run(caller);
}

static void on_synced(uv_fs_t *request)
{
    struct kv_flush *flush = request->data;
    struct kv_queue synced;
    flush->status = request->result < 0 ? (int)request->result : 0;
    flush->syncs++;
    flush->syncing = false;
    uv_fs_req_cleanup(request);
    kv_queue_move(&synced, &flush->in_sync);

    kv_awake();
    kv_resolve(flush->fsync,
               flush->status); /* by the loop, which is what runs as a callback begins */
    weft_wake(flush->present, flush->fsync); /* and so the flush goes on */
    kv_resolve(flush->present, flush->status);
    for (struct kv_op *op; (op = kv_queue_pop(&synced));) {
        weft_wake(op->promise, flush->present); /* and so does every operation that waited for it */
        flush->done(op, flush->status);
    }
    weft_run(WEFT_LOOP);

    if (flush->dirty && !flush->closed)
        plan(flush);
    end_close(flush);
}

/* flush->next runs. */
static void start(struct kv_flush *flush)
{
    flush->dirty = false;
    flush->syncing = true;
    flush->present = flush->next;
    kv_queue_move(&flush->in_sync, &flush->waiting);
    flush->fsync = weft_create("fsync", "to the disk");
    weft_wait(flush->fsync);
    flush->request.data = flush;
    uv_fs_fdatasync(flush->loop, &flush->request, flush->fd, on_synced);
}

static void on_due(uv_timer_t *timer)
{
    struct kv_flush *flush = timer->data;
    kv_awake();
    weft_fulfill(flush->timeout);
    weft_wake(flush->next, flush->timeout);
    start(flush);
    weft_run(WEFT_LOOP);
}

void kv_flush_init(struct kv_flush *flush)
{
    kv_queue_init(&flush->waiting);
    kv_queue_init(&flush->in_sync);
    uv_timer_init(flush->loop, &flush->timer);
    flush->timer.data = flush;
}

void kv_flush_soon(struct kv_flush *flush)
{
    char label[32];
    if (flush->dirty)
        return;
    flush->dirty = true;
    snprintf(label, sizeof label, "%u ms after a write", (unsigned)flush->after_ms);
    flush->next = weft_create_from(flush->parent, "flush", label);
    if (!flush->syncing)
        plan(flush);
}

void kv_flush_wait(struct kv_flush *flush, struct kv_op *op)
{
    weft_wait_by(op->promise, flush->next);
    kv_queue_push(&flush->waiting, op);
}

static void on_timer_closed(uv_handle_t *timer)
{
    struct kv_flush *flush = timer->data;
    flush->closed(flush);
}

static void end_close(struct kv_flush *flush)
{
    if (!flush->closed || flush->syncing)
        return;
    if (flush->dirty) { /* nobody waits for the timer any more */
        if (uv_is_active((uv_handle_t *)&flush->timer)) {
            uv_timer_stop(&flush->timer);
            weft_cancel(flush->timeout);
        }
        weft_promise caller = weft_run(flush->next);
        start(flush);
        weft_run(caller);
    } else {
        uv_close((uv_handle_t *)&flush->timer, on_timer_closed);
    }
}

void kv_flush_close(struct kv_flush *flush, void (*closed)(struct kv_flush *flush))
{
    flush->closed = closed;
    end_close(flush);
}
