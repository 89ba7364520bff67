/* SPDX-License-Identifier: ISC */
/* Reading mirage-profile's ring: finding the packets, ordering them, decoding what is in them.
 *
 * Nothing in the file is believed that can be checked. A packet's size is checked by looking for the
 * next packet where it says; if none is there, the packets are found by their mark (magic and UUID).
 * Each byte is looked at a bounded number of times, whatever the sizes claim. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/mirage.h"
#include "read/state.h"

struct packet {
    uint64_t offset;   /* of its header in the file */
    uint64_t first_ns; /* time of its first event */
    uint64_t number;   /* sequence number, unwrapped; only differences are meaningful */
    uint32_t content;  /* bytes of header and events that are really there */
    uint16_t sequence; /* as in the file */
    bool cut;          /* the file ends within its content */
};

struct mirage {
    struct weft_reader common;
    struct packet *packet; /* those with events; in the order of recording once sorted */
    uint64_t packets, packets_room;

    /* Where decoding is. The window holds bytes [window_at, window_at + window_size) of the file. */
    uint64_t current;  /* packet */
    uint64_t position; /* in the file; 0: the packet has not been begun */
    unsigned char *window;
    uint64_t window_at;
    size_t window_size, window_room;
    uint64_t last_ns;       /* time of the event before */
    uint64_t stale_checked; /* up to this offset the newest packet has no unfinished tail */
    uint64_t done_bytes;    /* content of the packets before current */
    uint64_t skipped_at;    /* the last packet that was skipped but for its header */
    bool begun;             /* last_ns is that of an event */
};

enum {
    WINDOW_MIN = 256 << 10,
    HEAD_SIZE = WEFT_MIRAGE_HEADER_SIZE + 8, /* a header and the time of the first event */
    /* A writer dies in the middle of one event; more than this much of old times at the end of the
     * newest packet is a clock that was set back. */
    STALE_TAIL_MAX = 1024,
};

#define NOWHERE UINT64_MAX

/* Finding packets */

/* The next place at or after from where a packet's mark stands, or NOWHERE. Reads little at first: a
 * hostile file has a mark every 30 bytes, and each is looked for from the one before. */
static int find_mark(struct mirage *r, uint64_t from, uint64_t *found, struct weft_error *err)
{
    size_t step = 1024;
    *found = NOWHERE;
    for (; from + WEFT_MIRAGE_MARK_SIZE <= r->common.input.size; step *= 4) {
        step = step < r->window_room ? step : r->window_room;
        ptrdiff_t got = weft_input_read(&r->common.input, r->window, step, from, err);
        if (got < 0)
            return (int)got;
        if ((size_t)got < WEFT_MIRAGE_MARK_SIZE)
            return 0;
        unsigned char *hit =
            memmem(r->window, (size_t)got, WEFT_MIRAGE_MARK, WEFT_MIRAGE_MARK_SIZE);
        if (hit) {
            *found = from + (uint64_t)(hit - r->window);
            return 0;
        }
        from += (uint64_t)got - (WEFT_MIRAGE_MARK_SIZE - 1);
    }
    return 0;
}

static int add_packet(struct mirage *r, const struct packet *p, struct weft_error *err)
{
    if (r->packets == r->packets_room) {
        uint64_t room = r->packets_room ? r->packets_room * 2 : 64;
        void *grown = realloc(r->packet, room * sizeof *r->packet);
        if (!grown)
            return weft_error_set(err, WEFT_E_NOMEM, p->offset, "out of memory for its packets");
        r->packet = grown;
        r->packets_room = room;
    }
    r->packet[r->packets++] = *p;
    r->common.facts.content_bytes += p->content;
    return 0;
}

/* What is said of a packet, checked against the file: *size is how long it is, *content how much of
 * that is used. At offset stands a mark. */
static int packet_extent(struct mirage *r, uint64_t offset, struct weft_mirage_header h,
                         uint64_t *size, uint64_t *content, struct weft_error *err)
{
    *size = h.packet_bits / 8;
    *content = h.content_bits / 8;
    uint64_t left = r->common.input.size - offset;
    if (*size < WEFT_MIRAGE_HEADER_SIZE || *size > left) {
        /* Cut off by the end of the file, or a wrong number? Another packet within tells. */
        uint64_t next;
        int rc = find_mark(r, offset + WEFT_MIRAGE_HEADER_SIZE, &next, err);
        if (rc < 0)
            return rc;
        if (next != NOWHERE)
            weft__reader_problem(&r->common, offset + 20, 0,
                                 "packet says it is %llu bytes long, but another begins after %llu",
                                 (unsigned long long)*size, (unsigned long long)(next - offset));
        else if (*size < WEFT_MIRAGE_HEADER_SIZE)
            weft__reader_problem(&r->common, offset + 20, 0,
                                 "packet says it is %llu bytes long, less than its header",
                                 (unsigned long long)*size);
        else if (*content > left)
            weft__reader_problem(&r->common, r->common.input.size, 0,
                                 "the file ends in the middle of a packet: %llu bytes are missing",
                                 (unsigned long long)(*content - left));
        *size = next != NOWHERE ? next - offset : left;
    } else if (*content > *size) {
        weft__reader_problem(&r->common, offset + 26, 0,
                             "packet of %llu bytes says it holds %llu bytes",
                             (unsigned long long)*size, (unsigned long long)*content);
    }
    if (*content > *size)
        *content = *size;
    return 0;
}

