/* SPDX-License-Identifier: ISC */
/* How a program ended whose trace is there: noted in the trace, and told. */
#ifndef WEFT_CLI_ENDING_H
#define WEFT_CLI_ENDING_H

#include <sys/types.h>

#include "read/reader.h"

/* The process has ended with that status, as waitpid says it. A program that is killed, or calls _exit, cannot say when,
 * and its last event may be long ago: just what one wants to know of one that hangs. So its trace, at path, gets the time;
 * and how it ended, which it never knows. That of a process which it has started gets the time only, at which both were gone.
 * Nothing is done to a trace that is being recorded. */
void cli_ending_note(const char *path, const char *name, pid_t pid, int status);

/* "exit status 3", "signal 9 (Killed)", or "". */
struct cli_exit_text {
    char text[64];
};
struct cli_exit_text cli_exit_text(const struct weft_exit *e);

#endif
