/* SPDX-License-Identifier: ISC */
/* What a reader makes of the file, and what must hold of it: src/read/weft.c and pending.c in short.
 *
 * A killed process leaves what its threads have stored: each of them has come to some line, and the lines behind that one were
 * not executed. (A machine that loses power may leave anything; so may an operating system that dies. That is not
 * claimed.) So the file is judged between any two stores to it, at the memory as it is.
 *
 * Of a promise a reader says how often it was created, and whether it is pending:
 *
 *   the creation      is in a packet that is there; or in a cell, unless the cell's packet is there (if the creation is
 *                     undated: unless any packet has it); or there is only the number, on the roll
 *   it has ended      if an event says so, or its byte, also that of a packet that has been emptied and not begun again; or
 *                     a marked cell. Of a program's own numbers: if it has no cell and is not on the roll */
#include <stdio.h>
#include <string.h>

#include "explore.h"
#include "host.h"
#include "memory.h"
#include "record/record.h"
#include "format/events.h"
#include "format/listed.h"

enum { PACKETS = 40, CELLS = 24, NUMBERS = 16, EVENTS = 16, SORTS = 16 };

/* What has been read of a file. */
struct view {
    struct weft_pending_header pending;
    struct {
        const struct weft_events_header *header;
        const unsigned char *ended;
        uint64_t sequence;
        uint32_t content;
    } packet[PACKETS];
    uint64_t id[CELLS];
    const struct weft_pending_cell *cell[CELLS];
    uint64_t number[NUMBERS];
    uint64_t unlisted, left_out;
    struct event {
        unsigned kind;
        uint64_t a, b;
    } event[PACKETS * EVENTS];
    unsigned events;
};

static char wrong[256];

#define WRONG(...) (snprintf(wrong, sizeof wrong, __VA_ARGS__), wrong)

static const void *in_packet(const void *packet, uint64_t offset)
{
    return (const unsigned char *)packet + offset;
}

/* ---- Events ---- */

static uint32_t word(const unsigned char *at)
{
    uint32_t v;
    memcpy(&v, at, 4);
    return v;
}

static uint64_t id_of(const struct weft_events_header *p, const unsigned char *at, bool wide)
{
    uint64_t v;
    memcpy(&v, at, 8);
    if (wide)
        return v;
    const int32_t d = (int32_t)word(at);
    return d == WEFT_SHORT_LOOP ? UINT64_MAX : p->base + (uint64_t)(int64_t)d;
}

/* Reads the event at that offset. Returns the offset of the next one; 0: it is none. */
static uint32_t read_event(const struct weft_events_header *p, uint32_t at, struct event *e)
{
    const unsigned char *head = in_packet(p, at), *body = head + 8;
    const unsigned code = head[7], words = code / 32;
    *e = (struct event){.kind = code % 32, .a = UINT64_MAX, .b = UINT64_MAX};
    if (code == WEFT_FORM_STREAM_BEGINS) {
        e->kind = UINT32_MAX;
        return at + 8 + 4 * words;
    }
    switch (e->kind) {
    case WEFT_EVENT_CREATES:
    case WEFT_EVENT_FULFILLS:
    case WEFT_EVENT_TRY_READ:
    case WEFT_EVENT_BECOMES:
        break;
    case WEFT_EVENT_GC:
    case WEFT_EVENT_SHOULD_RESOLVE:
        return at + 8 + 4 * words;
    default:
        return 0;
    }
    unsigned ids = e->kind != WEFT_EVENT_CREATES ? words : words == 6 ? 4 : words == 4 ? 2 : 1;
    if (!words || ids > 4 || ids == 3)
        return 0;
    if (ids > 1)
        e->a = id_of(p, body, ids == 4);
    e->b = id_of(p, body + (ids == 1 ? 0 : ids == 4 ? 8 : 4), ids == 4);
    return at + 8 + 4 * words;
}

/* Reads what is in the packets that are there. */
static const char *read_events(struct view *v)
{
    for (unsigned k = 0; k < weft_record_rec.packets; k++) {
        const struct weft_events_header *p = v->packet[k].header;
        if (!p || !v->packet[k].sequence)
            continue;
        for (uint32_t at = p->packet.header_bytes; at < v->packet[k].content;) {
            struct event *e = &v->event[v->events];
            at = read_event(p, at, e);
            if (!at || at > v->packet[k].content)
                return WRONG("packet %u has something that is no event", k);
            v->events += e->kind != UINT32_MAX;
        }
    }
    return NULL;
}

static bool is_there(const struct view *v, uint64_t sequence, uint64_t mask)
{
    for (unsigned k = 0; k < weft_record_rec.packets; k++)
        if (v->packet[k].sequence && !((v->packet[k].sequence ^ sequence) & mask))
            return true;
    return false;
}

