/* SPDX-License-Identifier: ISC */
/* Names for functions that traces mention by their address (format/names.h). */
#pragma once

#include <sys/types.h>

/* Looks up the places in code that a trace mentions, and appends their names to it. Does nothing if it is being
 * recorded, was recorded on another machine or before this one was last started, or mentions no place that was not
 * looked up. If owner is somebody else, it only says so: others must not choose which of our files are looked at, and
 * may be able to read the trace. fd: the trace, a regular file, open for reading and writing; owner: of the trace that
 * it was made from; name: what messages call it. What fails is printed; the trace is complete without names. What was
 * found is kept for the next traces. */
void cli_names_append(int fd, uid_t owner, const char *name);

/* The same for the trace at path, if it can be opened. */
void cli_names_append_at(const char *path, const char *name);
