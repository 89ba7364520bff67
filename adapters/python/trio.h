/* SPDX-License-Identifier: ISC */
/* Tasks of trio, and what they wait for. */
#ifndef WEFT_PYTHON_TRIO_H
#define WEFT_PYTHON_TRIO_H

#include "codes.h"

/* init_trio(its folder, its class Cancelled) */
PyObject *trio_init(PyObject *self, PyObject *args);

#endif
