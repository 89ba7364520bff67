/* SPDX-License-Identifier: ISC */
/* weft's trace files while a program may still be writing them: what their facts say, whether the program is alive,
 * where a process has its trace. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "format/error.h"
#include "format/packet.h"
#include "read/input.h"

/* Reads the facts of a recorder's file. False: there are none. */
bool cli_facts_at(const char *path, struct weft_facts_header *facts);

/* What is at a place where a trace may be put. */
enum cli_stands { CLI_NOTHING, CLI_EMPTY, CLI_A_TRACE, CLI_SOMETHING, CLI_LIVE };

/* *pid: the process that records there, if it is CLI_LIVE. */
enum cli_stands cli_what_stands(const char *path, uint32_t *pid);

/* The absolute path of a name, with the process id for every %p. False: it is too long. */
bool cli_absolute(char *path, size_t size, const char *name, pid_t pid);

/* Returns true if a name on the command line is a process id: a number, and no file has that name. */
bool cli_live_process(const char *name, pid_t *pid);

/* Finds the trace that a process records into and opens it for reading; path is its name, to be shown. The process may
 * be malicious: only a regular file is opened that the process's user may read and whose facts name that process.
 * Returns 0, or a negative WEFT_E code; *err then says why there is none. */
int cli_live_open(struct weft_input *in, pid_t pid, char *path, size_t path_size,
                  struct weft_error *err);

#define CLI_LIMIT_BYTES                                                                            \
    (UINT64_C(1) << 30) /* maximum size of a trace that is copied, unless the user sets another */

/* Checks that a trace is small enough to be copied: it has at most limit bytes or, if limit is 0, at most
 * CLI_LIMIT_BYTES or no more than it takes on disk. Returns 0 or WEFT_E_LIMIT. */
int cli_live_check_size(const struct weft_input *in, uint64_t limit, struct weft_error *err);

/* Finds it in the same way, but gives no reason on failure; returns a file descriptor or -1. at: only the trace that is
 * mapped at this address, whose path is returned even if it cannot be opened; 0: any. path is "" if there is none. */
int cli_live_find(pid_t pid, uint64_t at, char *path, size_t path_size);

/* There is such a process, it may be looked at, its files answer, and none of them is a trace. */
bool cli_live_records_nothing(pid_t pid);
