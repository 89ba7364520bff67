/* SPDX-License-Identifier: ISC */
/* A program, looked at from outside: why it may have recorded nothing. */
#ifndef WEFT_CLI_PROGRAM_H
#define WEFT_CLI_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

struct cli_why {
    char text[512];
    bool unlinked; /* it is a program, and weft is not linked into it */
};

/* Why the program, which was named like this on a command line, did not even begin to record, as far as
 * its file tells: a part of a sentence. */
struct cli_why cli_program_why(const char *name);

/* Of a script, what stands behind "#!" in its first line. False: it is none. */
bool cli_program_script(const char *name, char *line, size_t size);

#endif
