/* SPDX-License-Identifier: ISC */
/* What commands do. */
#include <string.h>

#include "explore/state.h"
#include "explore/tour.h"

#define KEY_NOTCHES 2.0 /* notches of the wheel that a zoom key stands for */
enum { KEY_ROWS = 3 };

bool weft_explorer_key(struct weft_explorer *e, const char *key, unsigned mods)
{
    enum weft_command command = weft_command_of_key(key, mods);
    if (command < WEFT_COMMANDS)
        return weft_explorer_command(e, command);
    explore_why_not_key(e, key, mods);
    return false;
}

/* The x around which keys zoom: the middle of the selection if it is in view, else of the picture. The selection's row
 * then becomes the focus. */
static double find_middle(struct weft_explorer *e, unsigned pane)
{
    struct explore_pane *p = &e->pane[pane];
    const struct weft_geometry *g = &p->geometry;
    double x = explore_axis_x0(e) + explore_axis_px(e) / 2;
    uint32_t row = g->shown ? g->shown_row[g->shown / 2] : WEFT_NONE;
    if (e->selected != WEFT_NONE && e->selected_pane == pane) {
        struct explore_window w = explore_window_shown(e, pane, explore_window_get(e, pane));
        struct explore_window life = explore_window_shown(e, pane, explore_life(p, e->selected));
        double from = life.from < w.from ? w.from : life.from, to = life.to > w.to ? w.to : life.to;
        if (from <= to) {
            x = explore_axis_x0(e) +
                ((from + to) / 2 - w.from) / (w.to - w.from) * explore_axis_px(e);
            row = p->scene->l->row[e->selected];
        }
    }
    int32_t at, height;
    e->wheel_x = -1;
    if (row != WEFT_NONE && explore_row_at(e, pane, row, &at, &height))
        explore_rows_focus(e, pane, row, at);
    return x;
}

/* The x around which keys zoom at the pointer, whose row becomes the focus. */
static double pointed_at(struct weft_explorer *e, unsigned pane)
{
    const uint32_t row = explore_pick(e, pane, e->over_x, e->over_y).row;
    int32_t at, height;
    e->wheel_x = -1;
    if (row != WEFT_NONE && explore_row_at(e, pane, row, &at, &height))
        explore_rows_focus(e, pane, row, at);
    explore_activate(e, pane);
    return e->over_x;
}

/* Moves rows that are further up or down to the middle. */
static bool pan_rows(struct weft_explorer *e, unsigned pane, int rows)
{
    const struct weft_geometry *g = &e->pane[pane].geometry;
    int32_t middle = (g->rows_y0 + g->rows_y1) / 2, at = 0;
    if (g->shown == 0 || explore_round(e->pane[pane].view.spread) == 0)
        return false;
    while ((uint32_t)at + 1 < g->shown && g->shown_y[at + 1] <= middle)
        at++;
    at += rows;
    at = at < 0 ? 0 : (uint32_t)at >= g->shown ? (int32_t)g->shown - 1 : at;
    e->wheel_x = -1;
    explore_rows_focus(e, pane, g->shown_row[at], middle / WEFT_PX - e->pane[pane].top_px);
    return true;
}

static bool fit_selection(struct weft_explorer *e)
{
    if (e->selected != WEFT_NONE) {
        explore_history_leave(e);
        explore_zoom_to(e, e->selected_pane, explore_life(&e->pane[e->selected_pane], e->selected));
        explore_reveal(e);
    } else if (e->range_from_ns != e->range_to_ns) {
        explore_history_leave(e);
        explore_zoom_to(e, e->range_pane,
                        (struct explore_window){(double)e->range_from_ns, (double)e->range_to_ns});
    } else {
        return false;
    }
    explore_history_arrive(e);
    return true;
}

