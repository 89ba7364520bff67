/* SPDX-License-Identifier: ISC */
/* What asyncio does, told to weft. _weft_hooks.py puts the methods that are made here in the place of asyncio's own:
 * each calls the one that was there, as if that had been called itself, and tells what came of it. They are methods
 * of C, so no frame of ours stands in a traceback. */
#include "futures.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef METH_FASTCALL
#define METH_FASTCALL 0x0080 /* since 3.7, though promised since 3.10 only */
#endif

enum { TEXT_BYTES = 400 };

/* What was there before. */
#define HOOKS(X)                                                                                   \
    X(run, METH_NOARGS)                                                                            \
    X(create_future, METH_NOARGS)                                                                  \
    X(create_task, METH_VARARGS | METH_KEYWORDS)                                                   \
    X(run_until_complete, METH_VARARGS | METH_KEYWORDS)                                            \
    X(call_exception_handler, METH_O)                                                              \
    X(select, METH_VARARGS | METH_KEYWORDS)                                                        \
    X(set_result, METH_FASTCALL)                                                                   \
    X(set_exception, METH_FASTCALL)                                                                \
    X(future_cancel, METH_VARARGS | METH_KEYWORDS)                                                 \
    X(task_cancel, METH_VARARGS | METH_KEYWORDS)                                                   \
    X(future_result, METH_NOARGS)                                                                  \
    X(task_result, METH_NOARGS)                                                                    \
    X(future_exception, METH_NOARGS)                                                               \
    X(task_exception, METH_NOARGS)                                                                 \
    X(acquire_lock, METH_NOARGS)                                                                   \
    X(acquire_semaphore, METH_NOARGS)                                                              \
    X(init_lock, METH_VARARGS | METH_KEYWORDS)                                                     \
    X(init_semaphore, METH_VARARGS | METH_KEYWORDS)                                                \
    X(init_event, METH_VARARGS | METH_KEYWORDS)                                                    \
    X(init_condition, METH_VARARGS | METH_KEYWORDS)                                                \
    X(init_queue, METH_VARARGS | METH_KEYWORDS)                                                    \
    X(set_event, METH_NOARGS)                                                                      \
    X(notify, METH_VARARGS | METH_KEYWORDS)                                                        \
    X(create_server, METH_VARARGS | METH_KEYWORDS)                                                 \
    X(on_sigint, METH_VARARGS | METH_KEYWORDS)                                                     \
    X(close_runner, METH_NOARGS)

enum hook {
#define NUMBER(name, flags) HOOK_##name,
    HOOKS(NUMBER)
#undef NUMBER
};

static PyObject *was[sizeof(
#define ONE(name, flags) "1"
    HOOKS(ONE)
#undef ONE
        )];

static PyObject *was_cancel_all;
static uint64_t gc_begun_ns;

/* The task that a loop is to run to its end, if it is not there yet. */
static __thread PyObject *main_coroutine;
static __thread weft_promise main_id;

/* ---- Calling what was there ---- */

static PyObject *call(enum hook h, PyObject *self)
{
    return PyObject_CallFunctionObjArgs(was[h], self, NULL);
}

static PyObject *call_with(enum hook h, PyObject *self, PyObject *one)
{
    return PyObject_CallFunctionObjArgs(was[h], self, one, NULL);
}

static PyObject *call_all(enum hook h, PyObject *self, PyObject *args, PyObject *names)
{
    const Py_ssize_t n = PyTuple_Size(args);
    PyObject *all = PyTuple_New(n + 1), *result;
    if (!all)
        return NULL;
    Py_INCREF(self);
    PyTuple_SetItem(all, 0, self);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *one = PyTuple_GetItem(args, i);
        Py_INCREF(one);
        PyTuple_SetItem(all, i + 1, one);
    }
    result = PyObject_Call(was[h], all, names);
    Py_DECREF(all);
    return result;
}

