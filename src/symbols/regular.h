/* SPDX-License-Identifier: ISC */
/* Opens files whose names come from a trace or from another file: anybody may have written them. */
#pragma once

/* Opens a regular file for reading, and never anything else: opening a device may have effects, a
 * pipe blocks, and so do some things in /proc or /sys that look like files. Links are followed,
 * except those in /proc that lead to wherever a process is. root: the directory in which path, and
 * each link on the way, is resolved; its own name must come from the caller; or NULL. Returns a
 * descriptor, or -1 and sets errno. */
int symbols_regular_open(const char *root, const char *path);

/* The same, for a name that the caller made itself and did not read from a file: it may be a link
 * in /proc. */
int symbols_regular_open_trusted(const char *path);
