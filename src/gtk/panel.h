/* SPDX-License-Identifier: ISC */
/* The text beside the picture: facts, the visible promises, the counters.
 *
 * It emits "touched" after it has changed something in the explorer. */
#pragma once

#include <gtk/gtk.h>

#include "explore/explore.h"

#define WEFT_TYPE_PANEL (weft_panel_get_type())
G_DECLARE_FINAL_TYPE(WeftPanel, weft_panel, WEFT, PANEL, GtkBox)

/* The explorer is borrowed. */
GtkWidget *weft_panel_new(struct weft_explorer *e);

/* Shows what the explorer says now. */
void weft_panel_show_counters(WeftPanel *panel);
void weft_panel_show_legend(WeftPanel *panel); /* while it can be seen */

/* The same, and returns it as text, one line for each fact or promise; the caller frees it. */
char *weft_panel_show_facts(WeftPanel *panel);
char *weft_panel_show_visible(WeftPanel *panel);

/* The explorer goes away. */
void weft_panel_forget(WeftPanel *panel);

/* Adds a list below the facts. */
void weft_panel_add(WeftPanel *panel, GtkWidget *list);
