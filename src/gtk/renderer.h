/* SPDX-License-Identifier: ISC */
#ifndef WEFT_GTK_RENDERER_H
#define WEFT_GTK_RENDERER_H

/* Makes GTK draw with cairo if OpenGL would run in software: showing a picture of 1600 x 900 takes that 50 ms of
 * processor time, cairo 2 ms. Call it before there is a window; GSK_RENDERER takes precedence. */
void weft_renderer_choose(void);

#endif
