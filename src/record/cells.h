/* SPDX-License-Identifier: ISC */
/* Cells. A cell keeps what is known about one promise that is still pending when its packet is overwritten;
 * docs/format.md describes its content. The roll (roll.h) lists the pending promises that have no cell. A sort
 * is all promises created at one site; a home is the block of promise numbers of one packet.
 *
 * All functions may be called from any thread at any time, and none waits for another thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "format/packet.h"

#pragma GCC visibility push(hidden)

/* A cell that is being filled in. */
struct new_cell {
    struct weft_pending_cell *cell; /* locked; NULL: there is none */
    uint64_t *place;                /* where its number goes */
};

/* Returns true if a promise of that home may have a cell. */
bool weft_record_cells_any(uint64_t home);

/* Returns the promise's cell, locked, or NULL. Sets *held if another thread has locked it. */
struct weft_pending_cell *weft_record_cell_lock(uint64_t id, bool *held);

/* Returns true if the promise has a cell (not only extra ones) and has not ended. */
bool weft_record_cells_has(uint64_t id);

/* Counts how often promises moved between cells and the roll. Whoever finds a promise in neither must look
 * again if the count has changed. */
uint64_t weft_record_cells_moves(void);

/* Returns true if the promise has a cell or is on the roll, so it has not ended. */
bool weft_record_cells_listed(uint64_t id);

void weft_record_cell_unlock(struct weft_pending_cell *c);

/* Takes a cell for a promise of that sort: locked and empty, its number not yet stored. If none is free,
 * another promise loses its cell and goes on the roll: see make_room. Returns no cell if this promise would be
 * the first to lose it, which an important one is not. */
struct new_cell weft_record_cell_take(uint64_t id, uint64_t ticks, unsigned sort, bool important);

/* Publishes a cell that is filled in: now everybody may see it. */
void weft_record_cell_publish(struct new_cell cell, uint64_t id);

/* Publishes a cell and takes the promise off the roll. Returns false, with the cell empty again, if the promise
 * is not on the roll: it has ended, or another thread has given it a cell. */
bool weft_record_cell_move(struct new_cell cell, uint64_t id);

/* Puts a pending promise without a cell on the roll. Returns false if the roll has no place either. */
bool weft_record_cells_give_up(uint64_t id, unsigned sort);

/* About the promise of a locked cell: its sort; that of its creation only the sort is known; that it is marked, or
 * that a marked promise waits for it. */
void weft_record_cell_set_sort(struct weft_pending_cell *c, unsigned sort);
void weft_record_cell_undated(struct weft_pending_cell *c, unsigned sort);
void weft_record_cell_set_important(struct weft_pending_cell *c);

/* … that another promise became it. */
void weft_record_cell_set_needed(struct weft_pending_cell *c);

/* Returns what the promise became, according to one of its cells; 0 if none says so. */
uint64_t weft_record_cells_link(uint64_t id);

/* Returns true if a cell says what the promise became. */
bool weft_record_cells_linked(uint64_t id);

/* Returns true if the promise has a cell and is known to be important. */
bool weft_record_cells_important(uint64_t id);

/* A fact about a promise, as a cell keeps it. */
struct note {
    unsigned kind; /* of an event, or WEFT_NOTE_WAITS_FOR */
    uint64_t ticks;
    uint64_t other;    /* the other promise, or a text */
    uint64_t sequence; /* of the packet that the fact comes from */
};

/* Adds a note to a locked cell, or replaces one that it makes unnecessary. Returns false if the note is a wait
 * and there is no room for it. */
bool weft_record_cell_note(struct weft_pending_cell *c, const struct note *n);

/* Keeps a wait for a promise whose own cell is full, in an extra cell. only: only if an extra cell has it
 * already. Returns false if there is no room. */
bool weft_record_cells_note_more(uint64_t id, const struct note *n, bool only, bool *held);

/* Counts `count` waits for the promise that are kept nowhere. */
void weft_record_cells_leave_out(uint64_t id, unsigned sort, uint64_t count);

/* Returns true if the promise has a cell that knows of its creation. Call it after a fence. */
bool weft_record_cells_born(uint64_t id);

/* The promise has ended, and the event that says so is published: marks all its cells as resolved and takes it
 * off the roll. Returns true if it had cells. */
bool weft_record_cells_resolve(uint64_t id);

/* Empties all cells with that number, marked or not. */
void weft_record_cells_drop(uint64_t id);

/* Forgets the promise, because nothing about it is needed any more or there is no room: afterwards it has no
 * cells and is not on the roll. */
void weft_record_cells_forget(uint64_t id);

/* Records in the trace that the link from a promise to the possibly pending one that it became was dropped: a
 * later wait for that promise leads nowhere. */
void weft_record_cells_let_go(void);

#pragma GCC visibility pop
