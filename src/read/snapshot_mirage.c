/* SPDX-License-Identifier: ISC */
/* Makes a consistent copy of mirage-profile's ring. Its writer goes round the packets: it stamps
 * the next sequence number on one, empties it, and puts events into it. For each event it first
 * raises the content size and then writes the event.
 * All headers are read first. The moment is when the newest packet's header was read: the copy has
 * what that packet held then, and the packets with smaller numbers. Those were closed by then, so
 * they count as they are when they are copied. Packets are copied oldest first, since the oldest is
 * overwritten next. If one is reused in the meantime, it has another number or less content
 * afterwards. If it was begun after the moment, it is left as a packet that was never used. So are
 * the packets before it, since a gap would look like promises that hang: what ended in it would
 * have no end.
 * A packet that is still as its header said at first is copied byte for byte, whatever it says. So
 * are bytes that do not belong to a packet. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "format/mirage.h"
#include "read/packets.h"
#include "read/snapshot_parts.h"

enum {
    HEADER = WEFT_MIRAGE_HEADER_SIZE,
    HEAD = HEADER + 8, /* with the time of the first event */
    TRIES = 20,        /* attempts to read a packet in one piece */
    BLOCK = 64 << 10,
    FULL_MAX = 1024, /* bytes that may be left in a packet because the next event did not fit */
    REST_LEAST_NS =
        50000, /* ns between two looks; doubled each time; at most 0.2 s in total for one copy */
    REST_MOST_NS = 200000000,
};

/* A part of the input. The parts cover all of it. */
struct part {
    uint64_t at, bytes;
    uint64_t first_ns; /* time of its first event; 0: it has none */
    uint32_t content;  /* bytes in use, with the header; as first read */
    uint16_t sequence;
    bool is_packet; /* otherwise the bytes are not a packet */
    bool cut;       /* its size comes from content, and not from what it says */
};

struct read_mirage_copy {
    const struct weft_input *in;
    struct part *part; /* in the order of the input */
    size_t parts, most;
    uint32_t room;
    long rest_ns; /* how long to wait next for an event */
    bool has_newest;
    uint64_t newest_at;
    uint16_t newest; /* sequence number */
    uint64_t written, done, gone;
    size_t first; /* the part that is copied first, if the file can seek */
    size_t kept;  /* how many of those copied first are not in the copy */
    FILE *out;
    off_t start;           /* -1: parts are written in order */
    uint64_t out_at;       /* the file's current offset in the copy */
    unsigned char *packet; /* NULL: parts are written to their places, block by block */
    uint64_t packet_room;
    unsigned char block[BLOCK];
    struct weft_error *err;
};

static bool is_mark(const unsigned char *bytes)
{
    return memcmp(bytes, WEFT_MIRAGE_MARK, WEFT_MIRAGE_MARK_SIZE) == 0;
}

/* Reads the header of a packet. Returns 1; 0 if there is none; or a negative WEFT_E code. */
static int read_header(const struct weft_input *in, uint64_t at, unsigned char head[HEADER],
                       struct weft_mirage_header *h, struct weft_error *err)
{
    const int rc = read_whole(in, head, HEADER, at, err);
    if (rc <= 0 || !is_mark(head))
        return rc < 0 ? rc : 0;
    *h = weft_mirage_header_read(head);
    return 1;
}

int read_is_mirage(const struct weft_input *in, struct weft_error *err)
{
    unsigned char head[HEADER];
    struct weft_mirage_header h;
    return read_header(in, 0, head, &h, err);
}

/* ---- Finding packets ---- */

static int add_part(struct read_mirage_copy *c, const struct part *p)
{
    if (c->parts == c->most)
        return weft_error_set(
            c->err, WEFT_E_LIMIT, p->at,
            "has more packets than a recorder makes: what it says of itself is not true");
    if (!weft_reserve(&c->part, c->parts, &c->room, sizeof *c->part))
        return weft_no_memory(c->err);
    c->part[c->parts++] = *p;
    return 0;
}

/* Reads the head of a packet at a time when it is not being emptied. Returns how many bytes there
 * are, or a negative WEFT_E code. */
static ptrdiff_t read_head(struct read_mirage_copy *c, uint64_t at, unsigned char head[HEAD])
{
    ptrdiff_t n = 0;
    bool same = false;
    for (unsigned i = 0; i < TRIES && !same; i++) {
        unsigned char again[HEADER];
        memset(head, 0, HEAD);
        n = weft_input_read(c->in, head, HEAD, at, c->err);
        ptrdiff_t m = n < HEADER ? n : weft_input_read(c->in, again, sizeof again, at, c->err);
        if (m < HEADER)
            return m;
        const struct weft_mirage_header x = weft_mirage_header_read(head),
                                        y = weft_mirage_header_read(again);
        same = x.sequence == y.sequence && x.content_bits <= y.content_bits;
    }
    return n;
}

