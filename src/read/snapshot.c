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
 * ended after the moment may be shown as one that ended before. */
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
#include "read/weft.h"

enum { TRIES = 100 }; /* to see a packet in one piece that changes hands */

/* A packet of the source. */
struct piece {
    uint64_t at;
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
    struct weft_facts_header facts; /* with which the file begins, if it does */
    bool has_facts, recording, live;
    bool keeps_state; /* the copy's facts have the state of the source's */
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
    struct emptieds emptied;           /* packets, in 1 */
    uint64_t newest;                   /* ticks of the newest event that was seen */
    uint64_t moment;                   /* the copy holds nothing newer */
    uint64_t overwritten;              /* events, in all places */
    uint64_t closed;                   /* ticks: what was closed before, was so before 1 began */
    bool lossy;                        /* an ending after 1 may have been overwritten */
    uint64_t listed, copied, gone;     /* packets of events */
    uint64_t last_listed, last_copied; /* their sequences */
    struct weft_packet_header facts_header; /* as it stands in the copy */
    unsigned facts_found;                   /* packets of them */
    struct weft_error *err;
};

/* What a pass over the packets does with each. Returns 0 or a negative code. */
typedef int visit_fn(struct weft_snapshot *s, uint64_t at, const struct weft_packet_header *h);

