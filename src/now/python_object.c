/* SPDX-License-Identifier: ISC */
/* What a stack waits for. The functions of Python's own library in which it does are known (rules): their variables say
 * for which lock, queue or future. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/idmap.h"
#include "now/python.h"

enum {
    TEXT = 256,
    QUEUED_MAX = 256, /* items of a thread pool that are looked at … */
    WORKERS_MAX = 64, /* … for so many of its threads */
};

/* ---- States ---- */

static int64_t length_of(struct python *py, uint64_t object, const char *attribute)
{
    const uint64_t list = python_attribute(py, object, attribute);
    return python_is(py, list, "collections.deque") || python_has_flag(py, list, PYTHON_LIST)
               ? python_size(py, list)
               : 0;
}

static void tell_queue(struct python *py, uint32_t thing, uint64_t queue)
{
    int64_t most, size = length_of(py, queue, "_queue");
    if (!python_int(py, python_attribute(py, queue, "_maxsize"), &most)) {
        size = length_of(py, queue, "queue");
        python_int(py, python_attribute(py, queue, "maxsize"), &most);
    }
    if (size == 0)
        now_state(py->now, thing, "empty");
    else if (most > 0)
        now_state(py->now, thing, "%" PRId64 " of at most %" PRId64 " items", size, most);
    else
        now_state(py->now, thing, "%" PRId64 " items", size);
}

/* From 3.13.1 on the byte of a lock has these bits; before, there is a semaphore. */
enum { MUTEX_SINCE = 0x030d0100, MUTEX_LOCKED = 1, MUTEX_WAITED_FOR = 2 };

static bool is_locked(struct python *py, uint64_t lock)
{
    return py->version >= MUTEX_SINCE
               ? (python_u8(py, lock + PYTHON_LOCK_MUTEX) & MUTEX_LOCKED) != 0
               : python_u8(py, lock + PYTHON_LOCK_LOCKED) != 0;
}

/* What can be said of a lock or its like. */
static void tell_state(struct python *py, uint32_t thing, uint64_t object)
{
    int64_t value, parties;
    if (python_is(py, object, "_thread.lock"))
        now_state(py->now, thing, is_locked(py, object) ? "locked" : "not locked");
    else if (python_is(py, object, "_thread.RLock"))
        now_state(py->now, thing,
                  python_word(py, object + PYTHON_RLOCK_OWNER) ? "locked" : "not locked");
    else if (python_is(py, object, "Semaphore")) {
        if (python_int(py, python_attribute(py, object, "_value"), &value))
            now_state(py->now, thing, "value %" PRId64, value);
    } else if (python_is(py, object, "Event")) {
        const bool set = python_true(py, python_attribute(py, object, "_value")) ||
                         python_true(py, python_attribute(py, object, "_flag"));
        now_state(py->now, thing, set ? "set" : "not set");
    } else if (python_is(py, object, "Lock") && python_attribute(py, object, "_locked"))
        now_state(py->now, thing,
                  python_true(py, python_attribute(py, object, "_locked")) ? "locked"
                                                                           : "not locked");
    else if (python_is(py, object, "Queue"))
        tell_queue(py, thing, object);
    else if (python_is(py, object, "Barrier") &&
             python_int(py, python_attribute(py, object, "_count"), &value) &&
             python_int(py, python_attribute(py, object, "_parties"), &parties))
        now_state(py->now, thing, "%" PRId64 " of %" PRId64 " have come", value, parties);
}

/* ---- Rules ---- */

enum what {
    SELF,    /* the object whose method it is */
    THREAD,  /* … which is a thread */
    THREADS, /* all that the program waits for when it ends */
    FUTURE,  /* … which is a future */
    SLEEP,   /* a time, and its timer */
    SET,     /* the variable fs has futures */
    INNER,   /* the variable fut is a future */
    GROUP,   /* self has tasks */
    NURSERY, /* … of trio */
    NUMBER,  /* the variable fd is a descriptor; attr_name says what for */
    SOCKET,  /* the variable sock is a socket */
    STREAM,  /* self has a transport, which has a socket */
    PROCESS, /* self is or has a process */
};

struct rule {
    const char *module, *function, *how;
    uint8_t what;
    bool last; /* functions further out do not matter */
};

