/* SPDX-License-Identifier: ISC */
/* A task is a promise; so is a future, and each coroutine that a task waits in. Those are found in the chain of
 * coroutines when a task stops: new ones were called, missing ones have returned. */
#include "futures.h"
#include "describe.h"

#include "eager.h"
#include "jobs.h"
#include "late.h"
#include "locks.h"
#include "names.h"
#include "requests.h"
#include "streams.h"
#include "uvloops.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64, FRAMES_MAX = 16, TEXT_BYTES = 400, NUMBERS_MAX = 100 };

static PyTypeObject *task_type, *future_type, *step_type, *wakeup_type;
static PyTypeObject *coroutine_type, *generator_type, *async_type, *next_type, *throw_type;
static PyObject *referents; /* gc.get_referents */

__thread struct promise *current;
__thread bool ending;
bool aside;

/* ---- Looking at objects ---- */

/* A new reference, or NULL without an exception. */
PyObject *get(PyObject *object, PyObject *name)
{
    PyObject *value = PyObject_GetAttr(object, name);
    if (!value)
        PyErr_Clear();
    return value;
}

static bool is_text(PyObject *text, const char *wanted)
{
    return text && PyUnicode_Check(text) && PyUnicode_CompareWithASCIIString(text, wanted) == 0;
}

PyObject *local(PyObject *frame, PyObject *name)
{
    PyObject *locals = get(frame, s_f_locals);
    PyObject *value = locals ? PyObject_GetItem(locals, name) : NULL;
    Py_XDECREF(locals);
    if (!value)
        PyErr_Clear();
    return value;
}

void copy_text(char *to, size_t size, PyObject *text)
{
    PyObject *bytes = text ? PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace") : NULL;
    snprintf(to, size, "%s", bytes ? PyBytes_AsString(bytes) : "?");
    Py_XDECREF(bytes);
    PyErr_Clear();
}

PyObject *local_of(PyObject *coroutine, PyObject *name)
{
    PyObject *frame = get(coroutine, s_cr_frame);
    PyObject *value = frame ? local(frame, name) : NULL;
    Py_XDECREF(frame);
    return value;
}