/* Adds the part that begins at that offset. */
static int list_part(struct read_mirage_copy *c, uint64_t at)
{
    unsigned char head[HEAD];
    const uint64_t left = c->in->size - at;
    struct part p = {.at = at};
    ptrdiff_t n = read_head(c, at, head);
    int rc = n < 0 ? (int)n : 0;
    if (n >= HEADER && is_mark(head)) {
        const struct weft_mirage_header h = weft_mirage_header_read(head);
        p.bytes = h.packet_bits / 8;
        p.is_packet = p.bytes >= HEADER && p.bytes <= left;
        p.content = h.content_bits / 8;
        p.sequence = h.sequence;
        if (p.bytes >= HEAD)
            p.first_ns = weft_read_u64(head + HEADER);
    }
    if (rc == 0 && !p.is_packet) {
        static const struct read_mark mark = {WEFT_MIRAGE_MARK_SIZE, is_mark};
        uint64_t next;
        rc = read_find_mark(c->in, &mark, at + 1, &next, NULL, c->err);
        p.bytes = (next != READ_NO_MARK ? next : c->in->size) - at;
    }
    return rc < 0 ? rc : add_part(c, &p);
}

/* ---- The moment ---- */

static bool is_used(const struct part *p)
{
    return p->is_packet && p->content > HEADER;
}

/* How many packets were begun after the one with that number, up to the newest. */
static uint16_t age(uint16_t newest, uint16_t sequence)
{
    return (uint16_t)(newest - sequence);
}

/* The newest packet. (The numbers in a ring are close together, even if some were read a few rounds
 * ago.) */
static struct part *find_newest(struct read_mirage_copy *c)
{
    struct part *newest = NULL;
    for (size_t i = 0; i < c->parts; i++) {
        struct part *p = &c->part[i];
        const uint16_t after = newest ? age(p->sequence, newest->sequence) : 1;
        if (is_used(p) && after && after < 0x8000)
            newest = p;
    }
    return newest;
}

/* Returns true if the newest packet has its new number, but still its old content: it is full, and
 * older than all others. The writer may have been stopped at that point. */
static bool is_not_emptied(const struct read_mirage_copy *c, const struct part *newest)
{
    uint64_t oldest = UINT64_MAX;
    if (newest->content > newest->bytes || newest->bytes - newest->content > FULL_MAX)
        return false;
    for (size_t i = 0; i < c->parts; i++)
        if (is_used(&c->part[i]) && &c->part[i] != newest && c->part[i].first_ns < oldest)
            oldest = c->part[i].first_ns;
    return oldest != UINT64_MAX && newest->first_ns < oldest;
}

/* Waits until the newest event is written, which is certain once another one follows it. That
 * may take long, and the writer may have been interrupted: after some time the event counts as
 * written. */
static void await_event(struct read_mirage_copy *c, const struct part *newest)
{
    unsigned char head[HEADER];
    struct weft_mirage_header h;
    for (; c->rest_ns < REST_MOST_NS; c->rest_ns *= 2) {
        if (read_header(c->in, newest->at, head, &h, NULL) <= 0 || h.sequence != newest->sequence ||
            h.content_bits / 8 != newest->content)
            return;
        nanosleep(&(struct timespec){.tv_nsec = c->rest_ns}, NULL);
    }
}

static void set_moment(struct read_mirage_copy *c)
{
    struct part *newest = find_newest(c);
    /* (A file does not change.) */
    if (newest && c->in->writer != WEFT_WRITER_PROCESS && is_not_emptied(c, newest)) {
        newest->content = HEADER;
        newest->cut = true;
        newest = find_newest(c);
    }
    c->has_newest = newest != NULL;
    if (newest) {
        c->first = (size_t)(newest - c->part + 1) % c->parts; /* the next one to be overwritten */
        c->newest_at = newest->at;
        c->newest = newest->sequence;
        if (c->in->writer == WEFT_WRITER_ALIVE)
            await_event(c, newest);
    }
}

static int find_parts(struct read_mirage_copy *c)
{
    int rc = 0;
    c->parts = 0;
    for (uint64_t at = 0; at < c->in->size && rc == 0;) {
        rc = list_part(c, at);
        if (rc == 0)
            at += c->part[c->parts - 1].bytes;
    }
    if (rc == 0)
        set_moment(c);
    return rc;
}

