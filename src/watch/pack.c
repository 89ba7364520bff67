/* SPDX-License-Identifier: ISC */
/* The file: frames, a skippable frame with the mark, and the table, which is the last skippable frame. The mark is an entry
 * of the table, with a size of 0. Any zstd reads the file as one. */
#include "watch/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/array.h"
#include "format/bytes.h"
#include "read/columns.h"

enum {
    LEVEL = 1,
    FRAME = READ_COLUMNS_HEAD + READ_COLUMNS_ROOM,
    HEAD = 8,  /* of a skippable frame: magic, size */
    ENTRY = 8, /* of the table: sizes of a frame, compressed and not */
    FOOT = 9,  /* of the table: number of entries, flags, magic */
    MARK = 24, /* the frame with the mark: head, 8 letters, number */
    FRAMES_MAX = 1 << 27,
};

#define MARK_MAGIC UINT32_C(0x184d2a57)
#define TABLE_MAGIC UINT32_C(0x184d2a5e)
#define FOOT_MAGIC UINT32_C(0x8f92eab1)
static const char letters[8] = {'w', 'e', 'f', 't', 'k', 'e', 'e', 'p'};

struct entry {
    uint32_t packed, bytes;
};

struct packing {
    const struct weft_input *in;
    int fd;
    uint64_t written;
    ZSTD_CCtx *zstd;
    struct entry *entry;
    uint32_t entries, room;
    unsigned char *from, *to, *block, *again;
    size_t to_size;
    struct weft_error *err;
};

static int put(struct packing *p, const void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        const ssize_t n = write(p->fd, (const char *)bytes + done, size - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return weft_error_set(p->err, WEFT_E_IO, WEFT_NO_OFFSET, "cannot be written: %s",
                                  strerror(errno));
        done += (size_t)n;
    }
    p->written += size;
    return 0;
}

static int add_entry(struct packing *p, size_t packed, size_t bytes)
{
    if (!weft_reserve(&p->entry, p->entries, &p->room, sizeof *p->entry))
        return weft_no_memory(p->err);
    p->entry[p->entries++] = (struct entry){(uint32_t)packed, (uint32_t)bytes};
    return 0;
}

/* Makes a block of what comes next. Returns its size, with the mark before the first one; *used: of how many bytes. */
static size_t make_block(struct packing *p, uint64_t at, size_t got, size_t *used)
{
    const size_t head = at ? 0 : READ_COLUMNS_HEAD;
    unsigned char *const block = p->block + head;
    memcpy(p->block, read_columns_mark, head);
    const size_t size = read_columns_put(block, p->from, got, used);
    /* What is kept is worth a check. */
    if (read_columns_get(p->again, block, size) != *used || memcmp(p->again, p->from, *used) != 0)
        return 0;
    return head + size;
}

static int put_frames(struct packing *p)
{
    int rc = 0;
    for (uint64_t at = 0; rc == 0 && at < p->in->size;) {
        size_t used;
        const ptrdiff_t got = weft_input_read(p->in, p->from, READ_COLUMNS_BLOCK, at, p->err);
        if (got <= 0)
            return (int)got;
        const size_t size = make_block(p, at, (size_t)got, &used);
        if (!size)
            return weft_error_set(p->err, WEFT_E_FORMAT, at, "cannot be put in order");
        const size_t n = ZSTD_compress2(p->zstd, p->to, p->to_size, p->block, size);
        if (ZSTD_isError(n))
            return weft_error_set(p->err, WEFT_E_NOMEM, at, "cannot be compressed: %s",
                                  ZSTD_getErrorName(n));
        rc = put(p, p->to, n);
        if (rc == 0)
            rc = add_entry(p, n, size);
        at += used;
    }
    return rc;
}

static int put_mark(struct packing *p, uint64_t number)
{
    unsigned char mark[MARK];
    weft_write_u32(mark, MARK_MAGIC);
    weft_write_u32(mark + 4, MARK - HEAD);
    memcpy(mark + HEAD, letters, sizeof letters);
    weft_write_u64(mark + HEAD + sizeof letters, number);
    const int rc = put(p, mark, sizeof mark);
    return rc < 0 ? rc : add_entry(p, sizeof mark, 0);
}

static int put_table(struct packing *p)
{
    unsigned char bytes[16];
    weft_write_u32(bytes, TABLE_MAGIC);
    weft_write_u32(bytes + 4, p->entries * ENTRY + FOOT);
    int rc = put(p, bytes, HEAD);
    for (uint32_t i = 0; rc == 0 && i < p->entries; i++) {
        weft_write_u32(bytes, p->entry[i].packed);
        weft_write_u32(bytes + 4, p->entry[i].bytes);
        rc = put(p, bytes, ENTRY);
    }
    weft_write_u32(bytes, p->entries);
    bytes[4] = 0;
    weft_write_u32(bytes + 5, FOOT_MAGIC);
    return rc < 0 ? rc : put(p, bytes, FOOT);
}

int watch_pack(const struct weft_input *in, int fd, uint64_t number, uint64_t *bytes,
               struct weft_error *err)
{
    struct packing p = {.in = in, .fd = fd, .err = err, .to_size = ZSTD_compressBound(FRAME)};
    p.zstd = ZSTD_createCCtx();
    p.from = malloc(READ_COLUMNS_BLOCK);
    p.block = malloc(FRAME);
    p.again = malloc(READ_COLUMNS_BLOCK);
    p.to = malloc(p.to_size);
    int rc = p.zstd && p.from && p.block && p.again && p.to ? 0 : weft_no_memory(err);
    if (rc == 0 && in->size / READ_COLUMNS_BLOCK >= FRAMES_MAX)
        rc = weft_error_set(err, WEFT_E_LIMIT, WEFT_NO_OFFSET, "is too large");
    if (rc == 0) {
        ZSTD_CCtx_setParameter(p.zstd, ZSTD_c_compressionLevel, LEVEL);
        ZSTD_CCtx_setParameter(p.zstd, ZSTD_c_checksumFlag, 1);
        rc = put_frames(&p);
    }
    if (rc == 0)
        rc = put_mark(&p, number);
    if (rc == 0)
        rc = put_table(&p);
    *bytes = p.written;
    ZSTD_freeCCtx(p.zstd);
    weft_free_all(p.entry, p.from, p.block, p.again, p.to);
    return rc;
}

uint64_t watch_pack_number(int fd)
{
    unsigned char foot[FOOT], mark[MARK];
    struct stat st;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size < FOOT + HEAD + MARK ||
        pread(fd, foot, FOOT, st.st_size - FOOT) != FOOT || weft_read_u32(foot + 5) != FOOT_MAGIC)
        return 0;
    const off_t table = HEAD + (off_t)weft_read_u32(foot) * ENTRY + FOOT;
    if (table + MARK > st.st_size || pread(fd, mark, MARK, st.st_size - table - MARK) != MARK ||
        weft_read_u32(mark) != MARK_MAGIC || memcmp(mark + HEAD, letters, sizeof letters) != 0)
        return 0;
    return weft_read_u64(mark + HEAD + sizeof letters);
}
