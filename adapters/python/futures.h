/* SPDX-License-Identifier: ISC */
/* Tasks, futures, and what asyncio makes of them, as promises. The interpreter's lock is held; nothing here leaves an
 * exception, and where one may be set, the caller puts it aside before. */
#ifndef WEFT_PYTHON_FUTURES_H
#define WEFT_PYTHON_FUTURES_H

#include "codes.h"
#include "promises.h"

extern __thread struct promise *current; /* the task that runs on this thread, or NULL */
extern __thread bool ending; /* the loop of this thread cancels what is left: that is no news */
extern bool aside;           /* nothing is recorded any more */

static inline bool on(void)
{
    return WEFT_IMPL_ON() && !ending && !aside;
}

/* The classes: asyncio's Task and Future, those of coroutines and generators, two of a task's steps. Returns 0, or -1
 * with an exception. */
int futures_init(PyObject *const classes[6]);

/* In the child of a fork. */
void futures_forked(void);

/* An attribute: a new reference, or NULL. */
PyObject *get(PyObject *object, PyObject *name);

/* A text of Python's; "?" if it is none. */
void copy_text(char *to, size_t size, PyObject *text);

/* What runs on this thread. */
weft_promise running(void);

/* The promise of a task or future; creates it if nobody has seen it come. 0: there is none. */
weft_promise of_object(PyObject *future);
struct promise *of_task(PyObject *task); /* NULL: there is none */

/* The same, but of what is pending, and is no lock or the like. */
weft_promise of_pending(PyObject *future);

/* Of one that has just been created by the frame that runs. */
struct promise *add_future(PyObject *future);

/* Of a lock, semaphore, event, condition or queue; NULL: there is no memory. It has a number (id) once that was asked
 * for: of a lock, one that stays pending, and is there to say who has it. */
struct promise *of_primitive(PyObject *object);
weft_promise id_of_primitive(struct promise *p, const char *type);

/* The task whose step a handle of the loop is; a new reference, or NULL. */
PyObject *task_of(PyObject *handle);
PyObject *task_of_callback(PyObject *callback); /* the same, of what it calls */
void task_goes_on(struct promise *p);

/* What a task is in, from so many calls on, has returned. */
void end_calls(struct promise *p, unsigned from);
void task_stopped(struct promise *p, PyObject *task);

/* It has failed; somebody has looked at that; nobody ever has, and it is gone. */
void note_failure(struct promise *p);
void looked_at(struct promise *p);
void never_looked_at(PyObject *future);

/* Its object is gone; in the child of a fork. */
void failure_gone(struct promise *p);
void failures_forked(void);

/* Looks whether somebody has looked, at so many of them. */
void look_at_failed(unsigned most);

#endif
