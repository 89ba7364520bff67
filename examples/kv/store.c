/* SPDX-License-Identifier: ISC */
#include "store.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "awake.h"
#include "flush.h"

#define BATCH_RECORDS 64u
#define BATCH_BYTES (8u << 20) /* or one record more */
#define BATCH_MAX (BATCH_BYTES + KV_RECORD_HEAD + KV_KEY_MAX + KV_VALUE_MAX)

struct kv_store {
    uv_loop_t *loop;
    struct kv_log log;
    struct kv_index index;
    struct kv_stats stats;
    struct kv_flush flush;
    bool sync;
    void (*closed)(int status);
    weft_promise
        promise; /* the store itself: parent of what it does for several operations at once */

    struct kv_queue unwritten; /* wait for the present write to end */
    struct kv_queue batch;     /* are being written */
    unsigned batch_records;
    size_t batch_bytes;
    bool writing;
    uv_fs_t request;
    weft_promise write;
};

static struct weft_counter queued = WEFT_COUNTER("records queued");
static struct weft_counter written = WEFT_COUNTER("bytes written");

/* weft_create calls such a function only while it records: a label costs nothing otherwise. Texts are
 * copied, so that one buffer does for all. */
__attribute__((format(printf, 1, 2))) static const char *text(const char *format, ...)
{
    static char buffer[KV_KEY_MAX + 64];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    return buffer;
}

static const char *key_text(const struct kv_op *op)
{
    return text("%.*s", (int)op->key_bytes, op->key);
}

void kv_resolve(weft_promise p, int status)
{
    if (status)
        weft_fail(p, uv_strerror(status));
    else
        weft_fulfill(p);
}

/* ---- The steps of one operation ---- */

/* The operation runs here. The caller goes on when what it does next in done() says so. */
static void finish(struct kv_op *op, int status)
{
    kv_resolve(op->promise, status);
    op->done(op, status);
}

/* In a worker, and on a stream of its own in the trace: what runs is known for each thread. */
static void make_sum(uv_work_t *work)
{
    struct kv_op *op = work->data;
    weft_run(op->step);
    op->sum = kv_record_sum(op->head, op->key, op->key_bytes, op->value, op->value_bytes);
    weft_fulfill(op->step);
    weft_run(WEFT_LOOP);
}

static int start_sum(struct kv_op *op, uv_after_work_cb after)
{
    op->work.data = op;
    op->step = weft_create("checksum", "CRC-32");
    weft_wait(op->step);
    return uv_queue_work(op->store->loop, &op->work, make_sum, after);
}

static void on_verified(uv_work_t *work, int status)
{
    struct kv_op *op = work->data;
    uint32_t sum, key_bytes, value_bytes;
    kv_awake();
    weft_wake(op->promise, op->step);
    kv_head_read(op->head, &sum, &key_bytes, &value_bytes);
    if (status == 0 &&
        (sum != op->sum || key_bytes != op->key_bytes || value_bytes != op->value_bytes)) {
        weft_label(op->promise, "damaged in the file");
        status = UV_EIO;
    }
    finish(op, status);
    weft_run(WEFT_LOOP);
}

static void on_record_read(uv_fs_t *request)
{
    struct kv_op *op = request->data;
    ssize_t size = (ssize_t)(KV_RECORD_HEAD + op->key_bytes + op->value_bytes);
    int bad = request->result < 0 ? (int)request->result : request->result < size ? UV_EIO : 0;
    uv_fs_req_cleanup(request);
    kv_awake();
    kv_resolve(op->step, bad); /* by the loop: that is what runs when a callback begins */
    weft_wake(op->promise, op->step);
    if (bad) {
        finish(op, bad);
    } else {
        memcpy(op->head, op->record, KV_RECORD_HEAD);
        op->value = op->record + KV_RECORD_HEAD + op->key_bytes;
        start_sum(op, on_verified);
    }
    weft_run(WEFT_LOOP);
}

