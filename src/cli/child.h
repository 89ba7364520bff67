/* SPDX-License-Identifier: ISC */
/* Runs a program as if weft were not there: signals are passed on to it, and weft ends the way it does. One program at
 * a time. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Called in the child, before it becomes the program. */
typedef void cli_child_fn(void *data);

/* Forks; the child calls prepare, which may be NULL, and waits. Returns 0 and its process id, or an errno. */
int cli_child_start(pid_t *pid, char **argv, cli_child_fn *prepare, void *data);

/* Lets the child become the program. Returns 0 as soon as it has, or the errno with which that failed; then the child
 * is gone. */
int cli_child_go(void);

/* That signal goes to another process instead of the program. */
void cli_child_divert(int number, pid_t to);

/* Prints that the program cannot be executed, and returns the exit status that a shell gives then. */
int cli_child_failed(const char *program, int error);

/* Ends the child before it becomes the program. */
void cli_child_cancel(void);

/* Returns true if it has ended; with wait, waits until it has. */
bool cli_child_ended(bool wait, int *status);

/* Ends weft the way the program ended, but without a core file of weft's own. */
_Noreturn void cli_end_as(int status);

/* Prints "; exit status 3", or how else it failed, to standard error. */
void cli_tell_ending(int status);
