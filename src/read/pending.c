/* SPDX-License-Identifier: ISC */
/* Promises that were pending when the packets with their events were overwritten: what the recorder
 * has kept of them, and how it is known that some have ended.
 * A cell in the packet of pending promises becomes events again. Events whose packets are still
 * there are left out, since those packets have them. So no event appears twice, wherever the writer
 * was killed.
 * The ended bytes of a packet say which of the promises created in it have ended. Usually an event
 * says so, too, but it may have been in another thread's packet that was overwritten. So the bytes
 * are turned into bits, an event that ends a promise clears its bit, and what is left is handed out
 * after all events.
 * If numbers are the program's own, a promise has ended if it was created, has no cell, and is not
 * on the roll.
 * A promise that became another one keeps its cell at least as long as the other one is pending:
 * the recorder looks at it only when it needs space. So such a cell is left out if the other
 * promise has ended and was overwritten.
 * All of this uses the same few tables; that is why it is all in one file. */
#include <inttypes.h>
#include <stdlib.h>

#include "format/listed.h"
#include "read/weft.h"

enum {
    BLOCK = 64 << 10, /* bytes read at a time: the size of the reader's window */
    COUNT_MIN = 64,   /* the smallest number of ended bytes in a packet */
    COUNT_MAX = 1 << 26,
    CHAIN_MAX = 64, /* how far a chain of promises that became each other is followed */
};

/* A packet that is there and has ended bytes: its promises have the numbers base to base + count -
 * 1. */
struct home {
    uint64_t base, begin_ns;
    uint32_t created; /* how many of them were seen to be created */
};

/* What is known about a promise besides the ended bytes of its home. */
enum {
    HAS_CELL = 1 << 0,
    OPEN = 1 << 1,     /* a cell says that it is pending */
    ON_ROLL = 1 << 2,  /* … and so does the roll; only if that was read */
    RESOLVED = 1 << 3, /* a cell says that it has ended, and it has no home here */
    KEPT = 1 << 4,     /* a cell says when it was created; only if numbers are the program's own */
    BORN = 1 << 5,     /* the last event about it says the same */
    CREATED = 1 << 6,  /* … or an event */
    ENDED = 1 << 7,    /* an event, or a cell's note, says so */
    OVER = 1 << 8,     /* an event says so */
};

struct promise {
    uint64_t id;
    uint32_t flags;
};

struct endings {
    struct home *home;
    uint64_t homes, last; /* last: the home that was asked for last */
    /* for each home, count bits: the promise has ended, and no event has said so yet; it became
     * another one */
    uint64_t *bits, *became;
    struct weft_idmap *by_base; /* the homes */
    uint32_t count;             /* of each home; a power of two */
    unsigned shift;             /* log2 of count */

    struct promise *promise;
    struct weft_idmap *ids; /* of these */
    uint32_t promises, room;
    uint64_t told; /* how many are RESOLVED or KEPT */

    uint64_t first,
        /* numbers from first up to, but not including, end certainly belong to this recording */
        end;
    uint64_t ns; /* the time when they ended, estimated */
    /* what to look at next when all events have been handed out */
    uint64_t next_number;
    uint32_t next_resolved, next_created;

    bool unsure;    /* there are numbers of the program's own, */
    bool own;       /* … and it is known which of them are pending, */
    bool concludes; /* … all of them, so that every other one has ended */
};

#define LOW ((1u << WEFT_NOTE_BITS) - 1)

/* What is needed only until the events are made. */
struct loading {
    struct cells c;             /* sorted by id */
    struct weft_idmap *present; /* the packets, by the lower bits of their sequence numbers */
    bool complete;              /* promises of which nothing else is known have been resolved */
};

