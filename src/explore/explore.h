/* SPDX-License-Identifier: ISC */
/* The viewer without a screen: what the window, the page and `weft render --at` have in common. It keeps
 * where one looks, answers to pointer, keys and commands, and says what is to be shown; a front only carries
 * events in, and pictures and texts out.
 *
 *     weft_explorer_new(&e);
 *     weft_explorer_add(e, scene, model, "bad.weft");
 *     weft_explorer_resize(e, 1600, 900);
 *     weft_explorer_scroll(e, 800, 300, 0, -1, 0);         one notch of the wheel: zooms in
 *     paint(weft_explorer_draw(e));
 *
 * Positions are in pixels from the upper left corner of the picture. Texts that are handed out are valid
 * UTF-8 without control characters, terminated, and borrowed until the next call that is not a question.
 *
 * An explorer belongs to one thread. */
#ifndef WEFT_EXPLORE_EXPLORE_H
#define WEFT_EXPLORE_EXPLORE_H

#include "analyse/diff.h"
#include "analyse/explain.h"
#include "explore/command.h"
#include "view/view.h"

struct weft_explorer;

/* On success the caller owns *out. Returns 0 or WEFT_E_NOMEM. */
int weft_explorer_new(struct weft_explorer **out);
void weft_explorer_free(struct weft_explorer *e);

/* ---- Traces, one above the other ---- */

#define WEFT_PANES_MAX 8

/* Adds a trace below the others; on success the explorer owns scene and model. Returns 0, WEFT_E_NOMEM, or
 * WEFT_E_LIMIT for more than WEFT_PANES_MAX. */
int weft_explorer_add(struct weft_explorer *e, struct weft_scene *scene, struct weft_model *model,
                      const char *title);

/* The same trace, read again: position, selection (by number) and search are kept; where the end was seen,
 * the new end is. The explorer takes over what *scene and *model are; afterwards they are what it had, which
 * the caller frees. */
void weft_explorer_exchange(struct weft_explorer *e, unsigned pane, struct weft_scene **scene,
                            struct weft_model **model);

/* Likewise, and frees what it had: that takes time where a trace is large. */
void weft_explorer_replace(struct weft_explorer *e, unsigned pane, struct weft_scene *scene,
                           struct weft_model *model);

void weft_explorer_remove(struct weft_explorer *e, unsigned pane);

unsigned weft_explorer_panes(const struct weft_explorer *e);
const char *weft_explorer_title(const struct weft_explorer *e, unsigned pane);
uint64_t weft_explorer_events(const struct weft_explorer *e, unsigned pane);

/* ---- What went wrong ----
 *
 * An analysis takes memory and time, so it is not made by adding a trace: whoever shows traces makes one, on any
 * thread, and hands it over when it is there. Until then, and without one, all else goes on as it does. */

struct weft_analysis {
    struct weft_history *history; /* of the model, which must stay */
    struct weft_findings findings;
};

/* On success the caller owns *out. progress may be NULL. Returns 0, WEFT_E_NOMEM or WEFT_E_CANCELED; *out is then
 * NULL. */
int weft_analysis_new(struct weft_analysis **out, const struct weft_model *m,
                      weft_progress_fn *progress, void *data);
void weft_analysis_free(struct weft_analysis *a);

/* One of the pane's trace is being made: facts say so. */
void weft_explorer_analysing(struct weft_explorer *e, unsigned pane);

/* Takes over the analysis of a pane's trace; one of another model (the trace has been read again) is only freed.
 * NULL: there will be none. A finding that a place has asked for is shown now. */
void weft_explorer_analysed(struct weft_explorer *e, unsigned pane, struct weft_analysis *a);

/* That of a pane, or NULL: borrowed, until the pane is exchanged, removed or analysed again. */
const struct weft_analysis *weft_explorer_analysis(const struct weft_explorer *e, unsigned pane);

/* Whether the first two traces are to be compared (a place has diff=1), which has not been done: there are two, and
 * both are analysed. */
