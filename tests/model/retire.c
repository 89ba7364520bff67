/* SPDX-License-Identifier: ISC */
/* What a thread does before it overwrites packets: src/record/pool.c's retire, and pending.c.
 *
 * Left out: the search for notes that matter (all events are walked through), the two sets of a promise (it
 * may be in any cell), what notes say. */
#include "writer.h"

static bool is_ended(const struct state *s, const struct thread *t, u8 place, u8 p)
{
    return load(s, t, IN_PLACE(place, ENDED + s->index_of[p])) != 0;
}

/* ---- Walking through a packet ---- */

static bool walk_on(struct thread *t)
{
    t->cell = t->q = t->creation = t->found = t->added = 0;
    t->drop = t->back = t->oldest = t->again = t->tries = 0;
    return go_to(t, AT_WALK);
}

static bool next_event(struct state *s, struct thread *t, u8 k)
{
    static const u8 first[] = {
        [CREATES] = AT_C_ENDED, [ENDS] = AT_E_KEPT, [NOTES] = AT_N_DIR, [FILLS] = AT_WALK};
    if (t->event == s->memory[IN_PLACE(k, CONTENT)]) {
        t->event = 0;
        return go_to(t, t->late ? AT_LATE_COUNT : AT_EMPTY);
    }
    u8 e = s->memory[IN_PLACE(k, EVENT + t->event)];
    t->event++;
    t->q = e >> 4 & 3;
    t->creation = e >> 6 == CREATES;
    return go_to(t, first[e >> 6]);
}

static bool drop_all(struct thread *t, u8 id, u8 then)
{
    t->drop = id;
    t->back = then;
    t->cell = 0;
    return go_to(t, AT_DROP);
}

/* ---- Cells ---- */

/* Compare-and-swap of a cell's number to 0. */
static bool drop(struct state *s, u8 cell, u8 id, bool evict)
{
    u8 *have = &s->memory[IN_CELL(cell, ID)], p = (u8)((id & ~MARK) - 1);
    if (*have != id)
        return false;
    *have = 0;
    s->memory[kept_at(s, p)]--;
    if (!evict && !(s->ended >> p & 1) && !s->memory[GIVEN_UP])
        s->bad = FREED_PENDING;
    witness[evict ? EVICTED : FREED]++;
    return true;
}

static bool drop_step(struct state *s, struct thread *t)
{
    if (t->cell == setup.cells) {
        t->cell = t->drop = 0;
        return t->back == AT_WALK ? walk_on(t) : go_to(t, t->back);
    }
    if (!can_exchange(t, true))
        return false;
    drop(s, t->cell, t->drop, false);
    t->cell++;
    return true;
}

/* No cell has the number. */
static bool not_found(struct thread *t)
{
    t->cell = 0;
    if (t->creation || (t->found && t->found - 1 != t->list[t->current]))
        return go_to(t, AT_FREE);
    return walk_on(t);
}

static bool lock_cell_of(struct state *s, struct thread *t, unsigned choice)
{
    u8 *version = &s->memory[IN_CELL(t->cell, VERSION)];
    switch (t->pc) {
    case AT_FIND:
        if (t->cell == setup.cells)
            return not_found(t);
        if (load(s, t, IN_CELL(t->cell, ID)) == t->q + 1)
            return go_to(t, AT_FIND_LOCK);
        t->cell++;
        return true;
    case AT_FIND_LOCK:
        if (choice) { /* it has tried a thousand times */
            if (choice > 1 || !(*version & 1))
                return false;
            s->skipped |= !t->creation;
            return not_found(t);
        }
        if (*version & 1 || !can_exchange(t, false))
            return false;
        ++*version;
        return go_to(t, AT_FIND_CHECK);
    default: /* AT_FIND_CHECK */
        return go_to(t, load(s, t, IN_CELL(t->cell, ID)) == t->q + 1 ? AT_FILL_PACKET : AT_MISS);
    }
}

static bool lock_free(struct state *s, struct thread *t)
{
    u8 *version = &s->memory[IN_CELL(t->cell, VERSION)];
    switch (t->pc) {
    case AT_FREE:
        if (t->cell == setup.cells) {
            t->cell = t->oldest = 0;
            return go_to(t, AT_OUT);
        }
        if (!load(s, t, IN_CELL(t->cell, ID)) && !(load(s, t, IN_CELL(t->cell, VERSION)) & 1))
            return go_to(t, AT_FREE_LOCK);
        t->cell++;
        return true;
    case AT_FREE_LOCK:
        if (!can_exchange(t, false))
            return false;
        if (*version & 1) {
            t->cell++;
            return go_to(t, AT_FREE);
        }
        ++*version;
        t->added = 1;
        return go_to(t, AT_FREE_CHECK);
    default: /* AT_FREE_CHECK */
        return go_to(t, load(s, t, IN_CELL(t->cell, ID)) ? AT_MISS : AT_FILL_PACKET);
    }
}