static bool clear(struct weft_explorer *e)
{
    bool any =
        e->selected != WEFT_NONE || e->range_from_ns != e->range_to_ns || e->finding != WEFT_NONE;
    if (!any && e->kept.is)
        return explore_compare_toggle(e);
    if (!any)
        return false;
    e->range_from_ns = e->range_to_ns = 0;
    e->wants_path = false;
    explore_history_leave(e);
    explore_finding_leave(e);
    explore_select(e, 0, WEFT_NONE);
    explore_history_arrive(e);
    explore_changed(e, WEFT_CHANGED_PICTURE | WEFT_CHANGED_PLACE | WEFT_CHANGED_FACTS);
    return true;
}

bool explore_compare_toggle(struct weft_explorer *e)
{
    const bool range = e->range_from_ns != e->range_to_ns, was = e->kept.is;
    if (!was && !range && e->selected == WEFT_NONE)
        return false;
    e->kept = (struct explore_kept){.is = !was};
    if (!was && range) {
        e->kept.pane = e->range_pane;
        e->kept.where =
            (struct explore_where){.from_ns = e->range_from_ns, .to_ns = e->range_to_ns};
    } else if (!was) {
        e->kept.pane = e->selected_pane;
        e->kept.where.of_promise = true;
        e->kept.where.id = e->pane[e->selected_pane].model->promise[e->selected].id;
    }
    e->marks_stale = true;
    explore_part_changed(e, EXPLORE_COMPARED);
    explore_moved(e);
    return true;
}

static bool toggle(struct weft_explorer *e, bool *hidden)
{
    *hidden = !*hidden;
    e->placed = false;
    explore_moved(e);
    return true;
}

static bool has_older(const struct weft_explorer *e)
{
    unsigned i = 0;
    while (i < e->panes && e->pane[i].scene->l->quiet == 0)
        i++;
    return i < e->panes;
}

static bool move(struct weft_explorer *e, enum weft_command command)
{
    static const struct {
        int eighths, rows; /* of the time axis; rows up or down */
        double notches;
        bool times; /* zooms in time, too */
    } moves[] = {
        [WEFT_COMMAND_PAN_LEFT] = {.eighths = -1},
        [WEFT_COMMAND_PAN_RIGHT] = {.eighths = 1},
        [WEFT_COMMAND_PAN_UP] = {.rows = -KEY_ROWS},
        [WEFT_COMMAND_PAN_DOWN] = {.rows = KEY_ROWS},
        [WEFT_COMMAND_ZOOM_IN_HERE] = {.notches = KEY_NOTCHES, .times = true},
        [WEFT_COMMAND_ZOOM_OUT_HERE] = {.notches = -KEY_NOTCHES, .times = true},
        [WEFT_COMMAND_ZOOM_IN] = {.notches = KEY_NOTCHES, .times = true},
        [WEFT_COMMAND_ZOOM_OUT] = {.notches = -KEY_NOTCHES, .times = true},
        [WEFT_COMMAND_SPREAD] = {.notches = KEY_NOTCHES},
        [WEFT_COMMAND_SQUEEZE] = {.notches = -KEY_NOTCHES},
    };
    const int eighths = moves[command].eighths, rows = moves[command].rows;
    bool here = command == WEFT_COMMAND_ZOOM_IN_HERE || command == WEFT_COMMAND_ZOOM_OUT_HERE;
    if ((rows ? explore_refresh_rested(e) : explore_refresh(e)) < 0)
        return false;
    unsigned pane = here && e->over ? explore_pane_at(e, e->over_y) : e->active;
    pane = pane < e->panes ? pane : e->active;
    const struct explore_window w = explore_window_get(e, pane);
    const struct explore_view before = e->pane[pane].view;
    explore_history_move(e, eighths                ? EXPLORE_PAN
                            : moves[command].times ? EXPLORE_ZOOM
                                                   : EXPLORE_ROWS);
    if (rows)
        return pan_rows(e, pane, rows) && before.focus_row != e->pane[pane].view.focus_row;
    double factor = explore_notches(moves[command].notches);
    if (eighths)
        explore_window_pan(e, pane, eighths * explore_axis_px(e) / 8);
    else if (!moves[command].times)
        find_middle(e, pane);
    if (eighths == 0 && moves[command].times)
        explore_zoom(e, pane, here && e->over ? pointed_at(e, pane) : find_middle(e, pane), factor);
    else if (eighths == 0)
        explore_rows_spread(e, pane, factor);
    const struct explore_window now = explore_window_get(e, pane);
    return now.from != w.from || now.to != w.to || e->pane[pane].view.spread != before.spread;
}

