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
    uint64_t offset;   /* of its header in the file; first: they are sorted by it */
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

    uint64_t current;      /* packet */
    uint64_t position;     /* in the file; 0: decoding of the packet has not begun */
    unsigned char *window; /* bytes of the file */
    uint64_t window_at;
    size_t window_size, window_room;
    uint64_t last_ns;    /* time of the previous event */
    uint64_t done_bytes; /* content of the packets before the current one */
    bool begun;          /* last_ns was set by an event */
};

enum {
    WINDOW_MIN = 256 << 10,
    AHEAD = WINDOW_MIN / 4, /* bytes that are there before decoding, unless the packet ends */
    HEAD_SIZE = WEFT_MIRAGE_HEADER_SIZE + 8, /* a header and the time of the first event */
    /* A writer dies in the middle of one event. If more bytes than this at the end of the newest
     * packet have old times, the clock was set back. */
    STALE_TAIL_MAX = 1024,
};

/* Finding packets */

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

static int add_any_packet(struct weft_reader *common, const struct read_packet *p,
                          struct weft_error *err)
{
    struct mirage *r = (struct mirage *)common;
    if (p->content < WEFT_MIRAGE_HEADER_SIZE) {
        read_reader_problem(common, p->offset + 26, p->size - WEFT_MIRAGE_HEADER_SIZE,
                            "packet says it holds %llu bytes, less than its header",
                            (unsigned long long)p->content);
        return 0;
    }
    if (p->content == WEFT_MIRAGE_HEADER_SIZE) {
        common->facts.unused_packets++;
        return 0;
    }
    common->facts.content_bytes += p->content;
    return read_packets_append(
        &r->packet, &r->packets, &r->packets_room, sizeof *r->packet,
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
        p->offset, err);
}

static const struct read_packet_form packet_form = {
    .head_bytes = HEAD_SIZE,
    .header_bytes = WEFT_MIRAGE_HEADER_SIZE,
    .mark = {WEFT_MIRAGE_MARK_SIZE, is_mark},
    .size_at = 20,
    .content_at = 26,
    .read_sizes = read_sizes,
    .add = add_any_packet,
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
            qsort(r->packet, r->packets, sizeof *r->packet, weft_order_u64); /* by offset */
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
        return weft_no_memory(err);
    TRY(read_packets(common, &packet_form, NULL, err));
    r->common.facts.packets = r->packets;
    r->common.all = r->common.facts.content_bytes;
    r->common.is_trace = r->packets + r->common.facts.unused_packets > 0;
    order_packets(r);
    return 0;
}

/* A packet does not say when it ends. */
static void tell_spans(const struct weft_reader *common, weft_span_fn *use, void *data)
{
    const struct mirage *r = (const struct mirage *)common;
    for (uint64_t i = 0; i < r->packets; i++) {
        const struct packet *p = &r->packet[i];
        const uint64_t next_ns = i + 1 < r->packets ? p[1].first_ns : UINT64_MAX;
        if (p->first_ns != UINT64_MAX)
            use(data,
                &(struct weft_packet_span){.begin_ns = p->first_ns,
                                           .end_ns = next_ns < p->first_ns ? UINT64_MAX : next_ns,
                                           .bytes = p->content - WEFT_MIRAGE_HEADER_SIZE});
    }
}

/* Decoding */

/* How much to read at the current position: up to the packet's end, and on through the packets that
 * are decoded next, as long as they follow it in the file. Packets in another order are not read
 * ahead, since they would be read again and again. */
static size_t worth_reading(const struct mirage *r, uint64_t end)
{
    for (uint64_t i = r->current + 1; i < r->packets && end - r->position < r->window_room; i++) {
        const struct packet *p = &r->packet[i];
        if (p->offset < end || p->offset - r->position >= r->window_room)
            break;
        end = p->offset + p->content;
    }
    const uint64_t size = end - r->position;
    return size < r->window_room ? (size_t)size : r->window_room;
}

/* Makes at least that many bytes of the current packet, which ends at stop, available from the
 * current position on, unless it or the file ends before. Returns 0 or a negative WEFT_E code. */
