/* SPDX-License-Identifier: ISC */
/* The visible promises, as a list of texts. Private to src/explore. */
#ifndef WEFT_EXPLORE_VISIBLE_H
#define WEFT_EXPLORE_VISIBLE_H

#include "explore/explore.h"

struct explore_visible {
    struct weft_visible item[WEFT_VISIBLE_MAX];
    uint32_t count;
    uint32_t all; /* how many are visible in all panes; see explore_visible_list */
    char text[WEFT_VISIBLE_MAX][300]; /* of the items */
};

/* Empties the list. */
void explore_visible_clear(struct explore_visible *v);

/* Adds the promises of a pane whose visible parts are longest, at most max of them (and while there is room), sorted by
 * the start of their lines. g is the geometry of the pane's picture.
 *
 * Takes some milliseconds, however many are seen: see weft_view_longest, which also says how exact v->all is. Returns 0 or WEFT_E_NOMEM; then nothing is added. */
int explore_visible_list(struct explore_visible *v, const struct weft_scene *s,
                         const struct weft_geometry *g, unsigned pane, uint32_t max);

#endif
