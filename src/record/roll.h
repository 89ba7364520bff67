/* SPDX-License-Identifier: ISC */
/* The roll: pending promises that have no cell, by number and sort; and how common each sort is. Any thread, any
 * time; nobody waits for another. docs/format.md, "The roll", says what is in the packet. */
#ifndef WEFT_RECORD_ROLL_H
#define WEFT_RECORD_ROLL_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* The index of the sort of promises with that site. 0: the site is 0, or there are too many sorts. */
unsigned weft_record_roll_sort(uint32_t site);

/* The site of a sort, or 0. */
uint32_t weft_record_roll_site(unsigned sort);

/* How many promises of the sort have cells. They are counted by whoever fills and empties cells. */
uint32_t weft_record_roll_cells(unsigned sort);
void weft_record_roll_count(unsigned sort, int cells);

/* Something that was said of a promise of that sort is kept nowhere. */
void weft_record_roll_leave_out(unsigned sort, uint64_t count);

/* Puts a promise on the roll. Where there is no place it is counted as unlisted, and false is returned. */
bool weft_record_roll_add(uint64_t id, unsigned sort);

/* … as one of which nothing has been overwritten: its sort is not yet asked for. Where there is no place, false: to be
 * counted by weft_record_roll_unlisted. */
bool weft_record_roll_add_fresh(uint64_t id);

/* There is no place for a promise of that sort. */
void weft_record_roll_unlisted(unsigned sort);

/* Takes that back: it has ended meanwhile. added: whether there was a place. */
void weft_record_roll_undo(uint64_t id, unsigned sort, bool added);

/* Returns true if the promise is on the roll, and its sort, or WEFT_ROLL_FRESH, in *sort. */
bool weft_record_roll_find(uint64_t id, unsigned *sort);

/* Gives it a sort, which it has not had so far. Returns false if it is not there, or has one. */
bool weft_record_roll_set_sort(uint64_t id, unsigned sort);

/* Takes a promise off the roll, because it has ended or has a cell again. Returns false if it is not there. */
bool weft_record_roll_drop(uint64_t id);

#pragma GCC visibility pop

#endif
