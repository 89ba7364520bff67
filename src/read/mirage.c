/* SPDX-License-Identifier: ISC */
/* Reads mirage-profile's ring: what is stored about each packet, the order of packets, and
 * decoding. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "format/mirage.h"
#include "read/packets.h"

struct packet {
    uint64_t offset;   /* of its header in the file */
    uint64_t first_ns; /* time of its first event */
    uint64_t number;   /* the sequence number without wrapping; only differences mean something */
    uint32_t content;  /* bytes of header and events that are really there */
    uint16_t sequence; /* as in the file */
    bool cut;          /* the file ends within its content */
};

struct mirage {
    struct weft_reader common;
    struct packet *packet; /* those with events; sorted in the order of recording */
    uint64_t packets;
    uint32_t packets_room;

    /* The current position. The window holds bytes [window_at, window_at + window_size) of the
     * file. */
    uint64_t current;  /* packet */
    uint64_t position; /* in the file; 0: decoding of the packet has not begun */
    unsigned char *window;
    uint64_t window_at;
    size_t window_size, window_room;
    uint64_t last_ns;       /* time of the previous event */
    uint64_t stale_checked; /* the newest packet has no unfinished tail before this offset */
    uint64_t done_bytes;    /* content of the packets before the current one */
    struct read_packets walk;
    bool begun; /* last_ns was set by an event */
};

enum {
    WINDOW_MIN = 256 << 10,
    HEAD_SIZE = WEFT_MIRAGE_HEADER_SIZE + 8, /* a header and the time of the first event */
    /* A writer dies in the middle of one event. If more bytes than this at the end of the newest
     * packet have old times, the clock was set back. */
    STALE_TAIL_MAX = 1024,
};

#define NOWHERE UINT64_MAX

/* Finding packets */

static int add_packet(struct mirage *r, const struct packet *p, struct weft_error *err)
{
    if (!weft_reserve(&r->packet, r->packets, &r->packets_room, sizeof *r->packet))
        return weft_error_set(err, WEFT_E_NOMEM, p->offset, "out of memory for its packets");
    r->packet[r->packets++] = *p;
    r->common.facts.content_bytes += p->content;
    return 0;
}

static bool is_mark(const unsigned char *bytes)
{
    return memcmp(bytes, WEFT_MIRAGE_MARK, WEFT_MIRAGE_MARK_SIZE) == 0;
}

static void read_sizes(struct read_packet *p)
{
    const struct weft_mirage_header h = weft_mirage_header_read(p->head);
    p->size = h.packet_bits / 8;
    p->says = h.content_bits / 8;
}

static void shorten_packet(struct weft_reader *common, uint64_t offset, uint64_t bytes)
{
    struct mirage *r = (struct mirage *)common;
    struct packet *last = r->packets ? &r->packet[r->packets - 1] : NULL;
    if (!last || last->offset != offset || last->content <= bytes)
        return;
    common->facts.content_bytes -= last->content - bytes;
    last->content = (uint32_t)bytes;
    if (last->content < HEAD_SIZE)
        last->first_ns = UINT64_MAX;
}

static int add_any_packet(struct weft_reader *common, const struct read_packet *p,
                          struct weft_error *err)
{
    struct mirage *r = (struct mirage *)common;
    if (p->content < WEFT_MIRAGE_HEADER_SIZE) {
        read_packet_skip(&r->walk, common, p, 26,
                         "packet says it holds %llu bytes, less than its header",
                         (unsigned long long)p->content);
        return 0;
    }
    if (p->content == WEFT_MIRAGE_HEADER_SIZE) {
        common->facts.unused_packets++;
        return 0;
    }
    return add_packet(r,
                      &(struct packet){
                          .offset = p->offset,
                          .content = (uint32_t)p->content,
                          .sequence = weft_mirage_header_read(p->head).sequence,
                          .cut = p->says > p->content,
                          /* A packet without a whole event has only just been begun. */
                          .first_ns = p->content >= HEAD_SIZE && p->head_size >= HEAD_SIZE
                                          ? weft_read_u64(p->head + WEFT_MIRAGE_HEADER_SIZE)
                                          : UINT64_MAX,
                      },
                      err);
}

static const struct read_packet_form packet_form = {
    .head_bytes = HEAD_SIZE,
    .header_bytes = WEFT_MIRAGE_HEADER_SIZE,
    .mark = {WEFT_MIRAGE_MARK_SIZE, is_mark},
    .size_at = 20,
    .content_at = 26,
    .read_sizes = read_sizes,
    .add = add_any_packet,
    .shorten = shorten_packet,
};

/* Ordering them */

static int by_number(const void *a, const void *b)
{
    const struct packet *x = a, *y = b;
    WEFT_ORDER(x->number, y->number);
    return weft_order(x->offset, y->offset);
}