/* The version of a cell that the thread has locked, once it unlocks it. Only a reader of a live file wants
 * to know how often that was. */
static u8 unlocked(const struct state *s, u8 cell)
{
    return setup.live ? (u8)((s->memory[IN_CELL(cell, VERSION)] + 1) & 3) : 0;
}

static bool unlock_other(struct state *s, struct thread *t)
{
    if (!put(t, IN_CELL(t->cell, VERSION), unlocked(s, t->cell), RELEASE,
             t->added ? AT_FREE : AT_FIND))
        return false;
    t->added = 0;
    t->cell++;
    return true;
}

/* Makes room: of one that is resolved, else of the oldest one. */
static bool drive_out(struct state *s, struct thread *t)
{
    u8 id;
    if (t->pc == AT_OUT_DROP) {
        if (!can_exchange(t, true))
            return false;
        if (drop(s, t->oldest - 1, t->drop, true) && is(GIVEN_UP_LATE))
            t->late = 1;
        t->tries++;
        t->cell = t->oldest = t->drop = 0;
        return go_to(t, AT_FREE);
    }
    if (t->cell == setup.cells || t->tries > 1)
        return go_to(t, !t->oldest || t->tries > 1 ? AT_GIVE_UP
                        : is(GIVEN_UP_LATE)        ? AT_OUT_DROP
                                                   : AT_OUT_COUNT);
    id = load(s, t, IN_CELL(t->cell, ID));
    if (id & MARK) {
        if (!can_exchange(t, true))
            return false;
        drop(s, t->cell, id, true);
        t->tries++;
        t->cell = t->oldest = t->drop = 0;
        return go_to(t, AT_FREE);
    }
    if (id && (!t->oldest || id < t->drop)) {
        t->oldest = t->cell + 1;
        t->drop = id;
    }
    t->cell++;
    return true;
}

static bool count_given_up(struct state *s, struct thread *t)
{
    if (!can_exchange(t, false))
        return false;
    s->memory[GIVEN_UP] = 1;
    if (t->pc == AT_GIVE_UP)
        return walk_on(t);
    if (t->pc == AT_OUT_COUNT)
        return go_to(t, AT_OUT_DROP);
    t->late = 0;
    return go_to(t, AT_EMPTY);
}

static bool fill_in(struct state *s, struct thread *t)
{
    const u8 c = t->cell;
    u8 then;
    switch (t->pc) {
    case AT_FILL_PACKET:
        if (!t->creation && !t->added)
            return go_to(t, AT_FILL_NOTE);
        return put(t, IN_CELL(c, PACKET), t->creation ? t->old : 0, 0, AT_FILL_NOTE);
    case AT_FILL_NOTE:
        if (t->creation && !t->added)
            return go_to(t, AT_FILL_FLAGS);
        return put(t, IN_CELL(c, NOTE), t->creation ? 0 : t->old, RELEASE, AT_FILL_FLAGS);
    case AT_FILL_FLAGS:
        then = t->added ? AT_KEPT_UP : AT_UNLOCK;
        if (!t->creation && !t->added)
            return go_to(t, then);
        if (!put(t, IN_CELL(c, FLAGS), t->creation ? 0 : UNBORN, RELEASE, then))
            return false;
        witness[!t->creation ? KEPT_NOTE : t->added ? KEPT : FILLED_IN]++;
        return true;
    case AT_KEPT_UP:
        if (!can_exchange(t, false))
            return false;
        s->memory[kept_at(s, t->q)]++;
        return go_to(t, AT_PUBLISH);
    case AT_PUBLISH:
        return put(t, IN_CELL(c, ID), t->q + 1, RELEASE, AT_UNLOCK);
    default: /* AT_UNLOCK */
        if (!store(t, IN_CELL(c, VERSION), unlocked(s, c), RELEASE))
            return false;
        return t->creation || !t->added || is(NO_CHECK_AGAIN) ? walk_on(t)
                                                              : go_to(t, AT_AGAIN_FENCE);
    }
}

