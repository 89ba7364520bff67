/* SPDX-License-Identifier: ISC */
/* The table of cells: what is kept about pending promises whose packets were overwritten.
 *
 * Terms
 *   cell   holds what is known about one pending promise, at a fixed size
 *   roll   the list of pending promises that have no cell, by number and sort (roll.c)
 *   sort   all promises created at one site
 *   home   the block of numbers of one packet; a promise's home follows from its number (pool.c)
 *
 * A promise has at most one cell, with two exceptions. For a moment there can be two, while two threads retire
 * packets that mention the promise; the reader merges them. And a promise has extra cells, with the same number
 * and nothing but waits, if many promises wait for it that have no room in their own cells either (pending.c).
 *
 * A promise's number selects two sets of CELLS_OF_SET cells, and its cell is in one of them. A new cell is
 * taken from the set with more free ones, so that even a nearly full table has room for nearly every number.
 *
 * The content of a cell changes under its version: an odd version means locked, and nobody waits for it longer
 * than a moment. The number of a cell changes by compare-and-swap only: 0 → number when the cell is filled in;
 * number → resolved when the promise is resolved; → 0 when the event that says so is overwritten, or when
 * another promise takes the cell.
 *
 * The process may be killed between any two lines. What a cell keeps is also in the packet until the packet is
 * retired as a whole, and the reader prefers the packet. So a half-filled cell or a half-written note loses
 * nothing.
 *
 * Whoever resolves a promise marks its cells until none is unmarked. Whoever adds a second cell checks
 * afterwards whether the promise is still pending. Each side has a fence between its two steps, so one of them
 * sees the other.
 *
 * If all cells of both sets are taken, the most common sort loses one: the cell's tag has the sort of its
 * promise, and the roll counts the cells of each sort. So the sorts share the table, and a rare sort never
 * loses a cell to a common one. A promise is important if it is marked should_resolve, or if an important one
 * waits for it; an important promise counts as if its sort were 16 times rarer. Within a sort, promises that
 * nobody waits for go first, and of those the newer ones, because what has been pending longest is what hangs.
 * The very newest are spared, because it is too early to know who will wait for them.
 *
 * A promise that became another one is pending as long as that one is, and keeps its cell, with a note of what
 * it became. Nothing informs it when the other one ends: that is checked when room is needed
 * (forget_ended_links). Such a promise does not go on the roll, because nobody would take it off again. If
 * there is no room it is dropped, first those that nobody waits for.
 *
 * (The file is long so that all code that changes cells is in one place.) */
#include "record/cells.h"

#include "format/events.h"
#include "format/listed.h"
#include "record/record.h"
#include "record/roll.h"

#ifndef LOCK_TRIES /* tests/model makes do with fewer */
#define LOCK_TRIES 1000
#endif

enum {
    CELLS_OF_SET = 24,
    LINKS_FOLLOWED = 2, /* promises that became others, checked each time room is needed */
    LINK_TRIES = 4,
    AT_ONCE = 8,    /* promises dropped at a time */
    WALK = 16,      /* promises checked for an important one that waits */
    EXTRA_MAX = 16, /* extra cells of one promise; each set has its own */
};

/* A cell's tag: the sort of its promise, and flags. It is only a hint: threads may race. */
#define TAG_SORT (WEFT_ROLL_SORTS_MAX - 1)
#define TAG_BECAME 0x1000u /* it has a note of what the promise became */
#define TAG_EXTRA 0x2000u
#define TAG_WAITED 0x4000u
#define TAG_IMPORTANT 0x8000u

static uint64_t *ids(void)
{
    struct weft_pending_header *h = weft_record_rec.pending;
    return (uint64_t *)(void *)((unsigned char *)h + h->ids_at);
}

static struct weft_pending_cell *cell_at(uint32_t i)
{
    struct weft_pending_header *h = weft_record_rec.pending;
    return (struct weft_pending_cell *)(void *)((unsigned char *)h + h->cells_at) + i;
}

uint32_t weft_record_pending_cells(uint64_t bytes)
{
    const uint64_t each = sizeof(uint64_t) + sizeof(struct weft_pending_cell);
    uint64_t sets = bytes > sizeof(struct weft_pending_header)
                        ? (bytes - sizeof(struct weft_pending_header)) / (each * CELLS_OF_SET)
                        : 0;
    return (uint32_t)(sets ? sets : 1) * CELLS_OF_SET;
}

