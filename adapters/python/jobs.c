/* SPDX-License-Identifier: ISC */
#include "jobs.h"

#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "futures.h"
#include "describe.h"
#include "hooks.h"
#include "names.h"

enum { TEXT_BYTES = 400, NAME_BYTES = 16, WRAPS_MAX = 8 };

static PyObject *threads; /* by number */
static PyTypeObject *function_type, *method_type, *partial_type, *context_type, *job_type;

/* ---- Names of threads ---- */

__thread bool thread_is_named;

/* 15 bytes of a name that may be longer: the number at the end matters most. */
static void shorten(char to[NAME_BYTES], const char *name)
{
    static const char common[] = "ThreadPoolExecutor-";
    char text[128];
    const bool is_common = strncmp(name, common, sizeof common - 1) == 0;
    snprintf(text, sizeof text, "%s%s", is_common ? "pool-" : "",
             name + (is_common ? sizeof common - 1 : 0));
    const size_t size = strlen(text);
    if (size < NAME_BYTES)
        memcpy(to, text, size + 1);
    else
        snprintf(to, NAME_BYTES, "%.7s..%s", text, text + size - 6);
}

/* The recorder names a stream after the system's name of the thread when it first records, and Python does not set that
 * name: so it is set for a moment. */
void thread_named(void)
{
    char name[NAME_BYTES], before[NAME_BYTES];
    if (thread_is_named)
        return;
    PyObject *number = PyLong_FromUnsignedLong(PyThread_get_thread_ident());
    PyObject *thread = number ? PyObject_GetItem(threads, number) : NULL;
    thread_is_named = thread != NULL; /* else it has just started, or is not a Python thread */
    PyObject *text = thread ? get(thread, s_name) : NULL;
    PyObject *bytes = text && PyUnicode_Check(text) ? PyUnicode_AsUTF8String(text) : NULL;
    if (bytes && strcmp(PyBytes_AsString(bytes), "MainThread") != 0 &&
        prctl(PR_GET_NAME, before) == 0) {
        shorten(name, PyBytes_AsString(bytes));
        prctl(PR_SET_NAME, name);
        weft_run(running());
        prctl(PR_SET_NAME, before);
    }
    PyErr_Clear();
    Py_XDECREF(bytes);
    Py_XDECREF(text);
    Py_XDECREF(thread);
    Py_XDECREF(number);
}

/* ---- What a job is called ---- */

/* The function in a partial one, or that a context is to run; a new reference. */
static PyObject *unwrapped(PyObject *function, PyObject *args)
{
    Py_INCREF(function);
    Py_XINCREF(args);
    for (unsigned i = 0; i < WRAPS_MAX; i++) {
        PyObject *inner = NULL, *of = NULL;
        if (Py_TYPE(function) == partial_type) {
            inner = get(function, s_func);
            of = get(function, s_args);
        } else if (PyCFunction_Check(function) && PyCFunction_GetSelf(function) &&
                   Py_TYPE(PyCFunction_GetSelf(function)) == context_type && args &&
                   PyTuple_Check(args) && PyTuple_Size(args) > 0) {
            inner = PyTuple_GetItem(args, 0);
            Py_INCREF(inner);
        }
        if (!inner)
            break;
        Py_DECREF(function);
        Py_XDECREF(args);
        function = inner;
        args = of;
    }
    Py_XDECREF(args);
    return function;
}

/* "time.sleep", or the class of a callable. None of the program's own code runs for it. */
static void name_builtin(char *to, size_t size, PyObject *function)
{
    char name[TEXT_BYTES / 2], module[TEXT_BYTES / 2] = "";
    const bool is_builtin = PyCFunction_Check(function);
    PyObject *named =
        is_builtin || PyType_Check(function) ? function : (PyObject *)Py_TYPE(function);
    PyObject *text = get(named, s___qualname__), *of = is_builtin ? get(named, s___module__) : NULL;
    copy_text(name, sizeof name, text);
    if (of && PyUnicode_Check(of))
        copy_text(module, sizeof module, of);
    snprintf(to, size, "%s%s%s", module, *module ? "." : "", name);
    Py_XDECREF(of);
    Py_XDECREF(text);
}

weft_promise call_create(const char *type, PyObject *wrapped, PyObject *args)
{
    static struct weft_site site = {.file = NULL};
    char label[TEXT_BYTES];
    PyObject *function = unwrapped(wrapped, args);
    const bool is_python = Py_TYPE(function) == function_type || Py_TYPE(function) == method_type;
    PyObject *object = is_python ? get(function, s___code__) : NULL;
    PyObject *name = object ? get(function, s___qualname__) : NULL;
    weft_promise id;
    if (object) {
        const struct code *c = code_of(object, name);
        const enum place_use use = strcmp(type, "job") == 0 ? FOR_JOB : FOR_TIMER;
        id = weft_impl_create(&place_of(c, c->line, c, use)->site, type, c->name);
    } else {
        name_builtin(label, sizeof label, function);
        id = weft_impl_create(&site, type, label);
    }
    Py_XDECREF(name);
    Py_XDECREF(object);
    Py_DECREF(function);
    return id;
}

/* ---- A job's life ---- */

struct promise *job_wrapped(PyObject *job)
{
    struct promise *p = promise_find(job);
    if (p)
        p->of_job = true;
    return p;
}

/* Called before any thread can take it: an item of a queue of jobs consists of (future, function, args, keywords),
 * since 3.14 of (future, (function, args, keywords)). */