int read_mirage_copy_begin(struct read_mirage_copy **out, const struct weft_input *in,
                           struct weft_error *err)
{
    *out = NULL;
    int rc = read_is_mirage(in, err);
    if (rc <= 0)
        return rc;
    struct read_mirage_copy *c = calloc(1, sizeof *c);
    if (!c)
        return weft_no_memory(err);
    c->in = in;
    c->err = err;
    c->rest_ns = REST_LEAST_NS;
    /* Packets are few and large, unless the memory was filled maliciously. */
    c->most = in->copy ? in->size / 1024 + 64 : SIZE_MAX;
    rc = find_parts(c);
    if (rc < 0) {
        read_mirage_copy_free(c);
        return rc;
    }
    *out = c;
    return 1;
}

/* ---- Writing ---- */

/* Writes bytes at that offset of the copy. */
static int write_bytes(struct read_mirage_copy *c, uint64_t at, const void *bytes, size_t size)
{
    if (c->start >= 0 && at != c->out_at && fseeko(c->out, c->start + (off_t)at, SEEK_SET) != 0)
        return read_snapshot_cannot_write(c->err);
    if (fwrite(bytes, 1, size, c->out) != size)
        return read_snapshot_cannot_write(c->err);
    c->out_at = at + size;
    c->written = c->out_at > c->written ? c->out_at : c->written;
    return 0;
}

/* Writes bytes of a packet; they may have to be written again later. */
static int write_part(struct read_mirage_copy *c, const struct part *p, uint64_t at,
                      const void *bytes, size_t size)
{
    if (c->start >= 0)
        return write_bytes(c, p->at + at, bytes, size);
    memcpy(c->packet + at, bytes, size);
    return 0;
}

static int write_zeros(struct read_mirage_copy *c, const struct part *p, uint64_t at)
{
    int rc = 0;
    memset(c->block, 0, sizeof c->block);
    for (size_t n; at < p->bytes && rc == 0; at += n) {
        n = p->bytes - at < sizeof c->block ? (size_t)(p->bytes - at) : sizeof c->block;
        rc = write_part(c, p, at, c->block, n);
    }
    return rc;
}

/* Copies a part's bytes from one place to another. Returns 1; 0 if the input has become shorter; or a
 * negative WEFT_E code. */
static int copy_range(struct read_mirage_copy *c, const struct part *p, uint64_t at, uint64_t end)
{
    while (at < end) {
        size_t want = end - at < sizeof c->block ? (size_t)(end - at) : sizeof c->block;
        ptrdiff_t n = weft_input_read(c->in, c->block, want, p->at + at, c->err);
        if (n <= 0)
            return (int)n;
        TRY(p->is_packet ? write_part(c, p, at, c->block, (size_t)n)
                         : write_bytes(c, p->at + at, c->block, (size_t)n));
        at += (size_t)n;
    }
    return 1;
}

/* How much of a packet belongs in the copy. */
enum extent { WHOLE, BEGINNING, NOTHING };

static enum extent what_to_copy(const struct read_mirage_copy *c, const struct part *p,
                                struct weft_mirage_header h)
{
    const bool same = h.sequence == p->sequence;
    if (same && h.content_bits / 8 == p->content && !p->cut)
        return WHOLE;
    if (!c->has_newest || (same && p->at == c->newest_at))
        return same ? BEGINNING : NOTHING;
    const uint16_t older = age(c->newest, h.sequence);
    if (older && older < 0x8000)
        return WHOLE; /* it was closed before the moment */
    return same ? BEGINNING : NOTHING;
}

/* Copies it once. Returns 1 if it did not change during that; 0 if it did; or a negative WEFT_E
 * code. *fit: there may be something in it that belongs in the copy. */
static int try_packet(struct read_mirage_copy *c, const struct part *p, bool *fit)
{
    unsigned char head[HEADER], again[HEADER];
    struct weft_mirage_header h, after;
    *fit = false;
    int rc = read_header(c->in, p->at, head, &h, c->err);
    if (rc <= 0)
        return rc;
    const enum extent what = what_to_copy(c, p, h);
    const uint32_t said = h.content_bits / 8;
    if (what == NOTHING)
        return 0;
    *fit = true;
    uint64_t end = p->bytes;
    if (what == BEGINNING) {
        const uint32_t content =
            said < p->content || p->content < HEADER ? HEADER : p->content; /* not emptied yet */
        end = content < p->bytes ? content : p->bytes;
        h.content_bits = content * 8;
        weft_mirage_header_write(head, h);
    }
    rc = write_part(c, p, 0, head, sizeof head);
    if (rc == 0)
        rc = copy_range(c, p, HEADER, end);
    if (rc > 0 && end < p->bytes)
        rc = write_zeros(c, p, end) < 0 ? WEFT_E_IO : 1;
    if (rc > 0)
        rc = read_header(c->in, p->at, again, &after, c->err);
    if (rc <= 0)
        return rc;
    return after.sequence == h.sequence && after.content_bits / 8 >= said;
}

