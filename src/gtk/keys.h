/* SPDX-License-Identifier: ISC */
/* Names of keys: GDK's, a browser's (which the commands are written in), and GTK's for showing. */
#ifndef WEFT_GTK_KEYS_H
#define WEFT_GTK_KEYS_H

#include <gtk/gtk.h>

/* The name that a browser has for the key, in name. Returns false if it has none that matters. */
bool weft_key_name(guint keyval, char name[16]);

/* What a command's keys are for GtkShortcutsShortcut: "+ =" becomes "plus equal". As
 * markup; the caller frees it. */
char *weft_key_accelerators(const char *keys);

#endif