int kv_store_get(struct kv_store *store, struct kv_op *op)
{
    const struct kv_entry *entry = kv_index_find(&store->index, op->key, op->key_bytes);
    if (!entry)
        return UV_ENOENT;
    unsigned size = KV_RECORD_HEAD + entry->key_bytes + entry->value_bytes;
    op->record = malloc(size);
    if (!op->record)
        return UV_ENOMEM;
    op->store = store;
    op->value_bytes = entry->value_bytes;
    op->file.data = op;
    uv_buf_t buffer = uv_buf_init(op->record, size);

    /* The operation is a promise that the caller will wait for, and runs until it has to wait itself. */
    op->promise = weft_create("get", key_text(op));
    weft_promise caller = weft_run(op->promise);
    op->step = weft_create("file read", text("%u bytes", size));
    weft_wait(op->step);
    uv_fs_read(store->loop, &op->file, store->log.fd, &buffer, 1, (int64_t)entry->offset,
               on_record_read);
    weft_run(caller);
    return 0;
}

void kv_op_release(struct kv_op *op)
{
    free(op->record);
    op->record = NULL;
}

/* ---- Putting: a record waits for its turn; all that have come meanwhile are written at once ---- */

static void start_write(struct kv_store *store);

static int add_to_index(struct kv_op *op, uint64_t offset)
{
    struct kv_index *index = &op->store->index;
    if (!op->remove)
        return kv_index_put(index, op->key, op->key_bytes, offset, (uint32_t)op->value_bytes) == 0
                   ? 0
                   : UV_ENOMEM;
    kv_index_remove(index, op->key, op->key_bytes);
    return 0;
}

/* The write has ended: every operation that waited for it runs in turn. */
static void end_write(struct kv_store *store, int bad)
{
    struct kv_queue batch;
    kv_queue_move(&batch, &store->batch);
    store->writing = false;
    weft_counter_add(&queued, -(int64_t)store->batch_records);
    kv_resolve(store->write, bad);
    if (bad) { /* what is there of it must not be taken for records; if this fails, it is cut at the start */
        int ignored = ftruncate(store->log.fd, (off_t)store->log.end);
        (void)ignored;
    } else {
        store->stats.writes++;
        weft_counter_add(&written, (int64_t)store->batch_bytes);
        kv_flush_soon(&store->flush);
    }
    for (struct kv_op *op; (op = kv_queue_pop(&batch));) {
        int status = bad;
        weft_wake(op->promise, store->write);
        if (!bad) {
            status = add_to_index(op, store->log.end);
            store->log.end += KV_RECORD_HEAD + op->key_bytes + op->value_bytes;
            store->stats.records++;
        }
        if (status == 0 && store->sync) {
            kv_flush_wait(&store->flush, op);
        } else {
            finish(op, status);
        }
    }
    start_write(store);
}

static void on_written(uv_fs_t *request)
{
    struct kv_store *store = request->data;
    ssize_t result = request->result;
    uv_fs_req_cleanup(request);
    kv_awake();
    end_write(store, result < 0                            ? (int)result
                     : (size_t)result < store->batch_bytes ? UV_ENOSPC
                                                           : 0);
    weft_run(WEFT_LOOP);
}

/* The store writes for several operations at once. So the write is the store's child, and each of them
 * waits for it. */
static void start_write(struct kv_store *store)
{
    uv_buf_t buffers[3 * BATCH_RECORDS];
    unsigned used = 0;
    if (store->writing || !store->unwritten.first)
        return;
    store->writing = true;
    store->batch_bytes = 0;
    while (store->unwritten.first && used < 3 * BATCH_RECORDS && store->batch_bytes < BATCH_BYTES) {
        struct kv_op *op = kv_queue_pop(&store->unwritten);
        buffers[used++] = uv_buf_init((char *)op->head, KV_RECORD_HEAD);
        buffers[used++] = uv_buf_init((char *)(uintptr_t)op->key, (unsigned)op->key_bytes);
        buffers[used++] = uv_buf_init((char *)(uintptr_t)op->value, (unsigned)op->value_bytes);
        store->batch_bytes += KV_RECORD_HEAD + op->key_bytes + op->value_bytes;
        kv_queue_push(&store->batch, op);
    }
    store->batch_records = used / 3;
    store->write =
        weft_create_from(store->promise, "file write",
                         text("%zu bytes, %u put", store->batch_bytes, store->batch_records));
    for (struct kv_op *op = store->batch.first; op; op = op->next)
        weft_wait_by(op->promise, store->write);
    store->request.data = store;
    int bad = uv_fs_write(store->loop, &store->request, store->log.fd, buffers, used,
                          (int64_t)store->log.end, on_written);
    if (bad)
        end_write(store, bad);
}