static const struct rule rules[] = {
    {"asyncio.locks", "acquire", "locks", SELF, true},
    {"asyncio.locks", "wait", "waits for", SELF, false},
    {"asyncio.locks", "_wait", "waits for", SELF, false},
    {"asyncio.locks", "_block", "waits for", SELF, false},
    {"asyncio.queues", "get", "gets from", SELF, true},
    {"asyncio.queues", "put", "puts into", SELF, true},
    {"asyncio.queues", "join", "waits for all items of", SELF, true},
    {"asyncio.tasks", "sleep", "waits for", SLEEP, true},
    {"asyncio.tasks", "_wait", "awaits", SET, true},
    {"asyncio.tasks", "wait_for", "awaits", INNER, true},
    {"asyncio.taskgroups", "__aexit__", "awaits", GROUP, true},
    {"asyncio.taskgroups", "_aexit", "awaits", GROUP, true},
    {"asyncio.streams", "_wait_for_data", "reads", STREAM, true},
    {"asyncio.streams", "drain", "writes to", STREAM, true},
    {"asyncio.selector_events", "sock_recv", "reads", SOCKET, true},
    {"asyncio.selector_events", "sock_recv_into", "reads", SOCKET, true},
    {"asyncio.selector_events", "sock_recvfrom", "reads", SOCKET, true},
    {"asyncio.selector_events", "sock_accept", "accepts connections of", SOCKET, true},
    {"asyncio.selector_events", "sock_sendall", "writes to", SOCKET, true},
    {"asyncio.selector_events", "sock_connect", "connects", SOCKET, true},
    {"asyncio.base_subprocess", "_wait", "waits for the end of", PROCESS, true},
    {"threading", "wait", "waits for", SELF, false},
    {"threading", "_wait", "waits for", SELF, false},
    {"threading", "acquire", "locks", SELF, false},
    {"threading", "join", "joins", THREAD, true},
    {"threading", "_wait_for_tstate_lock", "joins", THREAD, true},
    {"threading", "_shutdown", "joins", THREADS, true},
    {"queue", "get", "gets from", SELF, true},
    {"queue", "put", "puts into", SELF, true},
    {"queue", "join", "waits for all items of", SELF, true},
    {"concurrent.futures._base", "result", "awaits", FUTURE, true},
    {"concurrent.futures._base", "exception", "awaits", FUTURE, true},
    {"subprocess", "_wait", "waits for the end of", PROCESS, true},
    {"subprocess", "_try_wait", "waits for the end of", PROCESS, true},
    {"subprocess", "_communicate", "reads output of", PROCESS, true},
    {"multiprocessing.popen_fork", "poll", "waits for the end of", PROCESS, true},
    {"multiprocessing.synchronize", "__enter__", "locks", SELF, true},
    {"multiprocessing.synchronize", "wait", "waits for", SELF, true},
    {"trio._sync", "wait", "waits for", SELF, true},
    {"trio._sync", "acquire", "locks", SELF, true},
    {"trio._sync", "acquire_on_behalf_of", "locks", SELF, true},
    {"trio._channel", "send", "puts into", SELF, true},
    {"trio._channel", "receive", "gets from", SELF, true},
    {"trio._timeouts", "sleep", "waits for", SLEEP, true},
    {"trio._core._run", "_nested_child_finished", "awaits", NURSERY, true},
    {"trio._core._io_epoll", "_epoll_wait", "reads", NUMBER, true},
    {"multiprocessing.queues", "get", "gets from", SELF, true},
    {"multiprocessing.queues", "put", "puts into", SELF, true},
    {"multiprocessing.queues", "join", "waits for all items of", SELF, true},
};

static const struct rule *rule_of(const char *module, const struct python_frame *f)
{
    const char *dot = strrchr(f->function, '.'), *function = dot ? dot + 1 : f->function;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(rules[i].module, module) == 0 && strcmp(rules[i].function, function) == 0)
            return &rules[i];
    return NULL;
}

/* ---- What each rule finds ---- */

static void link_descriptor(struct python *py, uint32_t thing, uint64_t number, const char *how)
{
    const uint32_t to = now_thing(py->now, NOW_DESCRIPTOR, number);
    if (to != NOW_NONE && !py->now->thing[to].name)
        now_name(py->now, to, "descriptor %" PRIu64, number);
    now_link(py->now, thing, to, false, how);
}

static void link_socket(struct python *py, uint32_t thing, uint64_t socket, const char *how)
{
    const int32_t number = (int32_t)python_u32(py, socket + PYTHON_HEADER);
    if (python_is(py, socket, "_socket.socket") && number >= 0)
        link_descriptor(py, thing, (uint64_t)number, how);
}

