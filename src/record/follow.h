/* SPDX-License-Identifier: ISC */
/* What becomes of the children of a fork, in a program whose environment says that it is to be recorded. */
#ifndef WEFT_RECORD_FOLLOW_H
#define WEFT_RECORD_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* From now on children record, too, each from its first call on, into a file of that name with its process id for %p;
 * at most 64 of them and their descendants. Once, before there are threads. */
void weft_record_follow(const char *path, uint64_t bytes, unsigned flags);

/* In a child, before it forgets what its parent did; recorded: that was recording. */
void weft_record_follow_forked(bool recorded);

/* In the parent. Safe in a signal handler, as fork is. */
void weft_record_follow_parent(void);

/* This process is to begin a recording with its next call. */
bool weft_record_follow_is_due(void);

/* Begins it. The lock of weft_start is held. */
void weft_record_follow_begin(void);

/* It is not to: it begins or ends one by itself. */
void weft_record_follow_drop(void);

#pragma GCC visibility pop

#endif
