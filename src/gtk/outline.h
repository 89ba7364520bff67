/* SPDX-License-Identifier: ISC */
/* Shows the outline of a trace that is being read. */
#pragma once

#include <gtk/gtk.h>

#include "paint/paint.h"
#include "view/outline.h"

GtkWidget *weft_outline_area_new(void);

/* Takes over the outline; NULL: nothing is shown. name is copied. */
void weft_outline_area_set(GtkWidget *area, struct weft_outline *o, const char *name);
void weft_outline_area_set_looks(GtkWidget *area, enum weft_theme theme, uint16_t text_percent);

/* When something was shown for the first time, by g_get_monotonic_time; 0: not yet. */
int64_t weft_outline_area_shown(GtkWidget *area);