/* Where one argument is right; else the one that was there says what is wrong. */
static PyObject *call_one(enum hook h, PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    if (n == 1)
        return call_with(h, self, args[0]);
    PyObject *all = PyTuple_New(n), *result;
    for (Py_ssize_t i = 0; all && i < n; i++) {
        Py_INCREF(args[i]);
        PyTuple_SetItem(all, i, args[i]);
    }
    result = all ? call_all(h, self, all, NULL) : NULL;
    Py_XDECREF(all);
    return result;
}

/* What a program's exception was while we look at something. */
struct raised {
    PyObject *type, *value, *traceback;
};

static void put_aside(struct raised *r)
{
    PyErr_Fetch(&r->type, &r->value, &r->traceback);
}

static void put_back(struct raised *r)
{
    PyErr_Restore(r->type, r->value, r->traceback);
}

/* ---- The loop ---- */

static PyObject *do_run(PyObject *handle, PyObject *none)
{
    PyObject *task = on() ? task_of(handle) : NULL, *result;
    struct promise *p = task ? of_task(task) : NULL, *before = current;
    struct raised raised;
    (void)none;
    if (!p) {
        Py_XDECREF(task);
        return call(HOOK_run, handle);
    }
    current = p;
    task_goes_on(p);
    result = call(HOOK_run, handle);
    put_aside(&raised);
    if (on() && current == p)
        task_stopped(p, task);
    current = before;
    if (on())
        weft_run(running());
    Py_DECREF(task);
    put_back(&raised);
    return result;
}

static PyObject *do_select(PyObject *self, PyObject *args, PyObject *names)
{
    struct raised raised;
    /* A task that selects itself blocks the loop. */
    if (!on() || current)
        return call_all(HOOK_select, self, args, names);
    look_at_failed(8);
    weft_suspend(WEFT_WAIT_FOR_WORK);
    PyObject *result = call_all(HOOK_select, self, args, names);
    put_aside(&raised);
    weft_resume();
    put_back(&raised);
    return result;
}

static PyObject *do_create_future(PyObject *loop, PyObject *none)
{
    PyObject *future = call(HOOK_create_future, loop);
    (void)none;
    if (future && on() && !promise_find(future))
        add_future(future);
    return future;
}

static PyObject *do_create_task(PyObject *loop, PyObject *args, PyObject *names)
{
    PyObject *task = call_all(HOOK_create_task, loop, args, names);
    if (!task || !on() || !of_object(task))
        return task;
    PyObject *coroutine = PyTuple_Size(args) > 0 ? PyTuple_GetItem(args, 0) : NULL;
    struct promise *p = promise_find(task);
    if (main_coroutine && coroutine == main_coroutine) {
        main_id = p->id;
        weft_should_resolve(main_id);
    }
    return task;
}

/* The program waits for it, so it is one that must end: unless it serves. */
static PyObject *do_run_until_complete(PyObject *loop, PyObject *args, PyObject *names)
{
    PyObject *coroutine = main_coroutine, *result;
    const weft_promise id = main_id;
    struct promise *p;
    main_coroutine = PyTuple_Size(args) > 0 ? PyTuple_GetItem(args, 0) : NULL;
    main_id = 0;
    p = main_coroutine ? promise_find(main_coroutine) : NULL;
    if (p && on()) {
        main_id = p->id;
        weft_should_resolve(main_id);
    }
    result = call_all(HOOK_run_until_complete, loop, args, names);
    main_coroutine = coroutine;
    main_id = id;
    return result;
}

static PyObject *do_create_server(PyObject *loop, PyObject *args, PyObject *names)
{
    if (main_id && on())
        weft_background(main_id);
    return call_all(HOOK_create_server, loop, args, names);
}

static PyObject *do_call_exception_handler(PyObject *loop, PyObject *context)
{
    static const char *const keys[] = {"task", "future"};
    for (unsigned i = 0; i < 2 && PyDict_Check(context); i++) {
        PyObject *future = PyDict_GetItemString(context, keys[i]);
        if (future)
            never_looked_at(future);
    }
    return call_with(HOOK_call_exception_handler, loop, context);
}

/* What a loop cancels before it is closed was pending until then. */
static PyObject *do_cancel_all(PyObject *self, PyObject *loop)
{
    const bool before = ending;
    PyObject *result;
    (void)self;
    ending = true;
    result = PyObject_CallFunctionObjArgs(was_cancel_all, loop, NULL);
    ending = before;
    return result;
}

