/* SPDX-License-Identifier: ISC */
/* The module with which _weft_asyncio.py and _weft_trio.py install hooks in asyncio and trio: see hooks.h. */
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "eager.h"
#include "futures.h"
#include "hooks.h"
#include "imports.h"
#include "jobs.h"
#include "late.h"
#include "locks.h"
#include "loops.h"
#include "requests.h"
#include "said.h"
#include "trio.h"

static uint64_t gc_begun_ns;

static PyObject *modified(PyObject *self, PyObject *class)
{
    (void)self;
    PyType_Modified((PyTypeObject *)class);
    Py_RETURN_NONE;
}

/* code(code, name, kind) */
static PyObject *tell_code(PyObject *self, PyObject *args)
{
    PyObject *code, *name;
    int kind;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOi", &code, &name, &kind) || code_tell(code, name, kind) < 0)
        return NULL;
    Py_RETURN_NONE;
}

/* init(folder of the library, gc.get_referents, types: see futures_init). Returns whether that is the first time. */
static PyObject *init(PyObject *self, PyObject *args)
{
    static bool done;
    const char *library;
    PyObject *types[5], *referents;
    (void)self;
    if (!PyArg_ParseTuple(args, "sOOOOOO", &library, &referents, &types[0], &types[1], &types[2],
                          &types[3], &types[4]))
        return NULL;
    if (done)
        Py_RETURN_FALSE;
    done = true;
    code_library(library);
    if (futures_init(types, referents) < 0)
        return NULL;
    Py_RETURN_TRUE;
}

/* init_asyncio(its folder, whether tasks may be eager, CancelledError, Task, Future, two of a task's steps,
 * concurrent.futures.Future) */
static PyObject *init_asyncio(PyObject *self, PyObject *args)
{
    const char *folder;
    PyObject *types[4], *job, *cancelled;
    int eager;
    (void)self;
    if (!PyArg_ParseTuple(args, "spOOOOOO", &folder, &eager, &cancelled, &types[0], &types[1],
                          &types[2], &types[3], &job))
        return NULL;
    runtime_add(folder, cancelled);
    may_be_eager = eager;
    jobs_asyncio(job);
    if (futures_asyncio(types) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* For gc.callbacks. */
static PyObject *collected(PyObject *self, PyObject *args)
{
    const char *phase;
    PyObject *info;
    (void)self;
    if (!PyArg_ParseTuple(args, "sO", &phase, &info))
        return NULL;
    if (strcmp(phase, "start") == 0)
        gc_begun_ns = now_ns();
    else if (gc_begun_ns && on()) {
        const uint64_t took_ns = now_ns() - gc_begun_ns;
        thread_named();
        if (thread_is_named) /* else the thread has just started and would keep the wrong name for ever */
            weft_gc(took_ns);
    }
    Py_RETURN_NONE;
}

static PyObject *forked(PyObject *self, PyObject *none)
{
    (void)self;
    (void)none;
    futures_forked();
    loops_forked();
    Py_RETURN_NONE;
}

/* At the end of the program, before the interpreter tears everything down: what is pending then stays pending. */
static PyObject *stop(PyObject *self, PyObject *none)
{
    (void)self;
    (void)none;
    if (on())
        look_at_failed(UINT_MAX);
    weft_stop();
    aside = true;
    Py_RETURN_NONE;
}

/* start(path, bytes): starts recording in a process that weft record has not started itself. Returns 0 or an errno. */
static PyObject *start(PyObject *self, PyObject *args)
{
    const char *path;
    unsigned long long bytes;
    (void)self;
    if (!PyArg_ParseTuple(args, "sK", &path, &bytes))
        return NULL;
    const struct weft_options o = {.size = sizeof o, .path = path, .bytes = bytes};
    return PyLong_FromLong(-weft_start(&o));
}

/* What could not be looked at is not recorded. */
static PyObject *halt(PyObject *self, PyObject *none)
{
    (void)self;
    (void)none;
    weft_stop();
    Py_RETURN_NONE;
}

static PyObject *recording(PyObject *self, PyObject *none)
{
    (void)self;
    (void)none;
    return PyBool_FromLong(WEFT_IMPL_ON());
}

static PyMethodDef functions[] = {
    {"method", hooks_method, METH_VARARGS, NULL},
    {"function", hooks_function, METH_VARARGS, NULL},
    {"acquire", locks_acquire, METH_VARARGS, NULL},
    {"watch", imports_watch, METH_VARARGS, NULL},
    {"send", requests_send, METH_VARARGS, NULL},
    {"label", said_label, METH_VARARGS, NULL},
    {"mark", said_mark, METH_VARARGS, NULL},
    {"traceparent", said_traceparent, METH_VARARGS, NULL},
    {"snapshot", said_snapshot, METH_O, NULL},
    {"hold", said_hold, METH_VARARGS, NULL},
    {"begin", said_begin, METH_O, NULL},
    {"end", said_end, METH_VARARGS, NULL},
    {"count", said_count, METH_VARARGS, NULL},
    {"init_jobs", jobs_init, METH_VARARGS, NULL},
    {"modified", modified, METH_O, NULL},
    {"late", late_tasks, METH_VARARGS, NULL},
    {"code", tell_code, METH_VARARGS, NULL},
    {"init", init, METH_VARARGS, NULL},
    {"init_asyncio", init_asyncio, METH_VARARGS, NULL},
    {"pausable", loops_pausable, METH_O, NULL},
    {"init_trio", trio_init, METH_VARARGS, NULL},
    {"collected", collected, METH_VARARGS, NULL},
    {"forked", forked, METH_NOARGS, NULL},
    {"stop", stop, METH_NOARGS, NULL},
    {"start", start, METH_VARARGS, NULL},
    {"halt", halt, METH_NOARGS, NULL},
    {"recording", recording, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_weft", NULL, -1, functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__weft(void);

PyMODINIT_FUNC PyInit__weft(void)
{
    return PyModule_Create(&module);
}
