/* SPDX-License-Identifier: ISC */
/* The viewer without a screen: what the window, the page and `weft render --at` have in common. It keeps the view's
 * position, responds to pointer, keys and commands, and says what to show; a front end only carries events in, and
 * pictures and texts out.
 *
 *     weft_explorer_new(&e);
 *     weft_explorer_add(e, scene, model, "bad.weft");
 *     weft_explorer_resize(e, 1600, 900);
 *     weft_explorer_scroll(e, 800, 300, 0, -1, 0);         one notch of the wheel: zooms in
 *     paint(weft_explorer_draw(e));
 *
 * Positions are in pixels from the upper left corner of the picture. Returned texts are valid UTF-8 without control
 * characters, terminated, and borrowed until the next call that changes something.
 *
 * An explorer belongs to one thread. */
#pragma once

#include "analyse/diff.h"
#include "analyse/explain.h"
#include "explore/command.h"
#include "view/view.h"

struct weft_explorer;

/* On success the caller owns *out. Returns 0 or WEFT_E_NOMEM. */
int weft_explorer_new(struct weft_explorer **out);
void weft_explorer_free(struct weft_explorer *e);

/* ---- Traces, one above the other ---- */

#define WEFT_PANES_MAX 64

/* Adds a trace below the others; on success the explorer owns scene and model. Returns 0, WEFT_E_NOMEM, or
 * WEFT_E_LIMIT for more than WEFT_PANES_MAX. */
int weft_explorer_add(struct weft_explorer *e, struct weft_scene *scene, struct weft_model *model,
                      const char *title);

/* Replaces a pane's trace with the same trace, read again. Position, selection (by number) and search are kept; if the
 * end was in view, the new end is. The explorer takes ownership of *scene and *model and puts its old ones there, which
 * the caller frees. */
void weft_explorer_exchange(struct weft_explorer *e, unsigned pane, struct weft_scene **scene,
                            struct weft_model **model);

/* The same, but frees the old ones itself: that takes time if the trace is large. */
void weft_explorer_replace(struct weft_explorer *e, unsigned pane, struct weft_scene *scene,
                           struct weft_model *model);

void weft_explorer_remove(struct weft_explorer *e, unsigned pane);

unsigned weft_explorer_panes(const struct weft_explorer *e);

/* Several panes can show one trace (WEFT_COMMAND_DUPLICATE). Traces are numbered from 1 in the order in which they were
 * added; what is replaced or analysed is so in all its panes. */
unsigned weft_explorer_source(const struct weft_explorer *e, unsigned pane);

/* The first pane of a trace; the number of panes if there is none. */
unsigned weft_explorer_find(const struct weft_explorer *e, unsigned source);

/* A trace that no pane shows will not come back: later ones get the numbers before theirs. */
void weft_explorer_forget_source(struct weft_explorer *e, unsigned source);

/* Returns true if the user or a place wants a pane to be closed. The front end then removes it, after it has stopped
 * what it does with the trace. weft_explorer_close_wanted: removes all of these, for programs without threads. */
bool weft_explorer_wants_close(const struct weft_explorer *e, unsigned *pane);
void weft_explorer_close_wanted(struct weft_explorer *e);

/* If the panes do not fit, they scroll: how high they are together, how much of that is seen, and how much is above it.
 * weft_explorer_panes_above: what else is above them, which does not scroll. Pixels. */
int weft_explorer_panes_above(const struct weft_explorer *e);
int weft_explorer_panes_height(const struct weft_explorer *e);
int weft_explorer_panes_seen(const struct weft_explorer *e);
int weft_explorer_panes_top(const struct weft_explorer *e);
void weft_explorer_panes_scroll(struct weft_explorer *e, int top_px);

const char *weft_explorer_title(const struct weft_explorer *e, unsigned pane);
uint64_t weft_explorer_events(const struct weft_explorer *e, unsigned pane);

/* ---- What went wrong ----
 *
 * An analysis takes memory and time, so adding a trace does not start one. The front end makes it, on any thread, and
 * hands it over when it is ready. Until then, everything else works. */

/* What waits when a trace ends. */
struct weft_hung {
    uint64_t waiting;     /* pending promises that wait for another pending one */
    uint32_t waiter;      /* which has waited the longest; WEFT_NONE: nothing waits … */
    uint32_t source, end; /* … for which, and the end of that chain, as far as it was followed */
    int64_t since_ns;
};

struct weft_analysis {
    struct weft_history *history; /* of the model, which must outlive it */
    struct weft_hung hung;
    struct weft_findings findings;
};

/* On success the caller owns *out. progress may be NULL. Returns 0, WEFT_E_NOMEM or WEFT_E_CANCELED; *out is then
 * NULL. */
int weft_analysis_new(struct weft_analysis **out, const struct weft_model *m,
                      weft_progress_fn *progress, void *data);