static bool fit(struct weft_explorer *e)
{
    explore_history_leave(e);
    const struct explore_moment before = e->history[e->history_at];
    explore_window_fit(e);
    explore_history_arrive(e);
    return memcmp(&before, &e->history[e->history_at], sizeof before) != 0;
}

/* Rows at the height they need, around the one in the middle; or all of them. */
static bool toggle_readable(struct weft_explorer *e)
{
    struct explore_pane *p = &e->pane[e->active];
    if (explore_refresh(e) < 0)
        return false;
    explore_history_leave(e);
    if (explore_round(p->view.spread) == WEFT_SPREAD_MAX) {
        explore_rows_squeeze(p);
    } else {
        find_middle(e, e->active);
        p->view.spread = WEFT_SPREAD_MAX;
    }
    explore_history_arrive(e);
    explore_moved(e);
    return true;
}

static bool has_samples(const struct weft_explorer *e)
{
    for (unsigned i = 0; i < e->panes; i++)
        if (e->pane[i].scene->p)
            return true;
    return false;
}

static bool can_fold(const struct weft_explorer *e)
{
    for (unsigned i = 0; i < e->panes; i++)
        if ((e->is_free || e->panes == 1) && e->pane[i].scene->folds.count)
            return true;
    return false;
}

static bool execute(struct weft_explorer *e, enum weft_command command)
{
    if (command <= WEFT_COMMAND_SQUEEZE)
        return move(e, command);
    if (command >= WEFT_COMMAND_NEXT && command <= WEFT_COMMAND_BECAME)
        return explore_walk(e, command);
    switch (command) {
    case WEFT_COMMAND_FIT:
        return fit(e);
    case WEFT_COMMAND_FIT_SELECTION:
        return fit_selection(e);
    case WEFT_COMMAND_BACK:
        return explore_history_go(e, -1, true);
    case WEFT_COMMAND_FORWARD:
        return explore_history_go(e, 1, true);
    case WEFT_COMMAND_UNDO:
        return explore_history_go(e, -1, false);
    case WEFT_COMMAND_REDO:
        return explore_history_go(e, 1, false);
    case WEFT_COMMAND_NEXT_HIT:
        return explore_hits_go(e, 1);
    case WEFT_COMMAND_PREVIOUS_HIT:
        return explore_hits_go(e, -1);
    case WEFT_COMMAND_NEXT_FINDING:
        return explore_finding_go(e, 1);
    case WEFT_COMMAND_PREVIOUS_FINDING:
        return explore_finding_go(e, -1);
    case WEFT_COMMAND_PATH:
        return e->selected != WEFT_NONE && explore_path_toggle(e);
    case WEFT_COMMAND_FLAME:
    case WEFT_COMMAND_FLAME_CREATED:
    case WEFT_COMMAND_FLAME_ASYNC:
    case WEFT_COMMAND_FLAME_AWAY:
    case WEFT_COMMAND_WHY:
        return explore_flame_command(e, command);
    case WEFT_COMMAND_TABLE:
    case WEFT_COMMAND_TABLE_PIN:
        return explore_table_command(e, command);
    case WEFT_COMMAND_GROUP:
    case WEFT_COMMAND_COLLAPSE:
    case WEFT_COMMAND_HIDE:
    case WEFT_COMMAND_PIN:
    case WEFT_COMMAND_SHOW_HIDDEN:
        return explore_groups_command(e, command);
    case WEFT_COMMAND_READABLE:
        return toggle_readable(e);
    case WEFT_COMMAND_CLEAR:
        return weft_explorer_tour(e) ? weft_explorer_tour_go(e, 0)
                                     : explore_flame_back(e) || clear(e);
    case WEFT_COMMAND_STRIPS:
        return has_samples(e) && toggle(e, &e->no_strips);
    case WEFT_COMMAND_LEGEND:
        return toggle(e, &e->no_legend);
    case WEFT_COMMAND_FOLD:
        if (!can_fold(e))
            return false;
        weft_explorer_fold(e, !e->folds);
        return true;
    case WEFT_COMMAND_COUNTERS:
        return weft_explorer_counters(e) && toggle(e, &e->no_counters);
    case WEFT_COMMAND_OVERVIEW:
        return toggle(e, &e->overview);
    case WEFT_COMMAND_OLDER:
        return has_older(e) && toggle(e, &e->older);
    case WEFT_COMMAND_LINK:
        if (e->panes < 2)
            return false;
        explore_history_leave(e);
        explore_window_link(e, e->is_free);
        explore_history_arrive(e);
        return true;
    case WEFT_COMMAND_ALIGN:
        return explore_clocks_align(e);
    case WEFT_COMMAND_COMPARE:
        return explore_compare_toggle(e);
    case WEFT_COMMAND_NEXT_NOTE:
        return explore_note_step(e, 1);
    case WEFT_COMMAND_PREVIOUS_NOTE:
        return explore_note_step(e, -1);
    case WEFT_COMMAND_TOUR_NEXT:
    case WEFT_COMMAND_TOUR_PREVIOUS:
    case WEFT_COMMAND_TOUR_LEAVE:
        return explore_tour_command(e, command);
    case WEFT_COMMAND_NEXT_TRACE:
    case WEFT_COMMAND_PREVIOUS_TRACE:
    case WEFT_COMMAND_TRACE_DOWN:
    case WEFT_COMMAND_TRACE_UP:
    case WEFT_COMMAND_DUPLICATE:
    case WEFT_COMMAND_CLOSE_TRACE:
        return explore_panes_command(e, command);
    default:
        return false;
    }
}

