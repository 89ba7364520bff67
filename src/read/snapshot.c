/* SPDX-License-Identifier: ISC */
/* A consistent copy of a trace that is being recorded; long, for it is one protocol. In this order:
 *
 *   1. what is known to have ended: the ended bytes, and the marks in the packet of pending promises;
 *   2. the moment: the time of the newest event in any packet, or in a cell. What had been recorded by then is
 *      complete, and so are the events that say how those of 1 ended; what is newer is left out;
 *   3. the headers: which packets there are, and how far they are filled;
 *   4. texts, which only ever grow, and an event is stored after its texts;
 *   5. packets, oldest first, since the oldest is overwritten next;
 *   6. the packet of pending promises: those of a packet are in it before the packet is overwritten, so that
 *      they are here or there. If they are in both, who reads the copy knows by the packets' numbers.
 *
 * A packet that changes hands while it is copied is left out, and counted as overwritten. If it was closed only
 * after 1 had begun, as in a small ring, it may have had an event that says how a promise ended between 1 and
 * the moment. Then what is known to have ended is what was known when its packet was copied; a promise that
 * ended after the moment may be shown as one that ended before. If no packet of events is left, since the copying was
 * interrupted for as long as the ring takes to come round, all of it is done again. */
#include "read/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "format/bytes.h"
#include "format/forms.h"
#include "read/alive.h"
#include "read/scan.h"
#include "read/snapshot_mirage.h"
#include "read/until.h"
#include "read/wall.h"
#include "read/weft.h"

enum { TRIES = 4 }; /* to begin before all is overwritten; an enemy takes so much more time */

/* A packet of the source. */
struct piece {
    uint64_t at;
    uint64_t room;      /* bytes up to the next one: it gets no more in the copy */
    uint64_t sequence;  /* 0: no events */
    uint64_t bytes;     /* of its content, when it was found; 0: all of it */
    uint64_t end_ticks; /* 0: not closed, or no events */
    uint64_t overwritten;
    uint32_t events; /* UINT32_MAX: it was not closed yet */
    uint16_t class;
};

/* What was known to have ended, before the moment, of the promises of a packet of events, or those in a
 * packet of pending ones: of each a bit, or the number that is marked. */
struct ended {
    uint64_t at, sequence, end_ticks;
    uint64_t overwritten; /* in its place, once it is overwritten; if it was closed */
    uint64_t count;
    uint64_t *word;
};

/* Ended bytes in the copy that were read late. */
struct late {
    uint64_t at; /* in the copy */
    uint32_t count;
    const struct ended *before; /* or NULL: none of them had ended */
};

struct weft_snapshot {
    const struct weft_input *in;
    struct weft__mirage_copy *mirage; /* or NULL: it is weft's own; the rest is about such a one */
    struct scan scan;
    struct weft_facts_header facts; /* with which the file begins, if it does */
    bool has_facts, recording, live;
    bool keeps_state;       /* the copy's facts have the state of the source's */
    uint64_t now_real_ns;   /* CLOCK_REALTIME at the moment; only if another machine's is live */
    struct until_pair pair; /* the newest packet's */
    uint64_t pair_sequence;
    FILE *out;
    uint64_t written;
    struct piece *piece;
    size_t pieces, pieces_room;
    struct ended *ended; /* by offset */
    size_t endeds, endeds_room;
    struct late *late;
    size_t lates, lates_room;
    unsigned char *buffer; /* for one packet */
    uint64_t buffer_room;
    struct emptieds emptied;             /* packets, in 1 */
    uint64_t newest;                     /* ticks of the newest event that was seen */
    uint64_t moment;                     /* the copy holds nothing newer */
    uint64_t overwritten;                /* events, in all places */
    uint64_t closed;                     /* ticks: what was closed before, was so before 1 began */
    bool lossy;                          /* an ending after 1 may have been overwritten */
    uint64_t listed, copied, gone;       /* packets of events */
    uint64_t last_listed, last_copied;   /* their sequences */
    struct weft_facts_header facts_copy; /* those that the copy begins with, as they were read */
    bool begins_with_facts;
    unsigned facts_found; /* packets of them */
    struct weft_error *err;
};