/* The packet at offset, just taken in, does not go on to end but to next, where another one begins. */
static void shorten_last(struct mirage *r, uint64_t offset, uint64_t end, uint64_t next)
{
    struct packet *last = r->packets ? &r->packet[r->packets - 1] : NULL;
    if (!last || last->offset != offset) {
        if (r->skipped_at == offset) /* all of it but its header was skipped */
            r->common.damage.skipped_bytes -= end - next;
        return;
    }
    if (last->content <= next - offset)
        return;
    r->common.facts.content_bytes -= last->content - (next - offset);
    last->content = (uint32_t)(next - offset);
    if (last->content < HEAD_SIZE)
        last->first_ns = UINT64_MAX;
}

/* No packet stands where the one before (at previous, or NOWHERE) says that the next one begins. Goes
 * on at the next mark, which may be within the packet before, if its size was wrong. */
static int resynchronise(struct mirage *r, uint64_t offset, uint64_t previous, uint64_t *next,
                         struct weft_error *err)
{
    uint64_t from = previous != NOWHERE ? previous + WEFT_MIRAGE_HEADER_SIZE : offset + 1;
    uint64_t found;
    int rc = find_mark(r, from, &found, err);
    if (rc < 0)
        return rc;
    *next = found != NOWHERE ? found : r->common.input.size;
    if (*next > offset) {
        weft__reader_problem(&r->common, offset, *next - offset,
                             "expected a packet, found something else; skipped %llu bytes",
                             (unsigned long long)(*next - offset));
        return 0;
    }
    weft__reader_problem(&r->common, previous + 20, 0,
                         "packet says it is %llu bytes long, but another begins after %llu",
                         (unsigned long long)(offset - previous),
                         (unsigned long long)(*next - previous));
    shorten_last(r, previous, offset, *next);
    return 0;
}

/* Takes in the packet at offset, whose first bytes are head. */
static int scan_packet(struct mirage *r, uint64_t offset, const unsigned char *head,
                       size_t head_size, uint64_t *next, struct weft_error *err)
{
    if (head_size < WEFT_MIRAGE_HEADER_SIZE) {
        weft__reader_problem(&r->common, offset, head_size,
                             "the file ends in the middle of a packet's header");
        *next = r->common.input.size;
        return 0;
    }
    struct weft_mirage_header h = weft_mirage_header_read(head);
    uint64_t size, content;
    int rc = packet_extent(r, offset, h, &size, &content, err);
    if (rc < 0)
        return rc;
    *next = offset + size;
    if (content < WEFT_MIRAGE_HEADER_SIZE) {
        weft__reader_problem(&r->common, offset + 26, size - WEFT_MIRAGE_HEADER_SIZE,
                             "packet says it holds %llu bytes, less than its header",
                             (unsigned long long)content);
        r->skipped_at = offset;
        return 0;
    }
    if (content == WEFT_MIRAGE_HEADER_SIZE) {
        r->common.facts.unused_packets++;
        return 0;
    }
    return add_packet(r,
                      &(struct packet){
                          .offset = offset,
                          .content = (uint32_t)content,
                          .sequence = h.sequence,
                          .cut = h.content_bits / 8 > content,
                          /* One that has no whole event has only just been begun. */
                          .first_ns = content >= HEAD_SIZE && head_size >= HEAD_SIZE
                                          ? weft_read_u64(head + WEFT_MIRAGE_HEADER_SIZE)
                                          : UINT64_MAX,
                      },
                      err);
}

