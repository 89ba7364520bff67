/* SPDX-License-Identifier: ISC */
/* The keys in memory: where in the file is the newest record of each. Not traced: it never waits. */
#ifndef KV_INDEX_H
#define KV_INDEX_H

#include <stddef.h>
#include <stdint.h>

struct kv_entry {
    struct kv_entry *next;
    uint64_t offset; /* of the record in the file */
    uint32_t hash;
    uint32_t value_bytes;
    uint32_t key_bytes;
    char key[];
};

struct kv_index { /* all zero: empty */
    struct kv_entry **buckets;
    size_t bucket_count; /* a power of two */
    size_t keys;
};

/* The entry of a key, or NULL; valid until the index changes. */
const struct kv_entry *kv_index_find(const struct kv_index *index, const char *key,
                                     size_t key_bytes);

/* Adds a key or gives it another place. Returns 0, or -1 if there is no memory. */
int kv_index_put(struct kv_index *index, const char *key, size_t key_bytes, uint64_t offset,
                 uint32_t value_bytes);

void kv_index_remove(struct kv_index *index, const char *key, size_t key_bytes);

void kv_index_fini(struct kv_index *index);

#endif
