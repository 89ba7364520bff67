/* SPDX-License-Identifier: ISC */
/* Removes unfinished output when a signal ends the process. Internal to output. */
#ifndef WEFT_OUTPUT_UNFINISHED_H
#define WEFT_OUTPUT_UNFINISHED_H

#include <signal.h>
#include <stdbool.h>

/* Blocks signals from here on, so that what is created is registered before a signal can end the
 * process. */
void output_unfinished_hold(sigset_t *before);

/* Registers path, of a file or of a folder with files, until it is forgotten, and unblocks signals.
 * NULL: nothing was created. */
void output_unfinished_keep(const char *path, bool folder, const sigset_t *before);

/* Nothing has to be removed any more. */
void output_unfinished_forget(void);

/* Removes a folder and the files in it. */
void output_folder_remove(const char *path);

#endif
