/* SPDX-License-Identifier: ISC */
/* What is removed when a signal ends the process. Internal to output. */
#ifndef WEFT_OUTPUT_UNFINISHED_H
#define WEFT_OUTPUT_UNFINISHED_H

#include <signal.h>
#include <stdbool.h>

/* From here on signals wait, so that what is made is known before one can end the process. */
void output_unfinished_hold(sigset_t *before);

/* Remembers path, a file's or that of a folder with files, until it is forgotten; signals come again. NULL: nothing was
 * made. */
void output_unfinished_keep(const char *path, bool folder, const sigset_t *before);

/* Nothing is to be removed any more. */
void output_unfinished_forget(void);

/* Removes a folder and the files in it. */
void output_folder_remove(const char *path);

#endif
