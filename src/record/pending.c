/* SPDX-License-Identifier: ISC */
/* Decides what must be kept when a packet is about to be overwritten.
 *
 * The packet is walked through, and what it says about promises that are still pending goes into cells
 * (cells.c). Most packets need no walk. Their ended bytes show that none of their own promises is pending, and
 * the range of the promises that they mention shows that no other is. Events about promises that are much older
 * are listed while they are recorded.
 *
 * Terms
 *   cell          what is kept about one pending promise
 *   roll          the list of pending promises that have no cell, by number and sort
 *   sort          all promises created at one site
 *   home          the block of numbers of one packet: a promise's home follows from its number
 *   hazard        the home whose ended byte a thread may be about to store (pool.c)
 *   own number    a number that the program chose itself, and that therefore belongs to no packet
 *
 * A promise with an own number is put on the roll as soon as it is created, marked as fresh (none of its events
 * has been overwritten), and is taken off when it ends. Every packet is then walked through, and a promise of
 * it that is on the roll gets a cell, or its sort.
 *
 * A promise that became another one stays pending as long as that one: whoever waits for it waits for the
 * other. Its ended byte is WEFT_BYTE_BECAME until the event that says so is about to be overwritten. Then one
 * of three things happens. The event is kept in the promise's cell, and the byte becomes WEFT_BYTE_LINKED. Or
 * the other promise has ended, so this one has ended as well. Or there is no room: the promise is dropped, and
 * a wait for it that is found later is counted as lost.
 *
 * (The file is long because it is one walk, together with what is written down for it.) */
#include "format/form_table.h"
#include "format/ids.h"
#include "format/listed.h"
#include "record/cells.h"
#include "record/record.h"
#include "record/roll.h"

enum {
    NEAR_HOMES = 64, /* events about older promises are listed one by one */
    RANGE_MAX = 512, /* if more homes than this are mentioned, all events are walked */
    NEEDED = 255,    /* kind of the fact that another promise became this one */
    CHAIN_MAX = 16,  /* promises followed, each of which became the next one */
};

/* The state of the walk through the packet that is being retired. */
struct walk {
    const struct weft_events_header *p;
    uint64_t packet;
    uint64_t begin_ticks;
    uint64_t running;
    uint64_t *hazard; /* of this thread, which is not storing any ended byte now */
    uint32_t stream;
    bool all;       /* also the events that end promises with cells */
    bool unborn;    /* promises created in this packet have cells */
    bool held;      /* another thread holds a cell that is needed */
    bool own;       /* numbers are the program's own */
    bool again;     /* it must be walked through a second time, for promises of its own … */
    bool second;    /* … that have got cells after all */
    uint64_t kept;  /* promises kept */
    uint64_t alive; /* a promise that others became, still pending a moment ago; or 0 */
    /* Texts that precede an event. */
    const unsigned char *before[2];
    uint32_t before_size[2];
    unsigned befores;
};

/* One event. */
struct seen {
    unsigned kind;
    uint64_t ticks, a, b; /* as in the event table */
    uint32_t site, text;
    const unsigned char *ids; /* of a span, in the event; or NULL: they are the text */
};

static unsigned char byte_of(uint64_t packet, uint64_t id)
{
    return __atomic_load_n(&ended_bytes(packet)[index_of(id)], __ATOMIC_ACQUIRE);
}

/* Returns true if the promise with that ended byte has ended, together with what it became, as far as is
 * known. */
static bool says_ended(unsigned char byte, uint64_t id)
{
    return byte == WEFT_BYTE_LINKED ? !weft_record_cells_linked(id)
                                    : byte != WEFT_BYTE_PENDING && byte != WEFT_BYTE_BECAME;
}

static bool is_ended(uint64_t packet, uint64_t id)
{
    return says_ended(byte_of(packet, id), id);
}

/* Reads the ended byte of a promise whose packet another thread may be retiring. The byte is valid only if the
 * packet still had its home after the read; otherwise it may have been retired and begun again. Returns false
 * if there is no valid byte. */
static bool find_byte(uint64_t id, uint64_t *packet, unsigned char *byte)
{
    uint64_t again;
    if (!find_home(id, packet))
        return false;
    *byte = byte_of(*packet, id);
    return find_home(id, &again);
}

enum place { GONE, PENDING, ENDED };

static enum place look_up(uint64_t id, uint64_t *packet)
{
    unsigned char byte;
    if (!find_byte(id, packet, &byte))
        return GONE;
    return says_ended(byte, id) ? ENDED : PENDING;
}

/* Returns true if a promise whose packet is gone and of which nothing is known has certainly ended. */
static bool is_sure(uint64_t id)
{
    const uint64_t unsure = __atomic_load_n(&weft_record_rec.pending->unsure, __ATOMIC_RELAXED);
    return tracks() ? id >= weft_record_rec.pending->first_number && !(unsure & WEFT_UNSURE)
                    : unsure & WEFT_LISTED;
}

