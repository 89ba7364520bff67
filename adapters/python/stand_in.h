/* SPDX-License-Identifier: ISC */
/* What stands for an object of somebody's: whatever one asks it, it is that object. */
#ifndef WEFT_PYTHON_STAND_IN_H
#define WEFT_PYTHON_STAND_IN_H

#include "codes.h"

struct stand_in {
    PyObject_HEAD PyObject *inner; /* what it stands for */
    PyObject *more;                /* what else it must know, or NULL */
};

/* A type of those, by what they do themselves; NULL with an exception. */
PyObject *stand_in_type(const char *name, const PyType_Slot *own);

/* Takes the reference to inner, and has one of its own to more. Without memory: inner itself. */
PyObject *stand_in_for(PyObject *type, PyObject *inner, PyObject *more);

/* An attribute of what it stands for. */
PyObject *stand_in_get(PyObject *self, PyObject *name);

static inline PyObject *stands_for(PyObject *self)
{
    return ((const struct stand_in *)self)->inner;
}

#endif
