/* SPDX-License-Identifier: ISC */
/* Tasks of trio, and what they wait for. */
#pragma once

#include "codes.h"

/* init_trio(its folder, its class Cancelled) */
PyObject *trio_init(PyObject *self, PyObject *args);
