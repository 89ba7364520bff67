/* SPDX-License-Identifier: ISC */
/* A draw list as a file, for the commands that draw. */
#ifndef WEFT_CLI_PICTURE_H
#define WEFT_CLI_PICTURE_H

#include "cli/common.h"
#include "paint/paint.h"

enum weft__picture_form { WEFT__SVG, WEFT__PNG, WEFT__PDF, WEFT__PICTURE_FORMS };

struct weft__picture {
    const char *out; /* "-": standard output */
    enum weft__picture_form format;
    enum weft_theme theme;
    const char *const *source; /* names of the traces that it shows */
    unsigned sources;
};

/* By the option --format, or NULL, and by what out ends in; exits if neither says it. */
enum weft__picture_form weft__picture_format(const char *command, const char *out,
                                             const char *format);

/* "1600x900", or a width alone: height 0; exits if it is none, or too small or large. */
void weft__picture_size(const char *command, const char *text, int32_t *width_px,
                        int32_t *height_px);

/* What a picture of that file is or a page of that file is called: without its folder. Borrowed. */
const char *weft__picture_title(const char *path);

/* "light", "dark" or "auto"; exits if it is none. */
enum weft_theme weft__picture_theme(const char *command, const char *name);

/* Writes it; tells somebody at a terminal how large it is, and what. Returns the exit status. */
int weft__picture_write(const struct weft__picture *p, const struct weft_drawlist *list,
                        const char *what);

/* ---- flame.c: weft render --flame ---- */

bool weft__flame_wanted(int argc, char **argv);
int weft__flame_run(int argc, char **argv);

#endif