uint64_t weft_record_pending_bytes(uint32_t cells)
{
    return sizeof(struct weft_pending_header) +
           cells * (sizeof(uint64_t) + sizeof(struct weft_pending_cell));
}

void weft_record_pending_init(struct weft_pending_header *p, uint32_t cells)
{
    struct weft_packet_header packet = p->packet;
    uint64_t bytes = weft_record_pending_bytes(cells);
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

/* The two sets that may hold a number: 2 * CELLS_OF_SET places. */
struct sets {
    uint64_t *ids[2];
    uint32_t first[2]; /* cell */
};

static struct sets sets_of(uint64_t id)
{
    uint64_t count = weft_record_rec.pending->cells / CELLS_OF_SET;
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
    return &weft_record_rec.kept_by_home[home_of(plain(id)) & weft_record_rec.kept_mask];
}

bool weft_record_cells_any(uint64_t home)
{
    return __atomic_load_n(&weft_record_rec.kept_by_home[home & weft_record_rec.kept_mask],
                           __ATOMIC_ACQUIRE) != 0; /* with (T) */
}

static uint16_t *tag_of(const struct weft_pending_cell *c)
{
    return &weft_record_rec.cell_tags[c - cell_at(0)];
}

static unsigned load_tag(const struct weft_pending_cell *c)
{
    return __atomic_load_n(tag_of(c), __ATOMIC_RELAXED);
}

/* Removes a number from its place, if it is still there. */
static bool drop(uint64_t *place, uint64_t id)
{
    uint64_t expected = id;
    unsigned sort = load_tag(cell_at((uint32_t)(place - ids()))) & TAG_SORT;
    if (!__atomic_compare_exchange_n(place, &expected, 0, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
        return false;
    __atomic_fetch_sub(kept_at(id), 1, __ATOMIC_RELEASE); /* (T) its place on the roll */
    weft_record_roll_count(sort, -1);
    return true;
}

static bool lock(struct weft_pending_cell *c)
{
    for (int tries = 0; tries < LOCK_TRIES; tries++) {
        uint32_t v = __atomic_load_n(&c->version, __ATOMIC_RELAXED);
        if (!(v & 1) && __atomic_compare_exchange_n(&c->version, &v, v + 1, false, __ATOMIC_ACQUIRE,
                                                    __ATOMIC_RELAXED)) {
            __atomic_thread_fence(__ATOMIC_RELEASE); /* the version is stored before what follows */
            return true;
        }
    }
    return false;
}

void weft_record_cell_unlock(struct weft_pending_cell *c)
{
    uint32_t v = __atomic_load_n(&c->version, __ATOMIC_RELAXED);
    __atomic_store_n(&c->version, v + 1, __ATOMIC_RELEASE);
}

/* Locks the k-th cell if it belongs to promise id. */
static struct weft_pending_cell *lock_place(const struct sets *s, uint32_t k, uint64_t id,
                                            bool extra, bool *held)
{
    struct weft_pending_cell *c = cell_of(s, k);
    if (load_id(s, k) != id || !(load_tag(c) & TAG_EXTRA) == extra)
        return NULL;
    if (!lock(c)) {
        *held = true;
        return NULL;
    }
    if (load_id(s, k) == id && !(load_tag(c) & TAG_EXTRA) != extra)
        return c;
    weft_record_cell_unlock(c);
    return NULL;
}

struct weft_pending_cell *weft_record_cell_lock(uint64_t id, bool *held)
{
    struct sets s = sets_of(id);
    struct weft_pending_cell *c = NULL;
    bool locked = false;
    for (uint32_t k = 0; k < 2 * CELLS_OF_SET && !c && !locked; k++)
        c = lock_place(&s, k, id, false, &locked);
    *held |= locked;
    return c;
}

bool weft_record_cells_has(uint64_t id)
{
    if (!weft_record_cells_any(home_of(id)))
        return false;
    struct sets s = sets_of(id);
    FOR_PLACES(k)
    if (load_id(&s, k) == id && !(load_tag(cell_of(&s, k)) & TAG_EXTRA))
        return true;
    return false;
}

uint64_t weft_record_cells_moves(void)
{
    return __atomic_load_n(&weft_record_rec.moves, __ATOMIC_ACQUIRE);
}

/* Counts a move: the promise is already in its new place and about to leave the old one. */
static void moved(void)
{
    __atomic_fetch_add(&weft_record_rec.moves, 1, __ATOMIC_ACQ_REL);
}

bool weft_record_cells_listed(uint64_t id)
{
    unsigned sort;
    bool listed;
    uint64_t before;
    do {
        before = weft_record_cells_moves();
        listed = weft_record_cells_has(id) || weft_record_roll_find(id, &sort);
    } while (!listed && weft_record_cells_moves() != before);
    return listed;
}

/* Locks a free cell, in the set that has more of them. */
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
        weft_record_cell_unlock(c);
    }
    return (struct new_cell){NULL, NULL};
}

/* Promises that became others */

/* Returns what the promise of a cell became, or 0. The cell need not be locked. */
static uint64_t link_in(const struct weft_pending_cell *c)
{
    for (int tries = 0; tries < LINK_TRIES; tries++) {
        uint64_t link = 0;
        uint32_t v = __atomic_load_n(&c->version, __ATOMIC_ACQUIRE);
        for (int n = 0; n < WEFT_PENDING_NOTES; n++)
            if (__atomic_load_n(&c->note_tag[n], __ATOMIC_RELAXED) >> WEFT_NOTE_BITS ==
                WEFT_EVENT_BECOMES)
                link = __atomic_load_n(&c->note_other[n], __ATOMIC_RELAXED);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (!(v & 1) && __atomic_load_n(&c->version, __ATOMIC_RELAXED) == v)
            return link;
    }
    return 0;
}

uint64_t weft_record_cells_link(uint64_t id)
{
    uint64_t link = 0;
    if (!weft_record_cells_any(home_of(id)))
        return 0;
    struct sets s = sets_of(id);
    for (uint32_t k = 0; k < 2 * CELLS_OF_SET && !link; k++) {
        const struct weft_pending_cell *c = cell_of(&s, k);
        if (load_id(&s, k) == id && load_tag(c) & TAG_BECAME)
            link = link_in(c);
        link = load_id(&s, k) == id ? link : 0;
    }
    return link;
}

bool weft_record_cells_linked(uint64_t id)
{
    bool linked = false;
    if (!weft_record_cells_any(home_of(id)))
        return false;
    struct sets s = sets_of(id);
    FOR_PLACES(k)
    linked |= load_id(&s, k) == id && load_tag(cell_of(&s, k)) & TAG_BECAME;
    return linked;
}

void weft_record_cell_set_needed(struct weft_pending_cell *c)
{
    __atomic_fetch_or(tag_of(c), (uint16_t)TAG_WAITED, __ATOMIC_RELAXED);
}

void weft_record_cells_let_go(void)
{
    __atomic_fetch_or(&weft_record_rec.pending->unsure, WEFT_LET_GO, __ATOMIC_RELAXED);
}

void weft_record_cells_forget(uint64_t id)
{
    weft_record_cells_resolve(id);
    weft_record_cells_drop(id | WEFT_PENDING_RESOLVED);
}

/* Empties the cells of promises that became one that has ended. It checks a few of them, different ones each
 * time, because each may begin a long chain. Returns true if it emptied any. */
static bool forget_ended_links(const struct sets *s)
{
    bool any = false;
    uint64_t pending = 0; /* many promises may have become this one */
    const uint32_t from = (uint32_t)weft_record_cells_moves();
    unsigned followed = 0;
    FOR_PLACES(j)
    {
        const uint32_t k = (from + j) % (2 * CELLS_OF_SET);
        const uint64_t id = load_id(s, k);
        const struct weft_pending_cell *c = cell_of(s, k);
        if (!id || id & WEFT_PENDING_RESOLVED || !(load_tag(c) & TAG_BECAME))
            continue;
        const uint64_t link = link_in(c);
        if (!link || link == pending || load_id(s, k) != id || weft_record_pending_unlinked(id))
            continue;
        if (followed++ == LINKS_FOLLOWED)
            break;
        if (weft_record_pending_gone(link)) {
            weft_record_cells_forget(id);
            any = true;
        } else {
            pending = link;
        }
    }
    return any;
}

/* Which promise loses its cell */

bool weft_record_cells_give_up(uint64_t id, unsigned sort)
{
    /* Counted first, so that a reader does not take the promise for resolved. */
    __atomic_fetch_add(&weft_record_rec.pending->given_up, 1, __ATOMIC_RELAXED);
    return weft_record_roll_add(id, sort);
}

void weft_record_cells_leave_out(uint64_t id, unsigned sort, uint64_t count)
{
    bool held = false;
    struct weft_pending_cell *c =
        weft_record_cells_any(home_of(id)) ? weft_record_cell_lock(id, &held) : NULL;
    if (!c) {
        weft_record_roll_leave_out(sort, count);
        return;
    }
    const uint64_t sum = c->dropped + count;
    c->dropped = sum < UINT8_MAX ? (uint8_t)sum : UINT8_MAX;
    weft_record_cell_unlock(c);
    __atomic_fetch_add(&weft_record_rec.pending->skipped, count, __ATOMIC_RELAXED);
}

/* Drops the extra cells of a promise that has lost its own. */
static void drop_extras(const struct sets *s, uint64_t id)
{
    bool held = false; /* then the extra cell stays; what it says is still right */
    FOR_PLACES(k)
    {
        struct weft_pending_cell *c = lock_place(s, k, id, true, &held);
        if (!c)
            continue;
        drop(id_at(s, k), id);
        weft_record_cell_unlock(c);
    }
}

/* Empties a locked cell whose promise is also known to its packet, the roll or another cell. Returns how many
 * facts about it are lost that were known from elsewhere. */
static uint64_t drop_unborn(const struct weft_pending_cell *c, uint64_t *place, uint64_t id)
{
    const unsigned tag = load_tag(c), sort = tag & TAG_SORT;
    uint64_t notes = c->dropped + (c->flags != WEFT_PENDING_UNBORN ? 1u : 0u);
    for (int n = 0; n < WEFT_PENDING_NOTES; n++)
        notes += c->note_tag[n] != 0;
    const bool back = !tracks() && !(tag & TAG_EXTRA);
    const bool added = back && weft_record_roll_add_fresh(id);
    if (back && !added)
        weft_record_roll_unlisted(sort);
    moved();
    if (drop(place, id))
        return notes;
    if (back)
        weft_record_roll_undo(id, sort, added);
    return 0;
}

/* Empties a locked cell, and puts its promise on the roll. Returns false if it has just ended. */
static bool drop_born(const struct weft_pending_cell *c, uint64_t *place, uint64_t id)
{
    const unsigned sort = load_tag(c) & TAG_SORT;
    const bool added = weft_record_cells_give_up(id, sort);
    moved();
    if (drop(place, id))
        return true;
    weft_record_roll_undo(id, sort, added);
    __atomic_fetch_sub(&weft_record_rec.pending->given_up, 1, __ATOMIC_RELAXED);
    return false;
}

/* Returns what is lost with the locked cell of a promise that became another: the waits for it and its mark; at
 * least 1. */
static uint64_t count_links(const struct weft_pending_cell *c)
{
    uint64_t notes = c->dropped + (c->flags & WEFT_PENDING_SHOULD_RESOLVE ? 1u : 0u);
    for (int n = 0; n < WEFT_PENDING_NOTES; n++)
        notes += c->note_tag[n] >> WEFT_NOTE_BITS == WEFT_EVENT_TRY_READ;
    return notes ? notes : 1; /* another promise became it */
}

/* Empties a cell to make room for another promise. */
static void drive_out(const struct sets *s, uint32_t k, uint64_t id)
{
    struct weft_pending_cell *c = cell_of(s, k);
    uint64_t notes = 0;
    bool given_up = false, let_go = false;
    if (!lock(c))
        return;
    const unsigned tag = load_tag(c), sort = tag & TAG_SORT;
    if (load_id(s, k) == id && tag & TAG_BECAME) {
        let_go = !weft_record_pending_unlinked(id); /* otherwise soon */
        notes = let_go ? count_links(c) : 0;
    } else if (load_id(s, k) == id && c->flags & WEFT_PENDING_UNBORN) {
        notes = drop_unborn(c, id_at(s, k), id);
    } else if (load_id(s, k) == id) {
        given_up = drop_born(c, id_at(s, k), id);
    }
    weft_record_cell_unlock(c);
    if (let_go) {
        weft_record_cells_let_go();
        weft_record_roll_leave_out(sort, notes);
        weft_record_cells_forget(id);
    } else if (notes) {
        weft_record_cells_leave_out(id, sort, notes);
    }
    if (given_up)
        drop_extras(s, id);
}

/* Looks for an important promise that waits for this one, directly or through others. */
static bool is_needed(uint64_t id)
{
    uint64_t queue[WALK] = {id};
    unsigned count = 1;
    bool needed = false, held = false;
    for (unsigned i = 0; i < count && !needed; i++) {
        struct weft_pending_cell *c = weft_record_cell_lock(queue[i], &held);
        if (!c)
            continue;
        needed = load_tag(c) & TAG_IMPORTANT;
        for (int n = 0; n < WEFT_PENDING_NOTES && count < WALK; n++)
            if (c->note_tag[n] >> WEFT_NOTE_BITS == WEFT_EVENT_TRY_READ)
                queue[count++] = c->note_other[n];
        weft_record_cell_unlock(c);
    }
    return needed;
}

/* The larger the value, the sooner the promise loses its cell; equal values are treated alike. */
static uint64_t commonness(unsigned tag)
{
    uint64_t cells = weft_record_roll_cells(tag & TAG_SORT);
    return (tag & TAG_IMPORTANT ? cells : cells * 16) * 2 + !(tag & TAG_WAITED);
}

/* The recorder's numbers rise with time, except for those that threads hold in stock. */
static uint64_t age_of(const struct sets *s, uint32_t k)
{
    return weft_record_rec.tracks
               ? load_id(s, k)
               : __atomic_load_n(&cell_of(s, k)->created_ticks, __ATOMIC_RELAXED);
}

/* Returns the oldest of the newest quarter of count promises. Sorts them. */
static uint32_t oldest_of_newest(const struct sets *s, uint8_t *k, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t j = i; j && age_of(s, k[j]) > age_of(s, k[j - 1]); j--) {
            uint8_t swap = k[j];
            k[j] = k[j - 1];
            k[j - 1] = swap;
        }
    return k[count / 4];
}