/* A cell was added for a promise whose packet is not the thread's. */
static bool check_again(struct state *s, struct thread *t)
{
    const u8 id = t->q + 1, c = t->cell;
    switch (t->pc) {
    case AT_AGAIN_FENCE:
        t->cell = t->again = 0;
        return !t->stores && go_to(t, AT_AGAIN_DIR);
    case AT_AGAIN_DIR:
        t->found = find_home(s, t, t->q);
        return go_to(t, t->found ? AT_AGAIN_ENDED : AT_AGAIN_CELLS);
    case AT_AGAIN_ENDED:
        t->again = is_ended(s, t, t->found - 1, t->q);
        return go_to(t, AT_AGAIN_STILL);
    case AT_AGAIN_STILL:
        if (find_home(s, t, t->q) || is(NO_SECOND_FIND))
            return t->again ? drop_all(t, id, AT_WALK) : walk_on(t);
        t->again = 0;
        return go_to(t, AT_AGAIN_CELLS);
    default: /* AT_AGAIN_CELLS */
        if (c < setup.cells) {
            t->again =
                (u8)(t->again + (load(s, t, IN_CELL(c, ID)) == id &&
                                 (is(COUNT_AGAIN) || !(load(s, t, IN_CELL(c, FLAGS)) & UNBORN))));
            t->cell++;
            return true;
        }
        witness[t->again > is(COUNT_AGAIN) ? SECOND_CELL : DROPPED_AGAIN]++;
        return t->again > is(COUNT_AGAIN) ? walk_on(t) : drop_all(t, id, AT_WALK);
    }
}

/* ---- Keeping ---- */

static u8 count_pending(const struct state *s, const struct thread *t, u8 k)
{
    u8 n = 0;
    for (u8 i = 0; i < s->notes[k].made; i++)
        n = (u8)(n + !load(s, t, IN_PLACE(k, ENDED + i)));
    return n;
}

static bool begin_keeping(struct state *s, struct thread *t, u8 k)
{
    if (s->notes[k].state != IS_LET_GO)
        return go_to(t, AT_KEPT_ALL);
    if (is(UNSETTLE_FIRST) && !store(t, HOME_AT + s->notes[k].home % DIRECTORY, 0, RELEASE))
        return false;
    if (is(EMPTY_FIRST) && !store(t, IN_PLACE(k, SEQUENCE), 0, RELEASE))
        return false;
    t->old = s->memory[IN_PLACE(k, SEQUENCE)];
    return go_to(t, AT_PENDING);
}

static bool keep_note(struct state *s, struct thread *t)
{
    switch (t->pc) {
    case AT_N_DIR:
        t->found = find_home(s, t, t->q);
        return go_to(t, t->found ? AT_N_ENDED : AT_N_KEPT);
    case AT_N_ENDED:
        t->again = is_ended(s, t, t->found - 1, t->q);
        return go_to(t, AT_N_STILL);
    case AT_N_STILL:
        if (!find_home(s, t, t->q) && !is(NO_SECOND_FIND))
            t->found = t->again = 0;
        if (t->again)
            return walk_on(t);
        return go_to(t, AT_N_KEPT);
    default: /* AT_N_KEPT */
        return load(s, t, kept_at(s, t->q)) ? go_to(t, AT_FIND) : not_found(t);
    }
}

static bool keep(struct state *s, struct thread *t, u8 k)
{
    const u8 home = s->notes[k].home;
    switch (t->pc) {
    case AT_KEEP:
        return begin_keeping(s, t, k);
    case AT_PENDING:
        t->pending = count_pending(s, t, k);
        return go_to(t, AT_UNBORN_CELLS);
    case AT_UNBORN_CELLS:
        t->unborn = load(s, t, KEPT_AT + (home & 3)) != 0;
        return walk_on(t);
    case AT_WALK:
        return next_event(s, t, k);
    case AT_C_ENDED:
        if (is_ended(s, t, k, t->q))
            return t->unborn ? drop_all(t, t->q + 1, AT_WALK) : walk_on(t);
        return go_to(t, t->unborn ? AT_FIND : AT_FREE);
    case AT_E_KEPT:
        return load(s, t, kept_at(s, t->q)) ? drop_all(t, (u8)((t->q + 1) | MARK), AT_WALK)
                                            : walk_on(t);
    case AT_UNSETTLE:
        if (!is(UNSETTLE_FIRST) && !store(t, HOME_AT + home % DIRECTORY, 0, RELEASE))
            return false;
        s->notes[k].pending = t->pending;
        s->notes[k].state = IS_RETIRED;
        t->old = t->pending = t->unborn = 0;
        return go_to(t, AT_KEPT_ALL);
    default:
        return keep_note(s, t);
    }
}

