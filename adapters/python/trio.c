/* SPDX-License-Identifier: ISC */
/* Tasks of trio. An instrument is called when they begin, become ready, run and stop, and when the loop sleeps; the
 * loop's own method gets their outcome. What a task waits for has no object: it is found from the coroutines that the
 * task is in. It gets a promise when the task waits, which ends when the task becomes ready. */
#include "trio.h"

#include <stdio.h>
#include <string.h>

#include "describe.h"
#include "futures.h"
#include "hooks.h"
#include "jobs.h"
#include "names.h"
#include "promises.h"

enum { TEXT_BYTES = 400 };

static PyObject *instrument;
static __thread bool sleeps;

/* ---- Tasks ---- */

/* Above all tasks there is one of the loop's own. */
static bool is_of_loop(PyObject *task)
{
    PyObject *nursery = get(task, s__parent_nursery);
    const bool top = !nursery || nursery == Py_None;
    Py_XDECREF(nursery);
    return top;
}

static PyObject *parent_of(PyObject *task)
{
    PyObject *nursery = get(task, s__parent_nursery);
    PyObject *parent = nursery && nursery != Py_None ? get(nursery, s__parent_task) : NULL;
    Py_XDECREF(nursery);
    return parent;
}

/* Right below that one is the program's main task, and, before it, one more of the loop's own. */
static bool is_main(PyObject *task)
{
    char name[8];
    PyObject *runner = get(task, s__runner), *main = runner ? get(runner, s_main_task) : NULL;
    PyObject *text = get(task, s_name);
    copy_text(name, sizeof name, text);
    const bool is = main == task || (main == Py_None && name[0] != '<');
    Py_XDECREF(text);
    Py_XDECREF(main);
    Py_XDECREF(runner);
    return is;
}

static struct promise *add_task(PyObject *task)
{
    PyObject *coroutine = get(task, s_coro), *parent = parent_of(task);
    struct promise *p = NULL;
    if (coroutine && parent) {
        const struct code *c = code_of_coroutine(coroutine);
        const bool on_top = is_of_loop(parent), main = on_top && is_main(task);
        const weft_promise id =
            on_top && !main && c->owner == CODE_RUNTIME
                ? 0
                : weft_impl_create(&place_of(c, c->line, c, FOR_TASK)->site, "task", c->name);
        p = id ? promise_add(task, id) : NULL;
        if (p)
            p->coroutine = coroutine; /* the task has it */
        if (p && main)
            weft_should_resolve(id);
    }
    Py_XDECREF(coroutine);
    Py_XDECREF(parent);
    return p;
}

static struct promise *of(PyObject *task)
{
    struct promise *p = promise_find(task);
    return p ? p : add_task(task);
}

/* ---- What a task waits for ---- */

struct wait {
    PyObject *who; /* the coroutine of trio's that shows what it waits for; not owned */
    const struct code *code;
    const struct code *first; /* the outermost of trio's coroutines, called by the program */
    struct place *at;         /* where the program waits */
};

static PyObject *coroutine_at(const struct promise *p, unsigned depth)
{
    return depth == 0 ? p->coroutine : p->calls[depth - 1].coroutine;
}

/* Not called by name in the program, like __anext__. */
static bool is_special(const struct code *c)
{
    const size_t size = strlen(c->name);
    return size > 2 && strcmp(c->name + size - 2, "__") == 0;
}

/* Of trio's coroutines at the end of the chain, the outermost says most; but if one of them waits for a lock, the task
 * waits for that lock. */
