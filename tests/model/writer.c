/* SPDX-License-Identifier: ISC */
/* What a thread does to record an event: src/record/calls.c, and pool.c but for retiring.
 *
 * Left out: the queue's inside, texts, clocks, handlers of signals. */
#include <string.h>

#include "writer.h"

static const bool is_local[] = {
#define P(name, local, text) local,
    WRITER_PLACES(P)
#undef P
};

const char *writer_place(u8 pc)
{
    static const char *const texts[] = {
#define P(name, local, text) text,
        WRITER_PLACES(P)
#undef P
    };
    return texts[pc];
}

void writer_first(struct state *s)
{
    for (unsigned t = 0; t < setup.threads; t++)
        s->thread[t].left = setup.left[t];
    for (u8 k = 0; k < setup.places; k++)
        s->queue[s->queued++] = k;
}

static u8 take_out(u8 *list, u8 *n, unsigned i)
{
    u8 k = list[i];
    --*n;
    memmove(list + i, list + i + 1, *n - i);
    list[*n] = 0;
    return k;
}

static u8 pop(u8 *list, u8 *n)
{
    return take_out(list, n, *n - 1u);
}

/* ---- The path of an event ---- */

/* A promise is resolved once, and nothing is said of it afterwards; but what other threads have begun to say
 * of it may come later than its ending. */
static bool begin_event(struct state *s, struct thread *t, unsigned choice)
{
    if (!t->left)
        return !choice && go_to(t, AT_LEAVE);
    u8 kind = choice == 0 ? FILLS : choice == 1 ? CREATES : choice < 2 + PROMISES ? ENDS : NOTES;
    u8 p = choice < 2 ? 0 : (u8)((choice - 2) % PROMISES), bit = (u8)(1 << p);
    if (!(setup.kinds[t - s->thread] >> kind & 1))
        return false;
    if (kind == CREATES) {
        if (s->promises == setup.promises)
            return false;
        p = s->promises++;
    } else if (kind != FILLS) {
        if (!load(s, t, KNOWN_AT + p) || s->ending & bit || (kind == NOTES && s->noting & bit))
            return false;
        *(kind == ENDS ? &s->ending : &s->noting) |= bit;
    }
    t->kind = kind;
    t->p = p;
    return go_to(t, AT_BUSY);
}

static u8 start_of(const struct thread *t)
{
    return t->kind == ENDS && is(MARK_FIRST) ? AT_HAZARD : AT_EVENT_OUT;
}

static bool put_event(struct state *s, struct thread *t)
{
    const u8 p = t->p;
    switch (t->pc) {
    case AT_EVENT_OUT:
        if (!store(t, IN_PLACE(t->packet - 1, EVENT + t->at), EVENT_OF(t->kind, p, t->sequence), 0))
            return false;
        if (t->kind == CREATES) {
            s->home_of[p] = t->home;
            s->index_of[p] = t->made++;
        }
        return go_to(t, AT_CONTENT_OUT);
    case AT_CONTENT_OUT:
        if (!store(t, IN_PLACE(t->packet - 1, CONTENT), t->at + 1, is(PLAIN_CONTENT) ? 0 : RELEASE))
            return false;
        t->at++;
        return go_to(t, t->kind == CREATES                   ? AT_KNOWN
                        : t->kind == ENDS && !is(MARK_FIRST) ? AT_HAZARD
                                                             : AT_DONE);
    default: /* AT_KNOWN: the program's own store */
        return put(t, KNOWN_AT + p, 1, RELEASE, AT_DONE);
    }
}

/* weft__pending_resolved marks all cells of the promise until there is none unmarked. */
static bool mark_cells(struct state *s, struct thread *t)
{
    u8 again = t->again, *id;
    switch (t->pc) {
    case AT_KEEPS:
        return go_to(t, load(s, t, kept_at(s, t->p)) ? AT_RESOLVE : AT_RESOLVED);
    case AT_RESOLVE:
        if (!can_exchange(t, true))
            return false;
        id = &s->memory[IN_CELL(t->cell, ID)];
        if (*id == t->p + 1) {
            *id |= MARK;
            t->again = 1;
            witness[MARKED]++;
        }
        return go_to(t, ++t->cell < setup.cells ? AT_RESOLVE : AT_RESOLVE_FENCE);
    default: /* AT_RESOLVE_FENCE */
        t->cell = t->again = 0;
        return !t->stores && go_to(t, again ? AT_RESOLVE : AT_RESOLVED);
    }
}

