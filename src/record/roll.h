/* SPDX-License-Identifier: ISC */
/* The roll: the list of pending promises that have no cell, by number and sort. A sort is all promises created
 * at one site; the roll also counts how common each sort is. All functions may be called from any thread at any
 * time, and none waits for another thread. docs/format.md, "The roll", describes the packet. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Returns the index of the sort of promises with that site. 0 if site is 0 or there are too many sorts. */
unsigned weft_record_roll_sort(uint32_t site);

/* Returns the site of a sort, or 0. */
uint32_t weft_record_roll_site(unsigned sort);

/* How many promises of the sort have cells. Whoever fills or empties a cell calls weft_record_roll_count. */
uint32_t weft_record_roll_cells(unsigned sort);
void weft_record_roll_count(unsigned sort, int cells);

/* Counts facts about promises of that sort that are kept nowhere. */
void weft_record_roll_leave_out(unsigned sort, uint64_t count);

/* Puts a promise on the roll. If there is no place, counts it as unlisted and returns false. */
bool weft_record_roll_add(uint64_t id, unsigned sort);

/* … marked as fresh: none of its events has been overwritten, and its sort is not needed yet. Returns false if
 * there is no place; then count it by weft_record_roll_unlisted. */
bool weft_record_roll_add_fresh(uint64_t id);

/* Counts a promise of that sort for which the roll has no place. */
void weft_record_roll_unlisted(unsigned sort);

/* Undoes weft_record_roll_add, because the promise has ended meanwhile. added: what weft_record_roll_add
 * returned. */
void weft_record_roll_undo(uint64_t id, unsigned sort, bool added);

/* Returns true if the promise is on the roll, with its sort, or WEFT_ROLL_FRESH, in *sort. */
bool weft_record_roll_find(uint64_t id, unsigned *sort);

/* Gives a fresh promise its sort. Returns false if it is not on the roll or has a sort already. */
bool weft_record_roll_set_sort(uint64_t id, unsigned sort);

/* Takes a promise off the roll, because it has ended or has a cell again. Returns false if it is not on the
 * roll. */
bool weft_record_roll_drop(uint64_t id);

/* … only if its sort is still that one. */
bool weft_record_roll_drop_from(uint64_t id, unsigned sort);

#pragma GCC visibility pop
