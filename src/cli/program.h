/* SPDX-License-Identifier: ISC */
/* Examines a program's file: why it may have recorded nothing. */
#ifndef WEFT_CLI_PROGRAM_H
#define WEFT_CLI_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

struct cli_why {
    char text[512];
    bool unlinked; /* it is a program without weft linked into it */
};

/* Why the program, named like this on a command line, did not even begin to record, as far as its file shows: a part of
 * a sentence. */
struct cli_why cli_program_why(const char *name);

/* For a script, the text after "#!" in its first line. False: it is not a script. */
bool cli_program_script(const char *name, char *line, size_t size);

#endif