static bool path(struct state *s, struct thread *t, unsigned choice)
{
    const u8 me = (u8)(t - s->thread);
    switch (t->pc) {
    case AT_IDLE:
        return begin_event(s, t, choice);
    case AT_BUSY:
        return put(t, BUSY_AT + me, 1, RELEASE,
                   t->packet && t->at < setup.events ? start_of(t)
                   : t->begun                        ? AT_STOCK
                                                     : AT_ADOPT);
    case AT_EVENT_OUT:
    case AT_CONTENT_OUT:
    case AT_KNOWN:
        return put_event(s, t);
    case AT_HAZARD:
        return put(t, HAZARD_AT + me, s->home_of[t->p], is(PLAIN_HAZARD) ? 0 : RELEASE, AT_DIR);
    case AT_DIR:
        t->found = find_home(s, t, t->p);
        return go_to(t, t->found ? AT_BYTE : AT_KEEPS);
    case AT_BYTE:
        return put(t, IN_PLACE(t->found - 1, ENDED + s->index_of[t->p]), s->home_of[t->p],
                   is(PLAIN_BYTE) ? 0 : RELEASE, AT_RESOLVED);
    case AT_KEEPS:
    case AT_RESOLVE:
    case AT_RESOLVE_FENCE:
        return mark_cells(s, t);
    case AT_RESOLVED:
        t->found = 0;
        return go_to(t, is(MARK_FIRST) ? AT_EVENT_OUT : AT_DONE);
    default: /* AT_DONE */
        if (!store(t, BUSY_AT + me, 0, RELEASE))
            return false;
        t->left--;
        t->kind = t->p = 0;
        return go_to(t, AT_IDLE);
    }
}

/* ---- A thread ends ---- */

static bool leave(struct state *s, struct thread *t)
{
    u8 k = (u8)(t->packet - 1);
    switch (t->pc) {
    case AT_LEAVE:
        if (!can_exchange(t, true))
            return false;
        if (t->stocked) {
            s->clean[s->cleans++] = pop(t->stock, &t->stocked);
            return true;
        }
        return go_to(t, !t->packet ? AT_END : t->at == setup.events ? AT_CLOSE : AT_LEAVE_COUNT);
    case AT_LEAVE_COUNT:
        return put(t, IN_PLACE(k, COUNTS), (u8)((load(s, t, IN_PLACE(k, COUNTS)) & ~3) | t->at), 0,
                   AT_LEAVE_PUSH);
    case AT_LEAVE_PUSH:
        if (!can_exchange(t, true))
            return false;
        s->notes[k].made = t->made;
        s->left[s->lefts++] = k;
        t->packet = t->at = t->made = t->home = t->sequence = 0;
        return go_to(t, AT_END);
    default: /* AT_END */
        return false;
    }
}

/* ---- Getting a packet ---- */

static bool adopt(struct state *s, struct thread *t)
{
    if (!can_exchange(t, false))
        return false;
    t->begun = 1;
    if (!s->lefts)
        return go_to(t, AT_STOCK);
    u8 k = pop(s->left, &s->lefts);
    witness[ADOPTED]++;
    t->packet = k + 1;
    t->at = s->memory[IN_PLACE(k, CONTENT)];
    t->sequence = s->memory[IN_PLACE(k, SEQUENCE)];
    t->made = s->notes[k].made;
    t->home = s->notes[k].home;
    return go_to(t, start_of(t));
}

static bool take_oldest(struct state *s, struct thread *t, unsigned choice)
{
    if (!can_exchange(t, true) || choice >= (s->queued && setup.any_order ? s->queued : 1u))
        return false;
    if (s->queued) {
        t->list[t->listed++] = take_out(s->queue, &s->queued, choice);
    } else if (!t->listed && s->lefts) {
        u8 k = pop(s->left, &s->lefts);
        s->notes[k].state = IS_LET_GO;
        t->list[t->listed++] = k;
    } else {
        return go_to(t, t->listed ? AT_KEEP : AT_NOTHING);
    }
    return t->listed == setup.batch ? go_to(t, AT_KEEP) : true;
}

/* The former packet is finished first, and let go once the new one has begun. */
static u8 begin_with(const struct thread *t)
{
    return t->packet ? AT_CLOSE : AT_BEGIN;
}

/* What has been retired is in the list, unless it was put back. */
static bool taken(struct thread *t)
{
    u8 n = t->clean;
    t->listed = t->current = t->clean = 0;
    if (n)
        t->got = t->list[0] + 1;
    for (; n > 1; witness[STOCKED]++)
        t->stock[t->stocked++] = t->list[--n];
    t->list[0] = t->list[1] = 0;
    if (t->got) {
        t->again = 0;
        return go_to(t, begin_with(t));
    }
    return go_to(t, t->again++ ? AT_NOTHING : AT_TAKE);
}

static bool claim(struct state *s, struct thread *t, unsigned choice)
{
    switch (t->pc) {
    case AT_ADOPT:
        return adopt(s, t);
    case AT_STOCK:
        if (t->stocked)
            t->got = pop(t->stock, &t->stocked) + 1;
        return go_to(t, t->got ? begin_with(t) : AT_CLEAN);
    case AT_CLEAN:
        if (!can_exchange(t, false))
            return false;
        if (s->cleans)
            t->got = pop(s->clean, &s->cleans) + 1;
        return go_to(t, t->got ? begin_with(t) : AT_UNHAZARD);
    case AT_UNHAZARD:
        return put(t, (u8)(HAZARD_AT + (t - s->thread)), 0, is(PLAIN_HAZARD) ? 0 : RELEASE,
                   AT_TAKE);
    case AT_TAKE:
        return take_oldest(s, t, choice);
    case AT_TAKEN:
        return taken(t);
    default: /* AT_NOTHING */
        t->again = 0;
        if (t->packet)
            return go_to(t, AT_CLOSE);
        if (!can_exchange(t, false))
            return false;
        witness[DISCARDED]++;
        return go_to(t, AT_DONE);
    }
}