/* ---- Checking that nobody touches them any more ---- */

static bool is_clean(const struct state *s, u8 k)
{
    return s->notes[k].state == IS_CLEAN;
}

static bool kept_all(struct state *s, struct thread *t)
{
    bool fresh = false;
    if (++t->current < t->listed)
        return go_to(t, AT_KEEP);
    for (u8 i = 0; i < t->listed; i++)
        fresh |= !is_clean(s, t->list[i]);
    t->current = 0;
    return go_to(t, fresh && !is(NO_BARRIER) ? AT_BARRIER : AT_TOUCH);
}

/* Own stores first; then, of each thread, there is a moment at which its stores are in memory. Those that
 * it has made since its last load may as well come later. */
static bool barrier(struct state *s, struct thread *t)
{
    const struct thread *other = &s->thread[t->cell];
    if (t->stores || other->stores > other->fresh)
        return false;
    if (++t->cell < setup.threads)
        return true;
    t->cell = 0;
    return go_to(t, AT_TOUCH);
}

static bool touch(struct state *s, struct thread *t, u8 k)
{
    switch (t->pc) {
    case AT_TOUCH:
        if (t->current == t->listed)
            return go_to(t, AT_TAKEN);
        return go_to(t, is_clean(s, k) ? AT_CLEANED : AT_TOUCH_BUSY);
    case AT_TOUCH_BUSY:
        if (t->cell == setup.threads || is(NO_HAZARD_CHECK)) {
            t->cell = 0;
            return go_to(t, AT_RECHECK);
        }
        if (&s->thread[t->cell] != t && load(s, t, BUSY_AT + t->cell))
            return go_to(t, AT_TOUCH_HAZARD);
        t->cell++;
        return true;
    case AT_TOUCH_HAZARD:
        if (load(s, t, HAZARD_AT + t->cell) == s->notes[k].home)
            return go_to(t, AT_BACK);
        t->cell++;
        return go_to(t, AT_TOUCH_BUSY);
    default: /* AT_BACK */
        if (!can_exchange(t, true))
            return false;
        s->queue[s->queued++] = k;
        witness[PUT_BACK]++;
        t->cell = 0;
        t->current++;
        return go_to(t, AT_TOUCH);
    }
}

/* The promise with that index in the home. */
static u8 promise_at(const struct state *s, u8 home, u8 index)
{
    u8 p = 0;
    while (s->home_of[p] != home || s->index_of[p] != index)
        p++;
    return p;
}

static bool recheck(struct state *s, struct thread *t, u8 k)
{
    const struct notes *n = &s->notes[k];
    if (t->pc == AT_RECHECK)
        return go_to(t, count_pending(s, t, k) == n->pending || is(NO_RECHECK) ? AT_CLEANED
                                                                               : AT_RE_ENDED);
    if (t->event == n->made) {
        t->event = 0;
        return go_to(t, AT_CLEANED);
    }
    t->event++;
    if (!load(s, t, IN_PLACE(k, ENDED + t->event - 1)))
        return true;
    witness[RECHECKED]++;
    return drop_all(t, promise_at(s, n->home, t->event - 1) + 1, AT_RE_ENDED);
}

bool retire_step(struct state *s, struct thread *t, unsigned choice)
{
    const u8 pc = t->pc, k = t->list[t->current < t->listed ? t->current : 0];
    if (pc <= AT_FIND_CHECK)
        return lock_cell_of(s, t, choice);
    if (pc <= AT_FREE_CHECK)
        return lock_free(s, t);
    if (pc == AT_MISS)
        return unlock_other(s, t);
    if (pc == AT_OUT || pc == AT_OUT_DROP)
        return drive_out(s, t);
    if (pc <= AT_LATE_COUNT)
        return count_given_up(s, t);
    if (pc <= AT_UNLOCK)
        return fill_in(s, t);
    if (pc <= AT_AGAIN_CELLS)
        return check_again(s, t);
    if (pc == AT_DROP)
        return drop_step(s, t);
    if (pc <= AT_UNSETTLE)
        return keep(s, t, k);
    if (pc == AT_KEPT_ALL)
        return kept_all(s, t);
    if (pc == AT_BARRIER)
        return barrier(s, t);
    if (pc <= AT_BACK)
        return touch(s, t, k);
    if (pc <= AT_RE_ENDED)
        return recheck(s, t, k);
    s->notes[k].state = IS_CLEAN;
    t->list[t->clean++] = k;
    t->current++;
    return go_to(t, AT_TOUCH);
}