const char *base_name(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

/* ---- Where something is made ---- */

struct maker {
    const struct code *where; /* the first calling code that is not asyncio's; else what */
    unsigned line;            /* in it */
    const struct code *what;  /* the function of asyncio's that it has called; else where */
    PyObject *frame;          /* the innermost one; owned */
    enum code_kind kind;      /* of the innermost one */
};

const struct code *code_of_frame(PyObject *frame)
{
    PyObject *object = (PyObject *)PyFrame_GetCode((PyFrameObject *)frame);
    const struct code *c = code_of(object, NULL);
    Py_XDECREF(object);
    return c;
}

/* To find it, Python decodes a table, which takes longer the longer the function is: so it is cached by instruction. */
static unsigned line_of(const struct code *c, PyObject *frame)
{
    PyObject *lasti = get(frame, s_f_lasti);
    const long at = lasti ? PyLong_AsLong(lasti) : -1;
    unsigned line;
    Py_XDECREF(lasti);
    if (at >= 0 && (line = code_line(c, (unsigned)at)))
        return line;
    line = (unsigned)PyFrame_GetLineNumber((PyFrameObject *)frame);
    if (at >= 0)
        code_set_line(c, (unsigned)at, line);
    return line;
}

unsigned line_in(const struct code *c, PyObject *coroutine)
{
    PyObject *frame = get(coroutine, Py_TYPE(coroutine) == async_type ? s_ag_frame : s_cr_frame);
    const unsigned line = frame && frame != Py_None ? line_of(c, frame) : c->line;
    Py_XDECREF(frame);
    return line;
}

static void find_maker(struct maker *m)
{
    PyObject *frame = (PyObject *)PyEval_GetFrame();
    *m = (struct maker){.where = code_of(NULL, NULL), .what = code_of(NULL, NULL)};
    if (!frame)
        return;
    Py_INCREF(frame);
    Py_INCREF(frame);
    m->frame = frame;
    m->what = m->where = code_of_frame(frame);
    m->kind = m->where->kind;
    for (unsigned i = 0; i < FRAMES_MAX && m->where->owner == CODE_RUNTIME; i++) {
        PyObject *back = get(frame, s_f_back);
        Py_DECREF(frame);
        frame = back;
        const struct code *c = frame && frame != Py_None ? code_of_frame(frame) : NULL;
        if (!c || c->kind == CODE_RUN)
            break;
        if (c->owner == CODE_RUNTIME && (m->kind == CODE_PLAIN || m->kind == CODE_MANY ||
                                         m->kind == CODE_CONNECT || m->kind == CODE_READ))
            m->what = c;
        m->where = c;
    }
    if (frame && frame != Py_None && m->where->owner != CODE_RUNTIME)
        m->line = line_of(m->where, frame);
    else {
        m->where = m->what;
        m->line = m->what->line;
    }
    Py_XDECREF(frame);
}

/* ---- Promises ---- */

weft_promise running(void)
{
    return current ? promise_works_at(current) : WEFT_LOOP;
}

static weft_promise create_at(struct place *at, const char *type, const char *label)
{
    return weft_impl_create(&at->site, type, label);
}

static void wait_for_all(weft_promise who, PyObject *list)
{
    PyObject *all = list ? PySequence_List(list) : NULL;
    if (!all)
        PyErr_Clear();
    const Py_ssize_t n = all ? PyList_Size(all) : 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *one = PyList_GetItem(all, i);
        if (PyObject_TypeCheck(one, future_type) || PyObject_TypeCheck(one, task_type))
            weft_wait_by(who, of_object(one));
    }
    Py_XDECREF(all);
}

static void name_self(struct promise *p, const struct maker *m, const char *type)
{
    char text[TEXT_BYTES], name[128];
    if (late_name(p->object, type, text, sizeof text)) {
        p->label = strdup(text);
        return;
    }
    struct place *at = place_of(m->where, m->line, m->what, FOR_COUNT);
    snprintf(name, sizeof name, "%s", type);
    if (p->inner) {
        const size_t n = strlen(name);
        snprintf(name + n, sizeof name - n, " of %.*s", (int)strcspn(m->what->name, "."),
                 m->what->name);
    }
    snprintf(text, sizeof text, "%.100s %.200s:%u", name, base_name(m->where->file), m->line);
    if (++at->made > 1 && at->made <= NUMBERS_MAX) {
        const size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, " #%u", at->made);
    }
    p->label = strdup(text);
}

struct promise *of_primitive(PyObject *object, const char *name)
{
    char text[128];
    struct promise *p = promise_find(object);
    if (p)
        return p;
    struct maker m;
    p = promise_add(object, 0);
    if (p) {
        find_maker(&m);
        p->inner = !name && m.what != m.where && m.what->owner == CODE_RUNTIME;
        if (!name) {
            PyObject *type_name = get((PyObject *)Py_TYPE(object), s___name__);
            copy_text(text, sizeof text, type_name);
            Py_XDECREF(type_name);
        }
        name_self(p, &m, name ? name : text);
        Py_XDECREF(m.frame);
    }
    return p;
}

/* Its own promise, which stays pending: that of a lock shows what holds it. */
weft_promise id_of_primitive(struct promise *p, const char *type)
{
    static struct weft_site site = {.file = NULL};
    if (p && !p->id)
        p->id = weft_impl_create_from(&site, WEFT_LOOP, type, p->label);
    return p ? p->id : 0;
}

static struct promise *add(PyObject *future, weft_promise id, bool shared)
{
    struct promise *p = id ? promise_add(future, id) : NULL;
    if (p)
        p->shared = shared;
    return p;
}