/* Ctrl-C: what hangs, hangs to the end. */
static PyObject *do_on_sigint(PyObject *runner, PyObject *args, PyObject *names)
{
    ending = true;
    return call_all(HOOK_on_sigint, runner, args, names);
}

static PyObject *do_close_runner(PyObject *runner, PyObject *none)
{
    PyObject *result = call(HOOK_close_runner, runner);
    (void)none;
    ending = false;
    return result;
}

/* ---- Futures ---- */

/* The promise of a future that this call ends; NULL: of none. */
static struct promise *ended(PyObject *future)
{
    struct promise *p = on() ? promise_find(future) : NULL;
    if (!p || p->ended)
        return NULL;
    p->ended = true;
    return p->shared ? NULL : p;
}

static PyObject *do_set_result(PyObject *future, PyObject *const *args, Py_ssize_t n)
{
    PyObject *result = call_one(HOOK_set_result, future, args, n);
    struct promise *p = result ? ended(future) : NULL;
    if (p)
        weft_fulfill(p->id);
    return result;
}

static PyObject *do_set_exception(PyObject *future, PyObject *const *args, Py_ssize_t n)
{
    char text[TEXT_BYTES];
    PyObject *result = call_one(HOOK_set_exception, future, args, n);
    struct promise *p = result ? ended(future) : NULL;
    if (p) {
        describe(text, sizeof text, args[0]);
        weft_fail(p->id, text);
        note_failure(p);
    }
    return result;
}

static PyObject *do_future_cancel(PyObject *future, PyObject *args, PyObject *names)
{
    PyObject *result = call_all(HOOK_future_cancel, future, args, names);
    struct promise *p = result == Py_True ? ended(future) : NULL;
    if (p)
        weft_cancel(p->id);
    return result;
}

static PyObject *do_task_cancel(PyObject *task, PyObject *args, PyObject *names)
{
    struct promise *p = on() ? promise_find(task) : NULL;
    if (p && !p->by)
        p->by = running();
    return call_all(HOOK_task_cancel, task, args, names);
}

static PyObject *looked(enum hook h, PyObject *future)
{
    struct promise *p = on() ? promise_find(future) : NULL;
    if (p && p->failed) {
        weft_read(running(), p->id);
        looked_at(p);
    }
    return call(h, future);
}

