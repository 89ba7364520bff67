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
#include <string.h>

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

/* A promise of which the recorder says when it was created, or that it has ended. */
struct told_of {
    uint64_t id;
    bool seen; /* an event says the same */
};

/* Numbers; sorted when they are complete. */
struct ids {
    uint64_t *id, count;
    uint32_t room;
};

struct endings {
    struct home *home;
    uint64_t homes, last; /* last: the home that was asked for last */
    /* for each home, count bits: the promise has ended, and no event has said so yet */
    uint64_t *bits;
    struct weft_table table; /* of the homes, by base */
    uint64_t seed;
    struct ids became; /* promises with a home that became others */
    uint32_t count;    /* of each home; a power of two */
    unsigned shift;    /* log2 of count */

    struct told_of *resolved; /* sorted by id */
    uint64_t resolveds;
    struct told_of *kept; /* … created by a cell, if numbers are the program's own */
    uint64_t kepts;

    uint64_t first,
        /* numbers from first up to, but not including, end certainly belong to this recording */
        end;
    uint64_t ns; /* the time when they ended, estimated */
    /* what to look at next when all events have been handed out */
    uint64_t next_number, next_resolved;

    bool own;          /* numbers are the program's own: */
    struct ids listed; /* … those that are pending, */
    bool concludes;    /* … and these are all of them, so that every other one has ended: */
    struct ids created, ended;
    uint64_t next_created;
    bool sorted;
};

/* A packet, found by the lower bits of its sequence number. */
struct present {
    uint32_t low;
    uint64_t begin_ticks;
};

#define LOW ((1u << WEFT_NOTE_BITS) - 1)

/* For is_told. */
struct telling {
    struct endings *e;
    const struct cells *c; /* sorted by id */
};

/* What is needed only until the events are made. */
struct loading {
    struct cells c;          /* sorted by id */
    struct present *present; /* sorted, each low once */
    uint64_t presents;
    bool complete; /* promises of which nothing else is known have been resolved */
};