int read_no_promises(struct weft_error *err)
{
    return weft_error_set(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory for its promises");
}

/* ---- Endings ---- */

/* The home of a promise; NULL if it has none here. */
static inline struct home *home_of(struct endings *e, uint64_t id)
{
    if (!e->homes)
        return NULL;
    if (id - e->home[e->last].base < e->count)
        return &e->home[e->last];
    uint32_t at = weft_idmap_seek(e->by_base, ((id - 1) & ~(uint64_t)(e->count - 1)) + 1);
    if (at == WEFT_IDMAP_NONE)
        return NULL;
    e->last = at;
    return &e->home[at];
}

/* Where the bits of a promise with that home are. */
static uint64_t word_of(const struct endings *e, const struct home *h, uint64_t id)
{
    return (uint64_t)(h - e->home) * (e->count / 64) + (id - h->base) / 64;
}

static struct promise *promise_of(const struct endings *e, uint64_t id)
{
    const uint32_t at = e->promises ? weft_idmap_seek(e->ids, id) : WEFT_IDMAP_NONE;
    return at == WEFT_IDMAP_NONE ? NULL : &e->promise[at];
}

static bool is_any(const struct endings *e, uint64_t id, uint32_t flags)
{
    const struct promise *p = promise_of(e, id);
    return p && p->flags & flags;
}

static bool add_flags(struct endings *e, uint64_t id, uint32_t flags)
{
    struct promise *p = promise_of(e, id);
    if (!p) {
        if (!weft_reserve(&e->promise, e->promises, &e->room, sizeof *e->promise) ||
            !weft_idmap_put(e->ids, id, e->promises))
            return false;
        p = &e->promise[e->promises++];
        *p = (struct promise){.id = id};
    }
    e->told += (flags & (RESOLVED | KEPT)) != 0;
    p->flags |= flags;
    return true;
}

/* A roll_use_fn. */
static bool add_listed(void *endings, uint64_t word)
{
    return add_flags(endings, word >> WEFT_ROLL_SORT_BITS, ON_ROLL);
}

/* A promise on the roll may have got its cell after the packet that created it was read. */
bool read_pending_was_created(const struct endings *e, uint64_t id)
{
    const struct promise *p = e ? promise_of(e, id) : NULL;
    return p && p->flags & KEPT && p->flags & BORN;
}

bool read_pending_see(struct endings *e, const struct weft_event *ev)
{
    bool of_first = ev->kind == WEFT_EVENT_FORGETS || ev->kind == WEFT_EVENT_BECOMES;
    bool creates = ev->kind == WEFT_EVENT_CREATES;
    uint64_t id = of_first ? ev->a : ev->b;
    struct home *h = home_of(e, id);
    if (h) {
        uint32_t i = (uint32_t)(id - h->base);
        if (!creates)
            e->bits[word_of(e, h, id)] &= ~(UINT64_C(1) << i % 64);
        else if (h->created <= i)
            h->created = i + 1;
        if (!e->unsure)
            return true;
    }
    if (e->concludes && !add_flags(e, id, creates ? CREATED : OVER))
        return false;
    struct promise *p = promise_of(e, id);
    if (p)
        p->flags = creates ? p->flags | BORN : (p->flags | ENDED) & ~(uint32_t)BORN;
    return true;
}

bool read_pending_ended(struct endings *e, uint64_t *id, uint64_t *ns)
{
    for (; e->next_number < e->homes << e->shift; e->next_number++) {
        const struct home *h = &e->home[e->next_number >> e->shift];
        uint32_t i = (uint32_t)e->next_number & (e->count - 1);
        uint64_t bits = e->bits[e->next_number / 64];
        if (i >= h->created) {
            e->next_number |= e->count - 1;
        } else if (bits == 0) {
            e->next_number |= 63;
        } else if (bits >> i % 64 & 1) {
            e->next_number++;
            *id = h->base + i;
            *ns = h->begin_ns > e->ns ? h->begin_ns : e->ns;
            return true;
        }
    }
    *ns = e->ns;
    while (e->next_resolved < e->promises) {
        const struct promise *p = &e->promise[e->next_resolved++];
        *id = p->id;
        if ((p->flags & (RESOLVED | ENDED)) == RESOLVED)
            return true;
    }
    while (e->next_created < e->promises && e->concludes) {
        const struct promise *p = &e->promise[e->next_created++];
        *id = p->id;
        if ((p->flags & (CREATED | OVER | OPEN | ON_ROLL)) == CREATED)
            return true;
    }
    return false;
}

static void free_endings(struct endings *e)
{
    if (!e)
        return;
    weft_idmap_free(e->by_base);
    weft_idmap_free(e->ids);
    weft_free_all(e->home, e->bits, e->became, e->promise, e);
}

/* Ignores ended bytes if they are wrong, or differ in number from those of the packets before
 * (count; 0: there were none). */
static bool check_ended(struct weft_file *f, struct packet *p, uint32_t count)
{
    uint32_t n = p->ended_count;
    bool fits = n == 0 || (n >= COUNT_MIN && n <= COUNT_MAX && (n & (n - 1)) == 0 &&
                           p->ended_at >= sizeof(struct weft_events_header) &&
                           p->ended_at <= p->header_bytes && n <= p->header_bytes - p->ended_at);
    if (!fits)
        read_reader_problem(
            &f->common, p->offset + offsetof(struct weft_events_header, ended_at), 0,
            "packet with a header of %u bytes says that %u ended bytes begin after %u",
            p->header_bytes, n, p->ended_at);
    if (!fits || (count && n != count) || (n && p->base % n != 1))
        p->ended_count = 0;
    return p->ended_count > 0;
}

/* The lowest bit of each of 8 bytes, as 8 bits. */
static uint64_t gather(uint64_t word)
{
    return (word & UINT64_C(0x0101010101010101)) * UINT64_C(0x0102040810204080) >> 56;
}

/* Turns a packet's ended bytes into bits. */
static int read_ended(struct weft_file *f, const struct packet *p, const struct home *h,
                      struct weft_error *err)
{
    struct endings *e = f->pending_events.endings;
    const uint64_t offset = p->offset + p->ended_at, first = word_of(e, h, h->base);
    _Static_assert(WEFT_BYTE_BECAME == 3, "both bits");
    for (uint32_t at = 0; at < e->count;) {
        size_t size = e->count - at < BLOCK ? e->count - at : BLOCK;
        TRY(read_filled(&f->common.input, f->window, size, offset + at, err));
        for (size_t i = 0; i < size; i += 8, at += 8) {
            const uint64_t word = format_u64(f->window + i);
            e->bits[first + at / 64] |= gather(word) << at % 64;
            e->became[first + at / 64] |= gather(word & word >> 1) << at % 64;
        }
    }
    return 0;
}

/* Something newer than what is still there was overwritten. This is about when the first of the
 * packets that are there was released. */
static uint64_t first_end(struct weft_file *f)
{
    uint64_t first = UINT64_MAX, last_begin = 0, hint = 0;
    for (uint64_t i = 0; i < f->packets; i++) {
        const struct packet *p = &f->packet[i];
        first = p->end_ticks && p->end_ticks < first ? p->end_ticks : first;
        last_begin = p->begin_ticks > last_begin ? p->begin_ticks : last_begin;
    }
    return clock_convert(&f->clock, first < UINT64_MAX ? first : last_begin, &hint);
}

static bool make_homes(struct weft_file *f, struct endings *e)
{
    uint64_t homes = 0;
    for (uint64_t i = 0; i < f->packets; i++)
        if (check_ended(f, &f->packet[i], e->count)) {
            e->count = f->packet[i].ended_count;
            homes++;
        }
    if (!homes)
        return true;
    while (1u << e->shift < e->count)
        e->shift++;
    if (homes > UINT32_MAX / 4)
        return false;
    e->home = calloc(homes, sizeof *e->home);
    e->bits = calloc(homes, e->count / 8);
    e->became = calloc(homes, e->count / 8);
    e->by_base = weft_idmap_new();
    return e->home && e->bits && e->became && e->by_base;
}

/* Each packet takes the next numbers when it is begun. So before the recording, the process had
 * used no numbers above those of its first packet. Newer files state the range: see
 * load_pending. */
static void find_range(const struct weft_file *f, struct endings *e)
{
    e->first = 1;
    for (uint64_t i = 0; i < f->packets; i++) {
        const struct packet *p = &f->packet[i];
        uint64_t before = p->sequence - 1, bytes;
        if (!p->ended_count || __builtin_mul_overflow(before, e->count, &bytes))
            continue;
        if (p->base > bytes && p->base - bytes > e->first)
            e->first = p->base - bytes;
        if (p->base <= UINT64_MAX - e->count && p->base + e->count > e->end)
            e->end = p->base + e->count;
    }
}

/* What the packet of pending promises says about the range: it may know of packets that are
 * gone. */
static void find_more(struct endings *e, const struct cells *c)
{
    if (c->h.first_number)
        e->first = c->h.first_number;
    for (uint64_t i = 0; i < c->knowns && !(c->h.unsure & WEFT_UNSURE); i++)
        if (c->known[i].id >= e->end && c->known[i].id < UINT64_MAX)
            e->end = c->known[i].id + 1;
}

/* Reads the ended bytes of all packets. */
static int load_endings(struct weft_file *f, struct endings *e, struct weft_error *err)
{
    e->ns = first_end(f);
    e->ids = weft_idmap_new();
    if (!e->ids || !make_homes(f, e))
        return read_no_promises(err);
    find_range(f, e);
    for (uint64_t i = 0; i < f->packets && e->count; i++) {
        const struct packet *p = &f->packet[i];
        if (!p->ended_count || weft_idmap_seek(e->by_base, p->base) != WEFT_IDMAP_NONE)
            continue;
        struct home *h = &e->home[e->homes];
        *h = (struct home){.base = p->base, .begin_ns = p->begin_ns};
        if (!weft_idmap_put(e->by_base, p->base, (uint32_t)e->homes))
            return read_no_promises(err);
        TRY(read_ended(f, p, h, err));
        e->homes++;
    }
    return 0;
}

/* ---- Packets that are there ---- */

static bool list_present(struct weft_file *f, struct loading *l)
{
    l->present = weft_idmap_new();
    for (uint64_t i = 0; i < f->packets && l->present; i++) {
        uint32_t *first = weft_idmap_at(l->present, f->packet[i].sequence & LOW);
        if (!first)
            return false;
        if (*first == WEFT_IDMAP_NONE || f->packet[i].begin_ticks < f->packet[*first].begin_ticks)
            *first = (uint32_t)i;
    }
    return l->present;
}

/* Returns true if the packet with an event of that time is there. (Only the lower bits of its
 * sequence number are known.) */
static bool is_present(const struct weft_file *f, const struct loading *l, uint32_t sequence,
                       uint64_t ticks)
{
    const uint32_t first = weft_idmap_seek(l->present, sequence & LOW);
    return first != WEFT_IDMAP_NONE && f->packet[first].begin_ticks <= ticks;
}

/* ---- Events ---- */

static bool add_event(struct pending *p, struct promoted ev)
{
    if (!weft_reserve(&p->event, p->events, &p->room, sizeof *p->event))
        return false;
    p->event[p->events++] = ev;
    return true;
}

/* Returns true if the promise that waits may be shown: a packet creates it, or it is known to be
 * pending. */
static bool is_known(struct endings *e, const struct loading *l, uint64_t id)
{
    if (e->own)
        return id == WEFT_ID_LOOP || is_any(e, id, OPEN | ON_ROLL);
    return !l->complete || id == WEFT_ID_LOOP || home_of(e, id) || is_any(e, id, HAS_CELL);
}

/* Returns true if a promise that others wait for is pending, or became one that may be pending. If
 * it has ended, everything that says so may have been overwritten. */
static bool is_pending(struct endings *e, uint64_t id)
{
    const struct home *h = home_of(e, id);
    if (!h)
        return is_any(e, id, e->own ? HAS_CELL | OPEN | ON_ROLL : HAS_CELL);
    const uint64_t at = word_of(e, h, id);
    return (~e->bits[at] | e->became[at]) >> (id - h->base) % 64 & 1;
}

static uint64_t time_of(const struct weft_file *f, uint64_t ticks, uint64_t *hint)
{
    uint64_t ns = clock_convert(&f->clock, ticks, hint);
    return ns < UINT64_MAX ? ns : ns - 1; /* the largest time means "last" */
}

static bool add_note(struct weft_file *f, const struct loading *l, const struct known *k,
                     unsigned n, uint64_t *hint)
{
    struct endings *e = f->pending_events.endings;
    const struct weft_pending_cell *c = &k->cell;
    const uint64_t other = c->note_other[n];
    const uint32_t kind = c->note_tag[n] >> WEFT_NOTE_BITS;
    struct promoted ev = {
        .id = k->id, .other = other, .stream = WEFT_STREAM_NONE, .kind = (uint8_t)kind};
    if (is_present(f, l, c->note_tag[n], c->note_ticks[n]))
        return true;
    switch (kind) {
    case WEFT_EVENT_NOTIFIES:
        break;
    case WEFT_EVENT_TRY_READ:
        if (!is_known(e, l, other))
            return true;
        break;
    case WEFT_EVENT_LABEL:
    case WEFT_EVENT_SPAN:
    case WEFT_EVENT_SPAN_PARENT:
        if (!other || other >= WEFT_STRING_INLINE)
            return true;
        ev.text = (uint32_t)other;
        break;
    case WEFT_NOTE_WAITS_FOR:
        if (!is_pending(e, other))
            return true;
        ev.kind = WEFT_EVENT_TRY_READ;
        ev.id = other;
        ev.other = k->id;
        break;
    case WEFT_EVENT_BECOMES:
        if (!read_pending_see(e, &(struct weft_event){.a = k->id, .b = other, .kind = ev.kind}))
            return false;
        ev.id = other;
        ev.other = k->id;
        break;
    default:
        return true;
    }
    ev.order = 3; /* not its place in the cell: another cell may have the same event */
    ev.ns = time_of(f, c->note_ticks[n], hint);
    return add_event(&f->pending_events, ev);
}

static bool add_mark(struct pending *p, struct promoted ev, bool marked, uint8_t kind,
                     uint8_t order)
{
    ev.kind = kind;
    ev.order = order;
    return !marked || add_event(p, ev);
}

/* Turns a cell into events. If a packet creates the promise, its marks come last (late). */
static bool add_cell(struct weft_file *f, struct loading *l, const struct known *k)
{
    const struct weft_pending_cell *c = &k->cell;
    struct pending *p = &f->pending_events;
    struct endings *e = p->endings;
    uint64_t hint = 0;
    const bool undated = c->flags & WEFT_PENDING_UNDATED,
               late = c->flags & WEFT_PENDING_UNBORN || k->again ||
                      (!undated && is_present(f, l, c->packet, c->created_ticks));
    struct promoted ev = {.id = k->id,
                          .ns = late ? UINT64_MAX : time_of(f, c->created_ticks, &hint),
                          .other = undated ? WEFT_ID_LOOP : c->creator,
                          .stream = WEFT_STREAM_NONE,
                          .undated = undated && !late},
                    created = ev;
    created.kind = WEFT_EVENT_CREATES;
    created.site = c->site < WEFT_STRING_INLINE ? c->site : 0;
    created.text = c->text < WEFT_STRING_INLINE && !undated ? c->text : 0;
    created.stream = undated ? WEFT_STREAM_NONE : read_streams_find(&f->streams, c->stream);
    if (!late && (!add_event(p, created) || (e->unsure && !add_flags(e, k->id, KEPT))))
        return false;
    if (!add_mark(p, ev, c->flags & WEFT_PENDING_SHOULD_RESOLVE, WEFT_EVENT_SHOULD_RESOLVE, 1) ||
        !add_mark(p, ev, c->flags & WEFT_PENDING_BACKGROUND, WEFT_EVENT_BACKGROUND, 2))
        return false;
    for (unsigned n = 0; n < WEFT_PENDING_NOTES; n++)
        if (c->note_tag[n] && !add_note(f, l, k, n, &hint))
            return false;
    return true;
}

static int by_time(const void *a, const void *b)
{
    const struct promoted *x = a, *y = b;
    WEFT_ORDER(x->ns, y->ns);
    WEFT_ORDER(x->order, y->order);
    WEFT_ORDER(x->kind, y->kind);
    WEFT_ORDER(x->id, y->id);
    WEFT_ORDER(x->other, y->other);
    return weft_order(x->text, y->text);
}

/* Sorts the events and removes duplicates: a promise may have two cells with the same event. */
static void sort_events(struct pending *p)
{
    uint64_t kept = 0;
    weft_sort(p->event, p->events, sizeof *p->event, by_time);
    for (uint64_t i = 0; i < p->events; i++)
        if (!kept || by_time(&p->event[i], &p->event[kept - 1]) != 0)
            p->event[kept++] = p->event[i];
    p->events = kept;
}

static int by_cell(const void *a, const void *b)
{
    const struct known *x = a, *y = b;
    WEFT_ORDER(x->id, y->id);
    WEFT_ORDER(x->cell.flags & WEFT_PENDING_UNBORN, y->cell.flags & WEFT_PENDING_UNBORN);
    WEFT_ORDER(x->cell.flags & WEFT_PENDING_UNDATED, y->cell.flags & WEFT_PENDING_UNDATED);
    return weft_order(x->place, y->place);
}

/* What a promise became, according to a cell; 0: nothing. */
static uint64_t link_of(const struct weft_pending_cell *c)
{
    for (unsigned n = 0; n < WEFT_PENDING_NOTES; n++)
        if (c->note_tag[n] >> WEFT_NOTE_BITS == WEFT_EVENT_BECOMES)
            return c->note_other[n];
    return 0;
}

/* Finds out what the cells of each promise say together; they are sorted. Returns true if a promise
 * became another one. */
static bool combine_cells(struct cells *c)
{
    struct known *first = NULL;
    bool links = false;
    for (uint64_t i = 0; i < c->knowns; i++) {
        struct known *k = &c->known[i];
        k->resolved |= k->ended;
        k->again = first && first->id == k->id;
        first = k->again ? first : k;
        first->over = k->resolved && (first == k || first->over);
        first->link = first->link ? first->link : link_of(&k->cell);
        links |= first->link != 0;
    }
    return links;
}

/* Returns true if the promise, or what it became, ended so long ago that nothing about it is left.
 * first: if nothing is known about a promise with this number or a later one, it has ended. */
static bool is_gone(struct endings *e, const struct cells *c, uint64_t first, uint64_t id)
{
    for (unsigned i = 0; i < CHAIN_MAX && id; i++) {
        uint64_t low = 0, high = c->knowns;
        WEFT_SEEK(low, high, c->known[middle].id < id);
        if (low == c->knowns || c->known[low].id != id)
            return !home_of(e, id) && id != WEFT_ID_LOOP && id >= first && !is_any(e, id, ON_ROLL);
        id = c->known[low].over ? 0 : c->known[low].link;
    }
    return false;
}

/* Finds promises that became others, if those have ended. */
static void find_gone(struct weft_file *f, struct cells *c)
{
    struct endings *e = f->pending_events.endings;
    const struct weft_reader_facts *facts = &f->common.facts;
    const bool sure = (e->own || !(c->h.unsure & WEFT_UNSURE)) && !facts->discarded_events &&
                      !facts->missing_packets;
    const uint64_t first = !sure ? WEFT_ID_LOOP : e->own ? 1 : e->first;
    for (struct known *k = c->known; k < c->known + c->knowns; k++)
        k->gone = k->again ? k[-1].gone : k->link && is_gone(e, c, first, k->link);
}

/* Leaves out the cells of promises that are gone, and those whose creation should be in a packet
 * but is in none. If a promise has two cells, the first one that knows its creation gives the time.
 * Returns false if there is no memory. */
static bool choose_cells(struct cells *c, struct endings *e, uint64_t *promises)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < c->knowns; i++) {
        struct known k = c->known[i];
        k.again = kept && c->known[kept - 1].id == k.id;
        const bool stray =
            k.cell.flags & WEFT_PENDING_UNBORN && !(c->h.unsure & WEFT_UNSURE) && !home_of(e, k.id);
        if (k.gone || (stray && !k.again))
            continue;
        /* If its home is there, its bits say that it has ended, as for all others. */
        const bool resolved = k.resolved && !k.again && !home_of(e, k.id);
        if (!add_flags(e, k.id, HAS_CELL | (resolved ? RESOLVED : 0) | (k.resolved ? 0 : OPEN)))
            return false;
        *promises += !k.again;
        c->known[kept++] = k;
    }
    c->knowns = kept;
    return true;
}