/* ---- Promises ---- */

struct told {
    unsigned creations, endings, waits, cells;
    bool born, listed, given_up, marked, own;
    unsigned char byte;
};

static struct told tell(const struct view *v, uint64_t id)
{
    struct told r = {.own = v->pending.unsure & WEFT_LISTED}, *t = &r;
    unsigned notes = 0;
    for (const struct event *e = v->event; e < v->event + v->events; e++)
        if (e->b == id) {
            t->creations += e->kind == WEFT_EVENT_CREATES;
            t->endings += e->kind == WEFT_EVENT_FULFILLS;
            t->waits += e->kind == WEFT_EVENT_TRY_READ;
        }
    for (unsigned c = 0; c < CELLS; c++) {
        const struct weft_pending_cell *cell = v->cell[c];
        if (!cell || (v->id[c] & ~WEFT_PENDING_RESOLVED) != id)
            continue;
        t->cells++;
        t->marked |= v->id[c] >> 63;
        if (cell->flags & WEFT_PENDING_UNDATED)
            t->born |= !t->creations;
        else if (!(cell->flags & WEFT_PENDING_UNBORN))
            t->born |= !is_there(v, cell->packet, UINT32_MAX);
        for (unsigned n = 0; n < WEFT_PENDING_NOTES; n++)
            notes += cell->note_tag[n] >> WEFT_NOTE_BITS == WEFT_EVENT_TRY_READ &&
                     !is_there(v, cell->note_tag[n], (1u << WEFT_NOTE_BITS) - 1);
    }
    t->waits += notes > 0; /* two cells may say the same */
    for (unsigned n = 0; n < NUMBERS; n++) {
        const bool here = v->number[n] >> WEFT_ROLL_SORT_BITS == id;
        t->listed |= here;
        t->given_up |= here && (v->number[n] & WEFT_ROLL_FRESH) != WEFT_ROLL_FRESH;
    }
    for (unsigned k = 0; k < weft_record_rec.packets; k++) {
        const struct weft_events_header *p = v->packet[k].header;
        if (p && v->packet[k].ended && id - p->base < p->ended_count)
            t->byte |= v->packet[k].ended[id - p->base];
    }
    return r;
}

static bool is_shown_ended(const struct told *t)
{
    return t->endings || t->byte == WEFT_BYTE_ENDED || t->marked ||
           (t->own && !t->cells && !t->listed);
}

/* There was no room to say that the promise has ended: only its byte, or cell, does. */
static bool is_unsaid(unsigned n)
{
    bool unsaid = false;
    for (unsigned t = 0; t < THREADS; t++)
        unsaid |= truth.intent[t].kind == ENDS && truth.intent[t].promise == n &&
                  weft_record_rec.facts->discarded_events != truth.intent[t].discarded;
    return unsaid;
}

/* Returns true if it became another promise that nobody has ended. */
static bool is_linked(unsigned n)
{
    const struct promise *is = &truth.promise[n];
    for (unsigned steps = 0; steps < truth.promises && is->became; steps++)
        is = &truth.promise[is->became - 1];
    return truth.promise[n].became && !is->became && !is->ending;
}

static const char *judge_promise(const struct view *v, unsigned n, bool live)
{
    const struct promise *is = &truth.promise[n];
    const struct told t = tell(v, is->id);
    const bool shown = t.creations || t.born || t.listed;
    if (t.creations + t.born > 1)
        return WRONG("promise %u is shown twice", n);
    const uint64_t unsure = v->pending.unsure;
    if (live && !is->ending && !is->became && !shown)
        return WRONG("promise %u is pending, and another process does not find it", n);
    const bool counted = v->left_out || v->pending.skipped || unsure & WEFT_LET_GO;
    if (!live && is_linked(n) && is->waits == 1 && is->waited == 1 && !t.waits && !counted)
        return WRONG("a wait for promise %u, which became another one, is lost", n);
    if (live || is->became || (unsure & WEFT_UNSURE && !(unsure & WEFT_LISTED)))
        return NULL; /* numbers of two kinds: then nothing is concluded */
    if (is->ended && shown && !is_shown_ended(&t))
        return WRONG("promise %u is shown as pending, although its ending was published", n);
    if (is->ended || is_unsaid(n))
        return NULL;
    if (!shown && !v->unlisted)
        return WRONG("promise %u is pending, and lost", n);
    if (is_shown_ended(&t) && !v->unlisted)
        return WRONG("promise %u is pending, and shown as ended", n);
    if (is->waits == 1 && is->waited == 1 && t.waits != 1 && !v->left_out && !v->pending.skipped &&
        !t.given_up)
        return WRONG("a wait for promise %u is %s", n, t.waits ? "shown twice" : "lost");
    return NULL;
}

