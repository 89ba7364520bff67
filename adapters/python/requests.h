/* SPDX-License-Identifier: ISC */
/* Requests that a server answers, each in a task of its own: of aiohttp, Tornado and uvicorn. */
#ifndef WEFT_PYTHON_REQUESTS_H
#define WEFT_PYTHON_REQUESTS_H

#include "codes.h"
#include "promises.h"

/* The promise of a task whose coroutine answers a request, by the kind of its code. 0: it cannot be told which one.
 * *answer: a weak reference to what will know the status, or NULL; the caller owns it. */
weft_promise request_of(PyObject *coroutine, const struct code *c, PyObject **answer);

/* The task of a request is over, without an exception; or aiohttp's coroutine has given that. Ends its promise. */
void request_ended(struct promise *p, PyObject *task);
void request_answered(struct promise *p, PyObject *result);

/* What weft.request of the program's has got for its request by said_begin, as long as p works at it; else 0. */
weft_promise request_said(const struct promise *p, PyObject *coroutine);

/* send(type of bound methods, function): what is to stand in the class of uvicorn's answers for its "send". */
PyObject *requests_send(PyObject *self, PyObject *args);

#endif
