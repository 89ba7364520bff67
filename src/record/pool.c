/* SPDX-License-Identifier: ISC */
/* The pool of packets.
 *
 * A packet is in one of three places: with a writer, in the queue of those that were let go (oldest first:
 * the next one claimed is overwritten), or on the stack of those that ended threads left with room in
 * them. Only its writer changes a packet. When it changes hands, its sequence number is 0: a reader that
 * sees the same number, not 0, before and after copying has a consistent copy.
 *
 * If the process dies between any two lines, a reader finds: the packet as its old owner left it; or with
 * sequence 0, which it skips (it was being overwritten); or as its new owner has it, with the events that
 * content_bits covers, each of which is whole, because content_bits is stored after them with release. */
#include <string.h>

#include "record/record.h"

static struct weft_events_header *packet_at(uint64_t number)
{
    return (struct weft_events_header *)(weft__rec.pool + number * weft__rec.packet_bytes);
}

static uint64_t number_of(const struct weft_events_header *p)
{
    return (uint64_t)((const unsigned char *)p - weft__rec.pool) / weft__rec.packet_bytes;
}

/* The queue of packets that were let go. A cell holds a packet's number plus 1, or 0, and above that how
 * often it was emptied: its turn. Positions count up; a position's cell is its own in one turn only. A
 * thread that is interrupted as it puts a packet in keeps nobody waiting: its position is passed over, and
 * it takes another one. */
enum { CELL_BITS = 26 };

static uint64_t cell_of(uint64_t position, uint64_t content)
{
    return position / (weft__rec.queue_mask + 1) << CELL_BITS | content;
}

static void queue_put(uint64_t packet)
{
    struct recorder *r = &weft__rec;
    uint64_t at, expected;
    do {
        at = __atomic_fetch_add(&r->queue_tail, 1, __ATOMIC_RELAXED);
        expected = cell_of(at, 0);
        /* (A) the packet, and what was stored in it */
    } while (!__atomic_compare_exchange_n(&r->queue[at & r->queue_mask], &expected,
                                          cell_of(at, packet + 1), false, __ATOMIC_RELEASE,
                                          __ATOMIC_RELAXED));
}

