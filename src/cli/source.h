/* SPDX-License-Identifier: ISC */
/* Traces by the names that are given on a command line, as files that can be opened. */
#ifndef WEFT_CLI_SOURCE_H
#define WEFT_CLI_SOURCE_H

#include "format/error.h"

/* The path under which a trace is opened: name itself; of a Xen domain's (cli/xen.h), or a process's id
 * (cli_live_process), that of a copy without a name, which is made the first time and stays, so that a command that opens it
 * twice sees the same. Once a domain was copied, this process has no more memory than the machine, or WEFT_E_NOMEM. Valid until the program ends. NULL: *err says why there is none. */
const char *cli_trace_path(const char *name, struct weft_error *err);

/* Likewise for a program that is run in the place of this one. */
const char *cli_trace_path_for_exec(const char *name, struct weft_error *err);

#endif
