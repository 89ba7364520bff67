/* SPDX-License-Identifier: ISC */
/* Locks, semaphores, events, conditions and queues. */
#include "locks.h"

#include <stdlib.h>
#include <string.h>

#include "futures.h"
#include "hooks.h"
#include "names.h"

/* Whether it is known which task gets a lock. Before 3.11, a woken task checked again whether it was free. */
bool holds_are_told(void)
{
    static int told = -1;
    if (told < 0)
        told = strncmp(Py_GetVersion(), "3.", 2) != 0 || atoi(Py_GetVersion() + 2) >= 11;
    return told;
}

/* Returns true if a task is queued for a lock and will get it before a task that comes now. */
static bool has_queue(PyObject *lock)
{
    PyObject *waiters = get(lock, s__waiters);
    PyObject *all = waiters && waiters != Py_None ? PySequence_List(waiters) : NULL;
    bool any = false;
    for (Py_ssize_t i = 0; all && i < PyList_Size(all) && !any; i++) {
        PyObject *cancelled = PyObject_CallMethodObjArgs(PyList_GetItem(all, i), s_cancelled, NULL);
        any = cancelled == Py_False;
        Py_XDECREF(cancelled);
    }
    PyErr_Clear();
    Py_XDECREF(all);
    Py_XDECREF(waiters);
    return any;
}

/* Returns true if the method is called at once. A condition only stores that of its lock. */
static bool is_called(void)
{
    PyObject *frame = (PyObject *)PyEval_GetFrame();
    const struct code *c = frame ? code_of_frame(frame) : NULL;
    return c && (c->owner != CODE_RUNTIME || strstr(c->name, "__aenter__"));
}

/* Code that gets the method is about to call it; if the lock is free, the running task has it from now on. */
static void acquires(PyObject *lock, const char *type)
{
    PyObject *locked = on() && current ? PyObject_CallMethodObjArgs(lock, s_locked, NULL) : NULL;
    if (locked == Py_False) {
        const weft_promise id = id_of_primitive(of_primitive(lock, NULL), type);
        weft_signal(running(), id);
        if (holds_are_told() && is_called() && !has_queue(lock))
            weft_acquire_by(current->id, id);
    }
    if (!locked)
        PyErr_Clear();
    Py_XDECREF(locked);
}

/* It replaces acquire in the class. That must remain a coroutine function for anyone who checks (inspect), which a C
 * method is not; so reading the attribute returns the function itself. */
struct taken {
    PyObject_HEAD PyObject *was, *bind;
    const char *type;
};

static PyObject *get_taken(PyObject *self, PyObject *lock, PyObject *class)
{
    const struct taken *t = (const struct taken *)self;
    (void)class;
    if (!lock || lock == Py_None) {
        Py_INCREF(t->was);
        return t->was;
    }
    acquires(lock, t->type);
    return PyObject_CallFunctionObjArgs(t->bind, t->was, lock, NULL);
}

PyObject *locks_acquire(PyObject *self, PyObject *args)
{
    static PyType_Slot slots[] = {{Py_tp_descr_get, (void *)get_taken}, {0, NULL}};
    static PyType_Spec spec = {"weft.method", sizeof(struct taken), 0, Py_TPFLAGS_DEFAULT, slots};
    static PyObject *class;
    const char *type;
    PyObject *was, *bind;
    (void)self;
    if (!PyArg_ParseTuple(args, "sOO", &type, &was, &bind) ||
        (!class && !(class = PyType_FromSpec(&spec))))
        return NULL;
    struct taken *t = PyObject_New(struct taken, (PyTypeObject *)class);
    if (!t)
        return NULL;
    Py_INCREF(was);
    Py_INCREF(bind);
    t->was = was;
    t->bind = bind;
    t->type = strdup(type);
    return (PyObject *)t;
}

static PyObject *released(PyObject *lock, PyObject *result)
{
    const struct promise *p = result && on() ? promise_find(lock) : NULL;
    if (p && p->id && holds_are_told())
        weft_release_by(current ? current->id : WEFT_LOOP, p->id);
    return result;
}

HOOK(release_lock)
{
    return released(self, call(&hook_release_lock, self));
}

HOOK(release_semaphore)
{
    return released(self, call(&hook_release_semaphore, self));
}

#define INITS(name)                                                                                \
    HOOK_ALL(name)                                                                                 \
    {                                                                                              \
        if (on())                                                                                  \
            of_primitive(self, NULL);                                                              \
        return call_all(&hook_##name, self, args, names);                                          \
    }
INITS(init_lock)
INITS(init_semaphore)
INITS(init_event)
INITS(init_condition)
INITS(init_queue)

/* A queue sets its event before anything can wait for it: that is not a lost signal. */
HOOK(set_event)
{
    struct promise *p = on() ? of_primitive(self, NULL) : NULL;
    if (p && (p->id || !p->inner))
        weft_notify(id_of_primitive(p, "event"));
    return call(&hook_set_event, self);
}

/* If a queue is used as a pool, the task that takes an item has it from now on. */
HOOK(get_nowait)
{
    PyObject *item = call(&hook_get_nowait, self);
    if (item && on() && current)
        weft_signal(running(), id_of_primitive(of_primitive(self, NULL), "Queue.get"));
    return item;
}

HOOK_ALL(notify)
{
    if (on())
        weft_notify(id_of_primitive(of_primitive(self, NULL), "condition"));
    return call_all(&hook_notify, self, args, names);
}

struct hook *const hooks_of_locks[] = {
    &hook_init_lock,
    &hook_init_semaphore,
    &hook_init_event,
    &hook_init_condition,
    &hook_init_queue,
    &hook_get_nowait,
    &hook_set_event,
    &hook_notify,
    &hook_release_lock,
    &hook_release_semaphore,
    NULL,
};
