/* SPDX-License-Identifier: ISC */
#include "said.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "futures.h"
#include "jobs.h"

enum { COUNTERS = 1024 };

static struct weft_counter *counters[COUNTERS];
static unsigned counters_used;
static PyObject *indices; /* of counters, by name */

/* Text of Python's as the recorder takes it: bytes, whose text is PyBytes_AsString; or NULL without an exception. */
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

/* ---- Counters ---- */

/* They live as long as the process, for all its threads. NULL: there is no memory, or there are too many. */
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

/* Of a number: without what stands behind the point. */
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