bool weft_record_pending_over(uint64_t id)
{
    uint64_t packet;
    unsigned char byte;
    if (id == UINT64_MAX)
        return false;
    if (find_byte(id, &packet, &byte))
        return byte != WEFT_BYTE_PENDING;
    return is_sure(id) && (!weft_record_cells_listed(id) || weft_record_cells_linked(id));
}

bool weft_record_pending_gone(uint64_t id)
{
    uint64_t packet;
    for (int steps = 0; steps < CHAIN_MAX && id != UINT64_MAX; steps++) {
        enum place place = look_up(id, &packet);
        if (place == ENDED)
            return true;
        const uint64_t link = weft_record_cells_link(id);
        if (!link)
            return place == GONE && is_sure(id) && !weft_record_cells_listed(id);
        id = link;
    }
    return false;
}

bool weft_record_pending_unlinked(uint64_t id)
{
    uint64_t packet;
    unsigned char byte;
    return find_byte(id, &packet, &byte) && byte == WEFT_BYTE_BECAME;
}

/* Returns true if the promise became one that may be pending, but the link was dropped. */
static bool was_let_go(uint64_t id)
{
    uint64_t packet;
    unsigned char byte;
    if (!(__atomic_load_n(&weft_record_rec.pending->unsure, __ATOMIC_RELAXED) & WEFT_LET_GO))
        return false;
    if (!find_byte(id, &packet, &byte))
        return is_sure(id) && (!tracks() || id < weft_record_pool_next_number()) &&
               !weft_record_cells_listed(id);
    return byte == WEFT_BYTE_LET_GO || (byte == WEFT_BYTE_LINKED && !weft_record_cells_linked(id));
}

/* Called after adding a cell for a promise of another packet. If the promise was resolved meanwhile, the
 * resolving thread may not have seen this cell. */
static void check_again(uint64_t id)
{
    uint64_t packet;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!tracks()) {
        if (!weft_record_cells_listed(id))
            weft_record_cells_drop(id);
        return;
    }
    enum place place = look_up(id, &packet);
    /* If its packet has been retired since, its creation is in a cell, perhaps this one; or it was resolved. */
    if (place == ENDED || (place == GONE && !weft_record_cells_born(id)))
        weft_record_cells_drop(id);
}

/* Takes a cell for a promise without one, to keep a fact about it. The promise has none because its packet has
 * not been retired, or because it is only on the roll, which is not enough for an important one. *counted:
 * there was no room. */
static struct new_cell cell_for_note(struct walk *w, const struct seen *e, uint64_t id,
                                     enum place place, uint64_t packet, bool important,
                                     bool *counted)
{
    struct new_cell new = {NULL, NULL};
    unsigned sort = 0;
    const bool there = place == PENDING && packet != w->packet,
               matters = !there && important && !w->second,
               listed = (w->own || matters) && weft_record_roll_find(id, &sort);
    const bool fresh = w->own && listed && sort == WEFT_ROLL_FRESH, elsewhere = there || fresh,
               on_roll = matters && listed && !fresh;
    sort = on_roll ? sort : 0;
    if (!elsewhere && !on_roll)
        return new;
    new = weft_record_cell_take(id, e->ticks, sort, important);
    *counted = !new.cell;
    if (!new.cell && e->kind != WEFT_EVENT_LABEL && e->kind != WEFT_EVENT_BECOMES &&
        e->kind != WEFT_EVENT_SPAN && e->kind != WEFT_EVENT_SPAN_PARENT)
        weft_record_roll_leave_out(sort, 1);
    if (new.cell && on_roll &&place == GONE) /* nothing else is left about it */
        weft_record_cell_undated(new.cell, sort);
    if (new.cell) /* for readers that do not know that the creation is undated */
        new.cell->packet = (uint32_t)w->p->sequence;
    w->again |= new.cell &&on_roll &&place == PENDING;
    return new;
}

/* Adds the fact to a locked cell. Returns false if there is no room for it; then see keep_wait. */
static bool add_note(const struct walk *w, const struct seen *e, struct weft_pending_cell *c,
                     uint64_t other, bool important)
{
    bool done = true;
    if (e->kind == WEFT_EVENT_SHOULD_RESOLVE)
        __atomic_fetch_or(&c->flags, WEFT_PENDING_SHOULD_RESOLVE, __ATOMIC_RELAXED);
    else if (e->kind == WEFT_EVENT_BACKGROUND)
        __atomic_fetch_or(&c->flags, WEFT_PENDING_BACKGROUND, __ATOMIC_RELAXED);
    else if (e->kind == NEEDED)
        weft_record_cell_set_needed(c);
    else
        done = weft_record_cell_note(c, &(struct note){e->kind, e->ticks, other, w->p->sequence});
    if (important)
        weft_record_cell_set_important(c);
    return done;
}

