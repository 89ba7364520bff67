/* SPDX-License-Identifier: ISC */
/* Event loops: what they call, what they make, when they sleep, and how they end. */
#include "loops.h"

#include "eager.h"
#include "futures.h"
#include "hooks.h"
#include "jobs.h"
#include "timers.h"

/* The task that a loop is to run to its end, if it is not there yet. */
static __thread PyObject *main_coroutine;
static __thread weft_promise main_id;

HOOK(run)
{
    PyObject *task = on() ? task_of(self) : NULL, *result;
    struct promise *p = task ? of_task(task) : NULL, *before = current;
    struct raised raised;
    if (!p) {
        Py_XDECREF(task);
        return timer_runs(&hook_run, self);
    }
    current = p;
    task_goes_on(p, task);
    result = call(&hook_run, self);
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

/* ---- While recording is paused ---- */

enum { PAUSED_TURNS = 100 };

static PyObject *swap; /* installs the hooks of most methods (True), or removes them */
static bool are_out;
static unsigned paused_turns;

PyObject *loops_pausable(PyObject *self, PyObject *function)
{
    (void)self;
    Py_INCREF(function);
    swap = function;
    Py_RETURN_NONE;
}

/* Called in each turn of a loop. A request to record again turns the requests for calls on. */
static void look_for_pause(void)
{
    const bool is_on = WEFT_IMPL_ON();
    struct raised raised;
    paused_turns = is_on ? 0 : paused_turns + 1;
    if (!swap || (is_on ? !are_out : are_out || paused_turns < PAUSED_TURNS))
        return;
    put_aside(&raised);
    are_out = !is_on;
    PyObject *result = PyObject_CallFunctionObjArgs(swap, is_on ? Py_True : Py_False, NULL);
    if (!result)
        PyErr_Clear();
    Py_XDECREF(result);
    put_back(&raised);
}

HOOK_NAMED(select)
{
    struct raised raised;
    look_for_pause();
    /* A task that calls select itself blocks the loop; if something is ready, select only polls. */
    if (!on() || current ||
        (count == 1 && PyLong_CheckExact(args[0]) && PyLong_AsLong(args[0]) == 0))
        return call_named(&hook_select, self, args, count, names);
    look_at_failed(8);
    weft_suspend(WEFT_WAIT_FOR_WORK);
    PyObject *result = call_named(&hook_select, self, args, count, names);
    put_aside(&raised);
    weft_resume();
    put_back(&raised);
    return result;
}

PyObject *loop_future(const struct hook *h, PyObject *loop)
{
    PyObject *future = call(h, loop);
    if (future && on() && !promise_find(future))
        add_future(future);
    return future;
}

HOOK(create_future)
{
    return loop_future(&hook_create_future, self);
}

PyObject *loop_task(const struct hook *h, PyObject *loop, PyObject *const *args, Py_ssize_t count,
                    PyObject *names)
{
    PyObject *coroutine = count > 0 ? args[0] : NULL;
    struct promise *before = current;
    struct promise *begun = on() && may_be_eager ? eager_begin(loop, coroutine) : NULL;
    PyObject *task = call_named(h, loop, args, count, names);
    if (begun)
        eager_end(begun, task, before);
    if (!task || !on())
        return task;
    if (!thread_is_named)
        thread_named();
    if (!of_object(task))
        return task;
    struct promise *p = promise_find(task);
    if (main_coroutine && coroutine == main_coroutine) {
        main_id = p->id;
        weft_should_resolve(main_id);
    }
    return task;
}

HOOK_NAMED(create_task)
{
    return loop_task(&hook_create_task, self, args, count, names);
}

PyObject *loop_runs(const struct hook *h, PyObject *loop, PyObject *args, PyObject *names)
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
    result = call_all(h, loop, args, names);
    main_coroutine = coroutine;
    main_id = id;
    return result;
}

HOOK_ALL(run_until_complete)
{
    return loop_runs(&hook_run_until_complete, self, args, names);
}

PyObject *loop_serves(const struct hook *h, PyObject *self, PyObject *args, PyObject *names)
{
    if (main_id && on())
        weft_background(main_id);
    return call_all(h, self, args, names);
}

HOOK_ALL(init_server)
{
    return loop_serves(&hook_init_server, self, args, names);
}

HOOK_ALL(add_signal_handler)
{
    return loop_serves(&hook_add_signal_handler, self, args, names);
}

PyObject *loop_complains(const struct hook *h, PyObject *loop, PyObject *context)
{
    static const char *const keys[] = {"task", "future"};
    for (unsigned i = 0; i < 2 && PyDict_Check(context); i++) {
        PyObject *future = PyDict_GetItemString(context, keys[i]);
        if (future)
            never_looked_at(future);
    }
    if (PyDict_Check(context))
        timer_failed(context);
    return call_with(h, loop, context);
}

HOOK_ONE(call_exception_handler)
{
    return loop_complains(&hook_call_exception_handler, self, one);
}

/* What a loop cancels before it is closed was pending until then. */
HOOK_ONE(cancel_all_tasks)
{
    const bool before = ending;
    PyObject *result;
    (void)self;
    ending = true;
    result = call_with(&hook_cancel_all_tasks, NULL, one);
    ending = before;
    return result;
}

/* Ctrl-C: what hangs then counts as hanging to the end. */
HOOK_ALL(on_sigint)
{
    ending = true;
    return call_all(&hook_on_sigint, self, args, names);
}

HOOK(close_runner)
{
    PyObject *result = call(&hook_close_runner, self);
    ending = false;
    return result;
}

void loops_forked(void)
{
    main_id = 0;
}

struct hook *const hooks_of_loops[] = {
    &hook_run,
    &hook_select,
    &hook_create_future,
    &hook_create_task,
    &hook_run_until_complete,
    &hook_init_server,
    &hook_add_signal_handler,
    &hook_call_exception_handler,
    &hook_cancel_all_tasks,
    &hook_on_sigint,
    &hook_close_runner,
    NULL,
};
