/* SPDX-License-Identifier: ISC */
#include "requests.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "futures.h"
#include "names.h"
#include "stand_in.h"

enum { TEXT_BYTES = 400, FAILED = 400 };

static PyObject *bind;       /* makes bound methods */
static PyObject *sends_type; /* the bound stand-in for uvicorn's send */

/* ---- Looking ---- */

/* An attribute of an attribute; a new reference, or NULL. Takes the reference to object. */
static PyObject *of(PyObject *object, PyObject *name)
{
    PyObject *value = object ? get(object, name) : NULL;
    Py_XDECREF(object);
    return value;
}

static PyObject *item(PyObject *dictionary, const char *key)
{
    PyObject *value =
        dictionary && PyDict_Check(dictionary) ? PyDict_GetItemString(dictionary, key) : NULL;
    Py_XINCREF(value);
    return value;
}

static PyObject *object_of(PyObject *ref)
{
    PyObject *object = ref ? PyObject_CallFunctionObjArgs(ref, NULL) : NULL;
    if (object != Py_None)
        return object;
    Py_DECREF(object);
    return NULL;
}

static long number_of(PyObject *object)
{
    const long n = object && PyLong_Check(object) ? PyLong_AsLong(object) : 0;
    PyErr_Clear();
    Py_XDECREF(object);
    return n;
}

/* ---- The beginning ---- */

struct asked {
    PyObject *method, *path; /* owned, or NULL */
    bool upgrade;            /* upgraded to something that is not an answer and may last */
    char traceparent
        [128]; /* the value of this header; "": there is none, or more than one, which is not valid */
};

static bool is_pair(PyObject *pair)
{
    return (PyTuple_Check(pair) || PyList_Check(pair)) && PySequence_Size(pair) == 2;
}

/* Copies the bytes or ASCII text, cut: only later versions of the header than the first are longer. */
static void copy_header(struct asked *a, PyObject *value)
{
    char *bytes = NULL;
    Py_ssize_t size = 0;
    *a->traceparent = 0;
    if (PyUnicode_Check(value)) {
        copy_text(a->traceparent, sizeof a->traceparent, value);
    } else if (PyBytes_Check(value) && PyBytes_AsStringAndSize(value, &bytes, &size) == 0) {
        const size_t most = sizeof a->traceparent - 1,
                     n = (size_t)size < most ? (size_t)size : most;
        memcpy(a->traceparent, bytes, n);
        a->traceparent[n] = 0;
    }
    PyErr_Clear();
}

/* headers: a list or tuple of pairs of bytes, as aiohttp and ASGI have them, whose reference is taken; or NULL. */
static void find_traceparent(struct asked *a, PyObject *headers)
{
    static const char name[] = "traceparent";
    unsigned found = 0;
    const Py_ssize_t count =
        headers && (PyTuple_Check(headers) || PyList_Check(headers)) ? PySequence_Size(headers) : 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *pair = PySequence_GetItem(headers, i);
        PyObject *key = pair && is_pair(pair) ? PySequence_GetItem(pair, 0) : NULL;
        if (key && PyBytes_Check(key) && PyBytes_Size(key) == (Py_ssize_t)sizeof name - 1 &&
            strncasecmp(PyBytes_AsString(key), name, sizeof name - 1) == 0) {
            PyObject *value = PySequence_GetItem(pair, 1);
            if (value && found++ == 0)
                copy_header(a, value);
            Py_XDECREF(value);
        }
        Py_XDECREF(key);
        Py_XDECREF(pair);
    }
    if (found > 1)
        *a->traceparent = 0;
    PyErr_Clear();
    Py_XDECREF(headers);
}

static void ask_aiohttp(PyObject *request, struct asked *a)
{
    PyObject *message = request ? get(request, s__message) : NULL;
    if (!message)
        return;
    for (unsigned i = 0; i < 3; i++)
        Py_INCREF(message);
    a->method = of(message, s_method);
    a->path = of(message, s_path);
    PyObject *upgrade = of(message, s_upgrade);
    a->upgrade = upgrade == Py_True;
    Py_XDECREF(upgrade);
    find_traceparent(a, get(message, s_raw_headers));
    Py_DECREF(message);
}

static void ask_tornado(PyObject *handler, struct asked *a)
{
    Py_XINCREF(handler);
    PyObject *request = of(handler, s_request);
    Py_XINCREF(request);
    Py_XINCREF(request);
    a->method = of(request, s_method);
    a->path = of(request, s_path);
    PyObject *headers = of(request, s_headers);
    PyObject *upgrade = headers ? PyMapping_GetItemString(headers, "Upgrade") : NULL;
    a->upgrade = upgrade != NULL;
    PyErr_Clear();
    PyObject *traceparent = headers ? PyMapping_GetItemString(headers, "Traceparent") : NULL;
    PyErr_Clear();
    if (traceparent) /* several are joined by commas, which is not valid */
        copy_header(a, traceparent);
    Py_XDECREF(traceparent);
    Py_XDECREF(upgrade);
    Py_XDECREF(headers);
}

static void ask_uvicorn(PyObject *cycle, struct asked *a)
{
    Py_XINCREF(cycle);
    PyObject *scope = of(cycle, s_scope);
    a->method = item(scope, "method");
    a->path = item(scope, "path");
    find_traceparent(a, item(scope, "headers"));
    Py_XDECREF(scope);
}

