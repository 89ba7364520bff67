/* SPDX-License-Identifier: ISC */
/* What weft record puts into programs of other runtimes (adapters/), by their environment, so that they are recorded
 * though nobody changed them. */
#ifndef WEFT_CLI_RUNTIMES_H
#define WEFT_CLI_RUNTIMES_H

#include <stdbool.h>
#include <sys/types.h>

#include "cli/program.h"

/* "python,node,ocaml", "none": bits for those. False: there is none of that name. */
bool cli_runtimes_parse(const char *list, unsigned *chosen);

#define CLI_RUNTIMES_ALL (~0u)

/* Sets what the chosen ones need; what is there already stays. sampled: they are to tell the names of their functions,
 * too. In the child, before it becomes the program (argv). */
void cli_runtimes_set(unsigned chosen, bool sampled, char **argv);

/* Whether OCaml is among them; see cli/rings.h. */
bool cli_runtimes_ocaml(unsigned chosen);

/* Whether it was cli_runtimes_set alone that had them tell these names, and not the user as well; then cli_runtimes_drop_names removes
 * what a process has written of them, once they are known. */
bool cli_runtimes_names(unsigned chosen);
void cli_runtimes_drop_names(pid_t pid);

/* Prints what is installed, and what each can see. */
void cli_runtimes_list(void);

/* Why a program of a runtime has recorded nothing. Leaves *why alone if it is none. */
void cli_runtimes_why(char **argv, unsigned chosen, struct cli_why *why);

#endif
