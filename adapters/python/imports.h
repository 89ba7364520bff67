/* SPDX-License-Identifier: ISC */
/* Modules that the program may import later, or never: they are handled once they are imported. */
#pragma once

#include "codes.h"

/* watch(name, module or None, function): the function is called with the module as soon as it has been imported. */
PyObject *imports_watch(PyObject *self, PyObject *args);

/* A line on standard error about the exception that is set; clears it. */
void say(const char *what);
