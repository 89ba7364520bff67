/* SPDX-License-Identifier: ISC */
#include "hooks.h"

#include <string.h>

PyObject *call(const struct hook *h, PyObject *self)
{
    return PyObject_CallFunctionObjArgs(h->was, self, NULL);
}

PyObject *call_with(const struct hook *h, PyObject *self, PyObject *one)
{
    return self ? PyObject_CallFunctionObjArgs(h->was, self, one, NULL)
                : PyObject_CallFunctionObjArgs(h->was, one, NULL);
}

PyObject *call_all(const struct hook *h, PyObject *self, PyObject *args, PyObject *names)
{
    const Py_ssize_t n = PyTuple_Size(args);
    PyObject *all = self ? PyTuple_New(n + 1) : NULL, *result;
    if (!self)
        return PyObject_Call(h->was, args, names);
    if (!all)
        return NULL;
    Py_INCREF(self);
    PyTuple_SetItem(all, 0, self);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *one = PyTuple_GetItem(args, i);
        Py_INCREF(one);
        PyTuple_SetItem(all, i + 1, one);
    }
    result = PyObject_Call(h->was, all, names);
    Py_DECREF(all);
    return result;
}

static PyObject *tuple_of(PyObject *const *args, Py_ssize_t count)
{
    PyObject *all = PyTuple_New(count);
    for (Py_ssize_t i = 0; all && i < count; i++) {
        Py_INCREF(args[i]);
        PyTuple_SetItem(all, i, args[i]);
    }
    return all;
}

PyObject *call_some(const struct hook *h, PyObject *const *args, Py_ssize_t count)
{
    PyObject *all = tuple_of(args, count);
    PyObject *result = all ? PyObject_Call(h->was, all, NULL) : NULL;
    Py_XDECREF(all);
    return result;
}

PyObject *call_one(const struct hook *h, PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    if (count == 1)
        return call_with(h, self, args[0]);
    PyObject *all = tuple_of(args, count);
    PyObject *result = all ? call_all(h, self, all, NULL) : NULL;
    Py_XDECREF(all);
    return result;
}

PyObject *call_named(const struct hook *h, PyObject *self, PyObject *const *args, Py_ssize_t count,
                     PyObject *names)
{
    const Py_ssize_t n = names ? PyTuple_Size(names) : 0;
    if (n == 0)
        return call_one(h, self, args, count);
    PyObject *all = tuple_of(args, count), *named = PyDict_New(), *result = NULL;
    bool failed = !all || !named;
    for (Py_ssize_t i = 0; !failed && i < n; i++)
        failed = PyDict_SetItem(named, PyTuple_GetItem(names, i), args[count + i]) < 0;
    if (!failed)
        result = call_all(h, self, all, named);
    Py_XDECREF(all);
    Py_XDECREF(named);
    return result;
}

static struct hook *find(const char *name)
{
    struct hook *const *const lists[] = {
        hooks_of_loops,   hooks_of_futures, hooks_of_locks, hooks_of_jobs,  hooks_of_imports,
        hooks_of_streams, hooks_of_uvloops, hooks_of_trio,  hooks_of_eager, hooks_of_timers};
    for (unsigned i = 0; i < sizeof lists / sizeof *lists; i++)
        for (struct hook *const *h = lists[i]; *h; h++)
            if (!(*h)->was && strcmp((*h)->method.ml_name, name) == 0)
                return *h;
    PyErr_SetString(PyExc_KeyError, name);
    return NULL;
}

static char *copy(const char *text)
{
    return text && *text ? strdup(text) : NULL;
}

static struct hook *use(const char *hook, const char *name, PyObject *original, const char *doc)
{
    struct hook *h = find(hook);
    if (!h)
        return NULL;
    Py_INCREF(original);
    h->was = original;
    h->method.ml_name = copy(name);
    h->method.ml_doc = copy(doc);
    return h;
}

PyObject *hooks_method(PyObject *self, PyObject *args)
{
    const char *hook, *name, *doc;
    PyObject *class, *original;
    (void)self;
    if (!PyArg_ParseTuple(args, "sOsOz", &hook, &class, &name, &original, &doc))
        return NULL;
    struct hook *h = use(hook, name, original, doc);
    return h ? PyDescr_NewMethod((PyTypeObject *)class, &h->method) : NULL;
}

PyObject *hooks_function(PyObject *self, PyObject *args)
{
    const char *hook, *name, *doc;
    PyObject *original;
    (void)self;
    if (!PyArg_ParseTuple(args, "ssOz", &hook, &name, &original, &doc))
        return NULL;
    struct hook *h = use(hook, name, original, doc);
    return h ? PyCFunction_New(&h->method, NULL) : NULL;
}
