/* SPDX-License-Identifier: ISC */
/* What the parts of the explorer share. Private to src/explore.
 *
 * explore.c: life, traces; draw.c: the picture; panes.c: where the panes lie, and their order; window.c: which times and rows are
 * seen, folds, traces of the same time; input.c: pointer and wheel; keys.c: commands; reason.c: why they did nothing;
 * walk.c: selection, search; groups.c; history.c: the way back; panel.c: facts, lists, counters; table.c; flame.c,
 * which draws what why.c adds up; tip.c; overview.c: the strip on top; place.c, place_go.c. */
#pragma once

#include "explore/fact.h"
#include "explore/why.h"
#include "view/flame.h"

#define EXPLORE_HISTORY_MAX 100
#define EXPLORE_QUERY_BYTES 1000
#define EXPLORE_PLACE_BYTES 16384

/* The visible range of time. Not whole numbers, so that many small steps add up, and zooming in and out again returns
 * to the same range. */
struct explore_window {
    double from, to;
};

/* What is visible of a pane. */
struct explore_view {
    struct explore_window window; /* while axes are free */
    double offset;                /* while linked: how much later than in the first pane */
    double spread;                /* see weft_viewport */
    uint32_t focus_row;
    int32_t focus_px;
};

/* What belongs to a trace, however many panes show it. */
struct explore_trace {
    struct weft_analysis *analysis; /* NULL: there is none … */
    bool analysing;                 /* … yet */
    struct weft_history *history;   /* made if one was needed before the analysis was ready … */
    struct weft_hung hung;          /* … and what it says of the end */
    struct weft_groups *groups;     /* NULL: none */
    struct explore_notebook *notebook; /* never NULL */
};

struct explore_pane {
    unsigned source; /* which trace; panes of one trace share scene and model, and: */
    bool closing;    /* the front end is asked to close it */
    struct weft_scene *scene;
    struct weft_model *model;
    struct weft_search *search; /* NULL: no search */
    bool searching;
    struct explore_trace *trace; /* never NULL */
    uint8_t *counter_off;        /* of each counter */
    double begin, end;           /* of the trace; promoted promises begin before 0 */
    double first;                /* where its first view begins */
    struct weft_mark *mark;      /* WEFT_MARKS_MAX, or NULL */
    uint32_t marks;
    char title[256];

    struct explore_view view;

    /* Of the latest picture. */
    int32_t top_px, height_px; /* height 0: there is no room for it */
    struct weft_viewport viewport;
    struct weft_geometry geometry;
    struct weft_glide glide;
};

/* How the view moves. Movements of one kind that follow each other are one step of the history. */
enum explore_movement {
    EXPLORE_STILL,
    EXPLORE_ZOOM,
    EXPLORE_PAN,
    EXPLORE_ROWS, /* up, down, spread */
    EXPLORE_DRAG,
    EXPLORE_PINCH,
    EXPLORE_SCROLL, /* the panes */
};

/* How the promises of a trace are grouped. The bits are numbers of groups. */
struct explore_grouping {
    uint32_t by;    /* enum weft_group_by */
    uint32_t names; /* a sum of the names: of the same groups, if the trace was read again */
    uint64_t closed[2], hidden[2], pinned[2];
};

/* An earlier view. */
struct explore_moment {
    unsigned panes, pane, finding_pane;
    int32_t top; /* how far the panes are scrolled */
    uint32_t finding;
    bool selected, is_free;
    bool jumped; /* a jump led here, not a movement */
    uint64_t id; /* of the selection */
    struct explore_window window;
    struct explore_view of[WEFT_PANES_MAX];
    struct explore_grouping grouping[WEFT_PANES_MAX];
    uint32_t hidden; /* kinds */
};

/* A finding that will be shown once the pane is analysed. */
struct explore_wanted {
    bool is; /* wanted */
    bool
        again; /* after its trace was read again: the one with this kind and culprit; else by number */
    bool moves;
    unsigned pane;
    uint32_t number;
    enum weft_finding_kind kind;
    uint64_t id; /* of the culprit */
};