static struct promise *add_sleep(PyObject *future, const struct maker *m)
{
    char label[64];
    describe_sleep(label, sizeof label, local(m->frame, s_delay));
    struct place *at = place_of(m->where, m->line, m->what, FOR_LABELLED);
    return add(future, create_at(at, "sleep", label), false);
}

static struct promise *add_of_self(PyObject *future, const struct maker *m)
{
    PyObject *self = local(m->frame, s_self);
    struct promise *owner = self ? of_primitive(self, NULL) : NULL, *p = NULL;
    if (owner && (m->kind == CODE_EVENT || m->kind == CODE_CONDITION)) {
        p = add(future, id_of_primitive(owner, m->kind == CODE_EVENT ? "event" : "condition"),
                true);
    } else if (owner) {
        struct place *at = place_of(m->where, m->line, m->what, FOR_LABELLED);
        p = add(future, create_at(at, m->what->name, owner->label), false);
        if (p && m->kind == CODE_ACQUIRE && holds_are_told()) {
            const weft_promise lock = id_of_primitive(owner, m->what->name);
            weft_wait_by(p->id, lock);
            /* A task that does nothing else fetches it for another task, which is not known. */
            p->lock = m->where->owner != CODE_RUNTIME ? lock : 0;
        }
    }
    Py_XDECREF(self);
    return p;
}

/* The same as what is done elsewhere: a job, a process. */
static struct promise *add_same(PyObject *future, const struct maker *m)
{
    PyObject *other = local(m->frame, m->kind == CODE_WRAP ? s_future : s_self);
    struct promise *of = NULL, *p;
    if (other)
        of = m->kind == CODE_WRAP ? job_wrapped(other) : promise_find(other);
    p = of ? add(future, of->id, true) : NULL;
    if (p)
        p->of_job = m->kind == CODE_WRAP;
    Py_XDECREF(other);
    return p;
}

static struct promise *add_of_stream(PyObject *future, const struct maker *m)
{
    char label[TEXT_BYTES];
    const bool connects = m->kind == CODE_CONNECT;
    PyObject *whom = local(m->frame, connects ? s_address : s_self);
    struct promise *p = NULL;
    if (whom && (connects ? label_connect(label, sizeof label, whom)
                          : label_read(label, sizeof label, whom))) {
        struct place *at = place_of(m->where, m->line, m->what, FOR_LABELLED);
        p = add(future, create_at(at, connects ? "connect" : "read", label), false);
    }
    Py_XDECREF(whom);
    return p;
}

/* Only its creator is known: a function of asyncio's, or a line of the program. */
static weft_promise create_unnamed(const struct maker *m)
{
    char label[TEXT_BYTES];
    struct place *at;
    if (m->what->owner == CODE_RUNTIME) {
        at = place_of(m->where, m->line, m->what, FOR_FUTURE);
        return create_at(at, "future", m->what->name);
    }
    at = place_of(m->where, m->line, m->what, FOR_FUTURE);
    if (at->label)
        return create_at(at, "future", at->label);
    snprintf(label, sizeof label, "%.300s:%u", m->what->name, m->line);
    if (at->site.literal)
        at->label = strdup(label);
    return create_at(at, "future", at->label ? at->label : label);
}