/* Chooses the cell to empty, the k-th. Returns false if all promises are rarer than limit. */
static bool choose(const struct sets *s, uint64_t limit, uint32_t *k, uint64_t *id)
{
    uint8_t alike[2 * CELLS_OF_SET];
    uint32_t count = 0;
    FOR_PLACES(i)
    {
        uint64_t other = load_id(s, i);
        if (!other || other & WEFT_PENDING_RESOLVED ||
            __atomic_load_n(&cell_of(s, i)->version, __ATOMIC_RELAXED) & 1)
            continue;
        uint64_t common = commonness(load_tag(cell_of(s, i)));
        if (common > limit)
            count = 0;
        if (common >= limit) {
            limit = common;
            alike[count++] = (uint8_t)i;
        }
    }
    if (!count)
        return false;
    *k = oldest_of_newest(s, alike, count);
    *id = load_id(s, *k);
    return true;
}

/* Returns true if the event that says what the promise became has (probably) been overwritten. Then all older
 * events have been, too, and so it is known who waited. */
static bool is_old_link(const struct weft_pending_cell *c)
{
    const struct recorder *r = &weft_record_rec;
    uint32_t sequence = (uint32_t)__atomic_load_n(&r->sequence, __ATOMIC_RELAXED);
    for (int n = 0; n < WEFT_PENDING_NOTES; n++) {
        const uint32_t tag = __atomic_load_n(&c->note_tag[n], __ATOMIC_RELAXED);
        if (tag >> WEFT_NOTE_BITS == WEFT_EVENT_BECOMES)
            return ((sequence - tag) & ((1u << WEFT_NOTE_BITS) - 1)) >= r->packets;
    }
    return false;
}

