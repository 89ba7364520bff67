/* SPDX-License-Identifier: ISC */
/* Jobs of executors: what run_in_executor, to_thread and submit have done in other threads or processes. */
#pragma once

#include "codes.h"
#include "promises.h"

/* init_jobs(threads by their numbers, types: function, method, functools.partial, contextvars.Context) */
PyObject *jobs_init(PyObject *self, PyObject *args);

/* The type concurrent.futures.Future. */
void jobs_asyncio(PyObject *job);

/* Creates a promise of that type for a call that a thread will make: the function, and its arguments or NULL. */
weft_promise call_create(const char *type, PyObject *function, PyObject *args);

/* Names this thread's stream after Python's name of the thread. */
void thread_named(void);
extern __thread bool thread_is_named; /* or at least Python knows it */

/* The promise of a job that a future of asyncio's is about to represent; NULL: it is not a job. */
struct promise *job_wrapped(PyObject *job);
