/* SPDX-License-Identifier: ISC */
/* What weft record puts into programs of other runtimes (adapters/), by their environment, so that they are recorded
 * though nobody changed them. */
#ifndef WEFT_CLI_RUNTIMES_H
#define WEFT_CLI_RUNTIMES_H

#include <stdbool.h>

#include "cli/program.h"

/* "python,node", "none": bits for those. False: there is none of that name. */
bool weft__runtimes_parse(const char *list, unsigned *chosen);

#define WEFT__RUNTIMES_ALL (~0u)

/* Sets what the chosen ones need; what is there already stays. In the child, before it becomes the program (argv). */
void weft__runtimes_set(unsigned chosen, char **argv);

/* Prints what is installed, and what each can see. */
void weft__runtimes_list(void);

/* Why a program of a runtime has recorded nothing. Leaves *why alone if it is none. */
void weft__runtimes_why(char **argv, unsigned chosen, struct weft__why *why);

#endif