enum said {
    SAID,   /* kept; or another thread holds the cell, and it is kept later */
    LEFT,   /* no room for a cell: counted as left out */
    FULL,   /* a wait for which the promise's cell has no room */
    NOBODY, /* the promise has ended, or has no cell */
    AGAIN,  /* it got a cell meanwhile, or ended: try again */
};

static enum said try_to_keep(struct walk *w, const struct seen *e, uint64_t id, uint64_t other,
                             bool important)
{
    uint64_t packet;
    struct new_cell new = {NULL, NULL};
    bool counted = false;
    enum place place = look_up(id, &packet);
    if (place == ENDED)
        return NOBODY;
    struct weft_pending_cell *c =
        weft_record_cells_any(home_of(id)) ? weft_record_cell_lock(id, &w->held) : NULL;
    if (!c && !w->held) {
        new = cell_for_note(w, e, id, place, packet, important, &counted);
        c = new.cell;
    }
    if (!c)
        return w->held ? SAID : counted ? LEFT : NOBODY;
    enum said said = add_note(w, e, c, other, important) ? SAID : FULL;
    if (!new.cell) {
        weft_record_cell_unlock(c);
        return said;
    }
    if (place != PENDING && !weft_record_cell_move(new, id))
        return AGAIN;
    w->kept++;
    if (place == PENDING) {
        weft_record_cell_publish(new, id);
        weft_record_roll_drop(id);
        check_again(id);
    }
    return said;
}

/* Keeps a fact about promise id. */
static enum said keep_fact(struct walk *w, const struct seen *e, uint64_t id, uint64_t other,
                           bool important)
{
    uint64_t before;
    enum said said;
    do {
        before = weft_record_cells_moves();
        said = try_to_keep(w, e, id, other, important);
    } while (said == AGAIN || (said == NOBODY && weft_record_cells_moves() != before));
    return said;
}

/* Keeps a wait that does not fit into the cell of the promise waited for: in the cell of the promise that
 * waits, or in an extra cell; or counts it. */
static void keep_wait(struct walk *w, const struct seen *e, uint64_t source, uint64_t who)
{
    const struct note n = {WEFT_EVENT_TRY_READ, e->ticks, who, w->p->sequence};
    struct seen other_way = *e;
    uint64_t packet;
    if (weft_record_cells_note_more(source, &n, true, &w->held))
        return;
    other_way.kind = WEFT_NOTE_WAITS_FOR;
    bool has_cell =
        who != UINT64_MAX && (look_up(who, &packet) == PENDING || weft_record_cells_has(who));
    enum said said = has_cell ? keep_fact(w, &other_way, who, source, false) : NOBODY;
    if (said == SAID || said == LEFT)
        return;
    if (weft_record_cells_note_more(source, &n, false, &w->held))
        check_again(source);
    else if (!w->held)
        weft_record_cells_leave_out(source, 0, 1);
}

/* Another promise became this one, so this one must not be dropped before that one: whoever finds this one gone
 * cannot tell whether it was dropped or has ended. */
static void note_needed(struct walk *w, const struct seen *e, uint64_t id, bool important)
{
    const struct seen needed = {.kind = NEEDED, .ticks = e->ticks};
    keep_fact(w, &needed, id, 0, important);
}

/* A promise that became another is no longer kept. If it was on the roll, it is unknown whether others became
 * it. */
static void count_dropped(uint64_t id)
{
    unsigned sort;
    weft_record_cells_let_go();
    if (weft_record_roll_find(id, &sort) && sort != WEFT_ROLL_FRESH)
        weft_record_roll_leave_out(sort, 1);
}

static void keep_note(struct walk *w, const struct seen *e, uint64_t id, uint64_t other)
{
    const bool wait = e->kind == WEFT_EVENT_TRY_READ;
    if (id == UINT64_MAX || (wait && weft_record_pending_over(other)))
        return;
    bool important =
        e->kind == WEFT_EVENT_SHOULD_RESOLVE || (wait && weft_record_cells_important(other));
    const enum said said = keep_fact(w, e, id, other, important);
    if (said == FULL)
        keep_wait(w, e, id, other);
    if (said == NOBODY && wait && was_let_go(id))
        weft_record_roll_leave_out(0, 1);
    const uint64_t link = important ? weft_record_cells_link(id) : 0;
    if (link)
        note_needed(w, e, link, true);
}

