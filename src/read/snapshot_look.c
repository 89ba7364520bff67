/* SPDX-License-Identifier: ISC */
/* The first half of copying weft's own traces, see snapshot.c: what is there, and up to which
 * moment it is copied. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "read/alive.h"
#include "read/snapshot_parts.h"

/* ---- Reading packets ---- */

ptrdiff_t read_snapshot_get(struct weft_snapshot *s, uint64_t at, uint64_t bytes)
{
    uint64_t left = s->in->size > at ? s->in->size - at : 0;
    bytes = bytes < left ? bytes : left;
    int rc = read_scan_reserve(s, bytes + 8);
    return rc < 0 ? rc : weft_input_read(s->in, s->buffer, bytes, at, s->err);
}

uint64_t read_snapshot_walk(const struct weft_events_header *h, const unsigned char *packet,
                            uint64_t bytes, uint64_t limit, uint64_t *last)
{
    uint64_t at = h->packet.header_bytes;
    while (at + FORMAT_FORM_HEAD <= bytes) {
        uint64_t ticks = format_form_ticks(packet + at, h->begin_ticks);
        if (ticks > limit)
            break;
        *last = ticks > *last ? ticks : *last;
        at += format_form_bytes(packet + at, bytes - at);
    }
    return at < bytes ? at : bytes;
}

/* ---- 1. What has ended ---- */

static int add_ended(struct weft_snapshot *s, uint64_t at, uint64_t count, uint64_t words,
                     struct ended **out)
{
    int rc = read_scan_grow(s, &s->ended, s->endeds, &s->endeds_room, sizeof *s->ended);
    if (rc == 0)
        rc = read_scan_spend(s, (words + 1) * sizeof(uint64_t));
    if (rc < 0)
        return rc;
    struct ended *e = *out = &s->ended[s->endeds];
    *e = (struct ended){.at = at, .count = count, .word = calloc(words + 1, sizeof *e->word)};
    if (!e->word)
        return weft_no_memory(s->err);
    s->endeds++;
    return 0;
}

static int add_emptied(struct weft_snapshot *s, const struct spot *p,
                       const struct weft_events_header *h)
{
    if (!format_has_ended(h))
        return 0;
    int rc = read_scan_spend(s, h->ended_count / 8 + 2 * sizeof *s->emptied.packet);
    return rc < 0 ? rc : read_emptied_add(&s->emptied, s->in, p->at, p->bytes, h, s->err);
}

static int note_bytes(struct weft_snapshot *s, const struct spot *p)
{
    struct weft_events_header h;
    int rc = read_scan_header(s, p->at, p->bytes, &h);
    if (rc == 0)
        rc = add_emptied(s, p, &h);
    if (rc < 0)
        return rc;
    ptrdiff_t n = h.sequence && format_has_ended(&h)
                      ? read_snapshot_get(s, p->at + h.ended_at, h.ended_count)
                      : 0;
    if (n < 0)
        return (int)n;
    /* (If the packet is handed over now, the header that is read later has another sequence.) */
    struct ended *e;
    TRY(add_ended(s, p->at, (uint64_t)n, (uint64_t)n / 32 + 1, &e));
    e->sequence = h.sequence;
    e->end_ticks = h.end_ticks;
    e->overwritten = format_overwritten(&h) + (h.sequence ? h.events : 0);
    for (size_t i = 0; i < (size_t)n; i++)
        e->word[i / 32] |= (uint64_t)(s->buffer[i] & 3) << i % 32 * 2;
    return 0;
}

static int note_marks(struct weft_snapshot *s, const struct spot *p)
{
    struct weft_pending_header h;
    int rc = read_whole(s->in, &h, sizeof h, p->at, s->err);
    if (rc <= 0 || h.ids_at > p->bytes || h.cells > (p->bytes - h.ids_at) / sizeof(uint64_t))
        return rc < 0 ? rc : 0;
    ptrdiff_t n = read_snapshot_get(s, p->at + h.ids_at, h.cells * sizeof(uint64_t));
    if (n < 0)
        return (int)n;
    struct ended *e;
    uint64_t count = (uint64_t)n / sizeof(uint64_t);
    rc = add_ended(s, p->at, count, count, &e);
    if (rc == 0)
        memcpy(e->word, s->buffer, count * sizeof *e->word);
    return rc;
}

