/* SPDX-License-Identifier: ISC */
/* A program that is run as if without weft: signals go on to it, and weft ends as it does. One at a time. */
#ifndef WEFT_CLI_CHILD_H
#define WEFT_CLI_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/* Called in the child, before it becomes the program. */
typedef void cli_child_fn(void *data);

/* Forks; the child calls prepare, which may be NULL, and waits. Returns 0 and its process id, or an errno. */
int cli_child_start(pid_t *pid, char **argv, cli_child_fn *prepare, void *data);

/* Lets it become the program. Returns 0 as soon as it has, or the errno with which it could not; then it is gone. */
int cli_child_go(void);

/* It does not become the program, and is gone. */
void cli_child_cancel(void);

/* Whether it has ended, or with wait: waits until it has. */
bool cli_child_ended(bool wait, int *status);

/* Ends as the program did. A core file is its own, not ours. */
_Noreturn void cli_end_as(int status);

/* "; exit status 3" or how else it has failed, to standard error. */
void cli_tell_ending(int status);

#endif
