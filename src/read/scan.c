/* SPDX-License-Identifier: ISC */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "read/packets.h"
#include "read/snapshot_parts.h"

enum {
    TRIES = 100, /* attempts to read a packet in one piece while it is being handed over */
    RETRIES = 1 << 20,
    DISK_BLOCK = 512, /* unit of st_blocks */
    SLACK = 16 << 20,
};

/* A file is on a disk, which bounds it. Memory belongs to another machine, and may have been filled
 * maliciously, with a header everywhere. A recorder's packets of events have at least 4 KiB, and
 * there are few others. So what is stored for each packet, and a copy of the largest ones (texts
 * and pending promises: at most one and three sixteenths), fits into half of the trace's size. The
 * trace of a process is on a disk, where it takes the space that it claims; but it may have been
 * filled with samples, or mostly with pending promises. */
void read_scan_init(struct weft_snapshot *s)
{
    const struct weft_input *in = s->in;
    struct stat st;
    s->packets_max = s->memory_left = UINT64_MAX;
    s->retries = RETRIES;
    if (in->copy) {
        s->packets_max = in->size / 1024 + 64;
        s->memory_left = in->size / 2 + SLACK;
    } else if (in->process && fstat(in->fd, &st) == 0) {
        s->memory_left = 2 * DISK_BLOCK * (uint64_t)st.st_blocks + SLACK;
    }
}

/* ---- Memory ---- */

int read_scan_spend(struct weft_snapshot *s, uint64_t bytes)
{
    if (bytes > s->memory_left)
        return weft_error_set(
            s->err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
            "would take more memory to read than a recorder's trace does: what it says of "
            "itself is not true");
    s->memory_left -= bytes;
    return 0;
}

int read_scan_grow(struct weft_snapshot *s, void *array, size_t used, uint32_t *room, size_t item)
{
    const uint32_t before = *room;
    if (!weft_reserve(array, used, room, item))
        return weft_no_memory(s->err);
    return read_scan_spend(s, (uint64_t)(*room - before) * item);
}

int read_scan_reserve(struct weft_snapshot *s, uint64_t bytes)
{
    if (bytes <= s->buffer_room)
        return 0;
    TRY(read_scan_spend(s, bytes - s->buffer_room));
    unsigned char *grown = realloc(s->buffer, bytes);
    if (!grown)
        return weft_no_memory(s->err);
    s->buffer = grown;
    s->buffer_room = bytes;
    return 0;
}

/* ---- Finding packets ---- */

static bool is_packet(const unsigned char *bytes)
{
    struct weft_packet_header h;
    memcpy(&h, bytes, sizeof h);
    return format_is_packet(&h);
}

/* Finds the first packet at or after that offset. Returns 1, 0 if there is none, or a negative
 * WEFT_E code. */
static int find_packet(struct weft_snapshot *s, uint64_t from, struct spot *p)
{
    static const struct read_mark mark = {sizeof p->h, is_packet};
    int rc = read_find_mark(s->in, &mark, from, &p->at, &p->h, s->err);
    if (rc < 0 || p->at == READ_NO_MARK)
        return rc;
    p->bytes = p->h.packet_bits / 8;
    if (p->bytes > s->in->size - p->at)
        p->bytes = s->in->size - p->at;
    return 1;
}

int read_scan_packets(struct weft_snapshot *s, scan_fn *fn)
{
    struct spot p;
    uint64_t at = 0, found = 0;
    int rc;
    while ((rc = find_packet(s, at, &p)) > 0) {
        if (found++ == s->packets_max)
            return weft_error_set(
                s->err, WEFT_E_LIMIT, p.at,
                "has more packets than a recorder makes: what it says of itself is not true");
        rc = fn(s, &p);
        if (rc < 0)
            return rc;
        at = p.at + p.bytes;
    }
    return rc < 0 ? rc : found > 0;
}

/* ---- Headers of events ---- */

static ptrdiff_t read_once(struct weft_snapshot *s, uint64_t at, struct weft_events_header *h)
{
    memset(h, 0, sizeof *h);
    ptrdiff_t n = weft_input_read(s->in, h, sizeof *h, at, s->err);
    if (n >= WEFT_EVENTS_HEADER_V1_0 &&
        (n < (ptrdiff_t)sizeof *h || h->packet.header_bytes < sizeof *h)) {
        memset((char *)h + WEFT_EVENTS_HEADER_V1_0, 0, sizeof *h - WEFT_EVENTS_HEADER_V1_0);
        n = sizeof *h;
    }
    return n;
}

ptrdiff_t read_scan_sequence(struct weft_snapshot *s, uint64_t at, uint64_t *sequence)
{
    *sequence = 0;
    return weft_input_read(s->in, sequence, sizeof *sequence,
                           at + offsetof(struct weft_events_header, sequence), s->err);
}

int read_scan_header(struct weft_snapshot *s, uint64_t at, uint64_t bytes,
                     struct weft_events_header *h)
{
    for (unsigned i = 0; i < TRIES && (i == 0 || s->retries); i++) {
        s->retries -= i > 0;
        uint64_t before, after; /* if both are equal, what was read in between has one owner */
        ptrdiff_t a = read_scan_sequence(s, at, &before), n = read_once(s, at, h);
        ptrdiff_t b = read_scan_sequence(s, at, &after);
        if (a < 0 || n < 0 || b < 0)
            return WEFT_E_IO;
        if (n < (ptrdiff_t)sizeof *h || b < (ptrdiff_t)sizeof after)
            break;
        if (!format_is_packet(&h->packet) || !format_has_events(&h->packet) ||
            h->packet.header_bytes > bytes)
            memset(h, 0, sizeof *h);
        else if (before == h->sequence && before == after && (before || !h->begin_ticks))
            return before != 0;
    }
    h->sequence = 0;
    return 0;
}
