/* SPDX-License-Identifier: ISC */
/* A line of the panel's lists. */
#ifndef WEFT_GTK_ITEM_H
#define WEFT_GTK_ITEM_H

#include <gtk/gtk.h>

enum weft_item_kind {
    WEFT_ITEM_TEXT,
    WEFT_ITEM_HEADING,
    WEFT_ITEM_LINK,
    WEFT_ITEM_CHECK,
};

#define WEFT_TYPE_ITEM (weft_item_get_type())
G_DECLARE_FINAL_TYPE(WeftItem, weft_item, WEFT, ITEM, GObject)

struct _WeftItem {
    GObject parent;
    enum weft_item_kind kind;
    char *name, *text;
    bool named; /* has a column for its name */
    bool bad, checked;
    guint index, pane; /* what the explorer calls it */
};

WeftItem *weft_item_new(enum weft_item_kind kind, const char *name, const char *text);

/* Replaces the items of the list, unless they look the same; takes ownership of the new ones. view is the widget that
 * shows the list: if it has the focus, it keeps it. */
void weft_items_replace(GListStore *list, GtkWidget *view, GPtrArray *items);

typedef void weft_item_fn(void *data, WeftItem *item);

/* A list of items. chosen is called when a link or a check box is clicked. */
GtkWidget *weft_items_view(GListStore *list, const char *label, weft_item_fn *chosen, void *data);

/* "name\ttext", a line each; the caller frees it. */
char *weft_items_text(GListStore *list);

#endif
