/* SPDX-License-Identifier: ISC */
/* Traces that were recorded at the same time are aligned so that the same wall-clock time is at the same x. A trace is
 * aligned with the first one above it that it overlaps; if there is none, both begin at the same place. */
#include <stdio.h>

#include "explore/state.h"

/* The wall clock at the beginning of a trace, and at its end. */
static bool wall_of(const struct explore_pane *p, int64_t *begin, int64_t *end)
{
    const struct weft_model *m = p->model;
    *begin = m->wall_ns;
    *end = m->wall_ns + (m->end_ns > 0 ? m->end_ns : 0); /* cannot overflow */
    return m->has_wall;
}

static bool overlap(const struct explore_pane *a, const struct explore_pane *b)
{
    int64_t a_begin, a_end, b_begin, b_end;
    return wall_of(a, &a_begin, &a_end) && wall_of(b, &b_begin, &b_end) && a_begin <= b_end &&
           b_begin <= a_end;
}

void explore_clocks_find(const struct weft_explorer *e, struct explore_clocks *c)
{
    *c = (struct explore_clocks){.count = 0};
    for (unsigned i = 0; i < e->panes; i++)
        for (unsigned j = 0; j < i; j++)
            if (overlap(&e->pane[j], &e->pane[i])) {
                int64_t later = e->pane[j].model->wall_ns - e->pane[i].model->wall_ns;
                c->offset[i] = c->offset[j] + (double)later;
                c->is_common[i] = c->is_common[j] = true;
                c->count++;
                break;
            }
}

/* Returns true if the pane is where the clocks say. */
static bool is_there(const struct weft_explorer *e, const struct explore_clocks *c, unsigned pane)
{
    return explore_round(e->pane[pane].offset) == explore_round(c->offset[pane]);
}

void explore_clocks_keep(struct weft_explorer *e, const struct explore_clocks *before)
{
    struct explore_clocks now;
    explore_clocks_find(e, &now);
    for (unsigned i = 1; i < e->panes; i++)
        if (before->is_common[i] && now.is_common[i] && is_there(e, before, i))
            e->pane[i].offset = now.offset[i];
}

bool explore_clocks_align(struct weft_explorer *e)
{
    struct explore_clocks c;
    bool are_there = !e->is_free;
    explore_clocks_find(e, &c);
    for (unsigned i = 1; i < e->panes; i++)
        are_there = are_there && is_there(e, &c, i);
    if (e->panes < 2 || (are_there && c.count == 0))
        return false;
    explore_history_leave(e);
    explore_window_link(e, true);
    for (unsigned i = 1; i < e->panes; i++)
        e->pane[i].offset = are_there ? 0 : c.offset[i];
    explore_window_settle(e);
    explore_history_arrive(e);
    explore_changed(e, WEFT_CHANGED_FACTS);
    explore_moved(e);
    return true;
}

const char *explore_clocks_say(const struct weft_explorer *e, unsigned pane, char *out, size_t room)
{
    struct explore_clocks c;
    if (e->panes < 2)
        return NULL;
    if (e->is_free)
        return "free: each trace has its own";
    explore_clocks_find(e, &c);
    if (!c.is_common[pane])
        return "no time in common with the others by the wall clock";
    bool are_there = true;
    for (unsigned i = 1; i < e->panes; i++)
        are_there = are_there && (!c.is_common[i] || is_there(e, &c, i));
    if (pane == 0 && !are_there)
        return "others are not where they are by the wall clock";
    if (pane == 0 || is_there(e, &c, pane))
        return "aligned by the wall clock";
    double later = e->pane[pane].offset - c.offset[pane];
    snprintf(out, room, "%s %s than by the wall clock",
             weft_duration(explore_round(later < 0 ? -later : later)).text,
             later < 0 ? "later" : "earlier");
    return out;
}