static int no_memory(struct weft_snapshot *s)
{
    return weft_error_set(s->err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory");
}

/* Makes room for one more. */
static bool grow(void *array, size_t used, size_t *room, size_t item)
{
    if (used < *room)
        return true;
    size_t wanted = *room ? 2 * *room : 256;
    void *grown = realloc(*(void **)array, wanted * item);
    if (!grown)
        return false;
    *(void **)array = grown;
    *room = wanted;
    return true;
}

/* ---- Finding packets ---- */

/* A header that can be believed. */
static bool is_packet(const struct weft_packet_header *h)
{
    return h->magic == WEFT_PACKET_MAGIC && h->signature == WEFT_PACKET_SIGNATURE &&
           h->header_bytes >= sizeof *h && h->packet_bits % 64 == 0 &&
           h->packet_bits / 8 >= h->header_bytes;
}

/* Where data begins at or after that offset: a file may have holes. */
static uint64_t skip_hole(const struct weft_snapshot *s, uint64_t at)
{
    off_t data = lseek(s->in->fd, (off_t)at, SEEK_DATA);
    if (data < 0)
        return errno == ENXIO ? s->in->size : at;
    return (uint64_t)data > at ? (uint64_t)data & ~UINT64_C(7) : at;
}

/* The next offset, from there on, at which a packet may begin; the file's size if there is none. */
static uint64_t find_mark(struct weft_snapshot *s, uint64_t at)
{
    unsigned char block[65536];
    const size_t least = sizeof(struct weft_packet_header);
    const uint32_t magic = WEFT_PACKET_MAGIC, signature = WEFT_PACKET_SIGNATURE;
    while ((at = skip_hole(s, at)) + least <= s->in->size) {
        ptrdiff_t n = weft_input_read(s->in, block, sizeof block, at, s->err);
        if (n < (ptrdiff_t)least)
            break;
        size_t i = 0;
        for (; i + least <= (size_t)n; i += 4)
            if (memcmp(block + i, &magic, 4) == 0 && memcmp(block + i + 20, &signature, 4) == 0)
                return at + i;
        at += i;
    }
    return s->in->size;
}

/* Returns how many packets there are, at most 1, or a negative WEFT_E code. */
static int visit_packets(struct weft_snapshot *s, visit_fn *visit)
{
    struct weft_packet_header h;
    int found = 0;
    for (uint64_t at = 0; at < s->in->size;) {
        ptrdiff_t n = weft_input_read(s->in, &h, sizeof h, at, s->err);
        if (n < 0)
            return (int)n;
        if (n < (ptrdiff_t)sizeof h)
            break;
        if (!is_packet(&h)) {
            at = find_mark(s, at + 4);
            continue;
        }
        int rc = visit(s, at, &h);
        if (rc < 0)
            return rc;
        found = 1;
        uint64_t bytes = h.packet_bits / 8;
        at = bytes < s->in->size - at ? at + bytes : s->in->size;
    }
    return found;
}

static bool has_events(const struct weft_packet_header *h)
{
    return h->class == WEFT_PACKET_EVENTS && h->header_bytes >= WEFT_EVENTS_HEADER_V1_0;
}

/* What an older header does not have is 0. */
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

static ptrdiff_t read_sequence(struct weft_snapshot *s, uint64_t at, uint64_t *sequence)
{
    *sequence = 0;
    return weft_input_read(s->in, sequence, sizeof *sequence,
                           at + offsetof(struct weft_events_header, sequence), s->err);
}

/* Reads the header of a packet of events, in one piece. Returns 1; 0 if it was never used, or is in nobody's
 * hands (its sequence is then 0, unless the file has become shorter); or a negative WEFT_E code. */
static int read_header(struct weft_snapshot *s, uint64_t at, struct weft_events_header *h)
{
    for (unsigned i = 0; i < TRIES; i++) {
        uint64_t before, after; /* what is read in between is of one owner */
        ptrdiff_t a = read_sequence(s, at, &before), n = read_once(s, at, h);
        ptrdiff_t b = read_sequence(s, at, &after);
        if (a < 0 || n < 0 || b < 0)
            return WEFT_E_IO;
        if (n < (ptrdiff_t)sizeof *h || b < (ptrdiff_t)sizeof after)
            break;
        if (before == h->sequence && before == after && (before || !h->begin_ticks))
            return before != 0;
    }
    h->sequence = 0;
    return 0;
}

/* How many events were overwritten in its place of the pool: if it changes hands, also those that it had. */
static uint64_t overwritten_in(const struct weft_events_header *h)
{
    uint64_t last = h->sequence ? 0 : h->counts & ((1u << WEFT_COUNTS_BITS) - 1);
    return (h->counts >> WEFT_COUNTS_BITS) + last;
}

/* ---- Reading packets ---- */

static int reserve(struct weft_snapshot *s, uint64_t bytes)
{
    if (bytes <= s->buffer_room)
        return 0;
    unsigned char *grown = realloc(s->buffer, bytes);
    if (!grown)
        return no_memory(s);
    s->buffer = grown;
    s->buffer_room = bytes;
    return 0;
}

/* Reads up to that many bytes of a packet into the buffer. Returns how many, or a negative code. */
static ptrdiff_t get_packet(struct weft_snapshot *s, uint64_t at, uint64_t bytes)
{
    uint64_t left = s->in->size > at ? s->in->size - at : 0;
    bytes = bytes < left ? bytes : left;
    int rc = reserve(s, bytes + 8);
    return rc < 0 ? rc : weft_input_read(s->in, s->buffer, bytes, at, s->err);
}

/* Returns the offset of the first event in the packet that is newer than limit, or where they end. *last:
 * raised to the time of those before. */
static uint64_t walk(const unsigned char *packet, uint64_t bytes, uint64_t limit, uint64_t *last)
{
    const struct weft_events_header *h = (const struct weft_events_header *)packet;
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

static struct ended *add_ended(struct weft_snapshot *s, uint64_t at, uint64_t count, uint64_t words)
{
    if (!grow(&s->ended, s->endeds, &s->endeds_room, sizeof *s->ended))
        return NULL;
    struct ended *e = &s->ended[s->endeds];
    *e = (struct ended){.at = at, .count = count, .word = calloc(words + 1, sizeof *e->word)};
    s->endeds += e->word != NULL;
    return e->word ? e : NULL;
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

static int note_bytes(struct weft_snapshot *s, uint64_t at)
{
    struct weft_events_header h;
    int rc = read_header(s, at, &h);
    if (rc < 0)
        return rc;
    if (rc == 0)
        rc = weft__emptied_take(&s->emptied, s->in, at, h.packet.packet_bits / 8, &h, s->err);
    if (rc < 0)
        return rc;
    ptrdiff_t n = h.sequence && has_ended(&h) ? get_packet(s, at + h.ended_at, h.ended_count) : 0;
    if (n < 0)
        return (int)n;
    /* (If it changes hands meanwhile, the header found later has another sequence.) */
    struct ended *e = add_ended(s, at, (uint64_t)n, (uint64_t)n / 64 + 1);
    if (!e)
        return no_memory(s);
    e->sequence = h.sequence;
    e->end_ticks = h.end_ticks;
    e->overwritten = overwritten_in(&h) + (h.sequence ? h.events : 0);
    for (size_t i = 0; i < (size_t)n; i++)
        e->word[i / 64] |= (uint64_t)(s->buffer[i] & 1) << i % 64;
    return 0;
}

static int note_marks(struct weft_snapshot *s, uint64_t at, const struct weft_packet_header *p)
{
    struct weft_pending_header h;
    ptrdiff_t n = weft_input_read(s->in, &h, sizeof h, at, s->err);
    uint64_t size = p->packet_bits / 8;
    if (n < (ptrdiff_t)sizeof h || h.ids_at > size ||
        h.cells > (size - h.ids_at) / sizeof(uint64_t))
        return n < 0 ? (int)n : 0;
    n = get_packet(s, at + h.ids_at, h.cells * sizeof(uint64_t));
    if (n < 0)
        return (int)n;
    struct ended *e =
        add_ended(s, at, (uint64_t)n / sizeof(uint64_t), (uint64_t)n / sizeof(uint64_t));
    if (!e)
        return no_memory(s);
    memcpy(e->word, s->buffer, e->count * sizeof *e->word);
    return 0;
}

static int note_ended(struct weft_snapshot *s, uint64_t at, const struct weft_packet_header *h)
{
    if (has_events(h))
        return note_bytes(s, at);
    if (h->class == WEFT_PACKET_PENDING && h->header_bytes >= sizeof(struct weft_pending_header))
        return note_marks(s, at, h);
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

static int find_closed(struct weft_snapshot *s, uint64_t at, const struct weft_packet_header *p)
{
    struct weft_events_header h;
    int rc = has_events(p) ? read_header(s, at, &h) : 0;
    if (rc > 0 && h.end_ticks > s->closed)
        s->closed = h.end_ticks;
    return rc < 0 ? rc : 0;
}

/* ---- 2. The moment ---- */

static int find_newest(struct weft_snapshot *s, uint64_t at, const struct weft_packet_header *p)
{
    struct weft_events_header h;
    int rc = has_events(p) ? read_header(s, at, &h) : 0;
    if (rc <= 0)
        return rc;
    s->newest = h.begin_ticks > s->newest ? h.begin_ticks : s->newest;
    s->newest = h.end_ticks > s->newest ? h.end_ticks : s->newest;
    if (h.end_ticks)
        return 0;
    uint64_t bytes = h.packet.content_bits / 8;
    ptrdiff_t n = get_packet(s, at, bytes <= h.packet.packet_bits / 8 ? bytes : 0);
    uint64_t newest = s->newest, sequence = 0;
    if (n >= WEFT_EVENTS_HEADER_V1_0)
        walk(s->buffer, (uint64_t)n, UINT64_MAX, &newest);
    if (n > 0)
        n = read_sequence(s, at, &sequence);
    if (sequence == h.sequence) /* still what was walked through */
        s->newest = newest;
    return n < 0 ? (int)n : 0;
}

static int load_cells(struct weft_snapshot *s, uint64_t at, const struct weft_packet_header *h,
                      struct cells *cells)
{
    struct place place = {at, h->packet_bits / 8, h->content_bits / 8, h->header_bytes};
    if (place.content > place.size)
        place.content = place.size;
    if (h->header_bytes < sizeof cells->h || h->header_bytes > place.content)
        return 0;
    return weft__cells_load(cells, s->in, &place, s->err);
}

/* What was overwritten before its packet was looked at may be newer than all that is there. Then it counts as
 * far as it is pending: it has a cell by now. */
static int find_newest_cell(struct weft_snapshot *s, uint64_t at,
                            const struct weft_packet_header *h)
{
    struct cells cells = {.knowns = 0};
    int rc = h->class == WEFT_PACKET_PENDING ? load_cells(s, at, h, &cells) : 0;
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

static int list_packet(struct weft_snapshot *s, uint64_t at, const struct weft_packet_header *p)
{
    struct piece piece = {.at = at, .class = p->class};
    if (p->class == WEFT_PACKET_PRIVATE)
        return 0;
    if (has_events(p)) {
        struct weft_events_header h;
        int rc = read_header(s, at, &h);
        if (rc < 0)
            return rc;
        piece.sequence = h.sequence;
        piece.end_ticks = h.end_ticks;
        piece.overwritten = overwritten_in(&h);
        piece.events = h.end_ticks ? h.events : UINT32_MAX;
        piece.bytes = h.packet.content_bits / 8;
        s->overwritten += piece.overwritten;
        compare_place(s, at, &h);
        if (rc == 0) /* unused, or on its way */
            return 0;
    }
    s->facts_found += p->class == WEFT_PACKET_FACTS;
    if (!grow(&s->piece, s->pieces, &s->pieces_room, sizeof *s->piece))
        return no_memory(s);
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
    return weft_error_set(s->err, WEFT_E_IO, WEFT_NO_OFFSET, "cannot be written: %s",
                          strerror(errno));
}

/* Ends the packet in the buffer after that many bytes and writes it. */
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
static bool compare_ended(struct weft_snapshot *s, const struct piece *p, uint64_t bytes)
{
    const struct weft_events_header *h = (const struct weft_events_header *)s->buffer;
    if (!s->live || h->packet.header_bytes < sizeof *h || bytes < h->packet.header_bytes ||
        !has_ended(h))
        return true;
    const struct ended *e = ended_at(s, p->at);
    if (e && e->sequence != p->sequence)
        e = NULL;
    uint32_t same = 0;
    while (same < h->ended_count && (s->buffer[h->ended_at + same] & 1) == ended_bit(e, same))
        same++;
    if (same == h->ended_count)
        return true;
    if (!grow(&s->late, s->lates, &s->lates_room, sizeof *s->late))
        return false;
    s->late[s->lates++] = (struct late){s->written + h->ended_at, h->ended_count, e};
    return true;
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
    int rc = read_header(s, p->at, &h);
    if (rc >= 0 && overwritten_in(&h) > p->overwritten)
        s->overwritten += overwritten_in(&h) - p->overwritten;
    return rc < 0 ? rc : 0;
}

static int copy_events(struct weft_snapshot *s, const struct piece *p)
{
    struct weft_events_header before, after, *h;
    int rc = read_header(s, p->at, &before);
    if (rc < 0)
        return rc;
    bool same = rc > 0 && before.sequence == p->sequence;
    uint64_t bytes = p->bytes, last = 0;
    if (same && before.begin_ticks > s->moment)
        return 0;
    if (same && bytes > before.packet.packet_bits / 8)
        bytes = before.packet.packet_bits / 8;
    ptrdiff_t n = same ? get_packet(s, p->at, bytes) : 0;
    if (n < 0)
        return (int)n;
    same = same && read_header(s, p->at, &after) > 0 && after.sequence == p->sequence;
    if (!same || n < WEFT_EVENTS_HEADER_V1_0)
        return count_gone(s, p);
    h = (struct weft_events_header *)s->buffer;
    size_t header = before.packet.header_bytes < sizeof *h ? WEFT_EVENTS_HEADER_V1_0 : sizeof *h;
    memcpy(h, &before, (size_t)n < header ? (size_t)n : header);
    bytes = (uint64_t)n & ~UINT64_C(3);
    if (p->events == UINT32_MAX || before.end_ticks > s->moment) {
        bytes = walk(s->buffer, bytes, s->moment, &last);
        h->end_ticks = 0;
        h->events = 0;
    }
    h->packet.content_bits = bytes * 8;
    if (header == sizeof *h && bytes >= sizeof *h)
        h->counts = h->events; /* what was overwritten, the facts say */
    if (!compare_ended(s, p, bytes))
        return no_memory(s);
    s->copied++;
    s->last_copied = p->sequence > s->last_copied ? p->sequence : s->last_copied;
    return put_packet(s, bytes);
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

static int put_cells(struct weft_snapshot *s, const struct piece *p, struct cells *c)
{
    const struct ended *e = ended_at(s, p->at);
    weft__emptied_mark(&s->emptied, c);
    uint64_t count = 0;
    for (uint64_t i = 0; i < c->knowns; i++)
        if (cut_cell(s, &c->known[i].cell))
            c->known[count++] = c->known[i];
    uint64_t ids = sizeof c->h, cells = ids + count * sizeof(uint64_t);
    uint64_t bytes = cells + count * sizeof(struct weft_pending_cell);
    int rc = reserve(s, bytes + 8);
    if (rc < 0)
        return rc;
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
    int rc = load_cells(s, p->at, h, &cells);
    if (rc > 0)
        rc = put_cells(s, p, &cells);
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

/* What the facts say of packets that are not in the copy. */
static void set_facts(const struct weft_snapshot *s, struct weft_facts_header *f)
{
    if (s->facts_found == 1)
        f->overwritten_events += s->overwritten;
    f->overwritten_packets += s->gone;
    if (is_whole(s))
        f->overwritten_packets = s->last_listed - s->listed;
    bool alive = s->live || weft_facts_alive(f);
    struct timespec now;
    if (alive && clock_gettime(CLOCK_MONOTONIC, &now) == 0)
        f->stop_mono_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    if (s->keeps_state)
        f->state = s->facts.state;
    else if (alive)
        f->state = WEFT_TRACE_SAVED;
    f->events_at = f->event_packets = f->strings_at = 0; /* not so here */
}

static int copy_other(struct weft_snapshot *s, const struct piece *p)
{
    struct weft_packet_header h;
    ptrdiff_t n = weft_input_read(s->in, &h, sizeof h, p->at, s->err);
    if (n < (ptrdiff_t)sizeof h)
        return n < 0 ? (int)n : 0;
    uint64_t bytes = h.packet_bits / 8;
    if (p->class == WEFT_PACKET_PENDING)
        return copy_pending(s, p, &h);
    if (p->class == WEFT_PACKET_STRINGS) {
        struct weft_strings_header strings;
        n = weft_input_read(s->in, &strings, sizeof strings, p->at, s->err);
        if (n == (ptrdiff_t)sizeof strings && strings.used_bytes < bytes - h.header_bytes)
            bytes = h.header_bytes + strings.used_bytes;
    } else if (p->class == WEFT_PACKET_METADATA || p->class == WEFT_PACKET_FACTS) {
        uint64_t content = h.content_bits / 8;
        bytes = content >= h.header_bytes && content < bytes ? content : bytes;
    }
    n = get_packet(s, p->at, bytes);
    if (n < (ptrdiff_t)sizeof h)
        return n < 0 ? (int)n : 0;
    if (p->class == WEFT_PACKET_FACTS && n >= (ptrdiff_t)sizeof s->facts)
        set_facts(s, (struct weft_facts_header *)s->buffer);
    return put_packet(s, (uint64_t)n);
}

/* ---- The whole ---- */

static int copy_packet(struct weft_snapshot *s, const struct piece *p)
{
    if (p->sequence)
        return copy_events(s, p);
    int rc = copy_other(s, p);
    if (rc == 0 && p->class == WEFT_PACKET_FACTS)
        s->facts_header = *(const struct weft_packet_header *)s->buffer;
    return rc;
}

/* Writes over what stands there in the copy. */
static int put_at(struct weft_snapshot *s, off_t at, const void *bytes, size_t size)
{
    if (fseeko(s->out, at, SEEK_SET) == 0 && fwrite(bytes, 1, size, s->out) == size)
        return 0;
    return weft_error_set(s->err, WEFT_E_IO, WEFT_NO_OFFSET, "cannot be written: %s",
                          strerror(errno));
}

/* Writes the facts again, now that it is known what is not in the copy. They are its first packet. */
static int put_facts_again(struct weft_snapshot *s, off_t start)
{
    struct weft_facts_header f;
    ptrdiff_t n = weft_input_read(s->in, &f, sizeof f, 0, s->err);
    if (n < (ptrdiff_t)sizeof f)
        return n < 0 ? (int)n : 0;
    set_facts(s, &f);
    f.packet = s->facts_header;
    off_t end = ftello(s->out);
    int rc = put_at(s, start, &f, sizeof f);
    if (rc == 0 && fseeko(s->out, end, SEEK_SET) != 0)
        rc = weft_error_set(s->err, WEFT_E_IO, WEFT_NO_OFFSET, "%s", strerror(errno));
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
        rc = weft_error_set(s->err, WEFT_E_IO, WEFT_NO_OFFSET, "%s", strerror(errno));
    return rc;
}

int weft_snapshot_write(struct weft_snapshot *s, FILE *file, weft_progress_fn *progress, void *data,
                        struct weft_error *err)
{
    s->out = file;
    s->err = err;
    off_t start = ftello(file);
    int rc = 0;
    for (size_t i = 0; i < s->pieces && rc == 0; i++) {
        rc = copy_packet(s, &s->piece[i]);
        if (rc == 0 && progress && !progress(data, (double)i / (double)s->pieces))
            rc = weft_error_set(err, WEFT_E_CANCELED, WEFT_NO_OFFSET, "stopped on request");
    }
    bool changed = s->copied != s->listed || s->gone;
    if (rc == 0 && start >= 0 && is_lossless(s))
        rc = put_ended_again(s, start);
    if (rc == 0 && start >= 0 && s->has_facts && s->facts_found == 1 && (s->live || changed)) {
        s->listed = s->copied;
        s->last_listed = s->last_copied;
        rc = put_facts_again(s, start);
    }
    return rc;
}

/* Reads the facts with which the file begins, if it does. */
static int read_facts(struct weft_snapshot *s)
{
    const struct weft_facts_header *f = &s->facts;
    ptrdiff_t n = weft_input_read(s->in, &s->facts, sizeof s->facts, 0, s->err);
    s->has_facts = n == (ptrdiff_t)sizeof *f && is_packet(&f->packet) &&
                   f->packet.class == WEFT_PACKET_FACTS && f->packet.header_bytes >= sizeof *f;
    s->recording = s->has_facts && f->state == WEFT_TRACE_RECORDING;
    s->live = s->recording && weft_facts_alive(f);
    return n < 0 ? (int)n : 0;
}

static int find_all(struct weft_snapshot *s)
{
    s->moment = UINT64_MAX;
    if (s->recording) {
        int rc = visit_packets(s, find_closed);
        if (rc > 0)
            rc = visit_packets(s, note_ended);
        if (rc > 0)
            rc = visit_packets(s, find_newest);
        if (rc > 0)
            rc = visit_packets(s, find_newest_cell);
        if (rc <= 0)
            return rc;
        s->moment = s->newest;
    }
    int rc = visit_packets(s, list_packet);
    if (s->pieces)
        qsort(s->piece, s->pieces, sizeof *s->piece, by_age);
    for (size_t i = 0; i < s->pieces; i++) {
        s->listed += s->piece[i].sequence > 0;
        if (s->piece[i].sequence > s->last_listed)
            s->last_listed = s->piece[i].sequence;
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
    int rc = read_facts(s);
    if (rc == 0)
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
    return s->written;
}

uint64_t weft_snapshot_gone(const struct weft_snapshot *s)
{
    return s->gone;
}

void weft_snapshot_free(struct weft_snapshot *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->endeds; i++)
        free(s->ended[i].word);
    free(s->ended);
    free(s->late);
    weft__emptied_fini(&s->emptied);
    free(s->piece);
    free(s->buffer);
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
    out->fd = memfd_create("weft-snapshot", MFD_CLOEXEC);
    int rc = write_to(s, out->fd < 0 ? -1 : fcntl(out->fd, F_DUPFD_CLOEXEC, 3), err);
    if (rc == 0 && fstat(out->fd, &st) == 0)
        out->size = (uint64_t)st.st_size;
    if (rc < 0)
        weft_input_close(out);
    return rc;
}

int weft_snapshot_of_live(struct weft_input *out, const struct weft_input *in,
                          struct weft_error *err)
{
    struct weft_snapshot probe = {.in = in, .err = err}, *s;
    *out = (struct weft_input){.fd = -1};
    int rc = read_facts(&probe);
    if (rc < 0 || !probe.live)
        return rc;
    rc = weft_snapshot_begin(&s, in, err);
    if (rc <= 0)
        return rc;
    s->keeps_state = true;
    rc = weft_snapshot_to_memory(s, out, err);
    weft_snapshot_free(s);
    return rc < 0 ? rc : 1;
}
