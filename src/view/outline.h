/* SPDX-License-Identifier: ISC */
/* The outline of a trace: how much each stream has recorded, and when. The headers of packets say so, before any event is
 * read; so there is a picture at once, however large the trace is. */
#pragma once

#include "read/reader.h"
#include "view/drawlist.h"

struct weft_outline;

/* Of a reader that was just opened. On success the caller owns *out; NULL if nothing is known, as in formats without such
 * packets. Takes the same memory for any trace. Returns 0 or WEFT_E_NOMEM. */
int weft_outline_new(struct weft_outline **out, const struct weft_reader *r);
void weft_outline_free(struct weft_outline *o);

/* Makes a list that has that size in pixels. name: of the trace. Returns 0 or WEFT_E_NOMEM. */
int weft_outline_draw(struct weft_drawlist *list, const struct weft_outline *o, const char *name,
                      int32_t width_px, int32_t height_px, uint16_t text_percent);
