/* SPDX-License-Identifier: ISC */
#include "streams.h"

#include <stdio.h>
#include <string.h>

#include "futures.h"
#include "hooks.h"
#include "names.h"

enum { TEXT_BYTES = 300, WORDS_MAX = 32 };

/* ---- Connections ---- */

/* (host, port, …), or the path of a local one. */
static bool label_address(char *to, size_t size, const char *what, PyObject *address)
{
    char host[TEXT_BYTES / 2];
    if (PyUnicode_CheckExact(address)) {
        copy_text(host, sizeof host, address);
        snprintf(to, size, "%s %s", what, host);
        return *host;
    }
    if (!PyTuple_CheckExact(address) || PyTuple_Size(address) < 2)
        return false;
    PyObject *name = PyTuple_GetItem(address, 0), *port = PyTuple_GetItem(address, 1);
    if (!PyUnicode_CheckExact(name) || !PyLong_CheckExact(port))
        return false;
    copy_text(host, sizeof host, name);
    const char *format = strchr(host, ':') ? "%s [%s]:%ld" : "%s %s:%ld";
    snprintf(to, size, format, what, host, PyLong_AsLong(port));
    PyErr_Clear();
    return true;
}

bool label_connect(char *to, size_t size, PyObject *address)
{
    return label_address(to, size, "connect", address);
}

bool label_read(char *to, size_t size, PyObject *reader)
{
    PyObject *transport = get(reader, s__transport);
    PyObject *extra = transport ? get(transport, s__extra) : NULL;
    PyObject *peer =
        extra && PyDict_CheckExact(extra) ? PyDict_GetItemWithError(extra, s_peername) : NULL;
    const bool found = peer && label_address(to, size, "read", peer);
    PyErr_Clear();
    Py_XDECREF(extra);
    Py_XDECREF(transport);
    return found;
}

/* ---- Processes ---- */

static void put_word(char *to, size_t size, PyObject *word)
{
    char text[TEXT_BYTES] = "?";
    const size_t n = strlen(to);
    if (PyUnicode_CheckExact(word))
        copy_text(text, sizeof text, word);
    else if (PyBytes_CheckExact(word))
        snprintf(text, sizeof text, "%s", PyBytes_AsString(word));
    snprintf(to + n, size - n, "%s%s", n ? " " : "", text);
}

/* A command for a shell, or a list of words. */
static void name_process(char *to, size_t size, PyObject *what)
{
    const bool is_list = PyList_CheckExact(what), is_tuple = PyTuple_CheckExact(what);
    const Py_ssize_t n = is_list ? PyList_Size(what) : is_tuple ? PyTuple_Size(what) : 0;
    to[0] = 0;
    if (!is_list && !is_tuple)
        put_word(to, size, what);
    for (Py_ssize_t i = 0; i < n && i < WORDS_MAX; i++)
        put_word(to, size, is_list ? PyList_GetItem(what, i) : PyTuple_GetItem(what, i));
}

/* (loop, protocol, words, …): it runs once that is over. */
HOOK_ALL(init_process)
{
    static struct weft_site site = {.file = NULL};
    char label[TEXT_BYTES];
    PyObject *what = PyTuple_Size(args) > 2 ? PyTuple_GetItem(args, 2) : NULL;
    PyObject *result = call_all(&hook_init_process, self, args, names);
    if (result && what && on() && !promise_find(self)) {
        name_process(label, sizeof label, what);
        const weft_promise id = weft_impl_create(&site, "process", label);
        if (id)
            promise_add(self, id);
    }
    return result;
}

/* With many programs, a status other than 0 only means that nothing was found: the caller interprets it. */
HOOK_ONE(process_exited)
{
    char text[64];
    struct promise *p = on() ? promise_find(self) : NULL;
    const long status = PyLong_CheckExact(one) ? PyLong_AsLong(one) : 0;
    if (p && !p->ended) {
        p->ended = true;
        if (status == 0) {
            weft_fulfill(p->id);
        } else {
            snprintf(text, sizeof text, status < 0 ? "signal %ld" : "exit status %ld",
                     status < 0 ? -status : status);
            weft_fail(p->id, text);
            weft_read(WEFT_LOOP, p->id);
        }
    }
    PyErr_Clear();
    return call_with(&hook_process_exited, self, one);
}

struct hook *const hooks_of_streams[] = {&hook_init_process, &hook_process_exited, NULL};
