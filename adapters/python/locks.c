/* SPDX-License-Identifier: ISC */
/* Locks, semaphores, events, conditions and queues. */
#include "locks.h"

#include <string.h>

#include "futures.h"
#include "hooks.h"

/* Whoever takes the method is about to call it; where the lock is free, they have it from now on. */
static void acquires(PyObject *lock, const char *type)
{
    PyObject *locked = on() && current ? PyObject_CallMethod(lock, "locked", NULL) : NULL;
    if (locked == Py_False)
        weft_signal(running(), id_of_primitive(of_primitive(lock, NULL), type));
    if (!locked)
        PyErr_Clear();
    Py_XDECREF(locked);
}

/* It stands for acquire in the class. That is a coroutine function, and must stay one for whoever asks (inspect), which a
 * method of C is not; so the function itself is what one gets. */
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

/* A queue sets its event when nobody has any interest in it yet: that is no signal that could be lost. */
HOOK(set_event)
{
    struct promise *p = on() ? of_primitive(self, NULL) : NULL;
    if (p && (p->id || !p->inner))
        weft_notify(id_of_primitive(p, "event"));
    return call(&hook_set_event, self);
}

HOOK_ALL(notify)
{
    if (on())
        weft_notify(id_of_primitive(of_primitive(self, NULL), "condition"));
    return call_all(&hook_notify, self, args, names);
}

struct hook *const hooks_of_locks[] = {
    &hook_init_lock,  &hook_init_semaphore, &hook_init_event, &hook_init_condition,
    &hook_init_queue, &hook_set_event,      &hook_notify,     NULL,
};