/* Stores the ended byte of a promise that became another, if its packet is still there. Returns true if so. */
static bool store_byte(const struct walk *w, uint64_t id, unsigned char byte)
{
    uint64_t packet;
    bool stored = false;
    unsigned char became = WEFT_BYTE_BECAME;
    /* The fence of take_clean (pool.c) has released the bytes stored by earlier calls. */
    __atomic_store_n(w->hazard, home_of(id) + 1, __ATOMIC_RELAXED);
    if (weft_record_rec.fenced)
        __atomic_thread_fence(__ATOMIC_SEQ_CST); /* with the one of weft_record_threads_barrier */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (find_home(id, &packet))
        stored = __atomic_compare_exchange_n(&ended_bytes(packet)[index_of(id)], &became, byte,
                                             false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    /* No order is needed: the exchange only follows the byte's old value, so it comes before the packet is cleared. */
    __atomic_store_n(w->hazard, 0, __ATOMIC_RELAXED);
    return stored;
}

/* The event that says that a promise became another is about to be overwritten: keeps it. */
static void keep_became(struct walk *w, const struct seen *e)
{
    const uint64_t id = e->a, other = e->b;
    if (id == UINT64_MAX || other == UINT64_MAX || id == other)
        return;
    const bool ends = other != w->alive && weft_record_pending_gone(other);
    const enum said said = ends ? NOBODY : keep_fact(w, e, id, other, false);
    if (w->held)
        return; /* it is retried later */
    if (said == SAID) {
        store_byte(w, id, WEFT_BYTE_LINKED); /* (S) the cell */
        const bool important = weft_record_cells_important(id);
        if (other != w->alive || important)
            note_needed(w, e, other, important);
        w->alive = other;
        return;
    }
    if (!ends && (weft_record_pending_unlinked(id) || weft_record_cells_listed(id)))
        count_dropped(id);
    store_byte(w, id, ends ? WEFT_BYTE_ENDED : WEFT_BYTE_LET_GO);
    weft_record_cells_forget(id);
}

/* Returns a permanent number for a text that an event names. */
static uint32_t lasting(struct walk *w, unsigned before, uint32_t number)
{
    if (number != WEFT_STRING_INLINE)
        return number;
    return before < w->befores
               ? weft_record_text_pending((const char *)w->before[before], w->before_size[before])
               : 0;
}

/* … for the ids of a span. */
static uint32_t lasting_ids(struct walk *w, const struct seen *e)
{
    char text[WEFT_IDS_TEXT];
    if (!e->ids)
        return lasting(w, 0, e->text);
    format_ids_write(text, e->ids);
    return weft_record_text_pending(text, sizeof text);
}

/* Returns false if the promise has moved from the roll to a cell meanwhile, or has ended. */
static bool try_to_create(struct walk *w, const struct seen *e)
{
    const uint8_t unknown = WEFT_PENDING_UNBORN | WEFT_PENDING_UNDATED;
    uint64_t id = e->b;
    struct new_cell new = {NULL, NULL};
    if (w->own ? !weft_record_cells_listed(id)
               : home_of(id) != weft_record_rec.notes[w->packet].home)
        return true; /* it has ended, or belongs to another packet */
    if (!w->own && is_ended(w->packet, id)) {
        if (w->unborn)
            weft_record_cells_drop(id);
        return true;
    }
    struct weft_pending_cell *c = w->unborn || w->own ? weft_record_cell_lock(id, &w->held) : NULL;
    if (!c && (w->held || w->second))
        return true;
    bool inline_site = e->site == WEFT_STRING_INLINE;
    uint32_t site = inline_site && w->befores
                        ? weft_record_site_pending((const char *)w->before[0], w->before_size[0])
                        : e->site;
    unsigned sort = weft_record_roll_sort(site);
    if (!c) {
        new = weft_record_cell_take(id, e->ticks, sort, false);
        c = new.cell;
    }
    if (!c && w->own) {
        __atomic_fetch_add(&weft_record_rec.pending->given_up, 1, __ATOMIC_RELAXED);
        if (weft_record_roll_set_sort(id, sort))
            return true;
        __atomic_fetch_sub(&weft_record_rec.pending->given_up, 1, __ATOMIC_RELAXED);
        return weft_record_roll_find(id, &sort) && sort != WEFT_ROLL_FRESH;
    }
    if (!c && byte_of(w->packet, id) != WEFT_BYTE_PENDING) { /* nobody would take it off the roll */
        weft_record_cells_let_go();
        store_byte(w, id, WEFT_BYTE_LET_GO);
        return true;
    }
    if (!c) {
        if (!weft_record_rec.notes[w->packet].held || !weft_record_roll_find(id, &sort))
            weft_record_cells_give_up(id, sort);
        return true;
    }
    if (!new.cell)
        weft_record_cell_set_sort(c, sort);
    c->stream = w->stream;
    __atomic_store_n(&c->created_ticks, e->ticks, __ATOMIC_RELAXED);
    c->creator = e->a;
    c->site = site;
    c->text = lasting(w, inline_site, e->text);
    c->packet = (uint32_t)w->p->sequence;
    __atomic_fetch_and(&c->flags, (uint8_t)~unknown, __ATOMIC_RELEASE);
    if (!new.cell) {
        weft_record_cell_unlock(c);
        return true;
    }
    if (w->own && !weft_record_cell_move(new, id))
        return false;
    w->kept++;
    if (w->own)
        return true;
    weft_record_cell_publish(new, id);
    if (weft_record_rec.notes[w->packet].held)
        weft_record_roll_drop(id);
    return true;
}

static void keep_creation(struct walk *w, const struct seen *e)
{
    while (!try_to_create(w, e))
        ;
}

/* Returns false if a note about the promise would not be kept. */
static bool may_be_pending(const struct walk *w, uint64_t id)
{
    uint64_t packet;
    return w->own ? weft_record_cells_listed(id) : look_up(id, &packet) != ENDED;
}

static void keep_event(struct walk *w, const struct seen *e)
{
    switch (e->kind) {
    case WEFT_EVENT_CREATES:
        keep_creation(w, e);
        break;
    case WEFT_EVENT_LABEL:
        keep_note(w, e, e->a, lasting(w, 0, e->text));
        break;
    case WEFT_EVENT_SPAN:
    case WEFT_EVENT_SPAN_PARENT:
        if (may_be_pending(w, e->a)) /* a text that is stored stays */
            keep_note(w, e, e->a, lasting_ids(w, e));
        break;
    case WEFT_EVENT_SHOULD_RESOLVE:
    case WEFT_EVENT_BACKGROUND:
        keep_note(w, e, e->a, 0);
        break;
    case WEFT_EVENT_TRY_READ:
    case WEFT_EVENT_NOTIFIES:
        keep_note(w, e, e->b, e->a);
        break;
    case WEFT_EVENT_BECOMES:
        keep_became(w, e);
        break;
    default: /* an ending, which is about to be overwritten */
        if (w->all)
            weft_record_cells_drop((e->kind == WEFT_EVENT_FORGETS ? e->a : e->b) |
                                   WEFT_PENDING_RESOLVED);
    }
}

/* Walking through a packet */

/* Returns true if events of that kind are kept, or end a promise. */
static bool matters(unsigned kind, bool all)
{
    const uint32_t kept =
        1u << WEFT_EVENT_CREATES | 1u << WEFT_EVENT_LABEL | 1u << WEFT_EVENT_TRY_READ |
        1u << WEFT_EVENT_NOTIFIES | 1u << WEFT_EVENT_SHOULD_RESOLVE | 1u << WEFT_EVENT_BACKGROUND |
        1u << WEFT_EVENT_BECOMES | 1u << WEFT_EVENT_SPAN | 1u << WEFT_EVENT_SPAN_PARENT;
    const uint32_t endings = 1u << WEFT_EVENT_FULFILLS | 1u << WEFT_EVENT_FAILS |
                             1u << WEFT_EVENT_RESOLVES | 1u << WEFT_EVENT_CANCELS |
                             1u << WEFT_EVENT_FORGETS;
    return (all ? kept | endings : kept) >> kind & 1;
}

/* Keeps what the form at that offset says. Returns the offset of the next form. *event: the form was an
 * event. */
static uint32_t keep_form(struct walk *w, uint32_t at, bool *event, uint64_t other)
{
    const unsigned char *bytes = (const unsigned char *)w->p + at;
    const unsigned code = bytes[7];
    const struct weft_form_desc *f = &format_forms[code];
    const uint32_t next = at + (uint32_t)format_form_bytes(bytes, UINT32_MAX);
    *event = false;
    if (code == WEFT_FORM_TEXT_FOLLOWS) {
        if (w->befores < 2) {
            w->before[w->befores] = bytes + 16;
            w->before_size[w->befores++] = format_u32(bytes + 12);
        }
        return next;
    }
    if (code == WEFT_FORM_STREAM_BEGINS) {
        w->stream = format_u32(bytes + 8);
        w->running = WEFT_ID_LOOP;
        return next;
    }
    struct seen e = {.kind = f->kind, .ticks = format_form_ticks(bytes, w->begin_ticks)};
    format_promises(f, bytes, w->p->base, w->running, &e.a, &e.b);
    e.site = f->words[WEFT_WORD_SITE] ? format_u32(bytes + f->at[WEFT_WORD_SITE]) : 0;
    e.text = f->words[WEFT_WORD_TEXT] ? format_u32(bytes + f->at[WEFT_WORD_TEXT]) : 0;
    e.ids = f->words[WEFT_WORD_IDS] ? bytes + f->at[WEFT_WORD_IDS] : NULL;
    if (other) /* what was running then is known from elsewhere */
        e.a = e.kind == WEFT_EVENT_TRY_READ || e.kind == WEFT_EVENT_NOTIFIES ? other : e.a;
    if (matters(e.kind, w->all))
        keep_event(w, &e);
    w->running = format_running(e.kind, e.a, e.b, w->running);
    w->befores = 0;
    *event = true;
    return next;
}

/* Returns true if the form contains nothing to keep and does not change what is running. For most events one
 * word shows that: the index of a promise of this packet that is resolved. */
static bool is_nothing(const struct walk *w, const unsigned char *bytes)
{
    const uint32_t runs = 1u << WEFT_EVENT_SWITCH | 1u << WEFT_EVENT_READ |
                          1u << WEFT_EVENT_SIGNAL | 1u << WEFT_EVENT_BECOMES |
                          1u << WEFT_EVENT_SUSPEND | 1u << WEFT_EVENT_RESUME;
    const unsigned code = bytes[7];
    const struct weft_form_desc *f = &format_forms[code];
    if (w->own || code == WEFT_FORM_TEXT_FOLLOWS || code == WEFT_FORM_STREAM_BEGINS ||
        runs >> f->kind & 1 || w->befores)
        return false;
    if (!matters(f->kind, w->all))
        return true;
    const enum weft_form_word about = f->words[WEFT_WORD_B] ? WEFT_WORD_B : WEFT_WORD_A;
    if (w->unborn || w->all || f->words[about] != 1)
        return false;
    const uint32_t index = format_u32(bytes + f->at[about]);
    return index < weft_record_rec.notes[w->packet].created &&
           __atomic_load_n(&ended_bytes(w->packet)[index], __ATOMIC_RELAXED) == WEFT_BYTE_ENDED;
}

static void walk_events(struct walk *w, uint32_t at, uint32_t end)
{
    const unsigned char *p = (const unsigned char *)w->p;
    bool event;
    while (at < end) {
        if (is_nothing(w, p + at))
            at += (uint32_t)format_form_bytes(p + at, UINT32_MAX);
        else
            at = keep_form(w, at, &event, 0);
    }
}

/* Walks through those parts of the packet that mention its own pending promises. */
static void walk_parts(struct walk *w, const struct notes *n)
{
    const unsigned char *ended = ended_bytes(w->packet);
    for (uint32_t k = 0; k < n->marks; k++) {
        bool last = k + 1 == n->marks;
        uint32_t until = last ? n->created : n->mark[k + 1].created, i = n->mark[k].low;
        while (i < until && __atomic_load_n(&ended[i], __ATOMIC_RELAXED) == WEFT_BYTE_ENDED)
            i++;
        if (i == until)
            continue;
        w->running = n->mark[k].running;
        w->stream = n->mark[k].stream;
        walk_events(w, n->mark[k].at,
                    last ? (uint32_t)(w->p->packet.content_bits / 8) : n->mark[k + 1].at);
    }
}

/* A promise of this packet that became one that has ended has ended, too: marks it, so that nothing is kept of
 * it. */
static void end_became(const struct walk *w, uint32_t at, uint32_t end)
{
    const unsigned char *p = (const unsigned char *)w->p;
    for (; at < end; at += (uint32_t)format_form_bytes(p + at, UINT32_MAX)) {
        const struct weft_form_desc *f = &format_forms[p[at + 7]];
        uint64_t a, b;
        if (f->kind == WEFT_EVENT_BECOMES) {
            format_promises(f, p + at, w->p->base, 0, &a, &b);
            if (weft_record_pending_unlinked(a) && weft_record_pending_gone(b))
                store_byte(w, a, WEFT_BYTE_ENDED);
        }
    }
}

static bool any_became(uint64_t packet)
{
    const struct notes *n = &weft_record_rec.notes[packet];
    const unsigned char *ended = ended_bytes(packet);
    const uint32_t created = __atomic_load_n(&n->created, __ATOMIC_RELAXED);
    uint64_t any = 0; /* bytes beyond the created promises are 0 */
    for (uint32_t i = 0; i < created; i += 8)
        any |= __atomic_load_n((const uint64_t *)(const void *)(ended + i), __ATOMIC_RELAXED);
    return any & UINT64_C(0x0202020202020202);
}

/* Keeps the events about old promises that were listed while recording. */
static void walk_old(struct walk *w, const struct notes *n)
{
    for (unsigned i = 0; i < n->olds; i++) {
        bool event = false;
        w->befores = 0;
        w->all = true;
        for (uint32_t at = n->old[i].at * 4u; !event;)
            at = keep_form(w, at, &event, n->old[i].other);
    }
}

/* Counts the packet's pending promises. A resolved one stays resolved, so those at the beginning are checked
 * only once. */
static uint32_t count_pending(uint64_t packet)
{
    struct notes *n = &weft_record_rec.notes[packet];
    const unsigned char *ended = ended_bytes(packet);
    uint32_t count = 0, created = __atomic_load_n(&n->created, __ATOMIC_RELAXED);
    uint32_t i = __atomic_load_n(&n->ended, __ATOMIC_RELAXED);
    for (; i + 8 <= created; i += 8)
        if (__atomic_load_n((const uint64_t *)(const void *)(ended + i), __ATOMIC_RELAXED) !=
            UINT64_C(0x0101010101010101))
            break;
    __atomic_store_n(&n->ended, i, __ATOMIC_RELAXED);
    for (; i < created; i++) {
        const unsigned char byte = __atomic_load_n(&ended[i], __ATOMIC_RELAXED);
        count += byte == WEFT_BYTE_PENDING || byte == WEFT_BYTE_BECAME;
    }
    return count;
}

/* Returns true if this packet may mention pending promises of other packets. */
static bool may_concern_others(const struct notes *n)
{
    uint64_t from = home_of(n->low), to = home_of(n->high), packet;
    if (n->olds > OLD_MAX || to - from > RANGE_MAX)
        return true;
    for (uint64_t h = from; h <= to; h++) {
        if (h == n->home)
            continue;
        if (find_home((h << weft_record_rec.id_bits) + 1, &packet)) {
            struct notes *other = &weft_record_rec.notes[packet];
            uint8_t state = __atomic_load_n(&other->state, __ATOMIC_ACQUIRE); /* with (M) */
            if (state == OPEN || (state == LET_GO && count_pending(packet)))
                return true;
        }
        /* Checked last: whoever retires the packet fills the cells first. */
        if (weft_record_cells_any(h))
            return true;
    }
    return false;
}

uint32_t weft_record_pending_keep(uint64_t packet, uint64_t *hazard)
{
    struct notes *n = &weft_record_rec.notes[packet];
    const bool own = !tracks();
    if (n->home == NO_HOME && !own)
        return 0;
    const struct weft_events_header *p =
        (const void *)(weft_record_rec.pool + (packet << weft_record_rec.packet_bits));
    struct walk w = {
        .p = p,
        .packet = packet,
        .begin_ticks = p->begin_ticks,
        .running = p->running,
        .hazard = hazard,
        .stream = p->stream,
        .all = n->olds > OLD_MAX || own,
        .own = own,
    };
    if (!own && any_became(packet))
        end_became(&w, p->packet.header_bytes, (uint32_t)(p->packet.content_bits / 8));
    uint32_t pending = own ? 0 : count_pending(packet);
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* with the one of check_again */
    w.unborn = !own && weft_record_cells_any(n->home);
    if (own || w.unborn || n->links || may_concern_others(n))
        walk_events(&w, p->packet.header_bytes, (uint32_t)(p->packet.content_bits / 8));
    else if (pending)
        walk_parts(&w, n);
    if (n->olds && n->olds <= OLD_MAX && !own)
        walk_old(&w, n);
    if (w.again && !w.held) {
        w.second = w.unborn = true;
        w.running = p->running;
        w.stream = p->stream;
        w.befores = 0;
        walk_events(&w, p->packet.header_bytes, (uint32_t)(p->packet.content_bits / 8));
    }
    if (w.kept)
        __atomic_fetch_add(&weft_record_rec.pending->kept, w.kept, __ATOMIC_RELAXED);
    n->held |= w.held;
    return w.held ? WEFT_PENDING_HELD : pending;
}

void weft_record_pending_recheck(uint64_t packet, uint32_t pending)
{
    const struct notes *n = &weft_record_rec.notes[packet];
    if (n->home == NO_HOME || !pending)
        return;
    const bool some = count_pending(packet) != pending, became = any_became(packet);
    const uint64_t base = (n->home << weft_record_rec.id_bits) + 1;
    unsigned sort;
    for (uint64_t id = base; id < base + n->created && (some || became); id++) {
        if (some && is_ended(packet, id)) {
            weft_record_cells_drop(id);
            weft_record_roll_drop(id);
        } else if (byte_of(packet, id) == WEFT_BYTE_BECAME && weft_record_roll_find(id, &sort)) {
            count_dropped(id); /* nobody would take it off */
            weft_record_roll_drop(id);
        }
    }
}

/* While events are recorded */

static struct notes *notes_of(const struct weft_events_header *p)
{
    const struct recorder *r = &weft_record_rec;
    return &r->notes[(uint64_t)((const unsigned char *)p - r->pool) >> r->packet_bits];
}

void weft_record_pending_links(const struct writer *w)
{
    notes_of(w->packet)->links = true;
}

/* Removes waits whose waiting promise has ended. */
static void tidy_olds(struct notes *n)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < n->olds; i++)
        if (n->old[i].kind != WEFT_EVENT_TRY_READ || !weft_record_pending_over(n->old[i].other))
            n->old[kept++] = n->old[i];
    n->olds = (uint8_t)kept;
}

