/* SPDX-License-Identifier: ISC */
#include "describe.h"

#include <stdio.h>
#include <string.h>

#include "futures.h"

enum { ARGUMENTS_MAX = 8, TEXT_BYTES = 300, LONG = 1000 };

static void put(char *to, size_t size, const char *text)
{
    const size_t n = strlen(to);
    if (n < size)
        snprintf(to + n, size - n, "%s", text);
}

/* Describes an object with the method of a class of Python's own, whatever the object's class overrides: a new
 * reference, or NULL. */
static PyObject *as(PyObject *class, const char *name, PyObject *object)
{
    PyObject *all = PyObject_GetAttrString(class, "__dict__");
    PyObject *attribute = all ? PyMapping_GetItemString(all, name) : NULL;
    PyObject *value = attribute ? PyObject_CallMethod(attribute, "__get__", "O", object) : NULL;
    if (!value)
        PyErr_Clear();
    Py_XDECREF(attribute);
    Py_XDECREF(all);
    return value;
}

static void put_class(char *to, size_t size, PyTypeObject *class)
{
    char text[TEXT_BYTES];
    PyObject *name = as((PyObject *)&PyType_Type, "__name__", (PyObject *)class);
    copy_text(text, sizeof text, name);
    Py_XDECREF(name);
    put(to, size, text);
}

/* A short text of a plain value, or NULL. */
static PyObject *plain(PyObject *value)
{
    int overflow = 0;
    PyObject *text = NULL;
    if (value == Py_None || PyBool_Check(value) || PyFloat_CheckExact(value))
        text = PyObject_Repr(value);
    else if (PyLong_CheckExact(value) && (PyLong_AsLongAndOverflow(value, &overflow), !overflow))
        text = PyObject_Repr(value);
    else if (PyBytes_CheckExact(value) && PyBytes_Size(value) <= LONG)
        text = PyObject_Repr(value);
    else if (PyUnicode_CheckExact(value)) {
        PyObject *start = PyUnicode_Substring(value, 0, LONG);
        text = start ? PyObject_Repr(start) : NULL;
        Py_XDECREF(start);
    }
    PyErr_Clear();
    return text;
}

static void put_argument(char *to, size_t size, PyObject *value)
{
    char text[TEXT_BYTES];
    PyObject *short_text = plain(value);
    if (short_text) {
        copy_text(text, sizeof text, short_text);
        put(to, size, text);
        Py_DECREF(short_text);
        return;
    }
    put(to, size, "<");
    put_class(to, size, Py_TYPE(value));
    put(to, size, ">");
}

void describe(char *to, size_t size, PyObject *exception)
{
    to[0] = 0;
    if (PyType_Check(exception)) { /* set_exception takes a class, too */
        put_class(to, size, (PyTypeObject *)exception);
        put(to, size, "()");
        return;
    }
    PyObject *args = as(PyExc_BaseException, "args", exception);
    const Py_ssize_t n = args && PyTuple_Check(args) ? PyTuple_Size(args) : 0;
    put_class(to, size, Py_TYPE(exception));
    put(to, size, "(");
    for (Py_ssize_t i = 0; i < n && i < ARGUMENTS_MAX; i++) {
        put(to, size, i ? ", " : "");
        put_argument(to, size, PyTuple_GetItem(args, i));
    }
    put(to, size, n > ARGUMENTS_MAX ? ", …)" : ")");
    Py_XDECREF(args);
}

void describe_sleep(char *to, size_t size, PyObject *delay)
{
    const double seconds = delay ? PyFloat_AsDouble(delay) : -1;
    PyErr_Clear();
    if (seconds >= 0)
        snprintf(to, size, "sleep %g s", seconds);
    else
        snprintf(to, size, "sleep");
    Py_XDECREF(delay);
}