static bool is_needless_link(const struct sets *s, uint32_t k)
{
    const uint64_t id = load_id(s, k);
    const struct weft_pending_cell *c = cell_of(s, k);
    return id && !(id & WEFT_PENDING_RESOLVED) &&
           (load_tag(c) & (TAG_BECAME | TAG_WAITED | TAG_IMPORTANT)) == TAG_BECAME &&
           !(__atomic_load_n(&c->flags, __ATOMIC_RELAXED) & WEFT_PENDING_SHOULD_RESOLVE) &&
           !weft_record_pending_unlinked(id) && load_id(s, k) == id;
}

static void let_go_of(uint64_t id)
{
    weft_record_cells_let_go();
    weft_record_cells_forget(id);
}

/* Drops promises that became others and that nobody waits for: several at once where that is certain, to do
 * this less often; otherwise one that no wait is known for. Returns true if it dropped any. */
static bool forget_needless_links(const struct sets *s)
{
    uint8_t needless[2 * CELLS_OF_SET];
    uint32_t count = 0;
    unsigned old = 0;
    for (uint32_t k = 0; k < 2 * CELLS_OF_SET && old < AT_ONCE; k++) {
        const uint64_t id = load_id(s, k);
        if (!is_needless_link(s, k))
            continue;
        needless[count++] = (uint8_t)k;
        if (!is_old_link(cell_of(s, k)) || load_id(s, k) != id)
            continue;
        let_go_of(id);
        old++;
    }
    if (!count || old)
        return old;
    const uint64_t id = load_id(s, oldest_of_newest(s, needless, count));
    if (id && !(id & WEFT_PENDING_RESOLVED))
        let_go_of(id);
    return true;
}