static const char *judge(struct view *v, bool live)
{
    const char *bad = read_events(v);
    for (unsigned n = 0; n < truth.promises && !bad; n++)
        if (truth.promise[n].created)
            bad = judge_promise(v, n, live);
    return bad;
}

/* ---- The file of a killed process ---- */

static void look_at_all(struct view *v)
{
    const struct recorder *r = &weft_record_rec;
    const struct weft_pending_header *h = r->pending;
    const struct weft_roll_sort *sort = in_packet(r->roll, r->roll->sorts_at);
    memset(v, 0, offsetof(struct view, event));
    v->events = 0;
    v->pending = *h;
    for (unsigned k = 0; k < r->packets; k++) {
        const struct weft_events_header *p = in_packet(r->pool, (uint64_t)k << r->packet_bits);
        v->packet[k].header = p;
        v->packet[k].ended = in_packet(p, p->ended_at);
        v->packet[k].sequence = p->sequence;
        v->packet[k].content = (uint32_t)(p->packet.content_bits / 8);
    }
    for (unsigned c = 0; c < CELLS; c++) {
        memcpy(&v->id[c], in_packet(h, h->ids_at + c * sizeof v->id[c]), sizeof v->id[c]);
        if (v->id[c])
            v->cell[c] = in_packet(h, h->cells_at + c * sizeof **v->cell);
    }
    memcpy(v->number, in_packet(r->roll, r->roll->numbers_at), sizeof v->number);
    for (unsigned i = 0; i < SORTS; i++) {
        v->unlisted += sort[i].unlisted;
        v->left_out += sort[i].left_out;
    }
}

/* Recorded = kept + overwritten. */
static const char *judge_sum(const struct view *v)
{
    const uint64_t mask = (UINT64_C(1) << WEFT_COUNTS_BITS) - 1;
    uint64_t sum = v->events;
    for (unsigned k = 0; k < weft_record_rec.packets; k++) {
        const struct weft_events_header *p = v->packet[k].header;
        sum += p->counts >> WEFT_COUNTS_BITS;
        sum += v->packet[k].sequence ? 0 : p->counts & mask;
    }
    if (sum != truth.published)
        return WRONG("of %llu events %llu are there, or counted",
                     (unsigned long long)truth.published, (unsigned long long)sum);
    return NULL;
}

const char *judge_file(void)
{
    struct view v;
    look_at_all(&v);
    const char *bad = judge(&v, false);
    return bad ? bad : judge_sum(&v);
}

/* ---- When all threads have ended ---- */

static const char *judge_places(void)
{
    const struct recorder *r = &weft_record_rec;
    unsigned places[PACKETS] = {0}, steps = 0;
    const uint64_t stacks[] = {r->left, r->clean};
    for (uint64_t at = r->queue_head; at != r->queue_tail; at++) {
        const uint64_t number = r->queue[at & r->queue_mask] & ((1u << 26) - 1);
        if (number)
            places[number - 1]++;
    }
    for (unsigned s = 0; s < 2; s++)
        for (uint32_t top = (uint32_t)stacks[s]; top && steps++ < PACKETS; top = r->next[top - 1])
            places[top - 1]++;
    uint32_t slots;
    const struct thread *t = weft_record_threads(&slots);
    for (uint32_t i = 0; i < slots; i++) {
        const struct writer *w = t[i].writer;
        if (w->packet)
            places[((const unsigned char *)w->packet - r->pool) >> r->packet_bits]++;
        for (uint32_t k = 0; k < w->stocked; k++)
            places[w->stock[k]]++;
    }
    for (unsigned k = 0; k < r->packets; k++)
        if (places[k] != 1)
            return WRONG("packet %u is in %u places of the pool", k, places[k]);
    return NULL;
}

static const char *judge_homes(void)
{
    const struct recorder *r = &weft_record_rec;
    for (unsigned k = 0; k < r->packets; k++) {
        const struct notes *n = &r->notes[k];
        const uint64_t entry = n->home == NO_HOME ? 0 : r->homes[n->home & r->homes_mask];
        const bool there = entry == ((n->home + 1) << HOME_BITS | k);
        if (n->home != NO_HOME && there != (tracks() && n->state != CLEAN && n->state != RETIRED))
            return WRONG("packet %u is%s in the directory", k, there ? "" : " not");
    }
    return NULL;
}

