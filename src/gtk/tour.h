/* SPDX-License-Identifier: ISC */
/* A scripted tour through a trace, for measuring what a frame costs. */
#ifndef WEFT_GTK_TOUR_H
#define WEFT_GTK_TOUR_H

#include "gtk/window.h"

/* Zooms and pans through the whole trace and into its details for ten seconds at 60 frames a second; prints the
 * processor time of the frames, all threads together, and closes the window. The picture is 1600 x 900. Call it for a
 * window whose traces are being read. */
void weft_tour_begin(WeftWindow *w);

#endif
