/* SPDX-License-Identifier: ISC */
/* What methods of loops do, whatever library the loop comes from; h is the original. */
#pragma once

#include "hooks.h"

PyObject *loop_future(const struct hook *h, PyObject *loop);
PyObject *loop_task(const struct hook *h, PyObject *loop, PyObject *const *args, Py_ssize_t count,
                    PyObject *names);

/* The program waits for that task, so it must end, unless it serves. */
PyObject *loop_runs(const struct hook *h, PyObject *loop, PyObject *args, PyObject *names);

/* A task that serves, or that ends on a signal, is meant to wait for long. */
PyObject *loop_serves(const struct hook *h, PyObject *self, PyObject *args, PyObject *names);

/* The context may report a failure that was never retrieved. */
PyObject *loop_complains(const struct hook *h, PyObject *loop, PyObject *context);

/* pausable(function): is called with False once recording has been paused for a while, and with True when it goes on. */
PyObject *loops_pausable(PyObject *self, PyObject *function);

/* In the child of a fork. */
void loops_forked(void);
