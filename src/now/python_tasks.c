/* SPDX-License-Identifier: ISC */
/* The tasks of asyncio: those that the module knows, whether they are written in C (_asyncio) or in Python. A task's
 * stack is its coroutine, what that awaits, and so on, down to a future. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "now/python.h"

enum { READY_MAX = 256 }; /* things that a loop does next, which are looked at */

/* ---- The stack ---- */

/* What a suspended frame awaits: the value on top of its stack. */
static uint64_t awaited(struct python *py, const struct python_frame *f)
{
    return f->stack > 0 ? python_stack(py, f, (uint32_t)f->stack - 1) : 0;
}

/* What an object that only passes an await on leads to: a coroutine, generator or future; 0: it is none of these. */
static uint64_t behind(struct python *py, uint64_t object)
{
    static const char *const wrappers[] = {
        "coroutine_wrapper", "async_generator_asend", "async_generator_athrow",
        "anext_awaitable",   "_asyncio.FutureIter",
    };
    const struct python_type *t = python_type_of(py, object);
    for (size_t i = 0; t && i < sizeof wrappers / sizeof *wrappers; i++)
        if (strcmp(t->name, wrappers[i]) == 0)
            return python_word(py, object + PYTHON_REFERENT);
    return 0;
}

static bool is_generator(struct python *py, uint64_t object)
{
    return python_is(py, object, "coroutine") || python_is(py, object, "generator") ||
           python_is(py, object, "async_generator");
}

static void reverse(struct python *py)
{
    for (uint32_t i = 0, k = py->chained; i + 1 < k; i++) {
        const struct python_frame f = py->chain[i];
        py->chain[i] = py->chain[--k];
        py->chain[k] = f;
    }
}

uint64_t python_chain(struct python *py, uint64_t object, int *state)
{
    enum { STEPS_MAX = 2 * PYTHON_CHAIN_MAX };
    uint64_t future = 0;
    py->chained = 0;
    *state = 0;
    for (uint32_t i = 0; i < STEPS_MAX && py->chained < PYTHON_CHAIN_MAX; i++) {
        if (is_generator(py, object)) {
            struct python_frame *f = &py->chain[py->chained];
            if (!python_generator_frame(py, object, f, state))
                break;
            py->chained++;
            object = awaited(py, f);
        } else if (python_is_future(py, object)) {
            future = object;
            break;
        } else if (!(object = behind(py, object))) {
            break;
        }
    }
    reverse(py);
    return future;
}

/* ---- One task ---- */

static bool is_native(struct python *py, uint64_t task)
{
    return python_is(py, task, "_asyncio.Task");
}

static uint64_t member(struct python *py, uint64_t task, uint32_t offset, const char *name)
{
    const uint64_t object =
        is_native(py, task) ? python_word(py, task + offset) : python_attribute(py, task, name);
    return python_is(py, object, "NoneType") ? 0 : object;
}

/* Has it a future that it waits for in the end? Then that is what it awaits, unless a rule knew better. */
static void tell_waiter(struct python *py, uint32_t thing, uint64_t future, uint64_t found)
{
    if (!found && python_is_pending(py, future))
        now_link(py->now, thing, python_future_thing(py, future), false, "awaits");
}

static void tell_state(struct python *py, uint32_t thing, uint64_t task, int state, bool waits)
{
    const int created = py->at.minor >= PYTHON_3_13 ? -3 : -2;
    const bool began = py->at.minor >= PYTHON_3_11 ? state != created
                                                   : !py->chained || py->chain[0].instruction >= 0;
    const bool cancelled = is_native(py, task)
                               ? python_u8(py, task + py->at.task_must_cancel) & 1
                               : python_true(py, python_attribute(py, task, "_must_cancel"));
    if (cancelled)
        now_state(py->now, thing, "is being cancelled");
    else if (!began)
        now_state(py->now, thing, "has not begun");
    else if (!waits && thing != NOW_NONE && !py->now->thing[thing].state)
        now_state(py->now, thing, "is ready to go on");
    else if (py->chained && thing != NOW_NONE && !py->now->thing[thing].state)
        now_state(py->now, thing, "waits in %s", py->chain[0].function);
}

/* A task that could go on waits until the one that runs in its loop lets others run. */
static void tell_turn(struct python *py, uint32_t thing, uint64_t loop)
{
    for (uint32_t i = 0; i < py->runnings; i++)
        if (py->running[i].object == loop && py->running[i].thing != thing)
            now_link(py->now, thing, py->running[i].thing, false, "comes after");
}

