/* SPDX-License-Identifier: ISC */
/* Requests that a server (aiohttp, Tornado or uvicorn) answers, each in a task of its own. */
#pragma once

#include "codes.h"
#include "promises.h"

/* The promise of a task whose coroutine answers a request, by the kind of its code. 0: the request is not known.
 * *answer: a weak reference to what will know the status, or NULL; the caller owns it. */
weft_promise request_of(PyObject *coroutine, const struct code *c, PyObject **answer);

/* The task of a request has ended without an exception, or aiohttp's coroutine has returned that value. Ends its
 * promise. */
void request_ended(struct promise *p, PyObject *task);
void request_answered(struct promise *p, PyObject *result);

/* The number that said_begin returned for the program's weft.request, while p works on that request; else 0. */
weft_promise request_said(const struct promise *p, PyObject *coroutine);

/* send(type of bound methods, function): the replacement for "send" in uvicorn's class of answers. */
PyObject *requests_send(PyObject *self, PyObject *args);
