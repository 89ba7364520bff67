/* SPDX-License-Identifier: ISC */
/* The packet of pending promises: a table of cells.
 *
 * A promise has at most one cell, but for moments in which two threads retire packets that speak of it: then
 * two, which the reader puts together. It stands in one of two sets of CELLS_OF_SET, given by its number;
 * the emptier one is taken, so that a table that is nearly full still has room for nearly every number.
 * What is in a cell is changed under its version: odd means taken; nobody waits for it but for a moment. Its
 * number is changed by compare-and-swap alone: 0 → number when it is filled in; number → resolved when
 * the promise is resolved; → 0 when the event that says so is overwritten, or another one drives it out.
 *
 * The process may be killed between any two lines. What is kept is in its packet as well until the packet
 * is retired as a whole, and the reader takes the packet's; so a cell half filled in or a note half written
 * says nothing that is needed.
 *
 * Who resolves a promise marks all its cells until there is none unmarked; who adds a second one looks
 * afterwards whether the promise is still pending. Between the two stands a fence on each side, so one of
 * them sees the other. */
#include "record/cells.h"

#include "format/events.h"
#include "record/record.h"

enum {
    CELLS_OF_SET = 24,
    LOCK_TRIES = 1000,
};

static uint64_t *ids(void)
{
    struct weft_pending_header *h = weft__rec.pending;
    return (uint64_t *)(void *)((unsigned char *)h + h->ids_at);
}

static struct weft_pending_cell *cell_at(uint32_t i)
{
    struct weft_pending_header *h = weft__rec.pending;
    return (struct weft_pending_cell *)(void *)((unsigned char *)h + h->cells_at) + i;
}

uint32_t weft__pending_cells(uint64_t bytes)
{
    const uint64_t each = sizeof(uint64_t) + sizeof(struct weft_pending_cell);
    uint64_t sets = bytes > sizeof(struct weft_pending_header)
                        ? (bytes - sizeof(struct weft_pending_header)) / (each * CELLS_OF_SET)
                        : 0;
    return (uint32_t)(sets ? sets : 1) * CELLS_OF_SET;
}

uint64_t weft__pending_bytes(uint32_t cells)
{
    return sizeof(struct weft_pending_header) +
           cells * (sizeof(uint64_t) + sizeof(struct weft_pending_cell));
}

void weft__pending_init(struct weft_pending_header *p, uint32_t cells)
{
    struct weft_packet_header packet = p->packet;
    uint64_t bytes = weft__pending_bytes(cells);
    memset(p, 0, bytes);
    p->packet = packet;
    p->packet.class = WEFT_PACKET_PENDING;
    p->packet.header_bytes = sizeof *p;
    p->packet.content_bits = bytes * 8;
    p->cells = cells;
    p->cell_bytes = sizeof(struct weft_pending_cell);
    p->ids_at = sizeof *p;
    p->cells_at = sizeof *p + cells * sizeof(uint64_t);
}

/* Cells */

/* The two sets in which a number may stand: 2 * CELLS_OF_SET places. */
struct sets {
    uint64_t *ids[2];
    uint32_t first[2]; /* cell */
};

static struct sets sets_of(uint64_t id)
{
    uint64_t count = weft__rec.pending->cells / CELLS_OF_SET;
    uint64_t h = id * UINT64_C(0x9e3779b97f4a7c15);
    uint64_t g = (h ^ h >> 32) * UINT64_C(0xff51afd7ed558ccd);
    uint64_t a = ((h >> 32) * count) >> 32, b = ((g >> 32) * count) >> 32;
    if (a == b)
        b = (b + 1) % count;
    uint32_t first = (uint32_t)a * CELLS_OF_SET, second = (uint32_t)b * CELLS_OF_SET;
    return (struct sets){{ids() + first, ids() + second}, {first, second}};
}

#define FOR_PLACES(k) for (uint32_t k = 0; k < 2 * CELLS_OF_SET; k++)

static inline uint64_t *id_at(const struct sets *s, uint32_t k)
{
    return s->ids[k / CELLS_OF_SET] + k % CELLS_OF_SET;
}

static inline uint64_t load_id(const struct sets *s, uint32_t k)
{
    return __atomic_load_n(id_at(s, k), __ATOMIC_ACQUIRE); /* with (N) */
}

static inline struct weft_pending_cell *cell_of(const struct sets *s, uint32_t k)
{
    return cell_at(s->first[k / CELLS_OF_SET] + k % CELLS_OF_SET);
}

