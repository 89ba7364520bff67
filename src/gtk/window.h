/* SPDX-License-Identifier: ISC */
/* The window, as its parts see it: window.c puts it together and shows what changes, traces.c opens files, actions.c
 * has the actions, example.c the tour, palette.c lists them, send.c saves pictures and makes links, print.c prints, help.c has the help. */
#pragma once

#include <gtk/gtk.h>

#include "explore/explore.h"
#include "gtk/load.h"
#include "gtk/outline.h"
#include "gtk/panel.h"
#include "gtk/picture.h"
#include "gtk/table.h"

#define WEFT_APPLICATION_ID "io.github.weft.View"

/* The path prefix under which weft view passes copies in memory of traces that are not files. */
#define WEFT_MEMORY_PATH "/proc/self/fd/"

/* A file that is shown. */
struct weft_trace {
    struct _WeftWindow *window;
    char *path;
    GFile *file; /* NULL: standard input, or a copy in memory, which do not change */
    const struct weft_model *model; /* the explorer's */
    GFileMonitor *monitor;
    struct weft_load *load;       /* of the trace that is being read again, or NULL */
    guint timer;                  /* timer until it is read again, or 0 */
    struct weft_analyse *explain; /* while it is explained */
    int64_t took_us;
    bool running; /* the program that records it */
};

#define WEFT_TYPE_WINDOW (weft_window_get_type())
G_DECLARE_FINAL_TYPE(WeftWindow, weft_window, WEFT, WINDOW, GtkApplicationWindow)

struct _WeftWindow {
    GtkApplicationWindow parent;
    struct weft_explorer *e;
    GPtrArray
        *traces; /* of struct weft_trace, in the order of the explorer's numbers for them, from 1 */

    /* What is being read, and what comes next. */
    GQueue waiting; /* paths */
    struct weft_load *load;
    char *loading; /* path */
    guint progress_timer;
    GtkWidget *outline;           /* of the first trace, while it is being read */
    struct weft_analyse *compare; /* while the first two traces are compared */
    char *place;                  /* where to go when all has been read, or NULL */
    char *put; /* what was put into the search entry, until somebody types, or NULL */
    bool raw;
    bool forgets;  /* its appearance is not saved when it is closed */
    bool measures; /* traces are not analysed, because the time is being measured */

    unsigned changed; /* what is not shown yet */
    guint later, work, rest;
    int64_t moved_us; /* when the picture changed last */
    int64_t shown_us; /* when the current place was last published */

    WeftPicture *picture;
    GtkAdjustment *scrolled; /* how far the panes are scrolled */
    GtkWidget *scrollbar, *notes, *notes_page;
    WeftPanel *panel;
    WeftTable *table;
    GtkWidget *stack, *paned, *title, *subtitle, *entry, *found, *why, *hits, *refresh, *search_box;
    GtkWidget *bar, *bar_text, *bar_refresh, *toast, *toast_text, *progress, *progress_text,
        *progress_bar, *problem_title, *problem_text;
    guint toast_timer;
    GtkWidget *palette, *wanted, *commands;
    GtkWidget *card, *card_title, *card_text, *card_back, *card_next, *card_leave;
    GMenu *close_menu;
};

/* A new empty window of the application. */
WeftWindow *weft_window_new(GtkApplication *application);

/* ---- window.c ---- */

/* The explorer has been changed: shows what is new. */
void weft_window_touched(WeftWindow *w);

