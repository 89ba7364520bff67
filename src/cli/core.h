/* SPDX-License-Identifier: ISC */
/* Core files: where the trace is that the process recorded. */
#pragma once

#include "format/error.h"
#include "read/elf_core.h"

/* NULL: the file is no core of this machine's kind, or cannot be opened. The caller closes it. */
struct weft_core *cli_core_open(const char *path);

/* Opens the trace of the process that left a core, which is at path: what the core has of it, or the file that it names.
 * That one is opened only if it is a regular file, and used only if it has a trace of this process, begun before the core was
 * written. If there is none, but a trace of another process is in the core, opens that one. Returns a descriptor, which
 * belongs to the caller; or -1: *err says why there is none, and what helps. */
int cli_core_trace(const struct weft_core *core, const char *path, struct weft_error *err);