static uint64_t plain(uint64_t id)
{
    return id & ~WEFT_PENDING_RESOLVED;
}

static uint16_t *kept_at(uint64_t id)
{
    return &weft__rec.kept_by_home[home_of(plain(id)) & weft__rec.kept_mask];
}

bool weft__cells_any(uint64_t home)
{
    return __atomic_load_n(&weft__rec.kept_by_home[home & weft__rec.kept_mask], __ATOMIC_RELAXED) !=
           0;
}

/* Takes a number out of its place, if it is still there. */
static bool drop(uint64_t *place, uint64_t id)
{
    uint64_t expected = id;
    if (!__atomic_compare_exchange_n(place, &expected, 0, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
        return false;
    __atomic_fetch_sub(kept_at(id), 1, __ATOMIC_RELAXED);
    return true;
}

static bool lock(struct weft_pending_cell *c)
{
    for (int tries = 0; tries < LOCK_TRIES; tries++) {
        uint32_t v = __atomic_load_n(&c->version, __ATOMIC_RELAXED);
        if (!(v & 1) && __atomic_compare_exchange_n(&c->version, &v, v + 1, false, __ATOMIC_ACQUIRE,
                                                    __ATOMIC_RELAXED)) {
            __atomic_thread_fence(__ATOMIC_RELEASE); /* the version before what follows */
            return true;
        }
    }
    return false;
}

void weft__cell_unlock(struct weft_pending_cell *c)
{
    uint32_t v = __atomic_load_n(&c->version, __ATOMIC_RELAXED);
    __atomic_store_n(&c->version, v + 1, __ATOMIC_RELEASE);
}

struct weft_pending_cell *weft__cell_lock(uint64_t id, bool *held)
{
    struct sets s = sets_of(id);
    FOR_PLACES(k)
    {
        if (load_id(&s, k) != id)
            continue;
        struct weft_pending_cell *c = cell_of(&s, k);
        if (!lock(c)) {
            *held = true;
            return NULL;
        }
        if (load_id(&s, k) == id)
            return c;
        weft__cell_unlock(c);
    }
    return NULL;
}

/* Locks a cell without a number, in the set that has more of them. */
static struct new_cell lock_free(const struct sets *s)
{
    uint32_t room[2] = {0, 0};
    FOR_PLACES(k)
    room[k / CELLS_OF_SET] += load_id(s, k) == 0;
    if (!room[0] && !room[1])
        return (struct new_cell){NULL, NULL};
    uint32_t from = room[1] > room[0] ? CELLS_OF_SET : 0;
    FOR_PLACES(j)
    {
        uint32_t k = (j + from) % (2 * CELLS_OF_SET);
        struct weft_pending_cell *c = cell_of(s, k);
        if (load_id(s, k) != 0 || (__atomic_load_n(&c->version, __ATOMIC_RELAXED) & 1) || !lock(c))
            continue;
        if (load_id(s, k) == 0)
            return (struct new_cell){c, id_at(s, k)};
        weft__cell_unlock(c);
    }
    return (struct new_cell){NULL, NULL};
}

/* Makes room: of a promise that is resolved, whose event tells all that matters; else of the oldest one
 * that is not marked. Numbers rise with time, but for what threads have in stock. */
static bool drive_out(const struct sets *s)
{
    const uint8_t marks = WEFT_PENDING_SHOULD_RESOLVE | WEFT_PENDING_BACKGROUND;
    for (uint64_t above = 0;;) { /* those up to it are marked */
        uint64_t oldest_id = UINT64_MAX;
        uint32_t oldest = 0;
        FOR_PLACES(k)
        {
            uint64_t id = load_id(s, k);
            if (id & WEFT_PENDING_RESOLVED && drop(id_at(s, k), id))
                return true;
            if (id > above && id < oldest_id) {
                oldest = k;
                oldest_id = id;
            }
        }
        if (oldest_id == UINT64_MAX)
            return false;
        if (!(__atomic_load_n(&cell_of(s, oldest)->flags, __ATOMIC_RELAXED) & marks)) {
            /* Counted first: who reads must not take it for resolved. */
            __atomic_fetch_add(&weft__rec.pending->given_up, 1, __ATOMIC_RELAXED);
            if (!drop(id_at(s, oldest), oldest_id))
                __atomic_fetch_sub(&weft__rec.pending->given_up, 1, __ATOMIC_RELAXED);
            return true;
        }
        above = oldest_id;
    }
}

struct new_cell weft__cell_take(uint64_t id, uint64_t ticks)
{
    struct sets s = sets_of(id);
    struct new_cell new = lock_free(&s);
    for (int tries = 0; !new.cell; tries++) {
        if (tries == CELLS_OF_SET || !drive_out(&s)) {
            __atomic_fetch_add(&weft__rec.pending->given_up, 1, __ATOMIC_RELAXED);
            return new;
        }
        new = lock_free(&s);
    }
    struct weft_pending_cell *c = new.cell;
    c->stream = c->site = c->text = c->packet = 0;
    c->creator = UINT64_MAX;
    c->dropped = 0;
    memset(c->note_tag, 0, sizeof c->note_tag);
    __atomic_store_n(&c->created_ticks, ticks, __ATOMIC_RELAXED);
    __atomic_store_n(&c->flags, WEFT_PENDING_UNBORN, __ATOMIC_RELAXED);
    return new;
}

void weft__cell_publish(struct new_cell new, uint64_t id)
{
    __atomic_fetch_add(kept_at(id), 1, __ATOMIC_RELAXED);
    __atomic_store_n(new.place, id, __ATOMIC_RELEASE); /* (N) the cell */
    weft__cell_unlock(new.cell);
}

void weft__cells_drop(uint64_t id)
{
    if (!weft__cells_any(home_of(plain(id))))
        return;
    struct sets s = sets_of(plain(id));
    FOR_PLACES(k)
    if (load_id(&s, k) == id)
        drop(id_at(&s, k), id);
}

bool weft__cells_resolve(uint64_t id)
{
    bool marked = false;
    if (!weft__cells_any(home_of(id)))
        return false;
    struct sets s = sets_of(id);
    for (bool again = true; again;) {
        again = false;
        FOR_PLACES(k)
        {
            uint64_t expected = id;
            again |=
                load_id(&s, k) == id &&
                __atomic_compare_exchange_n(id_at(&s, k), &expected, id | WEFT_PENDING_RESOLVED,
                                            false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
        }
        marked |= again;
        __atomic_thread_fence(__ATOMIC_SEQ_CST); /* (P) */
    }
    return marked;
}

bool weft__cells_born(uint64_t id)
{
    struct sets s = sets_of(id);
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* with (P) */
    FOR_PLACES(k)
    if (load_id(&s, k) == id &&
        !(__atomic_load_n(&cell_of(&s, k)->flags, __ATOMIC_ACQUIRE) & WEFT_PENDING_UNBORN))
        return true;
    return false;
}

/* What is said of a promise */

static void set_note(struct weft_pending_cell *c, int i, uint32_t tag, uint64_t ticks,
                     uint64_t other)
{
    __atomic_store_n(&c->note_tag[i], 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    c->note_ticks[i] = ticks;
    c->note_other[i] = other;
    __atomic_store_n(&c->note_tag[i], tag, __ATOMIC_RELEASE);
}

/* Where a note goes: in place of one that it replaces, or of none, or of the oldest wait. */
static int place_of_note(const struct weft_pending_cell *c, unsigned kind, uint64_t other)
{
    int none = -1, wait = -1;
    for (int i = 0; i < WEFT_PENDING_NOTES; i++) {
        unsigned have = c->note_tag[i] >> WEFT_NOTE_BITS;
        if (have == kind && c->note_tag[i] &&
            (kind != WEFT_EVENT_TRY_READ || c->note_other[i] == other))
            return i;
        if (!c->note_tag[i])
            none = none < 0 ? i : none;
        else if (have == WEFT_EVENT_TRY_READ &&
                 (wait < 0 || c->note_ticks[i] < c->note_ticks[wait]))
            wait = i;
    }
    return none >= 0 ? none : wait;
}

void weft__cell_note(struct weft_pending_cell *c, unsigned kind, uint64_t ticks, uint64_t other,
                     uint64_t sequence)
{
    int at = place_of_note(c, kind, other);
    uint32_t tag = kind << WEFT_NOTE_BITS | (sequence & ((1u << WEFT_NOTE_BITS) - 1));
    if (at < 0)
        return;
    bool same = c->note_tag[at] >> WEFT_NOTE_BITS == kind &&
                (kind != WEFT_EVENT_TRY_READ || c->note_other[at] == other);
    if (same && c->note_ticks[at] > ticks)
        return; /* of another thread, whose packets are let go earlier */
    if (c->note_tag[at] && !same && c->dropped < UINT8_MAX)
        c->dropped++;
    set_note(c, at, tag, ticks, other);
}
