/* SPDX-License-Identifier: ISC */
/* Starting, stopping and switching, for those inside the library that do it: start.c and control.c. */
#ifndef WEFT_RECORD_START_H
#define WEFT_RECORD_START_H

#include <stdbool.h>

#include "record/control.h"
#include "record/record.h"
#include <weft/weft.h>

#pragma GCC visibility push(hidden) /* another copy's are not meant */

/* start.c. The lock is that of weft_start and weft_stop; nobody waits for it here. While a thread has it,
 * it cannot be cancelled. */
bool weft_record_try_lock(void);
void weft_record_unlock(void);
bool weft_record_is_locked(void);

/* The lock is held. literal: %p in the path is nothing special. Safe in a signal handler, unless it has
 * interrupted a call of weft's: nothing allocates, no lock is waited for, buffers are static. */
int weft_record_start_locked(const struct weft_options *o, bool literal);
void weft_record_stop_locked(void);

/* Waits until other threads are not in the middle of an event any more that they began before recording was switched off.
 * False: one is still, after a second. */
bool weft_record_others_ended(void);

/* The open recording is that of this process, not of one that it was forked from. */
bool weft_record_is_ours(void);

/* It is not, for sure, and forked() was not called: this process came by _Fork or clone. */
bool weft_record_is_orphan(void);

/* control.c */

extern struct weft_record_control weft_record_control;

/* Recording goes on, or is interrupted. Only while one is open. */
void weft_record_switch(bool on);

/* The same in the middle of a recording, of which the facts then say when that was. The lock is held, or the thread is
 * busy, so that it does not end meanwhile. */
void weft_record_switch_over(bool on);

void weft_record_switch_standby(bool on);

/* In the child of a fork: there is no recording, and no request. */
void weft_record_control_forked(void);

/* Does what weft ctl asks for, if it does. Called by a call that has nowhere to record to and is not in the
 * middle of another one: afterwards, anything may be so. */
void weft_record_asked(void);

/* A recording is open and not paused. Also while weft ctl asks for something. */
bool weft_record_is_on(void);

#pragma GCC visibility pop

#endif
