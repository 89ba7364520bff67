/* SPDX-License-Identifier: ISC */
/* The promises that are seen, as a list of texts. Private to src/explore. */
#ifndef WEFT_EXPLORE_VISIBLE_H
#define WEFT_EXPLORE_VISIBLE_H

#include "explore/explore.h"

struct explore_visible {
    struct weft_visible item[WEFT_VISIBLE_MAX];
    uint32_t count;
    uint32_t all;                     /* how many are seen in all panes; see explore_visible_list */
    char text[WEFT_VISIBLE_MAX][300]; /* of the items */
};

/* No promises. */
void explore_visible_clear(struct explore_visible *v);

/* Adds those of a pane whose visible parts are longest, at most max of them (and as long as there is room),
 * by the start of their lines. g is the geometry of the pane's picture.
 *
 * Takes some milliseconds, however many are seen: the long ones are found by halving the rows, and when that
 * has been done often enough, what is found by then is the answer; so among very many lines of about the same
 * length any may be chosen. v->all is exact up to 10000 lines; beyond, it counts some that have ended shortly
 * before, and beyond 20000 rows it is estimated from some of them.
 *
 * Returns 0 or WEFT_E_NOMEM; then nothing is added. */
int explore_visible_list(struct explore_visible *v, const struct weft_scene *s,
                         const struct weft_geometry *g, unsigned pane, uint32_t max);

#endif