weft_promise request_of(PyObject *coroutine, const struct code *c, PyObject **answer)
{
    char method[32], path[TEXT_BYTES - 40], label[TEXT_BYTES];
    struct asked a = {.method = NULL};
    weft_promise id = 0;
    PyObject *who = local_of(coroutine, c->kind == CODE_AIOHTTP ? s_request : s_self);
    if (c->kind == CODE_AIOHTTP)
        ask_aiohttp(who, &a);
    else if (c->kind == CODE_TORNADO)
        ask_tornado(who, &a);
    else
        ask_uvicorn(who, &a);
    *answer = NULL;
    if (a.method && PyUnicode_Check(a.method) && a.path && PyUnicode_Check(a.path)) {
        copy_text(method, sizeof method, a.method);
        copy_text(path, sizeof path, a.path);
        path[strcspn(path, "?#")] = 0;
        snprintf(label, sizeof label, "%s %s", method, path);
        id = weft_impl_create(&place_of(c, c->line, c, FOR_LABELLED)->site, "request", label);
        if (a.upgrade)
            weft_background(id);
        else
            weft_should_resolve(id);
        if (*a.traceparent)
            weft_traceparent_received(id, a.traceparent);
        if (c->kind != CODE_AIOHTTP && !(*answer = PyWeakref_NewRef(who, NULL)))
            PyErr_Clear();
    }
    Py_XDECREF(a.method);
    Py_XDECREF(a.path);
    Py_XDECREF(who);
    return id;
}

weft_promise request_said(const struct promise *p, PyObject *coroutine)
{
    const weft_promise id = (weft_promise)number_of(local_of(coroutine, s_number));
    return promise_has_request(p, id) ? id : 0;
}

/* ---- The end ---- */

static void ended_with(struct promise *p, long status)
{
    char text[32];
    if (status < FAILED) {
        weft_fulfill(p->id);
        return;
    }
    snprintf(text, sizeof text, "%ld", status);
    weft_fail(p->id, text);
    weft_read(WEFT_LOOP, p->id); /* the client sees it */
}

/* aiohttp's: (response, whether the connection is lost) */
void request_answered(struct promise *p, PyObject *result)
{
    long status = 0; /* it is not known */
    if (result && PyTuple_Check(result) && PyTuple_Size(result) > 0) {
        PyObject *response = PyTuple_GetItem(result, 0);
        Py_INCREF(response);
        status = number_of(of(response, s__status));
    }
    ended_with(p, status);
}

void request_ended(struct promise *p, PyObject *task)
{
    PyObject *answer = object_of(p->answer);
    const struct promise *sent = answer ? promise_find(answer) : NULL;
    if (sent) { /* uvicorn's */
        ended_with(p, sent->status);
        Py_DECREF(answer);
    } else if (answer) {
        ended_with(p, number_of(of(answer, s__status_code)));
    } else {
        PyObject *result = get(task, s__result);
        request_answered(p, result);
        Py_XDECREF(result);
    }
}

/* ---- What uvicorn sends ---- */

/* Only the caller of send(message) knows the status. So it gets a stand-in that is called in place of send and reads
 * the message; the stand-in has the cycle. */
static void look_at(PyObject *cycle, PyObject *args)
{
    PyObject *message = PyTuple_Size(args) == 1 ? PyTuple_GetItem(args, 0) : NULL;
    PyObject *type = item(message, "type");
    struct promise *p = NULL;
    if (type && PyUnicode_Check(type) &&
        PyUnicode_CompareWithASCIIString(type, "http.response.start") == 0)
        p = promise_find(cycle);
    if (p)
        p->status = number_of(item(message, "status"));
    Py_XDECREF(type);
}

static PyObject *sends_call(PyObject *self, PyObject *args, PyObject *names)
{
    if (on())
        look_at(((const struct stand_in *)self)->more, args);
    return PyObject_Call(stands_for(self), args, names);
}

/* What replaces a class's function; uvicorn has a class for each of its parsers. */
struct stands {
    PyObject_HEAD PyObject *function;
};

static void stands_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_DECREF(((struct stands *)self)->function);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* Called when cycle.send is looked up. */
static PyObject *get_send(PyObject *self, PyObject *cycle, PyObject *class)
{
    PyObject *bound, *function = ((struct stands *)self)->function;
    (void)class;
    if (!cycle || cycle == Py_None) {
        Py_INCREF(function);
        return function;
    }
    bound = PyObject_CallFunctionObjArgs(bind, function, cycle, NULL);
    if (!bound || !on())
        return bound;
    if (!promise_find(cycle)) {
        struct promise *p = promise_add(cycle, current ? current->id : 0);
        if (p)
            p->shared = true;
    }
    return stand_in_for(sends_type, bound, cycle);
}

PyObject *requests_send(PyObject *self, PyObject *args)
{
    static const PyType_Slot bound_slots[] = {
        {Py_tp_call, (void *)sends_call}, {Py_tp_getattro, (void *)stand_in_get}, {0, NULL}};
    static PyType_Slot slots[] = {
        {Py_tp_descr_get, (void *)get_send}, {Py_tp_dealloc, (void *)stands_dealloc}, {0, NULL}};
    static PyType_Spec spec = {"weft.function", sizeof(struct stands), 0, Py_TPFLAGS_DEFAULT,
                               slots};
    static PyObject *type;
    PyObject *function;
    struct stands *s;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO", &bind, &function))
        return NULL;
    Py_INCREF(bind);
    if (!sends_type && !(sends_type = stand_in_type("weft.method", bound_slots)))
        return NULL;
    if (!type && !(type = PyType_FromSpec(&spec)))
        return NULL;
    if (!(s = PyObject_New(struct stands, (PyTypeObject *)type)))
        return NULL;
    Py_INCREF(function);
    s->function = function;
    return (PyObject *)s;
}
