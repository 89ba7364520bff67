/* SPDX-License-Identifier: ISC */
/* A hook replaces a method of another library and calls the original, as if that had been called directly. Hooks are C
 * methods, so none of our frames appears in a traceback.
 *
 *     HOOK(release)                         for a method with no argument but self
 *     {
 *         PyObject *result = call(&hook_release, self);
 *         ...
 *         return result;
 *     }
 *     struct hook *const hooks_of_this[] = {&hook_release, NULL}; */
#pragma once

#include "codes.h"

#ifndef METH_FASTCALL
#define METH_FASTCALL 0x0080 /* available since 3.7, documented since 3.10 */
#endif

struct hook {
    PyMethodDef method; /* until it is installed, its name is that of the hook */
    PyObject *was;
};

#define HOOK_IMPL(name, how, ...)                                                                  \
    static PyObject *do_##name(__VA_ARGS__);                                                       \
    static struct hook hook_##name = {{#name, (PyCFunction)(void (*)(void))do_##name, how, NULL},  \
                                      NULL};                                                       \
    static PyObject *do_##name(__VA_ARGS__)

/* By the method's arguments: none, one, several positional, several positional or by keyword, any. */
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

/* Calls the original, with self in front; self may be NULL if it is not a method. */
PyObject *call(const struct hook *h, PyObject *self);
PyObject *call_with(const struct hook *h, PyObject *self, PyObject *one);
PyObject *call_all(const struct hook *h, PyObject *self, PyObject *args, PyObject *names);

/* The original function. */
PyObject *call_some(const struct hook *h, PyObject *const *args, Py_ssize_t count);

/* With keywords for the last arguments, or NULL. */
PyObject *call_named(const struct hook *h, PyObject *self, PyObject *const *args, Py_ssize_t count,
                     PyObject *names);

/* Accepts exactly one argument; otherwise the original reports the error. */
PyObject *call_one(const struct hook *h, PyObject *self, PyObject *const *args, Py_ssize_t count);

/* method(hook, class, name, method, documentation): a method of the class that replaces this one. */
PyObject *hooks_method(PyObject *self, PyObject *args);

/* function(hook, name, function, documentation): a function that replaces this one. */
PyObject *hooks_function(PyObject *self, PyObject *args);

/* Saves the program's exception while we examine something. */
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