static int by_time(const void *a, const void *b)
{
    const struct packet *x = a, *y = b;
    WEFT_ORDER(x->first_ns, y->first_ns);
    return weft_order(x->offset, y->offset);
}

static int by_offset(const void *a, const void *b)
{
    return weft_order(((const struct packet *)a)->offset, ((const struct packet *)b)->offset);
}

/* Returns true for a small step forward; numbers are counted modulo 2^16. */
static bool follows(uint16_t next, uint16_t before)
{
    return (uint16_t)(next - before) <= 0x8000;
}

/* Orders packets by mirage's rule: the oldest packet is the first whose number is not a small step
 * after that of the packet before it in the file. The others follow by their distance from it. With
 * more than 2^16 packets, distances are made unique by walking round the ring. */
static void number_by_rule(struct mirage *r)
{
    uint64_t oldest = 0;
    for (uint64_t i = 1; i < r->packets && !oldest; i++)
        if (!follows(r->packet[i].sequence, r->packet[i - 1].sequence))
            oldest = i;
    uint16_t base = r->packet[oldest].sequence;
    if (r->packets <= 0x10000) {
        for (uint64_t i = 0; i < r->packets; i++)
            r->packet[i].number = (uint16_t)(r->packet[i].sequence - base);
        return;
    }
    uint64_t number = 0;
    for (uint64_t i = 0; i < r->packets; i++) {
        uint64_t at = (oldest + i) % r->packets;
        number += (uint16_t)(r->packet[at].sequence - base);
        base = r->packet[at].sequence;
        r->packet[at].number = number;
    }
}

/* The packets are sorted by time. If their numbers agree with that order, numbers them and returns
 * true. */
static bool number_by_time(struct mirage *r)
{
    for (uint64_t i = 1; i < r->packets; i++)
        if (!follows(r->packet[i].sequence, r->packet[i - 1].sequence))
            return false;
    r->packet[0].number = 0;
    for (uint64_t i = 1; i < r->packets; i++)
        r->packet[i].number =
            r->packet[i - 1].number + (uint16_t)(r->packet[i].sequence - r->packet[i - 1].sequence);
    return true;
}

static bool times_rise(const struct mirage *r)
{
    for (uint64_t i = 1; i < r->packets; i++)
        if (r->packet[i].first_ns < r->packet[i - 1].first_ns)
            return false;
    return true;
}

/* The rule holds for a ring as its writer left it. If it gives times that run backwards, the
 * packets may be in any order in the file, or there may be more than the numbers can distinguish.
 * Then the times decide, provided that the numbers agree with them. */
static void order_packets(struct mirage *r)
{
    if (!r->packets)
        return;
    number_by_rule(r);
    qsort(r->packet, r->packets, sizeof *r->packet, by_number);
    if (!times_rise(r)) {
        qsort(r->packet, r->packets, sizeof *r->packet, by_time);
        if (!number_by_time(r)) {
            qsort(r->packet, r->packets, sizeof *r->packet, by_offset);
            number_by_rule(r);
            qsort(r->packet, r->packets, sizeof *r->packet, by_number);
        }
    }
    r->common.facts.overwritten_packets = r->packet[0].sequence;
    for (uint64_t i = 1; i < r->packets; i++) {
        uint64_t step = r->packet[i].number - r->packet[i - 1].number;
        r->common.facts.missing_packets += step > 1 ? step - 1 : 0;
        if (r->packet[i].offset < r->packet[i - 1].offset)
            r->common.facts.wrapped = true;
    }
}

