/* SPDX-License-Identifier: ISC */
/* Jobs of executors: what run_in_executor, to_thread and submit have done in other threads or processes. */
#ifndef WEFT_PYTHON_JOBS_H
#define WEFT_PYTHON_JOBS_H

#include "codes.h"
#include "promises.h"

/* init_jobs(threads by their numbers, types: function, method, functools.partial, contextvars.Context) */
PyObject *jobs_init(PyObject *self, PyObject *args);

/* The type concurrent.futures.Future. */
void jobs_asyncio(PyObject *job);

/* A promise of a type for what is to be called, as a thread's job: the function, and its arguments or NULL. */
weft_promise call_create(const char *type, PyObject *function, PyObject *args);

/* Has this thread's stream called as Python calls the thread. */
void thread_named(void);
extern __thread bool thread_is_named; /* or at least Python knows it */

/* The promise of a job for which a future of asyncio's is about to stand; NULL: it is none. */
struct promise *job_wrapped(PyObject *job);

#endif