/* Where an event goes in the list: in place of one that it makes unnecessary, or at the end. NULL: the list is
 * full. */
static struct old_event *place_of_old(struct notes *n, unsigned kind, uint64_t id, uint64_t other)
{
    for (unsigned i = 0; i < n->olds; i++) {
        struct old_event *o = &n->old[i];
        if (o->id == id && o->kind == kind && (kind != WEFT_EVENT_TRY_READ || o->other == other))
            return o;
    }
    if (n->olds == OLD_MAX) {
        tidy_olds(n);
        if (n->olds > OLD_MAX / 4 * 3)
            return NULL; /* it would have to be repeated too often */
    }
    return &n->old[n->olds++];
}

static void list(struct writer *w, unsigned kind, uint64_t id, uint64_t other,
                 const unsigned char *at)
{
    struct notes *n = notes_of(w->packet);
    if (n->olds > OLD_MAX)
        return;
    w->old = place_of_old(n, kind, id, other);
    if (w->old)
        *w->old = (struct old_event){.id = id,
                                     .other = other,
                                     .at = (uint16_t)((at - (unsigned char *)w->packet) / 4),
                                     .kind = (uint8_t)kind};
    else
        n->olds = OLD_MAX + 1;
}

void weft_record_pending_note(struct writer *w, unsigned kind, uint64_t id, uint64_t other,
                              const unsigned char *at)
{
    uint64_t own = home_of(w->base), home = home_of(id);
    if (id == UINT64_MAX || !tracks())
        return;
    if (own >= NEAR_HOMES && home < own - NEAR_HOMES) {
        list(w, kind, id, other, at);
        return;
    }
    struct notes *n = notes_of(w->packet);
    struct mark *m = &n->mark[n->marks - 1];
    uint32_t low = home == own ? (uint32_t)index_of(id) : 0;
    m->low = low < m->low ? low : m->low;
    w->low = id < w->low ? id : w->low;
    w->high = id > w->high ? id : w->high;
    n->low = id < n->low ? id : n->low;
    n->high = id > n->high ? id : n->high;
}