static void find_wait(const struct promise *p, struct wait *w)
{
    unsigned first = p->count + 1;
    const struct code *c;
    while (first > 0 && code_of_coroutine(coroutine_at(p, first - 1))->owner == CODE_RUNTIME)
        first--;
    const unsigned from = first ? first - 1 : 0;
    PyObject *outside = coroutine_at(p, from);
    const struct code *where = code_of_coroutine(outside);
    *w = (struct wait){.who = outside, .code = where, .first = where};
    for (unsigned depth = first; depth <= p->count; depth++) {
        PyObject *at = coroutine_at(p, depth);
        c = code_of_coroutine(at);
        if (depth == first || is_special(w->first))
            w->first = c;
        if (depth == first || (c->kind != CODE_PLAIN && w->code->kind == CODE_PLAIN) ||
            c->kind == CODE_ACQUIRE) {
            w->who = at;
            w->code = c;
        }
    }
    w->at = place_of(where, line_in(where, outside), w->first, FOR_LABELLED);
}

static weft_promise create(const struct wait *w, const char *type, const char *label)
{
    return weft_impl_create(&w->at->site, type, label);
}

static weft_promise wait_for_time(const struct wait *w)
{
    char label[64];
    describe_sleep(label, sizeof label, local_of(w->who, s_seconds));
    return create(w, "sleep", label);
}

static weft_promise wait_for_self(const struct wait *w, struct promise *p)
{
    PyObject *self = local_of(w->who, s_self), *state;
    if (self && w->code->kind == CODE_OF_SELF && (state = get(self, s__state))) {
        Py_DECREF(self);
        self = state;
    }
    struct promise *owner = self ? of_primitive(self, NULL) : NULL;
    Py_XDECREF(self);
    if (owner && (w->code->kind == CODE_EVENT || w->code->kind == CODE_CONDITION)) {
        p->waits_alone = false;
        return id_of_primitive(owner, w->code->kind == CODE_EVENT ? "event" : "condition");
    }
    const weft_promise id = create(w, w->code->name, owner ? owner->label : NULL);
    if (owner && w->code->kind == CODE_ACQUIRE && owner->id &&
        strcmp(w->code->name, "CapacityLimiter.acquire") != 0) /* what holds it is not known */
        weft_wait_by(id, owner->id);
    return id;
}

static weft_promise wait_for_tasks(const struct wait *w, struct promise *p)
{
    char label[TEXT_BYTES];
    PyObject *self = local_of(w->who, s_self), *nursery = self ? get(self, s__nursery) : NULL;
    if (nursery) { /* self is what manages it */
        Py_DECREF(self);
        self = nursery;
    }
    PyObject *children = self ? get(self, s__children) : NULL;
    PyObject *all = children ? PySequence_List(children) : NULL;
    if (!all)
        PyErr_Clear();
    if (w->first->kind == CODE_GROUP)
        snprintf(label, sizeof label, "nursery %.300s:%u", base_name(w->at->where->file),
                 w->at->line);
    else
        snprintf(label, sizeof label, "%s", w->first->name);
    const weft_promise id = create(w, "nursery", label);
    for (Py_ssize_t i = 0; all && i < PyList_Size(all); i++) {
        const struct promise *child = of(PyList_GetItem(all, i));
        if (child)
            weft_wait_by(id, child->id);
    }
    p->nursery = self;
    Py_XDECREF(all);
    Py_XDECREF(children);
    Py_XDECREF(self);
    return id;
}

static weft_promise wait_for_job(const struct wait *w)
{
    PyObject *function = local_of(w->who, s_sync_fn), *args = local_of(w->who, s_args);
    const weft_promise id =
        function ? call_create("job", function, args) : create(w, "job", w->first->name);
    Py_XDECREF(function);
    Py_XDECREF(args);
    return id;
}

/* It serves, or intentionally waits for something that never comes. */
static weft_promise wait_for_long(const struct wait *w, struct promise *p, PyObject *task)
{
    PyObject *parent = parent_of(task);
    const weft_promise id = create(w, "wait", w->first->name);
    weft_background(id);
    if (parent && is_of_loop(parent))
        weft_background(p->id);
    Py_XDECREF(parent);
    return id;
}