void weft_analysis_free(struct weft_analysis *a);

/* Tells the explorer that an analysis of the pane's trace is being made: the facts say so. */
void weft_explorer_analysing(struct weft_explorer *e, unsigned pane);

/* Takes ownership of the analysis of a pane's trace; if it is of another model (because the trace was read again), it
 * is only freed. NULL: there will be none. If a place asked for a finding, it is shown now. */
void weft_explorer_analysed(struct weft_explorer *e, unsigned pane, struct weft_analysis *a);

/* The analysis of a pane, or NULL; borrowed until the pane is replaced, removed or analysed again. */
const struct weft_analysis *weft_explorer_analysis(const struct weft_explorer *e, unsigned pane);

/* Returns true if the first two traces are still to be compared: a place has diff=1, there are two traces, and both are
 * analysed. */
bool weft_explorer_wants_diff(const struct weft_explorer *e);

/* Hands over the comparison of the second pane's trace with the first one's, which is the good run. Takes ownership of
 * what is in *d. Shows where they diverge, unless the place that asked for it says where to look. */
void weft_explorer_compared(struct weft_explorer *e, struct weft_diff *d);

/* All of this at once, for programs without threads: analyses what has not been analysed, and compares what is to be
 * compared. Returns 0 or WEFT_E_NOMEM. */
int weft_explorer_analyse(struct weft_explorer *e);

/* Returns true if a place shows something that only an analysis can provide. */
bool weft_explorer_place_is_analysed(const char *place);

/* Shows a finding of a pane, numbered from 1 as in weft explain --all. Returns false if there is no such finding. */
bool weft_explorer_show_finding(struct weft_explorer *e, unsigned pane, uint32_t number);

/* ---- What is to be shown ---- */

/* 200 to 16384 pixels each way; other values are clamped. */
void weft_explorer_resize(struct weft_explorer *e, int width_px, int height_px);

/* Before a picture is drawn for a screen: rows whose places have changed glide there during some frames. now_ns: of any
 * monotonic clock, 0 or later. Without this call, or if users want no motion, they are in their places at once. */
void weft_explorer_frame(struct weft_explorer *e, int64_t now_ns);

/* Returns true if rows are on their way in the latest picture: the next frame must be drawn, too. */
bool weft_explorer_glides(const struct weft_explorer *e);

/* The picture. NULL: no memory. */
const struct weft_drawlist *weft_explorer_draw(struct weft_explorer *e);

/* What has changed since the last call, so that a front end knows what to update. */
enum {
    WEFT_CHANGED_PICTURE = 1,
    WEFT_CHANGED_FACTS = 2,  /* of the selection or the measured range */
    WEFT_CHANGED_SEARCH = 4, /* the text or the state of the search */
    WEFT_CHANGED_TIP = 8,
    WEFT_CHANGED_PLACE = 16,   /* what weft_explorer_place says */
    WEFT_CHANGED_VISIBLE = 32, /* the list of visible promises */
    WEFT_CHANGED_STEP = 64,    /* there is one more step that can be undone */
    WEFT_CHANGED_TABLE = 128,  /* see table.h */
    WEFT_CHANGED_PANES = 256,  /* their number, order or size; what is to be closed */
    WEFT_CHANGED_NOTES = 512,
    WEFT_CHANGED_TOUR = 1024, /* see tour.h; WEFT_CHANGED_PANES may end it, too */
};
unsigned weft_explorer_changed(struct weft_explorer *e);

/* Continues long work (a search, a table, a flame graph of waits) for a few milliseconds. Call it after any change. Returns true if there is more to do. */
bool weft_explorer_work(struct weft_explorer *e);

/* A still picture of the current view, with a legend and tips, for saving. Returns 0 or WEFT_E_NOMEM. The caller owns
 * what is in *list. */
int weft_explorer_picture(struct weft_explorer *e, struct weft_drawlist *list);

/* The height at which such a picture has room for all rows, but at most most_px; 0: no memory. */
int weft_explorer_natural_height(struct weft_explorer *e, int most_px);

/* ---- Facts: of the selected promise, and of the measured range ---- */

enum weft_link {
    WEFT_LINK_NONE,
    WEFT_LINK_PROMISE, /* goes to a promise */
    WEFT_LINK_TIME,    /* goes to a time */
    WEFT_LINK_MOMENT,  /* goes to a promise at a time */
    WEFT_LINK_FINDING, /* goes to a finding */
    WEFT_LINK_DIFF,    /* goes to where two traces diverge */
    WEFT_LINK_FRAME,   /* goes to a frame of the flame graph */
};

struct weft_fact {
    const char *name; /* "created by"; empty: the same as the fact above */
    const char *text; /* "#12 GET /users/7, 1.2 ms" */
    enum weft_link link;
    bool heading; /* begins a group; text is empty */
    bool bad;     /* to be shown in the colour of failures */
};

