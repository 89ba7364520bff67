/* SPDX-License-Identifier: ISC */
/* The loops of uvloop. They call tasks without any Python code in between, but tasks schedule these calls with
 * call_soon: the callable that they pass there is replaced by one that records when they run. The sleep of the loop is
 * not visible, so the loop counts as sleeping from one task to the next. */
#include "uvloops.h"

#include "futures.h"
#include "hooks.h"
#include "loops.h"
#include "stand_in.h"

static PyObject *step_type;

static PyObject *step_call(PyObject *self, PyObject *args, PyObject *names)
{
    PyObject *callback = stands_for(self), *result;
    PyObject *task = on() ? task_of_callback(callback) : NULL;
    struct promise *p = task ? of_task(task) : NULL, *before = current;
    struct raised raised;
    if (!p) {
        Py_XDECREF(task);
        return PyObject_Call(callback, args, names);
    }
    current = p;
    task_goes_on(p, task);
    result = PyObject_Call(callback, args, names);
    put_aside(&raised);
    if (on() && current == p)
        task_stopped(p, task);
    current = before;
    if (on() && !before)
        weft_suspend(WEFT_WAIT_FOR_WORK);
    else if (on())
        weft_run(running());
    Py_DECREF(task);
    put_back(&raised);
    return result;
}

HOOK_NAMED(uv_call_soon)
{
    enum { FEW = 4 };
    PyObject *all[FEW];
    const Py_ssize_t more = names ? PyTuple_Size(names) : 0;
    PyObject *task = on() && count > 0 && count + more <= FEW ? task_of_callback(args[0]) : NULL;
    if (!task)
        return call_named(&hook_uv_call_soon, self, args, count, names);
    Py_DECREF(task);
    Py_INCREF(args[0]);
    all[0] = stand_in_for(step_type, args[0], NULL);
    for (Py_ssize_t i = 1; i < count + more; i++)
        all[i] = args[i];
    PyObject *result = call_named(&hook_uv_call_soon, self, all, count, names);
    Py_DECREF(all[0]);
    return result;
}

HOOK(uv_create_future)
{
    return loop_future(&hook_uv_create_future, self);
}

HOOK_NAMED(uv_create_task)
{
    return loop_task(&hook_uv_create_task, self, args, count, names);
}

HOOK_ALL(uv_run_until_complete)
{
    return loop_runs(&hook_uv_run_until_complete, self, args, names);
}

HOOK_ALL(uv_create_server)
{
    return loop_serves(&hook_uv_create_server, self, args, names);
}

HOOK_ALL(uv_add_signal_handler)
{
    return loop_serves(&hook_uv_add_signal_handler, self, args, names);
}

HOOK_ONE(uv_call_exception_handler)
{
    return loop_complains(&hook_uv_call_exception_handler, self, one);
}

int uvloops_init(void)
{
    static const PyType_Slot slots[] = {
        {Py_tp_call, (void *)step_call}, {Py_tp_getattro, (void *)stand_in_get}, {0, NULL}};
    step_type = stand_in_type("weft.step", slots);
    return step_type ? 0 : -1;
}

struct hook *const hooks_of_uvloops[] = {
    &hook_uv_call_soon,
    &hook_uv_create_future,
    &hook_uv_create_task,
    &hook_uv_run_until_complete,
    &hook_uv_create_server,
    &hook_uv_add_signal_handler,
    &hook_uv_call_exception_handler,
    NULL,
};
