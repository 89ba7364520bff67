/* SPDX-License-Identifier: ISC */
/* What stands in the place of a method of somebody's, and calls the one that was there as if that had been called itself.
 * They are methods of C, so no frame of ours stands in a traceback.
 *
 *     HOOK(release)                         one whose method has no argument but self
 *     {
 *         PyObject *result = call(&hook_release, self);
 *         ...
 *         return result;
 *     }
 *     struct hook *const hooks_of_this[] = {&hook_release, NULL}; */
#ifndef WEFT_PYTHON_HOOKS_H
#define WEFT_PYTHON_HOOKS_H

#include "codes.h"

#ifndef METH_FASTCALL
#define METH_FASTCALL 0x0080 /* since 3.7, though promised since 3.10 only */
#endif

struct hook {
    PyMethodDef method; /* its name is that of the hook until it stands somewhere */
    PyObject *was;
};

#define HOOK_IMPL(name, how, ...)                                                                  \
    static PyObject *do_##name(__VA_ARGS__);                                                       \
    static struct hook hook_##name = {{#name, (PyCFunction)(void (*)(void))do_##name, how, NULL},  \
                                      NULL};                                                       \
    static PyObject *do_##name(__VA_ARGS__)

/* By what the method takes: nothing, one thing, several by place, several by place or name, anything. */
#define HOOK(name)                                                                                 \
    HOOK_IMPL(name, METH_NOARGS, PyObject *self, __attribute__((unused)) PyObject *none)
#define HOOK_ONE(name) HOOK_IMPL(name, METH_O, PyObject *self, PyObject *one)
#define HOOK_FAST(name)                                                                            \
    HOOK_IMPL(name, METH_FASTCALL, PyObject *self, PyObject *const *args, Py_ssize_t count)
#define HOOK_NAMED(name)                                                                           \
    HOOK_IMPL(name, METH_FASTCALL | METH_KEYWORDS, PyObject * self, PyObject *const *args,         \
              Py_ssize_t count, PyObject *names)
#define HOOK_ALL(name)                                                                             \
    HOOK_IMPL(name, METH_VARARGS | METH_KEYWORDS, PyObject * self, PyObject * args,                \
              PyObject * names)

/* All there are, up to NULL. */
extern struct hook *const hooks_of_loops[];
extern struct hook *const hooks_of_futures[];
extern struct hook *const hooks_of_locks[];
extern struct hook *const hooks_of_jobs[];
extern struct hook *const hooks_of_imports[];
extern struct hook *const hooks_of_streams[];
extern struct hook *const hooks_of_uvloops[];
extern struct hook *const hooks_of_trio[];
extern struct hook *const hooks_of_eager[];
extern struct hook *const hooks_of_timers[];

/* What was there, with self in front; self may be NULL, where it is no method. */
PyObject *call(const struct hook *h, PyObject *self);
PyObject *call_with(const struct hook *h, PyObject *self, PyObject *one);
PyObject *call_all(const struct hook *h, PyObject *self, PyObject *args, PyObject *names);

/* The function that was there. */
PyObject *call_some(const struct hook *h, PyObject *const *args, Py_ssize_t count);

/* With names for the last arguments, or NULL. */
PyObject *call_named(const struct hook *h, PyObject *self, PyObject *const *args, Py_ssize_t count,
                     PyObject *names);

/* Where one argument is right; else the one that was there says what is wrong. */
PyObject *call_one(const struct hook *h, PyObject *self, PyObject *const *args, Py_ssize_t count);

/* method(hook, class, name, method, documentation): a method of the class that stands for this one. */
PyObject *hooks_method(PyObject *self, PyObject *args);

/* function(hook, name, function, documentation): a function that stands for this one. */
PyObject *hooks_function(PyObject *self, PyObject *args);

/* What a program's exception was while we look at something. */
struct raised {
    PyObject *type, *value, *traceback;
};

static inline void put_aside(struct raised *r)
{
    PyErr_Fetch(&r->type, &r->value, &r->traceback);
}

static inline void put_back(struct raised *r)
{
    PyErr_Restore(r->type, r->value, r->traceback);
}

#endif
