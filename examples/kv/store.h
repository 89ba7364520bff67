/* SPDX-License-Identifier: ISC */
/* The key-value store: an append-only file (log.h) and an index of it in memory. All calls and callbacks
 * are on the loop's thread; the file is read, written and synced, and checksums are made, in libuv's
 * workers. */
#ifndef KV_STORE_H
#define KV_STORE_H

#include <stdbool.h>
#include <uv.h>

#include <weft/weft.h>

#include "log.h"

struct kv_store;

struct kv_stats {
    uint64_t keys, file_bytes, records, writes, syncs;
    uint64_t cut_bytes; /* when the file was opened */
    int sync_status;    /* of the last sync */
};

/* One operation at a time; zero it before its first. */
struct kv_op {
    const char *key; /* the caller's, until done */
    size_t key_bytes;
    const char *value; /* put: the caller's, until done. get: until kv_op_release */
    size_t value_bytes;
    void (*done)(struct kv_op *op, int status); /* 0, or a negative code of libuv's */
    void *data;                                 /* the caller's */
    bool existed;                               /* put: it has replaced a value */
    weft_promise promise; /* of the whole operation: for the caller to wait for */

    /* The store's own. */
    weft_promise step; /* what the operation waits for */
    struct kv_store *store;
    struct kv_op *next;
    bool remove;
    char *record;
    uint64_t offset;
    uint32_t sum;
    unsigned char head[KV_RECORD_HEAD];
    uv_work_t work;
    uv_fs_t file;
};

struct kv_options {
    const char *path;
    uint64_t flush_ms; /* from a write to the sync that follows it */
    bool sync;         /* a put is done when it is on the disk, not when it is in the file */
};

/* Opens or makes the file and reads the keys. Cuts off a torn record at its end. On failure *store is
 * NULL: UV_EBUSY (it is another server's), UV_EFTYPE (it is some other file), UV_EILSEQ (damaged, not only torn). */
int kv_store_open(struct kv_store **store, uv_loop_t *loop, const struct kv_options *options);

/* Each returns 0, and op->done follows later; or a negative code, and it does not: UV_ENOENT, UV_ENOMEM. */
int kv_store_get(struct kv_store *store, struct kv_op *op);
int kv_store_put(struct kv_store *store, struct kv_op *op);
int kv_store_remove(struct kv_store *store, struct kv_op *op);

void kv_op_release(struct kv_op *op);

/* For the trace: p has ended, with 0 or a negative code of libuv's. */
void kv_resolve(weft_promise p, int status);

void kv_store_stats(const struct kv_store *store, struct kv_stats *stats);

/* Syncs and frees; no operation may be on its way. closed is called with 0 or the error of the last sync. */
void kv_store_close(struct kv_store *store, void (*closed)(int status));

#endif
