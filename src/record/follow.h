/* SPDX-License-Identifier: ISC */
/* What happens in the children of a fork, if the environment says that the program is to be recorded. */
#ifndef WEFT_RECORD_FOLLOW_H
#define WEFT_RECORD_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* From now on forked children record, too, each from its first call on. Each writes to path, with its process
 * id for %p. At most 64 children and descendants do so. Call it once, before there are threads. */
void weft_record_follow(const char *path, uint64_t bytes, unsigned flags);

/* Called in a forked child, before it forgets what its parent did. recorded: the parent was recording. */
void weft_record_follow_forked(bool recorded);

/* Called in the parent after a fork. Safe in a signal handler, like fork. */
void weft_record_follow_parent(void);

/* Returns true if this process is to start a recording with its next call. */
bool weft_record_follow_is_due(void);

/* Starts that recording. Call with the lock of weft_start held. */
void weft_record_follow_begin(void);

/* Cancels that: the process starts or stops a recording itself. */
void weft_record_follow_drop(void);

#pragma GCC visibility pop

#endif
