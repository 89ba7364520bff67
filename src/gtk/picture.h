/* SPDX-License-Identifier: ISC */
/* The widget that shows an explorer's picture and carries pointer and wheel into it.
 *
 * It emits "touched" after each event that has reached the explorer; the explorer's owner then asks it what has changed
 * and calls weft_picture_redraw. The picture is painted at most once a frame. */
#pragma once

#include <gtk/gtk.h>

#include "explore/explore.h"
#include "paint/paint.h"

#define WEFT_TYPE_PICTURE (weft_picture_get_type())
G_DECLARE_FINAL_TYPE(WeftPicture, weft_picture, WEFT, PICTURE, GtkWidget)

/* The explorer is borrowed. */
GtkWidget *weft_picture_new(struct weft_explorer *e);

/* The picture is out of date. */
void weft_picture_redraw(WeftPicture *picture);

void weft_picture_set_theme(WeftPicture *picture, enum weft_theme theme);

/* Returns true if nothing is left to be drawn, or if the picture is not visible. */
bool weft_picture_is_drawn(WeftPicture *picture);

/* A text beside the pointer; "": none. */
void weft_picture_set_tip(WeftPicture *picture, const char *text);

/* From now on nothing but the background is painted: the least that a frame costs. */
void weft_picture_empty(WeftPicture *picture);

/* The explorer goes away; later events are ignored. */
void weft_picture_forget(WeftPicture *picture);

/* The modifiers of an event as the explorer counts them. */
unsigned weft_picture_mods(GdkModifierType state);