static bool drop_resolved(const struct sets *s)
{
    FOR_PLACES(k)
    {
        uint64_t id = load_id(s, k);
        if (id & WEFT_PENDING_RESOLVED && drop(id_at(s, k), id))
            return true;
    }
    return false;
}

/* Makes room. First choice: a resolved promise, whose event says all that matters. Otherwise the promise that
 * matters least. Returns false if that is the new promise, which has the given sort. */
static bool make_room(const struct sets *s, unsigned sort, bool important)
{
    uint32_t k;
    uint64_t id;
    if (drop_resolved(s) || forget_ended_links(s) || forget_needless_links(s))
        return true;
    for (unsigned tries = 0; tries < 2 * CELLS_OF_SET; tries++) {
        if (!choose(s, important ? 0 : commonness(sort), &k, &id))
            return false;
        if (!id || id & WEFT_PENDING_RESOLVED)
            continue; /* it has just ended */
        struct weft_pending_cell *c = cell_of(s, k);
        if ((load_tag(c) & (TAG_WAITED | TAG_IMPORTANT)) != TAG_WAITED || !is_needed(id)) {
            drive_out(s, k, id);
            return true;
        }
        weft_record_cell_set_important(c);
    }
    return false;
}

struct new_cell weft_record_cell_take(uint64_t id, uint64_t ticks, unsigned sort, bool important)
{
    struct sets s = sets_of(id);
    struct new_cell new = lock_free(&s);
    for (int tries = 0; !new.cell; tries++) {
        if (tries == CELLS_OF_SET || !make_room(&s, sort, important))
            return new;
        new = lock_free(&s);
    }
    struct weft_pending_cell *c = new.cell;
    c->stream = c->site = c->text = c->packet = 0;
    c->creator = UINT64_MAX;
    c->dropped = 0;
    for (int n = 0; n < WEFT_PENDING_NOTES; n++)
        __atomic_store_n(&c->note_tag[n], 0, __ATOMIC_RELAXED);
    __atomic_store_n(tag_of(c), (uint16_t)(sort | (important ? TAG_IMPORTANT : 0)),
                     __ATOMIC_RELAXED);
    __atomic_store_n(&c->created_ticks, ticks, __ATOMIC_RELAXED);
    __atomic_store_n(&c->flags, WEFT_PENDING_UNBORN, __ATOMIC_RELAXED);
    return new;
}