bool weft_explorer_wants_diff(const struct weft_explorer *e);

/* The second pane's trace compared with the first one's, a good one: takes over what is in *d, and shows where
 * they diverge unless the place that asked for it says where to look. */
void weft_explorer_compared(struct weft_explorer *e, struct weft_diff *d);

/* All of this here and now, for those who have no threads: analyses what has not been, and compares what is to be
 * compared. Returns 0 or WEFT_E_NOMEM. */
int weft_explorer_analyse(struct weft_explorer *e);

/* Whether a place shows what only an analysis can say. */
bool weft_explorer_place_is_analysed(const char *place);

/* A finding of a pane, as weft explain --all numbers them from 1. Returns false if there is none. */
bool weft_explorer_show_finding(struct weft_explorer *e, unsigned pane, uint32_t number);

/* ---- What is to be shown ---- */

/* 200 to 16384 pixels each way; what is outside is brought inside. */
void weft_explorer_resize(struct weft_explorer *e, int width_px, int height_px);

/* The picture. NULL: no memory. */
const struct weft_drawlist *weft_explorer_draw(struct weft_explorer *e);

/* What has changed since it was asked last, so that a front knows what to do. */
enum {
    WEFT_CHANGED_PICTURE = 1,
    WEFT_CHANGED_FACTS = 2,  /* of the selection or the measured range */
    WEFT_CHANGED_SEARCH = 4, /* the text or the state of the search */
    WEFT_CHANGED_TIP = 8,
    WEFT_CHANGED_PLACE = 16,   /* what weft_explorer_place says */
    WEFT_CHANGED_VISIBLE = 32, /* the list of visible promises */
};
unsigned weft_explorer_changed(struct weft_explorer *e);

/* Goes on with work that takes long (a search), for some milliseconds. Returns whether there is more. */
bool weft_explorer_work(struct weft_explorer *e);

/* A still picture of what is seen, with a legend and texts for being pointed at, for saving. Returns 0 or
 * WEFT_E_NOMEM. The caller owns what is in *list. */
int weft_explorer_picture(struct weft_explorer *e, struct weft_drawlist *list);

/* The height at which such a picture has room for all rows, at most that many pixels; 0: no memory. */
int weft_explorer_natural_height(struct weft_explorer *e, int most_px);

/* ---- Facts: of the selected promise, and of the measured range ---- */

enum weft_link {
    WEFT_LINK_NONE,
    WEFT_LINK_PROMISE, /* leads to a promise */
    WEFT_LINK_TIME,    /* leads to a time */
    WEFT_LINK_MOMENT,  /* leads to a promise at a time */
    WEFT_LINK_FINDING, /* leads to a finding */
    WEFT_LINK_DIFF,    /* leads to where two traces diverge */
    WEFT_LINK_FRAME,   /* leads to a frame of the flame graph */
};

struct weft_fact {
    const char *name; /* "created by"; empty: one more of what stands above */
    const char *text; /* "#12 GET /users/7, 1.2 ms" */
    enum weft_link link;
    bool heading; /* begins a group; text is empty */
    bool bad;     /* to be shown in the colour of failures */
};

/* Nothing selected and nothing measured: facts of the trace. */
const struct weft_fact *weft_explorer_facts(struct weft_explorer *e, uint32_t *count);

/* Follows the link of the fact with that index. */
void weft_explorer_follow(struct weft_explorer *e, uint32_t fact);

/* ---- The visible promises as a list, for those who cannot see the picture ---- */

#define WEFT_VISIBLE_MAX 200

struct weft_visible {
    const char *text; /* "fsync log, #12, from 1.2 ms, 3 ms long, failed" */
    unsigned pane;
    uint32_t promise; /* index in the pane's model */
};

/* The ones that take most room, by the start of their lines; *all says how many there are. */
const struct weft_visible *weft_explorer_visible(struct weft_explorer *e, uint32_t *count,
                                                 uint32_t *all);

