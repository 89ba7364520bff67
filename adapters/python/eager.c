/* SPDX-License-Identifier: ISC */
#include "eager.h"

#include "futures.h"
#include "hooks.h"
#include "names.h"
#include "requests.h"
#include "stand_in.h"

bool may_be_eager;

/* ---- Tasks of a loop with a factory ---- */

struct promise *eager_begin(PyObject *loop, PyObject *coroutine)
{
    PyObject *factory = PyObject_CallMethodObjArgs(loop, s_get_task_factory, NULL);
    struct promise *p = NULL;
    PyErr_Clear();
    if (factory && factory != Py_None && coroutine && !promise_find(coroutine))
        p = add_begun(coroutine);
    Py_XDECREF(factory);
    if (p) {
        current = p;
        weft_run(p->id);
    }
    return p;
}

static bool has_begun(PyObject *coroutine)
{
    PyObject *frame = get(coroutine, s_cr_frame);
    PyObject *at = frame && frame != Py_None ? get(frame, s_f_lasti) : NULL;
    const bool has = !at || PyLong_AsLong(at) >= 0;
    Py_XDECREF(at);
    Py_XDECREF(frame);
    return has;
}

void eager_end(struct promise *p, PyObject *task, struct promise *before)
{
    struct raised raised;
    PyObject *coroutine = p->object; /* the caller has it */
    put_aside(&raised);
    current = before;
    struct promise *of = task ? take_over(task, p) : NULL;
    if (of && has_begun(coroutine))
        task_stopped(of, task);
    else if (!of)
        weft_forget(p->id);
    weft_run(running());
    put_back(&raised);
}

/* ---- A stand-in for a coroutine ---- */

/* aiohttp passes it to a task that starts at once, which is not reported to us. To asyncio it is a coroutine. */
static PyObject *begun_type;

PyObject *eager_coroutine(PyObject *coroutine)
{
    if (!coroutine || (PyObject *)Py_TYPE(coroutine) != begun_type)
        return coroutine;
    PyObject *inner = stands_for(coroutine);
    Py_INCREF(inner);
    Py_DECREF(coroutine);
    return inner;
}

/* It has run without a task object, and has raised r, or waits for what it has yielded. */
static void stopped(struct promise *p, PyObject *waits_for, struct raised *r)
{
    if (waits_for) {
        follow_calls(p);
        p->waits = of_object(waits_for);
        if (p->waits)
            weft_wait_by(promise_inner(p), p->waits);
        return;
    }
    PyErr_NormalizeException(&r->type, &r->value, &r->traceback);
    end_calls(p, 0);
    p->ended = true;
    if (r->value && PyErr_GivenExceptionMatches(r->value, PyExc_StopIteration)) {
        PyObject *value = get(r->value, s_value);
        request_answered(p, value);
        Py_XDECREF(value);
    } else if (r->value) {
        failed_with(p, r->value);
        weft_read(WEFT_LOOP, p->id); /* aiohttp looks at it at once */
    }
}

static PyObject *goes_on(PyObject *self, PyObject *how, PyObject *with)
{
    PyObject *inner = stands_for(self);
    struct promise *p = on() ? promise_find(inner) : NULL, *before = current;
    struct raised raised;
    if (!p || p->ended || (before && before->id == p->id))
        return PyObject_CallMethodObjArgs(inner, how, with, NULL);
    current = p;
    weft_run(p->id);
    PyObject *result = PyObject_CallMethodObjArgs(inner, how, with, NULL);
    put_aside(&raised);
    if (on() && current == p)
        stopped(p, result, &raised);
    current = before;
    if (on())
        weft_run(running());
    put_back(&raised);
    return result;
}

static PyObject *begun_next(PyObject *self)
{
    return goes_on(self, s_send, Py_None);
}

static PyObject *begun_send(PyObject *self, PyObject *value)
{
    return goes_on(self, s_send, value);
}

static PyObject *begun_throw(PyObject *self, PyObject *args)
{
    PyObject *method = PyObject_GetAttr(stands_for(self), s_throw);
    PyObject *result = method ? PyObject_CallObject(method, args) : NULL;
    Py_XDECREF(method);
    return result;
}

static PyObject *begun_close(PyObject *self, PyObject *none)
{
    (void)none;
    return PyObject_CallMethodObjArgs(stands_for(self), s_close, NULL);
}

static PyObject *begun_self(PyObject *self)
{
    Py_INCREF(self);
    return self;
}

static PyObject *begun_await(PyObject *self, PyObject *none)
{
    (void)none;
    return begun_self(self);
}

static PyObject *begun_get(PyObject *self, PyObject *name)
{
    static const char *const own[] = {"send", "throw", "close", "__await__"};
    for (unsigned i = 0; i < sizeof own / sizeof *own; i++)
        if (PyUnicode_CompareWithASCIIString(name, own[i]) == 0)
            return PyObject_GenericGetAttr(self, name);
    return stand_in_get(self, name);
}

/* aiohttp creates a coroutine that answers a request, and then a task from it. */
HOOK_ALL(handle_request)
{
    PyObject *coroutine = call_all(&hook_handle_request, self, args, names);
    if (!coroutine || !on() || !add_begun(coroutine))
        return coroutine;
    return stand_in_for(begun_type, coroutine, NULL);
}

int eager_init(void)
{
    static PyMethodDef methods[] = {{"send", begun_send, METH_O, NULL},
                                    {"throw", begun_throw, METH_VARARGS, NULL},
                                    {"close", begun_close, METH_NOARGS, NULL},
                                    {"__await__", begun_await, METH_NOARGS, NULL},
                                    {NULL, NULL, 0, NULL}};
    static const PyType_Slot slots[] = {{Py_tp_methods, (void *)methods},
                                        {Py_tp_iter, (void *)begun_self},
                                        {Py_tp_iternext, (void *)begun_next},
                                        {Py_tp_getattro, (void *)begun_get},
                                        {0, NULL}};
    begun_type = stand_in_type("weft.coroutine", slots);
    return begun_type ? 0 : -1;
}

struct hook *const hooks_of_eager[] = {&hook_handle_request, NULL};