static int note_ended(struct weft_snapshot *s, const struct spot *p)
{
    if (format_has_events(&p->h))
        return note_bytes(s, p);
    if (p->h.class == WEFT_PACKET_PENDING &&
        p->h.header_bytes >= sizeof(struct weft_pending_header))
        return note_marks(s, p);
    return 0;
}

static int by_place(const void *key, const void *member)
{
    return weft_order_u64(key, &((const struct ended *)member)->at);
}

const struct ended *read_snapshot_ended_at(const struct weft_snapshot *s, uint64_t at)
{
    return s->endeds ? bsearch(&at, s->ended, s->endeds, sizeof *s->ended, by_place) : NULL;
}

void read_snapshot_lose(struct weft_snapshot *s, uint64_t end_ticks)
{
    s->lossy |= end_ticks == 0 || end_ticks > s->closed;
}

/* Returns true if the packet that was in that place at the first look has been overwritten, or more
 * than that. */
static void compare_place(struct weft_snapshot *s, uint64_t at, const struct weft_events_header *h)
{
    const struct ended *e = read_snapshot_ended_at(s, at);
    if (!e || e->sequence == h->sequence)
        return;
    if (e->sequence)
        read_snapshot_lose(s, e->end_ticks);
    s->lossy |= format_overwritten(h) > e->overwritten;
}