static int put_never_used(struct read_mirage_copy *c, const struct part *p)
{
    unsigned char head[HEADER];
    const struct weft_mirage_header never = {(uint32_t)p->bytes * 8, HEADER * 8, p->sequence};
    c->gone += is_used(p);
    weft_mirage_header_write(head, never);
    return write_part(c, p, 0, head, sizeof head);
}

static struct part *part_at(const struct read_mirage_copy *c, size_t n)
{
    return &c->part[c->start < 0 ? n : (c->first + n) % c->parts];
}

/* Part n is not in the copy: replaces those before it with unused packets. */
static int blank_before(struct read_mirage_copy *c, size_t n)
{
    int rc = 0;
    for (; c->kept < n && rc == 0; c->kept++)
        if (part_at(c, c->kept)->is_packet) /* it may have been empty at first */
            rc = put_never_used(c, part_at(c, c->kept));
    c->kept = n + 1;
    return rc;
}

static int copy_packet(struct read_mirage_copy *c, size_t n)
{
    const struct part *p = part_at(c, n);
    bool fit = true;
    int rc = 0;
    for (unsigned i = 0; i < TRIES && rc == 0 && fit; i++)
        rc = try_packet(c, p, &fit);
    if (rc == 0) {
        rc = put_never_used(c, p);
        if (rc == 0)
            rc = write_zeros(c, p, HEADER);
        if (rc == 0 && c->start >= 0)
            rc = blank_before(c, n);
    }
    if (rc >= 0 && c->start < 0)
        rc = write_bytes(c, p->at, c->packet, p->bytes);
    return rc < 0 ? rc : 0;
}

/* If the file cannot seek, a packet is assembled in memory. */
static int allocate_packet(struct read_mirage_copy *c)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < c->parts; i++)
        if (c->part[i].is_packet && c->part[i].bytes > largest)
            largest = c->part[i].bytes;
    c->packet = malloc(largest + 1);
    return c->packet ? 0 : weft_no_memory(c->err);
}

static int write_parts(struct read_mirage_copy *c, weft_progress_fn *progress, void *data)
{
    int rc = 0;
    c->done = c->gone = 0;
    c->kept = 0;
    for (size_t i = 0; i < c->parts && rc == 0; i++) {
        const struct part *p = part_at(c, i);
        rc = p->is_packet ? copy_packet(c, i) : copy_range(c, p, 0, p->bytes);
        rc = rc < 0 ? rc : 0;
        c->done += p->bytes;
        if (rc == 0 && progress && !progress(data, (double)c->done / (double)c->in->size))
            rc = weft_error_set(c->err, WEFT_E_CANCELED, WEFT_NO_OFFSET, "stopped on request");
    }
    return rc;
}

/* The writer has gone round the whole ring since the moment. */
static bool is_empty(const struct read_mirage_copy *c)
{
    size_t used = 0;
    for (size_t i = 0; i < c->parts; i++)
        used += is_used(&c->part[i]);
    return used && c->gone >= used;
}

int read_mirage_copy_write(struct weft_snapshot *s, off_t start, weft_progress_fn *progress,
                           void *data)
{
    struct read_mirage_copy *c = s->mirage;
    c->err = s->err;
    c->out = s->out;
    c->start = start;
    int rc = start < 0 ? allocate_packet(c) : 0;
    for (unsigned i = 0; i <= TRIES && rc == 0 && (!i || (start >= 0 && is_empty(c))); i++) {
        rc = i ? find_parts(c) : 0;
        if (rc == 0)
            rc = write_parts(c, progress, data);
    }
    if (rc == 0 && start >= 0 && fseeko(s->out, start + (off_t)c->written, SEEK_SET) != 0)
        rc = read_snapshot_cannot_write(c->err);
    s->written = c->written;
    s->gone = c->gone;
    return rc;
}

void read_mirage_copy_free(struct read_mirage_copy *c)
{
    if (!c)
        return;
    weft_free_all(c->part, c->packet, c);
}
