/* SPDX-License-Identifier: ISC */
/* The steps of the tour. */
#include "explore/tour.h"

#include <stdio.h>
#include <string.h>

#include "explore/state.h"

/* By these the example is known: no other trace of as many events begins at just that time of its clock. */
enum { EXAMPLE_EVENTS = 1100 };
#define EXAMPLE_FIRST_NS UINT64_C(1000000000000)

const struct weft_tour_step weft_tour_steps[WEFT_TOUR_STEPS] = {
#define STEP(title, text, place) {title, text, place},
#include "explore/tour.def"
};

bool weft_explorer_is_example(const struct weft_explorer *e, unsigned pane)
{
    const struct weft_model *m = pane < e->panes ? e->pane[pane].model : NULL;
    return m && m->events_total == EXAMPLE_EVENTS && m->first_ns == EXAMPLE_FIRST_NS;
}

unsigned weft_explorer_tour(const struct weft_explorer *e)
{
    return weft_explorer_is_example(e, 0) ? e->tour : 0;
}

void explore_tour_show(struct weft_explorer *e, unsigned step)
{
    if (e->tour == step)
        return;
    e->tour = step;
    explore_changed(e, WEFT_CHANGED_TOUR | WEFT_CHANGED_PLACE);
}

bool weft_explorer_tour_go(struct weft_explorer *e, unsigned step)
{
    char place[16];
    if (step && (step > WEFT_TOUR_STEPS || !weft_explorer_is_example(e, 0)))
        return false;
    snprintf(place, sizeof place, "tour=%u", step);
    if (step)
        return weft_explorer_go(e, place);
    explore_tour_show(e, 0);
    return true;
}

bool explore_tour_command(struct weft_explorer *e, enum weft_command command)
{
    if (command == WEFT_COMMAND_TOUR_LEAVE)
        return weft_explorer_tour(e) && weft_explorer_tour_go(e, 0);
    const bool is_next = command == WEFT_COMMAND_TOUR_NEXT;
    const unsigned step = weft_explorer_tour(e);
    if (!step || step == (is_next ? WEFT_TOUR_STEPS : 1))
        return false;
    return weft_explorer_tour_go(e, is_next ? step + 1 : step - 1);
}