static int make_events(struct weft_file *f, struct loading *l, struct weft_error *err)
{
    struct pending *p = &f->pending_events;
    const struct weft_reader_facts *facts = &f->common.facts;
    l->complete = !l->c.h.given_up && !(l->c.h.unsure & WEFT_UNSURE) && !facts->discarded_events &&
                  !facts->missing_packets;
    if (!choose_cells(&l->c, p->endings, &f->common.facts.promotion.promises) ||
        !list_present(f, l))
        return read_no_promises(err);
    for (uint64_t i = 0; i < l->c.knowns; i++)
        if (!add_cell(f, l, &l->c.known[i]))
            return read_no_promises(err);
    TRY(read_undated_place(f, p->endings->unsure, err));
    sort_events(p);
    return 0;
}

bool read_pending_tells(const struct weft_file *f, uint64_t id)
{
    struct endings *e = f->pending_events.endings;
    return home_of(e, id) || is_any(e, id, HAS_CELL);
}

static uint64_t to_ns(const struct weft_file *f, uint64_t ticks)
{
    uint64_t hz = f->common.facts.clock_hz;
    double ns = f->clock.plain || !hz ? (double)ticks : (double)ticks * 1e9 / (double)hz;
    return ns < 9e18 ? (uint64_t)ns : UINT64_MAX / 2;
}