void weft_record_pending_resolved(struct writer *w, unsigned kind, uint64_t id,
                                  const unsigned char *at)
{
    if (!weft_record_cells_resolve(id))
        return;
    if (at && tracks()) /* so that the cell is emptied when the event is overwritten */
        list(w, kind, id, 0, at);
    else if (!at)
        weft_record_cells_drop(id | WEFT_PENDING_RESOLVED);
}

void weft_record_pending_became(const struct writer *writer, uint64_t p, uint64_t q, uint64_t ticks)
{
    const struct weft_events_header *packet = writer->packet;
    const uint64_t offset = (uint64_t)((const unsigned char *)packet - weft_record_rec.pool);
    struct walk w = {
        .p = packet, .packet = offset >> weft_record_rec.packet_bits, .own = !tracks()};
    const struct seen e = {.kind = WEFT_EVENT_BECOMES, .ticks = ticks, .a = p, .b = q};
    unsigned sort;
    /* The same happens when the event is overwritten; but done now, the cell is free as soon as q has ended. */
    const enum said said = keep_fact(&w, &e, p, q, false);
    if (said == NOBODY && !w.own && !w.held && weft_record_roll_find(p, &sort)) {
        count_dropped(p);
        weft_record_cells_forget(p);
    }
    if (said == SAID && !w.held && !weft_record_pending_gone(q))
        note_needed(&w, &e, q, weft_record_cells_important(p));
    if (w.kept)
        __atomic_fetch_add(&weft_record_rec.pending->kept, w.kept, __ATOMIC_RELAXED);
}

/* Numbers of the program's own */

void weft_record_pending_own(const struct writer *w)
{
    struct recorder *r = &weft_record_rec;
    bool mixed = w->packet && w->next_id != w->base;
    __atomic_store_n(&r->tracks, 0, __ATOMIC_RELAXED);
    /* With the one of give_home. It is before the stores that follow, too, so these need no order. */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (uint64_t i = 0; i <= r->homes_mask; i++)
        __atomic_store_n(&r->homes[i], 0, __ATOMIC_RELAXED);
    for (uint64_t i = 0; i < r->packets; i++)
        mixed |= __atomic_load_n(&r->notes[i].created, __ATOMIC_RELAXED) != 0;
    __atomic_fetch_or(&r->pending->unsure, mixed ? WEFT_UNSURE : WEFT_UNSURE | WEFT_LISTED,
                      __ATOMIC_RELAXED);
}

void weft_record_pending_created(uint64_t id, uint32_t site)
{
    if (!weft_record_roll_add_fresh(id))
        weft_record_roll_unlisted(weft_record_roll_sort(site));
}
