/* SPDX-License-Identifier: ISC */
/* Calls that the program schedules on a loop for later or for a given time: a timer is pending until its call was made
 * or it is cancelled. */
#pragma once

#include "hooks.h"

/* Calls the original, h, for a handle of the loop; if the handle is a known timer, the timer runs. */
PyObject *timer_runs(const struct hook *h, PyObject *handle);

/* The loop reports that a handle's call has failed. */
void timer_failed(PyObject *context);