static void link_stream(struct python *py, uint32_t thing, uint64_t self, const char *how)
{
    int64_t number;
    const uint64_t transport = python_attribute(py, self, "_transport");
    if ((python_int(py, python_attribute(py, transport, "_sock_fd"), &number) ||
         python_int(py, python_attribute(py, transport, "_fileno"), &number)) && /* a pipe */
        number >= 0)
        link_descriptor(py, thing, (uint64_t)number, how);
}

static void link_process(struct python *py, uint32_t thing, uint64_t self, const char *how)
{
    int64_t pid;
    if ((!python_int(py, python_attribute(py, self, "pid"), &pid) &&
         !python_int(py, python_attribute(py, self, "_pid"), &pid)) ||
        pid <= 0 || pid > INT32_MAX)
        return;
    const uint32_t to = now_thing(py->now, NOW_PROCESS, (uint64_t)pid);
    if (to != NOW_NONE && !py->now->thing[to].name)
        now_name(py->now, to, "process %" PRId64, pid);
    now_link(py->now, thing, to, false, how);
}

static void link_futures(struct python *py, uint32_t thing, uint64_t set, bool any, const char *how)
{
    struct python_walk w;
    uint64_t future, none;
    python_walk(py, set, &w);
    while (python_next(py, &w, &future, &none))
        if (python_is_future(py, future) && python_is_pending(py, future))
            now_link(py->now, thing, python_future_thing(py, future), any, how);
}

static void link_children(struct python *py, uint32_t thing, uint64_t nursery, const char *how)
{
    struct python_walk w;
    uint64_t task, none;
    python_walk(py, python_attribute(py, nursery, "_children"), &w);
    while (python_next(py, &w, &task, &none))
        if (python_is_task(py, task))
            now_link(py->now, thing, python_future_thing(py, task), false, how);
}

/* The clock of event loops is CLOCK_MONOTONIC, in seconds. */
static void link_timer(struct python *py, uint32_t thing, const struct python_frame *f,
                       const char *how)
{
    enum { YEAR = 366 * 86400 };
    double delay, when;
    const uint64_t timer = python_local(py, f, "h");
    if ((python_float(py, python_local(py, f, "delay"), &delay) ||
         python_float(py, python_local(py, f, "seconds"), &delay)) &&
        delay >= 0 && delay < YEAR)
        now_state(py->now, thing, "sleeps for %s", weft_duration((int64_t)(delay * 1e9)).text);
    if (!timer || !python_float(py, python_attribute(py, timer, "_when"), &when))
        return;
    const double left = when - (double)weft_monotonic_ns() / 1e9;
    const uint32_t to = now_thing(py->now, NOW_TIMER, timer);
    if (py->now->core) /* when it was made is not known by this clock */
        now_name(py->now, to, "timer");
    else if (left >= 0 && left < YEAR)
        now_name(py->now, to, "timer, due in %s", weft_duration((int64_t)(left * 1e9)).text);
    else
        now_name(py->now, to, left < 0 ? "timer, due now" : "timer, due in more than a year");
    now_link(py->now, thing, to, false, how);
}

static void link_lock(struct python *py, uint32_t thing, uint64_t object, const char *how)
{
    const uint32_t to = python_thing(py, NOW_LOCK, object);
    if (to == NOW_NONE)
        return;
    tell_state(py, to, object);
    now_link(py->now, thing, to, false, how);
    uint64_t owner = 0;
    int64_t ident;
    if (python_is(py, object, "_thread.RLock"))
        owner = python_word(py, object + PYTHON_RLOCK_OWNER);
    else if (python_is_task(py, python_attribute(py, object, "_owner"))) /* of trio */
        now_link(py->now, to, python_future_thing(py, python_attribute(py, object, "_owner")),
                 false, "is held by");
    else if (python_int(py, python_attribute(py, object, "_owner"), &ident))
        owner = (uint64_t)ident;
    if (owner)
        now_link(py->now, to, python_thread_thing(py, owner), false, "is held by");
}

/* A future of concurrent.futures says whether a thread of its pool has it. */
static void link_future(struct python *py, uint32_t thing, uint64_t future, const char *how)
{
    char state[16];
    const uint32_t to = python_future_thing(py, future);
    python_text(py, python_attribute(py, future, "_state"), state, sizeof state);
    if (strcmp(state, "PENDING") == 0)
        now_state(py->now, to, "pending: nobody has begun with it");
    else if (strcmp(state, "RUNNING") == 0)
        now_state(py->now, to, "running");
    now_link(py->now, thing, to, false, how);
}

