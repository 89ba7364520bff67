/* SPDX-License-Identifier: ISC */
#ifndef WEFT_PYTHON_LOCKS_H
#define WEFT_PYTHON_LOCKS_H

#include "codes.h"

/* acquire(type, function, type of bound methods): the replacement for a class's coroutine function "acquire". */
PyObject *locks_acquire(PyObject *self, PyObject *args);

bool holds_are_told(void);

#endif
