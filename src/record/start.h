/* SPDX-License-Identifier: ISC */
/* Starting, stopping and switching, as used inside the library by start.c and control.c. */
#ifndef WEFT_RECORD_START_H
#define WEFT_RECORD_START_H

#include <stdbool.h>

#include "record/control.h"
#include "record/record.h"
#include <weft/weft.h>

#pragma GCC visibility push(hidden) /* another copy of the library must not be used */

/* In start.c. The lock is that of weft_start and weft_stop; nothing here waits for it. A thread that holds it
 * cannot be cancelled. */
bool weft_record_try_lock(void);
void weft_record_unlock(void);
bool weft_record_is_locked(void);

/* Call with the lock held. literal: %p in the path has no special meaning. Safe in a signal handler unless it
 * has interrupted one of weft's calls: nothing allocates or waits for a lock, and buffers are static. */
int weft_record_start_locked(const struct weft_options *o, bool literal);
void weft_record_stop_locked(void);

/* Waits until no other thread is in the middle of an event that it began before recording was switched off.
 * Returns false if one still is after a second. */
bool weft_record_others_ended(void);

/* Returns true if the open recording belongs to this process, not to one that it was forked from. */
bool weft_record_is_ours(void);

/* Returns true if it certainly does not, and forked() was not called: this process was created by _Fork or
 * clone. */
bool weft_record_is_orphan(void);

/* In control.c */

extern struct weft_record_control weft_record_control;

/* Resumes or pauses recording. Only while a recording is open. */
void weft_record_switch(bool on);

/* The same in the middle of a recording; the facts then say when that was. The lock is held, or this thread is
 * busy, so that the recording does not end meanwhile. */
void weft_record_switch_over(bool on);

void weft_record_switch_standby(bool on);

/* Called in the child of a fork: forgets the recording and any request. */
void weft_record_control_forked(void);

/* Carries out a request of weft ctl, if there is one. Called by a call of weft.h that has no recording to write
 * to and is not inside another call: afterwards recording may be on or off, and the recording another one. */
void weft_record_asked(void);

/* Returns true if a recording is open and not paused, also while weft ctl asks for something. */
bool weft_record_is_on(void);

#pragma GCC visibility pop

#endif