static const char *judge_cells(void)
{
    const struct recorder *r = &weft_record_rec;
    unsigned kept = 0, counted = 0;
    struct view v;
    look_at_all(&v);
    for (unsigned c = 0; c < CELLS; c++) {
        const struct weft_pending_cell *cell =
            in_packet(r->pending, r->pending->cells_at + c * sizeof *cell);
        if (cell->version & 1)
            return WRONG("cell %u is locked for ever", c);
        kept += v.id[c] != 0;
    }
    for (uint64_t i = 0; i <= r->kept_mask; i++)
        counted += r->kept_by_home[i];
    if (kept != counted)
        return WRONG("%u cells are in use, and %u are counted", kept, counted);
    for (unsigned n = 0; n < truth.promises; n++) {
        const struct promise *is = &truth.promise[n];
        const struct told t = tell(&v, is->id);
        if (is->ended && !is->became && t.cells && !t.marked)
            return WRONG("the cell of promise %u, which has ended, stays for ever", n);
        if (is->ended && t.listed)
            return WRONG("promise %u, which has ended, stays on the roll for ever", n);
    }
    return NULL;
}

const char *judge_pool(void)
{
    const char *bad = judge_places();
    return bad ? bad : judge_homes();
}

const char *judge_end(void)
{
    const char *bad = judge_pool();
    return bad ? bad : judge_cells();
}

unsigned fillers(void)
{
    const struct recorder *r = &weft_record_rec;
    return (unsigned)(4 * r->packets * ((r->packet_bytes - events_at()) / 12));
}

/* ---- While it is written ---- */

void read_file(void)
{
    static _Alignas(8) unsigned char copy[PACKETS][512];
    static struct weft_pending_cell cells[CELLS];
    const struct recorder *r = &weft_record_rec;
    struct view v;
    memset(&v, 0, sizeof v);
    for (unsigned k = 0; k < r->packets; k++) {
        const unsigned char *at = r->pool + ((uint64_t)k << r->packet_bits);
        const struct weft_events_header *p = (const void *)at;
        const uint64_t sequence = foreign_load(&p->sequence, 8, __ATOMIC_ACQUIRE);
        if (!sequence)
            continue;
        const uint64_t content = foreign_load(&p->packet.content_bits, 8, __ATOMIC_ACQUIRE) / 8;
        const size_t head = offsetof(struct weft_events_header, counts);
        bool whole = content >= events_at() && content <= sizeof copy[k];
        /* What its owner does not store any more, and what its end says that was seen. */
        whole &= foreign_copy(copy[k], at, offsetof(struct weft_packet_header, content_bits));
        whole &= foreign_copy(copy[k] + offsetof(struct weft_events_header, begin_ticks),
                              &p->begin_ticks, 8);
        whole &= foreign_copy(copy[k] + offsetof(struct weft_events_header, stream), &p->stream,
                              offsetof(struct weft_events_header, events) -
                                  offsetof(struct weft_events_header, stream));
        whole &=
            foreign_copy(copy[k] + offsetof(struct weft_events_header, thread_name), p->thread_name,
                         head - offsetof(struct weft_events_header, thread_name));
        if (content >= events_at() && content <= sizeof copy[k])
            whole &= foreign_copy(copy[k] + events_at(), at + events_at(), content - events_at());
        foreign_fence(__ATOMIC_ACQUIRE);
        const uint64_t ended = foreign_load(&p->end_ticks, 8, __ATOMIC_ACQUIRE);
        if (ended) /* then it is known how many events there are */
            whole &=
                foreign_copy(copy[k] + offsetof(struct weft_events_header, events), &p->events, 4);
        foreign_fence(__ATOMIC_ACQUIRE);
        if (foreign_load(&p->sequence, 8, __ATOMIC_ACQUIRE) != sequence)
            continue;
        if (!whole)
            fail("packet %u, which has not changed hands, is torn", k);
        v.packet[k].header = (const void *)copy[k];
        v.packet[k].sequence = sequence;
        v.packet[k].content = (uint32_t)content;
    }
    for (unsigned c = 0; c < CELLS; c++) {
        const struct weft_pending_header *h = r->pending;
        const uint64_t *id = in_packet(h, h->ids_at + c * 8);
        const struct weft_pending_cell *cell = in_packet(h, h->cells_at + c * sizeof *cell);
        v.id[c] = foreign_load(id, 8, __ATOMIC_ACQUIRE);
        bool whole;
        uint32_t version, after;
        do {
            version = (uint32_t)foreign_load(&cell->version, 4, __ATOMIC_ACQUIRE);
            whole = foreign_copy(&cells[c], cell, sizeof *cell);
            foreign_fence(__ATOMIC_ACQUIRE);
            after = (uint32_t)foreign_load(&cell->version, 4, __ATOMIC_RELAXED);
            if (version & 1 && others_run())
                wait_for_others();
        } while (version & 1 || version != after);
        if (!v.id[c])
            continue;
        if (!whole)
            fail("cell %u is torn", c);
        v.cell[c] = &cells[c];
    }
    const char *bad = judge(&v, true);
    if (bad)
        fail("%s", bad);
}
