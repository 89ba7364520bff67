/* SPDX-License-Identifier: ISC */
/* Tasks that run before there is an object of them (since Python 3.12): until then their coroutine has the promise. */
#ifndef WEFT_PYTHON_EAGER_H
#define WEFT_PYTHON_EAGER_H

#include "codes.h"
#include "promises.h"

extern bool may_be_eager; /* this Python has such tasks */

/* 0 or -1 with an exception. */
int eager_init(void);

/* The promise of a task that the loop is about to make of a coroutine, if that may run at once; else NULL. It runs. */
struct promise *eager_begin(PyObject *loop, PyObject *coroutine);

/* The loop has made the task, or failed to (NULL). p is what eager_begin gave, before what ran then. */
void eager_end(struct promise *p, PyObject *task, struct promise *before);

/* What a task's coroutine is, which may be something that stands for it. Takes and gives a reference. */
PyObject *eager_coroutine(PyObject *coroutine);

#endif
