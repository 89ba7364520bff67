/* SPDX-License-Identifier: ISC */
/* The window, as its parts see it: window.c puts it together and shows what changes, traces.c opens files,
 * actions.c is what can be done, send.c saves pictures and makes links, help.c explains. */
#ifndef WEFT_GTK_WINDOW_H
#define WEFT_GTK_WINDOW_H

#include <gtk/gtk.h>

#include "explore/explore.h"
#include "gtk/analyse.h"
#include "gtk/load.h"
#include "gtk/panel.h"
#include "gtk/picture.h"

#define WEFT_APPLICATION_ID "io.github.weft.View"

/* Where weft view passes on copies in memory, of traces that are no files. */
#define WEFT_MEMORY_PATH "/proc/self/fd/"

/* A file that is shown. */
struct weft_trace {
    struct _WeftWindow *window;
    char *path;
    GFile *file; /* NULL: standard input, or a copy in memory, which do not change */
    const struct weft_model *model; /* the explorer's */
    GFileMonitor *monitor;
    struct weft_load *load;       /* of what is read again, or NULL */
    guint timer;                  /* until it is read again, or 0 */
    struct weft_analyse *explain; /* while it is explained */
    int64_t took_us;
    bool running; /* the program that records it */
};

#define WEFT_TYPE_WINDOW (weft_window_get_type())
G_DECLARE_FINAL_TYPE(WeftWindow, weft_window, WEFT, WINDOW, GtkApplicationWindow)

struct _WeftWindow {
    GtkApplicationWindow parent;
    struct weft_explorer *e;
    GPtrArray *traces; /* of struct weft_trace, as the explorer's panes */

    /* What is being read, and what comes next. */
    GQueue waiting; /* paths */
    struct weft_load *load;
    char *loading; /* path */
    guint progress_timer;
    struct weft_analyse *compare; /* while the first two traces are compared */
    char *place;                  /* where to go when all has been read, or NULL */
    bool raw;
    bool forgets;  /* what it looks like when it is closed is not kept */
    bool measures; /* traces are not explained, which would cost time that is measured */

    unsigned changed; /* what is not shown yet */
    guint later, work;
    int64_t moved_us; /* when the picture changed last */
    int64_t shown_us; /* when it was last told where one looks */

    WeftPicture *picture;
    WeftPanel *panel;
    GtkWidget *stack, *paned, *title, *subtitle, *entry, *found, *hits, *refresh, *search_box;
    GtkWidget *bar, *bar_text, *bar_refresh, *toast, *toast_text, *progress, *progress_text,
        *progress_bar, *problem_title, *problem_text;
    guint toast_timer;
    GMenu *close_menu;
};

/* An empty one, of the application. */
WeftWindow *weft_window_new(GtkApplication *application);

/* ---- window.c ---- */

/* The explorer has been told something: shows what changes. */
void weft_window_touched(WeftWindow *w);

/* A few words at the bottom, for some seconds. */
void weft_window_toast(WeftWindow *w, const char *text);

/* A message that stays until it is closed; with a button for reading the traces again, or without. */
void weft_window_complain(WeftWindow *w, const char *text, bool refresh);

/* "empty", "view" or "problem". */
void weft_window_show_page(WeftWindow *w, const char *name);

/* What is given to weft view for that path to be opened, as "xen:web"; and how it is called. */
char *weft_trace_given(const char *path);
char *weft_trace_name(const char *path);

/* The names of the traces have changed, or there are others. */
void weft_window_retitle(WeftWindow *w);

/* As the settings say. */
void weft_window_set_looks(WeftWindow *w);

/* ---- traces.c ---- */

/* Reads these files and shows each below what is there. place, which may be NULL, is where to go then. */
void weft_window_read(WeftWindow *w, const char *const *paths, const char *place);

/* Reads all traces again, keeping where one looks. */
void weft_window_reread(WeftWindow *w);

void weft_window_stop_reading(WeftWindow *w);

/* Compares the first two traces, if that is wanted and can be done. */
void weft_window_compare(WeftWindow *w);
void weft_window_stop_comparing(WeftWindow *w);
void weft_window_remove(WeftWindow *w, unsigned pane);
void weft_trace_free(struct weft_trace *trace);

/* Lets somebody choose files; adds them below, or shows them in a window without others. */
void weft_window_choose(WeftWindow *w, bool add);

/* Into this window if it is empty, else into a new one. */
void weft_window_open(WeftWindow *w, const char *const *paths);

/* ---- actions.c ---- */

void weft_window_add_actions(WeftWindow *w);
void weft_window_command(WeftWindow *w, enum weft_command command);

/* The state of an action that only tells something: "facts", "found" … */
void weft_window_tell(WeftWindow *w, const char *name, const char *text);

/* ---- menu.c ---- */

GMenuModel *weft_window_menu(WeftWindow *w);
GtkWidget *weft_window_recent_button(void);

/* ---- send.c ---- */

/* "weft view --at 'PLACE' FILE", for a shell; the caller frees it. */
char *weft_window_link(WeftWindow *w);
void weft_window_copy_link(WeftWindow *w);
void weft_window_save_picture(WeftWindow *w);

/* As SVG, PNG or PDF, as its suffix says. */
void weft_window_save_picture_to(WeftWindow *w, const char *path);

/* ---- help.c ---- */

void weft_window_show_keys(WeftWindow *w);
void weft_window_show_about(WeftWindow *w);

#endif
