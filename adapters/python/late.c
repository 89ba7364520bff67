/* SPDX-License-Identifier: ISC */
#include "late.h"

#include <stdio.h>

#include "futures.h"
#include "jobs.h"
#include "names.h"

enum { NAME_BYTES = 128 };

/* ---- The names of locks ---- */

static PyObject *listed; /* the coroutine whose task is being listed; NULL: none is */
static bool lists;

/* Takes the reference to the mapping, which may be NULL: the key that has this value. */
static bool key_of(PyObject *mapping, PyObject *value, char name[NAME_BYTES])
{
    PyObject *key, *one, *dict = PyDict_New(); /* since 3.13 variables are no dict */
    Py_ssize_t at = 0;
    bool found = false;
    if (mapping && dict && PyDict_Update(dict, mapping) == 0)
        while (!found && PyDict_Next(dict, &at, &key, &one))
            if ((found = one == value && PyUnicode_Check(key)))
                copy_text(name, NAME_BYTES, key);
    PyErr_Clear();
    Py_XDECREF(dict);
    Py_XDECREF(mapping);
    return found;
}

/* No code of the program's is to run for that. */
static PyObject *attributes_of(PyObject *object)
{
    PyObject *dict = object ? PyObject_GenericGetAttr(object, s___dict__) : NULL;
    PyErr_Clear();
    return dict;
}

/* In the variables of a function, in its object's attributes, or in those of its module. */
static bool known_in(PyObject *frame, PyObject *value, char name[NAME_BYTES])
{
    PyObject *self = local(frame, s_self);
    const bool found = key_of(get(frame, s_f_locals), value, name) ||
                       key_of(attributes_of(self), value, name) ||
                       key_of(get(frame, s_f_globals), value, name);
    Py_XDECREF(self);
    return found;
}

bool late_name(PyObject *object, const char *type, char *to, size_t size)
{
    char name[NAME_BYTES];
    bool found = false;
    if (!lists)
        return false;
    PyObject *at = listed;
    Py_XINCREF(at);
    while (at && !found) {
        PyObject *inner = inner_of(at), *frame = get(at, s_cr_frame);
        if (frame && frame != Py_None && code_of_coroutine(at)->owner != CODE_RUNTIME)
            found = known_in(frame, object, name);
        Py_XDECREF(frame);
        Py_DECREF(at);
        at = inner;
    }
    Py_XDECREF(at);
    snprintf(to, size, "%s%s%s", type, found ? " " : "", found ? name : "");
    return true;
}

/* ---- Tasks ---- */

static void list_task(PyObject *task)
{
    struct promise *p = of_task(task);
    PyObject *future = p && p->coroutine ? get(task, s__fut_waiter) : NULL;
    if (future) {
        listed = p->coroutine;
        if (future != Py_None && !promise_find(future))
            add_awaited(future, p->coroutine);
        task_stopped(p, task);
        listed = NULL;
    }
    Py_XDECREF(future);
}

PyObject *late_tasks(PyObject *self, PyObject *args)
{
    static struct weft_site site = {.file = NULL};
    PyObject *tasks, *mains;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO", &tasks, &mains))
        return NULL;
    const Py_ssize_t n = on() ? PyList_Size(tasks) : 0;
    if (n <= 0)
        Py_RETURN_NONE;
    thread_named();
    const weft_promise before =
        weft_impl_create_from(&site, WEFT_LOOP, "weft", "before the recording");
    weft_run(before);
    lists = true;
    /* First all, so that none is made because another one waits for it. */
    for (Py_ssize_t i = 0; i < n; i++)
        of_task(PyList_GetItem(tasks, i));
    for (Py_ssize_t i = 0; i < n; i++)
        list_task(PyList_GetItem(tasks, i));
    for (Py_ssize_t i = 0; i < PyList_Size(mains); i++) {
        const struct promise *p = of_task(PyList_GetItem(mains, i));
        if (p)
            weft_should_resolve(p->id);
    }
    lists = false;
    weft_fulfill(before);
    weft_run(running());
    Py_RETURN_NONE;
}