/* A few words at the bottom, for some seconds. */
void weft_window_toast(WeftWindow *w, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* A message that stays until it is closed, with or without a button for reading the traces again. */
void weft_window_complain(WeftWindow *w, bool refresh, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* Gives a widget a tooltip, and a name for screen readers. Returns it. */
GtkWidget *weft_window_name(GtkWidget *widget, const char *name, const char *tip);

/* "empty", "view" or "problem". */
void weft_window_show_page(WeftWindow *w, const char *name);

/* The argument of weft view that opens that path, for example "xen:web"; and the name it is shown under. */
char *weft_trace_given(const char *path);
char *weft_trace_name(const char *path);

/* Call it when the names or the number of the traces have changed. */
void weft_window_retitle(WeftWindow *w);

/* Returns true for the dark theme. */
bool weft_window_is_dark(void);

/* Applies the settings. */
void weft_window_set_looks(WeftWindow *w);

/* ---- traces.c ---- */

/* Reads these files and shows each below what is there. place, which may be NULL, is where to go afterwards. */
void weft_window_read(WeftWindow *w, const char *const *paths, const char *place);

/* Reads all traces again and keeps the current view. */
void weft_window_reread(WeftWindow *w);

void weft_window_stop_reading(WeftWindow *w);

/* Compares the first two traces, if that is wanted and can be done. */
void weft_window_compare(WeftWindow *w);
void weft_window_stop_comparing(WeftWindow *w);
void weft_window_remove(WeftWindow *w, unsigned pane);

/* Removes all traces, as if none had been open. */
void weft_window_clear(WeftWindow *w);

/* The trace that a pane shows; and the first pane that shows a trace: *pane. Returns false if none does. */
struct weft_trace *weft_window_trace(WeftWindow *w, unsigned pane);
bool weft_window_find(WeftWindow *w, const struct weft_trace *trace, guint *pane);
void weft_trace_free(struct weft_trace *trace);

/* Lets the user choose files; adds them below, or shows them in a window of their own. */
void weft_window_choose(WeftWindow *w, bool add);

/* Shows files: below what is there, or as weft_window_open does. */
void weft_window_take(WeftWindow *w, GListModel *files, bool add);

/* Opens them in this window if it is empty or shows only the example, else in a new one. */
void weft_window_open(WeftWindow *w, const char *const *paths);

/* ---- example.c ---- */

/* Shows the example trace, at that place, or at the first step of the tour: NULL. If other traces are open, it gets a window
 * of its own. */
void weft_window_take_tour(WeftWindow *w, const char *place);

/* Returns true if the window shows the example that comes with it, and nothing else. */
bool weft_window_is_example(WeftWindow *w);

/* The card with the step of the tour; and brings it to what the explorer says. */
GtkWidget *weft_window_card(WeftWindow *w);
void weft_window_show_card(WeftWindow *w);

/* ---- actions.c ---- */

void weft_window_add_actions(WeftWindow *w);
void weft_window_command(WeftWindow *w, enum weft_command command);

/* What a command does, as a title; the caller frees it. */
char *weft_command_title(const struct weft_command_info *command);

/* The state of an action that only has a state: "facts", "found" … */
void weft_window_tell(WeftWindow *w, const char *name, const char *text);

/* ---- menu.c ---- */

GMenuModel *weft_window_menu(WeftWindow *w);
GtkWidget *weft_window_recent_button(void);

/* ---- palette.c ---- */

GtkWidget *weft_window_palette(WeftWindow *w);
void weft_window_show_palette(WeftWindow *w);

/* ---- print.c ---- */

/* Prints the current view; path: as a PDF file there, without asking. */
void weft_window_print(WeftWindow *w, const char *path);

/* ---- notes.c ---- */

/* Adds the notes that are kept for the trace that was read last. */
void weft_window_load_notes(WeftWindow *w, const struct weft_trace *trace);

/* Lets the user write one. */
void weft_window_write_note(WeftWindow *w);

/* The panel's list; and brings it, and the files, to what the notes are now. */
GtkWidget *weft_window_notes_page(WeftWindow *w);
void weft_window_show_notes(WeftWindow *w);

/* ---- send.c ---- */

void weft_window_copy_link(WeftWindow *w);
void weft_window_save_picture(WeftWindow *w);

/* As SVG, PNG or PDF, depending on its suffix. */
void weft_window_save_picture_to(WeftWindow *w, const char *path);

/* The table as text, separated by tabs. */
void weft_window_copy_table(WeftWindow *w);
void weft_window_save_table(WeftWindow *w);
void weft_window_save_table_to(WeftWindow *w, const char *path);

/* ---- flight.c ---- */

/* Zooms and pans through the whole trace and into its details for ten seconds at 60 frames a second; prints the
 * processor time of the frames, all threads together, and that of frames in which there is nothing, and closes the
 * window. The picture has that size in pixels. Call it for a window whose traces are being read. */
void weft_flight_begin(WeftWindow *w, int width, int height);

/* ---- help.c ---- */

/* Writes the name that browsers use for the key to name. Returns false if it has none. */
bool weft_key_name(guint keyval, char name[16]);

void weft_window_show_keys(WeftWindow *w);
void weft_window_show_about(WeftWindow *w);

/* ---- settings.c: what the window remembers between runs, in weft/view.ini below the user's configuration ---- */

struct weft_settings {
    int width, height, panel_width;
    bool maximized, panel;
    int text_percent;
    char theme[8]; /* "light", "dark", or "" for the desktop's setting */
};

/* The program's settings, read on first use: whatever is missing or makes no sense gets its default. */
struct weft_settings *weft_settings(void);

/* Saves them. Failures are ignored. */
void weft_settings_write(void);
