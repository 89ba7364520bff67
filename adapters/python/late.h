/* SPDX-License-Identifier: ISC */
/* What is pending already when recording begins in the middle of a program (weft ctl PID on). */
#pragma once

#include "codes.h"

/* late(tasks, some of them): they get promises that "before the recording" has created, with the calls they are in and what
 * they wait for; some should end. */
PyObject *late_tasks(PyObject *self, PyObject *args);

/* While late_tasks runs nothing is known of who makes things. Writes the name of a variable that is this object, or only
 * `type`, and returns true. */
bool late_name(PyObject *object, const char *type, char *to, size_t size);
