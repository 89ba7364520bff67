/* SPDX-License-Identifier: ISC */
#pragma once

#include "codes.h"

/* acquire(type, function, type of bound methods): the replacement for a class's coroutine function "acquire". */
PyObject *locks_acquire(PyObject *self, PyObject *args);

bool holds_are_told(void);
