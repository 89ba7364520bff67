/* SPDX-License-Identifier: ISC */
/* What a reader makes of the file, and what must hold. src/read/weft.c, merge.c and pending.c.
 *
 * Of a promise it says how often it was created, and whether it is pending:
 *
 *   the creation      is in a packet that is there; or in a cell, unless the cell's packet is there
 *   it has ended      if an event says so, or its byte, also that of a packet that has been emptied and not
 *                     begun again; or a marked cell
 *
 * A killed writer's file is read at once: all must hold of it. A live one is read bit by bit, headers, bytes,
 * cells, events; a packet that has changed hands meanwhile makes the reading void. Of that one only is asked
 * that nothing is torn or doubled. (A copy that is exact at one moment is another protocol: see
 * src/read/snapshot.c, whose test lets the file change between any two readings.) */
#include <string.h>

#include "ring.h"

/* ---- One view ---- */

static bool is_there(const struct view *v, u8 sequence)
{
    for (unsigned k = 0; k < setup.places; k++)
        if (v->place[k][SEQUENCE] && v->place[k][SEQUENCE] == sequence)
            return true;
    return false;
}

struct told {
    unsigned creations, endings, notes; /* events, those from cells included */
    bool pending;
};

static void tell_events(const struct view *v, u8 p, struct told *is)
{
    for (unsigned k = 0; k < setup.places; k++)
        for (unsigned i = 0; v->place[k][SEQUENCE] && i < v->place[k][CONTENT]; i++) {
            u8 e = v->place[k][EVENT + i];
            bool about = e >> 6 != FILLS && (e >> 4 & 3) == p;
            is->creations += about && e >> 6 == CREATES;
            is->endings += about && e >> 6 == ENDS;
            is->notes += about && e >> 6 == NOTES;
        }
}

/* only: the one cell that the reader takes, plus 1; 0: it puts them together. */
static struct told tell(const struct view *v, const struct state *s, u8 p, unsigned only)
{
    struct told r = {0};
    bool born = false, noted = false, marked = false, ended = false;
    tell_events(v, p, &r);
    for (unsigned c = 0; c < setup.cells; c++) {
        const u8 *cell = v->cell[c];
        if ((cell[ID] & ~MARK) != p + 1 || (only && only != c + 1))
            continue;
        marked |= cell[ID] & MARK;
        born |= !(cell[FLAGS] & UNBORN) && (is(NO_SEQUENCE_IN_CELL) || !is_there(v, cell[PACKET]));
        noted |= cell[NOTE] && !is_there(v, cell[NOTE]);
    }
    r.creations += born;
    r.notes += noted;
    for (unsigned k = 0; k < setup.places; k++) {
        const u8 *place = v->place[k];
        if (place[BASE] == s->home_of[p] && (place[SEQUENCE] || !is(NO_EMPTIED_BYTES)))
            ended |= place[ENDED + s->index_of[p]];
    }
    r.pending = r.creations && !r.endings && !ended && !marked;
    return r;
}

static const char *judge_promise(const struct view *v, const struct state *s, u8 p, bool pending,
                                 bool ended, unsigned only)
{
    struct told r = tell(v, s, p, only);
    if (r.creations > 1)
        return "a promise is shown twice";
    if (ended && r.pending && !v->given_up)
        return "a promise is shown pending although its ending was published";
    if (!pending || v->given_up)
        return NULL;
    if (!r.creations)
        return "a pending promise is lost";
    if (!r.pending)
        return "a pending promise is shown resolved";
    if (s->noted >> p & 1 && !s->skipped && !setup.live && r.notes != 1)
        return r.notes ? "a note is shown twice" : "a note of a pending promise is lost";
    return NULL;
}

/* pending, ended: promises that must be shown so, or not as pending. */
static const char *judge_view(const struct view *v, const struct state *s, u8 pending, u8 ended)
{
    for (unsigned k = 0; k < setup.places; k++)
        for (unsigned i = 0; v->place[k][SEQUENCE] && i < v->place[k][CONTENT]; i++)
            if ((v->place[k][EVENT + i] & TAG) != (v->place[k][SEQUENCE] & TAG))
                return "an event is torn";
    for (u8 p = 0; p < s->promises; p++)
        for (unsigned only = 0; only <= (is(ONE_OF_TWO_CELLS) ? setup.cells : 0u); only++) {
            bool there = !only || (v->cell[only - 1][ID] & ~MARK) == p + 1;
            const char *wrong = there && (only || !is(ONE_OF_TWO_CELLS))
                                    ? judge_promise(v, s, p, pending >> p & 1, ended >> p & 1, only)
                                    : NULL;
            if (wrong)
                return wrong;
        }
    return NULL;
}

/* Recorded = kept + overwritten. */
static bool sums_up(const struct state *s)
{
    unsigned sum = 0;
    for (unsigned k = 0; k < setup.places; k++) {
        const u8 *place = &s->memory[IN_PLACE(k, 0)];
        sum += (place[COUNTS] >> 2) + (place[SEQUENCE] ? place[CONTENT] : place[COUNTS] & 3u);
    }
    return sum == s->published;
}

static const char *judge_killed(const struct state *s)
{
    struct view v;
    for (unsigned k = 0; k < PLACES; k++)
        memcpy(v.place[k], &s->memory[IN_PLACE(k, 0)], PLACE_BYTES);
    for (unsigned c = 0; c < CELLS; c++)
        memcpy(v.cell[c], &s->memory[IN_CELL(c, 0)], CELL_BYTES);
    v.given_up = s->memory[GIVEN_UP];
    const char *wrong = judge_view(&v, s, s->created & (u8)~s->ended, s->ended);
    return wrong ? wrong : sums_up(s) ? NULL : "events are lost, or counted twice";
}

