/* SPDX-License-Identifier: ISC */
/* Why a key did nothing, or what it did if the picture need not show that: whoever pressed it should not have to guess. */
#include <stdio.h>

#include "explore/state.h"
#include "explore/tour.h"

/* Of commands that act on the selection: what it means that there is nowhere to go. */
static const char *nowhere(enum weft_command command)
{
    switch (command) {
    case WEFT_COMMAND_NEXT:
        return "This is the last promise of its row";
    case WEFT_COMMAND_PREVIOUS:
        return "This is the first promise of its row";
    case WEFT_COMMAND_BELOW:
        return "There is no promise below";
    case WEFT_COMMAND_ABOVE:
        return "There is no promise above";
    case WEFT_COMMAND_CREATOR:
        return "The trace does not show what created it";
    case WEFT_COMMAND_WAITED_FOR:
        return "It waited for nothing";
    case WEFT_COMMAND_RESOLVER:
        return "The trace does not show what resolved it";
    default:
        return "It did not become another promise";
    }
}

static bool is_analysing(const struct weft_explorer *e)
{
    for (unsigned i = 0; i < e->panes; i++)
        if (e->pane[i].trace->analysing)
            return true;
    return false;
}

static const char *of_walk(const struct weft_explorer *e, enum weft_command command)
{
    if (e->selected == WEFT_NONE && command <= WEFT_COMMAND_ABOVE)
        return "There is no promise in view";
    if (e->selected == WEFT_NONE)
        return "Nothing is selected: click a promise, or press j";
    if (command == WEFT_COMMAND_WAITED_FOR && e->pane[e->selected_pane].trace->analysing)
        return "The trace is still being analysed";
    return nowhere(command);
}

static const char *of_move(const struct weft_explorer *e, enum weft_command command)
{
    bool all_rows = explore_round(e->pane[e->active].view.spread) == 0;
    switch (command) {
    case WEFT_COMMAND_PAN_LEFT:
        return "There is nothing further to the left";
    case WEFT_COMMAND_PAN_RIGHT:
        return "There is nothing further to the right";
    case WEFT_COMMAND_PAN_UP:
        return all_rows ? "All rows are in view" : "This is the first row";
    case WEFT_COMMAND_PAN_DOWN:
        return all_rows ? "All rows are in view" : "This is the last row";
    case WEFT_COMMAND_SPREAD:
        return "The rows have all the room they need";
    case WEFT_COMMAND_SQUEEZE:
        return "All rows are in view";
    case WEFT_COMMAND_ZOOM_IN:
    case WEFT_COMMAND_ZOOM_IN_HERE:
        return "It does not get any larger";
    default:
        return "Everything is in view";
    }
}

static const char *of_search(const struct weft_explorer *e)
{
    if (!*e->query)
        return "Nothing has been searched for: press /";
    for (unsigned i = 0; i < e->panes; i++)
        if (e->pane[i].searching)
            return "The search goes on";
    return "The search found nothing";
}

static const char *of_several(const struct weft_explorer *e, enum weft_command command)
{
    if (e->panes < 2)
        return "There is only one trace";
    if (command == WEFT_COMMAND_NEXT_TRACE || command == WEFT_COMMAND_TRACE_DOWN)
        return "This is the last trace";
    if (command == WEFT_COMMAND_PREVIOUS_TRACE || command == WEFT_COMMAND_TRACE_UP)
        return "This is the first trace";
    return command == WEFT_COMMAND_ALIGN ? "The traces have no time in common by the wall clock"
                                         : "Nothing to do";
}

