/* SPDX-License-Identifier: ISC */
/* Names for functions that traces mention by their address (format/names.h). */
#pragma once

/* Looks up the places in code that a trace mentions, and appends their names to it. Does nothing if it is being
 * recorded, was recorded on another machine or before this one was last started, or mentions no place that was not
 * looked up. fd: the trace, a regular file, open for reading and writing; name: what messages call it. What fails is
 * printed; the trace is complete without names. What was found is kept for the next traces. */
void cli_names_append(int fd, const char *name);
