/* SPDX-License-Identifier: ISC */
/* How the program of a trace ended: recorded in the trace, and shown. */
#pragma once

#include <sys/types.h>

#include "read/reader.h"

/* The process has ended with that status, as waitpid says it. A program that is killed, or calls _exit, cannot record
 * when that happened, and its last event may be long before: this matters most for a program that hangs. So the time is
 * added to its trace, at path, and how it ended, which the program itself never knows. The trace of a process that it
 * has started only gets the time at which both were gone. A trace that is still being recorded is not touched. */
void cli_ending_note(const char *path, const char *name, pid_t pid, int status);

/* "exit status 3", "signal 9 (Killed)", or "". */
struct cli_exit_text {
    char text[64];
};
struct cli_exit_text cli_exit_text(const struct weft_exit *e);
