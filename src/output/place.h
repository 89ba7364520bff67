/* SPDX-License-Identifier: ISC */
/* Finds what is at the place of an output, and who may read it. Internal to output. */
#ifndef WEFT_OUTPUT_PLACE_H
#define WEFT_OUTPUT_PLACE_H

#include <sys/stat.h>

#include "output/output.h"

/* Checks that the rule allows overwriting the file; name: a name by which it can be opened. Returns
 * 0 or a negative WEFT_E code. */
int output_place_check(const char *name, const struct stat *st, const struct weft_output_options *o,
                       struct weft_error *err);

/* The mode for an output, an open file or folder, that replaces the file before; NULL: there is
 * none. */
mode_t output_place_mode(int fd, const struct stat *before, const struct weft_output_options *o);

#endif