static int find_closed(struct weft_snapshot *s, const struct spot *p)
{
    struct weft_events_header h;
    int rc = format_has_events(&p->h) ? read_scan_header(s, p->at, p->bytes, &h) : 0;
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

static int find_newest(struct weft_snapshot *s, const struct spot *p)
{
    struct weft_events_header h;
    int rc = format_has_events(&p->h) ? read_scan_header(s, p->at, p->bytes, &h) : 0;
    if (rc <= 0)
        return rc;
    note_pair(s, &h);
    s->newest = h.begin_ticks > s->newest ? h.begin_ticks : s->newest;
    s->newest = h.end_ticks > s->newest ? h.end_ticks : s->newest;
    if (h.end_ticks)
        return 0;
    uint64_t bytes = h.packet.content_bits / 8;
    bytes = bytes > h.packet.packet_bits / 8 ? 0 : bytes < p->bytes ? bytes : p->bytes;
    ptrdiff_t n = read_snapshot_get(s, p->at, bytes);
    uint64_t newest = s->newest, sequence = 0;
    if (n > 0)
        read_snapshot_walk(&h, s->buffer, (uint64_t)n, UINT64_MAX, &newest);
    if (n > 0)
        n = read_scan_sequence(s, p->at, &sequence);
    if (sequence == h.sequence) /* it is still the packet that was walked through */
        s->newest = newest;
    return n < 0 ? (int)n : 0;
}

int read_snapshot_load_cells(struct weft_snapshot *s, const struct spot *p, struct cells *cells)
{
    struct place place = {p->at, p->bytes, p->h.content_bits / 8, p->h.header_bytes};
    if (place.content > place.size)
        place.content = place.size;
    if (p->h.header_bytes < sizeof cells->h || p->h.header_bytes > place.content)
        return 0;
    const uint64_t most = place.content / sizeof(struct weft_pending_cell) * sizeof(struct known);
    int rc = read_scan_spend(s, 2 * most); /* they grow by doubling */
    if (rc < 0)
        return rc;
    s->memory_left += 2 * most; /* they are freed soon */
    return read_cells_load(cells, s->in, &place, s->err);
}

/* What was overwritten before its packet was looked at may be newer than everything that is there.
 * Then it counts if it is pending: in that case it has a cell by now. */
static int find_newest_cell(struct weft_snapshot *s, const struct spot *p)
{
    struct cells cells = {.knowns = 0};
    int rc = p->h.class == WEFT_PACKET_PENDING ? read_snapshot_load_cells(s, p, &cells) : 0;
    for (uint64_t i = 0; i < cells.knowns; i++) {
        const struct weft_pending_cell *c = &cells.known[i].cell;
        if (!(c->flags & WEFT_PENDING_UNBORN) && c->created_ticks > s->newest)
            s->newest = c->created_ticks;
        for (unsigned n = 0; n < WEFT_PENDING_NOTES; n++)
            if (c->note_tag[n] && c->note_ticks[n] > s->newest)
                s->newest = c->note_ticks[n];
    }
    read_cells_fini(&cells);
    return rc < 0 ? rc : 0;
}

/* ---- 3. The headers ---- */

static int list_packet(struct weft_snapshot *s, const struct spot *p)
{
    struct piece piece = {.at = p->at, .room = p->bytes, .class = p->h.class};
    if (piece.class == WEFT_PACKET_PRIVATE)
        return 0;
    if (format_has_events(&p->h)) {
        struct weft_events_header h;
        int rc = read_scan_header(s, p->at, p->bytes, &h);
        if (rc < 0)
            return rc;
        piece.sequence = h.sequence;
        piece.end_ticks = h.end_ticks;
        piece.overwritten = format_overwritten(&h);
        piece.events = h.end_ticks ? h.events : UINT32_MAX;
        piece.bytes = h.packet.content_bits / 8;
        s->overwritten += piece.overwritten;
        compare_place(s, p->at, &h);
        if (rc == 0) /* unused, or being handed over */
            return 0;
    }
    TRY(read_scan_grow(s, &s->piece, s->pieces, &s->pieces_room, sizeof *s->piece));
    s->facts_found += piece.class == WEFT_PACKET_FACTS;
    s->piece[s->pieces++] = piece;
    return 0;
}

/* In which part of the copy it belongs. */
static int part_of_copy(const struct piece *p)
{
    if (p->class == WEFT_PACKET_STRINGS)
        return 5;
    if (p->class == WEFT_PACKET_ROLL)
        return 4;
    if (p->class == WEFT_PACKET_PENDING)
        return 3;
    return p->sequence ? 1 + !p->end_ticks : 0;
}

/* Facts come first. Then come packets in the order in which they will be overwritten, which is the
 * order in which they were closed. Then what is pending: cells, and the roll, where promises go
 * that lose their cells. Texts come last. */
static int by_age(const void *a, const void *b)
{
    const struct piece *p = a, *q = b;
    WEFT_ORDER(part_of_copy(p), part_of_copy(q));
    WEFT_ORDER(p->end_ticks, q->end_ticks);
    WEFT_ORDER(p->sequence, q->sequence);
    return weft_order(p->at, q->at);
}

/* ---- The whole ---- */

/* Returns true if the trace is being recorded, by a writer that is not known to be dead. */
static bool is_live(const struct weft_snapshot *s)
{
    const enum weft_writer writer = s->in->writer;
    return s->recording && writer != WEFT_WRITER_DEAD &&
           (writer == WEFT_WRITER_ALIVE || read_snapshot_alive(s, &s->facts));
}

bool read_snapshot_alive(const struct weft_snapshot *s, const struct weft_facts_header *facts)
{
    return weft_facts_alive_as(facts, s->in->process ? s->in->process : facts->pid);
}

int read_snapshot_read_facts(struct weft_snapshot *s)
{
    const struct weft_facts_header *f = &s->facts;
    int rc = read_whole(s->in, &s->facts, sizeof s->facts, 0, s->err);
    s->has_facts = rc > 0 && format_is_facts(f);
    s->recording = s->has_facts && f->state == WEFT_TRACE_RECORDING;
    s->live = is_live(s);
    s->pair = (struct until_pair){f->start_ticks, f->start_mono_ns, f->start_real_ns};
    return rc < 0 ? rc : 0;
}

/* Sets the moment. Returns the same as read_scan_packets. */
static int find_moment(struct weft_snapshot *s)
{
    static scan_fn *const passes[] = {find_closed, note_ended, find_newest, find_newest_cell};
    int rc = 1;
    for (size_t i = 0; i < sizeof passes / sizeof *passes && rc > 0; i++)
        rc = read_scan_packets(s, passes[i]);
    s->moment = s->newest;
    if (s->live && s->in->writer == WEFT_WRITER_ALIVE)
        s->now_real_ns = (uint64_t)weft_clock_ns(CLOCK_REALTIME);
    return rc;
}

int read_snapshot_look(struct weft_snapshot *s)
{
    int rc = read_snapshot_read_facts(s);
    s->moment = UINT64_MAX;
    if (rc < 0)
        return rc;
    if (s->recording && (rc = find_moment(s)) <= 0)
        return rc;
    rc = read_scan_packets(s, list_packet);
    weft_sort(s->piece, s->pieces, sizeof *s->piece, by_age);
    for (size_t i = 0; i < s->pieces; i++) {
        s->listed += s->piece[i].sequence > 0;
        if (s->piece[i].sequence > s->last_listed)
            s->last_listed = s->piece[i].sequence;
    }
    return rc;
}
