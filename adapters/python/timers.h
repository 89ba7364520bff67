/* SPDX-License-Identifier: ISC */
/* What the program has a loop call later, or at some time: a timer is pending until it has called it, or is cancelled. */
#ifndef WEFT_PYTHON_TIMERS_H
#define WEFT_PYTHON_TIMERS_H

#include "hooks.h"

/* What was there for a handle of the loop, h, as what the timer does, if it is one that we know. */
PyObject *timer_runs(const struct hook *h, PyObject *handle);

/* The loop complains that what a handle called has failed. */
void timer_failed(PyObject *context);

#endif