static weft_promise wait_of(struct promise *p, PyObject *task)
{
    struct wait w;
    find_wait(p, &w);
    p->waits_alone = true;
    p->naps = w.code->kind == CODE_SLEEP;
    switch (w.code->kind) {
    case CODE_SLEEP:
        return wait_for_time(&w);
    case CODE_ACQUIRE:
    case CODE_OF_SELF:
    case CODE_EVENT:
    case CODE_CONDITION:
        return wait_for_self(&w, p);
    case CODE_GROUP:
        return wait_for_tasks(&w, p);
    case CODE_JOB:
        return wait_for_job(&w);
    case CODE_SERVE:
        return wait_for_long(&w, p, task);
    default:
        return create(&w, "wait", w.first->name);
    }
}

/* ---- How things end ---- */

static void wait_over(struct promise *p, PyObject *task)
{
    char text[TEXT_BYTES];
    PyObject *send = get(task, s__next_send), *error = send ? get(send, s_error) : NULL;
    const bool is_cancelled = error && says_cancelled(error);
    p->by = is_cancelled ? running() : 0;
    p->nursery = NULL;
    if (p->waits && p->waits_alone) {
        p->waits_alone = false;
        if (is_cancelled && p->naps && !current) {
            weft_fulfill(
                p->waits); /* the loop has ended it in time: to trio, too, a sleep is cancelled */
        } else if (is_cancelled) {
            weft_cancel(p->waits);
        } else if (error) {
            describe(text, sizeof text, error);
            weft_fail(p->waits, text);
        } else {
            weft_fulfill(p->waits);
        }
    }
    Py_XDECREF(error);
    Py_XDECREF(send);
}

static void task_over(PyObject *task, PyObject *outcome)
{
    char text[TEXT_BYTES];
    struct promise *p = promise_find(task);
    if (!p || p->ended)
        return;
    PyObject *error = outcome ? get(outcome, s_error) : NULL;
    end_calls(p, 0);
    p->ended = true;
    p->coroutine = NULL;
    if (error && says_cancelled(error)) {
        weft_resolve_by(p->by ? p->by : p->id, p->id, WEFT_BY_CANCEL, NULL);
    } else if (error) {
        /* The task that waits for the nursery's tasks gets it, or the caller of trio.run. */
        PyObject *parent = parent_of(task);
        const struct promise *of_parent = parent ? promise_find(parent) : NULL;
        describe(text, sizeof text, error);
        weft_fail(p->id, text);
        weft_read(of_parent ? promise_inner(of_parent) : WEFT_LOOP, p->id);
        Py_XDECREF(parent);
    } else {
        weft_fulfill(p->id);
    }
    Py_XDECREF(error);
}

/* ---- What the instrument is told ---- */

static __thread weft_promise handed; /* what is being released; or 0 */

#define TOLD(name) static PyObject *name(__attribute__((unused)) PyObject *self, PyObject *task)

static void wakes_up(void)
{
    if (sleeps)
        weft_resume();
    sleeps = false;
}

TOLD(task_spawned)
{
    if (!on())
        Py_RETURN_NONE;
    thread_named();
    const struct promise *p = of(task);
    PyObject *nursery = p ? get(task, s__parent_nursery) : NULL;
    PyObject *parent = p ? parent_of(task) : NULL;
    const struct promise *waits = parent ? promise_find(parent) : NULL;
    if (waits && waits->nursery == nursery)
        weft_wait_by(waits->waits, p->id);
    Py_XDECREF(parent);
    Py_XDECREF(nursery);
    Py_RETURN_NONE;
}

TOLD(task_scheduled)
{
    struct promise *p = on() ? promise_find(task) : NULL;
    if (p) {
        wakes_up();
        wait_over(p, task);
        if (handed)
            weft_acquire_by(p->id, handed);
    }
    Py_RETURN_NONE;
}

TOLD(before_task_step)
{
    current = on() ? of(task) : NULL;
    if (current) {
        thread_named();
        task_goes_on(current, NULL);
        current->waits = 0;
    }
    Py_RETURN_NONE;
}

