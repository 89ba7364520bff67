/* SPDX-License-Identifier: ISC */
/* Files whose names stand in a trace, or in another file: anybody may have written them. */
#ifndef WEFT_SYMBOLS_REGULAR_H
#define WEFT_SYMBOLS_REGULAR_H

/* Opens a regular file for reading, and never anything else: a device may do something when it is opened, a pipe waits,
 * and so does some of what looks like a file in /proc or /sys. Links are followed, but not those of /proc that lead to
 * wherever a process is. root: a folder in which path, and each link on the way, is looked up; its own name is the
 * caller's; or NULL. A descriptor, or -1 and errno. */
int symbols_regular_open(const char *root, const char *path);

/* The same, for a name that the caller has made and not read: it may be a link of /proc. */
int symbols_regular_open_trusted(const char *path);

#endif
