/* SPDX-License-Identifier: ISC */
/* What the window remembers between runs, in weft/view.ini below the user's configuration. */
#ifndef WEFT_GTK_SETTINGS_H
#define WEFT_GTK_SETTINGS_H

#include <stdbool.h>

struct weft_settings {
    int width, height, panel_width;
    bool maximized, panel;
    int text_percent;
    char theme[8]; /* "light", "dark", or "" for the desktop's setting */
};

/* The program's settings, read on first use: whatever is missing or makes no sense gets its default. */
struct weft_settings *weft_settings(void);

/* Saves them. Failures are ignored. */
void weft_settings_write(void);

#endif