/* Returns false if the queue is empty. */
static bool queue_take(uint64_t *packet)
{
    struct recorder *r = &weft__rec;
    for (;;) {
        uint64_t at = __atomic_load_n(&r->queue_head, __ATOMIC_ACQUIRE);
        uint64_t *cell = &r->queue[at & r->queue_mask];
        uint64_t have = __atomic_load_n(cell, __ATOMIC_ACQUIRE); /* with (A) */
        if (have == cell_of(at, 0) && __atomic_load_n(&r->queue_tail, __ATOMIC_RELAXED) <= at)
            return false;
        bool here = have >> CELL_BITS == cell_of(at, 0) >> CELL_BITS; /* else somebody was faster */
        if (here && !__atomic_compare_exchange_n(cell, &have, cell_of(at + r->queue_mask + 1, 0),
                                                 false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            continue;
        *packet = (have & ((UINT64_C(1) << CELL_BITS) - 1)) - 1;
        bool got = here && have != cell_of(at, 0);
        __atomic_compare_exchange_n(&r->queue_head, &at, at + 1, false, __ATOMIC_RELEASE,
                                    __ATOMIC_RELAXED);
        if (got)
            return true;
    }
}

/* The stack of packets with room: number plus 1 in the low half, a tag against reuse in the high one. */
static void left_push(uint64_t packet)
{
    struct recorder *r = &weft__rec;
    uint64_t top = __atomic_load_n(&r->left, __ATOMIC_RELAXED), next;
    do {
        __atomic_store_n(&r->left_next[packet], (uint32_t)top, __ATOMIC_RELAXED);
        next = ((top >> 32) + 1) << 32 | (packet + 1);
        /* (B) the packet's content and its place in the stack */
    } while (!__atomic_compare_exchange_n(&r->left, &top, next, false, __ATOMIC_RELEASE,
                                          __ATOMIC_RELAXED));
}

static bool left_pop(uint64_t *packet)
{
    struct recorder *r = &weft__rec;
    uint64_t top = __atomic_load_n(&r->left, __ATOMIC_ACQUIRE), next; /* with (B) */
    do {
        if (!(uint32_t)top)
            return false;
        *packet = (uint32_t)top - 1;
        next = ((top >> 32) + 1) << 32 | __atomic_load_n(&r->left_next[*packet], __ATOMIC_RELAXED);
    } while (!__atomic_compare_exchange_n(&r->left, &top, next, false, __ATOMIC_ACQUIRE,
                                          __ATOMIC_ACQUIRE));
    return true;
}

void weft__pool_init(void)
{
    struct recorder *r = &weft__rec;
    r->queue_head = r->queue_tail = 0;
    r->left = 0;
    for (uint64_t i = 0; i < r->packets; i++) {
        struct weft_events_header *p = packet_at(i);
        memset(p, 0, sizeof *p);
        p->packet = r->facts->packet;
        p->packet.class = WEFT_PACKET_EVENTS;
        p->packet.header_bytes = sizeof *p;
        p->packet.packet_bits = (uint64_t)r->packet_bytes * 8;
        p->packet.content_bits = sizeof *p * 8;
        queue_put(i);
    }
}

/* Makes a packet nobody's, at once when it has been claimed: it is the oldest, and those after it may be
 * overwritten while this thread is interrupted. */
static void empty(struct weft_events_header *p)
{
    struct weft_facts_header *facts = weft__rec.facts;
    bool held_events = p->sequence != 0;
    __atomic_store_n(&p->sequence, 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE); /* (C) what follows is not seen with the old number */
    if (held_events) {
        __atomic_fetch_add(&facts->overwritten_events, p->events, __ATOMIC_RELAXED);
        __atomic_fetch_add(&facts->overwritten_packets, 1, __ATOMIC_RELAXED);
    }
}

/* Writes the header of an empty packet that begins with an event at ticks. */
static void begin_packet(struct thread *t, struct writer *w, struct weft_events_header *p,
                         uint64_t ticks, uint64_t id)
{
    struct recorder *r = &weft__rec;
    struct clock_pair pair = weft__clock_pair(&r->clock);
    __atomic_store_n(&p->packet.content_bits, sizeof *p * 8, __ATOMIC_RELAXED);
    p->begin_ticks = ticks;
    p->end_ticks = 0;
    p->events = 0;
    p->stream = w->stream - 1;
    p->thread = t->tid;
    p->events_before = w->events;
    p->discarded_before = w->discarded;
    p->running = w->running;
    p->base = id != UINT64_MAX ? id : 0;
    p->pair_ticks = pair.ticks;
    p->pair_mono_ns = pair.mono_ns;
    p->pair_real_ns = pair.real_ns;
    p->pair_error = pair.error;
    memcpy(p->thread_name, t->name, sizeof p->thread_name);
    uint64_t sequence = __atomic_add_fetch(&r->sequence, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&p->sequence, sequence, __ATOMIC_RELEASE); /* (D) the header is whole */
}

static void take_up(struct writer *w, struct weft_events_header *p)
{
    w->packet = p;
    w->at = (unsigned char *)p + p->packet.content_bits / 8;
    w->end = (unsigned char *)p + weft__rec.packet_bytes;
    w->base = p->base;
    w->packet_events = p->events;
}

/* Goes on in a packet that an ended thread has left, as a new stream. */
static bool adopt(struct thread *t, struct writer *w, size_t size, uint64_t ticks)
{
    const uint64_t begins = (uint64_t)WEFT_FORM_STREAM_BEGINS << WEFT_TIME_BITS |
                            (ticks & ((UINT64_C(1) << WEFT_TIME_BITS) - 1));
    const uint32_t stream = w->stream - 1;
    uint64_t packet;
    if (!left_pop(&packet))
        return false;
    struct weft_events_header *p = packet_at(packet);
    take_up(w, p);
    if (w->at + 32 + size > w->end || ticks < p->begin_ticks) {
        weft__pool_close(w);
        return false;
    }
    memcpy(w->at, &begins, 8);
    memcpy(w->at + 8, &stream, 4);
    memcpy(w->at + 12, &t->tid, 4);
    memcpy(w->at + 16, t->name, 16);
    w->at += 32;
    __atomic_store_n(&p->packet.content_bits, (uint64_t)(w->at - (unsigned char *)p) * 8,
                     __ATOMIC_RELEASE);
    return true;
}

/* Says how many events the packet holds, which the one who overwrites it wants to know. */
static void finish(struct writer *w)
{
    w->packet->events = w->packet_events;
    w->packet = NULL;
    w->at = w->end = NULL;
}

void weft__pool_close(struct writer *w)
{
    struct weft_events_header *p = w->packet;
    if (!p)
        return;
    finish(w);
    __atomic_store_n(&p->end_ticks, clock_ticks(&weft__rec.clock), __ATOMIC_RELEASE);
    queue_put(number_of(p));
}

/* Gets an empty packet in exchange for the writer's, or NULL. */
static struct weft_events_header *exchange(struct writer *w)
{
    uint64_t packet;
    if (queue_take(&packet) || left_pop(&packet)) {
        empty(packet_at(packet));
        weft__pool_close(w);
        return packet_at(packet);
    }
    /* All are in use; another thread that has none may come first. */
    weft__pool_close(w);
    if (!queue_take(&packet) && !left_pop(&packet))
        return NULL;
    empty(packet_at(packet));
    return packet_at(packet);
}

bool weft__pool_claim(struct thread *t, struct writer *w, size_t size, uint64_t ticks, uint64_t id)
{
    struct recorder *r = &weft__rec;
    bool is_new = !w->stream;
    if (size > r->packet_bytes - sizeof *w->packet)
        return false;
    if (is_new)
        w->stream = (uint32_t)__atomic_add_fetch(&r->facts->streams, 1, __ATOMIC_RELAXED);
    if (is_new && adopt(t, w, size, ticks))
        return true;
    struct weft_events_header *p = exchange(w);
    if (!p)
        return false;
    begin_packet(t, w, p, ticks, id);
    take_up(w, p);
    return true;
}

void weft__pool_leave(struct writer *w)
{
    struct weft_events_header *p = w->packet;
    if (p && w->end - w->at > weft__rec.packet_bytes / 4) {
        finish(w);
        left_push(number_of(p));
    } else {
        weft__pool_close(w);
    }
}
