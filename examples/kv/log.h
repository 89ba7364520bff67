/* SPDX-License-Identifier: ISC */
/* The store's file: "kvlog 1\n", then records. A record is the CRC-32 of what follows, the bytes of the
 * key, the bytes of the value (KV_REMOVED: the key was removed), each 32 bits, little endian; then key
 * and value. Not traced: it is read before the loop runs. */
#ifndef KV_LOG_H
#define KV_LOG_H

#include "index.h"

#define KV_KEY_MAX 256u
#define KV_VALUE_MAX (64u << 20)
#define KV_RECORD_HEAD 12u
#define KV_REMOVED UINT32_MAX

uint32_t kv_crc32(uint32_t crc, const void *bytes, size_t count); /* begins with crc 0 */

/* Of a record whose head begins at head. */
uint32_t kv_record_sum(const unsigned char *head, const char *key, size_t key_bytes,
                       const char *value, size_t value_bytes);
void kv_head_write(unsigned char *head, uint32_t sum, uint32_t key_bytes, uint32_t value_bytes);
void kv_head_read(const unsigned char *head, uint32_t *sum, uint32_t *key_bytes,
                  uint32_t *value_bytes);

struct kv_log {
    int fd;
    uint64_t end;       /* where the next record goes */
    uint64_t cut_bytes; /* of a torn end */
};

/* Opens or makes the file, locks it, fills the index, and cuts off what a crash has left at the end: at
 * most tear_max bytes; more than that is damage, and nothing is touched. Returns 0 or a negative code of
 * libuv's. */
int kv_log_open(struct kv_log *log, struct kv_index *index, const char *path, uint64_t tear_max);

#endif