static int open_mirage(struct weft_reader *common, struct weft_error *err)
{
    struct mirage *r = (struct mirage *)common;
    r->common.facts.clock = "nanoseconds, origin unknown";
    r->common.facts.streams = 1;
    r->window_room = WINDOW_MIN;
    r->window = malloc(r->window_room);
    if (!r->window)
        return weft_error_set(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory");
    r->walk = (struct read_packets){
        .form = &packet_form, .window = r->window, .window_bytes = r->window_room};
    int rc = read_packets(&r->walk, common, err);
    if (rc < 0)
        return rc;
    r->common.facts.packets = r->packets;
    r->common.is_trace = r->packets + r->common.facts.unused_packets > 0;
    order_packets(r);
    return 0;
}

/* Decoding */

/* How much to read at position: up to the packet's end, and on through the packets that are decoded
 * next, as long as they follow it in the file. Packets in another order are not read ahead, since
 * they would be read again and again. */
static size_t worth_reading(const struct mirage *r, uint64_t position, uint64_t end)
{
    for (uint64_t i = r->current + 1; i < r->packets && end - position < r->window_room; i++) {
        const struct packet *p = &r->packet[i];
        if (p->offset < end || p->offset - position >= r->window_room)
            break;
        end = p->offset + p->content;
    }
    return end - position < r->window_room ? (size_t)(end - position) : r->window_room;
}

/* Makes the bytes of the file from position on available: at least one event of them, if the
 * packet, which ends at end, has one. If the bytes in the window were not enough (more), the window
 * is refilled or made larger. Returns how many bytes are at *bytes, none of them beyond end. */
static ptrdiff_t fill_window(struct mirage *r, uint64_t position, uint64_t end, bool more,
                             const unsigned char **bytes, struct weft_error *err)
{
    bool inside = position >= r->window_at && position < r->window_at + r->window_size;
    if (!inside || more) {
        if (inside && position == r->window_at && r->window_size == r->window_room) {
            /* The event is longer than the window; it is never longer than the packet. */
            unsigned char *grown = realloc(r->window, r->window_room * 2);
            if (!grown)
                return weft_error_set(err, WEFT_E_NOMEM, position,
                                      "out of memory for an event of more than %zu bytes",
                                      r->window_room);
            r->window = grown;
            r->window_room *= 2;
        }
        r->window_size = 0;
        size_t want = more ? r->window_room : worth_reading(r, position, end);
        ptrdiff_t got = weft_input_read(&r->common.input, r->window, want, position, err);
        if (got < 0)
            return got;
        r->window_at = position;
        r->window_size = (size_t)got;
    }
    uint64_t have = r->window_at + r->window_size - position;
    *bytes = r->window + (position - r->window_at);
    return (ptrdiff_t)(have < end - position ? have : end - position);
}

/* Decodes the event at position. Returns its size, WEFT_DECODE_SHORT at the packet's end,
 * WEFT_DECODE_UNKNOWN, or a WEFT_E code below that. */
static ptrdiff_t decode_at(struct mirage *r, uint64_t position, uint64_t end, struct weft_event *ev,
                           struct weft_error *err)
{
    for (bool more = false;; more = true) {
        const unsigned char *bytes;
        ptrdiff_t have = fill_window(r, position, end, more, &bytes, err);
        if (have < 0)
            return have - 1; /* below WEFT_DECODE_UNKNOWN; see packet_ends */
        ptrdiff_t n = weft_event_decode(ev, bytes, (size_t)have);
        if (n != WEFT_DECODE_SHORT || position + (uint64_t)have == end)
            return n;
        if (more && r->window_size < r->window_room) /* the file has become shorter */
            return WEFT_DECODE_SHORT;
    }
}

/* The earliest time that an event of this lap can have in the newest packet. */
static uint64_t earliest_time(const struct mirage *r)
{
    uint64_t i = r->current;
    uint64_t first = r->packet[i].first_ns != UINT64_MAX ? r->packet[i].first_ns : 0;
    uint64_t before =
        i > 0 && r->packet[i - 1].first_ns != UINT64_MAX ? r->packet[i - 1].first_ns : 0;
    return before > first ? before : first;
}

/* Returns true if everything from position to the end of the newest packet is older than the
 * packet. The writer reserves space for an event before it writes the event, so such a tail is left
 * over from an earlier lap. */
static bool tail_is_stale(struct mirage *r, uint64_t position, uint64_t end)
{
    if (end - position > STALE_TAIL_MAX)
        return false;
    uint64_t limit = earliest_time(r);
    while (position < end) {
        struct weft_event ev;
        ptrdiff_t n = decode_at(r, position, end, &ev, NULL);
        if (n <= 0)
            return true;
        if (ev.time_ns >= limit) {
            r->stale_checked = position;
            return false;
        }
        position += (uint64_t)n;
    }
    return true;
}

static void next_packet(struct mirage *r)
{
    r->done_bytes += r->packet[r->current].content;
    r->current++;
    r->position = 0;
}

/* Nothing more can be decoded in the current packet: reports why, unless it is the packet's end. */
static void give_up_packet(struct mirage *r, uint64_t end, ptrdiff_t why)
{
    const struct packet *p = &r->packet[r->current];
    uint64_t left = end - r->position;
    bool newest = r->current + 1 == r->packets;
    const unsigned char *bytes;
    bool old = newest && left <= STALE_TAIL_MAX && left >= WEFT_EVENT_HEADER_SIZE &&
               fill_window(r, r->position, end, false, &bytes, NULL) >= 8 &&
               weft_read_u64(bytes) < earliest_time(r);
    if (p->cut && why == WEFT_DECODE_SHORT) {
        r->common.damage.skipped_bytes += left; /* the end of the file has been reported */
    } else if (newest && (why == WEFT_DECODE_SHORT || old)) {
        r->common.damage.half_written = 1;
        r->common.damage.skipped_bytes += left;
    } else if (why == WEFT_DECODE_SHORT) {
        read_reader_problem(&r->common, r->position, left,
                            "an event does not end within its packet; skipped %llu bytes",
                            (unsigned long long)left);
    } else {
        unsigned kind = fill_window(r, r->position, end, false, &bytes, NULL) > 8 ? bytes[8] : 0;
        read_reader_problem(&r->common, r->position, left,
                            "event %u is not one of mirage's; skipped the rest of its packet, "
                            "%llu bytes",
                            kind, (unsigned long long)left);
    }
    next_packet(r);
}

static void note_event(struct mirage *r, const struct weft_event *ev)
{
    if (r->begun && ev->time_ns < r->last_ns)
        r->common.damage.backward_times++;
    r->begun = true;
    r->last_ns = ev->time_ns;
    if (ev->kind == WEFT_EVENT_CREATES && ev->type >= WEFT_TYPES)
        r->common.damage.unknown_types++;
}

/* Decodes the part of the current packet that is in the window, up to a batch. */
static size_t decode_window(struct mirage *r, uint64_t end)
{
    if (r->position < r->window_at || r->position >= r->window_at + r->window_size)
        return 0;
    const unsigned char *at = r->window + (r->position - r->window_at);
    uint64_t have = r->window_at + r->window_size;
    const unsigned char *stop = r->window + ((have < end ? have : end) - r->window_at);
    uint64_t limit = r->current + 1 == r->packets ? earliest_time(r) : 0;
    size_t n = 0;
    while (n < WEFT_BATCH) {
        struct weft_event *ev = &r->common.batch[n];
        ptrdiff_t size = weft_event_decode(ev, at, (size_t)(stop - at));
        if (size <= 0)
            break;
        if (ev->time_ns < limit && (uint64_t)(at - r->window) + r->window_at >= r->stale_checked)
            break;
        note_event(r, ev);
        at += size;
        n++;
    }
    r->position = r->window_at + (uint64_t)(at - r->window);
    return n;
}

static ptrdiff_t next_events(struct weft_reader *common, struct weft_error *err)
{
    struct mirage *r = (struct mirage *)common;
    while (r->current < r->packets) {
        const struct packet *p = &r->packet[r->current];
        uint64_t end = p->offset + p->content;
        if (!r->position)
            r->position = p->offset + WEFT_MIRAGE_HEADER_SIZE;
        if (r->position >= end) {
            next_packet(r);
            continue;
        }
        size_t n = decode_window(r, end);
        if (n)
            return (ptrdiff_t)n;

        /* One event that is not completely in the window, or that is damaged. */
        struct weft_event *ev = r->common.batch;
        ptrdiff_t size = decode_at(r, r->position, end, ev, err);
        if (size < WEFT_DECODE_UNKNOWN)
            return size + 1;
        if (size <= 0) {
            give_up_packet(r, end, size);
            continue;
        }
        if (r->current + 1 == r->packets && r->position >= r->stale_checked &&
            ev->time_ns < earliest_time(r)) {
            if (tail_is_stale(r, r->position, end)) {
                r->common.damage.half_written = 1;
                r->common.damage.skipped_bytes += end - r->position;
                next_packet(r);
                continue;
            }
            if (r->stale_checked < r->position + 1)
                r->stale_checked = r->position + 1;
            size = decode_at(r, r->position, end, ev, err); /* the window may have moved */
            if (size <= 0)
                return weft_error_set(err, WEFT_E_IO, r->position, "changed while it was read");
        }
        note_event(r, ev);
        r->position += (uint64_t)size;
        return 1;
    }
    return 0;
}

static double progress(const struct weft_reader *common)
{
    const struct mirage *r = (const struct mirage *)common;
    uint64_t done = r->done_bytes, all = common->facts.content_bytes;
    if (r->position)
        done += r->position - r->packet[r->current].offset;
    return all ? (double)done / (double)all : 1;
}

static void fini(struct weft_reader *common)
{
    struct mirage *r = (struct mirage *)common;
    free(r->packet);
    free(r->window);
}

static bool probe(const unsigned char *bytes, size_t size)
{
    return size >= WEFT_MIRAGE_MARK_SIZE && is_mark(bytes);
}

const struct weft_reader_format read_mirage_format = {
    .name = "mirage",
    .whose = "mirage-profile's",
    .size = sizeof(struct mirage),
    .quirks = {.mirage_kinds = true,
               .loop_is_sleep = true,
               .one_clock = true,
               .no_running = true,
               .last_end_counts = true,
               .changes_are_labels = true,
               .any_bytes = true,
               .anonymous = true},
    .probe = probe,
    .has_packets = true,
    .index = open_mirage,
    .next = next_events,
    .progress = progress,
    .fini = fini,
};
