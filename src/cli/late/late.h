/* SPDX-License-Identifier: ISC */
/* Brings weft into a process that was started without it, and has it begin to record. */
#pragma once

#include "cli/target.h"

enum cli_late {
    CLI_LATE_DONE,   /* it records, or will: see waits */
    CLI_LATE_OTHER,  /* it is no program of this kind; nothing was printed */
    CLI_LATE_FAILED, /* the reason was printed; the process is as it was */
};

struct cli_late_result {
    int64_t stopped_ns; /* for how long a thread of it was stopped */
    int64_t took_ns;    /* for how long it was occupied with that */
    bool waits;         /* it will begin when its main thread runs Python code again */
};

/* A Python process (python.c). path: of the trace, absolute as the process sees it; bytes: its size, 0: the default;
 * wait_ns: for a main thread that does not run Python code. */
enum cli_late cli_late_python(const struct cli_target *t, const char *path, uint64_t bytes,
                              int64_t wait_ns, struct cli_late_result *result);
