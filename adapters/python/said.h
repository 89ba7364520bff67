/* SPDX-License-Identifier: ISC */
/* What a program reports itself, through the package in bindings/python. None of these functions affects the program. */
#pragma once

#include "codes.h"

/* label(text, future or None), mark(future or None): None stands for the running task. */
PyObject *said_label(PyObject *self, PyObject *args);
PyObject *said_mark(PyObject *self, PyObject *args);
PyObject *said_traceparent(PyObject *self, PyObject *args);
PyObject *said_snapshot(PyObject *self, PyObject *reason);
PyObject *said_hold(PyObject *self, PyObject *args);

/* begin(text): the running task works on a request from now on. Returns its number; 0: there is none. end(number, what
 * it failed with, or None): the request has ended. */
PyObject *said_begin(PyObject *self, PyObject *text);
PyObject *said_end(PyObject *self, PyObject *args);

/* count(name, number, whether it is added): decimals are dropped. */
PyObject *said_count(PyObject *self, PyObject *args);