#define LOOKS(name)                                                                                \
    static PyObject *do_##name(PyObject *future, PyObject *none)                                   \
    {                                                                                              \
        (void)none;                                                                                \
        return looked(HOOK_##name, future);                                                        \
    }
LOOKS(future_result)
LOOKS(task_result)
LOOKS(future_exception)
LOOKS(task_exception)

/* ---- Locks and the like ---- */

/* It is called before the lock is taken; where it is free, the one who calls has it from now on. */
static PyObject *acquire(enum hook h, PyObject *lock, const char *type)
{
    PyObject *locked = on() && current ? PyObject_CallMethod(lock, "locked", NULL) : NULL;
    if (locked == Py_False)
        weft_signal(running(), id_of_primitive(of_primitive(lock), type));
    if (!locked)
        PyErr_Clear();
    Py_XDECREF(locked);
    return call(h, lock);
}

static PyObject *do_acquire_lock(PyObject *lock, PyObject *none)
{
    (void)none;
    return acquire(HOOK_acquire_lock, lock, "Lock.acquire");
}

static PyObject *do_acquire_semaphore(PyObject *semaphore, PyObject *none)
{
    (void)none;
    return acquire(HOOK_acquire_semaphore, semaphore, "Semaphore.acquire");
}

#define INITS(name)                                                                                \
    static PyObject *do_##name(PyObject *self, PyObject *args, PyObject *names)                    \
    {                                                                                              \
        if (on())                                                                                  \
            of_primitive(self);                                                                    \
        return call_all(HOOK_##name, self, args, names);                                           \
    }
INITS(init_lock)
INITS(init_semaphore)
INITS(init_event)
INITS(init_condition)
INITS(init_queue)

static PyObject *do_set_event(PyObject *event, PyObject *none)
{
    (void)none;
    if (on())
        weft_notify(id_of_primitive(of_primitive(event), "event"));
    return call(HOOK_set_event, event);
}

static PyObject *do_notify(PyObject *condition, PyObject *args, PyObject *names)
{
    if (on())
        weft_notify(id_of_primitive(of_primitive(condition), "condition"));
    return call_all(HOOK_notify, condition, args, names);
}

/* ---- The module ---- */

static PyMethodDef methods[] = {
#define METHOD(name, how) {#name, (PyCFunction)(void (*)(void))do_##name, how, NULL},
    HOOKS(METHOD)
#undef METHOD
};

static char *copy(const char *text)
{
    return text && *text ? strdup(text) : NULL;
}

/* method(hook, class, name, method, documentation): a method of the class that stands for this one. */
static PyObject *make_method(PyObject *self, PyObject *args)
{
    const char *hook, *name, *doc;
    PyObject *class, *original;
    (void)self;
    if (!PyArg_ParseTuple(args, "sOsOz", &hook, &class, &name, &original, &doc))
        return NULL;
    for (unsigned i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(methods[i].ml_name, hook) == 0) {
            Py_INCREF(original);
            was[i] = original;
            methods[i].ml_name = copy(name);
            methods[i].ml_doc = copy(doc);
            return PyDescr_NewMethod((PyTypeObject *)class, &methods[i]);
        }
    PyErr_SetString(PyExc_KeyError, hook);
    return NULL;
}

/* cancel_all(function): one that stands for it. */
static PyObject *make_cancel_all(PyObject *self, PyObject *original)
{
    static PyMethodDef def = {"_cancel_all_tasks", do_cancel_all, METH_O, NULL};
    (void)self;
    Py_INCREF(original);
    was_cancel_all = original;
    return PyCFunction_New(&def, NULL);
}

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

/* init(folder of the library, of asyncio, Task, Future, coroutine, generator, two of a task's steps) */
static PyObject *init(PyObject *self, PyObject *args)
{
    const char *library, *asyncio;
    PyObject *types[6];
    (void)self;
    if (!PyArg_ParseTuple(args, "ssOOOOOO", &library, &asyncio, &types[0], &types[1], &types[2],
                          &types[3], &types[4], &types[5]))
        return NULL;
    code_folders(library, asyncio);
    if (futures_init(types) < 0)
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
    else if (gc_begun_ns && on())
        weft_gc(now_ns() - gc_begun_ns);
    Py_RETURN_NONE;
}

static PyObject *forked(PyObject *self, PyObject *none)
{
    (void)self;
    (void)none;
    futures_forked();
    main_id = 0;
    Py_RETURN_NONE;
}

/* At the end of the program, before the interpreter takes everything apart: what is pending then stays so. */
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

/* start(path, bytes): of a process that weft record has not started itself. Returns whether it records. */
static PyObject *start(PyObject *self, PyObject *args)
{
    const char *path;
    unsigned long long bytes;
    (void)self;
    if (!PyArg_ParseTuple(args, "sK", &path, &bytes))
        return NULL;
    const struct weft_options o = {.size = sizeof o, .path = path, .bytes = bytes};
    return PyBool_FromLong(weft_start(&o) == 0);
}

static PyObject *recording(PyObject *self, PyObject *none)
{
    (void)self;
    (void)none;
    return PyBool_FromLong(WEFT_IMPL_ON());
}

static PyMethodDef functions[] = {
    {"method", make_method, METH_VARARGS, NULL},
    {"cancel_all", make_cancel_all, METH_O, NULL},
    {"modified", modified, METH_O, NULL},
    {"code", tell_code, METH_VARARGS, NULL},
    {"init", init, METH_VARARGS, NULL},
    {"collected", collected, METH_VARARGS, NULL},
    {"forked", forked, METH_NOARGS, NULL},
    {"stop", stop, METH_NOARGS, NULL},
    {"start", start, METH_VARARGS, NULL},
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
