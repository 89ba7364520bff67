/* SPDX-License-Identifier: ISC */
/* What the window remembers from one time to the next, in weft/view.ini below the user's configuration. */
#ifndef WEFT_GTK_SETTINGS_H
#define WEFT_GTK_SETTINGS_H

#include <stdbool.h>

struct weft_settings {
    int width, height, panel_width;
    bool maximized, panel;
    int text_percent;
    char theme[8]; /* "light", "dark", or "" for what the desktop says */
};

/* Those of the program, read when they are asked for first: what is not there, or makes no sense, is the
 * default. */
struct weft_settings *weft_settings(void);

/* Keeps them. Failure is of no consequence. */
void weft_settings_write(void);

#endif
