/* SPDX-License-Identifier: ISC */
/* The way back: earlier views, as steps that can be undone. A jump is a step, and so are all movements of one kind until
 * the user pauses or does something else. */
#include <string.h>

#include "explore/state.h"

static void note(const struct weft_explorer *e, struct explore_moment *m)
{
    memset(m, 0, sizeof *m); /* they are compared as bytes */
    m->panes = e->panes;
    m->top = e->top;
    m->pane = e->selected_pane;
    m->finding = e->finding;
    m->finding_pane = e->finding_pane;
    m->selected = e->selected != WEFT_NONE;
    m->is_free = e->is_free;
    m->window = e->window;
    m->hidden = e->hidden;
    if (m->selected)
        m->id = e->pane[e->selected_pane].model->promise[e->selected].id;
    for (unsigned i = 0; i < e->panes; i++) {
        m->of[i] = e->pane[i].view;
        explore_groups_note(e, i, &m->grouping[i]);
    }
}

static void recall(struct weft_explorer *e, const struct explore_moment *m)
{
    e->is_free = m->is_free;
    e->window = m->window;
    e->top = m->top;
    e->hidden = m->hidden;
    for (unsigned i = 0; i < e->panes; i++) /* the views are of the rows that these make */
        explore_groups_recall(e, i, &m->grouping[i]);
    for (unsigned i = 0; i < e->panes; i++) {
        struct explore_pane *p = &e->pane[i];
        p->view = m->of[i];
        if (p->view.focus_row >= p->scene->l->rows) /* it may have been read again */
            p->view.focus_row = WEFT_NONE;
    }
    const struct weft_analysis *a = m->finding != WEFT_NONE && m->finding_pane < e->panes
                                        ? e->pane[m->finding_pane].trace->analysis
                                        : NULL;
    if (a && m->finding < a->findings.count)
        explore_finding_show(e, m->finding_pane, m->finding, false);
    else
        explore_finding_leave(e);
    e->wheel_x = -1;
    e->placed = false;
    explore_window_settle(e);
    explore_changed(e, WEFT_CHANGED_PANES);
    explore_select(e, m->pane,
                   m->selected ? weft_model_find(e->pane[m->pane].model, m->id) : WEFT_NONE);
    explore_moved(e);
}

void explore_history_clear(struct weft_explorer *e)
{
    e->moving = EXPLORE_STILL;
    e->history_at = 0;
    e->history_count = 1;
}

/* Makes the present view the newest moment, unless it is the latest one. */
static void push(struct weft_explorer *e, bool jumped)
{
    struct explore_moment now;
    bool was_jump = e->history[e->history_at].jumped;
    note(e, &now);
    now.jumped = was_jump; /* it does not count in the comparison */
    if (memcmp(&now, &e->history[e->history_at], sizeof now) == 0)
        return;
    if (e->history_at + 1 == EXPLORE_HISTORY_MAX) {
        memmove(&e->history[0], &e->history[1], e->history_at * sizeof e->history[0]);
        e->history_at--;
    }
    now.jumped = jumped;
    e->history[++e->history_at] = now;
    e->history_count = e->history_at + 1;
    explore_changed(e, WEFT_CHANGED_STEP);
}

/* Updates the moment that is shown to the present view. */
static void update(struct weft_explorer *e)
{
    bool jumped = e->history[e->history_at].jumped;
    note(e, &e->history[e->history_at]);
    e->history[e->history_at].jumped = jumped;
}

/* Returns true if the picture shows other times or rows than at that moment. A row that rows are to be spread around
 * later makes no difference yet. */
static bool has_moved(const struct weft_explorer *e, const struct explore_moment *m)
{
    if (e->is_free != m->is_free || e->top != m->top || e->window.from != m->window.from ||
        e->window.to != m->window.to)
        return true;
    for (unsigned i = 0; i < e->panes; i++) {
        const struct explore_view *now = &e->pane[i].view, *then = &m->of[i];
        if (now->window.from != then->window.from || now->window.to != then->window.to ||
            now->offset != then->offset || now->spread != then->spread)
            return true;
        if (explore_round(now->spread) > 0 &&
            (now->focus_row != then->focus_row || now->focus_px != then->focus_px))
            return true;
    }
    return false;
}

/* What has moved until now is a step. */
static void end_movement(struct weft_explorer *e)
{
    enum explore_movement moving = e->moving;
    e->moving = EXPLORE_STILL;
    if (moving != EXPLORE_STILL && has_moved(e, &e->history[e->history_at]))
        push(e, false);
}

void weft_explorer_rest(struct weft_explorer *e)
{
    if (e->drag.grip == EXPLORE_GRIP_NONE) /* a drag is one step, however slow */
        end_movement(e);
}

void explore_history_move(struct weft_explorer *e, enum explore_movement movement)
{
    if (e->moving == movement)
        return;
    end_movement(e);
    update(e);
    e->moving = movement;
}

void explore_history_leave(struct weft_explorer *e)
{
    e->wanted.is = e->wanted.is && !e->wanted.moves; /* the user went on without it */
    end_movement(e);
    update(e);
}

void explore_history_arrive(struct weft_explorer *e)
{
    push(e, true);
}

bool explore_history_go(struct weft_explorer *e, int step, bool jumps)
{
    end_movement(e);
    unsigned at = e->history_at;
    if (step < 0) { /* to what was seen before the latest step, or before the latest jump */
        while (jumps && at > 0 && !e->history[at].jumped)
            at--;
        if (at == 0)
            return false;
        at--;
    } else {
        do {
            if (++at >= e->history_count)
                return false;
        } while (jumps && !e->history[at].jumped);
    }
    update(e);
    e->history_at = at;
    recall(e, &e->history[at]);
    return true;
}