/* Those that the main thread joins before the program ends. */
static void link_threads(struct python *py, uint32_t thing, const char *how)
{
    for (uint32_t i = 0; i < py->threads; i++) {
        const struct python_thread *t = &py->thread[i];
        if (t->thing != thing && t->object &&
            !python_true(py, python_attribute(py, t->object, "_daemonic")))
            now_link(py->now, thing, t->thing, false, how);
    }
}

static uint64_t apply(struct python *py, uint32_t thing, const struct rule *r,
                      const struct python_frame *f)
{
    const uint64_t self = python_local(py, f, "self");
    char text[32];
    int64_t ident;
    switch (r->what) {
    case SELF:
        if (!python_type_of(py, self))
            return 0;
        link_lock(py, thing, self, r->how);
        return self;
    case THREAD:
        if (python_int(py, python_attribute(py, self, "_ident"), &ident))
            now_link(py->now, thing, python_thread_thing(py, (uint64_t)ident), false, r->how);
        return self;
    case THREADS:
        link_threads(py, thing, r->how);
        return f->at;
    case FUTURE:
        link_future(py, thing, self, r->how);
        return self;
    case INNER: {
        const uint64_t future = python_local(py, f, "fut");
        if (!python_is_future(py, future))
            return 0;
        now_link(py->now, thing, python_future_thing(py, future), false, r->how);
        return future;
    }
    case SLEEP:
        link_timer(py, thing, f, r->how);
        return f->at;
    case SET:
        python_text(py, python_local(py, f, "return_when"), text, sizeof text);
        link_futures(py, thing, python_local(py, f, "fs"), strcmp(text, "FIRST_COMPLETED") == 0,
                     r->how);
        return f->at;
    case GROUP:
        link_futures(py, thing, python_attribute(py, self, "_tasks"), false, r->how);
        return self;
    case NURSERY:
        link_children(py, thing, self, r->how);
        return self;
    case NUMBER:
        python_text(py, python_local(py, f, "attr_name"), text, sizeof text);
        if (python_int(py, python_local(py, f, "fd"), &ident) && ident >= 0)
            link_descriptor(py, thing, (uint64_t)ident,
                            strcmp(text, "write_task") == 0 ? "writes to" : r->how);
        return f->at;
    case SOCKET:
        link_socket(py, thing, python_local(py, f, "sock"), r->how);
        return f->at;
    case STREAM:
        link_stream(py, thing, self, r->how);
        return self;
    default:
        link_process(py, thing, self, r->how);
        return self;
    }
}

/* ---- Locks of threads ---- */

static bool is_lock(struct python *py, uint64_t object)
{
    return python_is(py, object, "_thread.lock") || python_is(py, object, "_thread.RLock") ||
           python_is(py, object, "_queue.SimpleQueue");
}

/* The lock behind a value on the stack: itself, or that of a bound method. */
static uint64_t lock_of(struct python *py, uint64_t value)
{
    if (python_is(py, value, "builtin_function_or_method"))
        value = python_word(py, value + PYTHON_METHOD_SELF);
    return is_lock(py, value) ? value : 0;
}

/* What a call from this frame waits for: it is on the stack, and the kernel knows the semaphore that it is made of. From 3.13 on
 * a SimpleQueue's is elsewhere: but a thread that waits for something, with one on its stack, waits for that. From 3.13.1 on
 * each thread waits with a semaphore of its own: then it is for the innermost lock that is waited for. */
static uint64_t lock_waited_for(struct python *py, const struct python_frame *f, uint64_t futex)
{
    const uint8_t waited_for = MUTEX_LOCKED | MUTEX_WAITED_FOR;
    uint64_t other = 0;
    for (uint32_t i = 0; futex && i < f->stacksize; i++) {
        const uint64_t lock = lock_of(py, python_stack(py, f, i));
        if (lock && python_word(py, lock + PYTHON_HEADER) == futex)
            return lock;
        if (py->at.minor >= PYTHON_3_13 && python_is(py, lock, "_queue.SimpleQueue"))
            other = lock;
        if (py->version >= MUTEX_SINCE && python_is(py, lock, "_thread.lock") &&
            (python_u8(py, lock + PYTHON_LOCK_MUTEX) & waited_for) == waited_for)
            other = lock;
    }
    return other;
}

