/* SPDX-License-Identifier: ISC */
/* Cells: what is kept of promises that are still pending when their packet is overwritten. Each is for one
 * promise; docs/format.md says what is in it. Any thread, any time; nobody waits for another. */
#ifndef WEFT_RECORD_CELLS_H
#define WEFT_RECORD_CELLS_H

#include <stdbool.h>
#include <stdint.h>

#include "format/packet.h"

#pragma GCC visibility push(hidden)

/* A cell that is being filled in. */
struct new_cell {
    struct weft_pending_cell *cell; /* locked; NULL: none */
    uint64_t *place;                /* of its number */
};

/* Whether there may be a cell for a promise of that home. */
bool weft_record_cells_any(uint64_t home);

/* The promise's cell, locked; or NULL. *held is set if another thread has locked it. */
struct weft_pending_cell *weft_record_cell_lock(uint64_t id, bool *held);

/* Whether the promise has a cell, not only extra ones, and has not ended. */
bool weft_record_cells_has(uint64_t id);

/* Counts moves of promises between cells and the roll: who finds one in neither must look again if the count has
 * changed. */
uint64_t weft_record_cells_moves(void);

/* Whether the promise has a cell or is on the roll, and so has not ended. */
bool weft_record_cells_listed(uint64_t id);

void weft_record_cell_unlock(struct weft_pending_cell *c);

/* Takes a cell for a promise of that sort (roll.h): locked, empty, its number not yet there. Where there is none,
 * another promise has to go: see make_room. It goes on the roll. No cell: the promise itself would be the first to go. An
 * important one is not. */
struct new_cell weft_record_cell_take(uint64_t id, uint64_t ticks, unsigned sort, bool important);

/* The cell is filled in: everybody may see it. */
void weft_record_cell_publish(struct new_cell cell, uint64_t id);

/* … and it takes the promise off the roll. Returns false if it is not there: it has ended, or another thread has given it
 * a cell. Then the cell is empty again. */
bool weft_record_cell_move(struct new_cell cell, uint64_t id);

/* There is no cell for a promise that is pending: it goes on the roll. Returns false if there is no place either. */
bool weft_record_cells_give_up(uint64_t id, unsigned sort);

/* What a locked cell's promise is: its sort; that it is marked, or what a marked one waits for. */
void weft_record_cell_set_sort(struct weft_pending_cell *c, unsigned sort);
void weft_record_cell_set_important(struct weft_pending_cell *c);

/* … or that another promise became it. */
void weft_record_cell_set_needed(struct weft_pending_cell *c);

/* What the promise became, as a cell of it says. 0: none does. */
uint64_t weft_record_cells_link(uint64_t id);

/* … whether one does. */
bool weft_record_cells_linked(uint64_t id);

/* Returns true if the promise has a cell and is known to be important. */
bool weft_record_cells_important(uint64_t id);

/* Something said of a promise, as it is kept in a cell. */
struct note {
    unsigned kind; /* of an event, or WEFT_NOTE_WAITS_FOR */
    uint64_t ticks;
    uint64_t other;    /* who, or a text */
    uint64_t sequence; /* of its packet */
};

/* Adds a note to a locked cell, or lets it take the place of one that it makes needless. Returns false if it is a wait
 * for which there is no room. */
bool weft_record_cell_note(struct weft_pending_cell *c, const struct note *n);

/* Keeps a wait for a promise whose own cell is full in a further cell of it. only: where it is there already. Returns
 * false if there is no room. */
bool weft_record_cells_note_more(uint64_t id, const struct note *n, bool only, bool *held);

/* So many waits for the promise are kept nowhere. */
void weft_record_cells_leave_out(uint64_t id, unsigned sort, uint64_t count);

/* Whether the promise has a cell that knows of its creation; after a fence. */
bool weft_record_cells_born(uint64_t id);

/* The promise has ended, and the event that says so is there: marks all its cells as resolved, and takes it off the roll.
 * Returns whether there were any cells. */
bool weft_record_cells_resolve(uint64_t id);

/* Empties all cells with that number, which may be marked. */
void weft_record_cells_drop(uint64_t id);

/* Nothing that is known of the promise is needed any more, or there is no room for it: it has no cells, and is not on the
 * roll. */
void weft_record_cells_forget(uint64_t id);

/* What a promise became that may be pending is kept no longer: who begins to wait for it later waits for nothing that is
 * known. */
void weft_record_cells_let_go(void);

#pragma GCC visibility pop

#endif