TOLD(after_task_step)
{
    struct promise *p = on() ? current : NULL;
    PyObject *next = p && !p->ended ? get(task, s__next_send_fn) : NULL;
    if (next) {
        follow_calls(p);
        if (next == Py_None && (p->waits = wait_of(p, task)))
            weft_wait_by(promise_inner(p), p->waits);
        Py_DECREF(next);
    }
    current = NULL;
    if (p)
        weft_run(WEFT_LOOP);
    Py_RETURN_NONE;
}

TOLD(task_exited)
{
    if (on())
        task_over(task, NULL);
    Py_RETURN_NONE;
}

TOLD(before_io_wait)
{
    PyObject *timeout = task;
    if (on() && PyObject_IsTrue(timeout) == 1) {
        weft_suspend(WEFT_WAIT_FOR_WORK);
        sleeps = true;
    }
    PyErr_Clear();
    Py_RETURN_NONE;
}

TOLD(after_io_wait)
{
    (void)task;
    wakes_up();
    Py_RETURN_NONE;
}

static PyObject *after_run(PyObject *self, PyObject *none)
{
    (void)self;
    (void)none;
    ending = false;
    Py_RETURN_NONE;
}

/* ---- Hooks in trio ---- */

/* A loop's instruments have just been made. */
HOOK_ALL(trio_instruments)
{
    PyObject *result = call_all(&hook_trio_instruments, self, args, names);
    PyObject *added =
        result ? PyObject_CallMethodObjArgs(self, s_add_instrument, instrument, NULL) : NULL;
    if (result && !added)
        PyErr_Clear();
    Py_XDECREF(added);
    return result;
}

/* (task, outcome): before its nursery is told. */
HOOK_FAST(trio_exited)
{
    if (on() && count == 2)
        task_over(args[0], args[1]);
    return call_one(&hook_trio_exited, self, args, count);
}

/* Ctrl-C: what hangs then counts as hanging to the end. */
HOOK(trio_interrupted)
{
    ending = true;
    return call(&hook_trio_interrupted, self);
}

