/* SPDX-License-Identifier: ISC */
/* Names of keys: GDK's, a browser's (which the commands are written in), and GTK's for showing. */
#ifndef WEFT_GTK_KEYS_H
#define WEFT_GTK_KEYS_H

#include <gtk/gtk.h>

/* Writes the name that browsers use for the key to name. Returns false if it has none that matters. */
bool weft_key_name(guint keyval, char name[16]);

/* A command's keys as GtkShortcutsShortcut wants them: "+ =" becomes "plus equal". As markup; the caller frees it. */
char *weft_key_accelerators(const char *keys);

#endif
