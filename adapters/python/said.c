/* SPDX-License-Identifier: ISC */
#include "said.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "futures.h"
#include "describe.h"
#include "jobs.h"

enum { COUNTERS = 1024, TEXT_BYTES = 400 };

static struct weft_counter *counters[COUNTERS];
static unsigned counters_used;
static PyObject *indices; /* of counters, by name */

/* A Python string in the form that the recorder takes: bytes, read with PyBytes_AsString; or NULL without an exception. */
static PyObject *bytes_of(PyObject *text)
{
    PyObject *bytes = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
    if (!bytes)
        PyErr_Clear();
    return bytes;
}

/* ---- Labels and marks ---- */

/* Which promise is meant; 0: none that is pending. */
static weft_promise meant(PyObject *future)
{
    thread_named();
    if (future == Py_None)
        return current ? current->id : 0;
    return of_pending(future);
}

PyObject *said_label(PyObject *self, PyObject *args)
{
    PyObject *text, *future, *bytes;
    (void)self;
    if (!PyArg_ParseTuple(args, "UO", &text, &future))
        return NULL;
    const weft_promise id = on() ? meant(future) : 0;
    if (id && (bytes = bytes_of(text))) {
        weft_label(id, PyBytes_AsString(bytes));
        Py_DECREF(bytes);
    }
    Py_RETURN_NONE;
}

PyObject *said_snapshot(PyObject *self, PyObject *reason)
{
    PyObject *bytes = on() ? bytes_of(reason) : NULL;
    (void)self;
    if (bytes) {
        weft_snapshot(PyBytes_AsString(bytes));
        Py_DECREF(bytes);
    }
    Py_RETURN_NONE;
}

PyObject *said_mark(PyObject *self, PyObject *args)
{
    PyObject *future;
    (void)self;
    if (!PyArg_ParseTuple(args, "O", &future))
        return NULL;
    const weft_promise id = on() ? meant(future) : 0;
    if (id)
        weft_should_resolve(id);
    Py_RETURN_NONE;
}

/* (value of the header, future or None, whether it was sent) */
PyObject *said_traceparent(PyObject *self, PyObject *args)
{
    PyObject *header, *future, *bytes;
    int sent;
    (void)self;
    if (!PyArg_ParseTuple(args, "UOp", &header, &future, &sent))
        return NULL;
    const weft_promise id = on() ? meant(future) : 0;
    if (id && (bytes = bytes_of(header))) {
        if (sent)
            weft_traceparent_sent(id, PyBytes_AsString(bytes));
        else
            weft_traceparent_received(id, PyBytes_AsString(bytes));
        Py_DECREF(bytes);
    }
    Py_RETURN_NONE;
}

/* ---- What is held ---- */

/* The resource of that name, which exists as long as the process; 0: there is no memory. */
static weft_promise resource_of(PyObject *name)
{
    static struct weft_site site = {.file = NULL};
    static PyObject *ids; /* by name */
    weft_promise id = 0;
    if (ids || (ids = PyDict_New())) {
        PyObject *known = PyDict_GetItemWithError(ids, name), *bytes = NULL, *number;
        if (known)
            id = PyLong_AsUnsignedLongLong(known);
        else if ((bytes = bytes_of(name)))
            id = weft_impl_create_from(&site, WEFT_LOOP, "resource", PyBytes_AsString(bytes));
        if (!known && id && (number = PyLong_FromUnsignedLongLong(id))) {
            PyDict_SetItem(ids, name, number);
            Py_DECREF(number);
        }
        Py_XDECREF(bytes);
    }
    PyErr_Clear();
    return id;
}

/* (name, "acquire" or "release" or "wait", future or None) */
PyObject *said_hold(PyObject *self, PyObject *args)
{
    PyObject *name, *future;
    const char *what;
    (void)self;
    if (!PyArg_ParseTuple(args, "UsO", &name, &what, &future))
        return NULL;
    weft_promise who = on() ? meant(future) : 0;
    if (!who && future == Py_None)
        who = WEFT_LOOP; /* a callback */
    const weft_promise id = on() && who ? resource_of(name) : 0;
    if (strcmp(what, "acquire") == 0)
        weft_acquire_by(who, id);
    else if (strcmp(what, "release") == 0)
        weft_release_by(who, id);
    else if (who != WEFT_LOOP)
        weft_wait_by(who, id);
    Py_RETURN_NONE;
}

/* ---- Requests ---- */

static bool add_request(struct promise *p, weft_promise id)
{
    if (p->requests_count == p->requests_room) {
        const unsigned room = p->requests_room ? 2 * p->requests_room : 2;
        weft_promise *requests = realloc(p->requests, room * sizeof *requests);
        if (!requests)
            return false;
        p->requests = requests;
        p->requests_room = room;
    }
    p->requests[p->requests_count++] = id;
    return true;
}

