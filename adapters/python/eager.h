/* SPDX-License-Identifier: ISC */
/* Tasks that run before their task object exists (since Python 3.12): until then the promise belongs to the coroutine. */
#pragma once

#include "codes.h"
#include "promises.h"

extern bool may_be_eager; /* this Python has such tasks */

/* 0 or -1 with an exception. */
int eager_init(void);

/* The promise of a task that the loop is about to create from a coroutine, if that may run at once; else NULL. The
 * promise runs. */
struct promise *eager_begin(PyObject *loop, PyObject *coroutine);

/* The loop has created the task, or failed to (NULL). p is what eager_begin returned; before is what ran until then. */
void eager_end(struct promise *p, PyObject *task, struct promise *before);

/* The real coroutine of a task, which may be wrapped in a stand-in. Takes and returns a reference. */
PyObject *eager_coroutine(PyObject *coroutine);
