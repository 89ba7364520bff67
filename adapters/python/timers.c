/* SPDX-License-Identifier: ISC */
#include "timers.h"

#include "futures.h"
#include "jobs.h"

/* asyncio sets timers of its own, for sleeps and time limits, which are recorded in another way. */
static PyObject *sets(const struct hook *h, PyObject *loop, PyObject *args, PyObject *names)
{
    PyObject *frame = on() ? (PyObject *)PyEval_GetFrame() : NULL;
    const bool is_own = frame && code_of_frame(frame)->owner == CODE_PROGRAM;
    PyObject *timer = call_all(h, loop, args, names);
    if (timer && is_own && PyTuple_Size(args) >= 2 && !promise_find(timer)) {
        const weft_promise id = call_create("timer", PyTuple_GetItem(args, 1), NULL);
        if (id)
            promise_add(timer, id);
    }
    return timer;
}

HOOK_ALL(call_later)
{
    return sets(&hook_call_later, self, args, names);
}

HOOK_ALL(call_at)
{
    return sets(&hook_call_at, self, args, names);
}

HOOK(cancel_timer)
{
    struct promise *p = ends(self);
    if (p)
        weft_cancel(p->id);
    return call(&hook_cancel_timer, self);
}

PyObject *timer_runs(const struct hook *h, PyObject *handle)
{
    struct promise *p = on() ? promise_find(handle) : NULL, *before = current;
    struct raised raised;
    if (!p || p->ended)
        return call(h, handle);
    current = p;
    weft_run(p->id);
    PyObject *result = call(h, handle);
    put_aside(&raised);
    current = before;
    if (on()) {
        if ((p = ends(handle)))
            weft_fulfill(p->id);
        weft_run(running());
    }
    put_back(&raised);
    return result;
}

void timer_failed(PyObject *context)
{
    PyObject *handle = PyDict_GetItemString(context, "handle");
    PyObject *exception = PyDict_GetItemString(context, "exception");
    struct promise *p = handle && exception ? ends(handle) : NULL;
    if (p) {
        failed_with(p, exception);
        weft_read(WEFT_LOOP, p->id);
    }
}

struct hook *const hooks_of_timers[] = {&hook_call_later, &hook_call_at, &hook_cancel_timer, NULL};