static PyObject *item_made(const struct hook *h, PyObject *self, PyObject *args, PyObject *names)
{
    const Py_ssize_t n = PyTuple_Size(args);
    PyObject *future = n >= 2 ? PyTuple_GetItem(args, 0) : NULL;
    PyObject *what = n >= 2 ? PyTuple_GetItem(args, 1) : NULL;
    PyObject *with = n >= 3 ? PyTuple_GetItem(args, 2) : NULL;
    if (n == 2 && PyTuple_Check(what) && PyTuple_Size(what) >= 2) {
        with = PyTuple_GetItem(what, 1);
        what = PyTuple_GetItem(what, 0);
    }
    if (what && on() && !promise_find(future)) {
        thread_named();
        const weft_promise id = call_create("job", what, with);
        if (id)
            promise_add(future, id);
    }
    return call_all(h, self, args, names);
}

HOOK_ALL(init_item)
{
    return item_made(&hook_init_item, self, args, names);
}

HOOK_ALL(init_process_item)
{
    return item_made(&hook_init_process_item, self, args, names);
}

/* A thread of the executor runs it. */
HOOK(run_item)
{
    PyObject *future = on() ? get(self, s_future) : NULL, *result;
    struct promise *p = future ? promise_find(future) : NULL, *before = current;
    struct raised raised;
    if (!p || p->ended) {
        Py_XDECREF(future);
        return call(&hook_run_item, self);
    }
    thread_named();
    current = p;
    weft_run(p->id);
    result = call(&hook_run_item, self);
    put_aside(&raised);
    current = before;
    if (on() && !before)
        weft_suspend(WEFT_WAIT_FOR_WORK);
    else if (on())
        weft_run(running());
    Py_DECREF(future);
    put_back(&raised);
    return result;
}

/* For (task, future): run_coroutine_threadsafe returns the future in place of the task, so they are the same. */
HOOK_FAST(chain_future)
{
    PyObject *result = call_some(&hook_chain_future, args, count);
    struct promise *p;
    (void)self;
    if (!result || !on() || count != 2 || !PyObject_TypeCheck(args[1], job_type))
        return result;
    const weft_promise id = of_object(args[0]);
    p = id ? promise_find(args[1]) : NULL;
    if (p) {
        weft_wait_by(p->id, id);
    } else if (id && (p = promise_add(args[1], id))) {
        p->shared = true;
        p->of_job = true;
    }
    return result;
}

/* Recorded as resolved just before it really is: another thread may continue at once. */
HOOK_FAST(job_set_result)
{
    struct promise *p = count == 1 ? ends(self) : NULL;
    if (p)
        weft_fulfill(p->id);
    return call_one(&hook_job_set_result, self, args, count);
}

HOOK_FAST(job_set_exception)
{
    char text[TEXT_BYTES];
    struct promise *p = count == 1 ? ends(self) : NULL;
    if (p) {
        describe(text, sizeof text, args[0]);
        weft_fail(p->id, text);
        p->unread = true;
    }
    return call_one(&hook_job_set_exception, self, args, count);
}

HOOK(job_cancel)
{
    PyObject *result = call(&hook_job_cancel, self);
    struct promise *p = result == Py_True ? ends(self) : NULL;
    if (p)
        weft_cancel(p->id);
    return result;
}

/* The thread stands still until the job is done. When asyncio passes a result on to its own future, that does not count
 * as retrieving it. */
static PyObject *job_looked(const struct hook *h, PyObject *future, PyObject *args, PyObject *names)
{
    struct promise *p = on() ? promise_find(future) : NULL;
    if (!p && on() && current)
        p = add_future(future);
    const weft_promise id = p && !(p->of_job && !current) ? p->id : 0;
    const bool waits = id && !p->ended && current, reads = id && (waits || p->unread);
    struct raised raised;
    if (waits)
        weft_wait_by(running(), id);
    PyObject *result = call_all(h, future, args, names);
    put_aside(&raised);
    if (reads && on()) {
        p = promise_find(future);
        if (p && p->ended)
            p->unread = false;
        if (current)
            weft_wake(running(), id);
        else
            weft_read(WEFT_LOOP, id);
    }
    put_back(&raised);
    return result;
}

HOOK_ALL(job_result)
{
    return job_looked(&hook_job_result, self, args, names);
}

HOOK_ALL(job_exception)
{
    return job_looked(&hook_job_exception, self, args, names);
}

PyObject *jobs_init(PyObject *self, PyObject *args)
{
    PyObject *types[4];
    PyTypeObject **const to[] = {&function_type, &method_type, &partial_type, &context_type};
    (void)self;
    if (!PyArg_ParseTuple(args, "OOOOO", &threads, &types[0], &types[1], &types[2], &types[3]))
        return NULL;
    Py_INCREF(threads);
    for (unsigned i = 0; i < sizeof to / sizeof *to; i++) {
        Py_INCREF(types[i]);
        *to[i] = (PyTypeObject *)types[i];
    }
    Py_RETURN_NONE;
}

void jobs_asyncio(PyObject *job)
{
    Py_INCREF(job);
    job_type = (PyTypeObject *)job;
}

struct hook *const hooks_of_jobs[] = {
    &hook_init_item,         &hook_init_process_item,
    &hook_run_item,          &hook_job_set_result,
    &hook_job_set_exception, &hook_job_cancel,
    &hook_job_result,        &hook_job_exception,
    &hook_chain_future,      NULL,
};