static void remove_request(struct promise *p, weft_promise id)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < p->requests_count; i++)
        if (p->requests[i] != id)
            p->requests[kept++] = p->requests[i];
    p->requests_count = kept;
}

PyObject *said_begin(PyObject *self, PyObject *text)
{
    static struct weft_site site = {.file = NULL};
    weft_promise id = 0;
    (void)self;
    PyObject *bytes = on() && current && current->id ? bytes_of(text) : NULL;
    if (bytes && (id = weft_impl_create(&site, "request", PyBytes_AsString(bytes)))) {
        weft_should_resolve(id);
        if (add_request(current, id)) {
            weft_run(id);
        } else {
            weft_forget(id);
            id = 0;
        }
    }
    Py_XDECREF(bytes);
    return PyLong_FromUnsignedLongLong(id);
}

/* Ends the calls made for it, and its own coroutine, in a task that is in them; returns what called that coroutine. */
static weft_promise leave(struct promise *p, weft_promise id)
{
    if (p->whole == id) {
        end_calls(p, 0);
        p->whole = 0;
        return p->id;
    }
    for (unsigned i = 0; i < p->count; i++) {
        if (p->calls[i].id == id) {
            end_calls(p, i + 1);
            p->count = i;
            Py_XDECREF(p->calls[i].ref);
            return promise_inner(p);
        }
    }
    return promise_works_at(p); /* it has never stopped */
}

static void request_over(struct promise *p, weft_promise id, PyObject *exception)
{
    char text[TEXT_BYTES];
    const weft_promise caller = leave(p, id);
    if (exception == Py_None) {
        weft_fulfill(id);
    } else if (says_cancelled(exception) ||
               PyErr_GivenExceptionMatches(exception, PyExc_GeneratorExit)) {
        weft_resolve_by(p->by ? p->by : id, id, WEFT_BY_CANCEL, NULL);
    } else {
        describe(text, sizeof text, exception);
        weft_fail(id, text);
    }
    weft_read(caller, id);
    if (p == current)
        weft_run(running());
}

PyObject *said_end(PyObject *self, PyObject *args)
{
    unsigned long long number;
    PyObject *exception;
    (void)self;
    if (!PyArg_ParseTuple(args, "KO", &number, &exception))
        return NULL;
    const weft_promise id = (weft_promise)number;
    struct promise *p =
        current && promise_has_request(current, id) ? current : promise_of_request(id);
    if (p) {
        remove_request(p, id);
        if (on())
            request_over(p, id, exception);
        else if (p->whole == id)
            p->whole = 0;
    }
    Py_RETURN_NONE;
}

/* ---- Counters ---- */

/* They exist as long as the process, for all its threads. NULL: there is no memory, or there are too many. */
static struct weft_counter *add_counter(PyObject *name)
{
    struct weft_counter *c = counters_used < COUNTERS ? calloc(1, sizeof *c) : NULL;
    PyObject *bytes = c ? bytes_of(name) : NULL, *index = PyLong_FromUnsignedLong(counters_used);
    if (bytes && index && (c->name = strdup(PyBytes_AsString(bytes))) &&
        PyDict_SetItem(indices, name, index) == 0) {
        counters[counters_used++] = c;
    } else if (c) {
        free((void *)(uintptr_t)c->name);
        free(c);
        c = NULL;
    }
    Py_XDECREF(bytes);
    Py_XDECREF(index);
    return c;
}

static struct weft_counter *counter_of(PyObject *name)
{
    struct weft_counter *c = NULL;
    if (indices || (indices = PyDict_New())) {
        PyObject *index = PyDict_GetItemWithError(indices, name);
        c = index ? counters[PyLong_AsUnsignedLong(index)] : add_counter(name);
    }
    PyErr_Clear();
    return c;
}

/* Converts a number, without its decimals. */
static bool whole(PyObject *number, int64_t *value)
{
    int overflow = 0;
    if (PyFloat_Check(number)) {
        const double d = PyFloat_AsDouble(number);
        const bool fits = d > -9e18 && d < 9e18;
        *value = fits ? (int64_t)d : 0;
        return fits;
    }
    *value = PyLong_Check(number) ? PyLong_AsLongLongAndOverflow(number, &overflow) : 0;
    return PyLong_Check(number) && !overflow;
}

PyObject *said_count(PyObject *self, PyObject *args)
{
    PyObject *name, *number;
    int64_t value;
    int adds;
    (void)self;
    if (!PyArg_ParseTuple(args, "UOp", &name, &number, &adds))
        return NULL;
    struct weft_counter *c = on() && whole(number, &value) ? counter_of(name) : NULL;
    if (c)
        thread_named();
    if (c && adds)
        weft_counter_add(c, value);
    else if (c)
        weft_counter_set(c, value);
    Py_RETURN_NONE;
}