static const char *reason(const struct weft_explorer *e, enum weft_command command)
{
    if (command >= WEFT_COMMANDS || weft_commands[command].where == WEFT_COMMAND_FRONT)
        return "";
    if (e->panes == 0)
        return "No trace is open";
    if (command <= WEFT_COMMAND_SQUEEZE)
        return of_move(e, command);
    if (command >= WEFT_COMMAND_NEXT && command <= WEFT_COMMAND_BECAME)
        return of_walk(e, command);
    switch (command) {
    case WEFT_COMMAND_FIT:
        return "Everything is in view";
    case WEFT_COMMAND_FIT_SELECTION:
    case WEFT_COMMAND_CLEAR:
        return "Nothing is selected or measured";
    case WEFT_COMMAND_BACK:
        return "There is no jump to go back from";
    case WEFT_COMMAND_FORWARD:
        return "There is no jump to repeat";
    case WEFT_COMMAND_UNDO:
        return "There is nothing to undo";
    case WEFT_COMMAND_REDO:
        return "There is nothing to redo";
    case WEFT_COMMAND_NEXT_HIT:
    case WEFT_COMMAND_PREVIOUS_HIT:
        return of_search(e);
    case WEFT_COMMAND_NEXT_FINDING:
    case WEFT_COMMAND_PREVIOUS_FINDING:
        return is_analysing(e) ? "The trace is still being analysed"
                               : "There are no findings to show";
    case WEFT_COMMAND_PATH:
        return "Nothing is selected: the critical path is that of a promise";
    case WEFT_COMMAND_COMPARE:
        return "Nothing is selected or measured that could be compared";
    case WEFT_COMMAND_NEXT_NOTE:
    case WEFT_COMMAND_PREVIOUS_NOTE:
        return "There are no notes: m writes one";
    case WEFT_COMMAND_HIDE:
    case WEFT_COMMAND_PIN:
        return "Nothing is selected: click a promise of the group";
    case WEFT_COMMAND_SHOW_HIDDEN:
        return "No group is hidden";
    case WEFT_COMMAND_GROUP:
    case WEFT_COMMAND_COLLAPSE:
    case WEFT_COMMAND_READABLE:
        return "There is nothing to put into rows";
    case WEFT_COMMAND_COUNTERS:
        return "The trace has no counters";
    case WEFT_COMMAND_STRIPS:
        return "The trace has no samples";
    case WEFT_COMMAND_OLDER:
        return "Nothing is pending since before the trace";
    case WEFT_COMMAND_TABLE_PIN:
        return "Nothing is selected: the table can show what a promise created";
    case WEFT_COMMAND_FOLD:
        return e->panes > 1 && !e->is_free
                   ? "Traces with linked time axes are not folded: l frees them"
                   : "There is no long sleep to fold";
    case WEFT_COMMAND_LINK:
    case WEFT_COMMAND_ALIGN:
    case WEFT_COMMAND_NEXT_TRACE:
    case WEFT_COMMAND_PREVIOUS_TRACE:
    case WEFT_COMMAND_TRACE_DOWN:
    case WEFT_COMMAND_TRACE_UP:
        return of_several(e, command);
    case WEFT_COMMAND_DUPLICATE:
        return e->panes == WEFT_PANES_MAX ? "There is no room for more traces"
                                          : "There is not enough memory";
    case WEFT_COMMAND_TOUR_NEXT:
    case WEFT_COMMAND_TOUR_PREVIOUS:
    case WEFT_COMMAND_TOUR_LEAVE:
        return !weft_explorer_tour(e)              ? "There is no tour: F1 begins one"
               : command == WEFT_COMMAND_TOUR_NEXT ? "This is the last step of the tour"
                                                   : "This is the first step of the tour";
    default:
        return "There is nothing to do";
    }
}

/* What was done, or "": it is to be seen. */
static const char *deed(const struct weft_explorer *e, enum weft_command command)
{
    struct explore_clocks c;
    if (command == WEFT_COMMAND_LINK)
        return e->is_free ? "Each trace has its own time axis now"
                          : "All traces have the same time axis now";
    if (command != WEFT_COMMAND_ALIGN)
        return "";
    explore_clocks_find(e, &c);
    for (unsigned i = 1; i < e->panes; i++)
        if (explore_round(e->pane[i].view.offset) != 0)
            return c.count + 1 < e->panes
                       ? "By the wall clock, as far as the traces have a time in common"
                       : "The traces are placed by the wall clock";
    return c.count ? "Each trace begins at the left" : "";
}

void explore_why(struct weft_explorer *e, enum weft_command command, bool done)
{
    snprintf(e->why, sizeof e->why, "%s", done ? deed(e, command) : reason(e, command));
}

/* The bytes of the character that the text begins with; 0: it begins with none that can be seen. */
static size_t character(const char *text)
{
    const unsigned char c = (unsigned char)*text;
    size_t size = c <= 0x20 || c == 0x7f ? 0 : c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    for (size_t i = 1; i < size; i++)
        if (((unsigned char)text[i] & 0xc0) != 0x80)
            return 0;
    return c >= 0x80 && c < 0xc2 ? 0 : size;
}

void explore_why_not_key(struct weft_explorer *e, const char *key, unsigned mods)
{
    size_t size = character(key);
    *e->why = '\0';
    if (!(mods & (WEFT_CTRL | WEFT_ALT)) && size > 0 &&
        !key[size]) /* else the browser's or the desktop's */
        snprintf(e->why, sizeof e->why, "%s is no command: ? shows the keys, : all commands", key);
}

const char *weft_explorer_why(const struct weft_explorer *e)
{
    return e->why;
}
