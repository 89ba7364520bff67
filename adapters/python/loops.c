/* SPDX-License-Identifier: ISC */
/* Event loops: what they call, what they make, when they sleep, and how they end. */
#include "loops.h"

#include "futures.h"
#include "hooks.h"
#include "jobs.h"

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
        return call(&hook_run, self);
    }
    current = p;
    task_goes_on(p);
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

HOOK_NAMED(select)
{
    struct raised raised;
    /* A task that selects itself blocks the loop; where something is ready, it is a mere look. */
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

HOOK(create_future)
{
    PyObject *future = call(&hook_create_future, self);
    if (future && on() && !promise_find(future))
        add_future(future);
    return future;
}

HOOK_NAMED(create_task)
{
    PyObject *task = call_named(&hook_create_task, self, args, count, names);
    if (!task || !on())
        return task;
    if (!thread_is_named)
        thread_named();
    if (!of_object(task))
        return task;
    PyObject *coroutine = count > 0 ? args[0] : NULL;
    struct promise *p = promise_find(task);
    if (main_coroutine && coroutine == main_coroutine) {
        main_id = p->id;
        weft_should_resolve(main_id);
    }
    return task;
}

/* The program waits for it, so it is one that must end: unless it serves. */
HOOK_ALL(run_until_complete)
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
    result = call_all(&hook_run_until_complete, self, args, names);
    main_coroutine = coroutine;
    main_id = id;
    return result;
}

/* What serves, or ends when it gets a signal, is meant to wait for long. */
static void goes_on_for_ever(void)
{
    if (main_id && on())
        weft_background(main_id);
}

HOOK_ALL(init_server)
{
    goes_on_for_ever();
    return call_all(&hook_init_server, self, args, names);
}

HOOK_ALL(add_signal_handler)
{
    goes_on_for_ever();
    return call_all(&hook_add_signal_handler, self, args, names);
}

HOOK_ONE(call_exception_handler)
{
    static const char *const keys[] = {"task", "future"};
    for (unsigned i = 0; i < 2 && PyDict_Check(one); i++) {
        PyObject *future = PyDict_GetItemString(one, keys[i]);
        if (future)
            never_looked_at(future);
    }
    return call_with(&hook_call_exception_handler, self, one);
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

/* Ctrl-C: what hangs, hangs to the end. */
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