/* ---- A packet changes hands ---- */

static bool exchange(struct state *s, struct thread *t)
{
    u8 k = t->list[t->current], own = (u8)(t->packet - 1), v;
    switch (t->pc) {
    case AT_EMPTY:
        witness[REUSED] += s->memory[IN_PLACE(k, SEQUENCE)] != 0;
        return is(EMPTY_FIRST) ? go_to(t, AT_EMPTY_COUNTS)
                               : put(t, IN_PLACE(k, SEQUENCE), 0, is(PLAIN_EMPTY) ? 0 : RELEASE,
                                     AT_EMPTY_COUNTS);
    case AT_EMPTY_COUNTS:
        v = load(s, t, IN_PLACE(k, COUNTS));
        return put(t, IN_PLACE(k, COUNTS),
                   (u8)((v & ~3) + (v & 3) * 4 + (is(TWO_COUNTS) ? v & 3 : 0)),
                   is(NO_FENCE) ? 0 : FENCED, is(TWO_COUNTS) ? AT_EMPTY_COUNTS_TOO : AT_UNSETTLE);
    case AT_EMPTY_COUNTS_TOO:
        return put(t, IN_PLACE(k, COUNTS), load(s, t, IN_PLACE(k, COUNTS)) & (u8)~3, 0,
                   AT_UNSETTLE);
    case AT_CLOSE:
        v = load(s, t, IN_PLACE(own, COUNTS));
        if (!store(t, IN_PLACE(own, COUNTS), (u8)((v & ~3) | t->at), 0))
            return false;
        s->notes[own].made = t->made;
        s->notes[own].state = IS_LET_GO;
        t->former = t->packet;
        t->packet = t->at = t->made = t->home = t->sequence = 0;
        return go_to(t, t->got ? AT_BEGIN : AT_PUT);
    default: /* AT_PUT */
        if (!can_exchange(t, true))
            return false;
        s->queue[s->queued++] = t->former - 1;
        t->former = 0;
        return go_to(t, t->packet ? start_of(t) : t->left ? AT_STOCK : AT_END);
    }
}

static bool settle(struct state *s, struct thread *t, u8 k)
{
    if (!can_exchange(t, true))
        return false;
    t->home = ++s->homes;
    u8 *place = &s->memory[HOME_AT + t->home % DIRECTORY];
    if (*place)
        return true; /* another number */
    *place = (u8)((t->home << 2 | k) + 1);
    s->tenant[k] = t->home;
    s->notes[k] = (struct notes){.home = t->home, .state = IS_OPEN};
    t->sequence = ++s->sequence;
    return go_to(t, is(SEQUENCE_FIRST) ? AT_HEADER_SEQUENCE : AT_HEADER_BASE);
}

static bool begin_packet(struct state *s, struct thread *t)
{
    const u8 k = (u8)(t->got - 1);
    bool begun = false;
    switch (t->pc) {
    case AT_BEGIN:
        return put(t, ALL_ENDED, k, 0, AT_SETTLE);
    case AT_SETTLE:
        return settle(s, t, k);
    case AT_HEADER_BASE:
        return put(t, IN_PLACE(k, BASE), t->home, 0, AT_HEADER_CONTENT);
    case AT_HEADER_CONTENT:
        if (!put(t, IN_PLACE(k, CONTENT), 0, 0, AT_HEADER_SEQUENCE))
            return false;
        begun = is(SEQUENCE_FIRST);
        break;
    default: /* AT_HEADER_SEQUENCE */
        if (!put(t, IN_PLACE(k, SEQUENCE), t->sequence, is(PLAIN_SEQUENCE) ? 0 : RELEASE,
                 AT_HEADER_BASE))
            return false;
        begun = !is(SEQUENCE_FIRST);
    }
    if (!begun)
        return true;
    t->packet = t->got;
    t->got = t->at = t->made = 0;
    return go_to(t, t->former ? AT_PUT : start_of(t));
}

static bool step(struct state *s, struct thread *t, unsigned choice)
{
    if (t->pc <= AT_DONE)
        return path(s, t, choice);
    if (t->pc <= AT_END)
        return leave(s, t);
    if (t->pc <= AT_NOTHING)
        return claim(s, t, choice);
    if (t->pc <= AT_PUT)
        return exchange(s, t);
    if (t->pc <= AT_HEADER_SEQUENCE)
        return begin_packet(s, t);
    return retire_step(s, t, choice);
}

bool writer_step(struct state *s, unsigned number, unsigned choice)
{
    struct thread *t = &s->thread[number];
    if (choice && t->pc != AT_IDLE && t->pc != AT_FIND_LOCK && t->pc != AT_TAKE)
        return false;
    if (!is_local[t->pc])
        t->fresh = 0;
    if (!step(s, t, choice))
        return false;
    while (is_local[t->pc] && step(s, t, 0))
        ;
    return true;
}