static void tell_task(struct python *py, uint64_t task)
{
    const uint32_t thing = python_future_thing(py, task);
    int state;
    if (thing == NOW_NONE || py->now->thing[thing].frames)
        return; /* it is in two lists */
    const uint64_t waiter = member(py, task, py->at.task_waiter, "_fut_waiter");
    python_chain(py, member(py, task, py->at.task_coroutine, "_coro"), &state);
    python_tell_frames(py, thing);
    const uint64_t found = waiter ? python_wait(py, thing, 0) : 0;
    if (waiter)
        tell_waiter(py, thing, waiter, found);
    else
        tell_turn(py, thing, member(py, task, PYTHON_FUTURE_LOOP, "_loop"));
    python_note_holds(py, thing, found);
    tell_state(py, thing, task, state, waiter != 0);
    if (waiter)
        python_tell_limit(py, thing);
}

/* ---- All of them ---- */

static void tell_set(struct python *py, uint64_t set)
{
    struct python_walk w;
    uint64_t item, none;
    python_walk(py, set, &w);
    while (python_next(py, &w, &item, &none)) {
        if (python_is(py, item, "weakref") || python_is(py, item, "weakref.ReferenceType"))
            item = python_word(py, item + PYTHON_REFERENT);
        if (python_is_task(py, item) && python_is_pending(py, item))
            tell_task(py, item);
    }
}

static bool is_function(struct python *py, uint64_t object, const char *name)
{
    char own[32];
    python_text(py, python_word(py, object + py->at.function_name), own, sizeof own);
    return python_is(py, object, "function") && strcmp(own, name) == 0;
}

/* What asyncio.run_coroutine_threadsafe has told a loop to do has a coroutine in its closure, and the future of its
 * result. */
static void tell_submitted(struct python *py, uint32_t running, uint64_t function)
{
    struct python_walk w;
    uint64_t cell, none, future = 0;
    bool has_coroutine = false;
    char state[16];
    if (!is_function(py, function, "callback"))
        return;
    python_walk(py, python_word(py, function + py->at.function_closure), &w);
    while (python_next(py, &w, &cell, &none)) {
        const uint64_t value = python_word(py, cell + PYTHON_REFERENT);
        has_coroutine |= python_is(py, value, "coroutine");
        if (python_is(py, cell, "cell") && python_is_future(py, value))
            future = value;
    }
    python_text(py, python_attribute(py, future, "_state"), state, sizeof state);
    if (has_coroutine && strcmp(state, "PENDING") == 0)
        now_link(py->now, python_future_thing(py, future), running, false, "comes after");
}

/* What a loop does next is in a deque (dequeobject, Modules/_collectionsmodule.c). */
static void tell_ready(struct python *py, uint64_t loop, uint32_t running)
{
    const uint64_t ready = python_attribute(py, loop, "_ready");
    if (!python_is(py, ready, "collections.deque"))
        return;
    const int64_t count = python_size(py, ready);
    uint64_t block = python_word(py, ready + PYTHON_DEQUE_BLOCK);
    uint64_t at = python_word(py, ready + PYTHON_DEQUE_FIRST);
    for (int64_t i = 0; i < count && i < READY_MAX && at < PYTHON_DEQUE_ITEMS; i++) {
        const uint64_t handle = python_word(py, block + (1 + at) * 8);
        tell_submitted(py, running, python_attribute(py, handle, "_callback"));
        if (++at == PYTHON_DEQUE_ITEMS) {
            block = python_word(py, block + (1 + at) * 8);
            at = 0;
        }
    }
}

/* A task that runs is part of a thread's stack. */
static void tell_running(struct python *py, uint64_t tasks)
{
    struct python_walk w;
    uint64_t loop, task;
    int64_t ident;
    if (!python_has_flag(py, tasks, PYTHON_DICT))
        return;
    python_walk(py, tasks, &w);
    while (python_next(py, &w, &loop, &task)) {
        if (!python_is_task(py, task))
            continue;
        const uint32_t thing = python_future_thing(py, task);
        now_state(py->now, thing, "runs");
        if (py->runnings < PYTHON_LOOPS)
            py->running[py->runnings++] = (struct python_hold){.object = loop, .thing = thing};
        if (python_int(py, python_attribute(py, loop, "_thread_id"), &ident))
            now_link(py->now, thing, python_thread_thing(py, (uint64_t)ident), false, "runs on");
        tell_ready(py, loop, thing);
    }
}