/* If nothing is selected and nothing measured, these are facts about the trace. */
const struct weft_fact *weft_explorer_facts(struct weft_explorer *e, uint32_t *count);

/* Follows the link of the fact with that index. */
void weft_explorer_follow(struct weft_explorer *e, uint32_t fact);

/* ---- The visible promises as a list, for people who cannot see the picture ---- */

#define WEFT_VISIBLE_MAX 200

struct weft_visible {
    const char *text; /* "fsync log, #12, from 1.2 ms, 3 ms long, failed" */
    unsigned pane;
    uint32_t promise; /* index in the pane's model */
};

/* The promises that take the most room, sorted by the start of their lines; *all is how many there are. */
const struct weft_visible *weft_explorer_visible(struct weft_explorer *e, uint32_t *count,
                                                 uint32_t *all);

/* Selects a promise of a pane and brings it into view. WEFT_NONE: selects nothing. */
void weft_explorer_select(struct weft_explorer *e, unsigned pane, uint32_t promise);

/* The selection; *pane may be NULL. WEFT_NONE: nothing is selected. */
uint32_t weft_explorer_selected(const struct weft_explorer *e, unsigned *pane);

/* ---- Notes ----
 *
 * Users write notes on promises, ranges and times; without a text, a note is a bookmark. They belong to a trace, are
 * drawn as flags, and short ones are part of places. The front end keeps them: beside the trace's file, or in the page. */

#define WEFT_NOTES_MAX 500   /* of a trace */
#define WEFT_NOTE_BYTES 2000 /* of a text; what is longer is cut */

struct weft_note {
    const char *text;
    const char *about; /* "#12 fsync", "from 1 ms to 3 ms" */
    const char
        *at; /* the same for files: "413" is a promise, "t1000" a time, "r1000-2000" a range */
    unsigned pane; /* the first one of its trace */
};

/* All notes, trace by trace, in the order of time. */
const struct weft_note *weft_explorer_notes(struct weft_explorer *e, uint32_t *count);

/* What a new note is about: the selection, else the measured range, else the time under the pointer, or the middle of
 * what is seen. */
const char *weft_explorer_note_place(struct weft_explorer *e);

/* Writes, changes and deletes a note, and goes to what it is about. Those of the list are numbered from 0. They return
 * false if there is no such note, or no room. */
bool weft_explorer_note_add(struct weft_explorer *e, const char *text);
bool weft_explorer_note_edit(struct weft_explorer *e, uint32_t note, const char *text);
bool weft_explorer_note_delete(struct weft_explorer *e, uint32_t note);
bool weft_explorer_note_go(struct weft_explorer *e, uint32_t note);

/* Returns true if notes of a trace have been changed since they were saved. */
bool weft_explorer_notes_unsaved(const struct weft_explorer *e, unsigned source);
void weft_explorer_notes_saved(struct weft_explorer *e, unsigned source);

/* Adds a note that was kept. since: what weft_explorer_notes_since said when it was saved, because the oldest events of a
 * ring may be gone since then; "0": times are as they are. Returns false if `at` makes no sense, or there is no room. */
bool weft_explorer_note_put(struct weft_explorer *e, unsigned source, const char *since,
                            const char *at, const char *text);
const char *weft_explorer_notes_since(struct weft_explorer *e, unsigned source);

/* ---- Input ---- */

enum { WEFT_SHIFT = 1, WEFT_CTRL = 2, WEFT_ALT = 4 };

/* The pointer moved, without a button: what is there is described, see weft_explorer_tip. */
void weft_explorer_point(struct weft_explorer *e, double x, double y);
void weft_explorer_leave(struct weft_explorer *e);

/* The main button, or a finger. clicks: 2 for a double click. On the rows, dragging pans (with WEFT_SHIFT or WEFT_ALT,
 * or while axes are not linked, it moves only this trace in time) and a click selects; on the ruler, dragging measures; on
 * the title of one of several panes, it moves the pane, and a click at its end wants to close it. Window managers keep Alt
 * for themselves, so users hear of Shift. */
void weft_explorer_press(struct weft_explorer *e, double x, double y, int clicks, unsigned mods);
void weft_explorer_drag(struct weft_explorer *e, double x, double y);
void weft_explorer_release(struct weft_explorer *e, double x, double y);

/* Forgets a press: it turned out to be something else, such as a long touch. */
void weft_explorer_cancel(struct weft_explorer *e);

/* The wheel, in notches, down and right are positive: zooms around the pointer. With WEFT_SHIFT, or sideways, it pans;
 * with WEFT_CTRL it only spreads rows; with WEFT_ALT it scrolls rows that do not all fit. If the panes do not fit: over a
 * title, or with WEFT_ALT, it scrolls them. */
