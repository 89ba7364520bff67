/* SPDX-License-Identifier: ISC */
/* A flame graph: where the time of many samples went, as nested boxes. The outermost frame is at the top, the frames it
 * called below it; the width of a box is its share. A pure function (tree, options) -> draw list, in integers.
 *
 *     struct weft_flame flame = {0};
 *     if (weft_flame_draw(&list, &flame, profile, tree, &(struct weft_flame_options){.tips = true}) == 0)
 *         weft_paint_svg(&list, stdout, WEFT_AUTO);
 *     weft_flame_fini(&flame);
 *
 * Neighbouring frames narrower than a pixel share one box. So there are at most (width in pixels) x (depth) boxes,
 * however large the tree is; the layout does not visit what is below a box that is too narrow. */
#pragma once

#include "base/count.h"
#include "profile/calltree.h"
#include "view/drawlist.h"

struct weft_flame_box {
    uint32_t node;          /* call of the tree; of several, the first */
    uint32_t merged;        /* how many frames, side by side; 1: one */
    uint32_t row;           /* from 0, at the top */
    int32_t x0, x1;         /* coordinate units */
    uint64_t total, before; /* amounts: its own, and the sum of those to its left */
};

/* Where everything lies. All zero at first; the next layout reuses it. */
struct weft_flame {
    struct weft_flame_box *box; /* row by row, from left to right */
    uint32_t boxes, room;
    uint32_t rows;   /* of all boxes */
    uint32_t hidden; /* neighbouring frames that are less than a pixel together */

    /* Of the picture. */
    int32_t y0, frames_y0, y1; /* frames begin at frames_y0; y1: the end of what was drawn */
    int32_t row_height;
    uint32_t first_row, shown_rows; /* number of rows in the picture */
};

void weft_flame_fini(struct weft_flame *f);

/* Lays out the boxes below a node (0: the whole tree), which takes the width from x0 to x1, and those above it, which
 * take the same width. Returns 0, WEFT_E_NOMEM, or WEFT_E_INVALID: there is no such node. */
int weft_flame_layout(struct weft_flame *f, const struct weft_calltree *t, uint32_t focus,
                      int32_t x0, int32_t x1);

/* Which frames have every word of a query in their names (see view/search.h; a word that asks about something only
 * promises have finds nothing). */
struct weft_flame_found {
    uint64_t *bits;  /* a bit for each call of the tree */
    uint32_t frames; /* how many */
    uint64_t total;  /* their amount; of nested frames only the outermost counts */
};

/* The caller releases what is in *out with weft_flame_found_fini, in every case. Returns 0 or WEFT_E_NOMEM. */
int weft_flame_find(struct weft_flame_found *out, const struct weft_profile *p,
                    const struct weft_calltree *t, const char *query);
void weft_flame_found_fini(struct weft_flame_found *f);

/* "54.2 % in 3 frames", cut to room. Returns its size. */
int weft_flame_found_text(char *out, size_t room, const struct weft_calltree *t,
                          const struct weft_flame_found *f);

struct weft_flame_options {
    int32_t width_px;         /* 0: 1600 */
    int32_t height_px;        /* 0: as high as the frames need, at most WEFT_PICTURE_MAX_PX */
    int32_t top_px;           /* where it begins in the list, which may hold other pictures above */
    uint32_t focus;           /* see weft_flame_layout */
    uint32_t hovered;         /* box that is pointed at, or WEFT_NONE */
    uint32_t scrolled;        /* rows that are hidden at the top */
    uint16_t text_percent;    /* 0: 100; from 50 to 300 */
    const char *title, *note; /* may be NULL */
    /* Another tree's amounts, beside the tree's (weft_calltree_compare), and its total: frames are coloured by how much
     * larger or smaller their share is now. NULL: by what they are. */
    const struct weft_call_before *before;
    uint64_t before_total;
    const struct weft_flame_found *found; /* in that tree: in a colour of their own; may be NULL */
    bool tips;                            /* with tips and a legend … */
    bool no_legend;                       /* … or without */
};

/* Draws into *list, which is empty (all zero) or left from an earlier picture; with a top_px, below what it contains.
 * Returns 0, WEFT_E_NOMEM, or WEFT_E_INVALID for options out of range. */
int weft_flame_draw(struct weft_drawlist *list, struct weft_flame *f, const struct weft_profile *p,
                    const struct weft_calltree *t, const struct weft_flame_options *o);

/* The box at a point of the picture, or WEFT_NONE. */
uint32_t weft_flame_at(const struct weft_flame *f, int32_t x, int32_t y);

/* "parse_request: 35.2 % (1.52 s, 1,520 samples), itself 3.1 %; src/parse.c:41", cut to room. Returns its size. */
size_t weft_flame_describe(char *out, size_t room, const struct weft_profile *p,
                           const struct weft_calltree *t, const struct weft_flame_box *box);

/* The name of a frame: never empty; borrowed. */
const char *weft_flame_name(const struct weft_profile *p, const struct weft_calltree *t,
                            uint32_t node);

/* "1.52 s", "1.2 G cycles" */
struct weft_figure weft_flame_amount(enum weft_source_unit unit, uint64_t value);
