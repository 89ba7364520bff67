/* SPDX-License-Identifier: ISC */
#include "index.h"

#include <stdlib.h>
#include <string.h>

static uint32_t hash_of(const char *key, size_t key_bytes)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < key_bytes; i++)
        hash = (hash ^ (unsigned char)key[i]) * 16777619u;
    return hash;
}

/* The pointer that points to the key's entry, or would. */
static struct kv_entry **place_of(const struct kv_index *index, uint32_t hash, const char *key,
                                  size_t key_bytes)
{
    struct kv_entry **place = &index->buckets[hash & (index->bucket_count - 1)];
    while (*place && ((*place)->hash != hash || (*place)->key_bytes != key_bytes ||
                      memcmp((*place)->key, key, key_bytes) != 0))
        place = &(*place)->next;
    return place;
}

static int grow(struct kv_index *index)
{
    struct kv_index larger = {.bucket_count = index->bucket_count ? index->bucket_count * 2 : 1024,
                              .keys = index->keys};
    larger.buckets = calloc(larger.bucket_count, sizeof *larger.buckets);
    if (!larger.buckets)
        return -1;
    for (size_t i = 0; i < index->bucket_count; i++) {
        for (struct kv_entry *entry = index->buckets[i], *next; entry; entry = next) {
            struct kv_entry **bucket = &larger.buckets[entry->hash & (larger.bucket_count - 1)];
            next = entry->next;
            entry->next = *bucket;
            *bucket = entry;
        }
    }
    free(index->buckets);
    *index = larger;
    return 0;
}

const struct kv_entry *kv_index_find(const struct kv_index *index, const char *key,
                                     size_t key_bytes)
{
    if (index->bucket_count == 0)
        return NULL;
    return *place_of(index, hash_of(key, key_bytes), key, key_bytes);
}

int kv_index_put(struct kv_index *index, const char *key, size_t key_bytes, uint64_t offset,
                 uint32_t value_bytes)
{
    if (index->keys == index->bucket_count && grow(index) != 0 && index->bucket_count == 0)
        return -1;
    uint32_t hash = hash_of(key, key_bytes);
    struct kv_entry **place = place_of(index, hash, key, key_bytes);
    if (!*place) {
        struct kv_entry *entry = malloc(sizeof *entry + key_bytes);
        if (!entry)
            return -1;
        *entry = (struct kv_entry){.hash = hash, .key_bytes = (uint32_t)key_bytes};
        memcpy(entry->key, key, key_bytes);
        *place = entry;
        index->keys++;
    }
    (*place)->offset = offset;
    (*place)->value_bytes = value_bytes;
    return 0;
}

void kv_index_remove(struct kv_index *index, const char *key, size_t key_bytes)
{
    if (index->bucket_count == 0)
        return;
    struct kv_entry **place = place_of(index, hash_of(key, key_bytes), key, key_bytes);
    struct kv_entry *entry = *place;
    if (entry) {
        *place = entry->next;
        free(entry);
        index->keys--;
    }
}

void kv_index_fini(struct kv_index *index)
{
    for (size_t i = 0; i < index->bucket_count; i++) {
        for (struct kv_entry *entry = index->buckets[i], *next; entry; entry = next) {
            next = entry->next;
            free(entry);
        }
    }
    free(index->buckets);
    *index = (struct kv_index){0};
}
