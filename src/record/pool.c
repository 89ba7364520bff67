/* SPDX-License-Identifier: ISC */
/* The pool of packets.
 *
 * Terms
 *   home        the block of numbers for the promises created in one packet; home_of(promise) follows from its number
 *   directory   homes[]: from a home to its packet
 *   ended byte  one for each promise of a packet's home, in the packet: is the promise resolved?
 *   hazard      the home whose ended byte a thread may be about to store (plus 1; 0: none)
 *   retire      make a packet reusable
 *   stock       packets that a thread has retired and will use next
 *
 * The states of a packet
 *
 *   with a writer   only the writer changes it, except for the ended bytes
 *   left            its thread has ended, and it has room; the next new thread continues in it
 *   queued          full and released. The one released longest ago is overwritten next
 *   in stock        retired, empty, and reserved for one thread; or on the stack of clean packets
 *
 * While a packet changes hands, its sequence number is 0. So a reader that sees the same number, not 0, before
 * and after copying a packet has a consistent copy.
 *
 * Promises. Whoever resolves a promise, on any thread, finds its ended byte by its number, through the
 * directory. So it is known what is pending, for the price of one load and one store; creating a promise costs
 * nothing, and the bytes disappear with the packet. No other scheme was as cheap: faster threads overtake a
 * bitmap by number, and a list of the resolved promises must be searched for each packet.
 *
 * Retiring. Before a packet is overwritten, in this order:
 *
 *   1. what it says about promises that are still pending is kept in cells (pending.c);
 *   2. its events are taken back: its sequence number becomes 0, and they are counted as overwritten.
 *      So in every packet that can be read, the ended bytes can be trusted;
 *   3. its home is removed from the directory: whoever resolves one of its promises from now on
 *      finds the cell, which was there before;
 *   4. a barrier: every other thread is either seen in the middle of resolving (busy, and its hazard
 *      names the home), or sees the directory as it is after step 3;
 *   5. a packet whose home is a hazard is not used now, but put back into the queue;
 *   6. promises kept in step 1 that were resolved through the directory before step 3 are dropped again.
 *
 * (If the packet says what a promise of another packet became, the retiring thread also stores the ended byte
 * of that promise; meanwhile its hazard names that promise's home, as if it ended the promise.)
 *
 * After that no thread can store a byte in the packet: it is clean. A thread pays for one barrier and gets
 * several clean packets, its stock. No thread ever waits for another one: a thread that is interrupted here,
 * anywhere, only holds back its own stock and the packet that its hazard names.
 *
 * If the process dies between any two lines, a reader finds one of these. The packet as its owner left it,
 * perhaps with some of its promises in cells already: the reader ignores in those cells what the packet says
 * itself (cells have the sequence numbers of their packets). Or a packet with sequence number 0, which it
 * skips, and whose pending promises all have cells. Or the packet of its new owner, with the events that
 * content_bits covers; each of them is complete, because content_bits is stored after them with release order.
 * A promise whose ending is published is not pending, whether or not its byte or its cell says so yet: the
 * event is newer than everything that is kept about the promise, and the reader has it. */
#include "record/record.h"

static struct weft_events_header *packet_at(uint64_t number)
{
    return (struct weft_events_header *)(weft_record_rec.pool +
                                         (number << weft_record_rec.packet_bits));
}

static uint64_t number_of(const struct weft_events_header *p)
{
    return (uint64_t)((const unsigned char *)p - weft_record_rec.pool) >>
           weft_record_rec.packet_bits;
}

static void set_state(struct notes *n, enum notes_state state)
{
    __atomic_store_n(&n->state, (uint8_t)state, __ATOMIC_RELEASE); /* (M) the rest of the notes */
}

/* The queue of released packets. An entry of the queue holds a packet's number plus 1, or 0, and in the bits
 * above it how often the entry has been emptied: its turn. Positions only grow, and a position owns its entry
 * in one turn only. If a thread is interrupted while it adds a packet, nobody waits for it: its position is
 * skipped, and it takes another one. */
enum { CELL_BITS = 26, PUT_BACK_MAX = 64, PENDING_MANY = 64, PREPARED = 4096, KEPT_MAX = 1 << 18 };

static uint64_t cell_of(uint64_t position, uint64_t content)
{
    return position / (weft_record_rec.queue_mask + 1) << CELL_BITS | content;
}

