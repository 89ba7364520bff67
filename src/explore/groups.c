/* SPDX-License-Identifier: ISC */
/* Groups of promises: how they are made, closed, hidden and pinned. */
#include <string.h>

#include "explore/state.h"

/* Lays the rows out anew. Returns false if there is no memory; nothing has changed then. */
static bool lay_out(struct weft_explorer *e, unsigned pane, const struct weft_groups *g)
{
    if (weft_scene_group(e->pane[pane].scene, g) < 0)
        return false;
    for (unsigned i = 0; i < e->panes; i++) {
        if (e->pane[i].source != e->pane[pane].source)
            continue;
        explore_rows_squeeze(&e->pane[i]);
        explore_search_pane(e, i);
    }
    e->drag.grip = EXPLORE_GRIP_NONE;
    e->wheel_x = -1;
    explore_changed(e, WEFT_CHANGED_FACTS);
    explore_moved(e);
    return true;
}

bool explore_groups_make(struct weft_explorer *e, unsigned pane, enum weft_group_by by)
{
    struct explore_pane *p = &e->pane[pane];
    struct weft_groups *g = NULL;
    if (by == (p->trace->groups ? p->trace->groups->by : WEFT_GROUP_NONE))
        return true;
    if (by == WEFT_GROUP_SEARCH) {
        if (!p->search || weft_search_is_empty(p->search))
            return false;
        while (weft_search_work(p->search, 0))
            ;
    }
    if ((by && weft_groups_new(&g, p->scene, by, p->search) < 0) || !lay_out(e, pane, g)) {
        weft_groups_free(g);
        return false;
    }
    weft_groups_free(p->trace->groups);
    p->trace->groups = g;
    return true;
}

void explore_groups_keep(struct weft_explorer *e, unsigned pane)
{
    struct explore_trace *t = e->pane[pane].trace;
    struct weft_groups *old = t->groups;
    t->groups = NULL;
    if (old && explore_groups_make(e, pane, old->by)) {
        struct weft_groups *g = t->groups;
        bool is_pinned = false;
        for (uint32_t i = 0; i < old->count; i++) {
            const struct weft_group *from = &old->group[i];
            const uint32_t at = weft_groups_find(g, from->name);
            if (at == WEFT_NONE)
                continue;
            g->group[at].is_closed = from->is_closed;
            g->group[at].is_hidden = from->is_hidden;
            g->group[at].is_pinned = from->is_pinned;
            is_pinned = is_pinned || from->is_pinned;
        }
        if (is_pinned)
            explore_groups_pinned(e, pane);
    }
    weft_groups_free(old);
}

void explore_groups_pinned(struct weft_explorer *e, unsigned pane)
{
    struct explore_trace *t = e->pane[pane].trace;
    weft_groups_sort(t->groups);
    if (lay_out(e, pane, t->groups))
        return;
    weft_groups_free(t->groups); /* the old rows have no groups that fit */
    t->groups = NULL;
}

static bool changed(struct weft_explorer *e)
{
    e->placed = false;
    explore_changed(e, WEFT_CHANGED_FACTS);
    explore_moved(e);
    return true;
}

/* FNV-1a, of each name with its number: they are pinned in any order. */
static uint32_t sum_of_names(const struct weft_groups *g)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; g && i < g->count; i++) {
        uint32_t one = 2166136261u ^ g->group[i].number;
        for (const char *c = g->group[i].name; *c; c++)
            one = (one ^ (uint8_t)*c) * 16777619u;
        sum += one;
    }
    return sum;
}

void explore_groups_note(const struct weft_explorer *e, unsigned pane, struct explore_grouping *to)
{
    const struct weft_groups *g = e->pane[pane].trace->groups;
    *to = (struct explore_grouping){.by = g ? g->by : WEFT_GROUP_NONE, .names = sum_of_names(g)};
    for (uint32_t i = 0; g && i < g->count; i++) {
        const uint32_t at = g->group[i].number / 64, bit = g->group[i].number % 64;
        to->closed[at] |= (uint64_t)g->group[i].is_closed << bit;
        to->hidden[at] |= (uint64_t)g->group[i].is_hidden << bit;
        to->pinned[at] |= (uint64_t)g->group[i].is_pinned << bit;
    }
}

