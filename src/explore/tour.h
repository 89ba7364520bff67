/* SPDX-License-Identifier: ISC */
/* The tour: what the parts of the picture mean, in a few steps on the example trace, data/example.weft. A front end brings
 * that trace and shows the step as a card: its title, its text, and commands for the others. Everything else is a place. */
#pragma once

#include "explore/explore.h"

enum {
#define STEP(title, text, place) +1
    WEFT_TOUR_STEPS = 0
#include "explore/tour.def"
};

struct weft_tour_step {
    const char *title, *text, *place;
};
extern const struct weft_tour_step weft_tour_steps[WEFT_TOUR_STEPS];

/* Returns true if a pane shows the example trace. */
bool weft_explorer_is_example(const struct weft_explorer *e, unsigned pane);

/* The step that is shown, from 1; 0: none. The place of a step begins with tour=N, and "tour=N" alone leads there. */
unsigned weft_explorer_tour(const struct weft_explorer *e);

/* Goes to a step of the tour, or leaves it: 0. Returns false if the first pane does not show the example. */
bool weft_explorer_tour_go(struct weft_explorer *e, unsigned step);
