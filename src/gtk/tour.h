/* SPDX-License-Identifier: ISC */
/* A scripted tour through a trace, for measuring what a frame costs. */
#ifndef WEFT_GTK_TOUR_H
#define WEFT_GTK_TOUR_H

#include "gtk/window.h"

/* Zooms and pans through the whole trace and into its details for ten seconds at 60 frames a second; prints
 * what processor time the frames took, all threads together, and closes the window. The picture measures
 * 1600 x 900. To be called for a window whose traces are being read. */
void weft_tour_begin(WeftWindow *w);

#endif
