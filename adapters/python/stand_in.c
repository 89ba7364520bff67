/* SPDX-License-Identifier: ISC */
#include "stand_in.h"

enum { OWN_MAX = 8 };

PyObject *stand_in_get(PyObject *self, PyObject *name)
{
    return PyObject_GetAttr(stands_for(self), name);
}

static PyObject *repr(PyObject *self)
{
    return PyObject_Repr(stands_for(self));
}

static int traverse(PyObject *self, visitproc visit, void *arg)
{
    const struct stand_in *s = (const struct stand_in *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(s->inner);
    Py_VISIT(s->more);
    return 0;
}

static int clear(PyObject *self)
{
    struct stand_in *s = (struct stand_in *)self;
    Py_CLEAR(s->inner);
    Py_CLEAR(s->more);
    return 0;
}

static void dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    clear(self);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

PyObject *stand_in_type(const char *name, const PyType_Slot *own)
{
    static const PyType_Slot common[] = {{Py_tp_repr, (void *)repr},
                                         {Py_tp_traverse, (void *)traverse},
                                         {Py_tp_clear, (void *)clear},
                                         {Py_tp_dealloc, (void *)dealloc},
                                         {0, NULL}};
    PyType_Slot slots[OWN_MAX + sizeof common / sizeof *common];
    unsigned n = 0;
    for (; n < OWN_MAX && own[n].slot; n++)
        slots[n] = own[n];
    for (unsigned i = 0; i < sizeof common / sizeof *common; i++)
        slots[n++] = common[i];
    PyType_Spec spec = {name, sizeof(struct stand_in), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                        slots};
    return PyType_FromSpec(&spec);
}

PyObject *stand_in_for(PyObject *type, PyObject *inner, PyObject *more)
{
    struct stand_in *s = PyObject_GC_New(struct stand_in, (PyTypeObject *)type);
    if (!s) {
        PyErr_Clear();
        return inner;
    }
    Py_XINCREF(more);
    s->inner = inner;
    s->more = more;
    PyObject_GC_Track(s);
    return (PyObject *)s;
}