static int no_memory(struct weft_snapshot *s)
{
    return weft_error_set(s->err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory");
}

static int cannot_write(struct weft_snapshot *s)
{
    return weft_error_set(s->err, WEFT_E_IO, WEFT_NO_OFFSET, "cannot be written: %s",
                          strerror(errno));
}

/* ---- Reading packets ---- */

/* How many events were overwritten in its place of the pool: if it changes hands, also those that it had. */
static uint64_t overwritten_in(const struct weft_events_header *h)
{
    uint64_t last = h->sequence ? 0 : h->counts & ((1u << WEFT_COUNTS_BITS) - 1);
    return (h->counts >> WEFT_COUNTS_BITS) + last;
}

static int reserve(struct weft_snapshot *s, uint64_t bytes)
{
    return weft__scan_reserve(&s->scan, &s->buffer, &s->buffer_room, bytes);
}

/* Reads up to that many bytes into the buffer. Returns how many, or a negative code. */
static ptrdiff_t get_bytes(struct weft_snapshot *s, uint64_t at, uint64_t bytes)
{
    uint64_t left = s->in->size > at ? s->in->size - at : 0;
    bytes = bytes < left ? bytes : left;
    int rc = reserve(s, bytes + 8);
    return rc < 0 ? rc : weft_input_read(s->in, s->buffer, bytes, at, s->err);
}

/* Returns the offset of the first event in the packet that is newer than limit, or where they end. h: its header,
 * that of the bytes is not looked at. *last: raised to the time of those before. */
static uint64_t walk(const struct weft_events_header *h, const unsigned char *packet,
                     uint64_t bytes, uint64_t limit, uint64_t *last)
{
    uint64_t at = h->packet.header_bytes;
    while (at + 8 <= bytes) {
        uint64_t ticks = weft_form_ticks(packet + at, h->begin_ticks);
        uint32_t words = packet[at + 7] >> 5, more = 0; /* the code is the highest byte */
        if (words == 7 && at + 12 <= bytes)
            more = weft_read_u32(packet + at + 8);
        if (ticks > limit)
            break;
        *last = ticks > *last ? ticks : *last;
        at += 8 + (words == 7 ? 4 + 4 * (uint64_t)more : 4 * words);
    }
    return at < bytes ? at : bytes;
}

/* ---- 1. What has ended ---- */

static int add_ended(struct weft_snapshot *s, uint64_t at, uint64_t count, uint64_t words,
                     struct ended **out)
{
    int rc = weft__scan_grow(&s->scan, &s->ended, s->endeds, &s->endeds_room, sizeof *s->ended);
    if (rc == 0)
        rc = weft__scan_spend(&s->scan, (words + 1) * sizeof(uint64_t));
    if (rc < 0)
        return rc;
    struct ended *e = *out = &s->ended[s->endeds];
    *e = (struct ended){.at = at, .count = count, .word = calloc(words + 1, sizeof *e->word)};
    if (!e->word)
        return no_memory(s);
    s->endeds++;
    return 0;
}

/* Whether the packet's ended bytes lie where they should. */
static bool has_ended(const struct weft_events_header *h)
{
    uint32_t header = h->packet.header_bytes;
    return h->ended_count && h->ended_at >= sizeof *h && h->ended_at <= header &&
           h->ended_count <= header - h->ended_at;
}

static uint8_t ended_bit(const struct ended *e, uint64_t i)
{
    return (uint8_t)(e && i < e->count ? e->word[i / 64] >> i % 64 & 1 : 0);
}

static int take_emptied(struct weft_snapshot *s, const struct spot *p,
                        const struct weft_events_header *h)
{
    if (!has_ended(h))
        return 0;
    int rc = weft__scan_spend(&s->scan, h->ended_count / 8 + 2 * sizeof *s->emptied.packet);
    return rc < 0 ? rc : weft__emptied_take(&s->emptied, s->in, p->at, p->bytes, h, s->err);
}

static int note_bytes(struct weft_snapshot *s, const struct spot *p)
{
    struct weft_events_header h;
    int rc = weft__scan_header(&s->scan, p->at, p->bytes, &h);
    if (rc == 0)
        rc = take_emptied(s, p, &h);
    if (rc < 0)
        return rc;
    ptrdiff_t n = h.sequence && has_ended(&h) ? get_bytes(s, p->at + h.ended_at, h.ended_count) : 0;
    if (n < 0)
        return (int)n;
    /* (If it changes hands meanwhile, the header found later has another sequence.) */
    struct ended *e;
    rc = add_ended(s, p->at, (uint64_t)n, (uint64_t)n / 64 + 1, &e);
    if (rc < 0)
        return rc;
    e->sequence = h.sequence;
    e->end_ticks = h.end_ticks;
    e->overwritten = overwritten_in(&h) + (h.sequence ? h.events : 0);
    for (size_t i = 0; i < (size_t)n; i++)
        e->word[i / 64] |= (uint64_t)(s->buffer[i] & 1) << i % 64;
    return 0;
}

static int note_marks(struct weft_snapshot *s, const struct spot *p)
{
    struct weft_pending_header h;
    ptrdiff_t n = weft_input_read(s->in, &h, sizeof h, p->at, s->err);
    if (n < (ptrdiff_t)sizeof h || h.ids_at > p->bytes ||
        h.cells > (p->bytes - h.ids_at) / sizeof(uint64_t))
        return n < 0 ? (int)n : 0;
    n = get_bytes(s, p->at + h.ids_at, h.cells * sizeof(uint64_t));
    if (n < 0)
        return (int)n;
    struct ended *e;
    uint64_t count = (uint64_t)n / sizeof(uint64_t);
    int rc = add_ended(s, p->at, count, count, &e);
    if (rc == 0)
        memcpy(e->word, s->buffer, count * sizeof *e->word);
    return rc;
}

static int note_ended(void *data, const struct spot *p)
{
    if (weft__has_events(&p->h))
        return note_bytes(data, p);
    if (p->h.class == WEFT_PACKET_PENDING &&
        p->h.header_bytes >= sizeof(struct weft_pending_header))
        return note_marks(data, p);
    return 0;
}

static int by_place(const void *key, const void *member)
{
    uint64_t at = *(const uint64_t *)key, other = ((const struct ended *)member)->at;
    return at < other ? -1 : at > other;
}

/* What had ended in the packet at that offset, or NULL. */
static const struct ended *ended_at(const struct weft_snapshot *s, uint64_t at)
{
    return s->endeds ? bsearch(&at, s->ended, s->endeds, sizeof *s->ended, by_place) : NULL;
}

/* A packet that was closed at that time (0: not yet) has been overwritten. */
static void lose(struct weft_snapshot *s, uint64_t end_ticks)
{
    s->lossy |= end_ticks == 0 || end_ticks > s->closed;
}

/* Whether what was in the place when it was looked at first has been overwritten, or even more. */
static void compare_place(struct weft_snapshot *s, uint64_t at, const struct weft_events_header *h)
{
    const struct ended *e = ended_at(s, at);
    if (!e || e->sequence == h->sequence)
        return;
    if (e->sequence)
        lose(s, e->end_ticks);
    s->lossy |= overwritten_in(h) > e->overwritten;
}

static int find_closed(void *data, const struct spot *p)
{
    struct weft_snapshot *s = data;
    struct weft_events_header h;
    int rc = weft__has_events(&p->h) ? weft__scan_header(&s->scan, p->at, p->bytes, &h) : 0;
    if (rc > 0 && h.end_ticks > s->closed)
        s->closed = h.end_ticks;
    return rc < 0 ? rc : 0;
}

/* ---- 2. The moment ---- */

static void note_pair(struct weft_snapshot *s, const struct weft_events_header *h)
{
    if (h->sequence < s->pair_sequence || !(h->pair_ticks | h->pair_mono_ns))
        return;
    s->pair_sequence = h->sequence;
    s->pair = (struct until_pair){h->pair_ticks, h->pair_mono_ns, h->pair_real_ns};
}

static int find_newest(void *data, const struct spot *p)
{
    struct weft_snapshot *s = data;
    struct weft_events_header h;
    int rc = weft__has_events(&p->h) ? weft__scan_header(&s->scan, p->at, p->bytes, &h) : 0;
    if (rc <= 0)
        return rc;
    note_pair(s, &h);
    s->newest = h.begin_ticks > s->newest ? h.begin_ticks : s->newest;
    s->newest = h.end_ticks > s->newest ? h.end_ticks : s->newest;
    if (h.end_ticks)
        return 0;
    uint64_t bytes = h.packet.content_bits / 8;
    bytes = bytes > h.packet.packet_bits / 8 ? 0 : bytes < p->bytes ? bytes : p->bytes;
    ptrdiff_t n = get_bytes(s, p->at, bytes);
    uint64_t newest = s->newest, sequence = 0;
    if (n > 0)
        walk(&h, s->buffer, (uint64_t)n, UINT64_MAX, &newest);
    if (n > 0)
        n = weft__scan_sequence(&s->scan, p->at, &sequence);
    if (sequence == h.sequence) /* still what was walked through */
        s->newest = newest;
    return n < 0 ? (int)n : 0;
}

static int load_cells(struct weft_snapshot *s, const struct spot *p, struct cells *cells)
{
    struct place place = {p->at, p->bytes, p->h.content_bits / 8, p->h.header_bytes};
    if (place.content > place.size)
        place.content = place.size;
    if (p->h.header_bytes < sizeof cells->h || p->h.header_bytes > place.content)
        return 0;
    const uint64_t most = place.content / sizeof(struct weft_pending_cell) * sizeof(struct known);
    int rc = weft__scan_spend(&s->scan, 2 * most); /* they grow by doubling */
    if (rc < 0)
        return rc;
    s->scan.memory_left += 2 * most; /* they do not last */
    return weft__cells_load(cells, s->in, &place, s->err);
}

/* What was overwritten before its packet was looked at may be newer than all that is there. Then it counts as
 * far as it is pending: it has a cell by now. */
static int find_newest_cell(void *data, const struct spot *p)
{
    struct weft_snapshot *s = data;
    struct cells cells = {.knowns = 0};
    int rc = p->h.class == WEFT_PACKET_PENDING ? load_cells(s, p, &cells) : 0;
    for (uint64_t i = 0; i < cells.knowns; i++) {
        const struct weft_pending_cell *c = &cells.known[i].cell;
        if (!(c->flags & WEFT_PENDING_UNBORN) && c->created_ticks > s->newest)
            s->newest = c->created_ticks;
        for (unsigned n = 0; n < WEFT_PENDING_NOTES; n++)
            if (c->note_tag[n] && c->note_ticks[n] > s->newest)
                s->newest = c->note_ticks[n];
    }
    weft__cells_fini(&cells);
    return rc < 0 ? rc : 0;
}

/* ---- 3. The headers ---- */

static int list_packet(void *data, const struct spot *p)
{
    struct weft_snapshot *s = data;
    struct piece piece = {.at = p->at, .room = p->bytes, .class = p->h.class};
    if (piece.class == WEFT_PACKET_PRIVATE)
        return 0;
    if (weft__has_events(&p->h)) {
        struct weft_events_header h;
        int rc = weft__scan_header(&s->scan, p->at, p->bytes, &h);
        if (rc < 0)
            return rc;
        piece.sequence = h.sequence;
        piece.end_ticks = h.end_ticks;
        piece.overwritten = overwritten_in(&h);
        piece.events = h.end_ticks ? h.events : UINT32_MAX;
        piece.bytes = h.packet.content_bits / 8;
        s->overwritten += piece.overwritten;
        compare_place(s, p->at, &h);
        if (rc == 0) /* unused, or on its way */
            return 0;
    }
    int rc = weft__scan_grow(&s->scan, &s->piece, s->pieces, &s->pieces_room, sizeof *s->piece);
    if (rc < 0)
        return rc;
    s->facts_found += piece.class == WEFT_PACKET_FACTS;
    s->piece[s->pieces++] = piece;
    return 0;
}

/* In which part of the copy it stands. */
static int rank(const struct piece *p)
{
    if (p->class == WEFT_PACKET_PENDING)
        return 3;
    return p->sequence ? 1 + !p->end_ticks : 0;
}

/* Facts first; then packets in the order in which they will be overwritten, that is in which they were closed;
 * what is pending last. */
static int by_age(const void *a, const void *b)
{
    const struct piece *p = a, *q = b;
    if (rank(p) != rank(q))
        return rank(p) - rank(q);
    if (p->end_ticks != q->end_ticks)
        return p->end_ticks < q->end_ticks ? -1 : 1;
    if (p->sequence != q->sequence)
        return p->sequence < q->sequence ? -1 : 1;
    return p->at < q->at ? -1 : p->at > q->at;
}

/* ---- 4, 5, 6. Copying ---- */

static int put(struct weft_snapshot *s, const void *bytes, size_t size)
{
    s->written += size;
    if (fwrite(bytes, 1, size, s->out) == size)
        return 0;
    return cannot_write(s);
}

/* Ends the packet in the buffer after that many bytes, at least a header's, and writes it. */
static int put_packet(struct weft_snapshot *s, uint64_t bytes)
{
    static const unsigned char zeros[8];
    struct weft_packet_header *h = (struct weft_packet_header *)s->buffer;
    uint64_t padding = -bytes & 7;
    h->packet_bits = (bytes + padding) * 8;
    if (h->content_bits > bytes * 8)
        h->content_bits = bytes * 8;
    int rc = put(s, s->buffer, bytes);
    return rc < 0 ? rc : put(s, zeros, padding);
}

/* Makes a note where the copy of a packet has ended bytes that were not set before the moment. */
static int compare_ended(struct weft_snapshot *s, const struct piece *p,
                         const struct weft_events_header *h, uint64_t bytes)
{
    if (!s->live || h->packet.header_bytes < sizeof *h || bytes < h->packet.header_bytes ||
        !has_ended(h))
        return 0;
    const struct ended *e = ended_at(s, p->at);
    if (e && e->sequence != p->sequence)
        e = NULL;
    uint32_t same = 0;
    while (same < h->ended_count && (s->buffer[h->ended_at + same] & 1) == ended_bit(e, same))
        same++;
    if (same == h->ended_count)
        return 0;
    int rc = weft__scan_grow(&s->scan, &s->late, s->lates, &s->lates_room, sizeof *s->late);
    if (rc == 0)
        s->late[s->lates++] = (struct late){s->written + h->ended_at, h->ended_count, e};
    return rc;
}

static int count_gone(struct weft_snapshot *s, const struct piece *p)
{
    struct weft_events_header h;
    s->gone++;
    lose(s, p->end_ticks);
    if (p->events != UINT32_MAX) {
        s->overwritten += p->events;
        return 0;
    }
    int rc = weft__scan_header(&s->scan, p->at, p->room, &h);
    if (rc >= 0 && overwritten_in(&h) > p->overwritten)
        s->overwritten += overwritten_in(&h) - p->overwritten;
    return rc < 0 ? rc : 0;
}

/* Writes the packet that is in the buffer; h is its header, the one that is checked. */
static int put_events(struct weft_snapshot *s, const struct piece *p, struct weft_events_header *h,
                      uint64_t bytes)
{
    const bool is_long = h->packet.header_bytes >= sizeof *h;
    uint64_t last = 0;
    if (p->events == UINT32_MAX || h->end_ticks > s->moment) {
        bytes = walk(h, s->buffer, bytes, s->moment, &last);
        h->end_ticks = 0;
        h->events = 0;
    }
    h->packet.content_bits = bytes * 8;
    if (is_long && bytes >= sizeof *h)
        h->counts = h->events; /* what was overwritten, the facts say */
    const size_t header = is_long ? sizeof *h : WEFT_EVENTS_HEADER_V1_0;
    memcpy(s->buffer, h, bytes < header ? bytes : header);
    int rc = compare_ended(s, p, h, bytes);
    if (rc < 0)
        return rc;
    s->copied++;
    s->last_copied = p->sequence > s->last_copied ? p->sequence : s->last_copied;
    return put_packet(s, bytes);
}

static int copy_events(struct weft_snapshot *s, const struct piece *p)
{
    struct weft_events_header before, after;
    int rc = weft__scan_header(&s->scan, p->at, p->room, &before);
    if (rc < 0)
        return rc;
    bool same = rc > 0 && before.sequence == p->sequence;
    uint64_t bytes = p->bytes;
    if (same && before.begin_ticks > s->moment)
        return 0;
    if (same && bytes > before.packet.packet_bits / 8)
        bytes = before.packet.packet_bits / 8;
    ptrdiff_t n = same ? get_bytes(s, p->at, bytes < p->room ? bytes : p->room) : 0;
    if (n < 0)
        return (int)n;
    same = same && weft__scan_header(&s->scan, p->at, p->room, &after) > 0 &&
           after.sequence == p->sequence;
    if (!same || n < WEFT_EVENTS_HEADER_V1_0)
        return count_gone(s, p);
    return put_events(s, p, &before, (uint64_t)n & ~UINT64_C(3));
}

/* What a cell has that is newer than the moment is left out. Returns false if nothing is left. */
static bool cut_cell(const struct weft_snapshot *s, struct weft_pending_cell *c)
{
    if (!(c->flags & WEFT_PENDING_UNBORN) && c->created_ticks > s->moment)
        return false;
    for (unsigned i = 0; i < WEFT_PENDING_NOTES; i++)
        if (c->note_ticks[i] > s->moment)
            c->note_tag[i] = 0;
    c->version = 0;
    return true;
}

/* What had ended when it was looked at first is right at the moment, too, or is said by events in the copy. */
static bool is_lossless(const struct weft_snapshot *s)
{
    return s->live && !s->lossy;
}

static int put_cells(struct weft_snapshot *s, const struct piece *p,
                     const struct weft_packet_header *packet, struct cells *c)
{
    const struct ended *e = ended_at(s, p->at);
    const uint64_t ids = sizeof c->h, each = sizeof(uint64_t) + sizeof(struct weft_pending_cell);
    weft__emptied_mark(&s->emptied, c);
    uint64_t count = 0;
    for (uint64_t i = 0; i < c->knowns && ids + (count + 1) * each <= p->room; i++)
        if (cut_cell(s, &c->known[i].cell))
            c->known[count++] = c->known[i];
    const uint64_t cells = ids + count * sizeof(uint64_t), bytes = ids + count * each;
    int rc = reserve(s, bytes + 8);
    if (rc < 0)
        return rc;
    c->h.packet = *packet;
    c->h.packet.header_bytes = sizeof c->h;
    c->h.packet.content_bits = bytes * 8;
    c->h.cells = (uint32_t)count;
    c->h.cell_bytes = sizeof(struct weft_pending_cell);
    c->h.ids_at = ids;
    c->h.cells_at = cells;
    memcpy(s->buffer, &c->h, sizeof c->h);
    for (uint64_t i = 0; i < count; i++) {
        const struct known *k = &c->known[i];
        uint64_t marked = k->id | WEFT_PENDING_RESOLVED;
        bool before = e && k->place < e->count && e->word[k->place] == marked;
        bool ended = k->ended || (k->resolved && (before || !is_lossless(s)));
        memcpy(s->buffer + ids + i * 8, ended ? &marked : &k->id, 8);
        memcpy(s->buffer + cells + i * sizeof k->cell, &k->cell, sizeof k->cell);
    }
    return put_packet(s, bytes);
}

static int copy_pending(struct weft_snapshot *s, const struct piece *p,
                        const struct weft_packet_header *h)
{
    struct cells cells = {.knowns = 0};
    int rc = load_cells(s, &(struct spot){p->at, p->room, *h}, &cells);
    if (rc > 0)
        rc = put_cells(s, p, h, &cells);
    weft__cells_fini(&cells);
    return rc;
}

/* The pool lies in the file with all of its packets: of those up to the newest, all that are not copied were
 * overwritten. */
static bool is_whole(const struct weft_snapshot *s)
{
    const struct weft_facts_header *f = &s->facts;
    return s->has_facts && s->facts_found == 1 && f->event_packets && f->event_packet_bytes &&
           f->events_at <= s->in->size &&
           f->event_packets <= (s->in->size - f->events_at) / f->event_packet_bytes;
}

/* When it was copied, on the clock of the process, if that is known. */
static uint64_t until_ns(const struct weft_snapshot *s, const struct weft_facts_header *f)
{
    struct timespec now;
    if (s->in->writer == WEFT_WRITER_ALIVE)
        return s->live ? weft__until_ns(f, &s->pair, s->newest, s->now_real_ns) : 0;
    if (s->in->writer == WEFT_WRITER_PROCESS && (s->live || weft_facts_alive(f)) &&
        clock_gettime(CLOCK_MONOTONIC, &now) == 0)
        return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    return 0;
}

/* What the facts say of packets that are not in the copy. */
static void set_facts(const struct weft_snapshot *s, struct weft_facts_header *f)
{
    if (s->facts_found == 1)
        f->overwritten_events += s->overwritten;
    f->overwritten_packets += s->gone;
    if (is_whole(s))
        f->overwritten_packets = s->last_listed - s->listed;
    const uint64_t until = until_ns(s, f);
    if (until) {
        f->stop_mono_ns = until;
        f->stop_ticks = 0; /* it may have stopped since the moment */
    }
    if (s->keeps_state)
        f->state = s->facts.state;
    else if (until || s->live)
        f->state = WEFT_TRACE_SAVED;
    else if (s->in->writer == WEFT_WRITER_DEAD && f->state == WEFT_TRACE_RECORDING)
        f->state = WEFT_TRACE_KILLED;
    f->events_at = f->event_packets = f->strings_at = 0; /* not so here */
}

/* How much of a packet is content, of so many bytes that it has; h is its header. */
static int used_of(struct weft_snapshot *s, const struct piece *p,
                   const struct weft_packet_header *h, uint64_t *bytes)
{
    *bytes = h->packet_bits / 8 < p->room ? h->packet_bits / 8 : p->room;
    if (h->header_bytes > *bytes)
        return 0;
    if (p->class == WEFT_PACKET_STRINGS) {
        struct weft_strings_header strings;
        ptrdiff_t n = weft_input_read(s->in, &strings, sizeof strings, p->at, s->err);
        if (n == (ptrdiff_t)sizeof strings && strings.used_bytes < *bytes - h->header_bytes)
            *bytes = h->header_bytes + strings.used_bytes;
        return n < 0 ? (int)n : 0;
    }
    const uint64_t content = h->content_bits / 8;
    const bool ends = p->class == WEFT_PACKET_METADATA || p->class == WEFT_PACKET_FACTS;
    if (ends && content >= h->header_bytes && content < *bytes)
        *bytes = content;
    return 0;
}

/* Appends what was seen of the source's clock to the facts, of which size bytes are in the buffer; there is room.
 * Returns the new size. */
static ptrdiff_t add_sight(struct weft_snapshot *s, ptrdiff_t size)
{
    struct weft_packet_header *h = (struct weft_packet_header *)s->buffer;
    if (s->in->copy)
        weft_sight_blank((char *)s->buffer + h->header_bytes,
                         (size_t)size > h->header_bytes ? (size_t)size - h->header_bytes : 0);
    if (!s->in->sight || h->content_bits / 8 != (uint64_t)size || s->buffer[size - 1] != '\0')
        return size;
    char text[WEFT_SIGHT_TEXT];
    size_t more = weft_sight_write(text, s->in->sight);
    memcpy(s->buffer + size, text, more);
    h->content_bits += more * 8;
    return size + (ptrdiff_t)more;
}

static int copy_other(struct weft_snapshot *s, const struct piece *p)
{
    struct weft_packet_header h;
    uint64_t bytes;
    ptrdiff_t n = weft_input_read(s->in, &h, sizeof h, p->at, s->err);
    if (n < (ptrdiff_t)sizeof h || !weft__is_packet(&h) || h.class != p->class)
        return n < 0 ? (int)n : 0;
    if (p->class == WEFT_PACKET_PENDING)
        return copy_pending(s, p, &h);
    int rc = used_of(s, p, &h, &bytes);
    rc = rc < 0 ? rc : reserve(s, bytes + WEFT_SIGHT_TEXT);
    n = rc < 0 ? rc : get_bytes(s, p->at, bytes);
    if (n < (ptrdiff_t)sizeof h)
        return n < 0 ? (int)n : 0;
    memcpy(s->buffer, &h, sizeof h);
    if (p->class == WEFT_PACKET_FACTS && n >= (ptrdiff_t)sizeof s->facts) {
        if (s->written == 0) {
            s->begins_with_facts = true;
            memcpy(&s->facts_copy, s->buffer, sizeof s->facts_copy);
        }
        set_facts(s, (struct weft_facts_header *)s->buffer);
        n = s->written == 0 ? add_sight(s, n) : n;
    }
    return put_packet(s, (uint64_t)n);
}

/* ---- The whole ---- */

static int copy_packet(struct weft_snapshot *s, const struct piece *p)
{
    return p->sequence ? copy_events(s, p) : copy_other(s, p);
}

/* Where the copy begins in the file, if one can go back there; else -1. */
static off_t start_of(FILE *file)
{
    const int fd = fileno(file), flags = fd < 0 ? 0 : fcntl(fd, F_GETFL);
    return flags >= 0 && flags & O_APPEND ? -1 : ftello(file);
}

/* Writes over what stands there in the copy. */
static int put_at(struct weft_snapshot *s, off_t at, const void *bytes, size_t size)
{
    if (fseeko(s->out, at, SEEK_SET) == 0 && fwrite(bytes, 1, size, s->out) == size)
        return 0;
    return cannot_write(s);
}

/* Writes the facts again, now that it is known what is not in the copy. They are its first packet. */
static int put_facts_again(struct weft_snapshot *s, off_t start)
{
    struct weft_facts_header f = s->facts_copy;
    set_facts(s, &f);
    off_t end = ftello(s->out);
    const size_t after = sizeof f.packet; /* that is as it is */
    int rc = put_at(s, start + (off_t)after, (unsigned char *)&f + after, sizeof f - after);
    if (rc == 0 && fseeko(s->out, end, SEEK_SET) != 0)
        rc = cannot_write(s);
    return rc;
}

/* Puts what had ended before the moment in the place of what was read later. */
static int put_ended_again(struct weft_snapshot *s, off_t start)
{
    off_t end = ftello(s->out);
    int rc = 0;
    for (size_t i = 0; i < s->lates && rc == 0; i++) {
        const struct late *l = &s->late[i];
        rc = reserve(s, l->count);
        for (uint32_t n = 0; n < l->count && rc == 0; n++)
            s->buffer[n] = ended_bit(l->before, n);
        if (rc == 0)
            rc = put_at(s, start + (off_t)l->at, s->buffer, l->count);
    }
    if (rc == 0 && fseeko(s->out, end, SEEK_SET) != 0)
        rc = cannot_write(s);
    return rc;
}

static int write_packets(struct weft_snapshot *s, off_t start, weft_progress_fn *progress,
                         void *data)
{
    int rc = 0;
    for (size_t i = 0; i < s->pieces && rc == 0; i++) {
        rc = copy_packet(s, &s->piece[i]);
        if (rc == 0 && progress && !progress(data, (double)i / (double)s->pieces))
            rc = weft_error_set(s->err, WEFT_E_CANCELED, WEFT_NO_OFFSET, "stopped on request");
    }
    bool changed = s->copied != s->listed || s->gone;
    if (rc == 0 && start >= 0 && is_lossless(s))
        rc = put_ended_again(s, start);
    if (rc == 0 && start >= 0 && s->begins_with_facts && s->facts_found == 1 &&
        (s->live || changed)) {
        s->listed = s->copied;
        s->last_listed = s->last_copied;
        rc = put_facts_again(s, start);
    }
    return rc;
}

/* Whether somebody records into it who is not said to be dead. */
static bool is_live(const struct weft_snapshot *s)
{
    switch (s->in->writer) {
    case WEFT_WRITER_ALIVE:
        return s->recording;
    case WEFT_WRITER_DEAD:
        return false;
    default:
        return s->recording && weft_facts_alive(&s->facts);
    }
}

/* Reads the facts with which the file begins, if it does. */
static int read_facts(struct weft_snapshot *s)
{
    const struct weft_facts_header *f = &s->facts;
    ptrdiff_t n = weft_input_read(s->in, &s->facts, sizeof s->facts, 0, s->err);
    s->has_facts = n == (ptrdiff_t)sizeof *f && weft__is_packet(&f->packet) &&
                   f->packet.class == WEFT_PACKET_FACTS && f->packet.header_bytes >= sizeof *f;
    s->recording = s->has_facts && f->state == WEFT_TRACE_RECORDING;
    s->live = is_live(s);
    s->pair = (struct until_pair){f->start_ticks, f->start_mono_ns, f->start_real_ns};
    return n < 0 ? (int)n : 0;
}

/* Sets the moment. Returns as weft__scan_packets. */
static int find_moment(struct weft_snapshot *s)
{
    static scan_fn *const passes[] = {find_closed, note_ended, find_newest, find_newest_cell};
    struct timespec now;
    int rc = 1;
    for (size_t i = 0; i < sizeof passes / sizeof *passes && rc > 0; i++)
        rc = weft__scan_packets(&s->scan, passes[i], s);
    s->moment = s->newest;
    if (s->live && s->in->writer == WEFT_WRITER_ALIVE && clock_gettime(CLOCK_REALTIME, &now) == 0)
        s->now_real_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    return rc;
}

static int find_all(struct weft_snapshot *s)
{
    int rc = read_facts(s);
    s->moment = UINT64_MAX;
    if (rc < 0)
        return rc;
    if (s->recording && (rc = find_moment(s)) <= 0)
        return rc;
    rc = weft__scan_packets(&s->scan, list_packet, s);
    if (s->pieces)
        qsort(s->piece, s->pieces, sizeof *s->piece, by_age);
    for (size_t i = 0; i < s->pieces; i++) {
        s->listed += s->piece[i].sequence > 0;
        if (s->piece[i].sequence > s->last_listed)
            s->last_listed = s->piece[i].sequence;
    }
    return rc;
}

static void forget(struct weft_snapshot *s)
{
    for (size_t i = 0; i < s->endeds; i++)
        free(s->ended[i].word);
    free(s->ended);
    free(s->late);
    weft__emptied_fini(&s->emptied);
    free(s->piece);
    free(s->buffer);
}

/* Sets another moment, for a copy that begins anew. Returns 0 or a negative WEFT_E code. */
static int begin_again(struct weft_snapshot *s, off_t start)
{
    const struct weft_snapshot anew = {
        .in = s->in, .keeps_state = s->keeps_state, .out = s->out, .err = s->err};
    forget(s);
    *s = anew;
    weft__scan_init(&s->scan, s->in, s->err);
    int rc = find_all(s);
    if (rc == 0)
        rc = weft_error_set(s->err, WEFT_E_INVALID, WEFT_NO_OFFSET,
                            "has gone away while it was copied");
    if (rc > 0 && (fseeko(s->out, start, SEEK_SET) != 0 || ftruncate(fileno(s->out), start) != 0))
        rc = cannot_write(s);
    return rc < 0 ? rc : 0;
}

/* All events there were at the moment have been overwritten. */
static bool is_gone(const struct weft_snapshot *s)
{
    return s->gone && !s->copied;
}

int weft_snapshot_write(struct weft_snapshot *s, FILE *file, weft_progress_fn *progress, void *data,
                        struct weft_error *err)
{
    const off_t start = start_of(file);
    s->out = file;
    s->err = s->scan.err = err;
    if (s->mirage)
        return weft__mirage_copy_write(s->mirage, file, start, progress, data, err);
    int rc = write_packets(s, start, progress, data);
    for (unsigned i = 0; i < TRIES && rc == 0 && start >= 0 && is_gone(s); i++) {
        rc = begin_again(s, start);
        if (rc == 0)
            rc = write_packets(s, start, progress, data);
    }
    return rc;
}

int weft_snapshot_begin(struct weft_snapshot **out, const struct weft_input *in,
                        struct weft_error *err)
{
    *out = NULL;
    struct weft_snapshot *s = calloc(1, sizeof *s);
    if (!s)
        return weft_error_set(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory");
    s->in = in;
    s->err = err;
    weft__scan_init(&s->scan, in, err);
    int rc = weft__mirage_copy_begin(&s->mirage, in, err);
    if (rc > 0)
        s->live = in->writer == WEFT_WRITER_ALIVE;
    else if (rc == 0)
        rc = find_all(s);
    if (rc > 0)
        *out = s;
    else
        weft_snapshot_free(s);
    return rc;
}

bool weft_snapshot_is_live(const struct weft_snapshot *s)
{
    return s->live;
}

uint64_t weft_snapshot_bytes(const struct weft_snapshot *s)
{
    return s->mirage ? weft__mirage_copy_bytes(s->mirage) : s->written;
}

uint64_t weft_snapshot_gone(const struct weft_snapshot *s)
{
    return s->mirage ? weft__mirage_copy_gone(s->mirage) : s->gone;
}

void weft_snapshot_free(struct weft_snapshot *s)
{
    if (!s)
        return;
    weft__mirage_copy_free(s->mirage);
    forget(s);
    free(s);
}

/* ---- In memory ---- */

static int write_to(struct weft_snapshot *s, int fd, struct weft_error *err)
{
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file)
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "no room to hold it: %s",
                              strerror(errno));
    int rc = weft_snapshot_write(s, file, NULL, NULL, err);
    if (fclose(file) != 0 && rc == 0)
        rc = weft_error_set(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no room to hold it: %s",
                            strerror(errno));
    return rc;
}