static int load_pending(struct weft_file *f, struct loading *l, struct weft_error *err)
{
    struct weft_promotion *facts = &f->common.facts.promotion;
    int rc = read_cells_load(&l->c, &f->common.input, &f->pending, err);
    if (rc == 0)
        read_reader_problem(
            &f->common, f->pending.offset + sizeof(struct weft_packet_header),
            f->pending.content - f->pending.header_bytes,
            "packet of %" PRIu64 " bytes says it holds %u cells of %u bytes after %" PRIu64
            " and %" PRIu64 "; skipped",
            f->pending.content, l->c.h.cells, l->c.h.cell_bytes, l->c.h.ids_at, l->c.h.cells_at);
    if (rc <= 0)
        return rc;
    struct endings *e = f->pending_events.endings;
    find_more(e, &l->c);
    read_emptied_mark(&f->emptied, &l->c);
    facts->known = true;
    facts->ever = l->c.h.kept;
    facts->given_up = l->c.h.given_up;
    facts->skipped = l->c.h.skipped;
    facts->let_go = l->c.h.unsure & WEFT_LET_GO;
    facts->pauses = l->c.h.pauses;
    facts->longest_pause_ns = to_ns(f, l->c.h.longest_pause_ticks);
    e->unsure = l->c.h.unsure & (WEFT_UNSURE | WEFT_LISTED);
    e->own = l->c.h.unsure & WEFT_LISTED;
    weft_sort(l->c.known, l->c.knowns, sizeof *l->c.known, by_cell);
    const bool links = combine_cells(&l->c);
    rc = links || e->own ? read_roll_numbers(f, add_listed, e, err) : 0;
    if (rc == 0 && links)
        find_gone(f, &l->c);
    if (rc == 0)
        rc = make_events(f, l, err);
    facts->complete = !l->c.h.given_up && !(l->c.h.unsure & WEFT_UNSURE);
    if (rc == 0)
        rc = read_roll_load(f, &l->c, err);
    for (uint64_t i = 0; i < l->c.knowns && !f->roll.content; i++)
        facts->left_out += l->c.known[i].resolved ? 0 : l->c.known[i].cell.dropped;
    facts->lacks = facts->numbered || facts->unlisted || facts->left_out ||
                   (l->c.h.given_up && !f->roll.content) ||
                   ((l->c.h.unsure & WEFT_UNSURE) && !e->own);
    e->concludes = e->own && !facts->unlisted;
    facts->lacks &= f->common.facts.overwritten_packets > 0;
    return rc;
}

