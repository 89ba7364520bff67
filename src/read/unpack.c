/* SPDX-License-Identifier: ISC */
/* Traces that are compressed by zstd, like those that weft watch keeps. They are read at any offset, so the whole is
 * decompressed once, into an unnamed file. */
#include "read/unpack.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

#include "format/bytes.h"
#include "read/snapshot.h"

/* zstd can expand a few bytes by a factor of 30000. A trace shrinks to a tenth. */
#define TIMES_MAX 64
#define ALWAYS_ALLOWED (UINT64_C(1) << 30)

enum {
    PIECE = 1 << 17,
    WINDOW_LOG = 27, /* 128 MiB: what zstd itself reads without being asked to */
    BLOCK = 4096,    /* zeros of this length become a hole */
};

#define MAGIC UINT32_C(0xfd2fb528)
#define SKIPPABLE UINT32_C(0x184d2a50) /* to …5f */

struct unpacking {
    struct weft_input *in;
    struct weft_input out;
    uint64_t at, most; /* what was read of in; how large the contents may be */
    ZSTD_DStream *stream;
    struct weft_error *err;
    unsigned char packed[PIECE], bytes[PIECE];
};

static bool is_zero(const unsigned char *bytes, size_t n)
{
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, n - 1) == 0;
}

static int put(struct unpacking *u, const unsigned char *bytes, size_t size)
{
    if (u->out.size + size > u->most)
        return weft_error_set(u->err, WEFT_E_LIMIT, u->at,
                              "decompresses to more than 1 GiB and %d times its size; if you trust "
                              "it, decompress it with zstd -d",
                              TIMES_MAX);
    for (size_t done = 0; done < size;) {
        const size_t n = size - done < BLOCK ? size - done : BLOCK;
        ssize_t got = (ssize_t)n;
        if (!is_zero(bytes + done, n))
            got = pwrite(u->out.fd, bytes + done, n, (off_t)(u->out.size + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return weft_error_set(u->err, WEFT_E_NOMEM, u->at, "no room to decompress it: %s",
                                  strerror(errno));
        done += (size_t)got;
    }
    u->out.size += size;
    return 0;
}

/* Decompresses what was read. *wanted: becomes 0 if a frame ends there. */
static int take(struct unpacking *u, size_t size, uint64_t base, size_t *wanted)
{
    ZSTD_inBuffer from = {u->packed, size, 0};
    ZSTD_outBuffer to = {u->bytes, sizeof u->bytes, 0};
    do {
        to.pos = 0;
        *wanted = ZSTD_decompressStream(u->stream, &to, &from);
        u->at = base + from.pos;
        if (ZSTD_isError(*wanted))
            return weft_error_set(u->err, WEFT_E_FORMAT, u->at,
                                  "cannot be decompressed by zstd: %s", ZSTD_getErrorName(*wanted));
        const int rc = put(u, u->bytes, to.pos);
        if (rc < 0)
            return rc;
    } while (from.pos < from.size || to.pos == to.size);
    return 0;
}

static int unpack(struct unpacking *u)
{
    ptrdiff_t got = 0;
    size_t wanted = 1;
    int rc = 0;
    for (uint64_t base = 0; rc == 0; base += (uint64_t)got) {
        got = weft_input_read(u->in, u->packed, sizeof u->packed, base, u->err);
        if (got <= 0)
            break;
        rc = take(u, (size_t)got, base, &wanted);
    }
    if (rc == 0 && got < 0)
        rc = (int)got;
    if (rc == 0 && wanted)
        rc = weft_error_set(u->err, WEFT_E_FORMAT, u->in->size,
                            "is compressed by zstd and was cut: it ends in the middle of a frame");
    if (rc == 0 && ftruncate(u->out.fd, (off_t)u->out.size) < 0)
        rc = weft_error_set(u->err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no room to decompress it: %s",
                            strerror(errno));
    return rc;
}

static bool is_packed(const struct weft_input *in)
{
    unsigned char head[4];
    if (in->copy || weft_input_read(in, head, sizeof head, 0, NULL) != sizeof head)
        return false;
    const uint32_t magic = weft_read_u32(head);
    return magic == MAGIC || (magic & ~UINT32_C(15)) == SKIPPABLE;
}

int read_unpack(struct weft_input *in, struct weft_error *err)
{
    if (!is_packed(in))
        return 0;
    struct unpacking *u = calloc(1, sizeof *u);
    if (!u)
        return weft_no_memory(err);
    u->in = in;
    u->out = (struct weft_input){.fd = weft_snapshot_room(err)};
    u->err = err;
    u->most = in->size < ALWAYS_ALLOWED / TIMES_MAX ? ALWAYS_ALLOWED : in->size * TIMES_MAX;
    u->stream = ZSTD_createDStream();
    int rc = u->out.fd < 0 ? u->out.fd : u->stream ? 0 : weft_no_memory(err);
    if (rc == 0)
        ZSTD_DCtx_setParameter(u->stream, ZSTD_d_windowLogMax, WINDOW_LOG);
    if (rc == 0)
        rc = unpack(u);
    if (rc == 0) {
        weft_input_close(in);
        *in = u->out;
    } else {
        weft_input_close(&u->out);
    }
    ZSTD_freeDStream(u->stream);
    free(u);
    return rc;
}
