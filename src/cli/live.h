/* SPDX-License-Identifier: ISC */
/* weft's trace files while a program may be writing them: what their facts say, whether the program still
 * lives, where a process has its trace. */
#ifndef WEFT_CLI_LIVE_H
#define WEFT_CLI_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "format/error.h"
#include "format/packet.h"
#include "read/input.h"

/* Reads the facts with which a file of the recorder begins. False: there are none. */
bool cli_facts_read(int fd, struct weft_facts_header *facts);

/* Whether these are such facts. */
bool cli_facts_valid(const struct weft_facts_header *facts);

/* The process that records into this trace still lives, on this machine. */
bool cli_facts_live(const struct weft_facts_header *facts);

/* Whether a name on the command line is the id of a process: a number, and no file of that name is there. */
bool cli_live_process(const char *name, pid_t *pid);

/* Finds the trace that a process records into and opens it for reading; path says which it is, to be
 * shown. The process may mean harm: what is opened is a regular file which its user may read, whose facts name that
 * process. Returns 0, or a negative WEFT_E code: *err says why there is none. */
int cli_live_open(struct weft_input *in, pid_t pid, char *path, size_t path_size,
                  struct weft_error *err);

#define CLI_LIMIT_BYTES                                                                            \
    (UINT64_C(1) << 30) /* of a trace that is copied, unless the user says another one */

/* Whether a trace is small enough to be copied: it has at most limit bytes; or, if limit is 0, at most CLI_LIMIT_BYTES, or no more
 * than it takes on its disk. Returns 0 or WEFT_E_LIMIT. */
int cli_live_check_size(const struct weft_input *in, uint64_t limit, struct weft_error *err);

/* Finds it in the same way, without a reason, and returns a file descriptor or -1. at: the trace that is mapped at this
 * address, whose path is also given if it cannot be opened; or 0 for any. path is "" if there is none. */
int cli_live_find(pid_t pid, uint64_t at, char *path, size_t path_size);

#endif