void weft_explorer_scroll(struct weft_explorer *e, double x, double y, double dx, double dy,
                          unsigned mods);

/* Two fingers: their middle is at x, y and has moved by dx, dy; their distance has changed by the factor. */
void weft_explorer_pinch(struct weft_explorer *e, double x, double y, double dx, double dy,
                         double factor);

/* A key, by its name in a browser ("ArrowLeft", "n", "N", "+", "Escape"). Returns true if the key has a meaning. */
bool weft_explorer_key(struct weft_explorer *e, const char *key, unsigned mods);

/* Executes a command. Returns false if nothing could be done. Commands that belong to the front end
 * (WEFT_COMMAND_FRONT) do nothing here. */
bool weft_explorer_command(struct weft_explorer *e, enum weft_command command);

/* One sentence on why the latest key or command did nothing, or on what it did with the axes of several traces, which the
 * picture need not show; empty if it did something else, or if the key is none that users expect anything from, such as
 * Shift. */
const char *weft_explorer_why(const struct weft_explorer *e);

/* The user paused: all movements up to now are one step, which one undo takes back. Front ends call it when the picture
 * has not moved for half a second. */
void weft_explorer_rest(struct weft_explorer *e);

/* Describes what is under the pointer, or "". */
const char *weft_explorer_tip(struct weft_explorer *e);

/* ---- Search ---- */

/* Starts a search, see view/search.h; empty: none. weft_explorer_work continues it. */
void weft_explorer_search(struct weft_explorer *e, const char *query);
const char *weft_explorer_query(const struct weft_explorer *e);

/* "3 of 1,204", "searching … 120", "not found"; "outcome: takes pending, …" for a value that makes no sense. */
const char *weft_explorer_found(struct weft_explorer *e);

/* ---- Counters ---- */

/* Counters of all panes, one pane after another. */
uint32_t weft_explorer_counters(const struct weft_explorer *e);
const char *weft_explorer_counter(struct weft_explorer *e, uint32_t counter, bool *shown);
void weft_explorer_show_counter(struct weft_explorer *e, uint32_t counter, bool shown);

/* ---- What is on screen, each kind a switch ----
 *
 * The picture has a legend at its bottom, if there is room: pointing at a kind says what it means, a click switches it off or
 * on. The same for lists and menus: */

/* Gets "running 1,204": the name of a kind, and how many are on screen if that is known. *shown: it is not switched off.
 * Returns true if the kind is on screen or switched off. */
bool weft_explorer_kind(struct weft_explorer *e, enum weft_kind kind, const char **text,
                        bool *shown);
void weft_explorer_show_kind(struct weft_explorer *e, enum weft_kind kind, bool shown);

/* ---- Places ---- */

/* The current view as one line that can be sent to somebody, made for the fragment of a URL:
 *
 *     from=39500000&to=47500000&select=413&search=ARP%20response
 *
 * notes=413~slow has a note on a promise; others are on a time (t39500000) or a range (r39500000-47500000).
 * with=413 compares that promise with the selection; with=r39500000-40000000 a range with the measured one.
 * panes=2,1,2 shows the second trace, the first, and the second once more; top=1500 scrolls them by one and a half.
 * fold=1 folds sleep, finding=2 shows a finding with its evidence, path=1 draws the critical path of the selection, diff=1
 * the comparison of the second trace with the first. hide=waiting,reads switches kinds off (view/kind.def has their names),
 * legend=off the legend. tour=2 is a step of the tour (tour.h). table=label shows the table, sort=p99 what comes first in it.
 *
 * Times in nanoseconds, promises by their numbers. Keys for the second pane end in .2, and so on. Unknown keys are
 * ignored, so that a newer weft can add some. */
const char *weft_explorer_place(struct weft_explorer *e);

/* Goes to a place. Returns false if a value makes no sense for these traces; the rest is still applied. */
bool weft_explorer_go(struct weft_explorer *e, const char *place);

/* Folds sleep or shows all of it: stretches of time in which nothing happens become narrow breaks. A new explorer folds
 * nothing, and neither does a place without fold=1. */
void weft_explorer_fold(struct weft_explorer *e, bool on);

/* Returns true if a place wants scenes without simplification: going to the place cannot change that. */
bool weft_explorer_place_is_raw(const char *place);

/* Says where the view lies in the whole time, and what is where: what the overview shows, for people who cannot see it.
 * "" without a trace. */
const char *weft_explorer_where(struct weft_explorer *e);

/* ---- Looks ---- */

/* Shows the overview above the traces, also at places that do not say whether to show it. */
void weft_explorer_usually_overview(struct weft_explorer *e);

/* Size of texts in per cent, 50 to 300. */
void weft_explorer_text_size(struct weft_explorer *e, unsigned percent);