static void queue_put(uint64_t packet)
{
    struct recorder *r = &weft_record_rec;
    uint64_t at, expected;
    do {
        at = __atomic_fetch_add(&r->queue_tail, 1, __ATOMIC_RELAXED);
        expected = cell_of(at, 0);
        /* (A) the packet, and everything stored in it */
    } while (!__atomic_compare_exchange_n(&r->queue[at & r->queue_mask], &expected,
                                          cell_of(at, packet + 1), false, __ATOMIC_RELEASE,
                                          __ATOMIC_RELAXED));
}

/* Returns false if the queue is empty. */
static bool queue_take(uint64_t *packet)
{
    struct recorder *r = &weft_record_rec;
    for (;;) {
        uint64_t at = __atomic_load_n(&r->queue_head, __ATOMIC_ACQUIRE);
        uint64_t *cell = &r->queue[at & r->queue_mask];
        uint64_t have = __atomic_load_n(cell, __ATOMIC_ACQUIRE); /* with (A) */
        if (have == cell_of(at, 0) && __atomic_load_n(&r->queue_tail, __ATOMIC_RELAXED) <= at)
            return false;
        bool here = have >> CELL_BITS ==
                    cell_of(at, 0) >> CELL_BITS; /* otherwise another thread was faster */
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

/* The stacks of left and clean packets: the packet's number plus 1 in the low half, a tag against reuse (ABA)
 * in the high half. */
static void push(uint64_t *stack, uint64_t packet)
{
    uint64_t top = __atomic_load_n(stack, __ATOMIC_RELAXED), next;
    do {
        __atomic_store_n(&weft_record_rec.next[packet], (uint32_t)top, __ATOMIC_RELAXED);
        next = ((top >> 32) + 1) << 32 | (packet + 1);
        /* (B) the content of the packet, and its place in the stack */
    } while (
        !__atomic_compare_exchange_n(stack, &top, next, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

static bool pop(uint64_t *stack, uint64_t *packet)
{
    uint64_t top = __atomic_load_n(stack, __ATOMIC_ACQUIRE), next; /* with (B) */
    do {
        if (!(uint32_t)top)
            return false;
        *packet = (uint32_t)top - 1;
        next = ((top >> 32) + 1) << 32 |
               __atomic_load_n(&weft_record_rec.next[*packet], __ATOMIC_RELAXED);
    } while (
        !__atomic_compare_exchange_n(stack, &top, next, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE));
    return true;
}

/* Numbers and homes */

static uint64_t numbers_taken; /* promise numbers handed out, in all recordings of this process */

uint64_t weft_record_pool_numbers(uint64_t *end)
{
    /* Standby may hand out numbers while a recording begins. */
    const uint64_t share = UINT64_C(1)
                           << __atomic_load_n(&weft_record_rec.id_bits, __ATOMIC_RELAXED);
    uint64_t taken = __atomic_load_n(&numbers_taken, __ATOMIC_RELAXED), from;
    do
        from = (taken + share - 1) &
               ~(share - 1); /* packets of another recording may have had other sizes */
    while (!__atomic_compare_exchange_n(&numbers_taken, &taken, from + share, true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    *end = from + share + 1;
    return from + 1;
}

uint64_t weft_record_pool_next_number(void)
{
    return __atomic_load_n(&numbers_taken, __ATOMIC_RELAXED) + 1;
}

/* Gives the packet a home that has a free place in the directory. Returns its first number. */
static uint64_t give_home(uint64_t packet)
{
    struct recorder *r = &weft_record_rec;
    struct notes *n = &r->notes[packet];
    for (uint64_t tries = 0;; tries++) {
        uint64_t end, base = weft_record_pool_numbers(&end), home = home_of(base), none = 0;
        uint64_t *place = &r->homes[home & r->homes_mask];
        n->home = home;
        /* Who looks for this home has a number of it from here, and so sees all that was done before. */
        if (__atomic_compare_exchange_n(place, &none, (home + 1) << HOME_BITS | packet, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            __atomic_thread_fence(__ATOMIC_SEQ_CST); /* with the one of weft_record_pending_own */
            if (!tracks())
                __atomic_store_n(place, 0, __ATOMIC_RELEASE);
            return base;
        }
        if (tries ==
            r->homes_mask) { /* impossible: the directory has more places than there are packets */
            n->home = NO_HOME;
            return base;
        }
    }
}

/* Removes the packet from the directory: from here on nobody finds it by number. */
static void take_home(struct notes *n)
{
    struct recorder *r = &weft_record_rec;
    if (n->home != NO_HOME) /* (L) its pending promises have cells */
        __atomic_store_n(&r->homes[n->home & r->homes_mask], 0, __ATOMIC_RELEASE);
}

/* Beginning and ending */

size_t weft_record_pool_private(struct recorder *r, unsigned char *at, uint64_t packets)
{
    uint64_t cells = 1;
    while (cells < packets)
        cells *= 2;
    uint64_t homes = cells * 4, kept = cells * 512; /* about four times as many as cells */
    if (kept > KEPT_MAX)
        kept = KEPT_MAX;
    size_t bytes = 0,
           part[5] = {
               packets * sizeof *r->notes, cells * sizeof *r->queue,       homes * sizeof *r->homes,
               packets * sizeof *r->next,  kept * sizeof *r->kept_by_home,
           };
    size_t where[5];
    for (int i = 0; i < 5; i++) {
        where[i] = bytes;
        bytes += (part[i] + 63) / 64 * 64;
    }
    if (!at)
        return bytes;
    r->notes = (void *)(at + where[0]);
    r->queue = (void *)(at + where[1]);
    r->queue_mask = cells - 1;
    r->homes = (void *)(at + where[2]);
    r->homes_mask = homes - 1;
    r->next = (void *)(at + where[3]);
    r->kept_by_home = (void *)(at + where[4]);
    r->kept_mask = kept - 1;
    return bytes;
}

void weft_record_pool_init(void)
{
    struct recorder *r = &weft_record_rec;
    r->queue_head = r->queue_tail = 0;
    r->left = r->clean = 0;
    r->packet_bits = (uint32_t)__builtin_ctz(r->packet_bytes);
    __atomic_store_n(&r->id_bits, r->packet_bits - (uint32_t)__builtin_ctz(WEFT_NUMBERS_SHARE),
                     __ATOMIC_RELAXED);
    for (uint64_t i = 0; i < r->packets; i++) {
        struct weft_events_header *p = packet_at(i);
        memset(p, 0, sizeof *p);
        p->packet = r->facts->packet;
        p->packet.class = WEFT_PACKET_EVENTS;
        p->ended_at = sizeof *p;
        p->ended_count = UINT32_C(1) << r->id_bits;
        p->packet.header_bytes = p->ended_at + p->ended_count;
        p->packet.packet_bits = (uint64_t)r->packet_bytes * 8;
        p->packet.content_bits = p->packet.header_bytes * UINT64_C(8);
        r->notes[i] = (struct notes){.home = NO_HOME, .state = CLEAN};
        queue_put(i);
    }
}

/* Takes back the events of a packet. */
static void take_events_back(struct weft_events_header *p)
{
    __atomic_store_n(&p->sequence, 0, __ATOMIC_RELEASE); /* (R) its pending promises have cells */
    __atomic_thread_fence(__ATOMIC_RELEASE); /* (C) later stores are not seen with the old number */
    /* A single store: if the process is killed before or after it, the sum is right. */
    uint64_t events = p->counts & ((UINT64_C(1) << WEFT_COUNTS_BITS) - 1);
    __atomic_store_n(&p->counts, ((p->counts >> WEFT_COUNTS_BITS) + events) << WEFT_COUNTS_BITS,
                     __ATOMIC_RELAXED);
    __atomic_store_n(&p->begin_ticks, 0, __ATOMIC_RELAXED);
    __atomic_fetch_add(&weft_record_rec.facts->overwritten_packets, 1, __ATOMIC_RELAXED);
}

/* Makes room for size bytes in the writer's packet, if it is not full. Events go into a part of the packet that
 * was prepared, that is, cleared in one go. So its cache lines are fetched together, even from the cache of
 * another processor where a reader is, and not one by one in the middle of events. */
static bool prepare_room(struct writer *w, size_t size)
{
    if (!w->packet)
        return false;
    unsigned char *end = (unsigned char *)w->packet + weft_record_rec.packet_bytes;
    if ((size_t)(end - w->at) < size)
        return false;
    size_t left = (size_t)(end - w->end), more = PREPARED;
    if (more < size)
        more = size;
    if (more > left)
        more = left;
    memset(w->end, 0, more);
    w->end += more;
    struct notes *n = &weft_record_rec.notes[number_of(w->packet)];
    if (n->marks < MARKS_MAX)
        n->mark[n->marks++] = (struct mark){
            .running = w->running,
            .created = (uint32_t)(w->next_id - w->base),
            .low = (uint32_t)(w->next_id - w->base),
            .stream = w->stream - 1,
            .at = (uint32_t)(w->at - (unsigned char *)w->packet),
        };
    w->low = w->base + n->mark[n->marks - 1].created;
    return (size_t)(w->end - w->at) >= size;
}

static void take_up(struct writer *w, struct weft_events_header *p)
{
    struct notes *n = &weft_record_rec.notes[number_of(p)];
    set_state(n, OPEN);
    w->packet = p;
    w->at = (unsigned char *)p + p->packet.content_bits / 8;
    w->end = w->at;
    w->base = p->base;
    w->next_id = p->base + n->created;
    w->ids_end = n->home != NO_HOME ? p->base + p->ended_count : w->next_id;
    w->low = UINT64_MAX;
    w->high = n->high;
    w->old = NULL;
    w->packet_events = p->events;
    w->events_base -= p->events;
}

/* Writes the header of a clean packet and attaches the packet to the writer. Its first event will be at
 * ticks. */
static void begin_packet(struct thread *t, struct writer *w, struct weft_events_header *p,
                         uint64_t ticks, uint64_t id)
{
    struct recorder *r = &weft_record_rec;
    struct clock_pair pair = weft_record_clock_pair(&r->clock);
    struct notes *n = &r->notes[number_of(p)];
    n->home = NO_HOME;
    n->olds = n->marks = 0;
    n->held = n->links = false;
    __atomic_store_n(&n->created, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&n->ended, 0, __ATOMIC_RELAXED);
    uint64_t *ended = (uint64_t *)(void *)((unsigned char *)p + p->ended_at);
    for (uint32_t i = 0; i < 1u << r->id_bits;
         i += 8) /* another thread may read them: see look_up */
        __atomic_store_n(ended++, 0, __ATOMIC_RELAXED);
    const bool tracked = tracks();
    uint64_t base = tracked ? give_home(number_of(p)) : id != UINT64_MAX ? id : 0;
    n->low = base;
    n->high = base + (UINT64_C(1) << r->id_bits) - 1;
    __atomic_store_n(&p->packet.content_bits, p->packet.header_bytes * UINT64_C(8),
                     __ATOMIC_RELAXED);
    p->begin_ticks = ticks;
    p->end_ticks = 0;
    p->events = 0;
    p->ended_count = tracked ? UINT32_C(1) << r->id_bits : 0;
    p->stream = w->stream - 1;
    p->thread = t->tid;
    p->events_before = w->events_base + w->packet_events;
    p->discarded_before = w->discarded;
    p->running = w->running;
    p->base = base;
    p->pair_ticks = pair.ticks;
    p->pair_mono_ns = pair.mono_ns;
    p->pair_real_ns = pair.real_ns;
    p->pair_error = pair.error;
    memcpy(p->thread_name, t->name, sizeof p->thread_name);
    w->events_base += w->packet_events;
    w->packet_events = 0;
    take_up(w, p);
    uint64_t sequence = __atomic_add_fetch(&r->sequence, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&p->sequence, sequence, __ATOMIC_RELEASE); /* (D) the header is complete */
}

/* Stores how many events the packet holds, and the state of its notes. */
static void finish_packet(struct writer *w, enum notes_state state)
{
    struct weft_events_header *p = w->packet;
    struct notes *n = &weft_record_rec.notes[number_of(p)];
    __atomic_store_n(&n->created, (uint32_t)(w->next_id - w->base), __ATOMIC_RELAXED);
    p->events = w->packet_events;
    __atomic_store_n(&p->counts,
                     (p->counts >> WEFT_COUNTS_BITS) << WEFT_COUNTS_BITS | w->packet_events,
                     __ATOMIC_RELAXED);
    w->events_base += w->packet_events;
    w->packet_events = 0;
    w->packet = NULL;
    w->at = w->end = NULL;
    w->next_id = w->ids_end = 0;
    set_state(n, state);
}

/* Releases a finished packet into the queue. */
static void release_packet(struct weft_events_header *p)
{
    __atomic_store_n(&p->end_ticks, weft_record_clock_ticks(&weft_record_rec.clock),
                     __ATOMIC_RELEASE);
    queue_put(number_of(p));
}

void weft_record_pool_close(struct writer *w)
{
    struct weft_events_header *p = w->packet;
    if (!p)
        return;
    finish_packet(w, LET_GO);
    release_packet(p);
}

/* Continues, as a new stream, in a packet that an ended thread has left. */
static bool adopt(struct thread *t, struct writer *w, size_t size, uint64_t ticks)
{
    const uint64_t begins = (uint64_t)WEFT_FORM_STREAM_BEGINS << WEFT_TIME_BITS |
                            (ticks & ((UINT64_C(1) << WEFT_TIME_BITS) - 1));
    const uint32_t stream = w->stream - 1;
    uint64_t packet;
    if (!pop(&weft_record_rec.left, &packet))
        return false;
    struct weft_events_header *p = packet_at(packet);
    take_up(w, p);
    if (ticks < p->begin_ticks || !prepare_room(w, size + 32)) {
        weft_record_pool_close(w);
        w->events_base = 0;
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

/* Retiring */

/* Returns true if the hazard of a thread says that it is just resolving a promise of that home. Call it after a
 * barrier. */
static bool is_hazard(uint64_t home)
{
    uint32_t count;
    const struct thread *t = weft_record_threads(&count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t busy = __atomic_load_n(&t[i].busy, __ATOMIC_ACQUIRE); /* with (H) */
        for (uint32_t level = 0; level < busy && level < 2; level++)
            if (__atomic_load_n(&t[i].hazard[level], __ATOMIC_ACQUIRE) == home + 1) /* with (Q) */
                return true;
    }
    return false;
}

/* Retires a packet up to the barrier. Returns false if that is impossible now. */
static bool begin_to_retire(uint64_t packet, uint64_t *hazard)
{
    struct notes *n = &weft_record_rec.notes[packet];
    if (n->state == RETIRED || n->state == CLEAN)
        return true;
    n->pending = weft_record_pending_keep(packet, hazard);
    if (n->pending == WEFT_PENDING_HELD)
        return false;
    take_events_back(packet_at(packet));
    take_home(n);
    set_state(n, RETIRED);
    return true;
}

/* Finishes retiring packets. Those that may still be written to are put back; the others move to the front.
 * Returns their number. */
static uint32_t end_retiring(uint32_t *packet, uint32_t count)
{
    struct recorder *r = &weft_record_rec;
    uint32_t clean = 0;
    bool barrier = false;
    for (uint32_t i = 0; i < count && !barrier; i++)
        barrier = r->notes[packet[i]].state == RETIRED && r->notes[packet[i]].home != NO_HOME;
    if (barrier)
        weft_record_threads_barrier();
    for (uint32_t i = 0; i < count; i++) {
        struct notes *n = &r->notes[packet[i]];
        if (n->state == RETIRED && n->home != NO_HOME) {
            if (is_hazard(n->home)) {
                queue_put(packet[i]);
                continue;
            }
            weft_record_pending_recheck(packet[i], n->pending);
        }
        set_state(n, CLEAN);
        packet[clean++] = packet[i];
    }
    return clean;
}

/* How many packets to retire at once: more if the barrier costs something, but never a large part of the
 * pool. */
static uint32_t batch(void)
{
    struct recorder *r = &weft_record_rec;
    uint64_t queued = __atomic_load_n(&r->queue_tail, __ATOMIC_RELAXED) -
                      __atomic_load_n(&r->queue_head, __ATOMIC_RELAXED);
    uint64_t most = r->packets / 16 < queued / 4 ? r->packets / 16 : queued / 4;
    if (weft_record_threads_alone() || most < 1)
        return 1;
    return most < STOCK_MAX ? (uint32_t)most : STOCK_MAX;
}

/* Takes packets out of the queue and retires them. hazard: the caller's. Returns how many are clean now; these
 * are the first ones of packet. *taken: the queue was not empty. */
static uint32_t take_oldest(uint32_t packet[STOCK_MAX], uint64_t *hazard, bool *taken)
{
    struct recorder *r = &weft_record_rec;
    uint32_t count = 0;
    *taken = false;
    for (uint32_t want = batch(); want; want--) {
        uint64_t oldest;
        if (!queue_take(&oldest) && (count || !pop(&r->left, &oldest)))
            break;
        *taken = true;
        if (r->notes[oldest].state == OPEN) /* it was left by an ended thread */
            set_state(&r->notes[oldest], LET_GO);
        if (!begin_to_retire(oldest, hazard)) {
            queue_put(oldest);
            continue;
        }
        packet[count++] = (uint32_t)oldest;
        if (r->notes[oldest].pending > PENDING_MANY)
            break; /* this one took long */
    }
    return end_retiring(packet, count);
}

/* Gets a clean packet. */
static bool take_clean(struct thread *t, struct writer *w, uint64_t *packet)
{
    uint32_t oldest[STOCK_MAX], count = 0;
    bool taken = true;
    if (w->stocked) {
        *packet = w->stock[--w->stocked];
        return true;
    }
    if (pop(&weft_record_rec.clean, packet))
        return true;
    /* This writer is not resolving anything at the moment; only an event that it has interrupted may be. */
    uint64_t *hazard = &t->hazard[w != &t->writer[0]];
    /* (Q) the byte stored before; also with what store_byte stores here */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    __atomic_store_n(hazard, 0, __ATOMIC_RELAXED);
    for (int tries = 0; !count && taken && tries < PUT_BACK_MAX; tries++)
        count = take_oldest(oldest, hazard, &taken);
    if (!count)
        return false;
    *packet = oldest[0];
    while (--count)
        w->stock[w->stocked++] = oldest[count]; /* so that the oldest is used first */
    return true;
}

/* Begins a clean packet, and only then releases the writer's former one: so if the thread is interrupted here,
 * what it recorded last cannot be overwritten. Returns false if there is no packet. */
static bool begin_next_packet(struct thread *t, struct writer *w, size_t size, uint64_t ticks,
                              uint64_t id)
{
    struct weft_events_header *former = w->packet;
    uint64_t packet;
    bool got = take_clean(t, w, &packet);
    if (former)
        finish_packet(w, LET_GO);
    if (!got && former) { /* all packets are in use; another thread without one may be first */
        release_packet(former);
        former = NULL;
        got = take_clean(t, w, &packet);
    }
    if (got)
        begin_packet(t, w, packet_at(packet), ticks, id);
    if (former)
        release_packet(former);
    return got && prepare_room(w, size);
}

static void count_pause(uint64_t ticks)
{
    struct weft_pending_header *h = weft_record_rec.pending;
    uint64_t longest = __atomic_load_n(&h->longest_pause_ticks, __ATOMIC_RELAXED);
    __atomic_fetch_add(&h->pauses, 1, __ATOMIC_RELAXED);
    while (ticks > longest &&
           !__atomic_compare_exchange_n(&h->longest_pause_ticks, &longest, ticks, true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

bool weft_record_pool_claim(struct thread *t, struct writer *w, size_t size, uint64_t ticks,
                            uint64_t id)
{
    struct recorder *r = &weft_record_rec;
    bool is_new = !w->stream;
    if (prepare_room(w, size))
        return true;
    if (size > r->packet_bytes - events_at())
        return false;
    if (is_new)
        w->stream = (uint32_t)__atomic_add_fetch(&r->facts->streams, 1, __ATOMIC_RELAXED);
    uint64_t begun = weft_record_clock_ticks(&r->clock);
    int cancel = cancel_hold();
    bool got = (is_new && adopt(t, w, size, ticks)) || begin_next_packet(t, w, size, ticks, id);
    cancel_again(cancel);
    if (got)
        count_pause(weft_record_clock_ticks(&r->clock) - begun);
    return got;
}

void weft_record_pool_leave(struct writer *w)
{
    struct weft_events_header *p = w->packet;
    while (w->stocked)
        push(&weft_record_rec.clean, w->stock[--w->stocked]);
    if (p && (size_t)(w->at - (unsigned char *)p) < weft_record_rec.packet_bytes / 4 * 3) {
        finish_packet(w, OPEN);
        push(&weft_record_rec.left, number_of(p));
    } else {
        weft_record_pool_close(w);
    }
}
