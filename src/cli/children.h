/* SPDX-License-Identifier: ISC */
/* The traces of processes that a recorded program has forked; record/follow.c writes them. */
#ifndef WEFT_CLI_CHILDREN_H
#define WEFT_CLI_CHILDREN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The pattern of their names, with %p for the process id, for a program that records into path: either the given name
 * contains %p, or "-%p" is inserted before its ending. False: it is too long. */
bool cli_children_pattern(char *pattern, size_t size, const char *path, const char *given);

/* Returns true if the program of this trace forked while it was recorded. */
bool cli_children_there(const char *path);

/* Lists on standard error the traces that were begun since then (CLOCK_MONOTONIC), except that of the program itself.
 * Returns how many. */
unsigned cli_children_tell(const char *pattern, pid_t program, uint64_t since_ns);

/* Calls the function for each of their processes. */
void cli_children_each(const char *pattern, pid_t program, uint64_t since_ns, void (*call)(pid_t));

/* Renames the trace of the first child that began since then to path. Returns its process; 0: there is none, or it
 * cannot be renamed. */
pid_t cli_children_adopt(const char *pattern, uint64_t since_ns, const char *path);

/* A name as it is shown: without the folder, if that is the current directory. */
const char *cli_children_shown(const char *path);

#endif
