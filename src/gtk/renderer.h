/* SPDX-License-Identifier: ISC */
#ifndef WEFT_GTK_RENDERER_H
#define WEFT_GTK_RENDERER_H

/* Lets GTK draw by cairo where OpenGL would be done in software: that takes 50 ms of processor time to show
 * a picture of 1600 x 900, cairo 2 ms. To be called before there is a window; GSK_RENDERER prevails. */
void weft_renderer_choose(void);

#endif