static int scan_packets(struct mirage *r, struct weft_error *err)
{
    uint64_t previous = NOWHERE;
    r->skipped_at = NOWHERE;
    for (uint64_t offset = 0, next = 0; offset < r->common.input.size; offset = next) {
        unsigned char head[HEAD_SIZE];
        ptrdiff_t got = weft_input_read(&r->common.input, head, sizeof head, offset, err);
        if (got < 0)
            return (int)got;
        if (got == 0)
            break;
        int rc;
        if ((size_t)got >= WEFT_MIRAGE_MARK_SIZE &&
            memcmp(head, WEFT_MIRAGE_MARK, WEFT_MIRAGE_MARK_SIZE) == 0) {
            rc = scan_packet(r, offset, head, (size_t)got, &next, err);
            previous = offset;
        } else {
            rc = resynchronise(r, offset, previous, &next, err);
            previous = NOWHERE;
        }
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Ordering them */

static int by_number(const void *a, const void *b)
{
    const struct packet *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int by_time(const void *a, const void *b)
{
    const struct packet *x = a, *y = b;
    if (x->first_ns != y->first_ns)
        return x->first_ns < y->first_ns ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int by_offset(const void *a, const void *b)
{
    const struct packet *x = a, *y = b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* A small step forward of a number that is counted modulo 2^16. */
static bool follows(uint16_t next, uint16_t before)
{
    return (uint16_t)(next - before) <= 0x8000;
}

/* mirage's rule: the oldest packet is the first whose number is not a small step after the one before
 * it in the file; the others follow by their distance from it. With more than 2^16 packets, distances
 * are told apart by walking round the ring. */
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

/* The packets are sorted by time: whether their numbers agree with that. Numbers them if so. */
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

/* The rule holds for a ring as its writer left it. Where it gives times that run backwards, the packets
 * may lie in any order, or be more than the numbers can tell apart; then the times decide, provided
 * that the numbers agree with them. */
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
    int rc = scan_packets(r, err);
    if (rc < 0)
        return rc;
    r->common.facts.packets = r->packets;
    r->common.is_trace = r->packets + r->common.facts.unused_packets > 0;
    order_packets(r);
    return 0;
}

/* Decoding */

/* How much to read at position: up to the packet's end, and on through the packets that are decoded
 * after it, as long as they lie behind it in the file. What lies there in another order is not read
 * again and again. */
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

/* The bytes of the file from position on, at least one event of them if the packet, which ends at end,
 * has one. If what the window holds did not do (more), it is filled anew or made larger. Returns how
 * many bytes stand at *bytes, none of them beyond end. */
static ptrdiff_t look_at(struct mirage *r, uint64_t position, uint64_t end, bool more,
                         const unsigned char **bytes, struct weft_error *err)
{
    bool inside = position >= r->window_at && position < r->window_at + r->window_size;
    if (!inside || more) {
        if (inside && position == r->window_at && r->window_size == r->window_room) {
            /* An event longer than the window; never longer than the packet. */
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
        ptrdiff_t have = look_at(r, position, end, more, &bytes, err);
        if (have < 0)
            return have - 1; /* below WEFT_DECODE_UNKNOWN; see packet_ends */
        ptrdiff_t n = weft_event_decode(ev, bytes, (size_t)have);
        if (n != WEFT_DECODE_SHORT || position + (uint64_t)have == end)
            return n;
        if (more && r->window_size < r->window_room) /* the file has become shorter */
            return WEFT_DECODE_SHORT;
    }
}

/* In the newest packet, the earliest time that an event of this lap can have. */
static uint64_t earliest_time(const struct mirage *r)
{
    uint64_t i = r->current;
    uint64_t first = r->packet[i].first_ns != UINT64_MAX ? r->packet[i].first_ns : 0;
    uint64_t before =
        i > 0 && r->packet[i - 1].first_ns != UINT64_MAX ? r->packet[i - 1].first_ns : 0;
    return before > first ? before : first;
}

/* Whether everything from position to the end of the newest packet is older than the packet. The
 * writer makes room for an event before it fills it in: such a tail is what an earlier lap left. */
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

/* Nothing more can be decoded in the current packet: says why, if it is not its end. */
static void give_up_packet(struct mirage *r, uint64_t end, ptrdiff_t why)
{
    const struct packet *p = &r->packet[r->current];
    uint64_t left = end - r->position;
    bool newest = r->current + 1 == r->packets;
    const unsigned char *bytes;
    bool old = newest && left <= STALE_TAIL_MAX && left >= WEFT_EVENT_HEADER_SIZE &&
               look_at(r, r->position, end, false, &bytes, NULL) >= 8 &&
               weft_read_u64(bytes) < earliest_time(r);
    if (p->cut && why == WEFT_DECODE_SHORT) {
        r->common.damage.skipped_bytes += left; /* the end of the file has been reported */
    } else if (newest && (why == WEFT_DECODE_SHORT || old)) {
        r->common.damage.half_written = 1;
        r->common.damage.skipped_bytes += left;
    } else if (why == WEFT_DECODE_SHORT) {
        weft__reader_problem(&r->common, r->position, left,
                             "an event does not end within its packet; skipped %llu bytes",
                             (unsigned long long)left);
    } else {
        unsigned kind = look_at(r, r->position, end, false, &bytes, NULL) > 8 ? bytes[8] : 0;
        weft__reader_problem(&r->common, r->position, left,
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

/* Decodes what the window holds of the current packet, up to a batch. */
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

        /* One event that is not all in the window, or that is not right. */
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
    return size >= WEFT_MIRAGE_MARK_SIZE &&
           memcmp(bytes, WEFT_MIRAGE_MARK, WEFT_MIRAGE_MARK_SIZE) == 0;
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
