/* SPDX-License-Identifier: ISC */
/* What is shown beside the picture: facts, the list of visible promises, counters. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "explore/fact.h"
#include "explore/state.h"

/* ---- Facts ---- */

static bool has_range(const struct weft_explorer *e)
{
    return e->range_from_ns != e->range_to_ns;
}

/* The next group of facts, from top to bottom; NULL: there are no more. */
static const struct explore_facts *part(const struct weft_explorer *e, unsigned n, unsigned *pane)
{
    const struct explore_facts *parts[6] = {NULL};
    unsigned panes[6] = {0}, count = 0, flame = e->panes && e->flame.open;
    if (flame)
        parts[count++] = &e->flame_facts;
    if (e->panes && has_range(e)) {
        panes[count] = e->range_pane;
        parts[count++] = &e->range_facts;
    }
    if (e->panes && e->finding != WEFT_NONE) {
        panes[count] = e->finding_pane;
        parts[count++] = &e->finding_facts;
    }
    if (e->panes && e->selected != WEFT_NONE) {
        panes[count] = e->selected_pane;
        parts[count++] = &e->selection_facts;
    }
    if (e->panes && count == flame) {
        panes[count + 1] = e->active;
        parts[count++] = &e->diff_facts;
        parts[count++] = &e->trace_facts;
    }
    if (n >= count)
        return NULL;
    *pane = panes[n];
    return parts[n];
}

static void fill(struct weft_explorer *e)
{
    const struct explore_pane *p;
    char axis[EXPLORE_FACT_BYTES];
    if (e->flame.open && e->flame_is_stale)
        explore_flame_facts(e);
    if (has_range(e) && e->range_is_stale) {
        p = &e->pane[e->range_pane];
        explore_facts_of_range(&e->range_facts, p->scene, e->range_from_ns, e->range_to_ns);
        e->range_is_stale = false;
    }
    if (e->selected != WEFT_NONE && e->selection_is_stale) {
        p = &e->pane[e->selected_pane];
        e->selection_facts.trace = e->panes > 1 ? p->title : NULL;
        e->selection_facts.path = explore_path(e);
        e->selection_facts.history = explore_history_of(&e->pane[e->selected_pane]);
        explore_facts_of_promise(&e->selection_facts, p->scene, e->selected);
        e->selection_is_stale = false;
    }
    if (e->finding != WEFT_NONE && e->finding_is_stale) {
        p = &e->pane[e->finding_pane];
        e->finding_facts.analysis = p->analysis;
        explore_facts_of_finding(&e->finding_facts, p->scene, e->finding,
                                 explore_findings_shown(p));
        e->finding_is_stale = false;
    }
    if (has_range(e) || e->selected != WEFT_NONE || e->finding != WEFT_NONE)
        return;
    if (e->trace_is_stale) {
        p = &e->pane[e->active];
        e->trace_facts.history = p->analysis ? p->analysis->history : p->history;
        e->trace_facts.analysis = p->analysis;
        e->trace_facts.analysing = p->analysing;
        e->trace_facts.axis = explore_clocks_say(e, e->active, axis, sizeof axis);
        explore_facts_of_trace(&e->trace_facts, p->scene, p->title);
        e->trace_is_stale = false;
    }
    if (e->diff_is_stale) {
        explore_facts_of_diff(&e->diff_facts, e->has_diff ? e->pane[0].scene : NULL,
                              e->has_diff ? e->pane[1].scene : NULL, &e->diff);
        e->diff_is_stale = false;
    }
}

const struct weft_fact *weft_explorer_facts(struct weft_explorer *e, uint32_t *count)
{
    const struct explore_facts *f;
    uint32_t all = 0;
    unsigned pane;
    *count = e->facts = 0;
    if (e->panes == 0)
        return e->fact;
    fill(e);
    for (unsigned n = 0; (f = part(e, n, &pane)); n++)
        all += f->count;
    if (!weft_reserve_all(&e->fact, all, &e->facts_room, sizeof *e->fact))
        return e->fact;
    for (unsigned n = 0; (f = part(e, n, &pane)); n++) {
        if (f->count)
            memcpy(e->fact + e->facts, f->fact, f->count * sizeof *e->fact);
        e->facts += f->count;
    }
    *count = e->facts;
    return e->fact;
}

static void centre(struct weft_explorer *e, unsigned pane, int64_t time_ns)
{
    struct explore_window w = explore_window_get(e, pane);
    double half = (w.to - w.from) / 2;
    explore_history_leave(e);
    explore_window_set(e, pane,
                       (struct explore_window){(double)time_ns - half, (double)time_ns + half}, 0);
    explore_history_arrive(e);
}