/* A note in the list of all. */
struct explore_listed {
    struct weft_note note;
    uint32_t remark; /* in the pane's notebook */
    int64_t time_ns;
    char at[64], about[128];
};

/* What a note or a comparison is about. */
struct explore_where {
    bool of_promise;
    uint64_t id;            /* of the promise */
    int64_t from_ns, to_ns; /* else; equal: a moment */
};

/* What the next selection or range is compared with. */
struct explore_kept {
    bool is;
    unsigned pane;
    struct explore_where where;
};

#define EXPLORE_LINK_NOTE_BYTES 200 /* of a note that is part of places */

#define EXPLORE_NOTES_MAX 24
#define EXPLORE_NOTE_BYTES 1024

enum explore_grip {
    EXPLORE_GRIP_NONE,
    EXPLORE_GRIP_ROWS,
    EXPLORE_GRIP_RULER,
    EXPLORE_GRIP_FLAME,
    EXPLORE_GRIP_OVERVIEW,
    EXPLORE_GRIP_LEGEND,
    EXPLORE_GRIP_TITLE, /* moves the pane among the others */
    EXPLORE_GRIP_CLOSE,
};

/* What dragging in the overview does: it moves the window, or one edge of it, or makes a new one. */
enum explore_overview_part {
    EXPLORE_OVERVIEW_MOVE,
    EXPLORE_OVERVIEW_FROM,
    EXPLORE_OVERVIEW_TO,
    EXPLORE_OVERVIEW_BRUSH,
};

/* From press to release. */
struct explore_drag {
    enum explore_grip grip;
    enum explore_overview_part part;
    bool moved; /* far enough not to be a click */
    bool alone; /* only this pane */
    unsigned pane;
    double x, y;
    struct explore_window window; /* of the pane, at the press */
    uint32_t row;                 /* under the pointer, or WEFT_NONE */
    int32_t row_px;
    int64_t time_ns;
    uint32_t scrolled; /* of the flame graph, at the press */
};

/* What a flame graph is of. */
struct explore_flame_of {
    unsigned pane;
    uint32_t promise;       /* or WEFT_NONE */
    int64_t from_ns, to_ns; /* equal: always */
    bool created;           /* and what the promise created */
    bool async;             /* creators below the loop */
    bool off_cpu;           /* time off the core */
    /* what promises waited for, instead of samples: those with the promise's label; family: their numbers do not count */
    bool why, family;
};

#define EXPLORE_FLAME_BACK 32

/* The flame graph, below the panes. */
struct explore_flame_pane {
    bool open;
    struct explore_flame_of wanted; /* created, async and off_cpu of it are switches */
    struct explore_flame_of of;     /* what the tree is of */
    struct weft_calltree *tree;     /* NULL: there is none; why says why */
    const char *why;
    struct weft_profile
        *names; /* of a tree of waits; otherwise NULL, and the names are the scene's */
    struct explore_why *work; /* while such a tree is made */
    uint32_t focus, scrolled;
    uint32_t wants_focus; /* a place asks for it */
    uint32_t back[EXPLORE_FLAME_BACK], backs;
    uint32_t hovered; /* box, or WEFT_NONE */
    struct weft_flame layout;
    int32_t top_px, height_px; /* height 0: it is not shown */
    char title[300], note[200];
};

/* The visible promises, as a list of texts. */
struct explore_visible {
    struct weft_visible item[WEFT_VISIBLE_MAX];
    uint32_t count;
    uint32_t all; /* how many are visible in all panes; see explore_visible_list */
    char text[WEFT_VISIBLE_MAX][300]; /* of the items */
};

/* The groups of facts, from top to bottom. */
enum explore_part {
    EXPLORE_FLAME,
    EXPLORE_COMPARED,
    EXPLORE_RANGE,
    EXPLORE_FINDING,
    EXPLORE_SELECTION,
    EXPLORE_DIFF,
    EXPLORE_TRACE,
    EXPLORE_PARTS
};