/* Selects a promise of a pane and brings it into view. WEFT_NONE: selects nothing. */
void weft_explorer_select(struct weft_explorer *e, unsigned pane, uint32_t promise);

/* The selection; *pane may be NULL. WEFT_NONE: nothing is selected. */
uint32_t weft_explorer_selected(const struct weft_explorer *e, unsigned *pane);

/* ---- Input ---- */

enum { WEFT_SHIFT = 1, WEFT_CTRL = 2, WEFT_ALT = 4 };

/* The pointer, without a button: what lies there is described, see weft_explorer_tip. */
void weft_explorer_point(struct weft_explorer *e, double x, double y);
void weft_explorer_leave(struct weft_explorer *e);

/* The main button, or a finger. clicks: 2 for a double click. On the rows, dragging pans (with WEFT_ALT or
 * while axes are free only this trace, in time), a click selects; on the ruler, dragging measures. */
void weft_explorer_press(struct weft_explorer *e, double x, double y, int clicks, unsigned mods);
void weft_explorer_drag(struct weft_explorer *e, double x, double y);
void weft_explorer_release(struct weft_explorer *e, double x, double y);

/* The wheel, in notches, down and right positive: zooms about the pointer. With WEFT_SHIFT, and sideways,
 * it pans; with WEFT_CTRL it spreads rows only. */
void weft_explorer_scroll(struct weft_explorer *e, double x, double y, double dx, double dy,
                          unsigned mods);

/* Two fingers whose middle is at x, y, has moved by dx, dy, and whose distance has changed by the factor. */
void weft_explorer_pinch(struct weft_explorer *e, double x, double y, double dx, double dy,
                         double factor);

/* A key, by its name in a browser ("ArrowLeft", "n", "N", "+", "Escape"). Returns whether it means
 * something. */
bool weft_explorer_key(struct weft_explorer *e, const char *key, unsigned mods);

/* A command, also of those that a key stands for. Returns false where nothing could be done. Commands that
 * are the front's own (WEFT_COMMAND_FRONT) do nothing here. */
bool weft_explorer_command(struct weft_explorer *e, enum weft_command command);

/* What lies under the pointer, or "". */
const char *weft_explorer_tip(struct weft_explorer *e);

/* ---- Search ---- */

/* See view/search.h; empty: none. Goes on in weft_explorer_work. */
void weft_explorer_search(struct weft_explorer *e, const char *query);
const char *weft_explorer_query(const struct weft_explorer *e);

/* "3 of 1,204", "searching … 120", "not found". */
const char *weft_explorer_found(struct weft_explorer *e);

/* ---- Counters ---- */

/* Of all panes, one after another. */
uint32_t weft_explorer_counters(const struct weft_explorer *e);
const char *weft_explorer_counter(struct weft_explorer *e, uint32_t counter, bool *shown);
void weft_explorer_show_counter(struct weft_explorer *e, uint32_t counter, bool shown);

/* ---- Places ---- */

/* Where one looks, as one line to send to somebody, made for the fragment of a URL:
 *
 *     from=39500000&to=47500000&select=413&search=ARP%20response
 *
 * finding=2 shows a finding with its evidence, path=1 the critical path of the selection (0: it is never shown),
 * diff=1 the second trace compared with the first one.
 *
 * Times in nanoseconds, promises by their numbers. What belongs to the second trace ends in .2, and so on.
 * Keys that are not known are passed over, so that a newer weft can say more. */
const char *weft_explorer_place(struct weft_explorer *e);

/* Goes there. Returns false where a value makes no sense for these traces; the rest is done. */
bool weft_explorer_go(struct weft_explorer *e, const char *place);

/* Whether a place wants scenes in which nothing is simplified: this cannot be changed by going there. */
bool weft_explorer_place_is_raw(const char *place);

/* ---- Looks ---- */

/* Size of texts in per cent, 50 to 300. */
void weft_explorer_text_size(struct weft_explorer *e, unsigned percent);

#endif