void weft_explorer_follow(struct weft_explorer *e, uint32_t fact)
{
    const struct explore_facts *f;
    unsigned pane = 0;
    if (fact >= e->facts) /* an old index: the facts have changed since */
        return;
    for (unsigned n = 0; (f = part(e, n, &pane)); n++) {
        if (fact < f->count)
            break;
        fact -= f->count;
    }
    if (!f)
        return;
    struct explore_target target = f->target[fact];
    pane = f == &e->diff_facts ? target.pane : pane;
    switch (f->fact[fact].link) {
    case WEFT_LINK_NONE:
        break;
    case WEFT_LINK_PROMISE:
        explore_jump(e, pane, target.promise);
        break;
    case WEFT_LINK_TIME:
        centre(e, pane, target.time_ns);
        break;
    case WEFT_LINK_MOMENT:
        explore_moment_go(e, pane, target.promise, target.time_ns);
        break;
    case WEFT_LINK_FINDING:
        weft_explorer_show_finding(e, pane, target.promise + 1);
        break;
    case WEFT_LINK_DIFF:
        explore_diff_go(e);
        break;
    case WEFT_LINK_FRAME:
        explore_flame_focus(e, target.promise);
        break;
    }
}

/* ---- Visible promises ---- */

const struct weft_visible *weft_explorer_visible(struct weft_explorer *e, uint32_t *count,
                                                 uint32_t *all)
{
    if (e->visible_is_stale && explore_refresh(e) == 0) {
        unsigned shown = 0;
        for (unsigned i = 0; i < e->panes; i++)
            shown += e->pane[i].height_px != 0;
        explore_visible_clear(&e->visible);
        for (unsigned i = 0; i < e->panes; i++)
            if (e->pane[i].height_px)
                explore_visible_list(&e->visible, e->pane[i].scene, &e->pane[i].geometry, i,
                                     WEFT_VISIBLE_MAX / shown);
        e->visible_is_stale = false;
    }
    *count = e->visible.count;
    *all = e->visible.all;
    return e->visible.item;
}

/* ---- Counters ---- */

uint32_t weft_explorer_counters(const struct weft_explorer *e)
{
    uint32_t n = 0;
    for (unsigned i = 0; i < e->panes; i++)
        n += e->pane[i].model->counters;
    return n;
}

/* The pane of a counter, whose number in the pane is then *counter. */
static unsigned pane_of(const struct weft_explorer *e, uint32_t *counter)
{
    unsigned pane = 0;
    while (pane < e->panes && *counter >= e->pane[pane].model->counters)
        *counter -= e->pane[pane++].model->counters;
    return pane;
}

const char *weft_explorer_counter(struct weft_explorer *e, uint32_t counter, bool *shown)
{
    char name[EXPLORE_FACT_BYTES];
    uint32_t size;
    unsigned pane = pane_of(e, &counter);
    *e->counter_text = '\0';
    *shown = false;
    if (pane == e->panes)
        return e->counter_text;
    const struct explore_pane *p = &e->pane[pane];
    const char *text = weft_model_text(p->model, p->model->counter[counter].name, &size);
    explore_fact_clean(name, sizeof name, text, size);
    if (e->panes > 1)
        snprintf(e->counter_text, sizeof e->counter_text, "%s (%.100s)", name, p->title);
    else
        snprintf(e->counter_text, sizeof e->counter_text, "%s", name);
    explore_fact_clean(name, sizeof name, e->counter_text, strlen(e->counter_text));
    memcpy(e->counter_text, name, strlen(name) + 1);
    *shown = !(p->counter_off && p->counter_off[counter]) && !e->no_counters;
    return e->counter_text;
}

void weft_explorer_show_counter(struct weft_explorer *e, uint32_t counter, bool shown)
{
    unsigned pane = pane_of(e, &counter);
    if (pane == e->panes)
        return;
    struct explore_pane *p = &e->pane[pane];
    if (shown && e->no_counters) { /* then this counter and no other */
        for (unsigned i = 0; i < e->panes; i++)
            if (e->pane[i].counter_off)
                memset(e->pane[i].counter_off, 1, e->pane[i].model->counters);
        e->no_counters = false;
    }
    if (p->counter_off)
        p->counter_off[counter] = !shown;
    e->placed = false;
    explore_moved(e);
}
