/* SPDX-License-Identifier: ISC */
/* What the files of GLib's adapter share. GLib, GObject and GIO call their own functions directly, so only what others
 * call can be replaced by name. What they do themselves is seen where they use pointers: in classes (types.c), and in what
 * sources are made of (source.c).
 *
 *     source.c   sources: timers, idle functions, descriptors, signals, children
 *     add.c      the functions of GLib that make and attach a source
 *     patch.c    replaces the functions that a kind of sources has
 *     types.c    finds classes when they are made
 *     task.c     GTask, and threads that work for tasks
 *     dbus.c     calls by D-Bus, and requests that come by it
 *     cancel.c   GCancellable
 *     loop.c     main loops, and when they sleep
 *     http.c     requests of libsoup
 *
 * Nothing here keeps an object of the program alive. */
#pragma once

#include "../adapter.h"

#define GLIB_DISABLE_DEPRECATION_WARNINGS
#include <gio/gio.h>

#define GLIB_SONAME "libglib-2.0.so.0"
#define GOBJECT_SONAME "libgobject-2.0.so.0"
#define GIO_SONAME "libgio-2.0.so.0"

enum { FRESH_MAX = 8 };

/* What is known about this thread. */
struct glib_thread {
    weft_promise running; /* whose callback the innermost loop of this thread has called; 0: none */
    unsigned callbacks;   /* how many callbacks of sources this thread is in */
    unsigned loops;       /* how many calls of a main loop this thread is in */
    unsigned callback_loops;                  /* … when the innermost callback was called */
    GMainContext *context, *callback_context; /* of the innermost loop; of the innermost callback */
    GTask *fresh[FRESH_MAX]; /* tasks that have been created, but of which weft knows nothing yet */
    unsigned fresh_count;
    int hidden;           /* 1: a thread that GLib has for itself; -1: it is not; 0: not known */
    weft_promise asked;   /* the last D-Bus call of this thread */
    weft_promise failing; /* for which the following is: */
    bool failed, cancelled;
    char error[ADAPTER_TEXT];
    const char *next_type; /* of the next task that is named, and its label; NULL: as usual */
    char next_label[ADAPTER_TEXT];
};
extern __thread struct glib_thread glib_thread __attribute__((tls_model("initial-exec")));

/* Whether what this call does is to be recorded, on this thread. */
bool glib_on(void);

/* ---- Sources (source.c) ---- */

/* Makes it known what calls this source's callback, if it is not yet. */
void glib_patch(const GSourceFuncs *funcs);

/* The source's own functions. NULL: it has none. */
gboolean (*glib_dispatch_of(const GSourceFuncs *funcs))(GSource *, GSourceFunc, gpointer);
void (*glib_finalize_of(const GSourceFuncs *funcs))(GSource *);

/* What stands in their place. */
gboolean glib_on_dispatch(GSource *source, GSourceFunc callback, gpointer data);
void glib_on_finalize(GSource *source);

/* Creates a promise for a source with this callback. type: a literal. detail may be NULL. */
weft_promise glib_source_create(const void *callback, gpointer data, const char *type,
                                const char *detail);

/* From now on the promise is this source's. */
void glib_source_put(GSource *source, weft_promise p, gpointer data, const char *type);

/* This source, not attached yet, waits for the cancellable. */
void glib_source_waits(GSource *source, GCancellable *cancellable);

/* Around a call that attaches a source of which the promise is put afterwards: a thread that is to call its callback
 * waits until that has been done. */
void glib_adding(void);
void glib_added(void);

/* Whether the data of a source's callback is what a D-Bus request came in: that is attached by GIO's own thread. */
bool glib_is_invocation(gconstpointer data);

/* The promise of the cancellable; 0: it is not known. */
weft_promise glib_cancellable_promise(gconstpointer cancellable);

/* ---- Tasks (task.c) ---- */

/* Creates the promises of all fresh tasks of this thread. To be called before what runs changes. */
void glib_tasks_name(void);

/* The promise of a task, or of a D-Bus request that is to be answered, at this address. 0: there is none. */
weft_promise glib_task_promise(gconstpointer object);

/* What works for the task runs from now on. completes: it calls the task's callback; then whoever waits for the task
 * runs, if that is known. Stores what runs in *p. Returns what ran before. */
weft_promise glib_task_begin(gconstpointer object, bool completes, weft_promise *p);

/* Prepares the class of tasks. */
void glib_task_class(gpointer class);
void glib_cancellable_class(gpointer class);
void glib_message_class(gpointer class);
void glib_invocation_class(gpointer class);

/* The fresh tasks with which this thread calls a method are one promise with this label. */
void glib_tasks_call(const char *method);

/* The task is about to return, on this thread. If it waits for a reply by D-Bus, and that is an error, it fails. */
void glib_call_replied(gconstpointer task);

/* ---- D-Bus (dbus.c) ---- */

/* The error that the message says which GIO's thread has just read; NULL: it says none. Returns text. */
const char *glib_error_reply(char text[ADAPTER_TEXT]);

/* The promise of an invocation, created if need be. 0: it is none. */
weft_promise glib_invocation_promise(gconstpointer object);