struct weft_explorer {
    struct explore_pane pane[WEFT_PANES_MAX];
    unsigned panes;
    unsigned sources;      /* the highest number of a trace */
    unsigned active;       /* the pane that keys are for */
    unsigned pointed_pane; /* under the pointer, or WEFT_PANES_MAX */
    int32_t top;           /* how far the panes are scrolled, in thousandths of one */
    bool panes_fit;        /* in the latest picture; otherwise they scroll */
    int32_t width_px, height_px;
    uint16_t text_percent;
    unsigned changed;

    bool is_free;                 /* axes are not linked */
    struct explore_window window; /* while they are linked: of the first pane */
    bool no_counters, no_strips, no_legend;
    bool older;            /* as in a viewport */
    bool overview;         /* it is shown … */
    bool usually_overview; /* … unless a place says otherwise */
    unsigned
        tour; /* step of the tour, from 1; 0: none. It counts while the first pane shows the example */
    uint32_t hidden; /* kinds that are switched off: a bit for each */
    struct weft_legend legend;
    enum weft_kind legend_pointed;
    int32_t legend_top_px, legend_px; /* its height is 0 if it is not shown */
    char kind_text[120];
    bool folds; /* sleep is folded, where each trace has its own axis or there is only one */

    unsigned selected_pane, hovered_pane, range_pane;
    uint32_t selected, hovered;         /* promise, or WEFT_NONE */
    uint32_t hovered_arrow;             /* as in weft_viewport; of the hovered pane */
    int64_t range_from_ns, range_to_ns; /* equal: no range */

    struct explore_kept kept;
    unsigned finding_pane;
    uint32_t finding; /* index of the finding shown, or WEFT_NONE */
    struct explore_wanted wanted;
    bool wants_path; /* the user or a place asks for it */
    struct weft_path path;
    struct weft_mark *path_mark; /* its steps */
    unsigned path_pane;
    uint32_t path_promise; /* the promise whose path it is; WEFT_NONE: none */
    bool wants_diff, diff_moves, has_diff;
    struct weft_diff diff;
    bool marks_stale;
    char (
        *note_text)[EXPLORE_NOTE_BYTES]; /* lines of a still picture; EXPLORE_NOTES_MAX, or NULL */
    const char *note[EXPLORE_NOTES_MAX];
    uint32_t note_count;
    bool notes_failed;

    struct explore_flame_pane flame;
    struct explore_table *table; /* NULL: none was ever open */

    struct weft_drawlist list;
    bool dirty;  /* the list does not match the current view */
    bool moved;  /* … nor does the geometry of the panes */
    bool placed; /* but the panes and the time axis are where they were */

    /* Rows glide if the front end says what time it is; -1: never. */
    int64_t frame_ns;
    uint32_t glide_part; /* of the picture that is being drawn; 0: rows are where they belong */
    bool glides;         /* they are on their way, in the latest picture */

    struct explore_drag drag;
    double wheel_x, wheel_y; /* where the wheel set the focus; below 0: it did not */
    bool pointed;
    double point_x, point_y;
    bool over; /* the pointer is over the picture, where it was last … */
    double over_x, over_y;
    char tip[1024];
    bool tip_is_stale;
    char why[160]; /* why the last command did nothing */

    char query[EXPLORE_QUERY_BYTES + 1];
    bool search_failed;
    char found[256];

    struct explore_moment *history; /* EXPLORE_HISTORY_MAX */
    unsigned history_count, history_at;
    enum explore_movement moving; /* since history_at; EXPLORE_STILL: nothing has moved */

    struct explore_facts part[EXPLORE_PARTS];
    unsigned stale_parts;   /* a bit for each */
    struct weft_fact *fact; /* of all of them that are shown */
    uint32_t facts, facts_room;

    struct explore_visible visible;
    bool visible_is_stale;

    struct explore_listed *listed; /* the list of notes, and as the front end gets it */
    struct weft_note *noted;
    uint32_t listed_count, listed_room, noted_room;
    uint32_t noted_at; /* the one that was gone to last */
    char note_about[160], note_since[24];

    char counter_text[320];
    char where[640];
    char place[EXPLORE_PLACE_BYTES];
};

/* ---- explore.c ---- */

