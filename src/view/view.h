/* SPDX-License-Identifier: ISC */
/* The picture: a pure function (model, viewport) -> draw list.
 *
 *     struct weft_drawlist list = {0};
 *     struct weft_viewport vp = {.from_ns = 39500000, .to_ns = 47500000, .width_px = 1600};
 *     if (weft_view_draw(&list, model, layout, &vp) == 0)
 *         weft_paint_svg(&list, stdout, 0);
 *
 * The size of the list is bounded by the size of the picture, not of the trace. */
#ifndef WEFT_VIEW_VIEW_H
#define WEFT_VIEW_VIEW_H

#include "view/drawlist.h"
#include "view/layout.h"

#define WEFT_PICTURE_MIN_PX 200
#define WEFT_PICTURE_MAX_PX 16384

struct weft_viewport {
    int64_t from_ns, to_ns; /* from < to, within WEFT_TIME_MAX; both 0: all */
    int32_t width_px;       /* 0: 1600 */
    int32_t height_px;      /* 0: as high as the rows need, within reason */
    uint32_t selected;      /* promise, or WEFT_NONE; 0 (the loop) counts as none */
    const char *search;     /* mark promises with this text in a label or type; may be NULL */
    const char *title;      /* for instance the name of the file; may be NULL */
    bool no_counters;
    bool no_legend;
};

/* Draws into *list, which is empty (all zero) or of an earlier picture. Returns 0, WEFT_E_NOMEM, or
 * WEFT_E_INVALID for a viewport out of range; the list may then be released and nothing else. */
int weft_view_draw(struct weft_drawlist *list, const struct weft_model *m,
                   const struct weft_layout *l, const struct weft_viewport *vp);

/* Whether the text (any case) is in a label, the failure or the type of the promise, or is its
 * number. */
bool weft_view_matches(const struct weft_model *m, uint32_t promise, const char *search);

/* The promise and all that it becomes or that became it, as indices; *count says how many. The caller
 * frees it. NULL: no memory. */
uint32_t *weft_view_chain(const struct weft_model *m, uint32_t promise, uint32_t *count);

#endif
