/* SPDX-License-Identifier: ISC */
/* A stand-in for another object: in every question about it, it behaves like that object. */
#pragma once

#include "codes.h"

struct stand_in {
    PyObject_HEAD PyObject *inner; /* the object it replaces */
    PyObject *more;                /* additional data, or NULL */
};

/* Creates a type of stand-ins from the methods they override; NULL with an exception. */
PyObject *stand_in_type(const char *name, const PyType_Slot *own);

/* Takes the reference to inner, and adds a reference to more. Without memory, returns inner itself. */
PyObject *stand_in_for(PyObject *type, PyObject *inner, PyObject *more);

/* An attribute of the object it replaces. */
PyObject *stand_in_get(PyObject *self, PyObject *name);

static inline PyObject *stands_for(PyObject *self)
{
    return ((const struct stand_in *)self)->inner;
}