static void show(struct new_cell new, uint64_t id)
{
    __atomic_fetch_add(kept_at(id), 1, __ATOMIC_RELAXED);
    weft_record_roll_count(load_tag(new.cell) & TAG_SORT, 1);
    __atomic_store_n(new.place, id, __ATOMIC_RELEASE); /* (N) the cell */
    moved();
}

void weft_record_cell_publish(struct new_cell new, uint64_t id)
{
    show(new, id);
    weft_record_cell_unlock(new.cell);
}

void weft_record_cell_undated(struct weft_pending_cell *c, unsigned sort)
{
    c->site = weft_record_roll_site(sort);
    __atomic_store_n(&c->flags, (uint8_t)((c->flags & ~WEFT_PENDING_UNBORN) | WEFT_PENDING_UNDATED),
                     __ATOMIC_RELAXED);
}

bool weft_record_cell_move(struct new_cell new, uint64_t id)
{
    unsigned sort;
    bool was_there;
    show(new, id);
    do {
        was_there = weft_record_roll_find(id, &sort);
        /* Meanwhile the packet with the creation was walked through, and there was no cell to store it in. */
        if (was_there && sort != WEFT_ROLL_FRESH && new.cell->flags &WEFT_PENDING_UNBORN) {
            weft_record_cell_set_sort(new.cell, sort);
            weft_record_cell_undated(new.cell, sort);
        }
    } while (was_there && !weft_record_roll_drop_from(id, sort));
    if (!was_there)
        drop(new.place, id);
    weft_record_cell_unlock(new.cell);
    return was_there;
}