static uint32_t seek(struct now *n, enum now_kind kind, uint64_t key)
{
    const uint32_t thing =
        key && n->known[kind] ? weft_idmap_seek(n->known[kind], key) : WEFT_IDMAP_NONE;
    return thing < n->things ? thing : NOW_NONE;
}

static uint64_t find_wait(struct python *py, uint32_t thing, uint64_t futex)
{
    const struct rule *rule = NULL;
    uint32_t at = 0;
    char module[PYTHON_NAME_MAX];
    for (uint32_t i = 0; i < py->chained && !(rule && rule->last); i++) {
        python_module(py, &py->chain[i], module);
        const struct rule *r = rule_of(module, &py->chain[i]);
        if (r && (!rule || r->what == SELF || r->what == FUTURE))
            rule = r, at = i;
        if (!r && !python_is_library(module))
            break;
    }
    if (rule) {
        char function[PYTHON_FUNCTION];
        python_function(py, &py->chain[at], function);
        now_state(py->now, thing, "waits in %s", function);
        return apply(py, thing, rule, &py->chain[at]);
    }
    const uint64_t lock = py->chained ? lock_waited_for(py, &py->chain[0], futex) : 0;
    if (lock)
        link_lock(py, thing, lock,
                  python_is(py, lock, "_queue.SimpleQueue") ? "gets from" : "locks");
    return lock;
}

uint64_t python_wait(struct python *py, uint32_t thing, uint64_t futex)
{
    const uint64_t object = find_wait(py, thing, futex);
    /* The semaphore that such a lock is made of, which the look at threads has seen, is of no interest then. */
    if (object && futex != object)
        now_forget(py->now, seek(py->now, NOW_LOCK, futex));
    return object;
}

/* ---- Who holds what ---- */

static void note(struct python *py, struct python_hold hold)
{
    if (!weft_reserve(&py->hold, py->holds, &py->holds_room, sizeof *py->hold))
        py->now->failed = true;
    else
        py->hold[py->holds++] = hold;
}

/* Inside of a `with`, the bound method that ends it is on the stack. 0: the value is something else. */
static uint64_t entered(struct python *py, uint64_t value)
{
    char name[16];
    if (python_is(py, value, "method")) {
        const uint64_t function = python_word(py, value + PYTHON_METHOD_FUNCTION);
        python_text(py, python_word(py, function + py->at.function_name), name, sizeof name);
    } else if (python_is(py, value, "builtin_function_or_method")) {
        const uint64_t def = python_word(py, value + PYTHON_METHOD_DEF);
        python_chars(py, python_word(py, def), name, sizeof name);
    } else {
        return 0;
    }
    return strcmp(name, "__exit__") == 0 || strcmp(name, "__aexit__") == 0
               ? python_word(py, value + PYTHON_METHOD_SELF)
               : 0;
}

static void note_frame(struct python *py, const struct python_frame *f, uint32_t thing,
                       uint64_t waits_for)
{
    const uint32_t depth = python_stack_depth(py, f);
    for (uint32_t i = 0; i < depth; i++) {
        const uint64_t object = entered(py, python_stack(py, f, i));
        if (!object || object == waits_for)
            continue;
        note(py, (struct python_hold){.object = object, .thing = thing});
        const uint64_t inner = python_attribute(py, object, "_lock"); /* of a condition variable */
        if (inner && inner != waits_for)
            note(py, (struct python_hold){.object = inner, .thing = thing});
    }
}

/* ---- Who gives up ---- */

/* Of asyncio.timeout, async_timeout.timeout and asyncio.wait_for: when the task is cancelled, by the clock of event loops; 0: it
 * is not. */
static double ends_at(struct python *py, const struct python_frame *f)
{
    double when, first = 0;
    const uint32_t depth = python_stack_depth(py, f);
    for (uint32_t i = 0; i < depth; i++) {
        const uint64_t object = entered(py, python_stack(py, f, i));
        if (python_is(py, object, "Timeout") &&
            (python_float(py, python_attribute(py, object, "_when"), &when) ||
             python_float(py, python_attribute(py, object, "_deadline"), &when)) &&
            (first <= 0 || when < first))
            first = when;
    }
    if (first <= 0 && strcmp(f->function, "wait_for") == 0 &&
        python_float(py, python_attribute(py, python_local(py, f, "timeout_handle"), "_when"),
                     &when))
        first = when;
    return first;
}

