/* SPDX-License-Identifier: ISC */
#include "imports.h"

#include <stdio.h>
#include <unistd.h>

#include "futures.h"
#include "describe.h"
#include "hooks.h"

static PyObject *wanted; /* by module name: what is called once it is imported */

void say(const char *what)
{
    char line[600], why[400];
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (value)
        describe(why, sizeof why, value);
    const int n = snprintf(line, sizeof line, "weft: %s%s%s; the program runs on\n", what,
                           value ? ": " : "", value ? why : "");
    if (n > 0 && write(STDERR_FILENO, line, (size_t)n) < 0)
        PyErr_Clear(); /* there is nowhere to report it */
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
}

static void is_there(PyObject *name, PyObject *module)
{
    char text[200], what[300];
    PyObject *look = PyDict_GetItemWithError(wanted, name), *result;
    if (!look) {
        PyErr_Clear();
        return;
    }
    copy_text(text, sizeof text, name);
    Py_INCREF(look);
    PyDict_DelItem(wanted, name);
    result = PyObject_CallFunctionObjArgs(look, module, NULL);
    if (!result) {
        snprintf(what, sizeof what, "nothing is recorded of %.200s, which is not as expected",
                 text);
        say(what);
    }
    Py_XDECREF(result);
    Py_DECREF(look);
}

/* What Python calls to import a module that is not loaded yet. */
HOOK_FAST(find_and_load)
{
    PyObject *result = call_some(&hook_find_and_load, args, count);
    (void)self;
    if (result && count > 0 && PyUnicode_Check(args[0]))
        is_there(args[0], result);
    return result;
}

PyObject *imports_watch(PyObject *self, PyObject *args)
{
    PyObject *name, *module, *look;
    (void)self;
    if (!PyArg_ParseTuple(args, "UOO", &name, &module, &look))
        return NULL;
    if ((!wanted && !(wanted = PyDict_New())) || PyDict_SetItem(wanted, name, look) < 0)
        return NULL;
    if (module != Py_None)
        is_there(name, module);
    Py_RETURN_NONE;
}

struct hook *const hooks_of_imports[] = {&hook_find_and_load, NULL};