int weft_snapshot_to_memory(struct weft_snapshot *s, struct weft_input *out, struct weft_error *err)
{
    struct stat st;
    *out = (struct weft_input){.fd = memfd_create("weft-snapshot", MFD_CLOEXEC)};
    int rc = write_to(s, out->fd < 0 ? -1 : fcntl(out->fd, F_DUPFD_CLOEXEC, 3), err);
    if (rc == 0 && fstat(out->fd, &st) == 0)
        out->size = (uint64_t)st.st_size;
    if (rc < 0)
        weft_input_close(out);
    return rc;
}

/* Whether it is worth a copy. Returns 1, 0, or a negative WEFT_E code. */
static int probe(const struct weft_input *in, struct weft_error *err)
{
    struct weft_snapshot s = {.in = in, .err = err};
    int rc = in->writer == WEFT_WRITER_ALIVE ? weft__is_mirage(in, err) : 0;
    if (rc == 0)
        rc = read_facts(&s);
    return rc == 0 ? s.live : rc;
}

int weft_snapshot_of_live(struct weft_input *out, const struct weft_input *in,
                          struct weft_error *err)
{
    struct weft_snapshot *s;
    *out = (struct weft_input){.fd = -1};
    int rc = probe(in, err);
    if (rc > 0)
        rc = weft_snapshot_begin(&s, in, err);
    if (rc <= 0)
        return rc;
    s->keeps_state = true;
    rc = weft_snapshot_to_memory(s, out, err);
    weft_snapshot_free(s);
    return rc < 0 ? rc : 1;
}
