/* SPDX-License-Identifier: ISC */
/* For perf record -z: records are compressed with zstd, as one stream over all of them. A record
 * may begin in one piece and end in the next. So the decompressed data is stored in an unnamed
 * file, where it can be read at any offset. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "profile/perf.h"

enum { PIECE = 1 << 17, HEADER = 8 };

/* zstd can expand a few bytes by a factor of 30000. Records of a profile shrink to a tenth. */
#define TIMES_MAX 20
#define ALWAYS_ALLOWED (UINT64_C(64) << 20)

struct profile_unpacking {
    struct weft_input in;
    ZSTD_DStream *stream;
    size_t have; /* bytes of the record that is not yet complete */
    unsigned char bytes[UINT16_MAX + PIECE];
};

static int begin(struct profile_perf *d)
{
    struct profile_unpacking *u = malloc(sizeof *u);
    if (!u)
        return weft_no_memory(d->f->err);
    u->in = (struct weft_input){.fd = memfd_create("weft-perf", MFD_CLOEXEC)};
    u->stream = ZSTD_createDStream();
    u->have = 0;
    d->unpacking = u;
    if (!u->stream)
        return weft_no_memory(d->f->err);
    if (u->in.fd < 0)
        return weft_error_set(d->f->err, WEFT_E_NOMEM, WEFT_NO_OFFSET,
                              "no room to decompress it: %s", strerror(errno));
    return 0;
}

/* Appends the decompressed bytes to the file, after what was left over. */
static int append(struct profile_perf *d, size_t bytes, uint64_t offset)
{
    struct profile_unpacking *u = d->unpacking;
    uint64_t most = d->f->in->size * TIMES_MAX + ALWAYS_ALLOWED;
    if (u->in.size + bytes > most || u->in.size + bytes > PROFILE_PERF_BYTES_MAX)
        return weft_error_set(d->f->err, WEFT_E_LIMIT, offset,
                              "decompresses to more than 64 MiB and %d times the size of the file",
                              TIMES_MAX);
    for (size_t done = 0; done < bytes;) {
        ssize_t put = write(u->in.fd, u->bytes + u->have + done, bytes - done);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return weft_error_set(d->f->err, WEFT_E_NOMEM, offset, "no room to decompress it: %s",
                                  strerror(errno));
        done += (size_t)put;
    }
    u->in.size += bytes;
    u->have += bytes;
    return 0;
}

static int take_whole(struct profile_perf *d, uint64_t offset)
{
    struct profile_unpacking *u = d->unpacking;
    size_t at = 0;
    while (u->have - at >= HEADER) {
        uint16_t bytes = weft_read_u16(u->bytes + at + 6);
        if (bytes < HEADER)
            return weft_error_set(d->f->err, WEFT_E_FORMAT, offset,
                                  "decompresses to a record of %u bytes; the least is 8", bytes);
        if (bytes > u->have - at)
            break;
        TRY(profile_perf_take(d, u->bytes + at, bytes,
                              profile_perf_place(true, u->in.size - (u->have - at), bytes)));
        at += bytes;
    }
    u->have -= at;
    memmove(u->bytes, u->bytes + at, u->have);
    return 0;
}

int profile_perf_unpack(struct profile_perf *d, const unsigned char *packed, size_t bytes,
                        uint64_t offset)
{
    int rc = d->unpacking ? 0 : begin(d);
    ZSTD_inBuffer from = {packed, bytes, 0};
    bool full = false;
    while (rc == 0 && (from.pos < from.size || full)) {
        struct profile_unpacking *u = d->unpacking;
        size_t before = from.pos;
        ZSTD_outBuffer to = {u->bytes + u->have, PIECE, 0};
        size_t got = ZSTD_decompressStream(u->stream, &to, &from);
        if (ZSTD_isError(got))
            return weft_error_set(d->f->err, WEFT_E_FORMAT, offset, "cannot be decompressed: %s",
                                  ZSTD_getErrorName(got));
        full = to.pos == to.size;
        if (to.pos == 0 && from.pos == before)
            break; /* it needs more than there is */
        rc = append(d, to.pos, offset);
        rc = rc < 0 ? rc : take_whole(d, offset);
    }
    return rc;
}

const struct weft_input *profile_perf_unpacked(const struct profile_perf *d)
{
    return &d->unpacking->in;
}

void profile_perf_unpack_end(struct profile_perf *d)
{
    if (!d->unpacking)
        return;
    weft_input_close(&d->unpacking->in);
    ZSTD_freeDStream(d->unpacking->stream);
    free(d->unpacking);
    d->unpacking = NULL;
}
