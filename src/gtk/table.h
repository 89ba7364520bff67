/* SPDX-License-Identifier: ISC */
/* The table below the picture: what explore/table.h says, with a histogram of the chosen row. It emits "touched" after
 * it has changed the explorer. */
#pragma once

#include <gtk/gtk.h>

#include "explore/table.h"

#define WEFT_TYPE_TABLE (weft_table_get_type())
G_DECLARE_FINAL_TYPE(WeftTable, weft_table, WEFT, TABLE, GtkBox)

/* The explorer is borrowed. */
GtkWidget *weft_table_new(struct weft_explorer *e);

/* Shows what the explorer says now; hides the table if it is closed. */
void weft_table_update(WeftTable *table);

/* The explorer goes away. */
void weft_table_forget(WeftTable *table);
