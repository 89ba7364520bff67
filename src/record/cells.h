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
bool weft__cells_any(uint64_t home);

/* The cell that has the number, locked; or NULL. *held is set if another thread has locked it. */
struct weft_pending_cell *weft__cell_lock(uint64_t id, bool *held);

void weft__cell_unlock(struct weft_pending_cell *c);

/* Takes a cell for the promise: locked, empty, its number not yet there. There may be no room; who is forgotten
 * for it is counted. */
struct new_cell weft__cell_take(uint64_t id, uint64_t ticks);

/* The cell is filled in: everybody may see it. */
void weft__cell_publish(struct new_cell cell, uint64_t id);

/* Adds an event to a locked cell, or lets it take the place of one that it makes needless. other: who, or a
 * text; sequence: of its packet. */
void weft__cell_note(struct weft_pending_cell *c, unsigned kind, uint64_t ticks, uint64_t other,
                     uint64_t sequence);

/* Whether the promise has a cell that knows of its creation; after a fence. */
bool weft__cells_born(uint64_t id);

/* Marks all cells of the promise as resolved: the event that says so is there. Returns whether there were
 * any. */
bool weft__cells_resolve(uint64_t id);

/* Empties all cells with that number, which may be marked. */
void weft__cells_drop(uint64_t id);

#pragma GCC visibility pop

#endif