void weft_record_cell_set_sort(struct weft_pending_cell *c, unsigned sort)
{
    unsigned tag = load_tag(c);
    weft_record_roll_count(tag & TAG_SORT, -1);
    weft_record_roll_count(sort, 1);
    __atomic_store_n(tag_of(c), (uint16_t)((tag & ~TAG_SORT) | sort), __ATOMIC_RELAXED);
}

void weft_record_cell_set_important(struct weft_pending_cell *c)
{
    __atomic_fetch_or(tag_of(c), (uint16_t)TAG_IMPORTANT, __ATOMIC_RELAXED);
}

bool weft_record_cells_important(uint64_t id)
{
    if (id == UINT64_MAX || !weft_record_cells_any(home_of(id)))
        return false;
    struct sets s = sets_of(id);
    bool important = false;
    FOR_PLACES(k)
    important |= load_id(&s, k) == id && (load_tag(cell_of(&s, k)) & TAG_IMPORTANT);
    return important;
}

void weft_record_cells_drop(uint64_t id)
{
    if (!weft_record_cells_any(home_of(plain(id))))
        return;
    struct sets s = sets_of(plain(id));
    FOR_PLACES(k)
    {
        uint64_t have = load_id(&s, k);
        if (have == id || (have && have == plain(id))) /* an extra cell, added by another thread */
            drop(id_at(&s, k), have);
    }
}