/* Something must be drawn differently, in the same place. */
void explore_changed(struct weft_explorer *e, unsigned flags);

/* One group of facts has changed. */
void explore_part_changed(struct weft_explorer *e, enum explore_part part);

/* Makes that pane the target of keys. */
void explore_activate(struct weft_explorer *e, unsigned pane);

/* Notes that the view has moved. */
void explore_moved(struct weft_explorer *e);

/* Switches off the counters of that name: sets their flags. Returns true if there are any. */
bool explore_counters_hide(uint8_t *counter_off, const struct weft_model *m, const char *name);

/* Updates the geometry of the panes to the current view. Returns 0 or WEFT_E_NOMEM. */
int explore_refresh(struct weft_explorer *e);

/* … with all rows where they belong, not on their way: before something moves them further. */
int explore_refresh_rested(struct weft_explorer *e);

/* The pane at a y; e->panes if there is none. */
unsigned explore_pane_at(const struct weft_explorer *e, double y);

/* The nearest whole number, within 2^62. */
int64_t explore_round(double x);

/* ---- panes.c ---- */

/* Places the panes, and the legend and the flame graph below them. A still picture has its legend within a pane. */
void explore_panes_place(struct weft_explorer *e, bool still);

/* Scrolls the panes by notches of the wheel. Returns false if all are in view. */
bool explore_panes_scroll(struct weft_explorer *e, double notches);

/* Scrolls so that all of a pane is in view. */
void explore_panes_reveal(struct weft_explorer *e, unsigned pane);

/* Returns true if another pane shows the same trace; if none above it does. */
bool explore_pane_is_shared(const struct weft_explorer *e, unsigned pane);
bool explore_pane_is_first(const struct weft_explorer *e, unsigned pane);

/* Arranges the panes so that they show these traces, one of them maybe several times; panes that are left over are to be
 * closed. Returns false if there is no such trace, or no room. */
bool explore_panes_arrange(struct weft_explorer *e, const unsigned *source, unsigned count);

bool explore_panes_command(struct weft_explorer *e, enum weft_command command);

/* What is at a point of a pane's title, if there are several panes. */
enum explore_title { EXPLORE_TITLE_NONE, EXPLORE_TITLE_NAME, EXPLORE_TITLE_CLOSE };
enum explore_title explore_title_at(const struct weft_explorer *e, unsigned pane, double x,
                                    double y);

/* The pointer is over that pane, or none (e->panes): its title gets a button that closes it, which needs that room in
 * pixels. */
void explore_title_hover(struct weft_explorer *e, unsigned pane);
int32_t explore_title_room(const struct weft_explorer *e, unsigned pane);
void explore_title_draw(const struct weft_explorer *e, struct weft_drawlist *list, unsigned pane);

void explore_title_drag(struct weft_explorer *e, double y);
void explore_title_release(struct weft_explorer *e, double x, double y);

/* ---- window.c ---- */

/* Times of a pane. */
struct explore_window explore_window_get(const struct weft_explorer *e, unsigned pane);

/* Shows these times, clamped so that some of the trace stays in view, over at least `margin` of the width. If axes are
 * linked, the other panes follow. */
void explore_window_set(struct weft_explorer *e, unsigned pane, struct explore_window w,
                        double margin);

/* Clamps the view to what makes sense now. */
void explore_window_settle(struct weft_explorer *e);

/* Moves one pane alone: by its offset, if axes are linked. */
void explore_window_shift(struct weft_explorer *e, unsigned pane, struct explore_window w);

/* Shows exactly these times, from a place, if they are near the trace at all. Returns true if they are. */
bool explore_window_go(struct weft_explorer *e, unsigned pane, struct explore_window w);

/* The folds of a pane as it is shown, or NULL. Several traces whose axes are linked are not folded: what sleeps in one
 * need not in the others, and equal lengths must stay equal. */
const struct weft_folds *explore_folds(const struct weft_explorer *e, unsigned pane);

/* The window in shown time (see weft_folds), in which the axis is linear, and back. */
struct explore_window explore_window_shown(const struct weft_explorer *e, unsigned pane,
                                           struct explore_window w);