bool weft_explorer_command(struct weft_explorer *e, enum weft_command command)
{
    *e->why = '\0';
    bool done = e->panes && execute(e, command);
    explore_why(e, command, done);
    return done;
}

/* ---- Which command a key has ---- */

const struct weft_command_info weft_commands[WEFT_COMMANDS] = {
#define COMMAND(NAME, name, where, group, keys, help)                                              \
    {name, WEFT_COMMAND_##where, group, keys, help},
#include "explore/command.def"
};

/* Returns true if `wanted` is one of `keys`, which are separated by spaces. */
static bool is_among(const char *keys, const char *wanted)
{
    size_t n = strlen(wanted);
    for (const char *k = keys; *k; k += strspn(k, " ")) {
        size_t size = strcspn(k, " ");
        if (size == n && !memcmp(k, wanted, n))
            return true;
        k += size;
    }
    return false;
}

static enum weft_command command_of(const char *key, unsigned mods)
{
    char wanted[48] = "";
    if (mods & WEFT_CTRL)
        strcat(wanted, "Ctrl+");
    if (mods & WEFT_ALT)
        strcat(wanted, "Alt+");
    if (mods & WEFT_SHIFT)
        strcat(wanted, "Shift+");
    size_t size = strlen(wanted);
    strcat(wanted, strcmp(key, " ") ? key : "Space");
    /* With Ctrl, letters come as capitals or not, depending on the system and the lock. */
    char c = wanted[size];
    bool is_letter = ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) && !wanted[size + 1];
    if ((mods & (WEFT_CTRL | WEFT_ALT)) && is_letter)
        wanted[size] = (char)(mods & WEFT_SHIFT ? c & ~0x20 : c | 0x20);
    unsigned i = 0;
    while (i < WEFT_COMMANDS && !is_among(weft_commands[i].keys, wanted))
        i++;
    return (enum weft_command)i;
}

enum weft_command weft_command_of_key(const char *key, unsigned mods)
{
    enum weft_command command = WEFT_COMMANDS;
    if (strlen(key) > 24)
        return WEFT_COMMANDS;
    if (mods)
        command = command_of(key, mods);
    bool is_plain = !(mods & (WEFT_CTRL | WEFT_ALT));
    if (command == WEFT_COMMANDS && is_plain) /* the character itself says whether Shift is held */
        command = command_of(key, 0);
    return command;
}
