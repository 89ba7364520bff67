/* SPDX-License-Identifier: ISC */
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

static const char magic[8] = "kvlog 1\n";
static uint32_t crc_table[256];
static uv_once_t crc_table_made = UV_ONCE_INIT;

static void make_crc_table(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        crc_table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            crc_table[i] = (crc_table[i] >> 1) ^ (crc_table[i] & 1 ? 0xedb88320u : 0);
    }
}

uint32_t kv_crc32(uint32_t crc, const void *bytes, size_t count)
{
    const unsigned char *p = bytes;
    uv_once(&crc_table_made, make_crc_table);
    crc = ~crc;
    for (size_t i = 0; i < count; i++)
        crc = (crc >> 8) ^ crc_table[(crc ^ p[i]) & 0xff];
    return ~crc;
}

uint32_t kv_record_sum(const unsigned char *head, const char *key, size_t key_bytes,
                       const char *value, size_t value_bytes)
{
    uint32_t crc = kv_crc32(0, head + 4, KV_RECORD_HEAD - 4);
    return kv_crc32(kv_crc32(crc, key, key_bytes), value, value_bytes);
}

static void put32(unsigned char *p, uint32_t n)
{
    for (int i = 0; i < 4; i++)
        p[i] = (unsigned char)(n >> (8 * i));
}

static uint32_t get32(const unsigned char *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

void kv_head_write(unsigned char *head, uint32_t sum, uint32_t key_bytes, uint32_t value_bytes)
{
    put32(head, sum);
    put32(head + 4, key_bytes);
    put32(head + 8, value_bytes);
}

void kv_head_read(const unsigned char *head, uint32_t *sum, uint32_t *key_bytes,
                  uint32_t *value_bytes)
{
    *sum = get32(head);
    *key_bytes = get32(head + 4);
    *value_bytes = get32(head + 8);
}

/* One record at the file's position. Returns its size; 0 where it is torn or the file ends; or a negative
 * code. *room, of room_bytes, grows as needed. */
static int64_t recover_record(FILE *file, struct kv_index *index, uint64_t offset, char **room,
                              size_t *room_bytes)
{
    unsigned char head[KV_RECORD_HEAD];
    uint32_t sum, key_bytes, value_bytes;
    if (fread(head, 1, sizeof head, file) != sizeof head)
        return 0;
    kv_head_read(head, &sum, &key_bytes, &value_bytes);
    bool removed = value_bytes == KV_REMOVED;
    if (key_bytes > KV_KEY_MAX || (!removed && value_bytes > KV_VALUE_MAX))
        return 0;
    size_t bytes = removed ? key_bytes : (size_t)key_bytes + value_bytes;
    if (bytes > *room_bytes) {
        char *larger = realloc(*room, bytes);
        if (!larger)
            return UV_ENOMEM;
        *room = larger;
        *room_bytes = bytes;
    }
    if (fread(*room, 1, bytes, file) != bytes ||
        kv_record_sum(head, *room, key_bytes, *room + key_bytes, bytes - key_bytes) != sum)
        return 0;
    if (removed)
        kv_index_remove(index, *room, key_bytes);
    else if (kv_index_put(index, *room, key_bytes, offset, value_bytes) != 0)
        return UV_ENOMEM;
    return (int64_t)(sizeof head + bytes);
}

static int recover(struct kv_log *log, struct kv_index *index, uint64_t size, uint64_t tear_max)
{
    char *room = malloc(4096);
    size_t room_bytes = 4096;
    int copy = fcntl(log->fd, F_DUPFD_CLOEXEC, 0);
    FILE *file = copy < 0 ? NULL : fdopen(copy, "r");
    int64_t got = UV_ENOMEM;
    if (room && file && fseeko(file, (off_t)log->end, SEEK_SET) == 0) {
        while ((got = recover_record(file, index, log->end, &room, &room_bytes)) > 0)
            log->end += (uint64_t)got;
        if (got == 0 && ferror(file))
            got = UV_EIO;
    }
    if (file)
        fclose(file);
    else if (copy >= 0)
        close(copy);
    free(room);
    if (got < 0)
        return (int)got;
    log->cut_bytes = size - log->end;
    if (log->cut_bytes > tear_max)
        return UV_EILSEQ;
    return log->cut_bytes && ftruncate(log->fd, (off_t)log->end) != 0 ? -errno : 0;
}

int kv_log_open(struct kv_log *log, struct kv_index *index, const char *path, uint64_t tear_max)
{
    struct stat st;
    char begin[sizeof magic];
    *log = (struct kv_log){.end = sizeof magic};
    log->fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (log->fd < 0)
        return -errno;
    int rc = 0;
    if (fstat(log->fd, &st) != 0)
        rc = -errno;
    else if (!S_ISREG(st.st_mode))
        rc = UV_EFTYPE;
    else if (flock(log->fd, LOCK_EX | LOCK_NB) != 0)
        rc = errno == EWOULDBLOCK ? UV_EBUSY : -errno;
    else if (st.st_size == 0)
        rc = pwrite(log->fd, magic, sizeof magic, 0) == sizeof magic ? 0 : UV_EIO;
    else if (pread(log->fd, begin, sizeof begin, 0) != sizeof begin ||
             memcmp(begin, magic, sizeof magic) != 0)
        rc = UV_EFTYPE;
    else
        rc = recover(log, index, (uint64_t)st.st_size, tear_max);
    if (rc != 0)
        close(log->fd);
    return rc;
}
