/* SPDX-License-Identifier: ISC */
/* Turns the names of traces on a command line into files that can be opened. */
#pragma once

#include "format/error.h"

/* The path under which a trace is opened: the name itself or, for a Xen domain (cli/xen.h) or a process id
 * (cli_live_process), the path of an unnamed copy; for a core file (cli/core.h), that of its trace. Of a process or core that
 * records nothing, what is seen of it from outside is made a trace (now/trace.h), and that is said. The copy is made the first time and kept, so that a command that
 * opens it twice sees the same. Once a domain was copied, the memory of this process is limited to what the machine
 * has; beyond that, WEFT_E_NOMEM. Valid until the program ends. NULL: *err says why there is none. */
const char *cli_trace_path(const char *name, struct weft_error *err);

/* The same for a file; a core without a trace is not looked at instead. */
const char *cli_trace_recorded(const char *name, struct weft_error *err);

/* Where cli_trace_path has found that trace if it is not the file of that name; or NULL. */
const char *cli_trace_found(const char *name);

/* The same for a program that replaces this one. */
const char *cli_trace_path_for_exec(const char *name, struct weft_error *err);