static struct promise *add_made(PyObject *future, const struct maker *made)
{
    const struct maker m = *made;
    struct promise *p = NULL;
    if (m.kind == CODE_SLEEP)
        p = add_sleep(future, &m);
    else if (m.kind == CODE_ACQUIRE || m.kind == CODE_OF_SELF || m.kind == CODE_EVENT ||
             m.kind == CODE_CONDITION)
        p = add_of_self(future, &m);
    else if (m.kind == CODE_WRAP || m.kind == CODE_PROCESS)
        p = add_same(future, &m);
    else if (m.kind == CODE_CONNECT || m.kind == CODE_READ)
        p = add_of_stream(future, &m);
    if (!p) {
        p = add(future, create_unnamed(&m), false);
    }
    if (p && m.kind == CODE_SERVE)
        weft_background(p->id);
    PyObject *on_these = NULL;
    if (p && m.kind == CODE_MANY) {
        on_these = local(m.frame, s_fs);
    } else if (p && m.kind == CODE_GROUP) {
        PyObject *self = local(m.frame, s_self);
        on_these = self ? get(self, s__tasks) : NULL;
        Py_XDECREF(self);
    } else if (p && m.kind == CODE_ONE) {
        PyObject *inner = local(m.frame, s_inner);
        on_these = inner ? PyTuple_Pack(1, inner) : NULL;
        Py_XDECREF(inner);
    }
    if (on_these)
        wait_for_all(p->id, on_these);
    Py_XDECREF(on_these);
    return p;
}

struct promise *add_future(PyObject *future)
{
    struct maker m;
    find_maker(&m);
    struct promise *p = add_made(future, &m);
    Py_XDECREF(m.frame);
    return p;
}

const struct code *code_of_coroutine(PyObject *coroutine)
{
    PyObject *object = NULL, *name = NULL;
    /* Looking up an attribute that does not exist costs more than everything else. */
    if (Py_TYPE(coroutine) == async_type)
        object = get(coroutine, s_ag_code);
    else if (Py_TYPE(coroutine) != generator_type)
        object = get(coroutine, s_cr_code);
    if (!object && Py_TYPE(coroutine) != coroutine_type)
        object = get(coroutine, s_gi_code);
    const struct code *c = object ? code_known(object) : NULL;
    if (!c) {
        name = get(coroutine, s___qualname__);
        c = code_of(object, name);
    }
    Py_XDECREF(object);
    Py_XDECREF(name);
    return c;
}

/* object: the coroutine, or its task. */
static struct promise *add_task(PyObject *object, PyObject *coroutine)
{
    const struct code *c = code_of_coroutine(coroutine);
    PyObject *answer = NULL;
    weft_promise id = 0;
    if (c->kind >= CODE_AIOHTTP)
        id = request_of(coroutine, c, &answer);
    const bool is_request = id != 0;
    if (c->kind != CODE_HIDDEN && !id)
        id = create_at(place_of(c, c->line, c, FOR_TASK), "task", c->name);
    struct promise *p = add(object, id, false);
    if (p) {
        p->coroutine = coroutine;
        p->is_request = is_request;
        p->answer = answer;
    }
    return p;
}

struct promise *add_begun(PyObject *coroutine)
{
    struct promise *p = add_task(coroutine, coroutine);
    if (p)
        p->shared = true;
    return p;
}

struct promise *take_over(PyObject *task, struct promise *begun)
{
    struct promise *p = promise_find(task);
    if (p || !(p = add(task, begun->id, false)))
        return p;
    PyObject *object = p->object, *ref = p->ref;
    *p = *begun;
    p->object = object;
    p->ref = ref;
    p->shared = false;
    *begun = (struct promise){
        .object = begun->object, .ref = begun->ref, .id = begun->id, .shared = true, .ended = true};
    return p;
}

struct promise *of_task(PyObject *task)
{
    struct promise *p = promise_find(task), *begun;
    if (p)
        return p;
    PyObject *coroutine = eager_coroutine(get(task, s__coro));
    if (!coroutine || coroutine == Py_None) { /* it ended before it was reported */
        Py_XDECREF(coroutine);
        return NULL;
    }
    begun = promise_find(coroutine);
    p = begun ? take_over(task, begun) : add_task(task, coroutine);
    Py_DECREF(coroutine); /* the task has it */
    return p;
}