struct explore_window explore_window_real(const struct weft_explorer *e, unsigned pane,
                                          struct explore_window shown);

/* The window that many pixels to the right. */
struct explore_window explore_window_beside(const struct weft_explorer *e, unsigned pane,
                                            struct explore_window w, double pixels);

/* Zooms; the pane's time at x stays there. */
void explore_window_zoom(struct weft_explorer *e, unsigned pane, double x, double factor);
void explore_window_pan(struct weft_explorer *e, unsigned pane, double pixels);

/* Shows everything: all times and all rows. */
void explore_window_fit(struct weft_explorer *e);
bool explore_window_is_fit(const struct weft_explorer *e);

/* Shows what a trace shows first, once everything is shown: of a ring that has wrapped, what is complete. */
void explore_window_first(struct weft_explorer *e);
bool explore_window_is_first(const struct weft_explorer *e);

void explore_window_link(struct weft_explorer *e, bool linked);

struct explore_clocks {
    double offset[WEFT_PANES_MAX];  /* as a pane's offset */
    bool is_common[WEFT_PANES_MAX]; /* it overlaps another one */
    unsigned count;                 /* of the panes aligned by clock with one above them */
};

/* Where the wall clock places the panes. */
void explore_clocks_find(const struct weft_explorer *e, struct explore_clocks *c);

/* Panes that were aligned by it before a trace was read again stay aligned: the clock may be known more precisely now. */
void explore_clocks_keep(struct weft_explorer *e, const struct explore_clocks *before);

/* Aligns all panes by the clock or, if they already are, to the same beginning. Returns true if anything changed. */
bool explore_clocks_align(struct weft_explorer *e);

/* Describes how the time axis of a pane relates to the others; may use out. NULL: there are no others. */
const char *explore_clocks_say(const struct weft_explorer *e, unsigned pane, char *out,
                               size_t room);

/* The pane's time at x, and pixels of the time axis. */
double explore_time_at(const struct weft_explorer *e, unsigned pane, double x);
double explore_axis_px(const struct weft_explorer *e);
double explore_axis_x0(const struct weft_explorer *e);

/* Squeezes the rows of a pane as far as needed to show all. */
void explore_rows_squeeze(struct explore_pane *p);

/* Spreads the rows of a pane by the factor (squeezes them below 1). */
void explore_rows_spread(struct weft_explorer *e, unsigned pane, double factor);

/* Scrolls down over rows that do not all fit. */
void explore_rows_scroll(struct weft_explorer *e, unsigned pane, double pixels);

/* Zooms in time around x, and in rows: zooming in spreads those of the pane, zooming out squeezes all again. */
void explore_zoom(struct weft_explorer *e, unsigned pane, double x, double factor);

/* Makes the row the focus, at its present place or at middle_px of the pane. */
void explore_rows_focus(struct weft_explorer *e, unsigned pane, uint32_t row, int32_t middle_px);

/* Where the middle of a row is, in pixels below the pane's top, and how high it is. false: it is not in the picture.
 * Refers to the latest picture. */
bool explore_row_at(const struct weft_explorer *e, unsigned pane, uint32_t row, int32_t *middle_px,
                    int32_t *height_px);

/* 1.2 to the power of `notches`, which is at most 40. */
double explore_notches(double notches);

/* ---- input.c ---- */

/* Measures from one time to the other; both equal: nothing. */
void explore_range_set(struct weft_explorer *e, unsigned pane, int64_t a, int64_t b);

/* What is at a point of a pane's latest picture. */
struct weft_pick explore_pick(const struct weft_explorer *e, unsigned pane, double x, double y);

/* ---- walk.c ---- */

/* Selects without moving. */
void explore_select(struct weft_explorer *e, unsigned pane, uint32_t promise);

/* Moves the view as little as needed to make the selection well visible. */
void explore_reveal(struct weft_explorer *e);

/* Selects a promise, brings it into view and remembers the earlier view. Returns false for WEFT_NONE. */
bool explore_jump(struct weft_explorer *e, unsigned pane, uint32_t promise);