void python_tell_limit(struct python *py, uint32_t thing)
{
    enum { YEAR = 366 * 86400 };
    double first = 0;
    char state[NOW_TEXT_MAX];
    for (uint32_t i = 0; i < py->chained; i++) {
        const double when = ends_at(py, &py->chain[i]);
        if (when > 0 && (first <= 0 || when < first))
            first = when;
    }
    if (first <= 0 || thing == NOW_NONE || !py->now->thing[thing].state)
        return;
    now_brief(py->now, thing);
    snprintf(state, sizeof state, "%.400s", py->now->thing[thing].state);
    const double left = first - (double)weft_monotonic_ns() / 1e9;
    if (py->now->core || left >= YEAR)
        now_state(py->now, thing, "%s, with a timeout", state);
    else
        now_state(py->now, thing, "%s, at most %s", state,
                  weft_duration(left > 0 ? (int64_t)(left * 1e9) : 0).text);
}

static bool has_one_thread(struct python *py, uint64_t pool)
{
    struct python_walk w;
    uint64_t thread, none;
    python_walk(py, python_attribute(py, pool, "_threads"), &w);
    return python_next(py, &w, &thread, &none) && !python_next(py, &w, &thread, &none);
}

/* What a pool's threads take from their queue (simplequeueobject, Modules/_queuemodule.c): a list, of which the beginning
 * has been taken; from 3.13 on a ring. */
static void note_queue(struct python *py, uint64_t queue, uint32_t thing, bool any)
{
    uint64_t first, items, count, room = UINT64_MAX;
    if (!python_is(py, queue, "_queue.SimpleQueue") || py->workers++ >= WORKERS_MAX)
        return;
    if (py->at.minor >= PYTHON_3_13) {
        first = python_word(py, queue + PYTHON_RING_FIRST);
        items = python_word(py, queue + PYTHON_RING_ITEMS);
        room = python_word(py, queue + PYTHON_RING_ROOM);
        count = python_word(py, queue + PYTHON_RING_COUNT);
    } else {
        const uint64_t list = python_word(py, queue + PYTHON_QUEUE_LIST);
        first = python_word(py, queue + PYTHON_QUEUE_FIRST);
        items = python_word(py, list + PYTHON_LIST_ITEMS);
        count = (uint64_t)python_size(py, list) - first;
    }
    for (uint64_t i = 0; room && i < count && i < QUEUED_MAX; i++) {
        const uint64_t item = python_word(py, items + (first + i) % room * 8);
        const uint64_t future = python_attribute(py, item, "future");
        if (future)
            note(py, (struct python_hold){future, thing, .queued = true, .any = any});
    }
}

void python_note_holds(struct python *py, uint32_t thing, uint64_t waits_for)
{
    char module[PYTHON_NAME_MAX];
    for (uint32_t i = 0; i < py->chained; i++) {
        const struct python_frame *f = &py->chain[i];
        python_module(py, f, module);
        const bool of_pool = strcmp(module, "concurrent.futures.thread") == 0;
        if (of_pool && strstr(f->function, "run")) { /* _WorkItem.run */
            const uint64_t item = python_local(py, f, "self");
            note(py, (struct python_hold){.object = python_attribute(py, item, "future"),
                                          .thing = thing});
        } else if (of_pool && strcmp(f->function, "_worker") == 0) {
            const uint64_t pool =
                python_word(py, python_local(py, f, "executor_reference") + PYTHON_REFERENT);
            note_queue(py, python_local(py, f, "work_queue"), thing, !has_one_thread(py, pool));
        }
        if (!python_is_library(module))
            note_frame(py, f, thing, waits_for);
    }
}

static bool is_semaphore(struct python *py, uint64_t object)
{
    return python_is(py, object, "Semaphore");
}

void python_link_holds(struct python *py)
{
    for (uint32_t i = 0; i < py->holds; i++) {
        const struct python_hold *h = &py->hold[i];
        const uint32_t lock = seek(py->now, NOW_LOCK, h->object);
        const uint32_t promise = seek(py->now, NOW_PROMISE, h->object);
        if (lock != NOW_NONE)
            now_link(py->now, lock, h->thing, is_semaphore(py, h->object), "is held by");
        if (promise != NOW_NONE)
            now_link(py->now, promise, h->thing, h->any,
                     h->queued ? "is to be computed by" : "is computed by");
    }
}