/* A future whose creation was not noticed: gather's, or one of a class of the program's own. */
static struct promise *of_other(PyObject *future)
{
    static struct weft_site site = {.file = NULL};
    char label[TEXT_BYTES];
    PyObject *children = get(future, s__children);
    PyObject *name = get((PyObject *)Py_TYPE(future), s___qualname__);
    copy_text(label, sizeof label, name);
    Py_XDECREF(name);
    struct promise *p =
        add(future,
            weft_impl_create(&site, children ? "gather" : "future", children ? "gather" : label),
            false);
    if (p && children)
        wait_for_all(p->id, children);
    Py_XDECREF(children);
    return p;
}

weft_promise of_object(PyObject *future)
{
    struct promise *p = promise_find(future);
    if (!p && PyObject_TypeCheck(future, task_type))
        p = of_task(future);
    else if (!p && PyObject_TypeCheck(future, future_type))
        p = of_other(future);
    return p ? p->id : 0;
}

weft_promise of_pending(PyObject *future)
{
    struct promise *p = promise_find(future);
    if (p)
        return p->ended || p->label ? 0 : p->id;
    if (!PyObject_TypeCheck(future, task_type) && !PyObject_TypeCheck(future, future_type))
        return 0;
    PyObject *state = get(future, s__state);
    const weft_promise id = is_text(state, "PENDING") ? of_object(future) : 0;
    Py_XDECREF(state);
    return id;
}

/* ---- What is gone ---- */

static void on_gone(struct promise *p)
{
    if (p == current)
        current = NULL;
    failure_gone(p);
    if (!on() || p->shared || p->ended || !p->id)
        return;
    thread_named();
    for (unsigned i = p->count; i-- > 0;)
        if (p->calls[i].id)
            weft_forget(p->calls[i].id);
    if (p->whole)
        weft_forget(p->whole);
    weft_forget(p->id);
}

/* ---- The coroutines of a task ---- */

void end_calls(struct promise *p, unsigned from)
{
    while (p->count > from) {
        struct call *c = &p->calls[--p->count];
        Py_XDECREF(c->ref);
        if (c->id) {
            weft_resolve_by(c->id, c->id, WEFT_BY_UNKNOWN, NULL);
            weft_read(promise_inner(p), c->id);
        }
    }
}

static bool add_call(struct promise *p, PyObject *coroutine, const struct code *outer,
                     const struct code *c)
{
    if (p->count == p->room) {
        const unsigned room = p->room ? 2 * p->room : 4;
        struct call *calls = realloc(p->calls, room * sizeof *calls);
        if (!calls)
            return false;
        p->calls = calls;
        p->room = room;
    }
    struct call call = {.coroutine = coroutine, .ref = PyWeakref_NewRef(coroutine, NULL)};
    if (!call.ref) {
        PyErr_Clear();
        return false;
    }
    if (c->kind == CODE_SAID) {
        call.id = request_said(p, coroutine);
        if (call.id)
            weft_wait_by(promise_inner(p), call.id);
    } else if (!c->inlined && (c->owner == CODE_PROGRAM ||
                               (c->owner == CODE_LIBRARY && outer->owner == CODE_PROGRAM))) {
        const weft_promise who = promise_inner(p);
        struct place *at = place_of(c, c->line, c, FOR_CALL);
        call.id = weft_impl_create_from(&at->site, who, "call", c->name);
        weft_wait_by(who, call.id);
    }
    p->calls[p->count++] = call;
    return true;
}

/* The asynchronous generator that an object is to resume; takes the reference to the object. Only the garbage collector
 * knows it. */
static PyObject *async_of(PyObject *next)
{
    PyObject *all = PyObject_CallFunctionObjArgs(referents, next, NULL), *found = NULL;
    const Py_ssize_t n = all ? PyList_Size(all) : 0;
    for (Py_ssize_t i = 0; i < n && !found; i++)
        if (Py_TYPE(PyList_GetItem(all, i)) == async_type)
            found = PyList_GetItem(all, i);
    Py_XINCREF(found);
    PyErr_Clear();
    Py_XDECREF(all);
    Py_DECREF(next);
    return found;
}

