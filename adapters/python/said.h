/* SPDX-License-Identifier: ISC */
/* What a program says itself, by the package in bindings/python. None of these has an effect on it. */
#ifndef WEFT_PYTHON_SAID_H
#define WEFT_PYTHON_SAID_H

#include "codes.h"

/* label(text, future or None), mark(future or None): None is the task that runs. */
PyObject *said_label(PyObject *self, PyObject *args);
PyObject *said_mark(PyObject *self, PyObject *args);
PyObject *said_hold(PyObject *self, PyObject *args);

/* begin(text): the task that runs works at a request from now on. Returns its number; 0: there is none.
 * end(number, what it failed with, or None): it is over. */
PyObject *said_begin(PyObject *self, PyObject *text);
PyObject *said_end(PyObject *self, PyObject *args);

/* count(name, number, whether it is added): not what is no whole number. */
PyObject *said_count(PyObject *self, PyObject *args);

#endif
