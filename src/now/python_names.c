/* SPDX-License-Identifier: ISC */
/* Names for things: what their classes are called, and variables that refer to them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "now/python.h"

enum { TEXT = 256 };

/* "asyncio.Lock": a class as a program calls it. */
static void label(struct python *py, uint64_t object, char to[TEXT])
{
    static const char *const names[][2] = {
        {"_thread.lock", "threading.Lock"},
        {"_thread.RLock", "threading.RLock"},
        {"_asyncio.Future", "asyncio.Future"},
        {"_queue.SimpleQueue", "queue.SimpleQueue"},
    };
    const struct python_type *t = python_type_of(py, object);
    char module[PYTHON_NAME_MAX] = "";
    to[0] = 0;
    if (!t)
        return;
    const struct python_type type = *t;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(type.name, names[i][0]) == 0) {
            snprintf(to, TEXT, "%s", names[i][1]);
            return;
        }
    if (type.flags & PYTHON_HEAP_TYPE)
        python_text(py,
                    python_get(py, python_word(py, type.address + PYTHON_TYPE_DICT), "__module__"),
                    module, sizeof module);
    const size_t package = strcspn(module, ".");
    const bool own = strncmp(module, "asyncio.", 8) == 0 || strcmp(module, "threading") == 0 ||
                     strcmp(module, "queue") == 0 || strcmp(module, "trio") == 0 ||
                     strncmp(module, "multiprocessing.", 16) == 0;
    if (own && !strchr(type.name, '.'))
        snprintf(to, TEXT, "%.*s.%s", (int)package, module, type.name);
    else if (strcmp(module, "concurrent.futures._base") == 0)
        snprintf(to, TEXT, "concurrent.futures.%s", type.name);
    else
        snprintf(to, TEXT, "%s", type.name);
}

void python_module(struct python *py, const struct python_frame *f, char to[PYTHON_NAME_MAX])
{
    python_text(py, python_get(py, f->globals, "__name__"), to, PYTHON_NAME_MAX);
}

bool python_is_library(const char *module)
{
    static const char *const names[] = {
        "asyncio",    "threading", "queue",      "concurrent.futures",
        "subprocess", "selectors", "contextlib", "multiprocessing",
        "trio",       "anyio"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t n = strlen(names[i]);
        if (strncmp(module, names[i], n) == 0 && (module[n] == 0 || module[n] == '.'))
            return true;
    }
    return false;
}

/* "[3]" or "['main']": where in a list, tuple or dict. */
static bool place_of(struct python *py, uint64_t container, uint64_t object,
                     char to[PYTHON_NAME_MAX])
{
    enum { LOOKED_AT_MAX = 1000 };
    struct python_walk w;
    uint64_t key, value;
    int64_t number;
    char text[PYTHON_NAME_MAX - 8];
    const bool dict = python_has_flag(py, container, PYTHON_DICT);
    if (!dict && !python_has_flag(py, container, PYTHON_LIST | PYTHON_TUPLE))
        return false;
    python_walk(py, container, &w);
    w.count = w.count < LOOKED_AT_MAX ? w.count : LOOKED_AT_MAX;
    while (python_next(py, &w, &key, &value)) {
        if ((dict ? value : key) != object)
            continue;
        if (!dict || python_int(py, key, &number))
            snprintf(to, PYTHON_NAME_MAX, "[%" PRId64 "]", dict ? number : (int64_t)w.at - 1);
        else if (python_text(py, key, text, sizeof text))
            snprintf(to, PYTHON_NAME_MAX, "['%s']", text);
        else
            snprintf(to, PYTHON_NAME_MAX, "[...]");
        return true;
    }
    return false;
}

/* "store.lock", "locks[3]": within the value of a variable. */
static bool within(struct python *py, const char *variable, uint64_t value, uint64_t object,
                   char to[TEXT])
{
    char inner[PYTHON_NAME_MAX];
    if (value == object)
        return false;
    const bool attribute = python_name_of(py, value, object, inner, sizeof inner);
    if (!attribute && !place_of(py, value, object, inner))
        return false;
    snprintf(to, TEXT, "%.*s%s%s", PYTHON_NAME_MAX - 2, variable, attribute ? "." : "", inner);
    return true;
}

static bool local_of(struct python *py, const struct python_frame *f, uint64_t object,
                     char to[TEXT])
{
    char name[PYTHON_NAME_MAX];
    uint64_t value;
    for (uint32_t at = 0; python_local_at(py, f, &at, name, &value);)
        if (value == object && strcmp(name, "self") != 0) {
            snprintf(to, TEXT, "%s", name);
            return true;
        }
    for (uint32_t at = 0; python_local_at(py, f, &at, name, &value);)
        if (within(py, name, value, object, to))
            return true;
    return false;
}

