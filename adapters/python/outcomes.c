/* SPDX-License-Identifier: ISC */
/* How futures end, and who retrieves their results. */
#include "futures.h"
#include "describe.h"
#include "hooks.h"

enum { TEXT_BYTES = 400 };

struct promise *ends(PyObject *future)
{
    struct promise *p = on() ? promise_find(future) : NULL;
    if (!p || p->ended)
        return NULL;
    p->ended = true;
    return p->shared ? NULL : p;
}

HOOK_FAST(set_result)
{
    PyObject *result = call_one(&hook_set_result, self, args, count);
    struct promise *p = result ? ends(self) : NULL;
    if (p)
        weft_fulfill(p->id);
    return result;
}

HOOK_FAST(set_exception)
{
    char text[TEXT_BYTES];
    PyObject *result = call_one(&hook_set_exception, self, args, count);
    struct promise *p = result ? ends(self) : NULL;
    if (p) {
        describe(text, sizeof text, args[0]);
        weft_fail(p->id, text);
    }
    if (p || (result && on() && (p = promise_find(self)) && p->of_job))
        note_failure(p);
    return result;
}

HOOK_ALL(future_cancel)
{
    PyObject *result = call_all(&hook_future_cancel, self, args, names);
    struct promise *p = result == Py_True ? ends(self) : NULL;
    if (p)
        weft_cancel(p->id);
    return result;
}

HOOK_ALL(task_cancel)
{
    struct promise *p = on() ? promise_find(self) : NULL;
    if (p && !p->by)
        p->by = running();
    return call_all(&hook_task_cancel, self, args, names);
}

static PyObject *looked(const struct hook *h, PyObject *future)
{
    struct promise *p = on() ? promise_find(future) : NULL;
    if (p && p->failed) {
        weft_read(running(), p->id);
        looked_at(p);
    }
    return call(h, future);
}

HOOK(future_result)
{
    return looked(&hook_future_result, self);
}

HOOK(future_exception)
{
    return looked(&hook_future_exception, self);
}

HOOK(task_result)
{
    return looked(&hook_task_result, self);
}

HOOK(task_exception)
{
    return looked(&hook_task_exception, self);
}

struct hook *const hooks_of_futures[] = {
    &hook_set_result,  &hook_set_exception,  &hook_future_cancel,
    &hook_task_cancel, &hook_future_result,  &hook_future_exception,
    &hook_task_result, &hook_task_exception, NULL,
};