static bool mark_resolved(uint64_t id)
{
    bool marked = false;
    if (!weft_record_cells_any(home_of(id)))
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

bool weft_record_cells_resolve(uint64_t id)
{
    uint64_t before;
    bool marked = false, was_on_roll;
    do {
        before = weft_record_cells_moves();
        marked |= mark_resolved(id);
        was_on_roll = weft_record_roll_drop(id);
    } while (!was_on_roll &&
             weft_record_cells_moves() != before); /* it may have been moved meanwhile */
    return marked;
}

bool weft_record_cells_born(uint64_t id)
{
    struct sets s = sets_of(id);
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* with (P) */
    FOR_PLACES(k)
    if (load_id(&s, k) == id &&
        !(__atomic_load_n(&cell_of(&s, k)->flags, __ATOMIC_ACQUIRE) & WEFT_PENDING_UNBORN))
        return true;
    return false;
}

/* What is known about a promise */

static void set_note(struct weft_pending_cell *c, int i, uint32_t tag, uint64_t ticks,
                     uint64_t other)
{
    __atomic_store_n(&c->note_tag[i], 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    c->note_ticks[i] = ticks;
    __atomic_store_n(&c->note_other[i], other, __ATOMIC_RELAXED);
    __atomic_store_n(&c->note_tag[i], tag, __ATOMIC_RELEASE);
}

static bool is_wait(unsigned kind)
{
    return kind == WEFT_EVENT_TRY_READ || kind == WEFT_NOTE_WAITS_FOR;
}

static bool is_over(unsigned kind, uint64_t other)
{
    return kind == WEFT_EVENT_TRY_READ
               ? weft_record_pending_over(other)
               : kind == WEFT_NOTE_WAITS_FOR && weft_record_pending_gone(other);
}

static int find_note(const struct weft_pending_cell *c, unsigned kind)
{
    int at = WEFT_PENDING_NOTES - 1;
    while (at >= 0 && c->note_tag[at] >> WEFT_NOTE_BITS != kind)
        at--;
    return at;
}

/* Where a note goes: in place of a note that it replaces, of an empty one (but waits leave room for a label and
 * a notification), or of a wait that is over. A note of what the promise became may also replace a notification,
 * a label, or a span. Returns -1 if there is no place. */
static int place_of_note(const struct weft_pending_cell *c, const struct note *n, bool extra)
{
    const bool wait = is_wait(n->kind);
    int none = -1, room = extra || !wait ? 0 : -2;
    for (int i = 0; i < WEFT_PENDING_NOTES; i++) {
        unsigned have = c->note_tag[i] >> WEFT_NOTE_BITS;
        if (have == n->kind && (!wait || c->note_other[i] == n->other))
            return i;
        none = have ? none : i;
        room += !is_wait(have);
    }
    if (none >= 0 && room > 0)
        return none;
    for (int i = 0; i < WEFT_PENDING_NOTES && wait; i++)
        if (is_over(c->note_tag[i] >> WEFT_NOTE_BITS, c->note_other[i]))
            return i;
    static const uint8_t gives_way[] = {WEFT_EVENT_NOTIFIES, WEFT_EVENT_LABEL,
                                        WEFT_EVENT_SPAN_PARENT, WEFT_EVENT_SPAN};
    int at = -1;
    for (size_t i = 0; i < sizeof gives_way && at < 0 && n->kind == WEFT_EVENT_BECOMES; i++)
        at = find_note(c, gives_way[i]);
    return at;
}

bool weft_record_cell_note(struct weft_pending_cell *c, const struct note *n)
{
    int at = place_of_note(c, n, load_tag(c) & TAG_EXTRA);
    if (at < 0)
        return !is_wait(n->kind); /* for a promise that became another this is not essential */
    bool same = c->note_tag[at] >> WEFT_NOTE_BITS == n->kind &&
                (!is_wait(n->kind) || c->note_other[at] == n->other);
    if (same && c->note_ticks[at] > n->ticks)
        return true; /* from another thread, whose packets were closed earlier */
    set_note(c, at, n->kind << WEFT_NOTE_BITS | (n->sequence & ((1u << WEFT_NOTE_BITS) - 1)),
             n->ticks, n->other);
    if (n->kind == WEFT_EVENT_TRY_READ)
        __atomic_fetch_or(tag_of(c), (uint16_t)TAG_WAITED, __ATOMIC_RELAXED);
    if (n->kind == WEFT_EVENT_BECOMES)
        __atomic_fetch_or(tag_of(c), (uint16_t)TAG_BECAME, __ATOMIC_RELAXED);
    return true;
}

static bool has_note(const struct weft_pending_cell *c, const struct note *n)
{
    for (int i = 0; i < WEFT_PENDING_NOTES; i++)
        if (c->note_tag[i] >> WEFT_NOTE_BITS == n->kind && c->note_other[i] == n->other)
            return true;
    return false;
}

bool weft_record_cells_note_more(uint64_t id, const struct note *n, bool only, bool *held)
{
    struct sets s = sets_of(id);
    unsigned extras = 0, tag = 0;
    bool done = false;
    for (uint32_t k = 0; k < 2 * CELLS_OF_SET && !done; k++) {
        if (load_id(&s, k) != id)
            continue;
        tag |= load_tag(cell_of(&s, k));
        extras += (load_tag(cell_of(&s, k)) & TAG_EXTRA) != 0;
        struct weft_pending_cell *c = lock_place(&s, k, id, true, held);
        if (!c)
            continue;
        done = (!only || has_note(c, n)) && weft_record_cell_note(c, n);
        weft_record_cell_unlock(c);
    }
    if (done || only || *held || extras == EXTRA_MAX)
        return done;
    struct new_cell new = weft_record_cell_take(id, n->ticks, tag & TAG_SORT, tag & TAG_IMPORTANT);
    if (!new.cell)
        return false;
    __atomic_fetch_or(tag_of(new.cell), TAG_EXTRA, __ATOMIC_RELAXED);
    weft_record_cell_note(new.cell, n);
    weft_record_cell_publish(new, id);
    return true;
}