/* Within the global variables that the function uses. */
static bool global_of(struct python *py, const struct python_frame *f, uint64_t object,
                      char to[TEXT])
{
    enum { USED_MAX = 100 };
    struct python_walk w;
    uint64_t key, none;
    char name[PYTHON_NAME_MAX];
    python_walk(py, python_word(py, f->code + py->at.code_globals), &w);
    w.count = w.count < USED_MAX ? w.count : USED_MAX;
    while (python_next(py, &w, &key, &none)) {
        const uint64_t value =
            python_text(py, key, name, sizeof name) ? python_get(py, f->globals, name) : 0;
        if (value && within(py, name, value, object, to))
            return true;
    }
    return false;
}

/* The variable that an object is in, as seen from a function: a global one, an attribute of self, a local one. */
static bool variable_of(struct python *py, const struct python_frame *f, uint64_t object,
                        char to[TEXT])
{
    char class[PYTHON_NAME_MAX], name[PYTHON_NAME_MAX];
    if (python_key_of(py, f->globals, object, to, TEXT))
        return true;
    const uint64_t self = python_local(py, f, "self");
    const struct python_type *t = self != object ? python_type_of(py, self) : NULL;
    if (t)
        memcpy(class, t->name, sizeof class);
    if (t && python_name_of(py, self, object, name, sizeof name)) {
        snprintf(to, TEXT, "%s.%s", class, name);
        return true;
    }
    return local_of(py, f, object, to) || global_of(py, f, object, to);
}

/* The innermost frame from which it has a name. */
static bool find_variable(struct python *py, uint64_t object, char to[TEXT])
{
    char module[PYTHON_NAME_MAX];
    for (uint32_t i = 0; i < py->chained; i++) {
        python_module(py, &py->chain[i], module);
        if (!python_is_library(module) && variable_of(py, &py->chain[i], object, to))
            return true;
    }
    return python_key_of(py, py->main, object, to, TEXT);
}

/* If there are very many things, what the others wait for matters more than their names. */
static void name_object(struct python *py, uint32_t thing, uint64_t object)
{
    char class[TEXT], variable[TEXT];
    const uint64_t before = py->reads;
    label(py, object, class);
    const bool found = py->naming < PYTHON_NAMING_MAX && find_variable(py, object, variable);
    py->naming += py->reads - before;
    if (found)
        now_name(py->now, thing, "%s %s", class, variable);
    else if (!py->now->thing[thing].name)
        now_name(py->now, thing, "%s at 0x%" PRIx64, class[0] ? class : "object", object);
}

static bool is_named(const struct now_thing *t)
{
    return t->name && !strstr(t->name, " at 0x");
}

uint32_t python_thing(struct python *py, enum now_kind kind, uint64_t object)
{
    const uint32_t thing = now_thing(py->now, kind, object);
    if (thing != NOW_NONE && !is_named(&py->now->thing[thing]))
        name_object(py, thing, object);
    return thing;
}

/* ---- Futures and tasks ---- */

bool python_is_task(struct python *py, uint64_t object)
{
    return python_is(py, object, "_asyncio.Task") || python_is(py, object, "Task");
}

bool python_is_future(struct python *py, uint64_t object)
{
    return python_is(py, object, "_asyncio.Future") || python_is(py, object, "Future") ||
           python_is_task(py, object);
}

bool python_is_pending(struct python *py, uint64_t future)
{
    char state[16];
    if (python_is(py, future, "_asyncio.Future") || python_is(py, future, "_asyncio.Task"))
        return python_u32(py, future + py->at.future_state) == 0;
    python_text(py, python_attribute(py, future, "_state"), state, sizeof state);
    return strcmp(state, "PENDING") == 0 || strcmp(state, "RUNNING") == 0;
}

static void name_task(struct python *py, uint32_t thing, uint64_t task)
{
    char name[TEXT];
    int64_t number;
    uint64_t object = python_is(py, task, "_asyncio.Task")
                          ? python_word(py, task + py->at.task_name)
                          : python_attribute(py, task, "_name");
    object = object ? object : python_attribute(py, task, "name"); /* of trio */
    if (python_text(py, object, name, sizeof name))
        now_name(py->now, thing, "task %s", name);
    else if (python_int(py, object, &number)) /* not asked for yet: "Task-" and this number */
        now_name(py->now, thing, "task Task-%" PRId64, number);
    else
        now_name(py->now, thing, "task at 0x%" PRIx64, task);
}

uint32_t python_future_thing(struct python *py, uint64_t future)
{
    if (!python_is_task(py, future))
        return python_thing(py, NOW_PROMISE, future);
    const uint32_t thing = now_thing(py->now, NOW_TASK, future);
    if (thing != NOW_NONE && !py->now->thing[thing].name)
        name_task(py, thing, future);
    return thing;
}