static int no_memory(struct weft_error *err)
{
    return weft_error_set(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory for its promises");
}

/* ---- Endings ---- */

static uint64_t hash_of(const void *home, uint32_t i, uint64_t seed)
{
    return weft_mix(((const struct home *)home)[i].base, seed);
}

static bool has_base(const void *home, uint32_t i, const void *base)
{
    return ((const struct home *)home)[i].base == *(const uint64_t *)base;
}

static uint32_t *slot_of(const struct endings *e, uint64_t base)
{
    return weft_table_find(&e->table, weft_mix(base, e->seed), has_base, e->home, &base);
}

/* The home of a promise; NULL if it has none here. */
static inline struct home *home_of(struct endings *e, uint64_t id)
{
    if (!e->homes)
        return NULL;
    if (id - e->home[e->last].base < e->count)
        return &e->home[e->last];
    uint32_t at = *slot_of(e, ((id - 1) & ~(uint64_t)(e->count - 1)) + 1);
    if (!at)
        return NULL;
    e->last = at - 1;
    return &e->home[e->last];
}

static int by_id(const void *a, const void *b)
{
    return weft_order_u64(a, b); /* all of these structs begin with the number */
}

static bool add_id(struct ids *s, uint64_t id)
{
    if (!weft_reserve(&s->id, s->count, &s->room, sizeof *s->id))
        return false;
    s->id[s->count++] = id;
    return true;
}

static void sort_ids(struct ids *s)
{
    if (s->count)
        qsort(s->id, s->count, sizeof *s->id, by_id);
}

/* A roll_use_fn. */
static bool list_id(void *data, uint64_t id)
{
    return add_id(data, id);
}

static bool has_id(const struct ids *s, uint64_t id)
{
    return s->count && bsearch(&id, s->id, s->count, sizeof *s->id, by_id);
}

static struct told_of *find_told_of(struct told_of *all, uint64_t count, uint64_t id)
{
    return count ? bsearch(&id, all, count, sizeof *all, by_id) : NULL;
}

/* A promise on the roll may have got its cell after the packet that created it was read. */
bool read_pending_was_created(const struct endings *e, uint64_t id)
{
    const struct told_of *kept = e ? find_told_of(e->kept, e->kepts, id) : NULL;
    return kept && kept->seen;
}

bool read_pending_see(struct endings *e, const struct weft_event *ev)
{
    bool of_first = ev->kind == WEFT_EVENT_FORGETS || ev->kind == WEFT_EVENT_BECOMES;
    bool creates = ev->kind == WEFT_EVENT_CREATES;
    uint64_t id = of_first ? ev->a : ev->b;
    struct home *h = home_of(e, id);
    if (h) {
        uint32_t i = (uint32_t)(id - h->base);
        uint64_t at = (uint64_t)(h - e->home) * (e->count / 64) + i / 64;
        if (!creates)
            e->bits[at] &= ~(UINT64_C(1) << i % 64);
        else if (h->created <= i)
            h->created = i + 1;
    } else if (!creates) {
        struct told_of *r = find_told_of(e->resolved, e->resolveds, id);
        if (r)
            r->seen = true;
    }
    struct told_of *kept = find_told_of(e->kept, e->kepts, id);
    if (kept)
        kept->seen = creates;
    if (!e->concludes)
        return true;
    return creates ? has_id(&e->listed, id) || add_id(&e->created, id) : add_id(&e->ended, id);
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
    while (e->next_resolved < e->resolveds) {
        const struct told_of *r = &e->resolved[e->next_resolved++];
        if (!r->seen) {
            *id = r->id;
            *ns = e->ns;
            return true;
        }
    }
    if (!e->sorted)
        sort_ids(&e->ended);
    e->sorted = true;
    while (e->next_created < e->created.count) {
        *id = e->created.id[e->next_created++];
        *ns = e->ns;
        if (!has_id(&e->ended, *id))
            return true;
    }
    return false;
}

static void free_endings(struct endings *e)
{
    if (!e)
        return;
    free(e->home);
    free(e->bits);
    weft_table_drop(&e->table);
    free(e->resolved);
    free(e->kept);
    free(e->became.id);
    free(e->listed.id);
    free(e->created.id);
    free(e->ended.id);
    free(e);
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

/* Adds to the list the promises that became others; word holds 8 ended bytes. */
static bool list_became(struct ids *became, uint64_t id, uint64_t word)
{
    for (unsigned i = 0; i < 8 && word & UINT64_C(0x0202020202020202); i++, word >>= 8)
        if ((word & WEFT_BYTE_BECAME) == WEFT_BYTE_BECAME && !add_id(became, id + i))
            return false;
    return true;
}

/* Turns a packet's ended bytes into bits. */
static int read_ended(struct weft_file *f, const struct packet *p, uint64_t *bits, uint32_t count,
                      struct weft_error *err)
{
    uint64_t offset = p->offset + p->ended_at, word;
    for (uint32_t at = 0; at < count;) {
        size_t size = count - at < BLOCK ? count - at : BLOCK;
        int rc = read_filled(&f->common.input, f->window, size, offset + at, err);
        if (rc < 0)
            return rc;
        for (size_t i = 0; i < size; i += 8, at += 8) {
            memcpy(&word, f->window + i, 8);
            if (!list_became(&f->pending_events.endings->became, p->base + at, word))
                return no_memory(err);
            word = (word & UINT64_C(0x0101010101010101)) * UINT64_C(0x0102040810204080) >> 56;
            bits[at / 64] |= word << at % 64;
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
    e->seed = weft_seed();
    e->home = calloc(homes, sizeof *e->home);
    e->bits = calloc(homes, e->count / 8);
    return e->home && e->bits;
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
    if (!make_homes(f, e))
        return no_memory(err);
    find_range(f, e);
    for (uint64_t i = 0; i < f->packets && e->count; i++) {
        const struct packet *p = &f->packet[i];
        if (!p->ended_count)
            continue;
        if (!weft_table_reserve(&e->table, e->home, (uint32_t)e->homes, hash_of, e->seed))
            return no_memory(err);
        uint32_t *slot = slot_of(e, p->base);
        if (*slot)
            continue;
        e->home[e->homes] = (struct home){.base = p->base, .begin_ns = p->begin_ns};
        int rc = read_ended(f, p, e->bits + e->homes * (e->count / 64), e->count, err);
        if (rc < 0)
            return rc;
        *slot = (uint32_t)++e->homes;
    }
    sort_ids(&e->became);
    return 0;
}

/* ---- Packets that are there ---- */

static int by_low(const void *a, const void *b)
{
    const struct present *x = a, *y = b;
    WEFT_ORDER(x->low, y->low);
    return weft_order(x->begin_ticks, y->begin_ticks);
}

static bool list_present(struct weft_file *f, struct loading *l)
{
    l->present = calloc(f->packets + 1, sizeof *l->present);
    if (!l->present)
        return false;
    for (uint64_t i = 0; i < f->packets; i++)
        l->present[i] =
            (struct present){(uint32_t)f->packet[i].sequence & LOW, f->packet[i].begin_ticks};
    if (f->packets)
        qsort(l->present, f->packets, sizeof *l->present, by_low);
    for (uint64_t i = 0; i < f->packets; i++)
        if (!l->presents || l->present[l->presents - 1].low != l->present[i].low)
            l->present[l->presents++] = l->present[i];
    return true;
}

/* Returns true if the packet with an event of that time is there. (Only the lower bits of its
 * sequence number are known.) */
static bool is_present(const struct loading *l, uint32_t sequence, uint64_t ticks)
{
    uint64_t low = 0, high = l->presents;
    WEFT_SEEK(low, high, l->present[middle].low < (sequence & LOW));
    return low < l->presents && l->present[low].low == (sequence & LOW) &&
           l->present[low].begin_ticks <= ticks;
}

/* ---- Events ---- */

static bool add_event(struct pending *p, struct promoted ev)
{
    if (!weft_reserve(&p->event, p->events, &p->room, sizeof *p->event))
        return false;
    p->event[p->events++] = ev;
    return true;
}

static bool has_cell(const struct cells *c, uint64_t id)
{
    return c->knowns && bsearch(&id, c->known, c->knowns, sizeof *c->known, by_id);
}

/* Returns true if the promise that waits may be shown: a packet creates it, or it is known to be
 * pending. */
static bool is_known(struct weft_file *f, const struct loading *l, uint64_t id)
{
    struct endings *e = f->pending_events.endings;
    if (e->own)
        return id == WEFT_ID_LOOP || has_id(&e->listed, id);
    return !l->complete || id == WEFT_ID_LOOP || home_of(e, id) || has_cell(&l->c, id);
}

static bool is_ended(const struct endings *e, const struct home *h, uint64_t id)
{
    const uint64_t i = id - h->base;
    return e->bits[(uint64_t)(h - e->home) * (e->count / 64) + i / 64] >> i % 64 & 1;
}

/* Returns true if a promise that others wait for is pending, or became one that may be pending. If
 * it has ended, everything that says so may have been overwritten. */
static bool is_pending(struct weft_file *f, const struct loading *l, uint64_t id)
{
    struct endings *e = f->pending_events.endings;
    const struct home *h = home_of(e, id);
    if (h)
        return !is_ended(e, h, id) || has_id(&e->became, id);
    return has_id(&e->listed, id) || has_cell(&l->c, id);
}

static uint64_t time_of(const struct weft_file *f, uint64_t ticks, uint64_t *hint)
{
    uint64_t ns = clock_convert(&f->clock, ticks, hint);
    return ns < UINT64_MAX ? ns : ns - 1; /* the largest time means "last" */
}

static bool add_note(struct weft_file *f, const struct loading *l, const struct known *k,
                     unsigned n, uint64_t *hint)
{
    const struct weft_pending_cell *c = &k->cell;
    uint32_t kind = c->note_tag[n] >> WEFT_NOTE_BITS;
    uint64_t other = c->note_other[n];
    struct promoted ev = {.id = k->id, .other = other, .stream = WEFT_STREAM_NONE};
    if (is_present(l, c->note_tag[n], c->note_ticks[n]) ||
        (kind == WEFT_EVENT_TRY_READ && !is_known(f, l, other)))
        return true;
    if (kind == WEFT_EVENT_BECOMES) {
        ev = (struct promoted){.id = other, .other = k->id, .stream = WEFT_STREAM_NONE};
        ev.kind = WEFT_EVENT_BECOMES;
        ev.order = 3;
        ev.ns = time_of(f, c->note_ticks[n], hint);
        return read_pending_see(f->pending_events.endings,
                                &(struct weft_event){.a = k->id, .b = other, .kind = ev.kind}) &&
               add_event(&f->pending_events, ev);
    }
    if (kind == WEFT_NOTE_WAITS_FOR) {
        ev = (struct promoted){.id = other, .other = k->id, .stream = WEFT_STREAM_NONE};
        if (!is_pending(f, l, other))
            return true;
        kind = WEFT_EVENT_TRY_READ;
    }
    if (kind != WEFT_EVENT_LABEL && kind != WEFT_EVENT_TRY_READ && kind != WEFT_EVENT_NOTIFIES)
        return true;
    if (kind == WEFT_EVENT_LABEL)
        ev.text = other < WEFT_STRING_INLINE ? (uint32_t)other : 0;
    if (kind == WEFT_EVENT_LABEL && !ev.text)
        return true;
    ev.kind = (uint8_t)kind;
    ev.order = 3; /* not its place in the cell: another cell may have the same event */
    ev.ns = time_of(f, c->note_ticks[n], hint);
    return add_event(&f->pending_events, ev);
}

/* Turns a cell into events. If a packet creates the promise, its marks come last (late). */
static bool add_cell(struct weft_file *f, struct loading *l, const struct known *k)
{
    const struct weft_pending_cell *c = &k->cell;
    struct pending *p = &f->pending_events;
    uint64_t hint = 0;
    bool unborn = c->flags & WEFT_PENDING_UNBORN;
    struct promoted ev = {.id = k->id, .other = c->creator, .stream = WEFT_STREAM_NONE};
    bool late = unborn || k->again || is_present(l, c->packet, c->created_ticks);
    if (!late) {
        ev.ns = time_of(f, c->created_ticks, &hint);
        ev.kind = WEFT_EVENT_CREATES;
        ev.site = c->site < WEFT_STRING_INLINE ? c->site : 0;
        ev.text = c->text < WEFT_STRING_INLINE ? c->text : 0;
        ev.stream = read_streams_find(&f->streams, c->stream);
        if (!add_event(p, ev))
            return false;
        if (p->endings->kept)
            p->endings->kept[p->endings->kepts++] = (struct told_of){.id = k->id};
    }
    ev.site = ev.text = 0;
    ev.stream = WEFT_STREAM_NONE;
    if (late)
        ev.ns = UINT64_MAX;
    if (c->flags & WEFT_PENDING_SHOULD_RESOLVE) {
        ev.kind = WEFT_EVENT_SHOULD_RESOLVE;
        ev.order = 1;
        if (!add_event(p, ev))
            return false;
    }
    if (c->flags & WEFT_PENDING_BACKGROUND) {
        ev.kind = WEFT_EVENT_BACKGROUND;
        ev.order = 2;
        if (!add_event(p, ev))
            return false;
    }
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
    if (p->events)
        qsort(p->event, p->events, sizeof *p->event, by_time);
    for (uint64_t i = 0; i < p->events; i++)
        if (!kept || by_time(&p->event[i], &p->event[kept - 1]) != 0)
            p->event[kept++] = p->event[i];
    p->events = kept;
}

/* Lists the promises that the recorder knew to have ended. If their home is there, its bits answer
 * this, as for all others. */
static bool list_resolved(struct endings *e, const struct loading *l)
{
    uint64_t marked = 0;
    for (uint64_t i = 0; i < l->c.knowns; i++)
        marked += l->c.known[i].resolved;
    e->resolved = calloc(marked + 1, sizeof *e->resolved);
    if (!e->resolved)
        return false;
    for (uint64_t i = 0; i < l->c.knowns; i++)
        if (l->c.known[i].resolved && !l->c.known[i].again && !home_of(e, l->c.known[i].id))
            e->resolved[e->resolveds++] = (struct told_of){.id = l->c.known[i].id};
    return true;
}

static int by_cell(const void *a, const void *b)
{
    const struct known *x = a, *y = b;
    WEFT_ORDER(x->id, y->id);
    WEFT_ORDER(x->cell.flags & WEFT_PENDING_UNBORN, y->cell.flags & WEFT_PENDING_UNBORN);
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

/* What all cells of a promise say, taken together. */
struct told {
    uint64_t id;
    uint64_t link;  /* what it became, or 0 */
    uint64_t cells; /* how many there are */
    bool resolved;  /* all of them say that it has ended */
};

/* What is known about promises. */
struct known_ids {
    struct told *told; /* by id */
    uint64_t tolds;
    struct ids roll;
    uint64_t first;
    bool sure; /* others, from first on, are known to have ended */
};

/* Combines what the cells say. They are sorted by id. */
static void find_told(struct known_ids *known, const struct cells *c)
{
    for (uint64_t i = 0; i < c->knowns; i++) {
        const struct known *k = &c->known[i];
        if (!i || k->id != c->known[i - 1].id)
            known->told[known->tolds++] = (struct told){.id = k->id, .resolved = true};
        struct told *t = &known->told[known->tolds - 1];
        t->link = t->link ? t->link : link_of(&k->cell);
        t->resolved &= k->resolved;
        t->cells++;
    }
}

/* Returns true if the promise, or what it became, ended so long ago that nothing about it is
 * left. */
static bool is_gone(struct endings *e, const struct known_ids *known, uint64_t id)
{
    for (unsigned i = 0; i < CHAIN_MAX; i++) {
        const struct told *t = bsearch(&id, known->told, known->tolds, sizeof *t, by_id);
        if (!t && home_of(e, id))
            return false;
        if (!t)
            return known->sure && id != WEFT_ID_LOOP && id >= known->first &&
                   !has_id(&known->roll, id);
        if (t->resolved || !t->link)
            return false;
        id = t->link;
    }
    return false;
}

/* Leaves out promises that became others, if those have ended. */
static int leave_out_links(struct weft_file *f, struct loading *l, struct weft_error *err)
{
    struct endings *e = f->pending_events.endings;
    const struct weft_reader_facts *facts = &f->common.facts;
    const bool listed = l->c.h.unsure & WEFT_LISTED;
    struct known_ids known = {.first = listed ? 1 : e->first};
    uint64_t links = 0, kept = 0, at = 0;
    for (uint64_t i = 0; i < l->c.knowns; i++)
        links += link_of(&l->c.known[i].cell) != 0;
    if (!links)
        return 0;
    known.sure = (!(l->c.h.unsure & WEFT_UNSURE) || listed) && !facts->discarded_events &&
                 !facts->missing_packets;
    known.told = calloc(l->c.knowns, sizeof *known.told);
    int rc = known.told ? read_roll_numbers(f, list_id, &known.roll, err) : no_memory(err);
    if (rc >= 0) {
        sort_ids(&known.roll);
        qsort(l->c.known, l->c.knowns, sizeof *l->c.known, by_cell);
        find_told(&known, &l->c);
    }
    for (uint64_t i = 0; i < known.tolds; i++) {
        const struct told *t = &known.told[i];
        const bool gone = t->link && is_gone(e, &known, t->link);
        for (uint64_t n = 0; n < t->cells; n++, at++)
            if (!gone)
                l->c.known[kept++] = l->c.known[at];
    }
    l->c.knowns = rc >= 0 ? kept : l->c.knowns;
    free(known.told);
    free(known.roll.id);
    return rc < 0 ? rc : 0;
}

/* Sorts the cells by number. Leaves out those whose creation should be in a packet but is in none.
 * If a promise has two cells, the first one that knows its creation gives the time. Returns the
 * number of promises. */
static uint64_t sort_cells(struct loading *l, struct endings *e)
{
    struct cells *c = &l->c;
    uint64_t kept = 0, promises = 0;
    if (c->knowns)
        qsort(c->known, c->knowns, sizeof *c->known, by_cell);
    for (uint64_t i = 0; i < c->knowns; i++) {
        struct known k = c->known[i];
        k.again = kept && c->known[kept - 1].id == k.id;
        bool stray =
            k.cell.flags & WEFT_PENDING_UNBORN && !(c->h.unsure & WEFT_UNSURE) && !home_of(e, k.id);
        if (stray && !k.again)
            continue;
        promises += !k.again;
        c->known[kept++] = k;
    }
    c->knowns = kept;
    return promises;
}

static int make_events(struct weft_file *f, struct loading *l, struct weft_error *err)
{
    struct pending *p = &f->pending_events;
    const struct weft_reader_facts *facts = &f->common.facts;
    f->common.facts.promotion.promises = sort_cells(l, p->endings);
    l->complete = !l->c.h.given_up && !(l->c.h.unsure & WEFT_UNSURE) && !facts->discarded_events &&
                  !facts->missing_packets;
    if (!list_present(f, l) || !list_resolved(p->endings, l))
        return no_memory(err);
    if (l->c.h.unsure & WEFT_UNSURE &&
        !(p->endings->kept = calloc(l->c.knowns + 1, sizeof *p->endings->kept)))
        return no_memory(err);
    for (uint64_t i = 0; i < l->c.knowns; i++)
        if (!add_cell(f, l, &l->c.known[i]))
            return no_memory(err);
    sort_events(p);
    return 0;
}

/* Returns true if a cell or a packet mentions the promise, so that its number on the roll adds
 * nothing. */
static bool is_told(const void *data, uint64_t id)
{
    const struct telling *t = data;
    return home_of(t->e, id) || has_cell(t->c, id);
}

static uint64_t to_ns(const struct weft_file *f, uint64_t ticks)
{
    uint64_t hz = f->common.facts.clock_hz;
    double ns = f->clock.plain || !hz ? (double)ticks : (double)ticks * 1e9 / (double)hz;
    return ns < 9e18 ? (uint64_t)ns : UINT64_MAX / 2;
}

/* Lists the pending promises, if numbers are the program's own: those that have cells, and those on
 * the roll. */
static int list_pending(struct weft_file *f, const struct loading *l, struct weft_error *err)
{
    struct endings *e = f->pending_events.endings;
    int rc = read_roll_numbers(f, list_id, &e->listed, err);
    for (uint64_t i = 0; i < l->c.knowns && rc >= 0; i++)
        if (!l->c.known[i].resolved && !add_id(&e->listed, l->c.known[i].id))
            rc = no_memory(err);
    sort_ids(&e->listed);
    e->own = true;
    return rc < 0 ? rc : 0;
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
    find_more(f->pending_events.endings, &l->c);
    read_emptied_mark(&f->emptied, &l->c);
    for (uint64_t i = 0; i < l->c.knowns; i++)
        l->c.known[i].resolved |= l->c.known[i].ended;
    facts->known = true;
    facts->ever = l->c.h.kept;
    facts->given_up = l->c.h.given_up;
    facts->skipped = l->c.h.skipped;
    facts->let_go = l->c.h.unsure & WEFT_LET_GO;
    facts->pauses = l->c.h.pauses;
    facts->longest_pause_ns = to_ns(f, l->c.h.longest_pause_ticks);
    rc = leave_out_links(f, l, err);
    if (rc == 0 && l->c.h.unsure & WEFT_LISTED)
        rc = list_pending(f, l, err);
    if (rc == 0)
        rc = make_events(f, l, err);
    facts->complete = !l->c.h.given_up && !(l->c.h.unsure & WEFT_UNSURE);
    if (rc == 0)
        rc = read_roll_load(f, &l->c, is_told, &(struct telling){f->pending_events.endings, &l->c},
                            err);
    for (uint64_t i = 0; i < l->c.knowns && !f->roll.content; i++)
        facts->left_out += l->c.known[i].resolved ? 0 : l->c.known[i].cell.dropped;
    facts->lacks = facts->numbered || facts->unlisted || facts->left_out ||
                   (l->c.h.given_up && !f->roll.content) ||
                   ((l->c.h.unsure & WEFT_UNSURE) && !f->pending_events.endings->own);
    f->pending_events.endings->concludes = f->pending_events.endings->own && !facts->unlisted;
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
        return no_memory(err);
    int rc = load_endings(f, p->endings, err);
    f->common.facts.overwritten_ns = p->endings->ns;
    if (rc == 0 && f->pending.content) {
        struct loading l = {.presents = 0};
        rc = load_pending(f, &l, err);
        read_cells_fini(&l.c);
        free(l.present);
    }
    if (rc == 0 && !p->endings->homes && !p->endings->resolveds && !p->endings->kepts &&
        !p->endings->concludes) {
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