static int fill_window(struct mirage *r, uint64_t stop, uint64_t least, struct weft_error *err)
{
    const uint64_t have = r->window_at + r->window_size;
    if (r->position >= r->window_at && (have >= stop || have >= r->position + least))
        return 0;
    if (least > r->window_room) { /* an event is longer than the window */
        unsigned char *grown = realloc(r->window, least);
        if (!grown)
            return weft_error_set(err, WEFT_E_NOMEM, r->position,
                                  "out of memory for an event of more than %zu bytes",
                                  r->window_room);
        r->window = grown;
        r->window_room = least;
    }
    ptrdiff_t got =
        weft_input_read(&r->common.input, r->window, worth_reading(r, stop), r->position, err);
    r->window_at = r->position;
    r->window_size = got < 0 ? 0 : (size_t)got;
    return got < 0 ? (int)got : 0;
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

/* Returns true if everything up to the end of the newest packet is older than the packet. The
 * writer reserves space for an event before it writes the event, so such a tail is left over from an
 * earlier lap. */
static bool is_stale(const unsigned char *bytes, const unsigned char *end, uint64_t limit)
{
    struct weft_event ev;
    if (end - bytes > STALE_TAIL_MAX)
        return false;
    for (ptrdiff_t n; bytes < end; bytes += n) {
        n = weft_event_decode(&ev, bytes, (size_t)(end - bytes));
        if (n <= 0)
            return true;
        if (ev.time_ns >= limit)
            return false;
    }
    return true;
}

static void next_packet(struct mirage *r)
{
    r->common.done = r->done_bytes += r->packet[r->current].content;
    r->current++;
    r->position = 0;
}

/* Nothing more can be decoded in the current packet: reports why. why: what the decoder returned, or
 * more than 0 if the rest is stale. */
static void give_up_packet(struct mirage *r, const unsigned char *bytes, const unsigned char *end,
                           ptrdiff_t why)
{
    const struct packet *p = &r->packet[r->current];
    uint64_t left = p->offset + p->content - r->position;
    bool newest = r->current + 1 == r->packets;
    bool old = newest && left <= STALE_TAIL_MAX && end - bytes >= WEFT_EVENT_HEADER_SIZE &&
               weft_read_u64(bytes) < earliest_time(r);
    if (p->cut && why == WEFT_DECODE_SHORT) {
        r->common.damage.skipped_bytes += left; /* the end of the file has been reported */
    } else if (why > 0 || (newest && (why == WEFT_DECODE_SHORT || old))) {
        r->common.damage.half_written = 1;
        r->common.damage.skipped_bytes += left;
    } else if (why == WEFT_DECODE_SHORT) {
        read_reader_problem(&r->common, r->position, left,
                            "an event does not end within its packet; skipped %llu bytes",
                            (unsigned long long)left);
    } else {
        read_reader_problem(&r->common, r->position, left,
                            "event %u is not one of mirage's; skipped the rest of its packet, "
                            "%llu bytes",
                            bytes[8], (unsigned long long)left);
    }
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

static ptrdiff_t next_events(struct weft_reader *common, struct weft_error *err)
{
    struct mirage *r = (struct mirage *)common;
    const unsigned char *bytes, *end;
    for (uint64_t least = AHEAD; r->current < r->packets;) {
        const struct packet *p = &r->packet[r->current];
        const uint64_t stop = p->offset + p->content;
        if (!r->position)
            r->position = p->offset + WEFT_MIRAGE_HEADER_SIZE;
        TRY(fill_window(r, stop, least, err));
        const uint64_t have = r->window_at + r->window_size;
        bytes = r->window + (r->position - r->window_at);
        end = r->window + ((have < stop ? have : stop) - r->window_at);
        const uint64_t limit = r->current + 1 == r->packets ? earliest_time(r) : 0;
        const unsigned char *begin = bytes;
        struct weft_event *ev = common->batch;
        ptrdiff_t size = WEFT_DECODE_SHORT;
        for (; ev < common->batch + WEFT_BATCH; ev++, bytes += size) {
            size = weft_event_decode(ev, bytes, (size_t)(end - bytes));
            if (size <= 0 || (ev->time_ns < limit && is_stale(bytes, end, limit)))
                break;
            note_event(r, ev);
        }
        r->position += (uint64_t)(bytes - begin);
        common->done = r->done_bytes + (r->position - p->offset);
        if (ev > common->batch)
            return ev - common->batch;
        if (size == WEFT_DECODE_SHORT && have < stop && (uint64_t)(end - bytes) >= least) {
            least *= 2;
            continue;
        }
        if (r->position < stop)
            give_up_packet(r, bytes, end, size);
        next_packet(r);
        least = AHEAD;
    }
    return 0;
}

static void fini(struct weft_reader *common)
{
    struct mirage *r = (struct mirage *)common;
    weft_free_all(r->packet, r->window);
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
    .spans = tell_spans,
    .next = next_events,
    .fini = fini,
};