PyObject *inner_of(PyObject *coroutine)
{
    PyObject *inner = NULL;
    if (Py_TYPE(coroutine) == coroutine_type)
        inner = get(coroutine, s_cr_await);
    else if (Py_TYPE(coroutine) == generator_type)
        inner = get(coroutine, s_gi_yieldfrom);
    else if (Py_TYPE(coroutine) == async_type)
        inner = get(coroutine, s_ag_await);
    if (!inner || Py_TYPE(inner) == coroutine_type || Py_TYPE(inner) == generator_type)
        return inner;
    if (Py_TYPE(inner) == next_type || Py_TYPE(inner) == throw_type)
        return async_of(inner);
    Py_DECREF(inner);
    return NULL;
}

/* Returns true if it is the same object, and not another one at its address. */
static bool is_call_of(const struct call *c, PyObject *coroutine)
{
    return c->coroutine == coroutine && promise_referent(c->ref) == coroutine;
}

/* A task has stopped: finds the coroutines it is in. */
void follow_calls(struct promise *p)
{
    PyObject *at = p->coroutine, *inner;
    const struct code *outer = NULL;
    unsigned depth = 0;
    if (!at)
        return;
    if (p->requests_count && !p->whole && code_of_coroutine(at)->kind == CODE_SAID &&
        (p->whole = request_said(p, at)))
        weft_wait_by(p->id, p->whole);
    Py_INCREF(at);
    for (; depth < DEPTH_MAX && (inner = inner_of(at)); depth++) {
        if (depth >= p->count || !is_call_of(&p->calls[depth], inner)) {
            end_calls(p, depth);
            outer = outer ? outer : code_of_coroutine(at);
            const struct code *code = code_of_coroutine(inner);
            if (!add_call(p, inner, outer, code)) {
                Py_DECREF(inner);
                break;
            }
            outer = code;
        }
        Py_DECREF(at);
        at = inner;
    }
    Py_DECREF(at);
    end_calls(p, depth);
}

/* The innermost coroutine has created it, if that is one of asyncio's. The others on the way out are as find_maker's
 * frames. */
struct promise *add_awaited(PyObject *future, PyObject *coroutine)
{
    PyObject *chain[DEPTH_MAX], *inner;
    unsigned n = 1;
    struct promise *p = NULL;
    Py_INCREF(coroutine);
    chain[0] = coroutine;
    while (n < DEPTH_MAX && (inner = inner_of(chain[n - 1])))
        chain[n++] = inner;
    const struct code *c = code_of_coroutine(chain[n - 1]);
    struct maker m = {.where = c, .what = c, .kind = c->kind};
    unsigned at = n - 1;
    while (at > 0 && m.where->owner == CODE_RUNTIME) {
        c = code_of_coroutine(chain[--at]);
        if (c->owner == CODE_RUNTIME && (m.kind == CODE_PLAIN || m.kind == CODE_MANY ||
                                         m.kind == CODE_CONNECT || m.kind == CODE_READ))
            m.what = c;
        m.where = c;
    }
    m.line = line_in(m.where, chain[at]);
    if (m.what->owner == CODE_RUNTIME && !PyObject_TypeCheck(future, task_type)) {
        m.frame = get(chain[n - 1], s_cr_frame);
        if (m.frame && m.frame != Py_None)
            p = add_made(future, &m);
        Py_XDECREF(m.frame);
    }
    while (n > 0)
        Py_DECREF(chain[--n]);
    return p;
}

/* ---- Steps of tasks ---- */

void failed_with(struct promise *p, PyObject *exception)
{
    char text[TEXT_BYTES];
    describe(text, sizeof text, exception);
    weft_fail(p->id, text);
}