#define INITS(name, title)                                                                         \
    HOOK_ALL(name)                                                                                 \
    {                                                                                              \
        if (on())                                                                                  \
            of_primitive(self, title);                                                             \
        return call_all(&hook_##name, self, args, names);                                          \
    }
INITS(trio_init_lock, NULL)
INITS(trio_init_semaphore, NULL)
INITS(trio_init_limiter, NULL)
INITS(trio_init_event, NULL)
INITS(trio_init_condition, NULL)
INITS(trio_init_channel, "channel")

/* If it was free, the calling task has it from now on. */
static PyObject *acquired(PyObject *lock, PyObject *result, const char *type, bool told)
{
    if (result && on() && current) {
        const weft_promise id = id_of_primitive(of_primitive(lock, NULL), type);
        weft_signal(running(), id);
        if (told)
            weft_acquire_by(current->id, id);
    }
    return result;
}

HOOK(trio_acquire_lock)
{
    return acquired(self, call(&hook_trio_acquire_lock, self), "Lock.acquire", true);
}

HOOK(trio_acquire_semaphore)
{
    return acquired(self, call(&hook_trio_acquire_semaphore, self), "Semaphore.acquire", true);
}

/* A task that is scheduled in the meantime gets it. */
static PyObject *released(const struct hook *hook, PyObject *lock)
{
    const struct promise *p = on() ? promise_find(lock) : NULL;
    const weft_promise before = handed, id = p ? p->id : 0;
    handed = id;
    PyObject *result = call(hook, lock);
    handed = before;
    if (result && id)
        weft_release_by(current ? current->id : WEFT_LOOP, id);
    return result;
}

HOOK(trio_release_lock)
{
    return released(&hook_trio_release_lock, self);
}

HOOK(trio_release_semaphore)
{
    return released(&hook_trio_release_semaphore, self);
}

HOOK_ONE(trio_acquire_limiter)
{
    return acquired(self, call_with(&hook_trio_acquire_limiter, self, one),
                    "CapacityLimiter.acquire", false);
}

/* For trio's own objects, for which nothing can wait yet, it is not a lost signal. */
HOOK(trio_set_event)
{
    struct promise *p = on() ? of_primitive(self, NULL) : NULL;
    if (p && (p->id || !p->inner))
        weft_notify(id_of_primitive(p, "event"));
    return call(&hook_trio_set_event, self);
}

/* A notified task waits for the lock from now on, without having run. */
static void wait_for_lock(PyObject *condition, weft_promise told)
{
    static struct weft_site site = {.file = NULL};
    PyObject *lock = get(condition, s__lock), *lot = lock ? get(lock, s__lot) : NULL;
    PyObject *parked = lot ? get(lot, s__parked) : NULL;
    PyObject *all = parked ? PySequence_List(parked) : NULL;
    const struct promise *of_lock = all ? of_primitive(lock, NULL) : NULL;
    for (Py_ssize_t i = 0; of_lock && i < PyList_Size(all); i++) {
        struct promise *p = promise_find(PyList_GetItem(all, i));
        if (!p || p->waits != told)
            continue;
        weft_read(promise_inner(p), told);
        p->waits = weft_impl_create(&site, "Lock.acquire", of_lock->label);
        p->waits_alone = true;
        weft_wait_by(promise_inner(p), p->waits);
        if (of_lock->id)
            weft_wait_by(p->waits, of_lock->id);
    }
    PyErr_Clear();
    Py_XDECREF(all);
    Py_XDECREF(parked);
    Py_XDECREF(lot);
    Py_XDECREF(lock);
}

static PyObject *notified(PyObject *condition, PyObject *result)
{
    if (result && on()) {
        const weft_promise id = id_of_primitive(of_primitive(condition, NULL), "condition");
        weft_notify(id);
        wait_for_lock(condition, id);
    }
    return result;
}

HOOK_ALL(trio_notify)
{
    return notified(self, call_all(&hook_trio_notify, self, args, names));
}

HOOK(trio_notify_all)
{
    return notified(self, call(&hook_trio_notify_all, self));
}

PyObject *trio_init(PyObject *self, PyObject *args)
{
    static PyMethodDef methods[] = {{"task_spawned", task_spawned, METH_O, NULL},
                                    {"task_scheduled", task_scheduled, METH_O, NULL},
                                    {"before_task_step", before_task_step, METH_O, NULL},
                                    {"after_task_step", after_task_step, METH_O, NULL},
                                    {"task_exited", task_exited, METH_O, NULL},
                                    {"before_io_wait", before_io_wait, METH_O, NULL},
                                    {"after_io_wait", after_io_wait, METH_O, NULL},
                                    {"after_run", after_run, METH_NOARGS, NULL},
                                    {NULL, NULL, 0, NULL}};
    static PyType_Slot slots[] = {{Py_tp_methods, (void *)methods}, {0, NULL}};
    static PyType_Spec spec = {"weft.instrument", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT, slots};
    const char *folder;
    PyObject *cancelled;
    (void)self;
    if (!PyArg_ParseTuple(args, "sO", &folder, &cancelled))
        return NULL;
    runtime_add(folder, cancelled);
    PyObject *type = PyType_FromSpec(&spec);
    if (!type || !(instrument = PyObject_CallFunctionObjArgs(type, NULL)))
        return NULL;
    Py_RETURN_NONE;
}

struct hook *const hooks_of_trio[] = {
    &hook_trio_instruments,       &hook_trio_exited,
    &hook_trio_interrupted,       &hook_trio_init_lock,
    &hook_trio_init_semaphore,    &hook_trio_init_limiter,
    &hook_trio_init_event,        &hook_trio_init_condition,
    &hook_trio_init_channel,      &hook_trio_acquire_lock,
    &hook_trio_acquire_semaphore, &hook_trio_acquire_limiter,
    &hook_trio_set_event,         &hook_trio_notify,
    &hook_trio_notify_all,        &hook_trio_release_lock,
    &hook_trio_release_semaphore, NULL,
};