/* ---- What futures lead to ---- */

/* asyncio.shield, and what joins the futures of asyncio with those of threads, put a function on the future that others
 * wait for; the closure of that function has the future whose result it will get. */
static bool passes_on(struct python *py, uint64_t function)
{
    return is_function(py, function, "_outer_done_callback") ||
           is_function(py, function, "_call_check_cancel");
}

static void tell_callback(struct python *py, uint32_t thing, uint64_t future, uint64_t callback)
{
    struct python_walk w;
    uint64_t cell, none;
    if (python_has_flag(py, callback, PYTHON_TUPLE)) /* (callback, context) */
        callback = python_word(py, callback + PYTHON_TUPLE_ITEMS);
    if (!passes_on(py, callback))
        return;
    python_walk(py, python_word(py, callback + py->at.function_closure), &w);
    while (python_next(py, &w, &cell, &none)) {
        const uint64_t other = python_word(py, cell + PYTHON_REFERENT);
        if (python_is(py, cell, "cell") && other != future && python_is_future(py, other) &&
            python_is_pending(py, other))
            now_link(py->now, thing, python_future_thing(py, other), false, "awaits");
    }
}

static void tell_callbacks(struct python *py, uint32_t thing, uint64_t future)
{
    struct python_walk w;
    uint64_t list, item, none;
    if (python_is(py, future, "_asyncio.Future")) {
        tell_callback(py, thing, future, python_word(py, future + PYTHON_FUTURE_CALLBACK));
        list = python_word(py, future + PYTHON_FUTURE_CALLBACKS);
    } else {
        list = python_attribute(py, future, "_callbacks");
        list = list ? list : python_attribute(py, future, "_done_callbacks");
    }
    python_walk(py, list, &w);
    while (python_next(py, &w, &item, &none))
        tell_callback(py, thing, future, item);
}

static void tell_gathered(struct python *py, uint32_t thing, uint64_t future)
{
    struct python_walk w;
    uint64_t child, none;
    uint32_t all = 0, pending = 0;
    python_walk(py, python_attribute(py, future, "_children"), &w);
    while (python_next(py, &w, &child, &none)) {
        const bool waits = python_is_future(py, child) && python_is_pending(py, child);
        all++;
        pending += waits;
        if (waits)
            now_link(py->now, thing, python_future_thing(py, child), false, "awaits");
    }
    now_name(py->now, thing, "asyncio.gather of %" PRIu32, all);
    now_state(py->now, thing, "%" PRIu32 " of %" PRIu32 " not done", pending, all);
}

/* Things that are added meanwhile have their turn, too. */
static void tell_futures(struct python *py, uint32_t from)
{
    py->chained = 0;
    for (uint32_t i = from; i < py->now->things; i++) {
        const struct now_thing *t = &py->now->thing[i];
        const uint64_t future = t->key;
        if (t->kind != NOW_PROMISE || !python_is_future(py, future))
            continue;
        if (python_is(py, future, "_GatheringFuture"))
            tell_gathered(py, i, future);
        else
            now_state(py->now, i, "pending");
        tell_callbacks(py, i, future);
    }
}

/* Other ways to have tasks are only named. */
static void tell_others(struct python *py, uint64_t modules)
{
    static const char *const others[][2] = {
        {"trio", "tasks of trio"}, {"curio", "tasks of curio"}, {"gevent", "greenlets of gevent"}};
    for (size_t i = py->runners > 0; i < sizeof others / sizeof *others; i++)
        if (python_get(py, modules, others[i][0]))
            now_remark(py->now, "The %s are not shown, except the one that runs.", others[i][1]);
}

void python_tell_tasks(struct python *py, uint64_t modules)
{
    const uint32_t from = py->now->things;
    const uint64_t module = python_get(py, modules, "asyncio.tasks");
    const uint64_t names = module ? python_word(py, module + PYTHON_MODULE_DICT) : 0;
    static const char *const sets[] = {"_all_tasks", "_scheduled_tasks", "_eager_tasks"};
    tell_others(py, modules);
    python_tell_trio(py);
    if (!names)
        return;
    tell_running(py, python_get(py, names, "_current_tasks"));
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        const uint64_t set = python_get(py, names, sets[i]);
        const uint64_t data = set ? python_attribute(py, set, "data") : 0; /* of a WeakSet */
        tell_set(py, data ? data : set);
    }
    tell_futures(py, from);
}
