/* SPDX-License-Identifier: ISC */
/* What the programs here have in common: `NAME bad` has a fault, `NAME good` is the same without it. Each file
 * begins with what is wrong and how it is mended, and does one or the other where it asks for bad. */
#ifndef EXAMPLES_BUGS_H
#define EXAMPLES_BUGS_H

#include "../loop.h"

/* What the command line says; another one ends the program. */
bool wants_bad(int argc, char **argv);

/* Runs a program on the event loop of ../loop.h: the task main, which begins with start, and ends with program_done.
 * Returns main's status: 1 if the program was not done after 250 ms, and was given up. */
int program_run(callback *start);
void program_done(void);

uint64_t time_ns(void);

/* Stand for what keeps the processor busy, and for a call that blocks. */
void work(uint64_t duration_ns);
void nap(uint64_t duration_ns);

#endif