/* From where a promise's line begins to its end. */
struct explore_window explore_life(const struct explore_pane *p, uint32_t promise);

/* Shows these times, with a margin. */
void explore_zoom_to(struct weft_explorer *e, unsigned pane, struct explore_window w);

/* The commands that select: NEXT to BECAME. */
bool explore_walk(struct weft_explorer *e, enum weft_command command);

/* Searches the pane anew for e->query. */
void explore_search_pane(struct weft_explorer *e, unsigned pane);
bool explore_hits_go(struct weft_explorer *e, int step);

/* ---- history.c ---- */

/* Around a jump: call leave before it, arrive after it. */
void explore_history_leave(struct weft_explorer *e);
void explore_history_arrive(struct weft_explorer *e);

/* Call it before a movement. It ends with weft_explorer_rest, a movement of another kind or a jump. */
void explore_history_move(struct weft_explorer *e, enum explore_movement movement);

/* One step back (-1) or forward (1); jumps: to before or after a jump. Returns false if there is none. */
bool explore_history_go(struct weft_explorer *e, int step, bool jumps);
void explore_history_clear(struct weft_explorer *e);

/* ---- reason.c ---- */

/* Says why a command could do nothing, or what it did. */
void explore_why(struct weft_explorer *e, enum weft_command command, bool done);
void explore_why_not_key(struct weft_explorer *e, const char *key, unsigned mods);

/* ---- groups.c ---- */

/* Groups the promises of a trace, in all its panes. Returns false if that cannot be: nothing has changed then. */
bool explore_groups_make(struct weft_explorer *e, unsigned pane, enum weft_group_by by);

/* Notes how the trace of a pane is grouped, and groups it so again. What cannot be made again, for lack of memory or because
 * the search is another, has no groups then. */
void explore_groups_note(const struct weft_explorer *e, unsigned pane, struct explore_grouping *to);
void explore_groups_recall(struct weft_explorer *e, unsigned pane,
                           const struct explore_grouping *g);

/* Groups a new scene as the old one was. */
void explore_groups_keep(struct weft_explorer *e, unsigned pane);

/* Moves to the top what is pinned now. */
void explore_groups_pinned(struct weft_explorer *e, unsigned pane);

/* GROUP to SHOW_HIDDEN. */
bool explore_groups_command(struct weft_explorer *e, enum weft_command command);

/* Opens or closes the group whose name is there. Returns false if there is none. */
bool explore_groups_click(struct weft_explorer *e, unsigned pane, double x, double y);

/* How many promises are hidden. */
uint64_t explore_groups_hidden(const struct weft_groups *g);

/* ---- findings.c ---- */

/* The history of a pane's model: the analysis's, or one that is made now. NULL: the analysis is not there yet, or there
 * is no memory. */
const struct weft_history *explore_history_of(struct explore_pane *p);

/* Shows a finding; if `moves`, brings it into view. */
void explore_finding_show(struct weft_explorer *e, unsigned pane, uint32_t finding, bool moves);
bool explore_finding_go(struct weft_explorer *e, int step);

/* Shows the wanted finding if it is already there. Returns false if it never will be. */
bool explore_finding_come(struct weft_explorer *e);

/* Stops showing a finding. Returns true if one was shown. */
bool explore_finding_leave(struct weft_explorer *e);

/* Selects the promise, if there is one, and brings that time into view, or (centres) into the middle. */
void explore_moment_go(struct weft_explorer *e, unsigned pane, uint32_t promise, int64_t time_ns,
                       bool centres);

/* Both traces side by side where they diverge. */
void explore_diff_go(struct weft_explorer *e);

/* The comparison no longer fits: another one is to be made, if it is still wanted. */
void explore_diff_drop(struct weft_explorer *e);

/* A pane's trace goes away or is replaced; gone: the pane goes away, too. */
void explore_findings_forget(struct weft_explorer *e, unsigned pane, bool gone);

/* The path of the selection, computed on first use; NULL: there is none, or a finding that is shown says more. */
const struct weft_path *explore_path(struct weft_explorer *e);

/* The same, or NULL if nobody asked for it: what is drawn. */
const struct weft_path *explore_path_shown(struct weft_explorer *e);
bool explore_path_toggle(struct weft_explorer *e);