static void task_ended(struct promise *p, PyObject *task, PyObject *state)
{
    end_calls(p, 0);
    p->ended = true;
    p->coroutine = NULL;
    if (is_text(state, "CANCELLED")) {
        weft_resolve_by(p->by ? p->by : p->id, p->id, WEFT_BY_CANCEL, NULL);
        return;
    }
    PyObject *exception = get(task, s__exception);
    if (p->is_request && exception == Py_None) {
        request_ended(p, task);
    } else if (exception && exception != Py_None) {
        failed_with(p, exception);
        note_failure(p);
    } else {
        weft_fulfill(p->id);
    }
    Py_XDECREF(exception);
}

/* A task has run. */
void task_stopped(struct promise *p, PyObject *task)
{
    PyObject *future = get(task, s__fut_waiter);
    p->waits = p->lock = 0;
    if (future && future != Py_None) {
        follow_calls(p);
        p->waits = of_object(future);
        const struct promise *of_future = promise_find(future);
        p->lock = of_future ? of_future->lock : 0;
        if (p->waits)
            weft_wait_by(promise_inner(p), p->waits);
    } else {
        PyObject *state = get(task, s__state);
        if (is_text(state, "PENDING"))
            follow_calls(p);
        else
            task_ended(p, task, state);
        Py_XDECREF(state);
    }
    Py_XDECREF(future);
}

PyObject *task_of_callback(PyObject *callback)
{
    PyObject *owner = NULL;
    if (PyCFunction_Check(callback)) {
        owner = PyCFunction_GetSelf(callback);
        Py_XINCREF(owner);
    } else if (Py_TYPE(callback) == step_type || Py_TYPE(callback) == wakeup_type) {
        owner = get(callback, s___self__);
    }
    if (owner && PyObject_TypeCheck(owner, task_type))
        return owner;
    Py_XDECREF(owner);
    return NULL;
}

PyObject *task_of(PyObject *handle)
{
    PyObject *callback = get(handle, s__callback);
    PyObject *task = callback ? task_of_callback(callback) : NULL;
    Py_XDECREF(callback);
    return task;
}

/* Returns true if a task that waited for a lock has got it and continues with it. */
static bool got_it(PyObject *task)
{
    PyObject *future = get(task, s__fut_waiter), *cancelled = get(task, s__must_cancel);
    PyObject *state = future && future != Py_None ? get(future, s__state) : NULL;
    const bool got = is_text(state, "FINISHED") && cancelled == Py_False;
    Py_XDECREF(state);
    Py_XDECREF(cancelled);
    Py_XDECREF(future);
    return got;
}

void task_goes_on(struct promise *p, PyObject *task)
{
    const weft_promise inner = promise_inner(p), lock = p->lock;
    p->lock = 0;
    if (p->waits && inner != p->id)
        weft_read(inner, p->waits);
    if (p->waits)
        weft_wake(p->id, p->waits);
    else
        weft_run(p->id);
    if (lock && got_it(task))
        weft_acquire_by(p->id, lock);
    if (p->requests_count)
        weft_run(promise_works_at(p));
}

/* ---- The beginning ---- */

static void keep(PyTypeObject **const to[], PyObject *const classes[], unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        Py_INCREF(classes[i]);
        *to[i] = (PyTypeObject *)classes[i];
    }
}

int futures_init(PyObject *const classes[5], PyObject *get_referents)
{
    PyTypeObject **const types[] = {&coroutine_type, &generator_type, &async_type, &next_type,
                                    &throw_type};
    keep(types, classes, sizeof types / sizeof *types);
    Py_INCREF(get_referents);
    referents = get_referents;
    promise_gone = on_gone;
    return names_init() < 0 ? -1 : promises_init();
}

int futures_asyncio(PyObject *const classes[4])
{
    PyTypeObject **const types[] = {&task_type, &future_type, &step_type, &wakeup_type};
    keep(types, classes, sizeof types / sizeof *types);
    return uvloops_init() < 0 ? -1 : eager_init();
}

void futures_forked(void)
{
    current = NULL;
    failures_forked();
    promises_drop();
}
