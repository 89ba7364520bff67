/* SPDX-License-Identifier: ISC */
/* Tasks, futures, and what asyncio makes of them, as promises. The interpreter's lock is held; nothing here leaves an
 * exception; if one may be set, the caller must save it before. */
#pragma once

#include "codes.h"
#include "promises.h"

extern __thread struct promise *current; /* the task that runs on this thread, or NULL */
extern __thread bool ending;             /* this thread's loop cancels what is left: not reported */
extern bool aside;                       /* recording has ended */

static inline bool on(void)
{
    return WEFT_IMPL_ON() && !ending && !aside;
}

/* The classes of coroutines, generators, asynchronous generators, and of the objects that resume these with a value or
 * an exception; asyncio's Task and Future, and two of a task's steps. Return 0, or -1 with an exception. */
int futures_init(PyObject *const classes[5], PyObject *get_referents);
int futures_asyncio(PyObject *const classes[4]);

/* In the child of a fork. */
void futures_forked(void);

/* An attribute: a new reference, or NULL. */
PyObject *get(PyObject *object, PyObject *name);

/* A local variable of a frame, or of a coroutine: a new reference, or NULL. */
PyObject *local(PyObject *frame, PyObject *name);
PyObject *local_of(PyObject *coroutine, PyObject *name);

/* A Python str as text; "?" if it is not one. */
void copy_text(char *to, size_t size, PyObject *text);

/* What follows the last slash. */
const char *base_name(const char *file);

/* What runs on this thread. */
weft_promise running(void);

/* Borrowed, and never NULL, as code_of. */
const struct code *code_of_frame(PyObject *frame);

/* The promise of a task or future; creates it if its creation was not noticed. 0: there is none. */
weft_promise of_object(PyObject *future);
struct promise *of_task(PyObject *task); /* NULL: there is none */

/* The promise of a coroutine that runs before its task exists; and, once it exists, the task takes over the coroutine's
 * promise. NULL: there is none. */
struct promise *add_begun(PyObject *coroutine);
struct promise *take_over(PyObject *task, struct promise *begun);

/* What a promise failed with. */
void failed_with(struct promise *p, PyObject *exception);

/* The same, but only if it is pending and not a lock or the like. */
weft_promise of_pending(PyObject *future);

/* The promise of a future that the running frame has just created. */
struct promise *add_future(PyObject *future);

/* The promise of a future that a task waits for in this coroutine, and that was created before anything was recorded; NULL:
 * who has created it is not known, so of_object gives it one. */
struct promise *add_awaited(PyObject *future, PyObject *coroutine);

/* Of a lock, semaphore, event, condition or queue; NULL: there is no memory. It gets a number (id) on first use: that
 * of a lock stays pending, and shows what holds it. name: its name, or NULL for its class.
 */
struct promise *of_primitive(PyObject *object, const char *name);
weft_promise id_of_primitive(struct promise *p, const char *type);

/* The task whose step a handle of the loop is; a new reference, or NULL. */
PyObject *task_of(PyObject *handle);
PyObject *task_of_callback(PyObject *callback); /* the same, of what it calls */
void task_goes_on(struct promise *p, PyObject *task);

/* The code of a coroutine or generator, and the line at which it will continue. */
const struct code *code_of_coroutine(PyObject *coroutine);
unsigned line_in(const struct code *c, PyObject *coroutine);

/* What a coroutine or generator waits in: a new reference, or NULL. */
PyObject *inner_of(PyObject *coroutine);

/* A task has stopped: finds the coroutines that it is in, its calls. */
void follow_calls(struct promise *p);

/* The calls of a task from that depth on have returned. */
void end_calls(struct promise *p, unsigned from);
void task_stopped(struct promise *p, PyObject *task);

/* The promise of a future, or of a job, that this call ends; NULL: there is none, or it belongs to another object. */
struct promise *ends(PyObject *future);

/* The promise has failed; its failure was retrieved; it is gone and its failure was never retrieved. */
void note_failure(struct promise *p);
void looked_at(struct promise *p);
void never_looked_at(PyObject *future);

/* Its object is gone; in the child of a fork. */
void failure_gone(struct promise *p);
void failures_forked(void);

/* Returns true for an exception that cancels, or a group of only those. */
bool says_cancelled(PyObject *exception);

/* Checks, for up to that many failures, whether they were retrieved. */
void look_at_failed(unsigned most);