/* ---- marks.c ---- */

/* Updates the marks of all panes to what is shown. */
void explore_marks_update(struct weft_explorer *e);

/* Makes the notes of a still picture. Returns false if there is no memory. */
bool explore_notes_make(struct weft_explorer *e);

/* ---- keys.c ---- */

/* Keeps the measured range or the selection for a comparison, or forgets what is kept. */
bool explore_compare_toggle(struct weft_explorer *e);

/* ---- notes.c ---- */

/* "413" is a promise, "t1000" a time, "r1000-2000" a range. Reading returns false if it makes no sense. */
bool explore_where_read(struct explore_where *w, const char *at, size_t size);
void explore_where_write(char *out, size_t room, const struct explore_where *w);

struct explore_notebook *explore_notebook_new(void);
void explore_notebook_free(struct explore_notebook *b);

/* Adds a note, unless it is there already or was deleted. later_ns: how much later times are counted from now. */
bool explore_note_put(struct weft_explorer *e, unsigned pane, const char *at, size_t at_size,
                      const char *text, size_t size, int64_t later_ns);

/* The trace's times are counted from a later moment now. */
void explore_notes_later(struct explore_pane *p, int64_t by_ns);

bool explore_note_step(struct weft_explorer *e, int step);

/* Adds marks for the notes of a pane. */
void explore_notes_mark(struct explore_pane *p);
bool explore_notes_any(const struct explore_pane *p);

/* Adds the notes on a promise or, with WEFT_NONE, on these times to a tip. */
void explore_notes_say(struct analyse_text *t, const struct explore_pane *p, uint32_t promise,
                       int64_t from_ns, int64_t to_ns);

/* The next note, from *next on, that is short enough for a place. Returns the size of what it is about; 0: no more. */
size_t explore_notes_short(const struct explore_pane *p, uint32_t *next, char *at, size_t room,
                           const char **text);

/* ---- flame.c ---- */

/* Executes one of the flame graph's commands. */
bool explore_flame_command(struct weft_explorer *e, enum weft_command command);

/* Its height in pixels in a picture of that height; 0: it is not shown. */
int32_t explore_flame_height(const struct weft_explorer *e, int32_t height_px);

/* Draws it at the bottom. Returns 0 or WEFT_E_NOMEM. */
int explore_flame_draw(struct weft_explorer *e, struct weft_drawlist *list, bool still);

/* Returns true if y is in it. */
bool explore_flame_has(const struct weft_explorer *e, double y);

/* The pointer is there, or somewhere else. */
void explore_flame_point(struct weft_explorer *e, double x, double y);
void explore_flame_click(struct weft_explorer *e, double x, double y);
void explore_flame_scroll(struct weft_explorer *e, int rows);

/* Goes back to the previous frame, or closes it. Returns true if there was something to do. */
bool explore_flame_back(struct weft_explorer *e);

void explore_flame_focus(struct weft_explorer *e, uint32_t node);

/* Describes what is under the pointer. Returns the text's size. */
size_t explore_flame_tip(struct weft_explorer *e, char *out, size_t room);

/* Adds facts about it. */
void explore_flame_facts(struct weft_explorer *e);

/* Continues a graph of what promises waited for. Returns true if there is more to do. */
bool explore_flame_work(struct weft_explorer *e);

/* The trace that it shows goes away. */
void explore_flame_forget(struct weft_explorer *e);
void explore_flame_fini(struct weft_explorer *e);

/* ---- overview.c ---- */

/* Its height in pixels above panes and flame graph that have that height together; 0: it is not shown. */
int32_t explore_overview_height(const struct weft_explorer *e, int32_t height_px);

/* Draws it at the top. Returns 0 or WEFT_E_NOMEM. */
int explore_overview_draw(struct weft_explorer *e, struct weft_drawlist *list);

/* Returns true if y is in it; the following are for such a y. */
bool explore_overview_has(const struct weft_explorer *e, double y);
void explore_overview_press(struct weft_explorer *e, double x, double y, int clicks);
/* Pans by that many pixels of the strip, then zooms around x. */
void explore_overview_move(struct weft_explorer *e, double x, double y, double pixels,
                           double factor, enum explore_movement movement);

