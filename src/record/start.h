/* SPDX-License-Identifier: ISC */
/* Starting, stopping and switching, as used inside the library by start.c and control.c. */
#pragma once

#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

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

/* Adds key=yes to the facts of the open recording, if there is one and the lock is free. *noted: the generation
 * of the recording that has it already; 0 at first. */
void weft_record_note_once(uint32_t *noted, const char *key);

/* Returns true if the open recording belongs to this process, not to one that it was forked from. */
bool weft_record_is_ours(void);

/* Returns true if it certainly does not, and forked() was not called: this process was created by _Fork or
 * clone. */
bool weft_record_is_orphan(void);

/* ---- The file of a recording: creating, locking, mapping and naming it (file.c) ---- */

/* All of these are called under that lock, so buffers are static. All are safe in a signal handler. */

struct weft_record_file {
    unsigned char *map; /* the whole file */
    bool named;         /* it has a temporary name: publish gives it its own */
};

/* Creates a file of that size beside path, and maps it. %p in path is replaced by the process id unless literal
 * is true. Returns 0 or a negative errno, also if the file at path may not be replaced. */
int weft_record_file_make(struct weft_record_file *f, const char *path, bool literal,
                          uint64_t bytes);

/* Gives the file its final name. A trace that had this name and no writer is replaced; but one that this
 * process wrote before exec is kept as FILE.1. */
int weft_record_file_publish(struct weft_record_file *f);

/* Maps sealed memory (which cannot be made smaller) instead of a file. fd stays open. -EBADF: fd is not such
 * memory. */
int weft_record_file_take(struct weft_record_file *f, int fd, uint64_t bytes);

/* Undoes make or take. */
void weft_record_file_drop(struct weft_record_file *f, uint64_t bytes);

/* ---- Processes that begin to record with their first call, if the environment says so (follow.c) ---- */

/* From now on forked children record, too, each from its first call on. Each writes to path, with its process
 * id for %p; NULL: they do not. At most 64 children and descendants do so. own: this process does the same, into this
 * file, or with NULL into path; "": it records already. The options are for all of them. Call it once, before there are
 * threads. */
void weft_record_follow(const char *own, const char *path, const struct weft_options *o);

/* The options have memory, which is behind this descriptor: it is closed when the recording begins. */
void weft_record_follow_memory(int fd);

/* Called in a forked child, before it forgets what its parent did. recorded: the parent was recording. */
void weft_record_follow_forked(bool recorded);

/* Called in the parent after a fork. Safe in a signal handler, like fork. */
void weft_record_follow_parent(void);

/* Returns true if this process is to start a recording with its next call. */
bool weft_record_follow_is_due(void);

/* Starts that recording. Call with the lock of weft_start held. */
void weft_record_follow_begin(void);

/* Waits while another thread starts that recording, at most a second: the first events of this thread belong to it, too. */
void weft_record_follow_wait(void);

/* Cancels that: the process starts or stops a recording itself. */
void weft_record_follow_drop(void);

/* ---- membarrier(2). The kernel's own header is not part of every libc. ---- */

enum {
    MEMBARRIER_PRIVATE_EXPEDITED = 1 << 3,
    MEMBARRIER_REGISTER_PRIVATE_EXPEDITED = 1 << 4,
};

/* Negative if the system does not support it. */
static inline int membarrier(int command)
{
    return (int)syscall(SYS_membarrier, command, 0, 0);
}

/* ---- Switching (control.c) ---- */

extern struct weft_record_control weft_record_control;

/* Resumes or pauses recording. Only while a recording is open. */
void weft_record_switch(bool on);

/* The same in the middle of a recording; the facts then say when that was. The lock is held, or this thread is
 * busy, so that the recording does not end meanwhile. */
void weft_record_switch_over(bool on);

void weft_record_switch_standby(bool on);

/* Where weft ctl lets a thread go on that it has interrupted. It cannot be called from C. */
void weft_record_interrupted(void);

/* Called in the child of a fork: forgets the recording and any request. */
void weft_record_control_forked(void);

#pragma GCC visibility pop
