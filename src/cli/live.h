/* SPDX-License-Identifier: ISC */
/* weft's trace files while a program may be writing them: what their facts say, whether the program still
 * lives, where a process has its trace. */
#ifndef WEFT_CLI_LIVE_H
#define WEFT_CLI_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "format/packet.h"

/* Reads the facts with which a file of the recorder begins. False: there are none. */
bool weft__facts_read(int fd, struct weft_facts_header *facts);

/* Whether these are such facts. */
bool weft__facts_valid(const struct weft_facts_header *facts);

/* The process that records into this trace still lives, on this machine. */
bool weft__facts_live(const struct weft_facts_header *facts);

/* Finds the trace that a process records into and opens it for reading; path says which it is, to be
 * shown. Returns a file descriptor, or -1 after saying why there is none. */
int weft__live_open(pid_t pid, char *path, size_t path_size);

/* The same, saying nothing. at: the trace that is mapped at this address, whose path is also given if it
 * cannot be opened; or 0 for any. path is "" if there is none. */
int weft__live_find(pid_t pid, uint64_t at, char *path, size_t path_size);

#endif