/* Describes what is at a point. */
void explore_overview_tip(const struct weft_explorer *e, struct analyse_text *t, double x,
                          double y);

/* Continues, and ends, what was begun by a press; first: for the first time. */
void explore_overview_drag(struct weft_explorer *e, double x, bool first);
void explore_overview_release(struct weft_explorer *e, const struct explore_drag *d, bool moved);

/* ---- legend.c ---- */

/* Its height in pixels in a window of that height; 0: it is not shown. */
int32_t explore_legend_height(const struct weft_explorer *e, int32_t height_px);

/* Draws it: what the panes show, which must be drawn already. Returns 0 or WEFT_E_NOMEM. */
int explore_legend_draw(struct weft_explorer *e, struct weft_drawlist *list, int32_t top_px);

/* Returns true if y is in it. */
bool explore_legend_has(const struct weft_explorer *e, double y);
void explore_legend_point(struct weft_explorer *e, double x, double y);

/* Switches the kind that is named there. */
void explore_legend_click(struct weft_explorer *e, double x, double y);

/* Says what the kind under the pointer means. Returns the text's size. */
size_t explore_legend_tip(const struct weft_explorer *e, char *out, size_t room);

/* ---- words.c ---- */

/* "'ARP query' went on because 'ARP response' was signalled, 20.1 ms after it began to wait" */
void explore_arrow_say(struct analyse_text *t, const struct weft_scene *s,
                       const struct weft_arrow *a);

/* "; here it waits for 'ARP response', since 40 ms", or nothing. */
void explore_moment_say(struct analyse_text *t, const struct weft_model *m, uint32_t promise,
                        int64_t time_ns);

/* ---- table.c ---- */

/* What a place says of the table. Promises are of the panes' models. */
struct explore_table_place {
    const char *by, *sort;      /* NULL: there is no table; the usual order */
    bool is_default, ascending; /* the order; is_default: only when it is written */
    unsigned pane, pinned_pane;
    uint32_t kind, pinned; /* one of the chosen row; or WEFT_NONE */
};

struct explore_table_place explore_table_place(const struct weft_explorer *e);

/* Returns false if it names what there is not. */
bool explore_table_go(struct weft_explorer *e, const struct explore_table_place *p);

bool explore_table_command(struct weft_explorer *e, enum weft_command command);

/* Continues. Returns true if there is more to do. */
bool explore_table_work(struct weft_explorer *e);

/* Returns true if it shows labels without their numbers. */
bool explore_table_is_family(const struct weft_explorer *e);

/* What it was made from changes or goes away: a search, a history. leave: also its promises. keep: these will be those of
 * another model with the same numbers, because the pane's trace was read again. */
void explore_table_forget(struct weft_explorer *e);
void explore_table_keep(struct weft_explorer *e, unsigned pane, const struct weft_model *m);
void explore_table_leave(struct weft_explorer *e);
void explore_table_fini(struct weft_explorer *e);

/* ---- panel.c ---- */

/* Empties the list. */
void explore_visible_clear(struct explore_visible *v);

/* Adds the promises of a pane whose visible parts are longest, at most max of them (and while there is room), sorted by
 * the start of their lines. g is the geometry of the pane's picture.
 *
 * Takes some milliseconds, however many are seen: see weft_view_longest, which also says how exact v->all is. Returns 0 or
 * WEFT_E_NOMEM; then nothing is added. */
int explore_visible_list(struct explore_visible *v, const struct weft_scene *s,
                         const struct weft_geometry *g, unsigned pane, uint32_t max);

/* ---- tour.c ---- */

/* Shows a step of the tour, or none: 0, wherever the view is. */
void explore_tour_show(struct weft_explorer *e, unsigned step);
bool explore_tour_command(struct weft_explorer *e, enum weft_command command);

/* ---- tip.c ---- */

/* Records what is under the pointer. */
void explore_tip_forget(struct weft_explorer *e);