int read_pending_load(struct weft_file *f, struct weft_error *err)
{
    struct pending *p = &f->pending_events;
    const struct weft_reader_facts *facts = &f->common.facts;
    p->next_ns = UINT64_MAX;
    if (!facts->overwritten_packets && !facts->missing_packets && !f->in_transition &&
        !f->pending.content)
        return 0;
    p->endings = calloc(1, sizeof *p->endings);
    if (!p->endings)
        return read_no_promises(err);
    int rc = load_endings(f, p->endings, err);
    f->common.facts.overwritten_ns = p->endings->ns;
    if (rc == 0 && f->pending.content) {
        struct loading l = {.present = NULL};
        rc = load_pending(f, &l, err);
        read_cells_fini(&l.c);
        weft_idmap_free(l.present);
    }
    if (rc == 0 && !p->endings->homes && !p->endings->told && !p->endings->concludes) {
        free_endings(p->endings);
        p->endings = NULL;
    }
    if (p->events)
        p->next_ns = p->event[0].ns;
    return rc;
}

bool read_pending_overwritten(const struct weft_reader *r, uint64_t id)
{
    struct endings *e = ((const struct weft_file *)r)->pending_events.endings;
    return e && id >= e->first && id < e->end && !home_of(e, id);
}

void read_pending_fini(struct pending *p)
{
    free_endings(p->endings);
    free(p->event);
}