static void on_summed(uv_work_t *work, int status)
{
    struct kv_op *op = work->data;
    struct kv_store *store = op->store;
    (void)status; /* nothing here cancels work */
    kv_awake();
    weft_counter_add(&queued, 1);
    weft_wake(op->promise, op->step);
    kv_head_write(op->head, op->sum, (uint32_t)op->key_bytes,
                  op->remove ? KV_REMOVED : (uint32_t)op->value_bytes);
    kv_queue_push(&store->unwritten, op);
    start_write(store);
    weft_run(WEFT_LOOP);
}

static int append(struct kv_store *store, struct kv_op *op)
{
    op->store = store;
    op->existed = kv_index_find(&store->index, op->key, op->key_bytes) != NULL;
    if (op->remove && !op->existed)
        return UV_ENOENT;
    if (op->key_bytes > KV_KEY_MAX || op->value_bytes > KV_VALUE_MAX)
        return UV_E2BIG;
    kv_head_write(op->head, 0, (uint32_t)op->key_bytes,
                  op->remove ? KV_REMOVED : (uint32_t)op->value_bytes);
    op->promise = weft_create(op->remove ? "remove" : "put", key_text(op));
    weft_promise caller = weft_run(op->promise);
    start_sum(op, on_summed);
    weft_run(caller);
    return 0;
}

int kv_store_put(struct kv_store *store, struct kv_op *op)
{
    op->remove = false;
    return append(store, op);
}

int kv_store_remove(struct kv_store *store, struct kv_op *op)
{
    op->remove = true;
    op->value = NULL;
    op->value_bytes = 0;
    return append(store, op);
}

/* ---- The whole ---- */

int kv_store_open(struct kv_store **store, uv_loop_t *loop, const struct kv_options *options)
{
    struct kv_store *s = calloc(1, sizeof *s);
    *store = NULL;
    if (!s)
        return UV_ENOMEM;
    int rc = kv_log_open(&s->log, &s->index, options->path, BATCH_MAX);
    if (rc != 0) {
        kv_index_fini(&s->index);
        free(s);
        return rc;
    }
    s->loop = loop;
    s->sync = options->sync;
    kv_queue_init(&s->unwritten);
    kv_queue_init(&s->batch);
    s->promise = weft_create("store", options->path);
    weft_background(s->promise); /* there as long as the server: no fault that it is not resolved */
    s->flush = (struct kv_flush){.loop = loop,
                                 .fd = s->log.fd,
                                 .after_ms = options->flush_ms,
                                 .parent = s->promise,
                                 .done = finish};
    kv_flush_init(&s->flush);
    *store = s;
    return 0;
}

void kv_store_stats(const struct kv_store *store, struct kv_stats *stats)
{
    *stats = store->stats;
    stats->keys = store->index.keys;
    stats->file_bytes = store->log.end;
    stats->cut_bytes = store->log.cut_bytes;
    stats->syncs = store->flush.syncs;
    stats->sync_status = store->flush.status;
}

static void on_flush_closed(struct kv_flush *flush)
{
    struct kv_store *store = (struct kv_store *)((char *)flush - offsetof(struct kv_store, flush));
    void (*closed)(int) = store->closed;
    int status = flush->status;
    if (close(store->log.fd) != 0 && status == 0)
        status = UV_EIO;
    kv_resolve(store->promise, status);
    kv_index_fini(&store->index);
    free(store);
    closed(status);
}

void kv_store_close(struct kv_store *store, void (*closed)(int status))
{
    store->closed = closed;
    kv_flush_close(&store->flush, on_flush_closed);
}