/* All threads have ended. */
static const char *judge_end(const struct state *s)
{
    for (unsigned t = 0; t < setup.threads; t++)
        if (s->thread[t].left || s->thread[t].stores)
            return "a thread waits for ever";
    for (unsigned c = 0; c < setup.cells; c++) {
        u8 id = s->memory[IN_CELL(c, ID)], home = id ? s->home_of[(id & ~MARK) - 1] : 0;
        bool found = false;
        for (unsigned k = 0; k < setup.places; k++)
            found |= s->notes[k].home == home && s->notes[k].state != IS_CLEAN;
        if (id && !(id & MARK) && s->ended >> (id - 1) & 1 && !found)
            return "the cell of a resolved promise stays for ever";
    }
    return NULL;
}

/* ---- Bit by bit ---- */

/* WHOLE: to be judged; VOID: a packet has changed hands. */
enum phase { BEFORE, HEADERS, BYTES, CELL_PHASE, EVENT_PHASE, WHOLE, VOID };

static u8 next_phase(u8 phase)
{
    static const u8 next[] = {HEADERS, BYTES, CELL_PHASE, EVENT_PHASE, WHOLE};
    return next[phase];
}

static void to_next(struct reading *r, unsigned count)
{
    r->word = 0;
    if (++r->k < count)
        return;
    r->k = 0;
    r->phase = next_phase(r->phase);
}

/* A place that has another owner than it had. */
static void forget_place(struct reading *r)
{
    memset(r->view.place[r->k], 0, PLACE_BYTES);
}

static void read_header(struct reading *r, const u8 *from, u8 *to)
{
    switch (r->word++) {
    case 0:
        to[SEQUENCE] = from[SEQUENCE];
        if (!to[SEQUENCE])
            to_next(r, setup.places);
        break;
    case 1: /* none of it changes, but for the content, while the owner is the same */
        to[CONTENT] = from[CONTENT];
        to[BASE] = from[BASE];
        break;
    default:
        if (to[SEQUENCE] != from[SEQUENCE])
            forget_place(r);
        to_next(r, setup.places);
    }
}

static void read_bytes(struct reading *r, const u8 *from, u8 *to)
{
    if (to[SEQUENCE] && r->word < setup.events) {
        to[ENDED + r->word] = from[ENDED + r->word];
        r->word++;
        return;
    }
    to_next(r, setup.places);
}

/* One that is changed meanwhile is read again. */
static void read_cell(struct reading *r, const u8 *from, u8 *to, u8 given_up)
{
    switch (r->word++) {
    case 0:
        to[ID] = from[ID];
        if (!to[ID])
            to_next(r, setup.cells);
        break;
    case 1:
        to[VERSION] = from[VERSION];
        break;
    case 2:
        to[FLAGS] = from[FLAGS];
        break;
    case 3:
        to[PACKET] = from[PACKET];
        break;
    case 4:
        if (from[VERSION] & 1 || from[VERSION] != to[VERSION]) {
            r->word = 0;
            to[ID] = to[VERSION] = to[FLAGS] = to[PACKET] = 0;
        }
        break;
    default:
        if ((from[ID] ^ to[ID]) & ~MARK) {
            r->word = 0;
            to[ID] = to[FLAGS] = to[PACKET] = 0;
        } else {
            to[ID] = from[ID];
        }
        to[VERSION] = 0;
        if (r->word)
            to_next(r, setup.cells);
    }
    r->view.given_up |= given_up;
}

/* Of a packet whose header has been read. */
static void read_events(struct reading *r, const u8 *from, u8 *to)
{
    if (!to[SEQUENCE]) {
        to_next(r, setup.places);
        return;
    }
    if (r->word == 0) {
        r->lost |= to[SEQUENCE] != from[SEQUENCE];
    } else if (r->word <= to[CONTENT]) {
        to[EVENT + r->word - 1] = from[EVENT + r->word - 1];
    } else {
        if (to[SEQUENCE] != from[SEQUENCE] && !is(NO_SECOND_LOOK)) {
            r->lost = 1;
            witness[CHANGED]++;
        }
        to_next(r, setup.places);
        return;
    }
    r->word++;
}

bool reader_is_through(const struct state *s)
{
    return s->reading.phase >= WHOLE;
}

bool reader_step(struct state *s)
{
    struct reading *r = &s->reading;
    const u8 *place = &s->memory[IN_PLACE(r->k, 0)];
    u8 *to = r->view.place[r->k];
    switch (r->phase) {
    case BEFORE:
        r->created = s->created;
        r->ended = s->ended;
        r->phase = next_phase(BEFORE);
        return true;
    case HEADERS:
        read_header(r, place, to);
        break;
    case BYTES:
        read_bytes(r, place, to);
        break;
    case CELL_PHASE:
        read_cell(r, &s->memory[IN_CELL(r->k, 0)], r->view.cell[r->k], s->memory[GIVEN_UP]);
        break;
    case EVENT_PHASE:
        read_events(r, place, to);
        break;
    default:
        return false;
    }
    if (r->lost) {
        memset(r, 0, sizeof *r);
        r->phase = VOID;
    }
    return true;
}

const char *judge(const struct state *s, bool last)
{
    const struct reading *r = &s->reading;
    if (s->bad)
        return s->bad == STALE_BYTE ? "a byte of an earlier owner's promise is written"
                                    : "the cell of a pending promise is freed";
    if (!setup.live) {
        const char *wrong = last ? judge_end(s) : NULL;
        return wrong ? wrong : judge_killed(s);
    }
    if (r->phase != WHOLE)
        return NULL;
    witness[READ]++;
    return judge_view(&r->view, s, 0, 0); /* that nothing is torn or doubled */
}
