/* SPDX-License-Identifier: ISC */
/* What weft record injects into programs of other runtimes (adapters/), through their environment, so that they are
 * recorded without changes. */
#ifndef WEFT_CLI_RUNTIMES_H
#define WEFT_CLI_RUNTIMES_H

#include <stdbool.h>
#include <sys/types.h>

#include "cli/program.h"

/* Parses "python,node,ocaml" or "none" into bits. False: unknown name. */
bool cli_runtimes_parse(const char *list, unsigned *chosen);

#define CLI_RUNTIMES_ALL (~0u)

/* Sets the environment that the chosen runtimes need; existing values are kept. sampled: they also have to provide the
 * names of their functions. Call it in the child, before it becomes the program (argv). */
void cli_runtimes_set(unsigned chosen, bool sampled, char **argv);

/* Returns true if OCaml is among them; see cli/rings.h. */
bool cli_runtimes_ocaml(unsigned chosen);

/* Returns true if only cli_runtimes_set, and not also the user, made them provide these names; then
 * cli_runtimes_drop_names removes the files of names that a process has written, once they have been read. */
bool cli_runtimes_names(unsigned chosen);
void cli_runtimes_drop_names(pid_t pid);

/* Prints what is installed, and what each can see. */
void cli_runtimes_list(void);

/* Why a program of a runtime has recorded nothing. Leaves *why unchanged if it is not such a program. */
void cli_runtimes_why(char **argv, unsigned chosen, struct cli_why *why);

#endif