void explore_groups_recall(struct weft_explorer *e, unsigned pane,
                           const struct explore_grouping *to)
{
    struct explore_grouping now;
    explore_groups_note(e, pane, &now);
    if (memcmp(&now, to, sizeof now) == 0)
        return;
    const bool same_rows =
        now.by == to->by && memcmp(now.pinned, to->pinned, sizeof now.pinned) == 0;
    if (!same_rows) {
        explore_groups_make(e, pane, WEFT_GROUP_NONE); /* so that none is pinned */
        explore_groups_make(e, pane, (enum weft_group_by)to->by);
    }
    struct weft_groups *g = e->pane[pane].trace->groups;
    changed(e);
    if (!g || sum_of_names(g) != to->names)
        return;
    for (uint32_t i = 0; i < g->count; i++) {
        const uint32_t at = g->group[i].number / 64, bit = g->group[i].number % 64;
        g->group[i].is_closed = to->closed[at] >> bit & 1;
        g->group[i].is_hidden = to->hidden[at] >> bit & 1;
        g->group[i].is_pinned = to->pinned[at] >> bit & 1;
    }
    if (!same_rows && (to->pinned[0] || to->pinned[1]))
        explore_groups_pinned(e, pane);
}

/* The next way to make groups that makes sense; after the last one, there are none. */
static bool next_way(struct weft_explorer *e, unsigned pane)
{
    const struct weft_groups *g = e->pane[pane].trace->groups;
    unsigned by = g ? g->by : WEFT_GROUP_NONE;
    while (true) {
        by = (by + 1) % WEFT_GROUP_BYS;
        if (explore_groups_make(e, pane, (enum weft_group_by)by))
            return true;
        if (by == WEFT_GROUP_NONE)
            return false;
    }
}

/* The group that commands are about: that of the selection. */
static struct weft_group *selected(struct weft_explorer *e, unsigned pane)
{
    const struct weft_groups *g = e->pane[pane].trace->groups;
    if (!g || e->selected == WEFT_NONE || e->selected_pane != pane)
        return NULL;
    return &e->pane[pane].trace->groups->group[g->of[e->selected]];
}

static bool close_groups(struct weft_explorer *e, unsigned pane)
{
    struct weft_groups *g = e->pane[pane].trace->groups;
    struct weft_group *one = selected(e, pane);
    bool any_open = false;
    if (one) {
        one->is_closed = !one->is_closed;
        return changed(e);
    }
    for (uint32_t i = 0; i < g->count; i++)
        any_open = any_open || !g->group[i].is_closed;
    for (uint32_t i = 0; i < g->count; i++)
        g->group[i].is_closed = any_open;
    return changed(e);
}

static bool show_all(struct weft_explorer *e, struct weft_groups *g)
{
    bool any = false;
    for (uint32_t i = 0; i < g->count; i++) {
        any = any || g->group[i].is_hidden;
        g->group[i].is_hidden = false;
    }
    return any && changed(e);
}

static bool command_on(struct weft_explorer *e, enum weft_command command)
{
    const unsigned pane = e->active;
    if (command == WEFT_COMMAND_GROUP)
        return next_way(e, pane);
    if (!e->pane[pane].trace->groups &&
        (command == WEFT_COMMAND_SHOW_HIDDEN || !explore_groups_make(e, pane, WEFT_GROUP_LABEL)))
        return false;
    struct weft_groups *g = e->pane[pane].trace->groups;
    struct weft_group *one = selected(e, pane);
    if (command == WEFT_COMMAND_COLLAPSE)
        return close_groups(e, pane);
    if (command == WEFT_COMMAND_SHOW_HIDDEN)
        return show_all(e, g);
    if (!one)
        return false;
    if (command == WEFT_COMMAND_HIDE) {
        one->is_hidden = true;
        return changed(e);
    }
    one->is_pinned = !one->is_pinned;
    explore_groups_pinned(e, pane);
    return changed(e);
}

bool explore_groups_command(struct weft_explorer *e, enum weft_command command)
{
    explore_history_leave(e);
    const bool done = command_on(e, command);
    explore_history_arrive(e);
    return done;
}

bool explore_groups_click(struct weft_explorer *e, unsigned pane, double x, double y)
{
    const struct explore_pane *p = &e->pane[pane];
    const int32_t at_x = (int32_t)(x * WEFT_PX), at_y = (int32_t)(y * WEFT_PX);
    for (uint32_t i = 0; p->trace->groups && i < p->geometry.heads; i++) {
        const struct weft_group_head *h = &p->geometry.head[i];
        if (at_x >= h->x0 && at_x < h->x1 && at_y >= h->y0 && at_y < h->y1) {
            struct weft_group *g = &p->trace->groups->group[h->group];
            explore_history_leave(e);
            g->is_closed = !g->is_closed;
            explore_history_arrive(e);
            return changed(e);
        }
    }
    return false;
}

uint64_t explore_groups_hidden(const struct weft_groups *g)
{
    uint64_t promises = 0;
    for (uint32_t i = 0; g && i < g->count; i++)
        promises += g->group[i].is_hidden ? g->group[i].promises : 0;
    return promises;
}
